"""Masks are computed once for the files of a split and kept: no file ever changes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

from paimonlab.scan.split import DataSplit, DeletionFile
from paimonlab.spark.reading.masks import FileMask

BOUND_BYTES = 512 << 20
"""Masks of about four thousand million rows."""

_Key = tuple[str, str, tuple[str, ...], tuple[DeletionFile | None, ...]]


class MaskCache:
    """Keeps the masks that were used last, of all tables; safe for threads."""

    def __init__(self, bound_bytes: int = BOUND_BYTES) -> None:
        self._bound_bytes = bound_bytes
        self._kept: OrderedDict[_Key, tuple[FileMask, ...]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, table_path: str, split: DataSplit) -> tuple[FileMask, ...] | None:
        """Return the masks of a split's files, None if they are not cached."""
        key = _key(table_path, split)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, table_path: str, split: DataSplit, masks: tuple[FileMask, ...]) -> None:
        """Keep masks, and drop the least recently used."""
        key = _key(table_path, split)
        with self._lock:
            if key in self._kept:
                return
            self._kept[key] = masks
            self._bytes += _size(masks)
            while self._bytes > self._bound_bytes and self._kept:
                self._bytes -= _size(self._kept.popitem(last=False)[1])


def _key(table_path: str, split: DataSplit) -> _Key:
    names = tuple(file.file_name for file in split.files)
    return table_path, split.bucket_path, names, split.deletion_files


def _size(masks: Sequence[FileMask]) -> int:
    return sum(mask.size_bytes for mask in masks)
