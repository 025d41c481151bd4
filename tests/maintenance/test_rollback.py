"""Going back: what is deleted, what stays, and that a crash leaves one of the snapshots."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import (
    CorruptMetadataError,
    PaimonError,
    SnapshotExpiredError,
    SnapshotNotFoundError,
    TagNotFoundError,
)
from paimonlab.maintenance.needed import needed
from paimonlab.maintenance.rollback import plan_rollback, roll_back
from paimonlab.maintenance.roots import kept_by_others
from paimonlab.maintenance.tag_deletion import delete_tag
from paimonlab.spec.snapshot import Snapshot
from tests.interleaving.memory_store import MemoryStore
from tests.interleaving.stalls import expire_but, new_table, process, stalled_at
from tests.interleaving.stalls import history as history_of_process


@pytest.fixture
def table(catalog: pl.Catalog) -> pl.Table:
    table = catalog.create_table(
        "db.t",
        {"id": "INT", "v": "STRING"},
        primary_keys=["id"],
        options={"bucket": "1", "write-only": "true"},
    )
    for number in range(1, 6):
        write(table, {number: "v"})
    return table


def write(table: pl.Table, rows: Mapping[int, str]) -> None:
    table.write(pa.table({"id": pa.array(rows, pa.int32()), "v": [*rows.values()]}))


def rows(scan: pl.Scan) -> dict[int, str]:
    found = scan.to_arrow()
    return dict(zip(found["id"].to_pylist(), found["v"].to_pylist(), strict=True))


def files(table: pl.Table) -> set[str]:
    root = Path(table.path)
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def test_a_dry_run_tells_and_deletes_nothing(table: pl.Table) -> None:
    table.tags.create("late", snapshot=4)
    before = files(table)

    plan = table.maintenance.rollback_to(snapshot=2, dry_run=True)

    assert (plan.snapshot_id, plan.snapshots, plan.tags) == (2, (5, 4, 3), ("late",))
    assert len(plan.files.data) == 3
    assert files(table) == before


def test_later_snapshots_tags_and_files_go(table: pl.Table) -> None:
    table.tags.create("early", snapshot=1)
    table.tags.create("late", snapshot=4)
    plan = table.maintenance.rollback_to(snapshot=2, dry_run=True)
    before = files(table)

    done = table.maintenance.rollback_to(snapshot=2)

    assert done == plan
    assert rows(table.scan()) == {1: "v", 2: "v"}
    assert list(table.tags.list()) == ["early"]
    assert table.snapshots.ids() == [1, 2]
    gone = before - files(table)
    root = f"{table.path}/"
    assert gone == {
        *(path.removeprefix(root) for path in plan.files.all),
        *(f"snapshot/snapshot-{id}" for id in (3, 4, 5)),
        "tag/tag-late",
    }
    write(table, {9: "on"})
    assert rows(table.scan()) == {1: "v", 2: "v", 9: "on"}
    assert table.snapshots.ids() == [1, 2, 3]


def test_back_to_a_tag_or_a_time(table: pl.Table) -> None:
    table.tags.create("three", snapshot=3)
    table.maintenance.rollback_to(tag="three")
    assert rows(table.scan()) == {1: "v", 2: "v", 3: "v"}

    time = table.snapshots.get(2).time_millis
    table.maintenance.rollback_to(timestamp=time)
    assert max(table.snapshots.ids()) >= 2
    assert list(table.tags.list()) == []


def test_back_to_a_snapshot_that_only_a_tag_keeps(table: pl.Table) -> None:
    table.tags.create("one", snapshot=1)
    for snapshot_id in (1, 2):
        (Path(table.path) / "snapshot" / f"snapshot-{snapshot_id}").unlink()
    (Path(table.path) / "snapshot" / "EARLIEST").write_text("3")

    done = table.maintenance.rollback_to(tag="one")

    assert done.is_only_tagged
    assert (table.snapshots.ids(), table.snapshots.earliest_id()) == ([1], 1)
    assert rows(table.scan()) == {1: "v"}
    write(table, {7: "on"})
    assert rows(table.scan()) == {1: "v", 7: "on"}


def test_branches_keep_their_files(table: pl.Table) -> None:
    table.tags.create("four", snapshot=4)
    table.branches.create("dev", tag="four")
    table.branches.create("loose", snapshot=5)

    table.maintenance.rollback_to(snapshot=1)

    assert rows(table.on_branch("dev").scan()) == dict.fromkeys((1, 2, 3, 4), "v")
    assert rows(table.on_branch("dev").scan(tag="four")) == dict.fromkeys((1, 2, 3, 4), "v")
    assert rows(table.on_branch("loose").scan()) == dict.fromkeys((1, 2, 3, 4, 5), "v")
    assert rows(table.scan()) == {1: "v"}


def test_where_there_is_nothing_to_go_back_to(table: pl.Table) -> None:
    with pytest.raises(SnapshotNotFoundError):
        table.maintenance.rollback_to(snapshot=9)
    with pytest.raises(TagNotFoundError):
        table.maintenance.rollback_to(tag="none")
    with pytest.raises(ValueError, match="give what to roll back to"):
        table.maintenance.rollback_to()
    before = files(table)
    assert table.maintenance.rollback_to(snapshot=5).snapshots == ()
    assert files(table) == before


def test_a_table_with_holes_is_left_alone(table: pl.Table) -> None:
    (Path(table.path) / "snapshot" / "snapshot-4").unlink()
    before = files(table)

    with pytest.raises(CorruptMetadataError, match="snapshot 4 is missing"):
        table.maintenance.rollback_to(snapshot=2)
    assert files(table) == before


def test_a_tag_that_cannot_be_read_keeps_all(table: pl.Table) -> None:
    table.tags.create("broken", snapshot=1)
    (Path(table.path) / "tag" / "tag-broken").write_text("{")
    before = files(table)

    with pytest.raises(CorruptMetadataError):
        table.maintenance.rollback_to(snapshot=2)
    assert files(table) == before


@pytest.mark.parametrize("kept", range(5))
def test_a_crash_leaves_one_of_the_snapshots(table: pl.Table, kept: int) -> None:
    """Snapshots go newest first: take away so many of them and nothing else."""
    for snapshot_id in list(reversed(table.snapshots.ids()))[:kept]:
        (Path(table.path) / "snapshot" / f"snapshot-{snapshot_id}").unlink()
    (Path(table.path) / "snapshot" / "LATEST").write_text(str(5 - kept))

    assert rows(table.scan()) == dict.fromkeys(range(1, 6 - kept), "v")
    table.maintenance.rollback_to(snapshot=1)
    assert rows(table.scan()) == {1: "v"}


def test_others_find_the_newest_snapshot_while_commits_are_rolled_back() -> None:
    """At every call, since the process may die there: also of a commit that came meanwhile."""
    store = new_table()
    for name in "abcd":
        process(store).append(name)
    calls: list[str] = []
    late = ["e"]

    def before(method: str, path: str) -> None:
        is_listed = calls[-1:] == ["list_names snapshot"] and "replace LATEST" in calls
        calls.append(f"{method} {path.rpartition('/')[2]}")
        if is_listed and late:
            process(store).append(late.pop())
        assert process(store).snapshots.latest_before_commit() is not None

    history = history_of_process(MemoryStore(store.files, before))
    roll_back(history.snapshots.get(1), history)

    assert not late
    assert process(store).snapshots.ids() == [1]
    assert process(store).snapshots.hinted_id() == 1


@pytest.mark.parametrize("call", ["rename", "delete"])
def test_a_commit_while_a_snapshot_is_deleted_is_rolled_back_as_well(call: str) -> None:
    store = new_table()
    for name in "abcd":
        process(store).append(name)
    stalled = stalled_at(store, call, "snapshot-4" if call == "rename" else ".tmp", append_e)

    history = history_of_process(stalled)
    roll_back(history.snapshots.get(1), history)

    assert process(store).snapshots.ids() == [1]
    assert process(store).snapshots.latest_before_commit() is not None
    assert process(store).live_names() == ["a"]


def test_a_tag_of_a_snapshot_that_is_moved_aside_leaves_its_files() -> None:
    """Which is put back, as all before it has expired."""
    store = new_table()
    for name in "ab":
        process(store).append(name)
    history_of_process(store).tags.create("t", process(store).snapshots.get(2))
    calls: list[str] = []

    def before(method: str, path: str) -> None:
        calls.append(f"{method} {path.rpartition('/')[2]}")
        if calls[-1] == "rename snapshot-2":
            expire_but(store, 1)
        elif calls[-2:-1] == ["rename snapshot-2"]:
            delete_tag("t", history_of_process(store))

    history = history_of_process(MemoryStore(store.files, before))
    with pytest.raises(SnapshotExpiredError):
        roll_back(history.snapshots.get(1), history)

    assert process(store).snapshots.ids() == [2]
    assert process(store).live_names() == ["a", "b"]
    assert not history.tags.guards()


def test_a_tag_of_a_snapshot_that_expiry_moves_aside_leaves_its_files() -> None:
    """Which is put back, as others rolled back to it."""
    store = new_table()
    for name in "ab":
        process(store).append(name)
    history_of_process(store).tags.create("t", process(store).snapshots.get(1))
    calls: list[str] = []

    def before(method: str, path: str) -> None:
        calls.append(f"{method} {path.rpartition('/')[2]}")
        if calls[-1] == "rename snapshot-1":
            history = history_of_process(store)
            roll_back(history.snapshots.get(1), history)
        elif calls[-2:-1] == ["rename snapshot-1"]:
            delete_tag("t", history_of_process(store))

    expire_but(MemoryStore(store.files, before), 1)

    assert process(store).snapshots.ids() == [1]
    assert process(store).live_names() == ["a"]
    assert not history_of_process(store).tags.guards()


def test_a_snapshot_that_others_made_anew_while_it_was_aside_keeps_nothing() -> None:
    store = new_table()
    for name in "ab":
        process(store).append(name)
    calls: list[str] = []

    def before(method: str, path: str) -> None:
        calls.append(f"{method} {path.rpartition('/')[2]}")
        if calls[-2:-1] == ["rename snapshot-1"]:
            path = process(store).layout.snapshot(2)
            store.files[process(store).layout.snapshot(1)] = b"{}"
            del store.files[path]

    with contextlib.suppress(PaimonError):
        expire_but(MemoryStore(store.files, before), 1)

    assert calls.count("publish snapshot-1") == 1
    assert not history_of_process(store).tags.guards()


@pytest.mark.parametrize("branch", [None, "other"])
def test_a_snapshot_that_is_put_back_while_tags_are_listed_keeps_its_files(
    branch: str | None,
) -> None:
    store = new_table()
    for name in "ab":
        process(store).append(name)
    expire_but(store, 1)
    main = process(store).layout
    history_of_process(store).tags.create("t", process(store).snapshots.get(2))
    layout = main.on_branch(branch)
    if branch is not None:
        store.files[layout.snapshot(2)] = store.files.pop(main.snapshot(2))
        store.files[layout.tag("t")] = store.files.pop(main.tag("t"))
    aside: list[bytes] = []

    def before(method: str, path: str) -> None:
        if layout.tag("t") in store.files:
            return
        if method == "list_names" and path == layout.snapshot_folder and not aside:
            aside.append(store.files.pop(layout.snapshot(2)))
        elif aside and method == "list_names" and path == layout.tag_folder:
            store.files[layout.snapshot(2)] = aside[0]

    history = history_of_process(MemoryStore(store.files, before))
    snapshot = Snapshot.from_json(store.files[layout.snapshot(2)], path="")
    candidates = history.reader.of_state(snapshot)
    del store.files[layout.tag("t")]
    keeping = needed(
        partial(kept_by_others, history),
        history.reader,
        history.file_io,
        data_names=candidates.data_names,
    )

    assert not candidates.without(keeping).all


def append_e(store: MemoryStore) -> None:
    with contextlib.suppress(PaimonError):
        process(store).append("e")


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (3, ((5, 4), (4,), ("b",), False)),
        (5, ((), (), (), False)),
        (1, ((5, 4, 3, 2), (4, 2), ("b",), True)),
    ],
)
def test_what_goes(
    target: int, expected: tuple[tuple[int, ...], tuple[int, ...], tuple[str, ...], bool]
) -> None:
    found = plan_rollback(
        target,
        snapshots=[2, 3, 4, 5],
        changelogs=[1, 2, 4] if target < 5 else [1],
        tags={"a": 1, "b": 5} if target < 5 else {"a": 1},
        folder="snapshot",
    )

    assert (found.snapshots, found.changelogs, found.tags, found.is_only_tagged) == expected


@pytest.mark.parametrize("seed", range(4))
def test_random_histories_agree_with_dicts(catalog: pl.Catalog, seed: int) -> None:  # noqa: C901 - one step a case
    """States by snapshot id, tags and branches as dicts; nothing that they name is ever lost."""
    random_ = random.Random(seed)
    table = catalog.create_table(
        "db.r",
        {"id": "INT", "v": "STRING"},
        primary_keys=["id"],
        options={"bucket": "1", "write-only": "true"},
    )
    states: dict[int, dict[int, str]] = {}
    tags: dict[str, int] = {}
    tagged: dict[str, dict[int, str]] = {}
    branches: dict[str, dict[int, str]] = {}
    for step in range(40):
        match random_.choice(["write", "write", "overwrite", "tag", "untag", "branch", "back"]):
            case "write":
                row = {random_.randrange(5): f"{step}"}
                write(table, row)
                latest = states[max(states)] if states else {}
                states[len(states) + 1] = latest | row
            case "overwrite":
                row = {random_.randrange(5): f"{step}"}
                table.overwrite(pa.table({"id": pa.array(row, pa.int32()), "v": [*row.values()]}))
                states[len(states) + 1] = row
            case "tag" if states:
                snapshot_id = random_.choice(list(states))
                table.tags.create(f"t{step}", snapshot=snapshot_id)
                tags[f"t{step}"] = snapshot_id
                tagged[f"t{step}"] = states[snapshot_id]
            case "untag" if tags:
                name = random_.choice(list(tags))
                table.tags.delete(name)
                del tags[name], tagged[name]
            case "branch" if tags:
                name = random_.choice(list(tags))
                table.branches.create(f"b{step}", tag=name)
                branches[f"b{step}"] = tagged[name]
            case "back" if states and random_.random() < 0.5:
                target = random_.choice(list(states))
                table.maintenance.rollback_to(snapshot=target)
                states = {id: state for id, state in states.items() if id <= target}
                tags = {name: id for name, id in tags.items() if id <= target}
                tagged = {name: tagged[name] for name in tags}
            case _:
                continue
        where = f"seed {seed}, step {step}"
        assert table.snapshots.ids() == sorted(states), where
        for snapshot_id, state in states.items():
            assert rows(table.scan(snapshot=snapshot_id)) == state, where
        assert sorted(table.tags.list()) == sorted(tags), where
        for name, state in tagged.items():
            assert rows(table.scan(tag=name)) == state, where
        for name, state in branches.items():
            assert rows(table.on_branch(name).scan()) == state, where
