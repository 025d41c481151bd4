"""A Parquet file cut down to some pages of a row group: what is not wanted is never decoded.

pyarrow reads whole row groups. Pages are complete in themselves, so some of them and a footer
of their own are a small Parquet file, which pyarrow reads like any other.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from msgspec import Struct

from paimonlab.formats.parquet.pages import PageIndex, PagePlaces
from paimonlab.formats.parquet.thrift_compact import (
    DamagedThriftError,
    Kind,
    decode,
    encode,
    structure_expected,
)
from paimonlab.storage import RandomFile

RowRanges: TypeAlias = npt.NDArray[np.int64]
"""(m, 2): rows of a row group, from the first number up to, not including, the second;
ascending, no range touching the next."""

_MAGIC = b"PAR1"
_CREATED_BY = 6  # of FileMetaData
_SIZE, _HEADER, _HEADER_2 = 3, 5, 8  # of PageHeader


class Pages(Struct, frozen=True):
    """Some pages of a column chunk."""

    leaf: int
    """Position of the column in the file."""
    offsets: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    row_counts: npt.NDArray[np.int64]
    rows: RowRanges
    """Which rows they hold."""

    @property
    def row_count(self) -> int:
        """Rows in them."""
        return count_rows(self.rows)


class Cut(Struct, frozen=True):
    """A small Parquet file of some columns."""

    data: bytes
    rows: RowRanges
    """Which rows of the row group it holds."""


def count_rows(ranges: RowRanges) -> int:
    """Count the rows of ranges."""
    return int((ranges[:, 1] - ranges[:, 0]).sum())


def whole(row_count: int) -> RowRanges:
    """Return the range of all rows."""
    return np.array([[0, row_count]], np.int64)


def ranges_of(
    starts: npt.NDArray[np.int64], row_count: int, wanted: npt.NDArray[np.bool_]
) -> RowRanges:
    """Join blocks of rows that are wanted to ranges.

    Parameters
    ----------
    starts : (p,) int64
        First row of each block, ascending from 0.
    row_count
        Where the last block ends.
    wanted : (p,) bool
        Which blocks.

    Examples
    --------
    >>> blocks = np.array([0, 10, 20, 30])
    >>> ranges_of(blocks, 35, np.array([True, True, False, True])).tolist()
    [[0, 20], [30, 35]]
    """
    ends = np.append(starts[1:], row_count)
    steps = np.diff(wanted.astype(np.int8), prepend=0, append=0)
    return np.stack([starts[np.flatnonzero(steps == 1)], ends[np.flatnonzero(steps == -1) - 1]], 1)


def ranges_of_rows(rows: npt.NDArray[np.int64]) -> RowRanges:
    """Join rows that follow each other to ranges.

    >>> ranges_of_rows(np.array([3, 4, 9])).tolist()
    [[3, 5], [9, 10]]
    """
    if rows[-1] - rows[0] == len(rows) - 1:
        return np.array([[rows[0], rows[-1] + 1]])
    breaks = np.flatnonzero(np.diff(rows) != 1)
    firsts = rows[np.append(0, breaks + 1)]
    lasts = rows[np.append(breaks, len(rows) - 1)]
    return np.stack([firsts, lasts + 1], 1)


def cut_ranges(ranges: RowRanges, most_rows: int) -> Iterator[RowRanges]:
    """Cut ranges into pieces of a number of rows at most.

    >>> [piece.tolist() for piece in cut_ranges(np.array([[0, 3], [5, 9]]), 4)]
    [[[0, 3], [5, 6]], [[6, 9]]]
    """
    lengths = ranges[:, 1] - ranges[:, 0]
    after = np.cumsum(lengths)
    before = after - lengths
    total = count_rows(ranges)
    for start in range(0, total, most_rows):
        end = min(start + most_rows, total)
        touched = (before < end) & (after > start)
        first = ranges[touched, 0] + np.maximum(start - before[touched], 0)
        last = ranges[touched, 1] - np.maximum(after[touched] - end, 0)
        yield np.stack([first, last], 1)


def choose_pages(
    columns: Sequence[tuple[int, PagePlaces]], row_count: int, ranges: RowRanges
) -> list[Pages]:
    """Choose the pages that hold rows.

    Parameters
    ----------
    columns
        Position and all pages of c column chunks.
    row_count
        Rows of the row group.
    ranges
        Rows that are wanted.

    Returns
    -------
    list of c Pages
    """
    known: dict[bytes, tuple[npt.NDArray[np.bool_], RowRanges]] = {}
    pages = []
    for leaf, places in columns:
        first_rows = places.first_rows
        alike = first_rows.tobytes()  # most writers end the pages of all columns at the same rows
        if alike not in known:
            wanted = _pages_wanted(first_rows, ranges)
            known[alike] = wanted, ranges_of(first_rows, row_count, wanted)
        wanted, rows = known[alike]
        counts = np.diff(first_rows, append=row_count)[wanted]
        pages.append(Pages(leaf, places.offsets[wanted], places.sizes[wanted], counts, rows))
    return pages


def _pages_wanted(first_rows: npt.NDArray[np.int64], ranges: RowRanges) -> npt.NDArray[np.bool_]:
    first = np.searchsorted(first_rows, ranges[:, 0], side="right") - 1
    last = np.searchsorted(first_rows, ranges[:, 1], side="left")
    steps = np.zeros(len(first_rows) + 1, np.int64)
    np.add.at(steps, first, 1)
    np.add.at(steps, last, -1)
    is_wanted: npt.NDArray[np.bool_] = np.cumsum(steps[:-1]) > 0
    return is_wanted


def cuts(
    index: PageIndex, file: pa.NativeFile, group: int, columns: Sequence[Pages]
) -> Iterator[tuple[Cut, list[int]]]:
    """Make a file of the columns of which the same rows are chosen, another of the next ones.

    Parameters
    ----------
    index
        Page indexes of the file.
    file
        The file.
    group
        The row group.
    columns
        Pages of c columns that are not nested.

    Yields
    ------
    Cut, list of int
        A file, and which of the columns it holds.
    """
    if isinstance(file, RandomFile):
        with structure_expected():
            spans = (_spans(index, file, group, pages) for pages in columns)
            file.will_read(list(chain.from_iterable(spans)))
    alike: dict[bytes, list[int]] = {}
    for position, pages in enumerate(columns):
        alike.setdefault(pages.rows.tobytes(), []).append(position)
    for positions in alike.values():
        chosen = [columns[position] for position in positions]
        with structure_expected():
            data = _cut(index, file, group, chosen)
        yield Cut(data, chosen[0].rows), positions


def _cut(index: PageIndex, file: pa.NativeFile, group: int, columns: Sequence[Pages]) -> bytes:
    parts = [_MAGIC]
    at = len(_MAGIC)
    chunks, elements = [], []
    for pages in columns:
        chunk = index.chunk(group, pages.leaf)
        dictionary = _dictionary(index, file, group, pages.leaf)
        body = [dictionary, *_read(file, pages)]
        size = sum(map(len, body))
        chunks.append(_chunk(chunk, at, len(dictionary), size, pages.row_count))
        elements.append(index.schema_element(chunk[3][0].decode()))
        parts += body
        at += size
    footer = _footer(index, elements, chunks, at, columns[0].row_count)
    return b"".join([*parts, footer, struct.pack("<I", len(footer)), _MAGIC])


def _spans(
    index: PageIndex, file: pa.NativeFile, group: int, pages: Pages
) -> Iterator[tuple[int, int]]:
    """Say where in the file that begins and ends which is read of a column."""
    yield _dictionary_span(index, file, group, pages.leaf)
    ends = pages.offsets + pages.sizes
    for first, last in _runs(pages):
        yield int(pages.offsets[first]), int(ends[last - 1])


def _dictionary_span(
    index: PageIndex, file: pa.NativeFile, group: int, leaf: int
) -> tuple[int, int]:
    """Say where that is which a column chunk has before its first data page."""
    places = index.places(group, leaf, file)
    assert places is not None, "pages were chosen"
    return index.chunk_start(group, leaf), int(places.offsets[0])


def _dictionary(index: PageIndex, file: pa.NativeFile, group: int, leaf: int) -> bytes:
    """Read what a column chunk has before its first data page."""
    start, end = _dictionary_span(index, file, group, leaf)
    return file.read_at(end - start, start) if start < end else b""


def _runs(pages: Pages) -> Iterator[tuple[int, int]]:
    """Find the pages that follow each other in the file: the first, and the one after the last."""
    ends = pages.offsets + pages.sizes
    is_new = np.flatnonzero(pages.offsets[1:] != ends[:-1]) + 1
    return pairwise([0, *is_new.tolist(), len(ends)])


def _read(file: pa.NativeFile, pages: Pages) -> list[bytes]:
    """Read pages, those that follow each other in one go."""
    ends = pages.offsets + pages.sizes
    chunks = []
    for first, last in _runs(pages):
        start = int(pages.offsets[first])
        data = file.read_at(int(ends[last - 1]) - start, start)
        for page in range(first, last):
            _check(data, int(pages.offsets[page]) - start, pages, page)
        chunks.append(data)
    return chunks


def _check(data: bytes, at: int, pages: Pages, page: int) -> None:
    """Refuse a page that is not what the index says: neither has a checksum."""
    header = decode(data, at)
    inner = header.get(_HEADER) or header.get(_HEADER_2) or {}
    size = header.end - at + header.get(_SIZE, -1)
    if inner.get(1) != pages.row_counts[page] or size != pages.sizes[page]:
        raise DamagedThriftError("a page is not as the page index says")


def _chunk(
    chunk: dict[int, object], at: int, dictionary_size: int, size: int, row_count: int
) -> bytes:
    """Describe a column chunk (``ColumnChunk``)."""
    meta = [
        (1, Kind.I32, chunk[1]),
        (2, Kind.LIST, (Kind.I32, chunk[2])),
        (3, Kind.LIST, (Kind.BINARY, chunk[3])),
        (4, Kind.I32, chunk[4]),
        (5, Kind.I64, row_count),
        (6, Kind.I64, chunk[6]),
        (7, Kind.I64, size),
        (9, Kind.I64, at + dictionary_size),
    ]
    if dictionary_size:
        meta.append((11, Kind.I64, at))
    return encode([(2, Kind.I64, 0), (3, Kind.STRUCT, encode(meta))])


def _footer(
    index: PageIndex,
    elements: Sequence[bytes],
    chunks: Sequence[bytes],
    total_bytes: int,
    row_count: int,
) -> bytes:
    """Describe the file (``FileMetaData``)."""
    root = encode([(4, Kind.BINARY, b"schema"), (5, Kind.I32, len(elements))])
    group = encode(
        [
            (1, Kind.LIST, (Kind.STRUCT, chunks)),
            (2, Kind.I64, total_bytes),
            (3, Kind.I64, row_count),
        ]
    )
    fields = [
        (1, Kind.I32, index.meta[1]),
        (2, Kind.LIST, (Kind.STRUCT, [root, *elements])),
        (3, Kind.I64, row_count),
        (4, Kind.LIST, (Kind.STRUCT, [group])),
    ]
    if _CREATED_BY in index.meta:  # readers know the mistakes of some writers by it
        fields.append((_CREATED_BY, Kind.BINARY, index.meta[_CREATED_BY]))
    return encode(fields)


def select(table: pa.Table, have: RowRanges, wanted: RowRanges) -> pa.Table:
    """Return the rows ``wanted`` of a table that holds the rows ``have``, without a copy.

    Every range of ``wanted`` lies within one of ``have``.
    """
    if np.array_equal(have, wanted):
        return table
    lengths = have[:, 1] - have[:, 0]
    before = np.cumsum(lengths) - lengths
    within = np.searchsorted(have[:, 0], wanted[:, 0], side="right") - 1
    starts = before[within] + wanted[:, 0] - have[within, 0]
    sizes = wanted[:, 1] - wanted[:, 0]
    pieces = [
        table.slice(start, size)
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True)
    ]
    return pa.concat_tables(pieces) if pieces else table.slice(0, 0)
