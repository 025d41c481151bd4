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
from functools import partial
from itertools import count

from pyspark.sql import SparkSession

from paimonlab.spark import connect

ROUNDS = 21
WARM_UP = 6
CHANGED = {
    "keyed": "TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '2')",
    "append": "",
    "vectors": "TBLPROPERTIES ('deletion-vectors.enabled' = 'true')",
}
"""Tables of 1,000 rows in which rows are changed."""
ROWS = ", ".join(f"({number}, 'text {number}')" for number in range(10))

MERGE = (
    f"MERGE INTO {{}} t USING (SELECT * FROM VALUES {ROWS} AS s (id, s)) s "
    "ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
)


def main() -> None:
    """Ask for each in turn, print what it takes."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with tempfile.TemporaryDirectory(prefix="paimonlab-bench-") as folder:
        spark = connect(f"{folder}/warehouse", master="local[2]")
        spark.sql("CREATE DATABASE paimon.db")
        spark.sql("CREATE TABLE paimon.db.t (id BIGINT, s STRING)")
        spark.sql("CREATE TABLE paimon.db.written (id BIGINT, s STRING)")
        for name, options in CHANGED.items():
            spark.sql(f"CREATE TABLE paimon.db.{name} (id BIGINT, s STRING) {options}")
            values = "SELECT id, concat('text ', id) FROM range(1000)"
            spark.sql(f"INSERT INTO paimon.db.{name} {values}")
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

    def delete(kind: str) -> object:
        number = next(numbers) % 1000
        return spark.sql(f"DELETE FROM paimon.db.{kind} WHERE id = {number}").collect()

    changes: dict[str, Callable[[], object]] = {
        f"DELETE of a row, {kind}": partial(delete, kind) for kind in CHANGED
    }
    changes |= {
        f"{name}, {kind}": answer_of(text.format(f"paimon.db.{kind}"))
        for kind in CHANGED
        for name, text in (
            ("UPDATE of 10 rows", "UPDATE {} SET s = 'x' WHERE id % 100 = 7"),
            (
                "MERGE of 10 rows",
                MERGE,
            ),
        )
    }
    return changes | {
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
