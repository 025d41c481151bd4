"""INSERT by Spark into tables of each kind of buckets, beside Spark's own write of plain files.

The CPU is that of the whole process tree: driver, JVM, Python workers.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from benchmarks.growth.row import GrowthRow
from benchmarks.spark_scan import tree_cpu_seconds
from paimonlab.spark import connect

ROWS = 2_000_000
WARM_UP = 1
ROUNDS = 3
_CORES = 2
_TABLES: dict[str, dict[str, str]] = {
    "append": {},
    "4 buckets": {"primary-key": "k", "bucket": "4"},
    "64 buckets": {"primary-key": "k", "bucket": "64"},
    "dynamic buckets": {"primary-key": "k"},
    "dynamic buckets, 4 shares": {
        "primary-key": "k",
        "dynamic-bucket.assigner-parallelism": "4",
    },
    "keys across partitions": {"primary-key": "k", "partition": "p"},
}
_PLAIN = "plain Parquet"


def rows() -> Iterator[GrowthRow]:
    """Write the same rows into each kind of table."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with tempfile.TemporaryDirectory(prefix="paimonlab-bench-") as folder:
        spark = connect(folder, master=f"local[{_CORES}]", memory="4g")
        try:
            costs, tasks = _measured(spark, Path(folder))
        finally:
            spark.stop()
    plain = costs.pop(_PLAIN)
    for name, cost in costs.items():
        many = name == "64 buckets"
        yield GrowthRow(
            work=f"INSERT of {ROWS:,} rows by Spark, {name}",
            sizes=(f"{tasks[name]} tasks",),
            costs=(cost,),
            peers={_PLAIN: (plain,)},
            goal="at most 2.5 times a plain write, at most two writing tasks a core"
            if many
            else "at most 2.5 times a plain write",
            holds=cost <= 2.5 * plain,
            limit="an append table costs two plain writes: its rows pass from the JVM to Python",
        )


def _measured(spark: SparkSession, folder: Path) -> tuple[dict[str, float], dict[str, int]]:
    frame = spark.range(0, ROWS, 1, _CORES).selectExpr(
        "(id * 7919) % 2000003 k",
        "cast(id % 8 as int) p",
        "id * 0.5D v",
        "concat('s', id % 99991) s",
    )
    frame.write.mode("overwrite").parquet(str(folder / "source"))
    source = spark.read.parquet(str(folder / "source"))
    works: dict[str, Callable[[], None]] = {
        _PLAIN: lambda: source.write.mode("overwrite").parquet(str(folder / "plain"))
    }
    for name, options in _TABLES.items():
        works[name] = _insert(spark, source, name, options)
    found: dict[str, list[float]] = {name: [] for name in works}
    tasks: dict[str, int] = {}
    tracker = spark.sparkContext.statusTracker()
    for turn in range(WARM_UP + ROUNDS):
        for name, work in works.items():
            before = tree_cpu_seconds(os.getpid())
            spark.sparkContext.setJobGroup(f"{name} {turn}", name)
            work()
            if turn >= WARM_UP:
                found[name].append(tree_cpu_seconds(os.getpid()) - before)
            jobs = map(tracker.getJobInfo, tracker.getJobIdsForGroup(f"{name} {turn}"))
            stages = {stage for job in jobs if job is not None for stage in job.stageIds}
            known = map(tracker.getStageInfo, stages)
            tasks[name] = sum(stage.numCompletedTasks for stage in known if stage is not None)
    return {name: statistics.median(costs) for name, costs in found.items()}, tasks


def _insert(
    spark: SparkSession, source: DataFrame, name: str, options: dict[str, str]
) -> Callable[[], None]:
    table = "paimon.default." + "".join(filter(str.isalnum, name))

    def work() -> None:
        spark.sql(f"DROP TABLE IF EXISTS {table}")
        given = {"write-only": "true"} | options
        properties = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
        spark.sql(
            f"CREATE TABLE {table} (k BIGINT, p INT, v DOUBLE, s STRING) "
            f"TBLPROPERTIES ({properties})"
        )
        source.writeTo(table).append()

    return work
