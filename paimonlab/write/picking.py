"""How values are picked of a column: of one array, or of pieces that lie anywhere in memory."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import OFFSET_TYPES, arrow_array
from paimonlab.merge.groups import Positions

LARGE_VALUE_BYTES = 1024
_MOST_PIECES = 1 << 16
_LEAST_EQUAL = 1 << 12
"""Values from which on it pays to see whether they have one length."""
_COMPARED = 1 << 16
"""Lengths that are compared at once: the processor's cache holds them."""
_PIECE_ROWS = 1 << 10
"""Rows that pieces have on average, or joining them takes less time than looking at each."""
_WORD_BYTES = 8
"""What numbers are aligned to, at most."""
PieceNumbers = npt.NDArray[np.unsignedinteger[Any]]
"""The piece of a column that each row is in; of one byte each where that is enough."""


class Asked:
    """Rows that are wanted, in the forms that columns ask for; each form is made once."""

    def __init__(self, positions: Positions) -> None:
        self.positions = positions
        self.indices = arrow_array(positions)
        self._pieces = list[tuple[PieceNumbers, PieceNumbers]]()

    def pieces(self, piece_of: PieceNumbers) -> PieceNumbers:
        """Return (m,) the piece that each row wanted is in, by that of each row there is."""
        for known, pieces in self._pieces:
            if known is piece_of:
                return pieces
        self._pieces.append((piece_of, np.take(piece_of, self.positions)))
        return self._pieces[-1][1]


class Pick(Protocol):
    """Picks values of one column."""

    def of(self, asked: Asked) -> pa.Array | pa.ChunkedArray:
        """Return the values of the rows, in their order."""
        ...


@dataclass(frozen=True, slots=True)
class Whole:
    """Values of one array."""

    column: pa.ChunkedArray

    def of(self, asked: Asked) -> pa.Array | pa.ChunkedArray:
        """Return the values of the rows, in their order."""
        return pc.take(self.column, asked.indices, boundscheck=False)


@dataclass(frozen=True, slots=True)
class EqualTexts:
    """Texts or bytes of one length in one array: picked in less than half of the time."""

    column: pa.ChunkedArray
    length: int

    def of(self, asked: Asked) -> pa.Array | pa.ChunkedArray:
        """Return the values of the rows, in their order."""
        # Of more values than there are the ends might be too large for their type.
        if len(asked.indices) > len(self.column):
            return pc.take(self.column, asked.indices, boundscheck=False)
        [values] = self.column.chunks
        ends = _ends(values)
        start, stop = int(ends[0]), int(ends[-1])
        data = values.buffers()[2].slice(start, stop - start)
        wide = pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(self.length), len(values), [None, data]
        )
        picked = pc.take(wide, asked.indices, boundscheck=False)
        return _texts(picked, self.length, self.column.type)


