"""Paimon beside other formats in ``spark_catalog``: statements on tables of both, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.catalog import connect as open_catalog
from paimonlab.errors import AlreadyExistsError, UnsupportedError
from paimonlab.spark import connect, serve
from paimonlab.spark.jvm.bridge import Bridge

pytestmark = pytest.mark.usefixtures("interpreted")


@pytest.fixture(scope="module")
def shared(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session beside the others whose own catalog has Paimon's tables; database ``both``."""
    folder = tmp_path_factory.mktemp("both")
    open_catalog(folder).create_database("early")
    session = spark.newSession()
    for _ in range(2):  # the second time replaces the first
        connect(folder, spark=session, catalog="spark_catalog")
    session.sql("CREATE DATABASE both")
    session.sql("USE both")
    yield session
    for database in ("both", "early"):
        session.sql(f"DROP DATABASE IF EXISTS {database} CASCADE")
    spark.sql("USE paimon.default")


@pytest.fixture
def catalog(shared: SparkSession) -> Catalog:
    """Return the catalog of Paimon behind it, with no table."""
    behind = _behind(shared)
    for database in ("both", "early"):
        for name in rows(shared, f"SHOW TABLES IN {database}"):
            shared.sql(f"DROP TABLE {database}.{name[1]}")
    return behind


def _behind(session: SparkSession) -> Catalog:
    location = rows(session, "DESCRIBE DATABASE early")
    (path,) = [str(row[1]) for row in location if row[0] == "Location"]
    return open_catalog(Path(path.removeprefix("file:")).parent)


def rows(session: SparkSession, query: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in session.sql(query).collect()]


def test_statements_do_the_same_to_tables_of_both(shared: SparkSession, catalog: Catalog) -> None:
    for name, provider in (("p", "paimon"), ("q", "parquet")):
        shared.sql(f"CREATE TABLE {name} (id INT, v STRING) USING {provider}")
        shared.sql(f"INSERT INTO {name} VALUES (1, 'a'), (2, 'b')")
        shared.sql(f"ALTER TABLE {name} ADD COLUMN n INT")
        shared.table(name).limit(0).write.insertInto(name)
        shared.sql(f"INSERT INTO {name} SELECT id + 2, v, 7 FROM {name}")
        shared.sql(f"CREATE TABLE {name}_copy USING {provider} AS SELECT * FROM {name}")
        shared.sql(f"ALTER TABLE {name}_copy RENAME TO {name}_new")
    shared.sql("CREATE TABLE default_format (id INT)")

    expected = [(1, "a", None), (2, "b", None), (3, "a", 7), (4, "b", 7)]
    for name in ("p", "q", "p_new", "both.q_new", "spark_catalog.both.p"):
        assert rows(shared, f"SELECT * FROM {name} ORDER BY id") == expected, name
    assert rows(shared, "SELECT count(*) FROM p JOIN q USING (id, v)") == [(4,)]
    assert catalog.tables("both") == ["p", "p_new"]
    names = ["default_format", "p", "p_new", "q", "q_new"]
    assert [row[1] for row in rows(shared, "SHOW TABLES")] == names
    columns = [rows(shared, f"DESCRIBE {name}") for name in ("p", "q")]
    assert columns[0] == columns[1]
    for name in ("p", "q"):
        shared.sql(f"TRUNCATE TABLE {name}")
        assert rows(shared, f"SELECT * FROM {name}") == []
        shared.sql(f"DROP TABLE {name}")
        with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
            shared.sql(f"SELECT * FROM {name}")


