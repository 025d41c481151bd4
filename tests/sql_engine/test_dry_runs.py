"""Dry runs: statements say what they then do, and write nothing before."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab
from paimonlab.catalog import Catalog
from paimonlab.errors import AlreadyExistsError, PaimonError, UnsupportedError
from paimonlab.sql_engine import changes, dry_runs
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.tables import Sources
from paimonlab.table.changing.statement import PlannedChange
from paimonlab.table.table import Table

COLUMNS = {"id": "INT", "p": "INT", "v": "STRING"}
KINDS = {
    "append": ([], [], {"bucket": -1, "write-only": True}),
    "vectors": ([], [], {"bucket": -1, "deletion-vectors.enabled": True, "write-only": True}),
    "tracked": ([], [], {"bucket": -1, "row-tracking.enabled": True, "write-only": True}),
    "parts": ([], ["p"], {"bucket": -1, "write-only": True}),
    "keyed": (["id"], [], {"bucket": 2, "write-only": True}),
}
STATEMENTS = (
    "DELETE FROM db.t WHERE id = 3 OR v = 'v1'",
    "DELETE FROM db.t WHERE length(v) > 2 AND id % 2 = 0",
    "DELETE FROM db.t WHERE p = 1",
    "DELETE FROM db.t WHERE id > 999",
    "UPDATE db.t SET v = concat(v, '!') WHERE id < 5",
    "UPDATE db.t SET v = 'all'",
    (
        "MERGE INTO db.t t USING (SELECT 2 AS id, 0 AS p, 'm' AS v UNION ALL SELECT 77, 1, 'n') s "
        "ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *"
    ),
    (
        "MERGE INTO db.t t USING (SELECT id, p, v FROM db.t WHERE id < 4) s ON t.id = s.id "
        "WHEN MATCHED AND t.id = 2 THEN DELETE WHEN MATCHED THEN UPDATE SET v = 'u' "
        "WHEN NOT MATCHED BY SOURCE AND t.id > 10 THEN DELETE"
    ),
    "INSERT INTO db.t SELECT id + 100, p, v FROM db.t WHERE id > 3",
    "INSERT INTO db.t SELECT id, p, v FROM db.t WHERE id > 999",
)


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    opened = paimonlab.connect(tmp_path)
    opened.create_database("db")
    return opened


def make(catalog: Catalog, kind: str) -> Table:
    keys, parts, options = KINDS[kind]
    table = catalog.create_table(
        "db.t", COLUMNS, primary_keys=keys, partition_keys=parts, options=options
    )
    for begin in (0, 5, 10):
        ids = range(begin, begin + 5)
        values = [f"v{n}" for n in ids]
        table.write(
            pa.table(
                {
                    "id": pa.array(ids, pa.int32()),
                    "p": pa.array([n % 3 for n in ids], pa.int32()),
                    "v": values,
                }
            )
        )
    return table


def files(catalog: Catalog) -> set[str]:
    return set(catalog.system_table("db.t$files").scan().to_arrow()["file_path"].to_pylist())


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_what_is_foretold_is_what_is_done(catalog: Catalog, kind: str) -> None:
    for sql in STATEMENTS:
        table = make(catalog, kind)
        before, snapshots = files(catalog), len(table.snapshots)
        on_disk = set(Path(table.path).rglob("*"))

        foretold = dry_runs.dry_run(sql, Sources(catalog))
        change = foretold.change

        assert set(Path(table.path).rglob("*")) == on_disk, sql
        assert len(table.snapshots) == snapshots
        ids = set(table.scan(["id"]).to_arrow()["id"].to_pylist())
        done = changes.run(sql, Sources(catalog))
        assert done.rows == change.rows_inserted + change.rows_updated + change.rows_deleted, sql
        after = set(catalog.table("db.t").scan(["id"]).to_arrow()["id"].to_pylist())
        assert (len(after - ids), len(ids - after)) == (change.rows_inserted, change.rows_deleted)
        gone = before - files(catalog)
        if kind != "vectors":
            assert len(gone) == (0 if kind == "keyed" else change.files_changed), sql
        assert len(gone) <= change.files_changed <= change.files_read
        catalog.drop_table("db.t")


def test_what_is_overwritten_and_created_is_counted(catalog: Catalog) -> None:
    make(catalog, "append")

    def dry_run(sql: str) -> tuple[str, PlannedChange]:
        found = dry_runs.dry_run(sql, Sources(catalog))
        return found.said, found.change

    said, change = dry_run("INSERT OVERWRITE db.t SELECT 1, 1, 'x'")
    assert said == (
        "db.t: 1 row inserted, 15 rows deleted if it is run; 3 of 3 files replaced or marked"
    )
    assert change == PlannedChange(rows_inserted=1, rows_deleted=15, files_read=3, files_changed=3)
    said, change = dry_run("CREATE TABLE db.n AS SELECT id FROM db.t WHERE id > 12")
    assert (said, change) == ("db.n: 2 rows inserted if it is run", PlannedChange(rows_inserted=2))
    assert not catalog.has_table("db.n")


@pytest.mark.parametrize(
    ("sql", "error", "said"),
    [
        ("CREATE TABLE db.t AS SELECT 1 AS id", AlreadyExistsError, "db.t"),
        ("DROP TABLE db.t", UnsupportedError, "a dry run of DROP"),
        ("INSERT INTO db.t SELECT 1", PaimonError, "1 column for 3"),
        (
            "INSERT INTO db.t SELECT id * 999999999, 1, 'x' FROM db.t",
            PaimonError,
            "range|[Oo]verfl",
        ),
        ("UPDATE db.t SET id = 'x'", NotTranslatedError, "SET id"),
        ("DELETE FROM db.none WHERE id = 1", PaimonError, "none"),
    ],
)
def test_what_would_fail_fails(
    catalog: Catalog, sql: str, error: type[PaimonError], said: str
) -> None:
    make(catalog, "append")

    with pytest.raises(error, match=said):
        dry_runs.dry_run(sql, Sources(catalog))
