"""What has the name of a table's file and is none: pipes, devices, folders, files without end.

A process of its own reads them, which may take little memory and must not wait for ever.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import CorruptError
from paimonlab.metadata.manifest_cache import shared_cache
from paimonlab.table.inside import store_of
from paimonlab.table.table import Table

ROOT = Path(__file__).parents[2]
_MOST_MEMORY_BYTES = 1 << 30
"""More than the process has when it begins."""
_CASE_SECONDS = 60
"""No case takes one, unless it waits for ever."""
_ENDLESS_BYTES = 1 << 40


def _link_to_zeros(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _device(path: Path) -> None:
    os.mknod(path, 0o666 | 0o020000, os.makedev(1, 5))


def _without_end(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(_ENDLESS_BYTES)


def _socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the path of a socket has to be short
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(path.name)
    finally:
        os.chdir(here)


KINDS: Mapping[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "folder": Path.mkdir,
    "link to zeros": _link_to_zeros,
    "link to itself": lambda path: path.symlink_to(path.name),
    "socket": _socket,
    "file without end": _without_end,
    **({"device": _device} if os.geteuid() == 0 else {}),
}
FILES = (
    *("schema/schema-0", "snapshot/snapshot-1", "snapshot/snapshot-2", "snapshot/LATEST"),
    *("snapshot/EARLIEST", "tag/tag-old", "consumer/consumer-c"),
    *("statistics/*", "index/*", "bucket-0/data-*"),
)


def _make(warehouse: Path) -> list[str]:
    """Make a table; return the names of a list of manifests and of a manifest."""
    catalog = pl.connect(warehouse)
    catalog.create_database("db")
    options = {"bucket": "1", "bucket-key": "k", "deletion-vectors.enabled": "true"}
    table = catalog.create_table("db.t", {"k": "INT"}, options=options)
    table.write(pa.table({"k": pa.array(range(5), pa.int32())}))
    table.delete("k = 2")
    table.maintenance.analyze()
    table.tags.create("old")
    table.consumers.reset("c", 1)
    assert table.snapshot is not None
    name = table.snapshot.base_manifest_list
    return [
        f"manifest/{one}" for one in (name, store_of(table).manifests.read_list(name)[0].file_name)
    ]


def _read(warehouse: Path, *, follow_links: bool = False) -> None:
    """Read all files of the table."""
    shared_cache.clear()
    options = {"warehouse": str(warehouse), **({"follow-links": "true"} if follow_links else {})}
    table = pl.connect(options).table("db.t")
    assert isinstance(table, Table)
    table.scan().to_arrow()
    table.tags.list()
    table.consumers.list()
    store_of(table).snapshots.earliest_id()
    store_of(table).snapshots.list()
    getattr(table, "statistics")  # noqa: B009 - reads a file


def _check(warehouse: Path) -> Sequence[str]:
    """Return which files are not as they must be."""
    shared_cache.clear()
    table = pl.connect(warehouse).table("db.t")
    assert isinstance(table, Table)
    return [f"{table.path}/{finding.file}" for finding in table.fsck().findings]


def _try(scratch: Path, name: str, kind: str, *, follow_links: bool) -> None:
    where = f"{name} is a {kind}"
    warehouse = scratch / f"warehouse {uuid.uuid4()}"  # what was read is remembered by path
    shutil.copytree(scratch / "made", warehouse)
    path = min((warehouse / "db.db" / "t").glob(name))
    path.unlink()
    KINDS[kind](path)
    print(where, flush=True)  # noqa: T201 - the last line says what does not end
    signal.alarm(_CASE_SECONDS)
    with pytest.raises(CorruptError) as caught:
        _read(warehouse, follow_links=follow_links)
    assert str(path) in str(caught.value), f"{where}: {caught.value}"
    if not name.startswith(("schema", "consumer")) and not follow_links:
        assert str(path) in _check(warehouse), f"{where}: it is not found"
    signal.alarm(0)
    shutil.rmtree(warehouse)


def _try_all(scratch: Path) -> None:
    manifests = _make(scratch / "made")
    _read(scratch / "made")
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + _MOST_MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for name in (*FILES, *manifests):
        for kind in KINDS:
            _try(scratch, name, kind, follow_links=False)
        _try(scratch, name, "link to zeros", follow_links=True)


def test_no_file_is_waited_for_or_read_without_end(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.outside.test_links", str(tmp_path)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout.splitlines()[-1:] + done.stderr.splitlines()[-20:]
    if "device" not in KINDS:
        pytest.skip("only root may make a device; all else was tried")


if __name__ == "__main__":
    _try_all(Path(sys.argv[1]))
