from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from paimonlab.errors import (
    CorruptMetadataError,
    SnapshotExpiredError,
    SnapshotNotFoundError,
)
from paimonlab.metadata import snapshots
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.spec.snapshot import CommitKind, Snapshot
from tests.fault_io import FaultFileIO
from tests.small_tables import UNSYNCED


def _snapshot(snapshot_id: int, time_millis: int) -> Snapshot:
    return Snapshot(
        version=3,
        id=snapshot_id,
        schema_id=0,
        base_manifest_list="base",
        delta_manifest_list="delta",
        commit_user="u",
        commit_identifier=snapshot_id,
        commit_kind=CommitKind.APPEND,
        time_millis=time_millis,
        total_record_count=0,
        delta_record_count=0,
    )


def _manager(path: Path, *ids: int, latest: str | None = None) -> SnapshotManager:
    """Make snapshots; number n was committed at n * 100 ms."""
    layout = TableLayout(str(path))
    for snapshot_id in ids:
        data = _snapshot(snapshot_id, snapshot_id * 100).to_json()
        assert UNSYNCED.publish(layout.snapshot(snapshot_id), data)
    if latest is not None:
        UNSYNCED.replace(layout.latest_hint, latest.encode())
    return SnapshotManager(UNSYNCED, layout, table_name="db.t")


def test_a_table_nobody_wrote_to_has_no_snapshots(tmp_path: Path) -> None:
    manager = _manager(tmp_path)

    assert manager.latest() is None
    assert manager.latest_before_commit() is None
    assert manager.earliest_id() is None
    assert manager.list() == []


@pytest.mark.parametrize("hint", ["3", "2", "1", "", "x", "-1", None, "٣", "9" * 30])
def test_the_latest_is_found_whatever_the_hint_says(tmp_path: Path, hint: str | None) -> None:
    manager = _manager(tmp_path, 1, 2, 3, latest=hint)

    assert manager.latest_id() == 3
    assert manager.latest_before_commit() == manager.get(3)


def test_a_hint_ahead_of_the_folder_is_an_error_not_an_old_table(tmp_path: Path) -> None:
    manager = _manager(tmp_path, 1, 2, latest="3")

    for find in (manager.latest, manager.latest_before_commit):
        with pytest.raises(CorruptMetadataError, match=r"names snapshot 3, but .* is 2"):
            find()


def test_a_rollback_while_the_folder_is_listed_is_no_damage(tmp_path: Path) -> None:
    """The hint that was read first named what is gone since."""
    _manager(tmp_path, 1, 2, latest="5")
    layout = TableLayout(str(tmp_path))
    store = FaultFileIO(UNSYNCED)
    listed = store.list_names

    def list_names(path: str) -> Sequence[str]:
        UNSYNCED.replace(layout.latest_hint, b"2")
        return listed(path)

    store.list_names = list_names  # type: ignore[method-assign]

    latest = SnapshotManager(store, layout).latest()

    assert latest is not None
    assert latest.id == 2


def test_a_hole_is_refused_before_a_commit(tmp_path: Path) -> None:
    manager = _manager(tmp_path, 3, 5, 6, latest="3")

    with pytest.raises(CorruptMetadataError, match="snapshot 4 is missing"):
        manager.latest_before_commit()


def test_the_copy_of_a_missing_snapshot_is_named(tmp_path: Path) -> None:
    manager = _manager(tmp_path, 3, 4, 5, 6, latest="3")
    copy = tmp_path / "tag" / ".tag-4.1b4e28ba-2fa1-11d2-883f-0016d3cca427.guard.tmp"
    copy.parent.mkdir()
    (tmp_path / "snapshot" / "snapshot-4").rename(copy)

    with pytest.raises(CorruptMetadataError, match=f"move its copy {re.escape(str(copy))} back"):
        manager.latest_before_commit()


