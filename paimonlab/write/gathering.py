"""Picking rows of a table whose columns are in many pieces.

Arrow puts the pieces of a column together each time rows are picked of it. Here that is done once,
column by column, so that a table is not in memory twice. A column of large values may be most of
the table: it stays in pieces, and rows are picked of each.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import OFFSET_TYPES, arrow_array
from paimonlab.merge.groups import Positions

_LARGE_VALUE_BYTES = 1024
_LEAST_EQUAL = 1 << 12
"""Values from which on it pays to see whether they have one length."""
_COMPARED = 1 << 16
"""Lengths that are compared at once: the processor's cache holds them."""
_FREED_BYTES = 32 << 20
THREADS = os.cpu_count() or 1
"""How many pick and write at once."""
PIECE_BYTES = 16 << 20
"""Bytes of rows that are picked at once, at least."""
PIECES_BYTES = 64 << 20
"""Bytes that all threads pick at once, about; a larger piece finds more of a column in caches."""
_LEAST_PIECES = 4
"""What is picked at once of few rows is less than all of them."""
_STEP_ROWS = 1 << 17
"""Pieces have multiples of so many rows, the rows of a row group, or fewer."""
_LENGTHS = dict[int, tuple[weakref.ref[pa.Table], Sequence[int | None]]]()
"""What `_equal_lengths` has found, by the ``id`` of tables that are there yet."""


def ready(columns: list[pa.ChunkedArray], schema: pa.Schema) -> pa.Table:
    """Put the pieces of each column together, unless its values are large.

    Parameters
    ----------
    columns
        Emptied meanwhile, so that no column is in memory twice, if nobody else has a reference.
    schema
        Of the columns.
    """
    columns.reverse()
    joined, freed = list[pa.ChunkedArray](), 0
    for _ in range(len(columns)):
        column = columns.pop()
        is_large = column.nbytes // max(len(column), 1) >= _LARGE_VALUE_BYTES
        if not is_large and column.num_chunks > 1:
            whole = _seamless(column)
            if whole is None:
                freed += column.nbytes
                column = pa.table([column], names=["column"]).combine_chunks().column(0)
            else:
                column = pa.chunked_array([whole])
        joined.append(column)
        if freed >= _FREED_BYTES:
            give_back(freed)
            freed = 0
    return pa.table(joined, schema=schema)


def _seamless(column: pa.ChunkedArray) -> pa.Array | None:
    """Put pieces together that were cut of one array, without a copy; None: they were not.

    Batches of a table or a frame are cut so.
    """
    if not (pa.types.is_primitive(column.type) or column.type in OFFSET_TYPES):
        return None
    first, end = column.chunk(0), column.chunk(0).offset
    places = _places(first)
    for piece in column.chunks:
        if piece.offset != end or _places(piece) != places:
            return None
        end += len(piece)
    return pa.Array.from_buffers(column.type, len(column), first.buffers(), offset=first.offset)


def _places(values: pa.Array) -> list[tuple[int, int] | None]:
    return [
        None if buffer is None else (buffer.address, buffer.size) for buffer in values.buffers()
    ]


def with_whole(rows: pa.Table, names: Sequence[str]) -> pa.Table:
    """Put the pieces of some columns together: whoever looks at one several times does it once."""
    for name in names:
        number = rows.schema.get_field_index(name)
        column = rows.column(number)
        if column.num_chunks > 1:
            rows = rows.set_column(number, rows.schema.field(number), column.combine_chunks())
    return rows


def give_back(freed_bytes: int) -> None:
    """Give memory back after so many bytes were freed; Arrow's allocator would wait with it."""
    if freed_bytes >= _FREED_BYTES:
        pa.default_memory_pool().release_unused()


def taken(rows: pa.Table, positions: Positions, *, without: Collection[str] = ()) -> pa.Table:
    """Pick rows.

    Parameters
    ----------
    rows
        n rows.
    positions
        (m,) rows to pick, in any order, each at least 0 and below n: nothing checks that.
    without
        Columns that are not wanted. Who picks piece by piece names them here, for what is found out
        once of a table would be found out anew of each that has fewer columns.

    Returns
    -------
    pyarrow.Table
        m rows in the order of ``positions``.
    """
    indices = arrow_array(positions)
    wanted = [
        (field, column, length)
        for field, column, length in zip(
            rows.schema, rows.columns, _equal_lengths(rows), strict=True
        )
        if field.name not in without
    ]
    columns = [
        _of_pieces(column, positions) if column.num_chunks > 1 else _of_one(column, indices, length)
        for _, column, length in wanted
    ]
    schema = pa.schema([field for field, _, _ in wanted], rows.schema.metadata)
    return pa.table(columns, schema=schema)


