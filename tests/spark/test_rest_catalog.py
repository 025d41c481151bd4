"""Spark on the catalog of a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import paimonlab as pl
from paimonlab.catalog.rest_server.authorising import User
from paimonlab.catalog.rest_server.serving import ServeOptions, Server
from paimonlab.spark import connect
from paimonlab.spark.sessions.doctor import checks
from paimonlab.spark.sessions.environment import measured
from paimonlab.storage import LocalFileIO
from tests.catalog.kept import KeepingCatalog


@pytest.fixture
def server(spark: SparkSession, tmp_path: Path) -> Iterator[Server]:
    served = KeepingCatalog(str(tmp_path / "warehouse"), LocalFileIO())
    with Server(served, [User(name="me", token="a-token")], ServeOptions()) as running:
        connect(running.options, catalog="served", spark=spark)
        yield running


def test_statements_and_executors_work_on_a_server(spark: SparkSession, server: Server) -> None:
    spark.sql("CREATE DATABASE served.db")
    spark.sql(
        "CREATE TABLE served.db.t (id BIGINT NOT NULL, v STRING) "
        "TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '2')"
    )
    spark.sql("INSERT INTO served.db.t SELECT id, concat('v', id) FROM range(100)")
    spark.sql("UPDATE served.db.t SET v = 'new' WHERE id < 10")
    spark.sql("ALTER TABLE served.db.t ADD COLUMNS (w INT)")
    spark.sql("CREATE VIEW served.db.news AS SELECT id FROM served.db.t WHERE v = 'new'")
    spark.sql("CALL served.sys.create_tag('db.t', 'first', 1)")

    assert spark.sql("SELECT count(*) FROM served.db.t WHERE w IS NULL").collect()[0][0] == 100
    assert spark.sql("SELECT count(*) FROM served.db.news").collect()[0][0] == 10
    old = spark.sql("SELECT count(*) FROM served.db.t VERSION AS OF 'first' WHERE v = 'new'")
    assert old.collect()[0][0] == 0
    seen = pl.connect(server.options)
    latest = seen.table("db.t").snapshot
    assert latest is not None
    assert latest.id == 2
    spark.sql("DROP VIEW served.db.news")
    spark.sql("DROP TABLE served.db.t")
    assert seen.tables("db") == []


def test_tables_of_a_server_take_new_columns_with_their_rows(
    spark: SparkSession, server: Server
) -> None:
    spark.sql("CREATE DATABASE served.db")
    spark.sql("CREATE TABLE served.db.t (a INT, b STRING)")
    spark.sql("INSERT INTO served.db.t VALUES (1, '1'), (2, '2')")
    spark.conf.set("spark.paimon.write.merge-schema", "true")
    try:
        spark.sql("INSERT INTO served.db.t BY NAME SELECT 3 AS a, '3' AS b, 3 AS c")
        more = spark.sql("SELECT 4 AS a, '4' AS b, 4 AS c, 4 AS d")
        more.write.format("paimon").mode("append").saveAsTable("served.db.t")
    finally:
        spark.conf.unset("spark.paimon.write.merge-schema")

    assert sorted(map(tuple, spark.table("served.db.t").collect())) == [
        (1, "1", None, None),
        (2, "2", None, None),
        (3, "3", 3, None),
        (4, "4", 4, 4),
    ]


def test_tables_of_a_server_are_replaced_with_their_rows(
    spark: SparkSession, server: Server
) -> None:
    spark.sql("CREATE DATABASE served.db")
    spark.sql("CREATE TABLE served.db.t AS SELECT 1 AS id, 'old' AS v")
    spark.sql("CREATE OR REPLACE TABLE served.db.t AS SELECT id, id * 2 AS n FROM range(50)")
    assert spark.sql("SELECT count(*), sum(n) FROM served.db.t").collect()[0][:] == (50, 2450)
    assert spark.table("served.db.t").columns == ["id", "n"]
    spark.sql("REPLACE TABLE served.db.t (z DATE)")
    assert spark.table("served.db.t").collect() == []
    old = spark.sql("SELECT v FROM served.db.t VERSION AS OF 1").collect()
    assert [row.v for row in old] == ["old"]


def test_rows_that_do_not_fit_what_the_server_published_are_not_committed(
    spark: SparkSession, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    spark.sql("CREATE DATABASE served.db")
    spark.sql("CREATE TABLE served.db.t AS SELECT 1 AS id")
    catalog = pl.connect(server.options)
    catalog.alter_table("db.t", pl.AddColumn("a", "INT"), pl.DropColumn("a"))
    files = set(Path(catalog.table("db.t").path).rglob("data-*"))
    unknown = "paimonlab.catalog.rest.catalog.with_highest_id"
    monkeypatch.setattr(unknown, lambda table: table)
    with pytest.raises(Exception, match="other ids than the rows were written with"):
        spark.sql("CREATE OR REPLACE TABLE served.db.t AS SELECT 2 AS b")
    table = catalog.table("db.t")
    assert table.arrow_schema.names == ["b"]
    assert table.scan().count() == 0
    assert set(Path(table.path).rglob("data-*")) == files


def test_the_doctor_asks_the_server(server: Server) -> None:
    found = {one.name: one for one in checks(measured(pl.connect(server.options)))}
    assert found["warehouse"].found.endswith("the server answers")
    wrong = pl.connect({**server.options, "token": "hush"})
    found = {one.name: one for one in checks(measured(wrong))}
    assert found["warehouse"].status == "error"
    assert "not authorised" in found["warehouse"].found
    assert "hush" not in found["warehouse"].found
