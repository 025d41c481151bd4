"""Make an archive of the classes that Spark loads, for the JVMs of tests.

A JVM with the archive needs half the processor time to its first answers, and the suite starts
dozens of them. It is made once per version of Java and of Spark: a session runs statements of each
kind, and its JVM writes the classes that it has loaded when it ends. Without an archive everything
works, only slower.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyspark
from pyspark import SparkContext

from paimonlab.spark import connect
from paimonlab.spark.java import find_java
from tools import short_java

_SECONDS_TO_WRITE = 300
_STATEMENTS = (
    "CREATE DATABASE paimon.db",
    "USE paimon.db",
    "CREATE TABLE t (id INT, v STRING, dt STRING) PARTITIONED BY (dt)",
    (
        "CREATE TABLE k (id INT NOT NULL, v STRING, n DOUBLE) "
        "TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '2')"
    ),
    "INSERT INTO t VALUES (1, 'a', 'x'), (2, 'b', 'y')",
    "INSERT INTO k VALUES (1, 'a', 1.0), (2, 'b', 2.0)",
    "INSERT OVERWRITE t PARTITION (dt = 'x') SELECT 3, 'c'",
    "SELECT v, count(*), sum(n), max(id) FROM k WHERE id > 0 AND v LIKE '%a' GROUP BY v ORDER BY v",
    (
        "SELECT * FROM t JOIN k ON t.id = k.id LEFT JOIN k AS l ON l.id = t.id + 1 "
        "WHERE t.dt IN ('x', 'y')"
    ),
    (
        "SELECT row_number() OVER (PARTITION BY dt ORDER BY id), upper(v), "
        "CAST(id AS DECIMAL(10, 2)) FROM t"
    ),
    "UPDATE k SET v = 'z' WHERE id = 1",
    "UPDATE t SET v = 'z' WHERE id = 1",
    "DELETE FROM t WHERE id = 2",
    "DELETE FROM k WHERE v IN (SELECT v FROM t)",
    (
        "MERGE INTO k USING t ON k.id = t.id WHEN MATCHED THEN UPDATE SET v = t.v "
        "WHEN NOT MATCHED THEN INSERT (id, v) VALUES (t.id, t.v)"
    ),
    (
        "MERGE INTO t USING k ON k.id = t.id WHEN MATCHED THEN UPDATE SET v = k.v "
        "WHEN NOT MATCHED THEN INSERT (id, v, dt) VALUES (k.id, k.v, 'q')"
    ),
    "ALTER TABLE t ADD COLUMN w ARRAY<STRUCT<a: INT, b: MAP<STRING, DATE>>>",
    "SELECT explode(w), current_date() FROM t",
    "ALTER TABLE t CREATE TAG a",
    "SHOW TAGS t",
    "CALL paimon.sys.compact(table => 'db.t')",
    "SELECT * FROM `t$snapshots`",
    "SELECT * FROM t VERSION AS OF 1",
    "CREATE TABLE u AS SELECT * FROM k",
    "CREATE TEMPORARY VIEW w AS SELECT * FROM k",
    "ANALYZE TABLE k COMPUTE STATISTICS FOR ALL COLUMNS",
    "DESCRIBE TABLE EXTENDED t",
    "SHOW CREATE TABLE t",
    "SHOW PARTITIONS t",
    "SHOW TABLES",
    "ALTER TABLE t DROP PARTITION (dt = 'q')",
    "TRUNCATE TABLE t",
    "EXPLAIN SELECT * FROM t",
    "DROP TABLE t",
)


def main(archive: Path = short_java.SPARK_CLASSES) -> int:
    """Write the archive unless there is one for this Java and this Spark."""
    if not short_java.is_plain(archive):
        _say(f"no archive of Spark's classes: a JVM does not take the path {archive}")
        return 0
    made_with = f"{find_java()}\n{pyspark.__file__} {pyspark.__version__}\n{_STATEMENTS}\n"
    note = archive.with_suffix(".txt")
    if archive.is_file() and note.is_file() and note.read_text("utf-8") == made_with:
        _say("the archive of Spark's classes exists")
        return 0
    archive.unlink(missing_ok=True)
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=archive.parent, prefix="spark-classes-") as folder:
        draft = Path(folder) / archive.name
        code = _run_spark(Path(folder), draft)
        if code != 0 or not draft.is_file():
            _say("this Java writes no archive of Spark's classes; its JVMs start slower")
            return 0
        draft.replace(archive)
    note.write_text(made_with, "utf-8")
    _say(f"wrote the archive of Spark's classes, {archive.stat().st_size >> 20} MiB")
    return 0


def _run_spark(folder: Path, draft: Path) -> int:
    """Run the statements in a JVM that writes an archive when it ends; return its exit code."""
    options = " ".join((*short_java.OPTIONS, f"-XX:ArchiveClassesAtExit={draft}"))
    os.environ["PYSPARK_SUBMIT_ARGS"] = short_java.submit_arguments(options)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = connect(folder / "warehouse", master="local[2]", memory="1g")
    for statement in _STATEMENTS:
        spark.sql(statement).collect()
    stream = spark.readStream.table("paimon.db.k").writeStream.format("noop")
    stream.trigger(availableNow=True).start().awaitTermination()
    gateway: Any = SparkContext._gateway  # noqa: SLF001 - its JVM has no public name
    spark.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()  # the JVM ends when nobody can write to it any more
    return int(gateway.proc.wait(_SECONDS_TO_WRITE))


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
