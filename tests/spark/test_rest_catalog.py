"""Spark on the catalog of a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import paimonlab as pl
from paimonlab.catalog.rest_server.authorising import User
from paimonlab.catalog.rest_server.serving import ServeOptions, Server
from paimonlab.errors import (
    DatabaseNotFoundError,
    SchemaError,
    TableNotFoundError,
    UnsupportedError,
)
from paimonlab.spark import connect
from paimonlab.spark.sessions.doctor import checks
from paimonlab.spark.sessions.environment import measured
from paimonlab.storage import LocalFileIO
from tests.catalog.kept import KeepingCatalog
from tests.catalog.rest.conftest import java_address as java_address  # noqa: PLC0414 - a fixture
from tests.interop.java_build import NEWEST

pytestmark = pytest.mark.usefixtures("interpreted")


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


@pytest.mark.interop
@pytest.mark.parametrize("java_address", [NEWEST], indirect=True)
def test_tables_of_a_server_are_where_their_maker_says(
    spark: SparkSession, java_address: str, tmp_path: Path
) -> None:
    options = {"metastore": "rest", "uri": java_address, "warehouse": "my_lake"}
    options |= {"token.provider": "bear", "token": "tok"}
    connect(options, catalog="served", spark=spark)
    catalog, place = pl.connect(options), tmp_path / "elsewhere"

    def rows(query: str) -> list[tuple[object, ...]]:
        return [tuple(row) for row in spark.sql(query).collect()]

    spark.sql("USE served")
    try:
        spark.sql("CREATE DATABASE IF NOT EXISTS db")
        spark.sql(
            "CREATE TABLE db.t (id INT, pt INT) USING paimon PARTITIONED BY (pt) "
            f"TBLPROPERTIES ('primary-key' = 'id,pt', 'bucket' = '1') LOCATION '{place}'"
        )
        spark.sql("INSERT INTO db.t VALUES (1, 1), (2, 2)")
        shown: dict[str, str] = dict(
            spark.sql("DESCRIBE EXTENDED db.t").select("col_name", "data_type").collect()
        )
        assert (shown["Type"], shown["Location"]) == ("EXTERNAL", str(place))
        spark.sql(f"CREATE TABLE db.same USING paimon LOCATION 'file:{place}'")
        spark.sql("INSERT OVERWRITE db.same PARTITION (pt = 2) SELECT 3")
        for name in ("t", "same"):
            assert rows(f"SELECT * FROM db.{name} ORDER BY id") == [(1, 1), (3, 2)]
            assert rows(f"SHOW PARTITIONS db.{name}") == [("pt=1",), ("pt=2",)]
        spark.sql("INSERT OVERWRITE db.t VALUES (4, 4)")
        assert rows("SELECT id FROM db.same WHERE pt = 4") == [(4,)]
        spark.sql("ALTER TABLE db.same RENAME TO db.renamed")
        assert catalog.table("db.renamed").path == str(place)
        for name in ("t", "renamed"):
            spark.sql(f"DROP TABLE db.{name}")
        spark.sql(f"CREATE TABLE db.t LOCATION '{place}'")
        assert rows("SELECT * FROM db.t") == [(4, 4)]

        wrong = {
            f"(other INT) LOCATION '{place}'": "has other columns",
            f"USING paimon LOCATION '{tmp_path / 'nothing'}'": "there is no table in",
        }
        for definition, message in wrong.items():
            with pytest.raises(SchemaError, match=message):
                spark.sql(f"CREATE TABLE db.wrong {definition}")
        with pytest.raises(UnsupportedError, match="external table without a place"):
            spark.sql("CREATE EXTERNAL TABLE db.wrong (id INT)")
        with pytest.raises(DatabaseNotFoundError):
            catalog.create_table("no.t", {"a": "INT"}, options={"path": str(tmp_path / "no")})
        assert not (tmp_path / "no").exists()

        spark.sql("CREATE TABLE db.managed (id INT)")
        spark.sql("INSERT INTO db.managed VALUES (1)")
        managed = Path(catalog.table("db.managed").path)
        spark.sql(f"CREATE TABLE db.beside (id INT) LOCATION '{managed}'")
        assert rows("SELECT * FROM db.beside") == [(1,)]
        spark.sql("DROP TABLE db.managed")
        assert not managed.exists()
        with pytest.raises(TableNotFoundError):  # its files are gone
            rows("SELECT * FROM db.beside")
    finally:
        spark.sql("USE paimon")


def test_our_server_takes_no_places_of_tables(
    spark: SparkSession, server: Server, tmp_path: Path
) -> None:
    spark.sql("CREATE DATABASE served.db")
    place = tmp_path / "elsewhere"

    with pytest.raises(UnsupportedError, match="tables of others by their folders"):
        spark.sql(f"CREATE TABLE served.db.t (id INT) LOCATION '{place}'")

    assert not place.exists()
    assert pl.connect(server.options).tables("db") == []
