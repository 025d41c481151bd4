"""CREATE, ALTER, DROP, TRUNCATE without Spark; tests/spark compares what they make with Spark's."""

from __future__ import annotations

from pathlib import Path

import pytest

import paimonlab
from paimonlab.catalog import Catalog
from paimonlab.errors import AlreadyExistsError, PaimonError, SchemaError, UnsupportedError
from paimonlab.sql_engine import changes
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.tables import Sources

ONCE = "CREATE TABLE db.t (id INT, `a.b` INT, v STRING)"


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    opened = paimonlab.connect(tmp_path)
    opened.create_database("db")
    changes.run(ONCE, Sources(opened))
    opened.table("db.t").write({"id": [1], "a.b": [2], "v": ["c"]})
    return opened


def test_rows_go_with_truncate_and_tables_with_drop(catalog: Catalog) -> None:
    changes.run("TRUNCATE TABLE paimon.db.t", Sources(catalog))
    assert catalog.table("db.t").scan().count() == 0

    changes.run("DROP TABLE IF EXISTS db.t", Sources(catalog))
    assert catalog.tables("db") == []


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        (ONCE, AlreadyExistsError),
        ("CREATE TABLE db.n (id INT, ID INT)", SchemaError),
        ("CREATE TABLE db.n (id INT) USING parquet", UnsupportedError),
        ("CREATE TABLE db.n (id INT) LOCATION '/x'", UnsupportedError),
        ("CREATE TABLE db.n (id INT) TBLPROPERTIES ('path' = '/x')", UnsupportedError),
        ("CREATE TABLE db.n (id INT) TBLPROPERTIES ('bukket' = '1')", SchemaError),
        ("CREATE TABLE db.n (id INT, CHECK (id > 1))", UnsupportedError),
        ("CREATE TABLE db.n (id INT DEFAULT 3)", NotTranslatedError),
        ("CREATE TABLE db.n (id INTERVAL)", NotTranslatedError),
        ("CREATE TABLE db.n (id INT) PARTITIONED BY (bucket(4, id))", SchemaError),
        ("CREATE TABLE db.n (id INT) CLUSTERED BY (id) INTO 4 BUCKETS", NotTranslatedError),
        ("CREATE TABLE db.n LIKE db.t", NotTranslatedError),
        ("CREATE OR REPLACE TABLE db.t (id INT)", NotTranslatedError),
        ("CREATE TEMPORARY TABLE db.n (id INT)", NotTranslatedError),
        ("CREATE EXTERNAL TABLE db.n (id INT)", NotTranslatedError),
        ("CREATE TABLE n (id INT)", NotTranslatedError),
        ("CREATE TABLE other.db.n (id INT)", NotTranslatedError),
        ("CREATE DATABASE x COMMENT 'said'", NotTranslatedError),
        ("CREATE DATABASE other.x", NotTranslatedError),
        ("CREATE FUNCTION db.f() RETURNS INT RETURN 1", NotTranslatedError),
        ("DROP TABLE db.t PURGE", NotTranslatedError),
        ("DROP VIEW db.t", NotTranslatedError),
        ("DROP DATABASE db", SchemaError),
        ("TRUNCATE TABLE db.t PARTITION (id = 1)", NotTranslatedError),
        ("ALTER TABLE db.t ADD COLUMN V INT", AlreadyExistsError),
        ("ALTER TABLE db.t ADD COLUMN IF NOT EXISTS x INT", NotTranslatedError),
        ("ALTER TABLE db.t DROP COLUMN `a.b`", NotTranslatedError),
        ("ALTER TABLE db.t ALTER COLUMN v SET DEFAULT 'x'", NotTranslatedError),
        ("ALTER TABLE db.t ALTER COLUMN id SET NOT NULL", NotTranslatedError),
        ("ALTER TABLE db.t DROP PARTITION (id = 1)", NotTranslatedError),
        ("ALTER TABLE db.t SET LOCATION '/x'", NotTranslatedError),
        ("ALTER TABLE db.t DROP CONSTRAINT v", NotTranslatedError),
        ("CREATE TABLE db.u USING delta AS SELECT 1 AS a", UnsupportedError),
        ("CREATE TABLE db.u PARTITIONED BY (p INT) AS SELECT 1 AS a", NotTranslatedError),
        ("CREATE TABLE db.u SHALLOW CLONE db.t", UnsupportedError),
        ("ALTER TABLE db.t CREATE BRANCH b", UnsupportedError),
        ("ALTER TABLE db.t UNSET TBLPROPERTIES ('bucket')", NotTranslatedError),
        ("ALTER VIEW db.t AS SELECT 1", NotTranslatedError),
        ("DROP TABLE db.`t$files`", SchemaError),
        ("TRUNCATE TABLE db.`t$files`", SchemaError),
    ],
)
def test_what_is_refused_changes_nothing(
    catalog: Catalog, sql: str, error: type[PaimonError]
) -> None:
    before = catalog.table("db.t").schema

    with pytest.raises(error):
        changes.run(sql, Sources(catalog))

    assert (catalog.databases(), catalog.tables("db")) == (["db"], ["t"])
    assert (catalog.table("db.t").schema, catalog.table("db.t").scan().count()) == (before, 1)
