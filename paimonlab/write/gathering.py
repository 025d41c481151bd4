"""Picking rows of a table whose columns are in many pieces.

Arrow puts the pieces of a column together each time rows are picked of it. Here that is done once,
column by column, so that a table is not in memory twice. A column of large values may be most of
the table: it stays in pieces, and rows are picked of each.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Collection, Sequence

import pyarrow as pa

from paimonlab.arrow_values import OFFSET_TYPES
from paimonlab.merge.groups import Positions
from paimonlab.write.picking import LARGE_VALUE_BYTES, Asked, Choice, Pick

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
_PICKS = dict[int, tuple[weakref.ref[pa.Table], list[Pick]]]()
"""What `_picks` has chosen, by the ``id`` of tables that are there yet."""


def ready(
    columns: list[pa.ChunkedArray], schema: pa.Schema, *, only_picked: bool = False
) -> pa.Table:
    """Put the pieces of each column together, unless its values are large.

    Parameters
    ----------
    columns
        Emptied meanwhile, so that no column is in memory twice, if nobody else has a reference.
    schema
        Of the columns.
    only_picked
        Nothing is done with the rows but to pick them with `taken`. Then values of one width stay
        where they are: they are picked of the pieces as of one array.
    """
    columns.reverse()
    joined, freed, choice = list[pa.ChunkedArray](), 0, Choice()
    for _ in range(len(columns)):
        column = columns.pop()
        is_large = column.nbytes // max(len(column), 1) >= LARGE_VALUE_BYTES
        if not is_large and column.num_chunks > 1:
            whole = _seamless(column)
            if whole is not None:
                column = pa.chunked_array([whole])
            elif not only_picked or choice.spread(column) is None:
                freed += column.nbytes
                column = pa.table([column], names=["column"]).combine_chunks().column(0)
        joined.append(column)
        if freed >= _FREED_BYTES:
            give_back(freed)
            freed = 0
    rows = pa.table(joined, schema=schema)
    if only_picked:
        _picks(rows, choice)
    return rows


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
    asked = Asked(positions)
    wanted = [
        (field, pick)
        for field, pick in zip(rows.schema, _picks(rows), strict=True)
        if field.name not in without
    ]
    schema = pa.schema([field for field, _ in wanted], rows.schema.metadata)
    return pa.table([pick.of(asked) for _, pick in wanted], schema=schema)


def piece_rows(rows: pa.Table) -> int:
    """Choose how many rows a thread picks at once; its share of `PIECES_BYTES`, about."""
    size = max(rows.nbytes, 1)
    piece_bytes = max(min(PIECES_BYTES // THREADS, size // _LEAST_PIECES), PIECE_BYTES)
    count = piece_bytes * rows.num_rows // size
    return max(count - count % _STEP_ROWS if count > _STEP_ROWS else count, 1)


def _picks(rows: pa.Table, choice: Choice | None = None) -> list[Pick]:
    """Choose how to pick values of each column.

    Rows of a table are picked part by part, and looking at all of it takes as long as picking a
    few: so it is done once for a table.
    """
    number = id(rows)
    found = _PICKS.get(number)
    if found is None or found[0]() is not rows:
        picks = [*map((choice or Choice()).of, rows.columns)]
        found = weakref.ref(rows, lambda _: _PICKS.pop(number, None)), picks
        _PICKS[number] = found
    return found[1]
