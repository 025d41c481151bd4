"""The plan of a SELECT in Spark of a table of many files, up to the tasks.

The manifests are real, the data files are only named. The CPU is that of the driver: Python and
JVM; what the session has cached of other tables does not help.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator

from pyspark.sql import SparkSession

import paimonlab as pl
from benchmarks.growth.planning import PARTITIONS, name_files
from benchmarks.growth.row import GrowthRow
from benchmarks.spark_scan import tree_cpu_seconds
from paimonlab.spark import connect

FILES = (2_000, 20_000)
ROUNDS = 3
_QUERIES = {"all rows": "", f"one partition of {PARTITIONS}": " WHERE dt = 'd050'"}


def rows() -> Iterator[GrowthRow]:
    """Plan tables that nobody has read before."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with tempfile.TemporaryDirectory(prefix="paimonlab-bench-") as folder:
        catalog = pl.connect(folder)
        catalog.create_database("db")
        for files in FILES:
            for number in range(ROUNDS * len(_QUERIES) + 1):
                name_files(catalog, f"db.t{files}_{number}", files)
        spark = connect(folder, master="local[2]", memory="2g")
        try:
            costs = {files: _costs(spark, files) for files in FILES}
        finally:
            spark.stop()
    for query in _QUERIES:
        yield GrowthRow(
            work=f"plan of a SELECT of {query} by Spark, nothing cached",
            sizes=tuple(f"{files:,} files" for files in FILES),
            costs=tuple(costs[files][query] for files in FILES),
            goal="below 1 s",
            holds=costs[FILES[-1]][query] < 1,
            limit="each file is looked for, and described to the JVM as text",
        )


def _costs(spark: SparkSession, files: int) -> dict[str, float]:
    numbers = iter(range(ROUNDS * len(_QUERIES) + 1))
    _plan(spark, f"SELECT * FROM paimon.db.t{files}_{next(numbers)}")  # warms up
    return {
        query: min(
            _plan(spark, f"SELECT * FROM paimon.db.t{files}_{next(numbers)}{condition}")
            for _ in range(ROUNDS)
        )
        for query, condition in _QUERIES.items()
    }


def _plan(spark: SparkSession, query: str) -> float:
    start = tree_cpu_seconds(os.getpid())
    tasks = spark.sql(query).rdd.getNumPartitions()
    assert tasks > 0, "there are files"
    return tree_cpu_seconds(os.getpid()) - start
