"""What a catalog has, with the columns and rows that Spark answers."""

from __future__ import annotations

from pathlib import Path

import pytest

import paimonlab
from paimonlab.catalog import Catalog
from paimonlab.errors import PaimonError
from paimonlab.sql_engine import changes, engine
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.tables import Sources


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    """Make two tables, as `tests/spark/test_changes_without_spark.py` asks Spark of."""
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    catalog.create_database("none")
    columns = {"id": "INT NOT NULL", "v": "STRING", "p": "INT"}
    catalog.create_table("db.a", columns, partition_keys=["p"])
    types = {"id": "INT NOT NULL", "m": "DECIMAL(10, 2)", "ts": "TIMESTAMP(6)"}
    catalog.create_table("db.b", types, primary_keys=["id"])
    catalog.create_table("db.l", {"l": "ARRAY<ROW<a VARCHAR(5), b MAP<INT, CHAR(3)>>>"})
    catalog.create_table("db.w", {"w": f"ROW<{', '.join(f'f{n} INT' for n in range(26))}>"})
    return catalog


@pytest.mark.parametrize(
    ("sql", "names", "rows"),
    [
        ("SHOW DATABASES", ["namespace"], [("db",), ("none",)]),
        (
            "SHOW TABLES IN paimon.db",
            ["namespace", "tableName", "isTemporary"],
            [("db", name, False) for name in "ablw"],
        ),
        ("show tables from none;", ["namespace", "tableName", "isTemporary"], []),
        ("SHOW COLUMNS IN db.b", ["col_name"], [("id",), ("m",), ("ts",)]),
        (
            "DESCRIBE db.a",
            ["col_name", "data_type", "comment"],
            [
                ("id", "int", None),
                ("v", "string", None),
                ("p", "int", None),
                ("# Partition Information", "", ""),
                ("# col_name", "data_type", "comment"),
                ("p", "int", None),
            ],
        ),
        (
            "DESCRIBE SELECT id + 1 AS n, max(v) FROM db.a GROUP BY id",
            ["col_name", "data_type", "comment"],
            [("n", "int", None), ("max(v)", "string", None)],
        ),
        (
            "DESCRIBE db.l",
            ["col_name", "data_type", "comment"],
            [("l", "array<struct<a:varchar(5),b:map<int,char(3)>>>", None)],
        ),
        (
            "DESC TABLE paimon.db.b",
            ["col_name", "data_type", "comment"],
            [("id", "int", None), ("m", "decimal(10,2)", None), ("ts", "timestamp_ntz", None)],
        ),
    ],
)
def test_lists_are_those_of_spark(
    catalog: Catalog, sql: str, names: list[str], rows: list[tuple[object, ...]]
) -> None:
    found = engine.run(engine.plan(sql, Sources(catalog)))

    assert found.schema.names == names
    assert list(zip(*(one.to_pylist() for one in found.columns), strict=True)) == rows


@pytest.mark.parametrize(
    "sql",
    [
        "SHOW TABLES",
        "SHOW TABLES IN db LIKE 'a*'",
        "SHOW TABLES IN other.db",
        "SHOW DATABASES IN other",
        "SHOW CREATE TABLE db.a",
        "DESCRIBE EXTENDED db.a",
        "DESCRIBE db.w",
        "DESCRIBE db.`a$files`",
        "DESCRIBE SELECT w FROM db.w",
        "DESCRIBE 'rows.csv'",
        "DESCRIBE DATABASE db",
    ],
)
def test_what_is_not_proven_is_refused(catalog: Catalog, sql: str) -> None:
    with pytest.raises(NotTranslatedError):
        engine.plan(sql, Sources(catalog))


def test_tables_of_no_database_are_refused_with_the_databases_there_are(
    catalog: Catalog, tmp_path: Path
) -> None:
    with pytest.raises(NotTranslatedError) as caught:
        engine.plan("SHOW TABLES", Sources(catalog))
    assert caught.value.hint == "Write SHOW TABLES IN db; there are also none"

    with pytest.raises(NotTranslatedError) as caught:
        engine.plan("show tables;", Sources(paimonlab.connect(tmp_path / "new")))
    assert caught.value.hint == "There is no database yet: CREATE DATABASE db makes one"


@pytest.mark.parametrize(
    ("sql", "refused", "hint"),
    [
        ("DESCRIBE EXTENDED db.t", "DESCRIBE EXTENDED", "Write DESCRIBE db.t"),
        (
            "SHOW PARTITIONS db.a",
            "SHOW PARTITIONS db.a",
            "Write SELECT partition, record_count FROM db.a$partitions",
        ),
        ("SHOW TBLPROPERTIES db.a", "SHOW TBLPROPERTIES", "Write SELECT * FROM db.a$options"),
        ("SHOW FUNCTIONS", "SHOW FUNCTIONS", "Write SHOW DATABASES"),
    ],
)
def test_what_is_not_listed_says_what_lists_it(
    sql: str, refused: str, hint: str, catalog: Catalog
) -> None:
    with pytest.raises(NotTranslatedError, match=refused) as caught:
        engine.plan(sql, Sources(catalog))

    assert caught.value.hint.startswith(hint)
    if "$" in hint:
        assert engine.run(engine.plan(hint.removeprefix("Write "), Sources(catalog))).num_columns


def test_comments_of_columns_that_a_query_would_carry_over_are_refused(catalog: Catalog) -> None:
    changes.run("CREATE TABLE db.c (c INT COMMENT 'said')", Sources(catalog))

    with pytest.raises(NotTranslatedError, match="DESCRIBE of a query of columns with comments"):
        engine.plan("DESCRIBE SELECT c FROM db.c", Sources(catalog))


def test_what_is_not_there_is_an_error(catalog: Catalog) -> None:
    for sql in ("SHOW TABLES IN nowhere", "DESCRIBE db.nothing"):
        with pytest.raises(PaimonError, match="not"):
            engine.plan(sql, Sources(catalog))


def test_a_query_is_explained(catalog: Catalog) -> None:
    catalog["db.b"].write([{"id": 1, "m": 1, "ts": None}, {"id": 2, "m": 2, "ts": None}])
    catalog["db.b"].write([{"id": 2, "m": 3, "ts": None}])
    query = "SELECT sum(m) FROM db.b WHERE id > 1"

    found = engine.run(engine.plan(f"EXPLAIN {query}", Sources(catalog)))
    (text,) = found["plan"].to_pylist()

    assert "db.b@2: 2 files opened by DuckDB, without rows that are deleted" in text
    assert "get_bit(rows_that_count," in text
    assert "Filters: id > 1" in text
    aggregated = catalog.create_table(
        "db.sums",
        {"id": "INT NOT NULL", "m": "INT"},
        primary_keys=["id"],
        options={"bucket": 1, "merge-engine": "aggregation", "fields.m.aggregate-function": "sum"},
    )
    for _ in range(3):
        aggregated.write([{"id": 1, "m": 1}])
    found = engine.run(engine.plan("EXPLAIN SELECT max(m) FROM db.sums", Sources(catalog)))
    assert "db.sums@3: 3 files that paimonlab reads and merges" in found["plan"][0].as_py()
