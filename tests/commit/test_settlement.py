"""A process that commits stands still while others commit, expire and go back."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from paimonlab.errors import (
    CommitError,
    CommitHistoryExpiredError,
    CommitOutcomeUnknownError,
    CommitRolledBackError,
    FilesConflictError,
    PaimonError,
    StorageError,
    TableNotFoundError,
)
from paimonlab.maintenance.rollback import roll_back
from paimonlab.metadata.hints import read_hint
from paimonlab.spec.snapshot import Snapshot
from paimonlab.storage import LocalFileIO
from tests.interleaving.memory_store import MemoryStore
from tests.interleaving.stalls import expire_but, history, new_table, process, stalled_at
from tests.small_tables import SmallTable

SNAPSHOT = "/snapshot-3"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paimonlab.commit.settlement._PAUSE_SECONDS", 0)


@pytest.fixture
def store() -> MemoryStore:
    """A table with two snapshots."""
    made = new_table()
    for name in ("old1", "old2"):
        process(made).append(name)
    return made


def _commit(store: MemoryStore, name: str = "ours", user: str = "me") -> Snapshot | None:
    table = process(store)
    return table.committer.append(
        [table.message(name)], user=user, identifier=1, is_new_user=user == "me"
    )


def _stalled_after_publishing(
    store: MemoryStore, others: Callable[[MemoryStore], None]
) -> MemoryStore:
    is_published = False

    def before(method: str, path: str) -> None:
        nonlocal is_published
        if is_published:
            is_published = False
            others(store)
        elif method == "publish" and path.endswith(SNAPSHOT):
            is_published = True

    return MemoryStore(store.files, before)


def _move_on(store: MemoryStore) -> None:
    """Commit twelve times, and keep the last two snapshots."""
    for number in range(12):
        process(store).append(f"other{number}")
    expire_but(store, 2)


def _live(store: MemoryStore) -> list[str]:
    return [name for name in process(store).live_names() if not name.startswith(("o1", "other"))]


def _snapshots(store: MemoryStore) -> list[int]:
    return process(store).snapshots.ids()


@pytest.mark.parametrize("call", ["exists", "publish"])
def test_a_commit_that_comes_too_late_is_tried_again(store: MemoryStore, call: str) -> None:
    """It would lie below the oldest snapshot, where nobody sees it."""
    landed = _commit(stalled_at(store, call, SNAPSHOT, _move_on))

    assert landed is not None
    assert landed.id == 15
    assert _live(store) == ["old1", "old2", "ours"]
    assert _snapshots(store) == [13, 14, 15]


@pytest.mark.parametrize("is_list", [False, True])
def test_a_commit_whose_base_expires_before_it_is_read_is_tried_again(
    store: MemoryStore, *, is_list: bool
) -> None:
    latest = process(store).snapshots.latest()
    assert latest is not None
    name = latest.delta_manifest_list if is_list else "/snapshot-2"

    landed = _commit(stalled_at(store, "read", name, _move_on))

    assert landed is not None
    assert landed.id == 15
    assert _live(store) == ["old1", "old2", "ours"]


def test_a_commit_that_finds_no_room_did_not_happen(store: MemoryStore) -> None:
    def full(method: str, path: str) -> None:
        if method == "publish" and path.endswith(SNAPSHOT):
            raise StorageError(errno.ENOSPC, "No space left on device", path)

    files = set(store.files)

    with pytest.raises(CommitError, match="make room") as raised:
        _commit(MemoryStore(store.files, full))

    assert not isinstance(raised.value, CommitOutcomeUnknownError)
    assert set(store.files) == files
    landed = _commit(store)
    assert landed is not None
    assert landed.id == 3


def test_what_may_still_be_on_its_way_is_not_taken_for_refused(store: MemoryStore) -> None:
    errors = iter([errno.EIO, *[errno.ENOSPC] * 10])

    def failing(method: str, path: str) -> None:
        if method == "publish" and path.endswith(SNAPSHOT):
            raise StorageError(next(errors), "it failed", path)

    with pytest.raises(CommitOutcomeUnknownError):
        _commit(MemoryStore(store.files, failing))


def test_a_snapshot_whose_folder_was_not_synced_is_synced_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[bool] = []

    def sync(path: str) -> None:
        if path.endswith("/snapshot"):
            synced.append(len(synced) > 0)
            if not synced[-1]:
                raise OSError(errno.EIO, "Input/output error", path)

    table = SmallTable(tmp_path, file_io=LocalFileIO()).create()
    monkeypatch.setattr("paimonlab.storage.syncing.sync_path", sync)

    snapshot = table.append("one")

    assert snapshot.id == 1
    assert synced == [False, True]


def test_a_repeated_commit_that_cannot_look_does_not_deny_the_first(store: MemoryStore) -> None:
    landed = _commit(store, user="job")

    def failing(method: str, path: str) -> None:
        if method == "list_names":
            raise StorageError(errno.EIO, "Input/output error", path)

    with pytest.raises(CommitError, match="they may have landed before"):
        _commit(MemoryStore(store.files, failing), user="job")
    assert _commit(store, user="job") == landed


def test_a_commit_others_built_upon_has_landed_though_it_expired(store: MemoryStore) -> None:
    landed = _commit(_stalled_after_publishing(store, _move_on))

    assert landed is not None
    assert landed.id == 3
    assert _live(store) == ["old1", "old2", "ours"]
    assert _snapshots(store) == [14, 15]
    assert read_hint(store, process(store).layout.latest_hint) == 15


def test_it_is_no_neighbour_of_a_snapshot_that_knows_nothing_of_it(store: MemoryStore) -> None:
    """Others have let 1 to 3 expire and stand still: 3 is free, right below 4."""

    def others(store: MemoryStore) -> None:
        for number in range(12):
            process(store).append(f"other{number}")
        for number in (1, 2, 3):
            store.delete(process(store).layout.snapshot(number))

    landed = _commit(stalled_at(store, "publish", SNAPSHOT, others))

    assert landed is not None
    assert landed.id == 15
    assert _live(store) == ["old1", "old2", "ours"]
    assert _snapshots(store) == [*range(4, 16)]


def test_the_only_snapshot_left_has_landed(store: MemoryStore) -> None:
    landed = _commit(_stalled_after_publishing(store, lambda store: expire_but(store, 1)))

    assert landed is not None
    assert _snapshots(store) == [3]
    assert _live(store) == ["old1", "old2", "ours"]


def test_what_another_process_has_repeated_does_not_land_twice(store: MemoryStore) -> None:
    """What became of the repetition has expired, and its file was compacted away."""

    def others(store: MemoryStore) -> None:
        _commit(store, user="both")
        table = process(store)
        message = table.message("packed")
        packed = type(message)(
            partition=message.partition,
            bucket=0,
            total_buckets=-1,
            compact_before=table.message("ours").new_files,
            compact_after=message.new_files,
        )
        table.committer.append([packed], user="compactor", identifier=1)
        _move_on(store)

    with pytest.raises(CommitHistoryExpiredError):
        _commit(stalled_at(store, "publish", SNAPSHOT, others), user="both")

    assert _live(store) == ["old1", "old2", "packed"]
    assert _snapshots(store) == [15, 16]


def test_what_another_process_has_repeated_is_found_in_what_is_alive(store: MemoryStore) -> None:
    def others(store: MemoryStore) -> None:
        _commit(store, user="both")
        _move_on(store)

    with pytest.raises((FilesConflictError, CommitHistoryExpiredError)):
        _commit(stalled_at(store, "publish", SNAPSHOT, others), user="both")

    assert _live(store) == ["old1", "old2", "ours"]


def _go_back(*names: str) -> Callable[[MemoryStore], None]:
    def others(store: MemoryStore) -> None:
        found = history(store)
        roll_back(found.snapshots.get(1), found)
        for name in names:
            process(store).append(name)

    return others


@pytest.mark.parametrize("names", [(), ("new1",), ("new1", "new2", "new3")])
def test_a_commit_upon_what_was_rolled_back_did_not_happen(
    store: MemoryStore, names: tuple[str, ...]
) -> None:
    with pytest.raises(CommitRolledBackError, match="went back to before snapshot 3"):
        _commit(stalled_at(store, "publish", SNAPSHOT, _go_back(*names)))

    assert process(store).live_names() == sorted(["old1", *names])
    assert _snapshots(store) == [*range(1, 2 + len(names))]
    _commit(store, "after")


def test_a_table_that_was_dropped_does_not_come_back(store: MemoryStore) -> None:
    def others(store: MemoryStore) -> None:
        store.files.clear()

    with pytest.raises(TableNotFoundError):
        _commit(stalled_at(store, "publish", SNAPSHOT, others))

    assert _snapshots(store) == []


@pytest.mark.parametrize("moves_on", [True, False])
def test_an_answer_that_is_late_is_waited_for(store: MemoryStore, moves_on: bool) -> None:
    """The publisher fails; what it sent arrives when others have moved on."""

    class Late(MemoryStore):
        sent: tuple[str, bytes] | None = None

        def publish(self, path: str, data: bytes) -> bool:
            if not path.endswith(SNAPSHOT) or self.sent:
                return super().publish(path, data)
            self.sent = (path, data)
            if moves_on:
                _move_on(store)
            raise OSError(110, "timed out")

    late = Late(store.files)
    error: PaimonError | None = None
    try:
        _commit(late)
    except CommitOutcomeUnknownError as found:
        error = found
    assert late.sent is not None
    store.publish(*late.sent)

    assert (error is None) == (not moves_on)
    assert _live(store) == ["old1", "old2"] + ["ours"] * (not moves_on)


def test_a_snapshot_below_the_oldest_one_takes_no_files_with_it(store: MemoryStore) -> None:
    """A process died between publishing and finding out that it was too late."""

    class Store(MemoryStore):
        is_dead = False

        def publish(self, path: str, data: bytes) -> bool:
            if path.endswith(SNAPSHOT):
                _move_on(store)
            self.is_dead = path.endswith(SNAPSHOT)
            return super().publish(path, data)

        def read(self, path: str, **how: int) -> bytes:
            if self.is_dead:
                raise KeyboardInterrupt
            return super().read(path, **how)

    with pytest.raises(CommitOutcomeUnknownError):
        _commit(Store(store.files))
    assert _snapshots(store) == [3, 13, 14]

    _commit(store, "next")
    expire_but(store, 1)

    assert _snapshots(store) == [15]
    assert _live(store) == ["next", "old1", "old2"]


@pytest.mark.parametrize("goes_back", [True, False])
def test_a_late_hint_names_nothing_that_is_gone(store: MemoryStore, goes_back: bool) -> None:
    others = _go_back() if goes_back else _move_on
    _commit(stalled_at(store, "replace", "/LATEST", others))

    hint = read_hint(store, process(store).layout.latest_hint)
    assert hint == _snapshots(store)[-1]
    _commit(store, "after")
