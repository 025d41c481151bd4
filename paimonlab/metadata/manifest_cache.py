"""Decoded manifests and lists of this process, the least recently used thrown out first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

import pyarrow as pa

from paimonlab.spec.manifest import ManifestFileMeta

Value = TypeVar("Value")

_META_BYTES = 1000
"""Of memory, roughly, for one entry of a manifest list."""


class ManifestCache:
    """Keeps what was decoded by the path of its file. Thread-safe."""

    def __init__(self, limit_bytes: int) -> None:
        self._tables: _Recent[pa.Table] = _Recent(limit_bytes)
        self._lists: _Recent[tuple[ManifestFileMeta, ...]] = _Recent(limit_bytes // 8)

    def get(self, path: str) -> pa.Table | None:
        """Return the entries of a manifest that `put` kept, or None."""
        return self._tables.get(path)

    def put(self, path: str, entries: pa.Table) -> None:
        """Keep the entries of a manifest, unless they alone are larger than the limit."""
        self._tables.put(path, entries, entries.nbytes)

    def get_list(self, path: str) -> tuple[ManifestFileMeta, ...] | None:
        """Return a manifest list that `put_list` kept, or None."""
        return self._lists.get(path)

    def put_list(self, path: str, metas: tuple[ManifestFileMeta, ...]) -> None:
        """Keep a manifest list."""
        self._lists.put(path, metas, _META_BYTES * (len(metas) + 1))

    def clear(self) -> None:
        """Forget everything."""
        self._tables.clear()
        self._lists.clear()


class _Recent(Generic[Value]):
    """Values by path, up to a number of bytes."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._size_bytes = 0
        self._values: OrderedDict[str, tuple[Value, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, path: str) -> Value | None:
        with self._lock:
            found = self._values.get(path)
            if found is None:
                return None
            self._values.move_to_end(path)
            return found[0]

    def put(self, path: str, value: Value, size_bytes: int) -> None:
        if size_bytes > self._limit_bytes:
            return
        with self._lock:
            if path not in self._values:
                self._values[path] = (value, size_bytes)
                self._size_bytes += size_bytes
            while self._size_bytes > self._limit_bytes:
                _, (_, oldest_bytes) = self._values.popitem(last=False)
                self._size_bytes -= oldest_bytes

    def clear(self) -> None:
        with self._lock:
            self._values.clear()
            self._size_bytes = 0


shared_cache = ManifestCache(limit_bytes=256 << 20)
"""The cache of this process."""