def test_what_only_paimon_has_works_there(
    spark: SparkSession, shared: SparkSession, catalog: Catalog
) -> None:
    key = "id INT PRIMARY KEY, v STRING"
    shared.sql(f"CREATE TABLE k ({key}) USING paimon TBLPROPERTIES ('bucket' = '10')")
    shared.sql("CREATE TABLE source USING parquet AS SELECT 2 AS id, 'B' AS v UNION SELECT 3, 'C'")
    shared.sql("INSERT INTO k VALUES (1, 'a'), (2, 'b')")
    merged = shared.sql(
        "MERGE INTO k USING source s ON k.id = s.id WHEN MATCHED THEN UPDATE SET * "
        "WHEN NOT MATCHED THEN INSERT *"
    )
    assert merged.first() is not None
    shared.sql("DELETE FROM k WHERE id = 1")
    assert rows(shared, "CALL sys.create_tag('both.k', 'one', 1)") == [(True,)]

    assert rows(shared, "SELECT sys.bucket(4, 1)") == rows(spark, "SELECT paimon.sys.bucket(4, 1)")
    assert rows(shared, "SELECT * FROM k ORDER BY id") == [(2, "B"), (3, "C")]
    assert rows(shared, "SELECT * FROM k VERSION AS OF 'one' ORDER BY id") == [(1, "a"), (2, "b")]
    joined = shared.sql("SELECT * FROM k JOIN k l ON k.id = l.id ORDER BY k.id")
    assert [tuple(row) for row in joined.collect()] == [(2, "B", 2, "B"), (3, "C", 3, "C")]
    assert "Exchange hashpartitioning" not in joined._jdf.queryExecution().toString()
    assert rows(shared, "SELECT max(snapshot_id) FROM `k$snapshots`") == [(3,)]
    shared.sql("CREATE OR REPLACE TABLE fresh USING paimon AS SELECT 1 AS one")
    shared.sql("CREATE OR REPLACE TABLE fresh USING paimon AS SELECT 2 AS two")
    assert rows(shared, "SELECT * FROM fresh") == [(2,)]
    with pytest.raises(AnalysisException, match="does not support DELETE"):
        shared.sql("DELETE FROM source WHERE id = 2")
    assert len(rows(shared, "SELECT * FROM source")) == 2
    assert catalog.table("both.fresh").schema.field_names == ("two",)


def test_views_and_functions_are_sparks(shared: SparkSession, catalog: Catalog) -> None:
    del catalog
    shared.sql("CREATE TABLE q USING parquet AS SELECT 1 AS id")
    shared.sql("CREATE TABLE p USING paimon AS SELECT 1 AS id")
    shared.sql("CREATE VIEW seen AS SELECT id + 1 AS id FROM q")
    shared.sql("CREATE FUNCTION more(x INT) RETURNS INT RETURN x + 1")

    assert rows(shared, "SELECT more(seen.id) FROM seen JOIN p ON seen.id = p.id + 1") == [(3,)]
    assert [row[1] for row in rows(shared, "SHOW VIEWS")] == ["seen"]
    shared.sql("ALTER VIEW seen AS SELECT 5 AS id")
    assert rows(shared, "SELECT * FROM seen") == [(5,)]
    shared.sql("ALTER VIEW seen SET TBLPROPERTIES (k = 'v')")
    assert ("k", "v") in rows(shared, "SHOW TBLPROPERTIES seen")
    assert "CREATE VIEW both.seen" in str(rows(shared, "SHOW CREATE TABLE seen"))
    shared.sql("ALTER VIEW seen RENAME TO seen_too")
    shared.sql("ALTER VIEW seen_too RENAME TO seen")
    for statement in ("CREATE VIEW over AS SELECT * FROM p", "ALTER VIEW seen AS SELECT * FROM p"):
        with pytest.raises(UnsupportedError, match="CREATE TEMPORARY VIEW works"):
            shared.sql(statement)
    shared.sql("CREATE TEMPORARY VIEW over AS SELECT * FROM p")
    assert rows(shared, "SELECT * FROM over") == [(1,)]
    for statement in ("DROP VIEW over", "DROP VIEW seen", "DROP FUNCTION more"):
        shared.sql(statement)
    assert rows(shared, "SHOW VIEWS") == []


def test_one_name_is_never_two_tables(shared: SparkSession, catalog: Catalog) -> None:
    shared.sql("CREATE TABLE p (id INT) USING paimon")
    shared.sql("CREATE TABLE q (id INT) USING parquet")

    for statement in (
        "CREATE TABLE p (id INT) USING parquet",
        "CREATE TABLE p AS SELECT 1 AS id",
        "ALTER TABLE q RENAME TO p",
    ):
        with pytest.raises(AlreadyExistsError, match=r"both\.p"):
            shared.sql(statement)
    shared.sql("CREATE TABLE IF NOT EXISTS p (id INT) USING parquet")
    for statement in (
        "CREATE TABLE q (id INT) USING paimon",
        "CREATE TABLE q USING paimon AS SELECT 1 AS id",
        "CREATE OR REPLACE TABLE q USING paimon AS SELECT 1 AS id",
        "ALTER TABLE p RENAME TO both.q",
    ):
        with pytest.raises((AnalysisException, AlreadyExistsError), match=r"(?i)already.exists"):
            shared.sql(statement)
    with pytest.raises(UnsupportedError, match="leave out the tables of Paimon"):
        shared.sql("SHOW TABLE EXTENDED LIKE '*'")
    assert catalog.tables("both") == ["p"]
    assert [row[1] for row in rows(shared, "SHOW TABLES")] == ["p", "q"]


