"""A process that writes is stopped by a signal, and goes on when others have moved on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.catalog import FileSystemCatalog
from paimonlab.storage import LocalFileIO
from paimonlab.table.inside import store_of
from paimonlab.table.table import Table

_ROOT = Path(__file__).parents[2]
_SECONDS = 120
"""After which something hangs for ever; nothing here takes as long."""
_COLUMNS = {"k": "BIGINT NOT NULL", "v": "STRING"}


@dataclass(frozen=True, slots=True)
class _Stopping(LocalFileIO):
    """Stops the process at snapshot 3: before it is linked, or right after."""

    after: bool = False

    def publish(self, path: str, data: bytes) -> bool:
        is_due = path.endswith("/snapshot/snapshot-3")
        if is_due and not self.after:
            os.kill(os.getpid(), signal.SIGSTOP)
        is_published = LocalFileIO.publish(self, path, data)
        if is_due and self.after:
            os.kill(os.getpid(), signal.SIGSTOP)
        return is_published


def _rows(*keys: int) -> pa.Table:
    return pa.table({"k": pa.array(keys, pa.int64()), "v": [f"v{key}" for key in keys]})


def _table(warehouse: Path, store: LocalFileIO | None = None) -> Table:
    table = FileSystemCatalog(str(warehouse), store or LocalFileIO()).table("db.t")
    assert isinstance(table, Table)
    return table


@pytest.fixture(params=[(), ("k",)], ids=["append", "keyed"])
def warehouse(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A table with two snapshots."""
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    options = {"bucket": "1"} if request.param else {}
    options |= {"write-only": "true"}
    table = catalog.create_table("db.t", _COLUMNS, primary_keys=request.param, options=options)
    for key in (1, 2):
        table.write(_rows(key))
    return tmp_path


@contextmanager
def _stopped(warehouse: Path, how: str) -> Iterator[subprocess.Popen[str]]:
    """Start a process that writes key 3, and wait until it has stopped."""
    program = [sys.executable, "-m", "tests.outside.test_stalls", str(warehouse), how]
    process = subprocess.Popen(
        program,
        cwd=_ROOT,
        env=os.environ | {"PYTHONPATH": str(_ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status), process.communicate()[1]
        yield process
    finally:
        process.kill()
        process.wait(_SECONDS)


def _answer(process: subprocess.Popen[str]) -> str:
    process.send_signal(signal.SIGCONT)
    out, err = process.communicate(timeout=_SECONDS)
    assert process.returncode == 0, err
    return out.strip()


def _move_on(warehouse: Path) -> None:
    """Commit up to snapshot 14, and let 1 to 12 expire."""
    table = _table(warehouse)
    while table.snapshot is None or table.snapshot.id < 14:
        table.write(_rows(100 + (table.snapshot.id if table.snapshot else 0)))
    table.maintenance.expire_snapshots(retain_max=2, retain_min=2)
    assert store_of(table).snapshots.ids() == [13, 14]


@pytest.mark.parametrize("how", ["before", "after"])
def test_a_write_that_stands_still_while_others_move_on_is_not_lost(
    warehouse: Path, how: str
) -> None:
    with _stopped(warehouse, how) as process:
        _move_on(warehouse)
        answer = _answer(process)

    table = _table(warehouse)
    keys = table.scan().to_arrow()["k"].to_pylist()
    assert answer == ("15" if how == "before" else "3")
    assert keys.count(3) == 1
    assert len(keys) == len(set(keys))
    assert store_of(table).snapshots.ids() == ([13, 14, 15] if how == "before" else [13, 14])
    assert not table.fsck(deep=True).findings
    table.write(_rows(4))


@pytest.mark.parametrize("how", ["before", "after"])
def test_a_write_that_stands_still_while_others_go_back_is_told(warehouse: Path, how: str) -> None:
    with _stopped(warehouse, how) as process:
        table = _table(warehouse)
        table.maintenance.rollback_to(snapshot=1)
        table.write(_rows(4))
        answer = _answer(process)

    table = _table(warehouse)
    assert answer == "CommitRolledBackError"
    assert sorted(table.scan().to_arrow()["k"].to_pylist()) == [1, 4]
    assert not table.fsck(deep=True).findings


def _main(warehouse: Path, how: str) -> None:
    try:
        landed = _table(warehouse, _Stopping(after=how == "after")).write(_rows(3))
    except pl.errors.PaimonError as error:
        print(type(error).__name__)  # noqa: T201 - the test reads it
    else:
        print(landed.id if landed else "nothing")  # noqa: T201 - the test reads it


if __name__ == "__main__":
    _main(Path(sys.argv[1]), sys.argv[2])
