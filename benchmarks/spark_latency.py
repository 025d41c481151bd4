"""Spark: what a person waits for in a cell, beside the same of plain Parquet.

``python -m benchmarks.spark_latency`` prints medians of the clock in a warm session, milliseconds.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import count

from pyspark.sql import SparkSession

from paimonlab.spark import connect

ROUNDS = 21
WARM_UP = 6
ROWS = ", ".join(f"({number}, 'text {number}')" for number in range(10))


def main() -> None:
    """Ask for each in turn, print what it takes."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with tempfile.TemporaryDirectory(prefix="paimonlab-bench-") as folder:
        spark = connect(f"{folder}/warehouse", master="local[2]")
        spark.sql("CREATE DATABASE paimon.db")
        spark.sql("CREATE TABLE paimon.db.t (id BIGINT, s STRING)")
        spark.sql("CREATE TABLE paimon.db.written (id BIGINT, s STRING)")
        spark.sql(f"INSERT INTO paimon.db.t VALUES {ROWS}")
        plain = f"{folder}/plain"
        spark.sql(f"SELECT * FROM VALUES {ROWS}").write.parquet(plain)
        statements = _statements(spark, plain)
        found = _measure(statements)
        spark.stop()
    for name, millis in found.items():
        print(f"{name:36} {statistics.median(millis):6.1f} ms")


def _statements(spark: SparkSession, plain: str) -> dict[str, Callable[[], object]]:
    numbers = count()

    def create() -> object:
        return spark.sql(f"CREATE TABLE paimon.db.t{next(numbers)} (id BIGINT, s STRING)")

    def write_plain() -> None:
        rows = spark.sql(f"SELECT * FROM VALUES {ROWS}")
        rows.write.mode("append").parquet(f"{plain}-written")

    def answer_of(text: str) -> Callable[[], object]:
        return lambda: spark.sql(text).collect()

    return {
        "plain: spark.read.parquet": lambda: spark.read.parquet(plain).collect(),
        "SELECT of 10 rows": answer_of("SELECT * FROM paimon.db.t"),
        "plain: 10 rows written": write_plain,
        "INSERT of 10 rows": answer_of(f"INSERT INTO paimon.db.written VALUES {ROWS}"),
        "SHOW TABLES": answer_of("SHOW TABLES IN paimon.db"),
        "DESCRIBE": answer_of("DESCRIBE paimon.db.t"),
        "CREATE TABLE": create,
    }


def _measure(statements: dict[str, Callable[[], object]]) -> dict[str, list[float]]:
    """Run all in turn; the first rounds warm up."""
    found: dict[str, list[float]] = {name: [] for name in statements}
    for turn in range(WARM_UP + ROUNDS):
        for name, statement in statements.items():
            start = time.perf_counter()
            statement()
            if turn >= WARM_UP:
                found[name].append(1000 * (time.perf_counter() - start))
    return found


if __name__ == "__main__":
    main()
