"""What Spark's physical plans say about a query."""

from __future__ import annotations

import re

from pyspark.sql import DataFrame

ROW_INDEX = "_tmp_metadata_row_index"
"""The position of a row in its file: Spark makes it up while it reads, no file has it."""


def physical_plan(frame: DataFrame) -> str:
    """Return the physical plan as text, nothing cut off."""
    spark = frame.sparkSession
    before = spark.conf.get("spark.sql.maxMetadataStringLength") or "100"
    spark.conf.set("spark.sql.maxMetadataStringLength", "100000")
    try:
        return str(frame._jdf.queryExecution().executedPlan().toString())
    finally:
        spark.conf.set("spark.sql.maxMetadataStringLength", before)


def read_schemas(plan: str) -> list[set[str]]:
    """Return the columns that each scan of a plan reads from files."""
    schemas = re.findall(r"ReadSchema: struct<(.*)>", plan)
    return [
        {part.split(":")[0] for part in schema.split(",") if part} - {ROW_INDEX}
        for schema in schemas
    ]


def pushed_filters(plan: str) -> list[str]:
    """Return the filters that each scan of a plan pushes into the Parquet reader."""
    return re.findall(r"PushedFilters: \[(.*?)\](?:, |$)", plan, re.MULTILINE)
