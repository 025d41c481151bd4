"""Tables that other Paimon implementations wrote, kept as archives, with what is read from them.

An archive holds, for each writer, ``wh/`` (a warehouse) and ``expected/<table>.json``: what Java
Paimon reads from the table. ``tables.txt`` says of each table whether paimonlab reads it yet.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tarfile
import tempfile
from functools import cache, partial
from pathlib import Path
from typing import Any

from tests.interop.java_build import build_once

ROOTS = {
    "java-1.3.1": ("java-1.3.1", "java-1.3.1"),
    "java-1.4.2": ("java-1.4.2", "java-1.4.2"),
    "java-0.9": ("java-0.9", "fixtures/java09"),
    "pypaimon-2.1": ("java-0.9", "fixtures/py21"),
    "pypaimon-2.1-native": ("java-0.9", "fixtures/py21r"),
    "pypaimon-rust-0.4": ("java-0.9", "fixtures/rust04"),
}
"""Writer -> archive, folder in it."""
RELEASES = ("java-1.3.1", "java-1.4.2")
"""Writers whose answers cover everything: reads, changes, streams, files, system tables."""


SHARED = "PAIMONLAB_GOLDEN"
"""Names a folder in which processes of one run of the suite unpack archives once, for all."""


def golden(writer: str) -> Path:
    """Return the folder with ``wh`` and ``expected`` of a writer; unpacked once a process."""
    archive, folder = ROOTS[writer]
    return _unpacked(archive) / folder


@cache
def _unpacked(archive: str) -> Path:
    if shared := os.environ.get(SHARED):
        return build_once(Path(shared) / archive, partial(_unpack, archive))
    target = Path(tempfile.mkdtemp(prefix="paimonlab-golden-"))
    atexit.register(shutil.rmtree, target, ignore_errors=True)
    _unpack(archive, target)
    return target


def _unpack(archive: str, target: Path) -> None:
    with tarfile.open(Path(__file__).parent / f"{archive}.tar.xz") as opened:
        # The archives are our own: to check each path takes as long as to unpack it.
        # Python 3.11.0 to 3.11.3 have no filters.
        known = hasattr(tarfile, "fully_trusted_filter")
        options: dict[str, Any] = {"filter": "fully_trusted"} if known else {}
        opened.extractall(target, **options)