def piece_rows(rows: pa.Table) -> int:
    """Choose how many rows a thread picks at once; its share of `PIECES_BYTES`, about."""
    size = max(rows.nbytes, 1)
    piece_bytes = max(min(PIECES_BYTES // THREADS, size // _LEAST_PIECES), PIECE_BYTES)
    count = piece_bytes * rows.num_rows // size
    return max(count - count % _STEP_ROWS if count > _STEP_ROWS else count, 1)


def _equal_lengths(rows: pa.Table) -> Sequence[int | None]:
    """Tell the length that all texts or bytes of a column have; None: there is none.

    Rows of a table are picked piece by piece, and looking at all of it takes as long as picking a
    few: so it is found out once for a table.
    """
    number = id(rows)
    found = _LENGTHS.get(number)
    if found is None or found[0]() is not rows:
        lengths = [*map(_equal_length, rows.columns)]
        found = weakref.ref(rows, lambda _: _LENGTHS.pop(number, None)), lengths
        _LENGTHS[number] = found
    return found[1]


def _equal_length(column: pa.ChunkedArray) -> int | None:
    offset_type = OFFSET_TYPES.get(column.type)
    if offset_type is None or len(column) < _LEAST_EQUAL or column.null_count:
        return None
    if column.num_chunks != 1:
        return None
    ends = _ends(column.chunk(0))
    length = int(ends[1] - ends[0])
    if not 0 < length <= _LARGE_VALUE_BYTES or ends[-1] - ends[0] != length * len(column):
        return None
    for start in range(0, len(column), _COMPARED):
        some = ends[start : start + _COMPARED + 1]
        if (some[1:] - some[:-1] != length).any():
            return None
    return length


def _ends(values: pa.Array) -> npt.NDArray[np.signedinteger[Any]]:
    """Return (n + 1,) where texts or bytes begin, and the last one ends."""
    offsets = np.frombuffer(values.buffers()[1], OFFSET_TYPES[values.type])
    return offsets[values.offset : values.offset + len(values) + 1]


def _of_one(
    column: pa.ChunkedArray, indices: pa.Array, length: int | None
) -> pa.Array | pa.ChunkedArray:
    """Pick values; texts and bytes that all have one length in less than half of the time."""
    # Of more values than there are the ends might be too large for their type.
    if length is None or len(indices) > len(column):
        return pc.take(column, indices, boundscheck=False)
    [values] = column.chunks
    ends = _ends(values)
    start, stop = int(ends[0]), int(ends[-1])
    data = values.buffers()[2].slice(start, stop - start)
    wide = pa.FixedSizeBinaryArray.from_buffers(pa.binary(length), len(values), [None, data])
    picked = pc.take(wide, indices, boundscheck=False)
    new_ends = np.arange(0, len(picked) * length + 1, length, dtype=OFFSET_TYPES[values.type])
    buffers = [None, pa.py_buffer(new_ends), picked.buffers()[1]]
    return pa.Array.from_buffers(column.type, len(picked), buffers)


def _of_pieces(column: pa.ChunkedArray, positions: Positions) -> pa.Array:
    """Pick values of each piece, then bring them into the order wanted."""
    lengths = [len(piece) for piece in column.chunks]
    ends = np.cumsum(lengths)
    piece_of = np.searchsorted(ends, positions, side="right")
    order = np.argsort(piece_of, kind="stable")
    bounds = np.searchsorted(piece_of[order], np.arange(len(lengths) + 1))
    picked = [
        piece.take(arrow_array(positions[order[low:high]] - (end - len(piece))))
        for piece, end, low, high in zip(
            column.chunks, ends.tolist(), bounds[:-1].tolist(), bounds[1:].tolist(), strict=True
        )
        if high > low
    ]
    if not picked:
        return column.chunk(0).slice(0, 0)
    together = pa.concat_arrays(picked)
    picked.clear()  # else the values are in memory three times
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return together.take(arrow_array(place))
