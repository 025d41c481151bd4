"""Small files on a disk that gets full within them, and of a process that may write no more.

A file is there whole or not at all: the table reads as before or as after, nothing torn lies
about, and once there is room again everything works.
"""

from __future__ import annotations

import contextlib
import functools
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import CommitOutcomeUnknownError, PaimonError
from paimonlab.storage import LocalFileIO
from paimonlab.table.inside import store_of
from paimonlab.table.table import Table
from tests.outside.disks import Disk, mounted

ROOT = Path(__file__).parents[2]
_SIZE = "400k"
_BLOCK_BYTES = 4 << 10
_LONG = "long " * 2000
"""Makes metadata that takes several blocks."""
_OLD = pa.table({"k": pa.array([1, 2, 3], pa.int32()), "v": ["x", "y", "z"]})
_NEW = pa.table({"k": pa.array([4], pa.int32()), "v": ["n"]})

Verb = Callable[[pl.Catalog], object]
_Shortage = Callable[[], contextlib.AbstractContextManager[None]]


def _table(catalog: pl.Catalog) -> Table:
    found = catalog.table("db.t")
    assert isinstance(found, Table)
    return found


VERBS: Mapping[str, Verb] = {
    "schema": lambda catalog: catalog.alter_table("db.t", pl.AddColumn("c", "INT", _LONG)),
    "table": lambda catalog: catalog.create_table("db.u", {"k": "INT"}, comment=_LONG),
    "snapshot": lambda catalog: _table(catalog).write(_NEW, properties={"why": _LONG}),
    "tag": lambda catalog: _table(catalog).tags.create("new"),
    "tag of another snapshot": lambda catalog: _table(catalog).tags.replace("old"),
    "branch": lambda catalog: _table(catalog).branches.create("new", tag="old"),
    "statistics": lambda catalog: _table(catalog).maintenance.analyze(),
    "consumer": lambda catalog: _table(catalog).consumers.reset("new", 1),
    "vector index": lambda catalog: _table(catalog).delete("k = 2"),
    "expiry": lambda catalog: _table(catalog).maintenance.expire_snapshots(retain_max=1),
    "hint": lambda catalog: _table(catalog).maintenance.rollback_to(snapshot=1),
}
_MAKE_ROOM = {"expiry", "hint"}
"""Works without any room."""


def _make(warehouse: Path) -> None:
    """Make a table all of whose metadata takes several blocks."""
    catalog = pl.connect(warehouse)
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        {"k": "INT", "v": "STRING"},
        comment=_LONG,
        options={
            "deletion-vectors.enabled": "true",
            "manifest.compression": "null",
            "write-only": "true",
        },
    )
    table.write(_OLD, properties={"why": _LONG})
    table.tags.create("old")
    table.branches.create("dev", tag="old")
    table.on_branch("dev").write(_NEW, properties={"why": _LONG})
    table.write(_NEW, properties={"why": _LONG})


def _state(catalog: pl.Catalog) -> dict[str, Any]:
    """Read all that the table shows."""
    table = _table(catalog)
    found: dict[str, Any] = {"names": table.schema.field_names, "tables": catalog.tables("db")}
    found["now"] = _rows(table.scan())
    for tag in table.tags.list():
        found[f"tag {tag}"] = _rows(table.scan(tag=tag))
    for branch in table.branches.list():
        found[f"branch {branch}"] = _rows(table.on_branch(branch).scan())
    snapshot = table.snapshot
    found["statistics"] = snapshot is not None and bool(snapshot.statistics)
    store = store_of(table)
    found["ids"] = (store.snapshots.ids(), store.changelogs.ids(), store.schemas.ids())
    found["consumers"] = dict(table.consumers.list())
    return found


def _rows(scan: pl.Scan) -> list[dict[str, Any]]:
    return sorted(scan.to_arrow().to_pylist(), key=repr)


def _files(warehouse: Path) -> set[str]:
    found = {str(path.relative_to(warehouse)) for path in warehouse.rglob("*") if path.is_file()}
    return {name for name in found if not name.endswith(("LATEST", "EARLIEST"))}


def _check_sound(catalog: pl.Catalog, where: str) -> None:
    for name in catalog.tables("db"):
        table = catalog.table(f"db.{name}")
        assert isinstance(table, Table)
        found = [one for one in table.fsck(deep=True).findings if one.severity != "warning"]
        assert not found, f"{where}: {found}"