@pytest.mark.parametrize(
    ("away", "find"),
    [("3", "latest"), ("3", "latest_before_commit"), ("2", "latest_before_commit"), ("2", "chain")],
)
def test_a_snapshot_that_another_process_moves_aside_for_a_moment_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, away: str, find: str
) -> None:
    is_chain = find == "chain"  # which believes a hint that is not late
    manager = _manager(tmp_path, 1, 2, 3, latest="1" if is_chain else "3")
    program = (
        "import os, sys; from pathlib import Path; at = Path(sys.argv[1])\n"
        "aside = at.with_name('.aside.tmp'); at.rename(aside); print('away', flush=True)\n"
        "input(); aside.rename(at); print('back', flush=True)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "snapshot" / f"snapshot-{away}")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "away\n"
        pauses: list[float] = []

        def pause(seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) == 2:
                assert other.communicate("\n")[0] == "back\n"

        monkeypatch.setattr(snapshots, "sleep", pause)

        found = getattr(manager, find)()

    assert found == (([1, 2, 3], ()) if is_chain else manager.get(3))
    assert len(pauses) == 2


def test_expired_snapshots_are_no_hole(tmp_path: Path) -> None:
    manager = _manager(tmp_path, 5, 6)

    found = manager.latest_before_commit()

    assert found is not None
    assert found.id == 6
    assert manager.earliest_id() == 5


def test_temporary_and_strange_files_are_no_snapshots(tmp_path: Path) -> None:
    manager = _manager(tmp_path, 1)
    for name in (".snapshot-2.x.tmp", "snapshot-", "snapshot-2x", "snapshot--3"):
        (tmp_path / "snapshot" / name).write_bytes(b"")

    assert manager.ids() == [1]


def test_errors_tell_expired_from_never_there(tmp_path: Path) -> None:
    manager = _manager(tmp_path, 5, 6)

    with pytest.raises(SnapshotExpiredError, match=r"db.t.*4.*5 to 6"):
        manager.get(4)
    with pytest.raises(SnapshotNotFoundError, match=r"db.t.*7.*5 to 6") as caught:
        manager.get(7)
    assert not isinstance(caught.value, SnapshotExpiredError)


def test_a_file_that_names_another_id_is_corrupt(tmp_path: Path) -> None:
    manager = _manager(tmp_path, 1)
    (tmp_path / "snapshot" / "snapshot-2").write_bytes(_snapshot(1, 0).to_json())

    with pytest.raises(CorruptMetadataError, match=r"snapshot-2.*says that it is snapshot 1"):
        manager.get(2)


@pytest.mark.parametrize("cut", [0, 1, 50, 200])
def test_a_cut_file_is_an_error_that_names_it(tmp_path: Path, cut: int) -> None:
    manager = _manager(tmp_path, 1)
    path = tmp_path / "snapshot" / "snapshot-1"
    path.write_bytes(path.read_bytes()[:cut])

    with pytest.raises(CorruptMetadataError, match="snapshot-1"):
        manager.latest()


def test_the_last_ones_are_listed_oldest_first(tmp_path: Path) -> None:
    manager = _manager(tmp_path, 8, 9, 10)

    assert [snapshot.id for snapshot in manager.list()] == [8, 9, 10]
    assert [snapshot.id for snapshot in manager.list(last=2)] == [9, 10]
    assert [snapshot.id for snapshot in manager.list(last=5)] == [8, 9, 10]
    assert manager.list(last=0) == []


@pytest.mark.parametrize(("millis", "found"), [(500, 5), (501, 5), (699, 6), (700, 7), (9999, 9)])
def test_a_time_finds_the_newest_snapshot_at_or_before_it(
    tmp_path: Path, millis: int, found: int
) -> None:
    manager = _manager(tmp_path, 5, 6, 7, 8, 9)

    assert manager.at_or_before(millis).id == found


def test_a_time_before_the_earliest_snapshot_is_an_error(tmp_path: Path) -> None:
    manager = _manager(tmp_path, 5, 6)

    with pytest.raises(SnapshotNotFoundError, match=r"earliest is 5, committed at 1970-01-01"):
        manager.at_or_before(499)
    with pytest.raises(SnapshotNotFoundError, match="ms since the epoch"):
        manager.at_or_before(-(10**17))


def _commits(path: Path, count: int) -> tuple[SnapshotManager, FaultFileIO, list[int]]:
    """Look for the newest snapshot ``count`` times, and add one each time."""
    layout, store = TableLayout(str(path)), FaultFileIO(UNSYNCED)
    manager = SnapshotManager(store, layout, table_name="db.t")
    found = []
    for _ in range(count):
        latest = manager.latest_before_commit()
        found.append(latest.id if latest else 0)
        assert UNSYNCED.publish(
            layout.snapshot(found[-1] + 1), _snapshot(found[-1] + 1, 0).to_json()
        )
    return manager, store, found


def test_many_commits_list_the_folder_rarely(tmp_path: Path) -> None:
    _, store, found = _commits(tmp_path, 250)

    assert found == list(range(250))
    listed = [method for method, _ in store.calls if method == "list_names"]
    assert len(listed) == 4, "until there is a snapshot, and every hundredth time"


def test_a_walk_goes_back_after_a_rollback(tmp_path: Path) -> None:
    manager, _, _ = _commits(tmp_path, 9)
    for number in (9, 8, 7):
        (tmp_path / f"snapshot/snapshot-{number}").unlink()

    latest = manager.latest_before_commit()

    assert latest is not None
    assert latest.id == 6


def test_a_walk_finds_what_others_committed(tmp_path: Path) -> None:
    manager, _, _ = _commits(tmp_path, 9)
    for number in (10, 11, *range(12, 300)):
        _manager(tmp_path, number)
        if number in (11, 299):
            latest = manager.latest_before_commit()
            assert latest is not None
            assert latest.id == number


def test_a_walk_does_not_end_at_a_hole(tmp_path: Path) -> None:
    manager, _, _ = _commits(tmp_path, 5)
    _manager(tmp_path, 7, latest="7")

    with pytest.raises(CorruptMetadataError, match="snapshot 6 is missing"):
        manager.latest_before_commit()


def test_a_hole_without_a_hint_is_found_in_the_end(tmp_path: Path) -> None:
    manager, _, _ = _commits(tmp_path, 5)
    _manager(tmp_path, 7)

    for _ in range(96):
        manager.latest_before_commit()

    with pytest.raises(CorruptMetadataError, match="snapshot 6 is missing"):
        manager.latest_before_commit()
