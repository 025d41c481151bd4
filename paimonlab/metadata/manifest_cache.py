"""Decoded manifests and lists of this process, the least recently used evicted first."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa

from paimonlab.spec.manifests.index_manifest import IndexManifestEntry
from paimonlab.spec.manifests.manifest import ManifestFileMeta
from paimonlab.storage.recent import Recent

_TABLE_BYTES = 35_000
"""Of memory, roughly, for a manifest besides its values: its columns are many small buffers."""
_META_BYTES = 1000
"""Of memory, roughly, for one entry of a manifest list."""
_INDEX_BYTES = 300
"""Of memory, roughly, for an index file, and for each deletion vector in it."""


class ManifestCache:
    """Keeps what was decoded by the path of its file. Thread-safe."""

    def __init__(self, limit_bytes: int) -> None:
        self._tables: Recent[str, pa.Table] = Recent(limit_bytes)
        self._lists: Recent[str, tuple[ManifestFileMeta, ...]] = Recent(limit_bytes // 8)
        self._indexes: Recent[str, tuple[IndexManifestEntry, ...]] = Recent(limit_bytes // 4)

    def get(self, path: str) -> pa.Table | None:
        """Return the entries of a manifest that `put` kept, or None."""
        return self._tables.get(path)

    def put(self, path: str, entries: pa.Table, size_bytes: int) -> None:
        """Keep the entries of a manifest of some size, unless that is larger than the limit.

        The size of a table is not asked for here: for a few rows that takes longer than to decode
        them.
        """
        self._tables.put(path, entries, _TABLE_BYTES + size_bytes)

    def get_list(self, path: str) -> tuple[ManifestFileMeta, ...] | None:
        """Return a manifest list that `put_list` kept, or None."""
        return self._lists.get(path)

    def put_list(self, path: str, metas: tuple[ManifestFileMeta, ...]) -> None:
        """Keep a manifest list."""
        self._lists.put(path, metas, _META_BYTES * (len(metas) + 1))

    def get_index(self, path: str) -> tuple[IndexManifestEntry, ...] | None:
        """Return an index manifest that `put_index` kept, or None."""
        return self._indexes.get(path)

    def put_index(self, path: str, entries: tuple[IndexManifestEntry, ...]) -> None:
        """Keep an index manifest."""
        count = sum(1 + len(entry.deletion_vectors or ()) for entry in entries)
        self._indexes.put(path, entries, _INDEX_BYTES * (count + 1))

    def forget(self, paths: Collection[str]) -> None:
        """Forget files that are gone."""
        self._indexes.drop(paths)
        self._tables.drop(paths)
        self._lists.drop(paths)

    def clear(self) -> None:
        """Forget everything."""
        self._indexes.clear()
        self._tables.clear()
        self._lists.clear()


shared_cache = ManifestCache(limit_bytes=256 << 20)
"""The cache of this process."""
