"""Emptying a table, and going on without files that are lost."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import PaimonError, UnsupportedError
from tests.maintenance.expiring_tables import age, files, filled, ids, new_table, opened, put


def test_a_purged_table_is_empty_and_can_be_used(tmp_path: Path) -> None:
    table = filled(new_table(tmp_path, changelog__num_retained__min="20"), 4)
    table.tags.create("two", snapshot=2)
    table.branches.create("dev", tag="two")
    put(table.on_branch("dev"), {9: "dev"})
    table.consumers.reset("c", 2)
    table.maintenance.expire_snapshots(2)
    before = files(table)

    plan = table.maintenance.purge_files(dry_run=True)
    assert files(table) == before
    done = table.maintenance.purge_files()

    assert done == plan
    assert (done.branches, done.tags, done.consumers) == (("dev",), ("two",), ("c",))
    assert (done.snapshots, done.changelogs) == ((2, 3, 4), (1,))
    assert "3 snapshots, 1 changelog, 1 tag, 1 branch, 1 consumer" in str(done)
    left = {path.split("/")[0] for path in files(table)}
    assert left == {"schema", "snapshot", "manifest"}
    assert table.snapshots.ids() == [5]
    assert ids(table.scan()) == []
    put(table, {7: "on"}, replaces=False)
    assert ids(table.scan()) == [7]
    assert not opened(tmp_path).fsck(deep=True).findings


def test_a_table_nobody_wrote_to_is_purged_of_what_crashes_left(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    writer = table.new_writer()
    writer.write(pa.table({"id": pa.array([1], pa.int32()), "v": ["x"]}))
    writer.prepare_commit(1)

    assert table.maintenance.purge_files().file_count == 1
    assert {path.split("/")[0] for path in files(table)} == {"schema"}


def test_lost_files_are_found_and_given_up(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    for number in (1, 2, 3):
        put(table, {number: "v"}, replaces=False)
    lost = table.scan(snapshot=1).plan().files["file_name"].to_pylist()
    for name in lost:
        (Path(table.path) / "bucket-0" / name).unlink()
    with pytest.raises((PaimonError, OSError)):
        table.scan().to_arrow()

    found = table.maintenance.remove_unexisting_files()
    assert [file.path for file in found.files] == [f"{table.path}/bucket-0/{lost[0]}"]
    assert (found.snapshot_id, found.record_count, found.committed) == (3, 1, None)
    assert table.snapshots.latest_id() == 3
    done = table.maintenance.remove_unexisting_files(dry_run=False)

    assert done.files == found.files
    assert done.committed is not None
    assert ids(table.scan()) == [2, 3]
    assert not table.maintenance.remove_unexisting_files(dry_run=False).files
    assert table.snapshots.latest_id() == 4


def test_a_lost_file_with_a_deletion_vector_is_refused(tmp_path: Path) -> None:
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    options = {"deletion-vectors.enabled": "true", "bucket": "-1"}
    table = catalog.create_table("db.t", {"id": "INT"}, options=options)
    table.write(pa.table({"id": pa.array([1, 2], pa.int32())}))
    table.delete("id = 1")
    for path in (Path(table.path) / "bucket-0").glob("data-*"):
        path.unlink()

    assert len(table.maintenance.remove_unexisting_files().files) == 1
    with pytest.raises(UnsupportedError, match="deletion vector"):
        table.maintenance.remove_unexisting_files(dry_run=False)


def test_an_empty_table_has_lost_nothing(tmp_path: Path) -> None:
    found = new_table(tmp_path).maintenance.remove_unexisting_files(dry_run=False)

    assert (found.files, found.snapshot_id) == ((), None)


def test_tags_and_consumers_that_have_lived_are_told_before_they_go(tmp_path: Path) -> None:
    table = filled(new_table(tmp_path), 2)
    table.tags.create("brief", snapshot=1, time_retained=timedelta(microseconds=1))
    table.tags.create("long", snapshot=1, time_retained=timedelta(days=1))
    table.consumers.reset("still", 1)
    age(Path(table.path) / "consumer" / "consumer-still", 3)
    table.consumers.reset("moving", 1)
    maintenance = table.maintenance
    limit = timedelta(days=1)

    assert maintenance.expire_tags(dry_run=True) == ["brief"]
    assert maintenance.expire_consumers(limit, dry_run=True) == ["still"]
    assert (len(table.tags.list()), len(table.consumers.list())) == (2, 2)
    assert (maintenance.expire_tags(), maintenance.expire_consumers(limit)) == (
        ["brief"],
        ["still"],
    )
    assert (list(table.tags.list()), list(table.consumers.list())) == (["long"], ["moving"])
