"""One engine's side of `benchmarks.spark_changes`, in its own Spark.

Only the standard library and PySpark, for it runs in the environments of all engines. Arguments:
the engine, a folder, jars (``-``: none), rows, rounds. Prints JSON: CPU and clock seconds of each work.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

_EXTENSIONS = "spark.sql.extensions"
_COLUMNS = "(k BIGINT, p INT, v DOUBLE, s STRING)"
SESSIONS: dict[str, dict[str, str]] = {
    "Delta": {
        _EXTENSIONS: "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    },
    "Iceberg": {
        _EXTENSIONS: "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": "{folder}/lake",
    },
    "Java": {
        _EXTENSIONS: "org.apache.paimon.spark.extensions.PaimonSparkSessionExtensions",
        "spark.sql.catalog.lake": "org.apache.paimon.spark.SparkCatalog",
        "spark.sql.catalog.lake.warehouse": "{folder}/lake",
    },
}


def _modes(mode: str, version: int) -> str:
    """Return the properties of a table of Iceberg that changes rows in one way."""
    kinds = ", ".join(f"'write.{kind}.mode' = '{mode}'" for kind in ("delete", "update", "merge"))
    return f"'format-version' = '{version}', {kinds}"


_KEYED = "'primary-key' = 'k', 'bucket' = '4'"
_PAIMON = {
    "keys": ("", _KEYED),
    "append": ("", "'bucket' = '-1'"),
    "append, vectors": ("", "'deletion-vectors.enabled' = 'true'"),
}
TABLES: dict[str, dict[str, tuple[str, str]]] = {
    "Delta": {
        "rewriting": ("USING delta", "'delta.enableDeletionVectors' = 'false'"),
        "vectors": ("USING delta", "'delta.enableDeletionVectors' = 'true'"),
    },
    "Iceberg": {
        "rewriting": ("USING iceberg", _modes("copy-on-write", 2)),
        "vectors": ("USING iceberg", _modes("merge-on-read", 3)),
    },
    "Java": {"keys": _PAIMON["keys"], "append": _PAIMON["append"]},
    "paimonlab": _PAIMON,
}
RUNS = 8


def session(engine: str, folder: str, jars: str) -> Any:
    """Start Spark with the engine in it."""
    if engine == "paimonlab":
        from paimonlab.spark import connect  # noqa: PLC0415 - others lack it

        return connect(folder, master="local[2]", memory="4g")
    from pyspark.sql import SparkSession  # noqa: PLC0415 - after the engine is known

    builder: Any = SparkSession.builder
    builder = builder.master("local[2]").config("spark.driver.memory", "4g")
    builder = builder.config("spark.ui.enabled", "false").config("spark.sql.warehouse.dir", folder)
    builder = builder.config("spark.sql.shuffle.partitions", "4")
    if jars != "-":
        builder = builder.config("spark.jars", ",".join(map(str, Path(jars).glob("*.jar"))))
    for key, value in SESSIONS[engine].items():
        builder = builder.config(key, value.format(folder=folder))
    return builder.getOrCreate()


def cpu_seconds() -> float:
    """CPU seconds of this process and its descendants, those that have ended included."""
    parents: dict[int, list[int]] = {}
    ticks: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            ticks[int(entry.name)] = sum(map(int, fields[11:15]))
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    tree = [os.getpid()]
    for process in tree:  # grows while it is walked
        tree += parents.get(process, [])
    return sum(ticks.get(process, 0) for process in tree) / os.sysconf("SC_CLK_TCK")


def measured(rounds: int, *works: Callable[[int], object]) -> list[dict[str, float]]:
    """Repeat works in turn once more than is counted; return medians of each.

    What is compared is done in turn: later works find code of the JVM that earlier ones had compiled.
    """
    cpu: list[list[float]] = [[] for _ in works]
    clock: list[list[float]] = [[] for _ in works]
    for turn in range(rounds + 1):
        for number, work in enumerate(works):
            before, begun = cpu_seconds(), time.perf_counter()
            work(turn)
            cpu[number].append(cpu_seconds() - before)
            clock[number].append(time.perf_counter() - begun)
    return [
        {"cpu": statistics.median(seconds[1:]), "clock": statistics.median(passed[1:])}
        for seconds, passed in zip(cpu, clock, strict=True)
    ]


def main(engine: str, folder: str, jars: str, rows: str, rounds: str) -> None:
    """Do all works of an engine."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark, count, turns = session(engine, folder, jars), int(rows), int(rounds)
    spark.sparkContext.setLogLevel("ERROR")
    named = "paimon" if engine == "paimonlab" else "lake"
    catalog = "spark_catalog" if engine == "Delta" else named
    spark.sql(f"CREATE DATABASE IF NOT EXISTS {catalog}.db")
    frame = spark.range(0, count, 1, 2).selectExpr(
        f"(id * 7919) % {count + 3} k",
        "cast(id % 8 as int) p",
        "id * 0.5D v",
        "concat('s', id % 99991) s",
    )
    frame.write.mode("overwrite").parquet(f"{folder}/source")
    source = spark.read.parquet(f"{folder}/source")
    source.createOrReplaceTempView("source")
    found = dict[str, dict[str, float]]()
    (found["plain write"],) = measured(
        turns, lambda _: source.write.mode("overwrite").parquet(f"{folder}/plain")
    )
    for kind, (using, properties) in TABLES[engine].items():
        table = f"{catalog}.db.t_{''.join(filter(str.isalnum, kind))}"
        made = f"CREATE TABLE {table} {_COLUMNS} {using} TBLPROPERTIES ({properties})"

        works = {
            "INSERT": partial(insert, spark, table, made),
            "MERGE 10 %": partial(merge, spark, table, count),
            "DELETE 1 %": partial(delete, spark, table),
            "UPDATE 1 %": partial(update, spark, table),
        }
        for name, work in works.items():
            (found[f"{name}, {kind}"],) = measured(turns, work)
    if "keys" in TABLES[engine]:
        found |= grouped(spark, f"{catalog}.db.runs", folder, count, turns)
    version = spark.version
    spark.stop()
    print(json.dumps({"spark": version, "works": found}))