def test_a_table_like_another_is_of_the_format_that_is_said(
    shared: SparkSession, catalog: Catalog
) -> None:
    columns = "id INT DEFAULT 3, c CHAR(3) COMMENT 'of c', day STRING"
    shared.sql(
        f"CREATE TABLE q ({columns}) USING parquet PARTITIONED BY (day) COMMENT 'both' "
        "TBLPROPERTIES (k = 'v')"
    )
    shared.sql("CREATE TEMPORARY VIEW seen AS SELECT 1 AS id, map(1, 'a') AS m")
    try:
        shared.sql("CREATE TABLE p LIKE q USING paimon TBLPROPERTIES ('file.format' = 'orc')")
        shared.sql("CREATE TABLE IF NOT EXISTS p LIKE seen USING paimon")
        shared.sql("CREATE TABLE of_view LIKE seen USING paimon")
        shared.sql("CREATE TABLE q_like LIKE q")
        with pytest.raises(AlreadyExistsError, match=r"both\.p"):
            shared.sql("CREATE TABLE p LIKE q")
        with pytest.raises(UnsupportedError, match="LOCATION"):
            shared.sql("CREATE TABLE elsewhere LIKE q USING paimon LOCATION '/x'")
        with pytest.raises(UnsupportedError, match="write the names"):
            shared.sql("CREATE TABLE IDENTIFIER('both.' || 'r') LIKE q USING paimon")
        shared.sql("CREATE TABLE IDENTIFIER('both.' || 'q_too') USING parquet AS SELECT 1 AS id")
        shared.sql("CREATE TABLE IDENTIFIER('both.' || 'q_last') LIKE q_too")
    finally:
        shared.sql("DROP VIEW seen")

    assert catalog.tables("both") == ["of_view", "p"]
    assert catalog.table("both.of_view").schema.field_names == ("id", "m")
    assert "USING parquet" in str(rows(shared, "SHOW CREATE TABLE q_like"))
    table = catalog.table("both.p")
    assert (table.comment, table.options) == ("both", {"file.format": "orc"})
    assert table.schema.partition_keys == ("day",)
    described = [rows(shared, f"DESCRIBE {name}")[:3] for name in ("p", "q")]
    assert described[0] == described[1]
    shared.sql("INSERT INTO p (c, day) VALUES ('a', 'mon')")
    assert rows(shared, "SELECT * FROM p") == [(3, "a  ", "mon")]


def test_databases_are_those_of_both(shared: SparkSession, catalog: Catalog) -> None:
    catalog.create_database("late")
    shared.sql("USE late")  # made by others since
    shared.sql("CREATE TABLE p USING paimon AS SELECT 1 AS id")
    shared.sql("USE both")
    shared.sql("CREATE TABLE default.p USING paimon AS SELECT 1 AS id")
    assert rows(shared, "SELECT * FROM default.p") == [(1,)]
    shared.sql("DROP TABLE default.p")

    assert {("both",), ("default",), ("early",), ("late",)} <= {*rows(shared, "SHOW DATABASES")}
    assert catalog.tables("late") == ["p"]
    with pytest.raises(AnalysisException, match="SCHEMA_NOT_EMPTY"):
        shared.sql("DROP DATABASE late")
    shared.sql("DROP DATABASE late CASCADE")
    assert not catalog.has_database("late")
    assert ("late",) not in rows(shared, "SHOW DATABASES")


def test_clones_of_the_session_have_it_and_servers_refuse_it(
    shared: SparkSession, catalog: Catalog
) -> None:
    shared.sql("CREATE TABLE p USING paimon AS SELECT 1 AS id")
    clone = Bridge(shared).session.cloneSession()

    assert clone.sql("SELECT id FROM both.p").first().getInt(0) == 1
    with pytest.raises((UnsupportedError, ValueError)):
        serve(catalog.path, catalog="spark_catalog")
