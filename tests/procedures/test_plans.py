"""What procedures would do, without doing it."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab
from paimonlab.catalog import Catalog
from paimonlab.errors import UnsupportedError
from paimonlab.maintenance.snapshot_expiry import SnapshotExpiry
from paimonlab.maintenance.tag_deletion import TagDeletion
from paimonlab.procedures import PROCEDURES, bind, find
from paimonlab.table.table import Table

WITH_PLAN = [one.name for one in PROCEDURES.values() if one.has_plan]
OF_APPEND_TABLES = ("merge_branch",)
OF_FOLDERS = ("clone", "migrate_database", "migrate_table")
"""Planned in ``test_files.py``, and in those of Hive."""
ARGUMENTS: dict[str, dict[str, object]] = {
    "compact": {"compact_strategy": "full"},
    "copy": {"target_table": "db.u"},
    "delete_tag": {"tag": "old"},
    "expire_partitions": {"expiration_time": "1 d", "timestamp_formatter": "yyyy-MM-dd"},
    "expire_snapshots": {"retain_max": 1, "retain_min": 1},
    "expire_tags": {"older_than": "2100-01-01 00:00:00"},
    "rollback": {"snapshot": 2},
    "rollback_to_timestamp": {"timestamp": 4_000_000_000_000},
    "rollback_to_watermark": {"watermark": 5},
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a table that every procedure would find something to do with."""
    folder = tmp_path_factory.mktemp("warehouse")
    catalog = paimonlab.connect(folder)
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        {"dt": "STRING NOT NULL", "k": "INT NOT NULL", "v": "STRING"},
        primary_keys=["dt", "k"],
        partition_keys=["dt"],
        options={"bucket": "1", "write-only": "true"},
    )
    for number in range(4):
        rows = {"dt": ["2020-01-01"], "k": pa.array([1], pa.int32()), "v": [str(number)]}
        writer = table.new_writer()
        writer.write(pa.table(rows))
        table.commit(writer.prepare_commit(), watermark=number * 10)
        if number == 0:
            table.tags.create("old")
    bucket = Path(table.path, "dt=2020-01-01", "bucket-0")
    stray = bucket / "data-stray-0.parquet"
    stray.write_bytes(b"12345")
    os.utime(stray, (time.time() - 3 * 86_400,) * 2)
    return folder


@pytest.fixture
def catalog(template: Path, tmp_path: Path) -> Catalog:
    shutil.copytree(template, tmp_path / "w")
    return paimonlab.connect(tmp_path / "w")


def stored(folder: str) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", sorted({*WITH_PLAN} - {*OF_APPEND_TABLES, *OF_FOLDERS}))
def test_a_plan_changes_nothing(catalog: Catalog, name: str) -> None:
    procedure = find(name)
    about = [] if name == "compact_database" else ["db.t"]
    arguments = bind(procedure, about, ARGUMENTS.get(name, {}))
    before = stored(catalog.path)

    plans = procedure.plan(catalog, arguments)

    assert stored(catalog.path) == before
    assert plans


@pytest.mark.parametrize("name", sorted(PROCEDURES.keys() - set(WITH_PLAN)))
def test_what_has_no_plan_is_refused_and_not_done(catalog: Catalog, name: str) -> None:
    before = stored(catalog.path)
    procedure = find(name)

    with pytest.raises(UnsupportedError, match=f"a dry run of sys.{name}"):
        procedure.plan(catalog, {})

    assert stored(catalog.path) == before


def test_a_plan_is_what_a_call_does_then(catalog: Catalog) -> None:
    procedure = find("expire_snapshots")
    arguments = bind(procedure, ["db.t"], ARGUMENTS["expire_snapshots"])

    (plan,) = procedure.plan(catalog, arguments)
    before = set(stored(catalog.path))
    rows = procedure.call(catalog, arguments)

    assert isinstance(plan, SnapshotExpiry)
    assert rows.to_pylist() == [{"deleted_snapshots_count": len(plan.snapshots)}]
    gone = {path for path in before - set(stored(catalog.path)) if "/snapshot/" not in path}
    assert gone == set(plan.files.paths)


@pytest.mark.parametrize("name", ["delete_tag", "expire_tags"])
def test_a_plan_of_tags_has_the_files_that_they_keep_together(catalog: Catalog, name: str) -> None:
    table = catalog.table("db.t")
    assert isinstance(table, Table)
    table.tags.create("older", snapshot=1)
    table.maintenance.expire_snapshots(1, 1)
    procedure = find(name)
    given = {"tag": "old,older"} if name == "delete_tag" else ARGUMENTS[name]
    arguments = bind(procedure, ["db.t"], given)

    plans = procedure.plan(catalog, arguments)
    before = set(stored(catalog.path))
    procedure.call(catalog, arguments)

    gone = {path for path in before - set(stored(catalog.path)) if "/tag/" not in path}
    planned = [path for plan in plans if isinstance(plan, TagDeletion) for path in plan.files.all]
    assert gone
    assert sorted(planned) == sorted(gone)