@dataclass(frozen=True, slots=True)
class Spread:
    """Values of one width in pieces, seen as one array from the first piece to the last.

    What lies in memory between the pieces belongs to others and is never asked for. So pieces need
    not be joined, which takes as much memory again, new to the process.
    """

    column: pa.ChunkedArray
    """Keeps the pieces."""
    view: pa.Array
    piece_of: PieceNumbers
    """(n,) the piece that each row is in."""
    shifts: Positions
    """(p,) what to add to the number of a row to have that of its value in ``view``."""
    valid: pa.Array | None
    """(n,) whether there is a value; None: there always is."""
    length: int | None
    """Bytes of each, of texts and bytes; None: the values are numbers."""

    @classmethod
    def of_column(
        cls, column: pa.ChunkedArray, known: dict[Sequence[int], PieceNumbers]
    ) -> Self | None:
        """See a column so; None: its values have no width, or no places that fit in with it.

        Parameters
        ----------
        column
            n values in pieces.
        known
            The piece of each row by the lengths of the pieces, as found for other columns.
        """
        pieces = [piece for piece in column.chunks if len(piece)]
        if not 1 < len(pieces) <= min(len(column) // _PIECE_ROWS, _MOST_PIECES):
            return None
        width, starts, length = _width(column.type), [], None
        if column.type in OFFSET_TYPES:
            width = length = equal_length(column)
            if length is not None:
                starts = [piece.buffers()[2].address + int(_ends(piece)[0]) for piece in pieces]
        elif width is not None:
            starts = [piece.buffers()[1].address + piece.offset * width for piece in pieces]
        if width is None:
            return None
        first = min(starts)
        apart = np.array(starts, np.int64) - first
        if (apart % width).any() or (length is None and first % min(width, _WORD_BYTES)):
            return None
        lengths = tuple(map(len, pieces))
        if lengths not in known:
            kind = np.uint8 if len(pieces) <= 1 << 8 else np.uint16
            known[lengths] = np.repeat(np.arange(len(pieces)).astype(kind), lengths)
        before = np.array([0, *itertools.accumulate(lengths[:-1])], np.int64)
        places = apart // width
        count = int((places + np.array(lengths)).max())
        seen = pa.foreign_buffer(first, count * width, column)
        seen_type = column.type if length is None else pa.binary(length)
        return cls(
            column=column,
            view=pa.Array.from_buffers(seen_type, count, [None, seen], null_count=0),
            piece_of=known[lengths],
            shifts=places - before,
            valid=pc.is_valid(column).combine_chunks() if column.null_count else None,
            length=length,
        )

    def of(self, asked: Asked) -> pa.Array | pa.ChunkedArray:
        """Return the values of the rows, in their order."""
        if self.length is not None and len(asked.indices) > len(self.column):
            return pc.take(self.column, asked.indices, boundscheck=False)
        numbers = np.take(self.shifts, asked.pieces(self.piece_of))
        numbers += asked.positions
        picked = pc.take(self.view, arrow_array(numbers), boundscheck=False)
        if self.length is not None:
            return _texts(picked, self.length, self.column.type)
        if self.valid is None:
            return picked
        there = pc.take(self.valid, asked.indices, boundscheck=False)
        return pa.Array.from_buffers(
            picked.type, len(picked), [there.buffers()[1], picked.buffers()[1]], offset=0
        )


@dataclass(frozen=True, slots=True)
class Pieces:
    """Values that are large or have no width: picked of each piece, then put in order."""

    column: pa.ChunkedArray

    def of(self, asked: Asked) -> pa.Array | pa.ChunkedArray:
        """Return the values of the rows, in their order."""
        column, positions = self.column, asked.positions
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


class Choice:
    """Chooses how to pick values of the columns of a table."""

    def __init__(self) -> None:
        self._piece_of = dict[Sequence[int], PieceNumbers]()

    def of(self, column: pa.ChunkedArray) -> Pick:
        """Choose for a column."""
        if column.num_chunks > 1:
            return self.spread(column) or Pieces(column)
        length = equal_length(column)
        return Whole(column) if length is None else EqualTexts(column, length)

    def spread(self, column: pa.ChunkedArray) -> Spread | None:
        """See the pieces of a column as one array; None: they cannot be seen so."""
        return Spread.of_column(column, self._piece_of)


def equal_length(column: pa.ChunkedArray) -> int | None:
    """Tell the length that all texts or bytes of a column have; None: there is none."""
    if column.type not in OFFSET_TYPES or len(column) < _LEAST_EQUAL or column.null_count:
        return None
    length = None
    for piece in column.chunks:
        if not len(piece):
            continue
        ends = _ends(piece)
        if length is None:
            length = int(ends[1] - ends[0])
        if not 0 < length <= LARGE_VALUE_BYTES or ends[-1] - ends[0] != length * len(piece):
            return None
        for start in range(0, len(piece), _COMPARED):
            some = ends[start : start + _COMPARED + 1]
            if (some[1:] - some[:-1] != length).any():
                return None
    return length


def _width(kind: pa.DataType) -> int | None:
    """Tell the bytes of each value of a type; None: they differ, or are no whole bytes."""
    fixed = pa.types.is_primitive(kind) or pa.types.is_decimal(kind)
    if not fixed and not pa.types.is_fixed_size_binary(kind):
        return None
    return kind.bit_width // 8 if kind.bit_width and kind.bit_width % 8 == 0 else None


def _ends(values: pa.Array) -> npt.NDArray[np.signedinteger[Any]]:
    """Return (n + 1,) where texts or bytes begin, and the last one ends."""
    offsets = np.frombuffer(values.buffers()[1], OFFSET_TYPES[values.type])
    return offsets[values.offset : values.offset + len(values) + 1]


def _texts(picked: pa.Array, length: int, kind: pa.DataType) -> pa.Array:
    """Make texts or bytes of values that have one length."""
    ends = np.arange(0, len(picked) * length + 1, length, dtype=OFFSET_TYPES[kind])
    buffers = [None, pa.py_buffer(ends), picked.buffers()[1]]
    return pa.Array.from_buffers(kind, len(picked), buffers)
