"""CALL, and OPTIMIZE and its like, without Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

import paimonlab
from paimonlab.catalog import Catalog
from paimonlab.errors import PaimonError, SchemaError, UnsupportedError
from paimonlab.sql_engine import engine
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.statements import calls
from paimonlab.sql_engine.tables import Sources


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    opened = paimonlab.connect(tmp_path)
    opened.create_database("db")
    table = opened.create_table("db.t", {"id": "INT"}, primary_keys=["id"], options={"bucket": 1})
    for number in range(3):
        table.write({"id": [number]})
    return opened


def run(catalog: Catalog, sql: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = calls.run(sql, Sources(catalog), lambda *_: None).to_pylist()
    return found


@pytest.mark.parametrize(
    "sql",
    [
        "OPTIMIZE db.t",
        "REORG TABLE db.t APPLY (PURGE)",
        "OPTIMIZE paimon.db.t FULL;",
        "CALL paimon.sys.compact('db.t')",
    ],
)
def test_what_compacts_leaves_one_file(catalog: Catalog, sql: str) -> None:
    assert run(catalog, sql) == [{"result": True}]
    assert catalog.system_table("db.t$files").scan().count() == 1


def test_describe_history_lists_snapshots(catalog: Catalog) -> None:
    planned = engine.plan("DESCRIBE HISTORY db.t LIMIT 2", Sources(catalog))

    assert engine.run(planned)["snapshot_id"].to_pylist() == [3, 2]


@pytest.mark.parametrize("name", ["db.t$snapshots", "db.`t$snapshots`", "paimon.db.`t`$snapshots"])
def test_names_of_system_tables_need_no_quotes(name: str, catalog: Catalog) -> None:
    sql = f"SELECT max(s.snapshot_id) AS newest, '$' AS text FROM {name} s"

    rows = engine.run(engine.plan(sql, Sources(catalog))).to_pylist()

    assert rows == [{"newest": 3, "text": "$"}]


@pytest.mark.parametrize(
    ("sql", "error", "message"),
    [
        (
            "RESTORE TABLE db.t TO VERSION AS OF 2",
            UnsupportedError,
            r"CALL sys\.rollback\(table => 'db\.t', snapshot => 2\)",
        ),
        ("VACUUM db.t RETAIN 5 HOURS", UnsupportedError, r"CALL sys\.remove_orphan_files"),
        (
            "EXPIRE SNAPSHOTS db.t",
            UnsupportedError,
            r"CALL sys\.expire_snapshots\(table => 'db\.t'\)",
        ),
        ("RESTORE db.t TO TIMESTAMP AS OF 'soon'", PaimonError, "'soon' is not a time"),
        ("OPTIMIZE other.db.t", NotTranslatedError, "the catalog other"),
        ("CALL other.sys.compact('db.t')", NotTranslatedError, "the catalog other"),
        ("CALL my.compact('db.t')", SchemaError, "is not a procedure"),
        ("CALL sys.compakt('db.t')", PaimonError, "compact"),
    ],
)
def test_what_deletes_is_answered_with_the_calls_that_do_it(
    catalog: Catalog, sql: str, error: type[PaimonError], message: str
) -> None:
    with pytest.raises(error, match=message):
        run(catalog, sql)

    assert len(catalog.table("db.t").snapshots) == 3
