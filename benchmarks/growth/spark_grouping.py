"""A group-by in Spark over 8 overlapping runs, beside the same of the same files unmerged.

The session is warm: in the first rounds both are mostly compiled code, ours more of it. The masks
are known from the first round on, as for all but the first query of a snapshot.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.growth.row import GrowthRow
from benchmarks.spark_scan import tree_cpu_seconds
from paimonlab.spark import connect

KEYS = (500_000, 3_000_000)
RUNS = 8
WARM_UP = 6
ROUNDS = 4
_QUERY = "SELECT p, count(*), sum(v), max(s) FROM {} GROUP BY p"


def rows() -> Iterator[GrowthRow]:
    """Group tables of two sizes; each run replaces half of the one before."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with tempfile.TemporaryDirectory(prefix="paimonlab-bench-") as folder:
        spark = connect(folder, master="local[2]", memory="3g")
        try:
            spark.sql("CREATE DATABASE paimon.db")
            found = [_costs(spark, Path(folder), count) for count in KEYS]
        finally:
            spark.stop()
    merged, unmerged = zip(*found, strict=True)
    yield GrowthRow(
        work=f"group-by over {RUNS} runs by Spark, masks known",
        sizes=tuple(f"{count:,} keys" for count in KEYS),
        costs=merged,
        peers={"Spark, the same files unmerged": unmerged},
        goal="at most 1.1 times Spark unmerged at the larger size",
        holds=merged[-1] <= 1.1 * unmerged[-1],
        limit="of few rows, the plan and the code that Spark makes of the mask's test",
    )


def _costs(spark: SparkSession, folder: Path, count: int) -> tuple[float, float]:
    name = f"runs{count}"
    spark.sql(
        f"CREATE TABLE paimon.db.{name} (k BIGINT, p INT, v DOUBLE, s STRING) "
        "TBLPROPERTIES ('primary-key' = 'k', 'bucket' = '4', 'write-only' = 'true')"
    )
    size = 2 * count // (RUNS + 1)
    for run in range(RUNS):
        first = run * size // 2
        spark.sql(
            f"INSERT INTO paimon.db.{name} SELECT id, cast(id % 8 AS INT), id * 0.5D, "
            f"concat('s', id % 99991) FROM range({first}, {first + size}, 1, 2)"
        )
    files = [str(path) for path in folder.rglob(f"{name}/**/*.parquet")]
    spark.read.parquet(*files).createOrReplaceTempView("unmerged")
    merged, unmerged = list[float](), list[float]()
    for turn in range(WARM_UP + ROUNDS):
        for source, costs in ((f"paimon.db.{name}", merged), ("unmerged", unmerged)):
            before = tree_cpu_seconds(os.getpid())
            spark.sql(_QUERY.format(source)).collect()
            if turn >= WARM_UP:
                costs.append(tree_cpu_seconds(os.getpid()) - before)
    return statistics.median(merged), statistics.median(unmerged)
