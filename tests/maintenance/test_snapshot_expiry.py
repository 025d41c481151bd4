"""Snapshots that go: what goes with them, and what stays whatever happens."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import (
    CorruptMetadataError,
    PostCommitError,
    SchemaError,
    SnapshotExpiredError,
    SnapshotNotFoundError,
)
from paimonlab.formats.manifests.entry_rows import table_to_entries
from paimonlab.maintenance import changelog_expiry
from paimonlab.maintenance.retention import Retention
from paimonlab.maintenance.snapshot_expiry import ChangelogKeeping, expire, plan_expiry
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.snapshot import Snapshot
from paimonlab.storage import LocalFileIO
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.upkeep.after_commit import expire_by_options
from paimonlab.table.upkeep.history import history_of
from tests.fault_io import FaultFileIO
from tests.maintenance.expiring_tables import (
    files,
    filled,
    ids,
    new_table,
    opened,
    put,
    unaccounted,
)


@pytest.fixture
def table(tmp_path: Path) -> pl.Table:
    """Return a table with snapshots 1 to 6; number n holds just key n."""
    return filled(new_table(tmp_path), 6)


def test_a_dry_run_tells_and_deletes_nothing(table: pl.Table) -> None:
    before = files(table)

    plan = table.maintenance.expire_snapshots(retain_max=2, dry_run=True)

    assert (plan.snapshots, plan.first_kept) == ((1, 2, 3, 4), 5)
    assert plan.files.counts() == {"data": 4, "manifest list": 8}
    assert plan.files.size_bytes > 4000
    assert {file.reason for file in plan.files if file.sort == "data"} == {
        f"snapshot {number} deleted it" for number in (2, 3, 4, 5)
    }
    assert str(plan).startswith("db.t: 4 snapshots expire, 1 to 4; 5 stays, as at least 2 are kept")
    assert files(table) == before


def test_what_was_planned_goes_and_nothing_else(table: pl.Table, tmp_path: Path) -> None:
    plan = table.maintenance.expire_snapshots(retain_max=2, dry_run=True)
    before, told = files(table), []

    done = table.maintenance.expire_snapshots(
        retain_max=2, progress=lambda *progress: told.append(progress)
    )

    assert done == plan
    gone = before - files(table)
    assert gone == {
        *(path.removeprefix(f"{table.path}/") for path in plan.files.paths),
        *(f"snapshot/snapshot-{number}" for number in (1, 2, 3, 4)),
    }
    assert (table.snapshots.ids(), table.snapshots.earliest_id()) == ([5, 6], 5)
    assert (Path(table.path) / "snapshot" / "EARLIEST").read_text() == "5"
    assert [ids(table.scan(snapshot=number)) for number in (5, 6)] == [[5], [6]]
    assert told[0] == (1, 4, "snapshots")
    assert told[-1] == (len(plan.files), len(plan.files), "files")
    assert not unaccounted(opened(tmp_path))
    with pytest.raises(SnapshotExpiredError):
        table.scan(snapshot=4)


def test_options_say_how_many_stay(tmp_path: Path) -> None:
    table = filled(new_table(tmp_path, snapshot__num_retained__min="4"), 6)

    assert not table.maintenance.expire_snapshots().snapshots
    done = table.maintenance.expire_snapshots(older_than=timedelta(0), max_deletes=1)
    assert (done.snapshots, done.reason) == ((1,), "at most 1 expire at once")
    done = table.maintenance.expire_snapshots(older_than=timedelta(0))
    assert (done.snapshots, done.reason) == ((2,), "at least 4 are kept")


def test_nothing_happens_to_a_table_nobody_wrote_to(tmp_path: Path) -> None:
    done = new_table(tmp_path).maintenance.expire_snapshots(retain_max=1)

    assert (done.snapshots, done.first_kept) == ((), None)
    assert str(done) == "db.t: no snapshot expires, as nothing was committed yet"


def test_what_a_consumer_reads_next_stays(table: pl.Table) -> None:
    table.consumers.reset("slow", 3)
    table.consumers.reset("fast", 6)

    done = table.maintenance.expire_snapshots(1, max_deletes=100)

    assert (done.snapshots, done.reason) == ((1, 2), "consumer 'slow' reads it next")


def test_a_consumer_that_comes_after_the_plan_is_heeded(table: pl.Table, tmp_path: Path) -> None:
    history = history_of(definition_of(opened(tmp_path)), store_of(opened(tmp_path)))
    retention = Retention(retain_max=1, older_than_millis=0)
    plan = plan_expiry(history, retention, ChangelogKeeping())
    before = files(table)
    table.consumers.reset("late", plan.snapshots[-1])

    done = expire(plan, history)

    assert (done.snapshots, done.first_kept, len(done.files)) == ((), plan.snapshots[0], 0)
    assert "consumer 'late' was created or reset meanwhile" in str(done)
    assert files(table) - before == {"consumer/consumer-late"}
    table.consumers.reset("late", plan.first_kept or 0)
    assert expire(plan, history).snapshots == plan.snapshots


def test_changelogs_that_a_late_consumer_reads_stay(tmp_path: Path) -> None:
    table = new_table(tmp_path, changelog__num_retained__min="20")
    for number in range(1, 5):
        put(table, {number: "v"}, replaces=False)
    table.maintenance.expire_snapshots(1, max_deletes=100)
    history = history_of(definition_of(opened(tmp_path)), store_of(opened(tmp_path)))
    plan = changelog_expiry.plan_changelog_expiry(
        history, Retention(retain_max=2, older_than_millis=0)
    )
    table.consumers.reset("late", plan.changelogs[0])

    done = changelog_expiry.expire(plan, history)

    assert (plan.changelogs, done.changelogs, len(done.files)) == ((1, 2), (), 0)
    assert "consumer 'late' was created or reset meanwhile" in str(done)
    assert table.changelogs.ids() == [1, 2, 3]


def test_tags_stay_readable_and_the_rest_of_their_snapshots_goes(
    table: pl.Table, tmp_path: Path
) -> None:
    for number in (1, 3, 4):
        table.tags.create(f"t{number}", snapshot=number)

    table.maintenance.expire_snapshots(1, max_deletes=100)

    for number in (1, 3, 4):
        assert ids(table.scan(tag=f"t{number}")) == [number]
    assert not unaccounted(opened(tmp_path))
    for number in (1, 3, 4):
        table.tags.delete(f"t{number}")
    assert not unaccounted(opened(tmp_path))
    assert ids(table.scan()) == [6]


def test_files_of_branches_and_of_their_tags_stay(table: pl.Table, tmp_path: Path) -> None:
    table.tags.create("two", snapshot=2)
    table.branches.create("tagged", tag="two")
    table.branches.create("loose", snapshot=3)
    table.tags.delete("two")
    dev = table.on_branch("loose")
    put(dev, {30: "dev"})
    put(dev, {31: "dev"})

    table.maintenance.expire_snapshots(1, max_deletes=100)

    assert (
        ids(table.on_branch("tagged").scan())
        == ids(table.on_branch("tagged").scan(tag="two"))
        == [2]
    )
    assert [ids(dev.scan(snapshot=number)) for number in (3, 4, 5)] == [[3], [30], [31]]
    assert not unaccounted(opened(tmp_path))


def test_snapshots_of_a_branch_expire_without_harm_to_the_table(
    table: pl.Table, tmp_path: Path
) -> None:
    table.branches.create("dev", snapshot=3)
    dev = table.on_branch("dev")
    for number in range(5):
        put(dev, {30 + number: "dev"})

    done = dev.maintenance.expire_snapshots(1, max_deletes=100)

    assert done.snapshots == (3, 4, 5, 6, 7)
    assert ids(dev.scan()) == [34]
    assert [ids(table.scan(snapshot=number)) for number in range(1, 7)] == [
        [number] for number in range(1, 7)
    ]
    assert not unaccounted(opened(tmp_path))


def test_files_that_a_branch_gave_to_the_table_stay_for_both(
    table: pl.Table, tmp_path: Path
) -> None:
    table.branches.create("dev", snapshot=6)
    dev = table.on_branch("dev")
    for number in range(7, 10):
        put(dev, {number: "dev"})
    table.branches.fast_forward("dev")
    put(table, {50: "on"})

    table.maintenance.expire_snapshots(1, max_deletes=100)

    assert [ids(dev.scan(snapshot=number)) for number in range(6, 10)] == [[6], [7], [8], [9]]
    assert ids(table.scan()) == [50]


def damage_tag(table: pl.Table) -> str:
    table.tags.create("bad", snapshot=2)
    path = Path(table.path) / "tag" / "tag-bad"
    path.write_text("{")
    return str(path)


def damage_manifest_of_tag(table: pl.Table) -> str:
    table.tags.create("bad", snapshot=2)
    snapshot = table.snapshots.get(2)
    path = Path(table.path) / "manifest" / snapshot.base_manifest_list
    path.write_bytes(path.read_bytes()[:-9])
    return str(path)


def lose_manifest_of_tag(table: pl.Table) -> str:
    path = Path(damage_manifest_of_tag(table))
    path.unlink()
    return str(path)


def damage_branch(table: pl.Table) -> str:
    table.branches.create("dev", snapshot=2)
    path = Path(table.path) / "branch" / "branch-dev" / "snapshot" / "snapshot-2"
    path.write_text("[]")
    return str(path)


def damage_consumer(table: pl.Table) -> str:
    table.consumers.reset("bad", 3)
    path = Path(table.path) / "consumer" / "consumer-bad"
    path.write_text("{}")
    return str(path)


def lose_list_of_first_kept(table: pl.Table) -> str:
    snapshot = table.snapshots.get(6)
    path = Path(table.path) / "manifest" / snapshot.delta_manifest_list
    path.unlink()
    return str(path)


@pytest.mark.parametrize(
    "damage",
    [
        damage_tag,
        damage_manifest_of_tag,
        lose_manifest_of_tag,
        damage_branch,
        damage_consumer,
        lose_list_of_first_kept,
    ],
)
def test_nothing_goes_if_what_is_needed_cannot_be_told(
    table: pl.Table,
    tmp_path: Path,
    damage: Callable[[pl.Table], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("paimonlab.metadata.consumers._READ_WAIT_SECONDS", 0)
    path = damage(table)
    again = tmp_path / "again"
    shutil.copytree(tmp_path / "db.db", again / "db.db")
    table = opened(again)
    before = files(table)

    with pytest.raises(CorruptMetadataError) as caught:
        table.maintenance.expire_snapshots(1, max_deletes=100)

    assert caught.value.path == path.replace(str(tmp_path), str(again), 1)
    assert files(table) == before


def test_what_others_deleted_in_part_goes_on(table: pl.Table, tmp_path: Path) -> None:
    """Java deletes data and manifests first; killed then, it leaves a snapshot without them."""
    snapshot = table.snapshots.get(2)
    for name in (snapshot.delta_manifest_list, snapshot.base_manifest_list):
        (Path(table.path) / "manifest" / name).unlink()
    again = tmp_path / "again"
    shutil.copytree(tmp_path / "db.db", again / "db.db")
    table = opened(again)

    done = table.maintenance.expire_snapshots(1, max_deletes=100)

    assert done.snapshots == (1, 2, 3, 4, 5)
    # What snapshot 2 added is not known, so that of the files before it none is deleted.
    assert {file.reason for file in done.files if file.sort == "data"} == {
        f"snapshot {number} deleted it" for number in (3, 4, 5, 6)
    }
    assert ids(table.scan()) == [6]


def test_a_tag_made_while_snapshots_go_keeps_its_files(table: pl.Table, tmp_path: Path) -> None:
    def tag(done: int, _total: int, unit: str) -> None:
        if unit == "snapshots" and done == 1:
            table.tags.create("late", snapshot=5)

    plan = table.maintenance.expire_snapshots(1, max_deletes=100, dry_run=True)
    done = table.maintenance.expire_snapshots(1, max_deletes=100, progress=tag)

    assert len(done.files) < len(plan.files)
    assert ids(table.scan(tag="late")) == [5]
    assert not unaccounted(opened(tmp_path))


def test_a_file_that_was_brought_back_stays(tmp_path: Path) -> None:
    """A rollback by a new snapshot adds files again that another had deleted."""
    table = filled(new_table(tmp_path), 1)
    (one,) = table_to_entries(table.scan().plan().files)
    put(table, {2: "v"})
    message = CommitMessage(
        partition=one.partition, bucket=0, total_buckets=1, new_files=(one.file,)
    )
    table.commit([message], identifier=1, user="rollback")
    for kept in (2, 1):
        table.maintenance.expire_snapshots(retain_max=kept)
        assert ids(table.scan()) == [1, 2]


def test_a_hole_is_no_reason_to_keep_what_is_older(table: pl.Table, tmp_path: Path) -> None:
    (Path(table.path) / "snapshot" / "snapshot-3").unlink()

    done = table.maintenance.expire_snapshots(1, max_deletes=100)

    assert done.snapshots == (1, 2, 4, 5)
    assert table.snapshots.ids() == [6]
    assert ids(table.scan()) == [6]


def row(p: str, q: int) -> dict[str, pa.Array]:
    return {"id": pa.array([1], pa.int32()), "p": pa.array([p]), "q": pa.array([q], pa.int32())}


def test_folders_that_became_empty_go_if_asked_for(tmp_path: Path) -> None:
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    for name, cleans in (("kept", "false"), ("gone", "true")):
        table = catalog.create_table(
            f"db.{name}",
            {"id": "INT", "p": "STRING", "q": "INT"},
            partition_keys=["p", "q"],
            options={"snapshot.clean-empty-directories": cleans, "write-only": "true"},
        )
        for p, q in (("a", 1), ("a", 2), ("b", 1)):
            table.write(pa.table(row(p, q)))
        table.drop_partitions([{"p": "a"}])
        table.maintenance.expire_snapshots(1, max_deletes=100)
        there = {p.name for p in Path(table.path).iterdir() if "=" in p.name}
        assert there == ({"p=b"} if cleans == "true" else {"p=a", "p=b"})
        assert table.scan().count() == 1
        table.write(pa.table(row("a", 1)))
        assert table.scan().count() == 2


def test_commits_let_snapshots_go_by_themselves(tmp_path: Path) -> None:
    options = {"snapshot__num_retained__max": "3", "snapshot__num_retained__min": "2"}
    table = filled(new_table(tmp_path, write_only="false", **options), 7)

    assert table.snapshots.ids() == [5, 6, 7]
    assert not unaccounted(opened(tmp_path))
    other = filled(new_table(tmp_path / "other", **options), 7)
    assert len(other.snapshots.ids()) == 7


def test_young_snapshots_stay_by_default(tmp_path: Path) -> None:
    table = filled(new_table(tmp_path, write_only="false"), 13)

    assert len(table.snapshots.ids()) == 13


def test_upkeep_looks_at_as_much_however_many_snapshots_there_are(tmp_path: Path) -> None:
    table, counts = new_table(tmp_path), []
    for number in range(1, 25):
        put(table, {number: "v"})
        store = FaultFileIO(LocalFileIO(durability="none"))
        table = opened(tmp_path, store)
        expire_by_options(history_of(definition_of(table), store_of(table)))
        counts.append(len(store.calls))

    assert max(counts) == counts[12] < 10


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_commit_that_landed_says_so_if_upkeep_fails(tmp_path: Path, mode: str) -> None:
    options = {
        "snapshot__num_retained__max": "2",
        "snapshot__num_retained__min": "1",
        "snapshot__expire__execution_mode": mode,
    }
    table = filled(new_table(tmp_path, write_only="false", **options), 1)
    table.tags.create("bad", snapshot=1)
    (Path(table.path) / "tag" / "tag-bad").write_text("{")
    with pytest.raises(PostCommitError) as caught:
        filled(table, 200)

    assert isinstance(caught.value.__cause__, CorruptMetadataError)
    landed = table.snapshots.latest_id()
    assert (caught.value.snapshot_id, ids(table.scan())) == (landed, [(landed or 0) - 1])


def test_of_two_who_let_snapshots_go_both_succeed(table: pl.Table, tmp_path: Path) -> None:
    other = opened(tmp_path)

    def meanwhile(done: int, _total: int, unit: str) -> None:
        if unit == "snapshots" and done == 2:
            other.maintenance.expire_snapshots(1, max_deletes=100)

    table.maintenance.expire_snapshots(retain_max=2, progress=meanwhile)

    assert table.snapshots.ids() == [6]
    assert ids(table.scan()) == [6]
    assert not unaccounted(other)


@pytest.mark.parametrize("producer", ["none", "input"])
def test_changes_outlive_their_snapshots(tmp_path: Path, producer: str) -> None:
    options = {"changelog_producer": producer, "changelog__num_retained__min": "20"}
    table = new_table(tmp_path, **options)
    for number in range(1, 7):
        put(table, {number: "v"}, replaces=False)
    expected = table.changes(0, 6).to_arrow()

    plan = table.maintenance.expire_snapshots(1, max_deletes=100)

    assert plan.changelogs == plan.snapshots == (1, 2, 3, 4, 5)
    assert table.changelogs.ids() == [1, 2, 3, 4, 5]
    assert json.loads((Path(table.path) / "changelog" / "LATEST").read_text()) == 5
    assert opened(tmp_path).changes(0, 6).to_arrow() == expected
    assert not unaccounted(opened(tmp_path))
    assert not table.maintenance.expire_changelogs().changelogs
    done = table.maintenance.expire_changelogs(retain_max=4, dry_run=True)
    assert done.changelogs == (1, 2)
    assert done == table.maintenance.expire_changelogs(retain_max=4)
    assert opened(tmp_path).changes(2, 6).to_arrow().num_rows == 4
    with pytest.raises(SnapshotNotFoundError):
        table.changes(1, 6)
    assert not unaccounted(opened(tmp_path))
    done = table.maintenance.expire_changelogs(delete_all=True)
    assert (done.changelogs, done.first_kept) == ((3, 4, 5), None)
    assert not [path for path in files(table) if path.startswith("changelog/")]
    assert ids(table.scan()) == [1, 2, 3, 4, 5, 6]
    assert not unaccounted(opened(tmp_path))


def test_changes_of_deleted_files_outlive_them_until_changelogs_go(tmp_path: Path) -> None:
    table = filled(new_table(tmp_path, changelog__num_retained__min="20"), 1)
    put(table, {2: "v"}, replaces=False)
    put(table, {3: "v"})

    done = table.maintenance.expire_snapshots(1, max_deletes=100)

    assert "data" not in done.files.counts()
    assert opened(tmp_path).changes(0, 2).to_arrow()["id"].to_pylist() == [2]
    table.maintenance.expire_changelogs(delete_all=True)
    assert ids(table.scan()) == [3]


@pytest.mark.parametrize(
    "options",
    [
        {"snapshot__num_retained__max": "5"},
        {"snapshot__num_retained__min": "0"},
        {"changelog__num_retained__max": "9"},
        {"changelog__num_retained__min": "0"},
    ],
    ids=str,
)
def test_what_contradicts_itself_makes_no_table(tmp_path: Path, options: dict[str, str]) -> None:
    with pytest.raises(SchemaError, match=r"num-retained\.min"):
        new_table(tmp_path, **options)


def test_a_tag_is_deleted_while_the_oldest_snapshot_expires(
    table: pl.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.tags.create("t", snapshot=2)
    table.maintenance.expire_snapshots(retain_max=4)
    real = SnapshotManager._those
    asked: list[int] = []

    def those(
        manager: SnapshotManager, ids: Sequence[int], read: Mapping[int, bytes]
    ) -> Sequence[Snapshot]:
        if not asked:
            asked.extend(ids)
            table.maintenance.expire_snapshots(retain_max=2)
        return real(manager, ids, read)

    monkeypatch.setattr(SnapshotManager, "_those", those)
    table.tags.delete("t")
    monkeypatch.undo()

    assert asked[0] == 3
    assert not table.tags.list()
    assert table.snapshots.ids() == [5, 6]
    assert [ids(table.scan(snapshot=number)) for number in (5, 6)] == [[5], [6]]
    assert not unaccounted(table)