def _try(name: str, made: Path, warehouse: Path, after: Any, shortage: _Shortage) -> bool:
    """Do it while there is too little room; say whether it came to its end."""
    shutil.copytree(made, warehouse)
    before, files = _state(pl.connect(warehouse)), _files(warehouse)
    error: Exception | None = None
    with shortage():
        try:
            VERBS[name](pl.connect(warehouse))
        except (PaimonError, OSError) as raised:
            error = raised
        found = _state(pl.connect(warehouse))
        where = f"{name}: {error!r}"
        assert found in (before, after), f"{where}: {found}"
        assert error or found == after, f"{where}: it says that it happened"
        _check_sound(pl.connect(warehouse), where)
        if found == before and not isinstance(error, CommitOutcomeUnknownError):
            assert _files(warehouse) == files, f"{where}: not as before"
    if found != after:
        VERBS[name](pl.connect(warehouse))
    assert _state(pl.connect(warehouse)) == after, f"{where}, and done again"
    _check_sound(pl.connect(warehouse), f"{where}, and done again")
    assert not list(warehouse.rglob("*.tmp")), where
    shutil.rmtree(warehouse)
    return error is None


def _try_all(scratch: Path, warehouse: Path, shortages: Sequence[_Shortage]) -> None:
    """Do everything with each shortage; what needs room must fail at least once."""
    _make(scratch / "made")
    failures = {}
    for name, verb in VERBS.items():
        whole = scratch / f"whole {name}"
        shutil.copytree(scratch / "made", whole)
        verb(pl.connect(whole))
        after = _state(pl.connect(whole))
        came_through = [
            _try(name, scratch / "made", warehouse, after, shortage) for shortage in shortages
        ]
        failures[name] = came_through.count(False)
    assert all(count for name, count in failures.items() if name not in _MAKE_ROOM), f"{failures}"


@contextlib.contextmanager
def _files_limited(size_bytes: int) -> Iterator[None]:
    """Let files of this process become no larger."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """Mount a disk of a few blocks."""
    disk = mounted("tmpfs", tmp_path, _SIZE)
    yield disk
    disk.unmount()


@pytest.mark.parametrize("room_blocks", [0, 1, 2])
@pytest.mark.parametrize("method", ["create", "write", "publish", "replace", "open_output"])
def test_file_is_whole_or_not_there(disk: Disk, method: str, room_blocks: int) -> None:
    store, path = LocalFileIO(), str(disk.path / "file")
    data = bytes(range(256)) * 40  # needs three blocks

    def write_out() -> None:
        with store.open_output(path) as file:
            file.write(data)

    act = write_out if method == "open_output" else lambda: getattr(store, method)(path, data)
    with disk.filled_up(room_blocks * _BLOCK_BYTES), pytest.raises(OSError, match="No space"):
        act()

    left = sorted(one.name for one in disk.path.iterdir())
    assert left == (["file"] if method == "open_output" else [])  # the caller deletes its own


def test_full_disk_leaves_a_table_old_or_new(disk: Disk, tmp_path: Path) -> None:
    shortages = [functools.partial(disk.filled_up, room * _BLOCK_BYTES) for room in (0, 1, 2)]

    _try_all(tmp_path, disk.warehouse, shortages)


def test_files_that_share_a_writer_leave_nothing_on_a_full_disk(disk: Disk) -> None:
    """The disk gets full in the midst of files that were encoded together."""
    catalog = pl.connect(disk.warehouse)
    catalog.create_database("db")
    fields = {"p": "INT NOT NULL", "k": "BINARY(900)"}
    table = catalog.create_table("db.t", fields, partition_keys=["p"])
    table.write([{"p": 0, "k": os.urandom(900)}])
    rows = [{"p": number, "k": os.urandom(900)} for number in range(30)]

    with disk.filled_up(20 * _BLOCK_BYTES), pytest.raises(PaimonError, match="No space"):
        table.write(rows)

    assert len([*disk.warehouse.rglob("*.parquet")]) == 1
    assert table.fsck().findings == ()
    table.write(rows)
    assert table.scan().count() == 31


def test_limit_of_file_sizes_leaves_a_table_old_or_new(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.outside.test_full_disk", str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}

    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr


if __name__ == "__main__":
    _limits = [functools.partial(_files_limited, size) for size in (1, 1000, 9000)]
    _try_all(Path(sys.argv[1]), Path(sys.argv[1], "warehouse"), _limits)
