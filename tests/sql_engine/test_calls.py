"""CALL, and OPTIMIZE and its like, without Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

import paimonlab
from paimonlab.catalog import Catalog
from paimonlab.errors import PaimonError, SchemaError, UnsupportedError
from paimonlab.sql_engine import changes, engine
from paimonlab.sql_engine.first_words import WRITING
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

    history = engine.run(planned)
    assert history["snapshot_id"].to_pylist() == [3, 2]
    columns = history.column_names
    assert columns[:4] == ["snapshot_id", "commit_time", "commit_kind", "delta_record_count"]
    everything = catalog.system_table("db.t$snapshots").scan().to_arrow().column_names
    assert sorted(columns) == sorted(n for n in everything if not n.endswith("_manifest_list"))


def test_what_nothing_does_is_answered_with_what_is_like_it(catalog: Catalog) -> None:
    for sql, said in (
        ("GENERATE symlink_format_manifest FOR TABLE db.t", "FROM db.t$files"),
        ("FSCK REPAIR TABLE db.t DRY RUN", "CALL sys.remove_unexisting_files(table => 'db.t'"),
        ("CONVERT TO DELTA parquet.`/lake/t`", "CALL sys.migrate_table('parquet'"),
        ("ALTER TABLE db.t ADD CONSTRAINT c CHECK (id > 0)", "INSERT INTO db.t SELECT"),
        ("CREATE TABLE db.u (id INT) CLUSTER BY (id)", "'clustering.columns' = 'id'"),
        ("MSCK REPAIR TABLE db.t", "Nothing is to be done"),
    ):
        is_change = sql.split()[0] in WRITING
        with pytest.raises(NotTranslatedError) as refused:
            (changes.run if is_change else engine.plan)(sql, Sources(catalog))
        assert said in refused.value.hint
    for sql, said in (
        ("CREATE TABLE db.u CLONE db.t", r"CALL sys\.copy\(.*target_table => 'db\.u'\)"),
        ("ALTER TABLE db.t WRITE ORDERED BY id", "clustering.incremental"),
    ):
        with pytest.raises(UnsupportedError, match=said):
            changes.run(sql, Sources(catalog))


def test_changes_are_read_by_a_function(catalog: Catalog) -> None:
    def read(function: str) -> list[dict[str, object]]:
        sql = f"SELECT c.id FROM {function} AS c ORDER BY id"
        return engine.run(engine.plan(sql, Sources(catalog))).to_pylist()

    added = catalog.table("db.t").changes(1, 3).to_arrow()["id"].to_pylist()
    assert read("paimon_incremental_query('db.t', 1, 3)") == [{"id": one} for one in sorted(added)]
    for sql, said in (
        ("table_changes('db.t', 1)", "paimon_incremental_query"),
        ("paimon_incremental_query('db.t', 1)", "with 2 arguments"),
        ("paimon_incremental_query('db.t', 1, id)", "id"),
    ):
        with pytest.raises(PaimonError, match=said):
            read(sql)


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
        (
            "CALL c.system.ancestors_of('t')",
            PaimonError,
            r"; write SELECT \* FROM db\.t\$snapshots",
        ),
        ("CALL system.nix('t')", PaimonError, "there is no procedure sys.nix"),
        ("CALL sys.expire_snapshots('db.t', retain_last => 1)", PaimonError, "It is retain_min"),
        ("CALL sys.expire_snapshots('db.t', dry_run => true)", PaimonError, "call --dry-run"),
    ],
)
def test_what_deletes_is_answered_with_the_calls_that_do_it(
    catalog: Catalog, sql: str, error: type[PaimonError], message: str
) -> None:
    with pytest.raises(error, match=message):
        run(catalog, sql)

    assert len(catalog.table("db.t").snapshots) == 3
