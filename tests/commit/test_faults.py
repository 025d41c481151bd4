"""A commit meets a fault at every single call of the store."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from paimonlab.errors import (
    CommitError,
    CommitOutcomeUnknownError,
    PaimonError,
    PostCommitError,
)
from tests.commit.kill_points import USER, commit
from tests.fault_io import Fault, FaultFileIO
from tests.small_tables import SmallTable

OLD = ["old1", "old2"]
NEW = {"append": ["new1", "new2", "old1", "old2"], "overwrite": ["new1", "new2"]}
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paimonlab.commit.settlement._PAUSE_SECONDS", 0)


def _table_before(folder: Path) -> Path:
    table = SmallTable(folder / "before").create()
    for name in OLD:
        table.append(name, total_buckets=1)
    return table.path


def _is_landed(table: SmallTable) -> bool:
    return any(snapshot.commit_user == USER for snapshot in table.snapshots.list())


def _check_readable_and_repeatable(path: Path, operation: str) -> bool:
    """Check that the table has the old or the new state, and the new one after a repetition."""
    table = SmallTable(path)
    is_landed = _is_landed(table)
    assert table.live_names() == (NEW[operation] if is_landed else OLD)

    commit(table, operation)

    assert table.live_names() == NEW[operation]
    assert [snapshot.id for snapshot in table.snapshots.list()] == [1, 2, 3]
    return is_landed


@pytest.mark.parametrize("operation", ["append", "overwrite"])
def test_killed_at_any_call_the_table_is_old_or_new(tmp_path: Path, operation: str) -> None:
    _table_before(tmp_path)
    program = [sys.executable, "-m", "tests.commit.kill_points", str(tmp_path), operation]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}

    done = subprocess.run(program, cwd=ROOT, env=environment, capture_output=True, check=False)

    assert done.returncode == 0, done.stderr.decode()
    deaths = [int(line) for line in done.stdout.split()]
    landed = []
    for suffix, count in zip(("", "-after"), deaths, strict=True):
        assert count > 15
        for number in range(1, count + 1):
            path = tmp_path / f"{number}{suffix}"
            landed.append(_check_readable_and_repeatable(path, operation))
    assert True in landed
    assert False in landed


@pytest.mark.parametrize("operation", ["append", "overwrite"])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("kind", ["error", "interrupt"])
@pytest.mark.parametrize("times", [1, 10**9])
def test_a_fault_at_any_call_is_told_truly(
    tmp_path: Path, operation: str, after: bool, kind: str, times: int
) -> None:
    before = _table_before(tmp_path)
    number, is_through = 0, False
    while not is_through:
        number += 1
        path = tmp_path / str(number)
        shutil.copytree(before, path)
        file_io = FaultFileIO(
            SmallTable(path).file_io,
            Fault(kind, number, after, times=times),  # type: ignore[arg-type]
        )

        error = _attempt(SmallTable(path, file_io=file_io), operation)

        is_through = file_io.counted < number
        _check_truth(SmallTable(path), error, is_clean=times == 1 and kind == "error")
        _check_readable_and_repeatable(path, operation)
    assert number > 15


def _attempt(table: SmallTable, operation: str) -> BaseException | None:
    try:
        commit(table, operation)
    except (PaimonError, KeyboardInterrupt) as error:
        return error
    return None


def _check_truth(table: SmallTable, error: BaseException | None, *, is_clean: bool) -> None:
    is_landed = _is_landed(table)
    if error is None or isinstance(error, PostCommitError):
        assert is_landed
    elif isinstance(error, CommitError) and not isinstance(error, CommitOutcomeUnknownError):
        assert not is_landed
        if is_clean:
            assert table.metadata_files() == table.referenced_files()


def test_an_unknown_outcome_names_what_to_repeat(tmp_path: Path) -> None:
    path = _table_before(tmp_path)
    file_io = FaultFileIO(SmallTable(path).file_io, Fault("error", 1, only="publish", times=10**9))

    with pytest.raises(CommitOutcomeUnknownError, match=f"{USER!r} and identifier 1") as caught:
        commit(SmallTable(path, file_io=file_io), "append")

    assert caught.value.snapshot_id == 3
    written = set(SmallTable(path).metadata_files()) - set(SmallTable(path).referenced_files())
    assert len(written) >= 3, "what was written stays: it may be in use"


def test_another_writer_lands_while_the_store_does_not_answer(tmp_path: Path) -> None:
    """The id goes to the other; ours is taken up again under the next id."""
    path = _table_before(tmp_path)

    class Store(FaultFileIO):
        is_slow = True

        def publish(self, path: str, data: bytes) -> bool:
            if not self.is_slow:
                return super().publish(path, data)
            self.is_slow = False
            SmallTable(tmp_path / "before").append("other", total_buckets=1)
            raise OSError(110, "timed out")

    commit(SmallTable(path, file_io=Store(SmallTable(path).file_io)), "append")

    table = SmallTable(path)
    assert table.live_names() == ["new1", "new2", "old1", "old2", "other"]
    assert table.snapshots.get(4).commit_user == USER
    assert table.metadata_files() == table.referenced_files()


def test_the_same_bytes_are_published_again_when_nothing_is_there(tmp_path: Path) -> None:
    path = _table_before(tmp_path)
    file_io = FaultFileIO(SmallTable(path).file_io, Fault("error", 1, only="publish", times=3))

    commit(SmallTable(path, file_io=file_io), "append")

    published = [target for method, target in file_io.calls if method == "publish"]
    assert published == [SmallTable(path).layout.snapshot(3)] * 4


def test_a_hint_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    path = _table_before(tmp_path)
    file_io = FaultFileIO(SmallTable(path).file_io, Fault("error", 1, only="replace"))

    commit(SmallTable(path, file_io=file_io), "append")

    assert SmallTable(path).live_names() == NEW["append"]