def insert(spark: Any, table: str, made: str, _: int) -> None:
    """Make the table anew and insert all rows."""
    spark.sql(f"DROP TABLE IF EXISTS {table}")
    spark.sql(made)
    spark.sql(f"INSERT INTO {table} SELECT * FROM source")


def merge(spark: Any, table: str, count: int, turn: int) -> None:
    """Merge another tenth of the rows each turn: of ten rows nine are there."""
    spark.sql(
        f"MERGE INTO {table} t USING (SELECT k + if(k % 100 < 90, 0, {count * 2}) k, p, "
        f"v + 1 v, s FROM source WHERE k % 10 = {turn}) s ON t.k = s.k "
        "WHEN MATCHED THEN UPDATE SET v = s.v, s = s.s WHEN NOT MATCHED THEN INSERT *"
    ).collect()


def delete(spark: Any, table: str, turn: int) -> None:
    """Delete another hundredth of the rows each turn."""
    spark.sql(f"DELETE FROM {table} WHERE k % 100 = {turn + 20}").collect()


def update(spark: Any, table: str, turn: int) -> None:
    """Update another hundredth of the rows each turn."""
    spark.sql(f"UPDATE {table} SET v = v + 1 WHERE k % 100 = {turn + 40}").collect()


def grouped(
    spark: Any, table: str, folder: str, count: int, turns: int
) -> dict[str, dict[str, float]]:
    """Group the rows of eight runs, each of which replaces half of the one before."""
    spark.sql(f"CREATE TABLE {table} {_COLUMNS} TBLPROPERTIES ({_KEYED}, 'write-only' = 'true')")
    size = 2 * count // (RUNS + 1)
    for run in range(RUNS):
        first = run * size // 2
        spark.sql(
            f"INSERT INTO {table} SELECT id k, cast(id % 8 as int) p, id * 0.5D v, "
            f"concat('s', id % 99991) s FROM range({first}, {first + size}, 1, 2)"
        )
    sql = "SELECT p, count(*), sum(v), max(s) FROM {} GROUP BY p"
    files = [str(path) for path in Path(folder).rglob("runs/**/*.parquet")]
    spark.read.parquet(*files).createOrReplaceTempView("unmerged")
    merged, unmerged = measured(
        turns,
        lambda _: spark.sql(sql.format(table)).collect(),
        lambda _: spark.sql(sql.format("unmerged")).collect(),
    )
    return {"group-by, 8 runs": merged, "group-by, unmerged files": unmerged}


if __name__ == "__main__":
    main(*sys.argv[1:])
