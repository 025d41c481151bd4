"""Processes whose clocks go wrong, beside others whose clocks are right."""

from __future__ import annotations

import functools
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.table.table import Table
from tests.debian import is_installed
from tests.outside.processes import said

_OPTIONS = {"bucket": "1", "write-only": "true"}
_LIBRARY = "faketime/libfaketime.so.1"


@functools.cache
def _library() -> str | None:
    """Return the path of libfaketime, which is installed from Debian where root runs this."""
    return _found() or (_found() if is_installed("libfaketime") else None)


def _found() -> str | None:
    folders = (Path("/usr/lib"), *Path("/usr/lib").glob("*-linux-gnu"))
    return next((str(one / _LIBRARY) for one in folders if (one / _LIBRARY).exists()), None)


def _at(shift: str, warehouse: Path, program: str) -> str:
    """Run a program on ``table`` with a clock that is wrong by ``-1y``, ``+10d`` …."""
    library = _library()
    if library is None:
        pytest.skip("libfaketime is not installed")
    opening = f"import paimonlab as pl; table = pl.connect({str(warehouse)!r}).table('db.t')\n"
    environment = {"LD_PRELOAD": library, "FAKETIME": shift}
    return said(["-c", opening + program], environment)


@pytest.fixture
def table(tmp_path: Path) -> Table:
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    return catalog.create_table(
        "db.t", {"k": "INT NOT NULL", "v": "STRING"}, primary_keys=["k"], options=_OPTIONS
    )


def _write(table: Table, *keys: int) -> None:
    table.write(pa.table({"k": pa.array(keys, pa.int32()), "v": ["v"] * len(keys)}))


_WRITING = """
import pyarrow as pa
for number in range(10, 13):
    table.write(pa.table({"k": pa.array([number], pa.int32()), "v": ["wrong"]}))
table.tags.create("wrong")
print(table.snapshot.time_millis)
"""


@pytest.mark.parametrize("shift", ["-2y", "+2y"])
def test_commits_of_a_wrong_clock_are_as_good_as_others(
    table: Table, tmp_path: Path, shift: str
) -> None:
    follower = table.follow(until=5)
    _write(table, 1, 2)

    said_millis = int(_at(shift, tmp_path, _WRITING))
    _write(table, 3)

    assert table.snapshot is not None
    assert abs(table.snapshot.time_millis - said_millis) > 300 * 24 * 3600 * 1000, "a wrong clock"
    keys = [1, 2, 3, 10, 11, 12]
    assert sorted(table.scan().to_arrow()["k"].to_pylist()) == keys
    followed = [key for batch in follower for key in batch.data["k"].to_pylist()]
    assert sorted(followed) == keys
    assert list(table.tags.list()) == ["wrong"]
    assert not [one for one in table.fsck(deep=True).findings if one.severity == "error"]


def test_a_clock_ahead_takes_no_files_of_a_commit_under_way(table: Table, tmp_path: Path) -> None:
    _write(table, 1)
    writer = table.new_writer()
    writer.write(pa.table({"k": pa.array([2], pa.int32()), "v": ["under way"]}))
    messages = writer.prepare_commit()

    out = _at("+1y", tmp_path, "print(table.maintenance.remove_orphan_files(dry_run=False))")

    assert " 0 orphan files" in out
    table.commit(messages)
    assert sorted(table.scan().to_arrow()["k"].to_pylist()) == [1, 2]


@pytest.mark.parametrize("shift", ["-2y", "+2y"])
def test_expiry_by_a_wrong_clock_keeps_the_latest_and_what_tags_hold(
    table: Table, tmp_path: Path, shift: str
) -> None:
    for number in range(1, 16):
        _write(table, number)
    table.tags.create("kept", snapshot=3)

    _at(shift, tmp_path, "table.maintenance.expire_snapshots()")

    assert sorted(table.scan().to_arrow()["k"].to_pylist()) == list(range(1, 16))
    assert sorted(table.scan(tag="kept").to_arrow()["k"].to_pylist()) == [1, 2, 3]
    assert table.snapshots.ids() == list(range(6 if shift == "+2y" else 1, 16))
    assert not [one for one in table.fsck(deep=True).findings if one.severity == "error"]
