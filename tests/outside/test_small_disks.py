"""Operations on disks that are too small for them: the table is old or new, and goes on later.

Each begins with no room at all, then has a little more each time, until it gets through.
PAIMONLAB_DISK_STEP says how much more, in bytes; PAIMONLAB_DISK_ALL=1 tries all operations on all
kinds of disks.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator, Mapping

import pytest

from paimonlab.errors import PaimonError
from paimonlab.storage import LocalFileIO
from tests.crash.harness import (
    Prepared,
    catalog,
    check_done_again,
    check_old_or_new,
    check_told,
)
from tests.outside.conftest import BY_NAME, EACH_KIND_OF_FILE, Prepare
from tests.outside.disks import KINDS, Disk, Kind, mounted

STEP_BYTES = int(os.environ.get("PAIMONLAB_DISK_STEP", str(20 << 10)))
ALL = os.environ.get("PAIMONLAB_DISK_ALL") == "1"
_SIZES = {"tmpfs": "2M", "ext4": "8M", "quota": "64M"}
_MOST_ROOM_BYTES = 1 << 20
_MAKE_ROOM = frozenset(
    {
        *("expire snapshots", "purge", "remove orphans", "drop a table", "rename a table"),
        *("delete a tag of an expired snapshot", "delete a branch"),
    }
)
_MAKE_ROOM_FIRST = frozenset({"fast-forward"})
_TRIED: Mapping[Kind, Collection[str]] = {
    "tmpfs": BY_NAME,
    "ext4": EACH_KIND_OF_FILE,
    "quota": ("append", "alter", "create a branch"),  # a step takes btrfs a second
}
_CASES = [(kind, name) for kind in KINDS for name in (BY_NAME if ALL else _TRIED[kind])]


@pytest.fixture(scope="module")
def disks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[Kind, Disk]]:
    """Hold the disks that were mounted."""
    found: dict[Kind, Disk] = {}
    yield found
    for disk in found.values():
        disk.unmount()


@pytest.mark.parametrize(("kind", "name"), _CASES)
def test_operation_without_room_is_old_or_new(
    kind: Kind,
    name: str,
    disks: dict[Kind, Disk],
    prepare: Prepare,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    if kind not in disks:
        disks[kind] = mounted(kind, tmp_path_factory.mktemp(kind), _SIZES[kind])
    whole = prepare(BY_NAME[name])

    failures = 0
    for room_bytes in range(0, _MOST_ROOM_BYTES, STEP_BYTES):
        if _gets_through(whole, disks[kind], room_bytes):
            break
        failures += 1

    if kind == "quota":
        pass  # btrfs copies what it changes: there even to delete takes room
    elif name in _MAKE_ROOM:
        assert not failures, "what makes room must work without any"
    elif kind == "tmpfs" and name not in _MAKE_ROOM_FIRST:
        assert failures, "the disk was never full"
    assert room_bytes < _MOST_ROOM_BYTES - STEP_BYTES, "it never got through"


def _gets_through(whole: Prepared, disk: Disk, room_bytes: int) -> bool:
    """Do an operation with little room; say whether it came to its end."""
    where = f"{whole.operation.name} with {room_bytes:,} bytes of room"
    shutil.copytree(whole.made, disk.warehouse)
    try:
        error: PaimonError | None = None
        with disk.filled_up(room_bytes):
            try:
                whole.operation.act(catalog(disk.warehouse, LocalFileIO()))
            except PaimonError as raised:
                error = raised
            found = check_old_or_new(whole, disk.warehouse, f"{where}: {error!r}")
            check_told(whole, disk.warehouse, found, error, f"{where}: {error!r}")
        check_done_again(whole, disk.warehouse, f"{where}: {error!r}")
    finally:
        shutil.rmtree(disk.warehouse)
    return error is None
