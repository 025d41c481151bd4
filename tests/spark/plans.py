"""What Spark's physical plans say about a query."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from py4j.clientserver import JavaClient
from pyspark.sql import DataFrame

_MEMORY = "m\n"
"""How py4j's commands begin that let go of an object."""


def calls_into_jvm(monkeypatch: pytest.MonkeyPatch, run: Callable[[], object]) -> int:
    """Return how many calls into the JVM something takes, other threads' among them."""
    calls = []
    send = JavaClient.send_command

    def counted(self: JavaClient, command: str, *arguments: Any, **keywords: Any) -> Any:
        if not command.startswith(_MEMORY):  # of what earlier tests left behind
            calls.append(command)
        return send(self, command, *arguments, **keywords)

    with monkeypatch.context() as patched:
        patched.setattr(JavaClient, "send_command", counted)
        run()
    return len(calls)


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


def files_read(frame: DataFrame) -> int:
    """Run a query; return how many files Spark's own scans read for it."""
    frame.collect()
    plan = frame._jdf.queryExecution().executedPlan()
    return sum(
        int(scan.metrics().apply("numFiles").value()) for scan in _scans(plan, "FileSourceScanExec")
    )


def pieces_read(frame: DataFrame, table: str) -> int:
    """Return how many tasks read a table by our own reader in a query that has run."""
    scans = _scans(frame._jdf.queryExecution().executedPlan(), "BatchScanExec")
    ours = [scan for scan in scans if f"({table})" in scan.scan().description()]
    assert ours
    return sum(int(scan.inputRDD().getNumPartitions()) for scan in ours)


def _scans(plan: Any, wanted: str) -> list[Any]:
    """Return the scans of a kind in a physical plan, those in stages of it included."""
    kind = plan.getClass().getSimpleName()
    if kind == wanted:
        return [plan]
    if kind == "AdaptiveSparkPlanExec":
        return _scans(plan.executedPlan(), wanted)
    if kind.endswith("QueryStageExec"):
        return _scans(plan.plan(), wanted)
    each = [plan.children().apply(place) for place in range(plan.children().size())]
    return [scan for child in each for scan in _scans(child, wanted)]
