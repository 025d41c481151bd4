"""Row groups that were encoded apart become one Parquet file.

pyarrow encodes one column after the other, on one core. Row groups need nothing of each other, so
each is encoded as a file of its own in memory, some at once; then their bytes follow each other,
and only places are changed: in the footer and in page indexes. The file is the one that pyarrow
would have written by itself, byte by byte.

Source: https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from paimonlab.formats.parquet.file_end import MAGIC, footer_of, with_end
from paimonlab.formats.parquet.thrift_compact import Kind, Struct, decode, encoded
from paimonlab.formats.parquet.thrift_splicing import spliced

_ROW_COUNT, _GROUPS = 3, 4  # of FileMetaData
_CHUNKS, _FILE_OFFSET, _ORDINAL = 1, 5, 7  # of RowGroup
_META, _OFFSET_INDEX, _OFFSET_INDEX_SIZE, _COLUMN_INDEX = 3, 4, 5, 6  # of ColumnChunk
_PLACES_IN_META = (9, 10, 11, 14)
"""Data pages, index pages, dictionary page, bloom filter."""


@dataclass(frozen=True, slots=True)
class _Group:
    """What is kept of a row group once its pages are in the file."""

    description: bytes
    """``RowGroup``."""
    chunks: list[Struct]
    row_count: int
    shift: int
    """How much later in the file its pages are."""
    column_indexes: bytes
    column_index_start: int
    offset_indexes: bytes
    offset_index_start: int


class JoinedGroups:
    """Writes a Parquet file out of files of one row group each.

    Parameters
    ----------
    file
        Where to write; it stays open.
    """

    def __init__(self, file: pa.NativeFile) -> None:
        self._file = file
        self._footer = b""
        self._groups: list[_Group] = []
        file.write(MAGIC)

    def add(self, part: memoryview) -> None:
        """Append the row group of a file."""
        footer = footer_of(part)
        end = len(part) - len(with_end(footer))
        meta = decode(footer)
        (group,) = meta[_GROUPS]
        chunks = group[_CHUNKS]
        offset_index_start = _first(chunks, _OFFSET_INDEX, end)
        column_index_start = _first(chunks, _COLUMN_INDEX, offset_index_start)
        self._groups.append(
            _Group(
                description=footer[group.start : group.end],
                chunks=chunks,
                row_count=meta[_ROW_COUNT],
                shift=self._file.tell() - len(MAGIC),
                column_indexes=bytes(part[column_index_start:offset_index_start]),
                column_index_start=column_index_start,
                offset_indexes=bytes(part[offset_index_start:end]),
                offset_index_start=offset_index_start,
            )
        )
        self._footer = self._footer or footer
        self._file.write(part[len(MAGIC) : column_index_start])

    def close(self, meant: Callable[[bytes], bytes] | None = None) -> None:
        """Write what follows the pages.

        Parameters
        ----------
        meant
            Says what the columns mean in the footer; None: what they are.
        """
        column_index_starts = []
        for group in self._groups:
            column_index_starts.append(self._file.tell())
            self._file.write(group.column_indexes)
        descriptions = []
        for ordinal, group in enumerate(self._groups):
            indexes = list(_offset_indexes(group))
            places = []
            for index in indexes:
                places.append((self._file.tell(), len(index)))
                self._file.write(index)
            shift = column_index_starts[ordinal] - group.column_index_start
            descriptions.append(_described(group, ordinal, shift, places))
        count = sum(group.row_count for group in self._groups)
        groups = encoded(Kind.LIST, (Kind.STRUCT, descriptions))
        footer = spliced(self._footer, {_ROW_COUNT: lambda _: count, _GROUPS: groups})
        if meant is not None:
            footer = meant(footer)
        self._file.write(with_end(footer))


def _first(chunks: Sequence[Struct], index: int, otherwise: int) -> int:
    """Find where the first index of column chunks begins."""
    return min((chunk[index] for chunk in chunks if index in chunk), default=otherwise)


def _offset_indexes(group: _Group) -> Iterator[bytes]:
    """Tell the place of each page in the whole file (``OffsetIndex``)."""
    locations = {1: {1: lambda place: place + group.shift}}
    for chunk in group.chunks:
        if _OFFSET_INDEX in chunk:
            start = chunk[_OFFSET_INDEX] - group.offset_index_start
            yield spliced(group.offset_indexes, locations, start)


def _described(
    group: _Group, ordinal: int, column_index_shift: int, places: list[tuple[int, int]]
) -> bytes:
    """Describe a row group of the whole file (``RowGroup``)."""

    def moved(place: int) -> int:
        return place + group.shift if place else 0

    starts, sizes = (iter([place[side] for place in places]) for side in (0, 1))
    return spliced(
        group.description,
        {
            _CHUNKS: {
                2: moved,
                _META: dict.fromkeys(_PLACES_IN_META, moved),
                _OFFSET_INDEX: lambda _: next(starts),
                _OFFSET_INDEX_SIZE: lambda _: next(sizes),
                _COLUMN_INDEX: lambda place: place + column_index_shift,
            },
            _FILE_OFFSET: moved,
            _ORDINAL: lambda _: ordinal,
        },
    )
