"""Files that nothing names: all are found, and nothing else is."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import CorruptMetadataError, UnsupportedError
from paimonlab.maintenance.orphans import find_orphans, remove_orphans
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.upkeep.history import history_of
from tests.maintenance.expiring_tables import age, files, filled, ids, new_table, opened, put

NAME = str(uuid.uuid4())


def grow_old(table: pl.Table, days: float = 3) -> None:
    """Let all files of a table look old."""
    for path in Path(table.path).rglob("*"):
        if path.is_file():
            age(path, days)


def plant(table: pl.Table, *names: str, days: float = 3) -> set[str]:
    """Make files that nothing names."""
    for name in names:
        path = Path(table.path) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("junk")
        age(path, days)
    return set(names)


def relative(table: pl.Table, paths: tuple[str, ...]) -> set[str]:
    return {path.removeprefix(f"{table.path}/") for path in paths}


@pytest.fixture
def table(tmp_path: Path) -> pl.Table:
    """Return a table with much that names files: tags, branches, changelogs, indexes."""
    table = new_table(tmp_path, changelog_producer="input", changelog__num_retained__min="20")
    for number in range(8):
        put(table, {number: "v"}, replaces=False)
    table.tags.create("two", snapshot=2)
    table.branches.create("dev", snapshot=4)
    dev = table.on_branch("dev")
    put(dev, {9: "dev"}, replaces=False)
    dev.tags.create("own", snapshot=5)
    dev.truncate()
    table.maintenance.analyze()
    table.maintenance.expire_snapshots(2)
    grow_old(table)
    return table


JUNK = [
    f"bucket-0/data-{NAME}-0.parquet",
    f"bucket-0/changelog-{NAME}-0.parquet",
    f"bucket-0/data-{NAME}-0.parquet.index",
    f"bucket-7/data-{NAME}-1.parquet",
    f"bucket-postpone/data-u-user-s-0-w-{NAME}-0.avro",
    f"bucket-0/other-{NAME}-0.orc",
    f"bucket-0/.data-{NAME}-0.parquet.{NAME}.tmp",
    f"manifest/manifest-{NAME}-0",
    f"manifest/manifest-list-{NAME}-0",
    f"manifest/index-manifest-{NAME}-0",
    f"index/index-{NAME}-0",
    f"statistics/stat-{NAME}-0",
    f"snapshot/.snapshot-99.{NAME}.tmp",
    f"snapshot/.LATEST.{NAME}.tmp",
    f"tag/.tag-x.{NAME}.tmp",
    f"changelog/.changelog-1.{NAME}.tmp",
    f"schema/.schema-9.{NAME}.tmp",
    f"consumer/.consumer-c.{NAME}.tmp",
    f"branch/branch-dev/snapshot/.snapshot-9.{NAME}.tmp",
]
NOT_OURS = [
    "notes.txt",
    "bucket-0/notes.txt",
    f"mine/data-{NAME}-0.parquet",
    f"bucket-0/deeper/data-{NAME}-0.parquet",
    "manifest/readme",
    "snapshot/snapshot-99.bak",
    f"branch/other-{NAME}.txt",
    f"dt=1/bucket-0/data-{NAME}-0.parquet",
]


def test_nothing_of_a_table_is_an_orphan(table: pl.Table, tmp_path: Path) -> None:
    before = files(table)

    found = table.maintenance.remove_orphan_files(dry_run=False)

    assert found.files == ()
    assert files(table) == before
    assert not opened(tmp_path).fsck(deep=True).findings


def test_every_sort_of_junk_is_found_and_what_is_not_ours_is_left(
    table: pl.Table, tmp_path: Path
) -> None:
    before = files(table)
    junk, others = plant(table, *JUNK), plant(table, *NOT_OURS)

    found = table.maintenance.remove_orphan_files()

    assert relative(table, found.paths) == junk
    assert files(table) == before | junk | others
    assert found.counts() == {
        "data": 5,
        "changelog": 1,
        "index": 1,
        "statistics": 1,
        "temporary": 8,
        "manifest": 1,
        "manifest list": 1,
        "index manifest": 1,
    }
    assert found.size_bytes == 4 * len(junk)
    assert {file.age.days for file in found.files} == {3}
    assert str(found).count("3 days old") == len(junk)
    done = table.maintenance.remove_orphan_files(dry_run=False)
    assert done.paths == found.paths
    assert files(table) == before | others
    assert not opened(tmp_path).fsck(deep=True).findings


def test_young_files_stay(table: pl.Table) -> None:
    young, old = f"bucket-0/data-{NAME}-0.parquet", f"bucket-0/data-{NAME}-1.parquet"
    plant(table, young, days=0.5)
    plant(table, old, days=1.5)

    def found(**how: object) -> set[str]:
        return relative(table, table.maintenance.remove_orphan_files(**how).paths)  # type: ignore[arg-type]

    assert found() == {old}
    assert found(older_than=timedelta(hours=6)) == {old, young}
    assert found(older_than=datetime.now(UTC) - timedelta(days=2)) == set()
    with pytest.raises(ValueError, match="force=True"):
        found(older_than=timedelta(hours=6), dry_run=False)
    for future in (timedelta(0), datetime.now(UTC) + timedelta(days=1)):
        with pytest.raises(ValueError, match="is not in the past"):
            found(older_than=future)
    assert {old, young} <= files(table)
    assert found(older_than=timedelta(hours=6), dry_run=False, force=True) == {old, young}


def drop_tag(table: pl.Table) -> None:
    (Path(table.path) / "tag" / "tag-two").write_text("{")


def drop_branch_schema(table: pl.Table) -> None:
    for path in (Path(table.path) / "branch" / "branch-dev" / "schema").iterdir():
        path.unlink()


def drop_list(table: pl.Table) -> None:
    snapshot = table.snapshots.latest()
    assert snapshot is not None
    (Path(table.path) / "manifest" / snapshot.base_manifest_list).unlink()


def cut_manifest(table: pl.Table) -> None:
    for path in (Path(table.path) / "manifest").glob("manifest-[0-9a-f]*"):
        path.write_bytes(path.read_bytes()[:-5])


def drop_changelog_list(table: pl.Table) -> None:
    changelog = table.changelogs.get(1)
    (Path(table.path) / "manifest" / str(changelog.changelog_manifest_list)).unlink()


@pytest.mark.parametrize(
    "damage", [drop_tag, drop_branch_schema, drop_list, cut_manifest, drop_changelog_list]
)
def test_nothing_is_an_orphan_if_what_is_needed_cannot_be_read(
    table: pl.Table, damage: Callable[[pl.Table], None]
) -> None:
    plant(table, *JUNK)
    damage(table)
    before = files(table)

    with pytest.raises(CorruptMetadataError):
        table.maintenance.remove_orphan_files(dry_run=False)

    assert files(table) == before


def test_files_that_a_commit_names_meanwhile_stay(tmp_path: Path) -> None:
    """A writer prepared them long ago, and commits between the look and the deletion."""
    table = filled(new_table(tmp_path), 2)
    writer = table.new_writer()
    writer.write(pa.table({"id": pa.array([7], pa.int32()), "v": ["late"]}))
    messages = writer.prepare_commit(1)
    grow_old(table)
    history = history_of(definition_of(opened(tmp_path)), store_of(opened(tmp_path)))
    found = find_orphans(history, older_than=datetime.now(UTC) - timedelta(days=1))
    assert len(found.files) == 1

    table.commit(messages, identifier=1, user=writer.user)
    done = remove_orphans(found, history)

    assert done.files == ()
    assert ids(table.scan()) == [2, 7]


def test_a_snapshot_that_expires_while_it_is_looked_at_needs_nothing(tmp_path: Path) -> None:
    table = filled(new_table(tmp_path), 6)
    grow_old(table)
    plant(table, f"bucket-0/data-{NAME}-0.parquet")
    expected = set(table.maintenance.expire_snapshots(1, dry_run=True).files.paths)

    def expire(done: int, _total: int, unit: str) -> None:
        if (done, unit) == (1, "snapshots"):
            opened(tmp_path).maintenance.expire_snapshots(1)

    found = table.maintenance.remove_orphan_files(dry_run=False, progress=expire)

    assert relative(table, found.paths) >= {f"bucket-0/data-{NAME}-0.parquet"}
    assert {*found.paths} - expected == {f"{table.path}/bucket-0/data-{NAME}-0.parquet"}
    assert ids(table.scan()) == [6]
    assert not opened(tmp_path).fsck(deep=True).findings


def test_a_folder_that_another_table_uses_is_not_looked_at(tmp_path: Path) -> None:
    catalog = pl.connect(tmp_path / "warehouse")
    catalog.create_database("db")
    outside = {
        "data-file.external-paths": f"file://{tmp_path}/outside",
        "data-file.external-paths.strategy": "round-robin",
    }
    tables = [
        catalog.create_table(f"db.{name}", {"id": "INT"}, options=outside) for name in ("a", "b")
    ]
    for table in tables:
        table.write(pa.table({"id": pa.array([1], pa.int32())}))
    for path in (tmp_path / "outside").rglob("*"):
        age(path, 3)

    with pytest.raises(UnsupportedError, match=r"db\.b"):
        tables[0].maintenance.remove_orphan_files()
    catalog.drop_table("db.b")
    assert len(tables[0].maintenance.remove_orphan_files().files) <= 1
    assert tables[0].scan().count() == 1


def test_what_interrupted_expiry_left_is_found(tmp_path: Path) -> None:
    table = filled(new_table(tmp_path), 6)
    expected = table.maintenance.expire_snapshots(1, dry_run=True)

    def stop(_done: int, _total: int, unit: str) -> None:
        if unit == "files":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        table.maintenance.expire_snapshots(1, progress=stop)
    assert table.snapshots.ids() == [6]
    left = {path for path in expected.files.paths if Path(path).exists()}
    grow_old(table)

    done = table.maintenance.remove_orphan_files(dry_run=False)

    assert {*done.paths} == left
    assert not opened(tmp_path).fsck(deep=True).findings


def test_partitions_and_other_folders_of_data_are_looked_at(tmp_path: Path) -> None:
    catalog = pl.connect(tmp_path / "warehouse")
    catalog.create_database("db")
    outside = tmp_path / "outside"
    table = catalog.create_table(
        "db.t",
        {"id": "INT", "p": "STRING", "q": "INT"},
        partition_keys=["p", "q"],
        options={
            "data-file.external-paths": f"file://{outside}",
            "data-file.external-paths.strategy": "round-robin",
        },
    )
    table.write(
        pa.table({"id": pa.array([1], pa.int32()), "p": ["x"], "q": pa.array([1], pa.int32())})
    )
    for path in outside.rglob("*"):
        if path.is_file():
            age(path, 3)
    grow_old(table)
    plant(table, f"p=x/q=1/bucket-0/data-{NAME}-0.parquet")
    external = outside / "p=x" / "q=1" / "bucket-0" / f"data-{NAME}-1.parquet"
    external.write_text("junk")
    age(external, 3)

    found = table.maintenance.remove_orphan_files(dry_run=False)

    assert {path.rpartition("/")[2] for path in found.paths} == {
        f"data-{NAME}-0.parquet",
        f"data-{NAME}-1.parquet",
    }
    assert table.scan().count() == 1
    assert not external.exists()


@pytest.mark.parametrize(
    ("moved", "gone", "is_kept"),
    [(2, (), True), (4, (), True), (1, (), True), (1, (2,), False), (2, (1,), True)],
)
def test_the_last_copy_of_a_snapshot_that_was_moved_aside_is_no_orphan(
    tmp_path: Path, moved: int, gone: tuple[int, ...], *, is_kept: bool
) -> None:
    """Of four snapshots; who moved one died before it was put back."""
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"a": "INT"})
    for number in range(4):
        table.write([{"a": number}])
    folder = Path(table.path)
    (folder / "tag").mkdir()
    guard = folder / "tag" / f".tag-{moved}.{uuid.uuid4()}.guard.tmp"
    (folder / "snapshot" / f"snapshot-{moved}").rename(guard)
    for snapshot_id in gone:
        (folder / "snapshot" / f"snapshot-{snapshot_id}").unlink()
    grow_old(table)

    orphans = pl.connect(tmp_path).table("db.t").maintenance.remove_orphan_files(dry_run=False)

    assert (str(guard) in orphans.paths) != is_kept
    assert guard.exists() == is_kept
