"""Bytes: read, write, list, delete, publish-if-absent, for each store.

Knows no Paimon names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use
from paimonlab.storage.file_io import LARGE_LIMIT_BYTES, FileIO, FileStatus
from paimonlab.storage.local import LocalFileIO
from paimonlab.storage.paths import join, safe_join
from paimonlab.storage.random_input import RandomFile
from paimonlab.storage.read_only import ReadOnlyFileIO

if TYPE_CHECKING:
    from paimonlab.storage import hdfs as hdfs
    from paimonlab.storage import stores as stores

__all__ = [
    "LARGE_LIMIT_BYTES",
    "FileIO",
    "FileStatus",
    "LocalFileIO",
    "RandomFile",
    "ReadOnlyFileIO",
    "join",
    "safe_join",
]

__getattr__, __dir__ = attributes_on_use(__name__, "hdfs", "stores")
