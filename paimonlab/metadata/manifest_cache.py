"""Decoded manifests of this process, the least recently used thrown out first."""

from __future__ import annotations

import threading
from collections import OrderedDict

import pyarrow as pa


class ManifestCache:
    """Keeps tables of manifest entries by the path of their manifest. Thread-safe."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._size_bytes = 0
        self._tables: OrderedDict[str, pa.Table] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, path: str) -> pa.Table | None:
        """Return what `put` kept, or None."""
        with self._lock:
            table = self._tables.get(path)
            if table is not None:
                self._tables.move_to_end(path)
            return table

    def put(self, path: str, table: pa.Table) -> None:
        """Keep a table, unless it alone is larger than the limit."""
        if table.nbytes > self._limit_bytes:
            return
        with self._lock:
            if path not in self._tables:
                self._tables[path] = table
                self._size_bytes += table.nbytes
            while self._size_bytes > self._limit_bytes:
                _, oldest = self._tables.popitem(last=False)
                self._size_bytes -= oldest.nbytes

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._tables.clear()
            self._size_bytes = 0


shared_cache = ManifestCache(limit_bytes=256 << 20)
"""The cache of this process."""
