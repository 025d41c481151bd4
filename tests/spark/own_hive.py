"""Statements in a session that keeps Spark's own tables in Hive's metastore; run as a program.

Arguments: a folder. A session takes ``spark.sql.catalogImplementation`` only as it begins, so it
is one of its own. Prints what the statements answer as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from paimonlab.catalog import connect as open_catalog
from paimonlab.spark import connect
from tools import short_java

COLUMNS = "(id INT, name STRING) USING parquet PARTITIONED BY (dt STRING)"


def main(folder: str) -> None:
    """Run them."""
    warehouse = Path(folder, "warehouse")
    metastore = f"jdbc:derby:;databaseName={folder}/metastore;create=true"
    conf = {
        "spark.sql.catalogImplementation": "hive",
        "spark.sql.warehouse.dir": str(warehouse),
        "spark.hadoop.javax.jdo.option.ConnectionURL": metastore,
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
    }
    short_java.let_spark_have_them()
    open_catalog(warehouse)
    spark = connect(warehouse, catalog="spark_catalog", master="local[2]", memory="1g", conf=conf)
    connect(warehouse, catalog="paimon", spark=spark)
    found: dict[str, list[Any]] = {}

    def run(text: str, name: str = "") -> None:
        rows = [list(row) for row in spark.sql(text).collect()]
        if name:
            found[name] = rows

    run("CREATE DATABASE my_db")
    run("USE my_db")
    run("CREATE TABLE t1 (a INT, c STRING) USING paimon TBLPROPERTIES ('file.format' = 'avro')")
    run("INSERT INTO t1 VALUES (1, 'x')")
    run("CREATE TABLE of_hive (a INT, n INT) USING hive")
    run("INSERT INTO of_hive VALUES (1, 7)")
    run("SELECT c, n FROM t1 JOIN of_hive USING (a)", "joined")
    run("CREATE TABLE like_hive LIKE of_hive USING paimon")
    run("INSERT INTO like_hive SELECT * FROM of_hive")
    run("SELECT * FROM paimon.my_db.like_hive", "like Hive's")
    run("SHOW TABLES", "all")
    run("SHOW TABLES IN paimon.my_db", "of Paimon")
    run("SHOW NAMESPACES", "databases")
    place = Path(folder, "outside")
    for name in ("p1", "p2"):
        run(f"CREATE EXTERNAL TABLE {name} {COLUMNS} LOCATION '{place}'")
    run("INSERT INTO p1 PARTITION (dt = 'mon') VALUES (1, 'a')")
    run("SELECT * FROM spark_catalog.my_db.p2", "before")
    run(f"ALTER TABLE p2 ADD PARTITION (dt = 'mon') LOCATION '{place}/dt=mon'")
    run("SHOW PARTITIONS p2", "partitions")
    run("SELECT * FROM p2 WHERE dt = 'mon'", "after")
    run("ALTER TABLE p2 DROP PARTITION (dt = 'mon')")
    run("SHOW PARTITIONS p2", "dropped")
    run("DROP DATABASE my_db CASCADE")
    found["left"] = open_catalog(warehouse).databases()
    spark.stop()
    print(json.dumps(found))  # noqa: T201 - the answer


if __name__ == "__main__":
    main(*sys.argv[1:])
