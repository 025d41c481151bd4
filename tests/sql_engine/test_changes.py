"""Statements that write without Spark, against a list of rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab
from paimonlab.catalog import Catalog
from paimonlab.errors import DataError, PaimonError, SchemaError
from paimonlab.sql_engine import changes
from paimonlab.sql_engine.refusal import NotTranslatedError, StatementFailedError
from paimonlab.sql_engine.tables import Sources

KINDS: dict[str, dict[str, Any]] = {
    "append": {},
    "keyed": {"primary_keys": ["id"], "options": {"bucket": "1"}},
}


@pytest.fixture(params=KINDS)
def catalog(request: pytest.FixtureRequest, tmp_path: Path) -> Catalog:
    """Make a table with three rows."""
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    columns = {"id": "INT NOT NULL", "v": "STRING", "m": "DECIMAL(10, 2)"}
    table = catalog.create_table("db.t", columns, **KINDS[request.param])
    table.write(
        pa.table(
            {
                "id": pa.array([1, 2, 3], "i4"),
                "v": ["a", "b", None],
                "m": pa.array([1, 2, None], pa.decimal128(10, 2)),
            }
        )
    )
    return catalog


def run(catalog: Catalog, sql: str, **values: Any) -> None:
    changes.run(sql, Sources(catalog), values)


def rows(catalog: Catalog, name: str = "db.t") -> list[tuple[Any, ...]]:
    table: Any = catalog.table(name)
    found = [tuple(row.values()) for row in table.scan().to_arrow().to_pylist()]
    return sorted((row[0], row[1], None if row[2] is None else float(row[2])) for row in found)


BEFORE = [(1, "a", 1.0), (2, "b", 2.0), (3, None, None)]


@pytest.mark.parametrize(
    ("sql", "after"),
    [
        (
            "INSERT INTO db.t VALUES (4, 'it', 1.5), (5, NULL, 7)",
            [(4, "it", 1.5), (5, None, 7.0)],
        ),
        (
            "INSERT INTO db.t (m, id, v) SELECT m, id + 10, upper(v) FROM db.t WHERE id = 1",
            [(11, "A", 1.0)],
        ),
        ("INSERT INTO db.t SELECT max(id) + 1, :text, NULL FROM db.t", [(4, "x' OR 1=1", None)]),
    ],
)
def test_rows_are_inserted(catalog: Catalog, sql: str, after: list[tuple[Any, ...]]) -> None:
    run(catalog, sql, text="x' OR 1=1")

    assert rows(catalog) == [*BEFORE, *after]


def test_rows_are_deleted_and_updated(catalog: Catalog) -> None:
    run(catalog, "DELETE FROM db.t WHERE v = :v AND id < 3", v="b")
    assert rows(catalog) == [BEFORE[0], BEFORE[2]]

    run(catalog, "UPDATE db.t SET v = 'new', m = 2.5 WHERE v IS NOT NULL OR id IN (7, 3)")
    assert rows(catalog) == [(1, "new", 2.5), (3, "new", 2.5)]

    run(catalog, "DELETE FROM db.t WHERE id > 100")
    assert len(rows(catalog)) == 2


def test_a_table_is_made_of_a_query(catalog: Catalog) -> None:
    run(catalog, "CREATE TABLE db.made USING paimon AS SELECT id, v AS w, m * 2 AS n FROM db.t")

    table: Any = catalog.table("db.made")
    types = [str(field.type) for field in table.arrow_schema]
    assert types == ["int32", "string", "decimal128(12, 2)"]
    assert rows(catalog, "db.made") == [(1, "a", 2.0), (2, "b", 4.0), (3, None, None)]
    with pytest.raises(PaimonError, match="already exists"):
        run(catalog, "CREATE TABLE db.made AS SELECT 1 AS id")


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        ("INSERT INTO db.t (id) VALUES (4)", NotTranslatedError),
        ("INSERT INTO db.t VALUES ('4', 'a', 1)", NotTranslatedError),
        ("INSERT INTO db.t VALUES (4, 5, 1)", NotTranslatedError),
        ("INSERT INTO db.t VALUES (4, 'a', 1.555)", NotTranslatedError),
        ("INSERT INTO db.t VALUES (3000000000, 'a', 1)", StatementFailedError),
        ("INSERT INTO db.t VALUES (NULL, 'a', 1)", DataError),
        ("INSERT INTO db.t VALUES (4, 'a')", SchemaError),
        ("INSERT OVERWRITE db.t VALUES (4, 'a', 1)", NotTranslatedError),
        ("INSERT INTO db.t PARTITION (id = 4) VALUES ('a', 1)", NotTranslatedError),
        ("INSERT INTO db.`t$snapshots` VALUES (1)", NotTranslatedError),
        ("DELETE FROM db.t", NotTranslatedError),
        ("DELETE FROM db.t x WHERE x.id = 1", NotTranslatedError),
        ("DELETE FROM db.t WHERE upper(v) = 'A'", NotTranslatedError),
        ("DELETE FROM db.t WHERE id = 1 AND v = (SELECT max(v) FROM db.t)", NotTranslatedError),
        ("UPDATE db.t SET m = m + 1", NotTranslatedError),
        ("UPDATE db.t SET v = 5 WHERE id = 1", NotTranslatedError),
        ("UPDATE db.t SET v = :hostile WHERE id = 1", NotTranslatedError),
        ("CREATE TABLE db.n (id INT)", NotTranslatedError),
        ("CREATE TABLE db.n PARTITIONED BY (id) AS SELECT 1 AS id", NotTranslatedError),
        ("CREATE TABLE IF NOT EXISTS db.n AS SELECT 1 AS id", NotTranslatedError),
        ("CREATE VIEW db.n AS SELECT 1 AS id", NotTranslatedError),
        ("TRUNCATE TABLE db.t", NotTranslatedError),
    ],
)
def test_what_is_not_proven_writes_nothing(
    catalog: Catalog, sql: str, error: type[PaimonError]
) -> None:
    with pytest.raises(error):
        run(catalog, sql, hostile="x' || v || '")

    assert rows(catalog) == BEFORE
    assert catalog.tables("db") == ["t"]
