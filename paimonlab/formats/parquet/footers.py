"""Footers and page indexes of files that were read lately: data files never change."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from paimonlab.formats.parquet.pages import PageIndex, read_footer
from paimonlab.storage.recent import Recent

_FOOTER_WEIGHT = 12
"""Bytes of memory for a byte of a footer that pyarrow decoded, roughly."""
_INDEX_WEIGHT = 60
"""The same for a footer and page indexes as Python values."""


class FooterCache:
    """Keeps footers by path and size of the file. Thread-safe."""

    def __init__(self, limit_bytes: int) -> None:
        self._footers: Recent[tuple[str, int], pq.FileMetaData] = Recent(limit_bytes // 2)
        self._indexes: Recent[tuple[str, int], PageIndex] = Recent(limit_bytes // 2)

    def footer(self, path: str, file: pa.NativeFile) -> pq.FileMetaData:
        """Return the footer of an open file."""
        key = (path, file.size())
        metadata = self._footers.get(key)
        if metadata is None:
            metadata = pq.read_metadata(file)
            self._footers.put(key, metadata, _FOOTER_WEIGHT * metadata.serialized_size)
        return metadata

    def index(self, path: str, file: pa.NativeFile) -> PageIndex:
        """Return the page indexes of an open file.

        Raises
        ------
        DamagedThriftError
            If its footer is damaged.
        """
        key = (path, file.size())
        page_index = self._indexes.get(key)
        if page_index is None:
            page_index = PageIndex(read_footer(file, key[1]))
            self._indexes.put(key, page_index, _INDEX_WEIGHT * len(page_index.footer))
        return page_index

    def clear(self) -> None:
        """Forget everything."""
        self._footers.clear()
        self._indexes.clear()


shared_footers = FooterCache(limit_bytes=128 << 20)
"""The cache of this process."""
