"""Footers and page indexes of files that were read lately: data files never change."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

import pyarrow as pa
import pyarrow.parquet as pq

from paimonlab.formats.parquet.pages import PageIndex, read_footer
from paimonlab.storage.recent import Recent

_FOOTER_WEIGHT = 12
"""Bytes of memory for a byte of a footer that pyarrow decoded, roughly."""
_INDEX_WEIGHT = 60
"""The same for a footer and page indexes as Python values."""


class Footer:
    """The footer of a file, and what is found out once of its columns."""

    def __init__(self, metadata: pq.FileMetaData) -> None:
        self.metadata = metadata

    @cached_property
    def arrow_schema(self) -> pa.Schema:
        """The columns as pyarrow sees them, names and types as the file has them."""
        return self.metadata.schema.to_arrow_schema()

    @cached_property
    def column_names(self) -> frozenset[str]:
        """Names of the columns."""
        return frozenset(self.arrow_schema.names)

    @cached_property
    def leaf_columns(self) -> tuple[str, ...]:
        """Of each leaf the name of its column, or the part of it that is before a point."""
        schema = self.metadata.schema
        paths = (schema.column(number).path for number in range(self.metadata.num_columns))
        return tuple(path.split(".")[0] for path in paths)

    def leaf_count(self, names: Collection[str]) -> int:
        """Count the leaves of columns: each is a stream of its own."""
        return sum(name in names for name in self.leaf_columns)

    @cached_property
    def int96_columns(self) -> frozenset[str]:
        """Columns with timestamps of 96 bits, by the names in ``leaf_columns``."""
        schema = self.metadata.schema
        return frozenset(
            name
            for number, name in enumerate(self.leaf_columns)
            if schema.column(number).physical_type == "INT96"
        )


class FooterCache:
    """Keeps footers by path and size of the file. Thread-safe."""

    def __init__(self, limit_bytes: int) -> None:
        self._footers: Recent[tuple[str, int], Footer] = Recent(limit_bytes // 2)
        self._indexes: Recent[tuple[str, int], PageIndex] = Recent(limit_bytes // 2)

    def footer(self, path: str, file: pa.NativeFile) -> Footer:
        """Return the footer of an open file; of threads that have it open one reads it."""

        def read() -> tuple[Footer, int]:
            footer = Footer(pq.read_metadata(file))
            return footer, _FOOTER_WEIGHT * footer.metadata.serialized_size

        return self._footers.made_once((path, file.size()), read)

    def index(self, path: str, file: pa.NativeFile) -> PageIndex:
        """Return the page indexes of an open file.

        Raises
        ------
        DamagedThriftError
            If its footer is damaged.
        """
        size_bytes = file.size()

        def read() -> tuple[PageIndex, int]:
            page_index = PageIndex(read_footer(file, size_bytes))
            return page_index, _INDEX_WEIGHT * len(page_index.footer)

        return self._indexes.made_once((path, size_bytes), read)

    def clear(self) -> None:
        """Forget everything."""
        self._footers.clear()
        self._indexes.clear()


shared_footers = FooterCache(limit_bytes=128 << 20)
"""The cache of this process."""
