"""How BinaryRow, BinaryArray and BinaryMap arrange their parts.

A row is null bits, one 8-byte slot a field, then the variable parts in field order; an
array is its size, null bits, elements of their own width, then the variable parts. Both
are built here for n of them at once from columns of `Slots`.

Source: apache/paimon@1.3.1 ``org.apache.paimon.data.BinaryRow``, ``BinaryArray``,
``BinaryMap``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from paimonlab.spec.binary_row.pieces import SPARE, Pieces, copy_padded, offsets_of, put_words

ROW_KIND_BITS = 8
"""Bits in front of the null bits of a row: they hold the row kind."""


class Tail(Struct, frozen=True):
    """The variable parts of n values."""

    pieces: Pieces
    reserved: npt.NDArray[np.int64]
    """(n,) bytes to reserve, multiples of 8; 0: the slot says it all."""


class Slots(Struct, frozen=True):
    """n values of one column, as the 8-byte slots of a row hold them."""

    values: npt.NDArray[np.uint64]
    """(n,); where the tail reserves bytes, the high half is 0 and receives their offset."""
    is_null: npt.NDArray[np.bool_] | None
    """(n,); None: no nulls."""
    tail: Tail | None = None

    def slice(self, start: int, count: int) -> Slots:
        """Return the slots of some values."""
        some = slice(start, start + count)
        tail = self.tail
        if tail is not None:
            pieces = Pieces(tail.pieces.data, tail.pieces.starts[some], tail.pieces.lengths[some])
            tail = Tail(pieces, tail.reserved[some])
        is_null = None if self.is_null is None else self.is_null[some]
        return Slots(self.values[some], is_null, tail)


def header_bytes(field_count: int) -> int:
    """Bytes of row kind and null bits in front of the slots.

    >>> [header_bytes(n) for n in (0, 56, 57, 120, 121)]
    [8, 8, 16, 16, 24]
    """
    return (field_count + 63 + ROW_KIND_BITS) // 64 * 8


def rows(slots: Sequence[Slots], row_count: int, *, prefix: bytes = b"") -> Pieces:
    """Lay out n rows one after the other.

    Parameters
    ----------
    slots
        One per field, each of ``row_count`` values.
    prefix
        Bytes put in front of every row; offsets count from the end of it.

    Returns
    -------
    Pieces
        n adjacent rows, prefix included.
    """
    if any(column.tail is not None for column in slots):
        return _rows_with_tails(slots, row_count, prefix)
    fixed = _fixed_part(slots, [column.values for column in slots], row_count)
    stride = len(prefix) + fixed.shape[1] * 8
    data = np.zeros(row_count * stride + SPARE, np.uint8)
    matrix = data[: row_count * stride].reshape(row_count, stride)
    matrix[:, : len(prefix)] = np.frombuffer(prefix, np.uint8)
    matrix[:, len(prefix) :] = fixed.view(np.uint8)
    return Pieces(data, np.arange(row_count) * stride, np.full(row_count, stride))


def _rows_with_tails(slots: Sequence[Slots], row_count: int, prefix: bytes) -> Pieces:
    fixed_bytes = header_bytes(len(slots)) + 8 * len(slots)
    cursor = np.full(row_count, fixed_bytes, np.int64)
    values, tails = [], []
    for column in slots:
        values.append(_with_offsets(column, cursor))
        if column.tail is not None:
            tails.append((cursor, column.tail))
            cursor = cursor + column.tail.reserved
    fixed = _fixed_part(slots, values, row_count)
    lengths = cursor + len(prefix)
    offsets = offsets_of(lengths)
    data = np.zeros(offsets[-1] + SPARE, np.uint8)
    starts = offsets[:-1]
    for position, byte in enumerate(prefix):
        data[starts + position] = byte
    body = starts + len(prefix)
    if row_count < fixed.shape[1]:
        for start, words in zip(body.tolist(), fixed, strict=True):
            data[start : start + 8 * len(words)] = words.view(np.uint8)
    else:
        for k in range(fixed.shape[1]):
            put_words(data, body + 8 * k, fixed[:, k])
    for first, tail in tails:
        copy_padded(data, body + first, tail.pieces)
    return Pieces(data, starts, lengths)


def _with_offsets(column: Slots, cursor: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """Fill in where the variable part of each value starts."""
    if column.tail is None:
        return column.values
    offset = cursor.astype(np.uint64) << np.uint64(32)
    return column.values | np.where(column.tail.reserved > 0, offset, np.uint64(0))


def _fixed_part(
    slots: Sequence[Slots], values: Sequence[npt.NDArray[np.uint64]], row_count: int
) -> npt.NDArray[np.uint64]:
    """Return the (n, words) null bits and slots of rows."""
    header_words = header_bytes(len(slots)) // 8
    fixed = np.zeros((row_count, header_words + len(slots)), np.uint64)
    for field, column in enumerate(slots):
        fixed[:, header_words + field] = values[field]
        if column.is_null is not None:
            word, bit = divmod(field + ROW_KIND_BITS, 64)
            fixed[:, word] |= column.is_null.astype(np.uint64) << np.uint64(bit)
    return fixed


def arrays(elements: Slots, width: int, counts: npt.NDArray[np.int64]) -> Pieces:
    """Lay out n arrays one after the other.

    Parameters
    ----------
    elements
        The elements of all arrays, one array after the other.
    width
        Bytes of an element in an array: 1, 2, 4 or 8.
    counts : (n,) int64
        Elements of each array.
    """
    first = offsets_of(counts)
    reserved = elements.tail.reserved if elements.tail else np.zeros(int(first[-1]), np.int64)
    tail_offsets = offsets_of(reserved)
    null_bytes = (counts + 31) // 32 * 4
    fixed_bytes = (4 + null_bytes + width * counts + 7) // 8 * 8
    lengths = fixed_bytes + tail_offsets[first[1:]] - tail_offsets[first[:-1]]
    offsets = offsets_of(lengths)
    data = np.zeros(offsets[-1] + SPARE, np.uint8)
    starts = offsets[:-1]

    array = np.repeat(np.arange(len(counts)), counts)
    index = np.arange(int(first[-1])) - first[array]
    cursor = fixed_bytes[array] + tail_offsets[:-1] - tail_offsets[first[array]]
    positions = (starts + 4 + null_bytes)[array] + width * index
    put_words(data, starts, counts.astype(np.uint64), 4)
    put_words(data, positions, _with_offsets(elements, cursor), width)
    if elements.is_null is not None:
        _set_null_bits(data, starts[array] + 4, index, elements.is_null)
    if elements.tail is not None:
        copy_padded(data, starts[array] + cursor, elements.tail.pieces)
    return Pieces(data, starts, lengths)


def _set_null_bits(
    data: npt.NDArray[np.uint8],
    first_byte: npt.NDArray[np.int64],
    index: npt.NDArray[np.int64],
    is_null: npt.NDArray[np.bool_],
) -> None:
    bits = np.left_shift(1, index[is_null] & 7).astype(np.uint8)
    np.bitwise_or.at(data, first_byte[is_null] + (index[is_null] >> 3), bits)


def maps(keys: Pieces, values: Pieces) -> Pieces:
    """Join each key array and its value array into a map: size of the keys, keys, values."""
    lengths = 4 + keys.lengths + values.lengths
    # Rounded up, for pieces are written in steps of eight bytes.
    offsets = offsets_of((lengths + 7) // 8 * 8)
    data = np.zeros(offsets[-1] + SPARE, np.uint8)
    starts = offsets[:-1]
    put_words(data, starts, keys.lengths.astype(np.uint64), 4)
    copy_padded(data, starts + 4, keys)
    copy_padded(data, starts + 4 + keys.lengths, values)
    return Pieces(data, starts, lengths)
