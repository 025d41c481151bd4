"""Hive's hash of a bucket key, for tables whose buckets Hive has to recognise.

Source: apache/paimon@2.0.0 ``org.apache.paimon.bucket.HiveBucketFunction``, ``HiveHasher``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import one_array
from paimonlab.errors import UnsupportedError
from paimonlab.spec.binary_row.buffers import (
    byte_pieces,
    decimal_halves,
    fixed_values,
    null_mask,
)
from paimonlab.spec.binary_row.pieces import Pieces, offsets_of
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import AtomicType, DataType, TypeRoot
from paimonlab.spec.types.text import format_type

_FACTOR = np.uint32(31)
_LOW = np.uint64(0xFFFFFFFF)
_NAN32, _NAN64 = np.uint32(0x7FC00000), np.uint64(0x7FF8 << 48)
_WORDS = 4
"""32-bit words of a decimal's magnitude."""

Hashes = npt.NDArray[np.uint32]


def hive_hashes(
    columns: Sequence[pa.Array | pa.ChunkedArray], types: Sequence[DataType]
) -> npt.NDArray[np.int32]:
    """Hash n rows.

    Parameters
    ----------
    columns
        One per field, each of n values, of the Arrow type of the field; at least one.
    types
        Types of the fields.

    Returns
    -------
    (n,) int32

    Raises
    ------
    UnsupportedError
        If Hive's function does not take a type: timestamps and nested ones.

    Examples
    --------
    >>> hive_hashes([pa.array(["hello"])], [AtomicType(TypeRoot.VARCHAR)])
    array([99162322], dtype=int32)
    """
    state = np.zeros(len(columns[0]), np.uint32)
    for column, data_type in zip(columns, types, strict=True):
        state = state * _FACTOR + _hashes(column, data_type)
    return state.view(np.int32)


def is_hashable(data_type: DataType) -> bool:
    """Say whether a bucket key may have a column of this type."""
    return isinstance(data_type, AtomicType) and data_type.root in _HASHES


def _hashes(column: pa.Array | pa.ChunkedArray, data_type: DataType) -> Hashes:
    if not isinstance(data_type, AtomicType) or data_type.root not in _HASHES:
        raise UnsupportedError(
            "bucket-function.type = 'hive'", f"a bucket key of type {format_type(data_type)}"
        )
    array = one_array(column).cast(to_arrow(data_type))
    hashes = _HASHES[data_type.root](array)
    is_null = null_mask(array)
    return hashes if is_null is None else np.where(is_null, np.uint32(0), hashes)


def _booleans(array: pa.Array) -> Hashes:
    return _ints(array.cast(pa.int32()))


def _ints(array: pa.Array) -> Hashes:
    width = array.type.bit_width // 8
    return fixed_values(array, f"<i{width}").astype(np.int32).view(np.uint32)


def _longs(array: pa.Array) -> Hashes:
    return _folded(fixed_values(array, "<u8").astype(np.uint64))


def _folded(values: npt.NDArray[np.uint64]) -> Hashes:
    return ((values ^ values >> np.uint64(32)) & _LOW).astype(np.uint32)


def _floats(array: pa.Array) -> Hashes:
    values = fixed_values(array, "<f4").astype(np.float32)
    bits = np.where(np.isnan(values), _NAN32, values.view(np.uint32))
    return np.where(values == 0, np.uint32(0), bits)


def _doubles(array: pa.Array) -> Hashes:
    values = fixed_values(array, "<f8").astype(np.float64)
    bits = np.where(np.isnan(values), _NAN64, values.view(np.uint64))
    return _folded(np.where(values == 0, np.uint64(0), bits))


def _bytes(array: pa.Array) -> Hashes:
    """Sum up the signed bytes of each value, the last one times 1, the one before times 31 ..."""
    pieces = byte_pieces(array)
    powers = _powers_of_31(int(pieces.lengths.max(initial=0)))
    ends = offsets_of(pieces.lengths)
    values = _values(pieces, ends)
    exponents = np.repeat(ends[1:], pieces.lengths) - 1 - np.arange(ends[-1])
    # Of no bytes the sum is 0: reduceat would take the byte that stands there.
    terms = np.append(values * powers[exponents], np.uint32(0))
    sums = np.add.reduceat(terms, ends[:-1], dtype=np.uint32)
    return np.where(pieces.lengths == 0, np.uint32(0), sums)


def _values(pieces: Pieces, ends: npt.NDArray[np.int64]) -> Hashes:
    shift = np.repeat(pieces.starts - ends[:-1], pieces.lengths)
    bytes_ = pieces.data[np.arange(ends[-1]) + shift]
    return bytes_.view(np.int8).astype(np.int32).view(np.uint32)


def _powers_of_31(count: int) -> Hashes:
    steps = np.full(max(count, 1), _FACTOR)
    steps[0] = 1
    return np.multiply.accumulate(steps, dtype=np.uint32)


def _decimals(array: pa.Array) -> Hashes:
    """Hash numbers as Java's BigDecimal does after zeros at the end were taken off."""
    low, high = decimal_halves(array)
    is_negative = high < 0
    words = _magnitude(low, high.view(np.uint64), is_negative)
    scale = np.full(len(array), array.type.scale, np.int64)
    for _ in range(array.type.scale):
        tenth, rest = _divided_by_ten(words)
        is_whole = (rest == 0) & (scale > 0)
        words[is_whole] = tenth[is_whole]
        scale[is_whole] -= 1
    scale[(words == 0).all(axis=1)] = 0
    hashes = np.zeros(len(array), np.uint32)
    for word_index in range(_WORDS):
        hashes = hashes * _FACTOR + words[:, word_index].astype(np.uint32)
    signed = np.where(is_negative, np.uint32(0) - hashes, hashes)
    return signed * _FACTOR + scale.astype(np.uint32)


def _magnitude(
    low: npt.NDArray[np.uint64], high: npt.NDArray[np.uint64], is_negative: npt.NDArray[np.bool_]
) -> npt.NDArray[np.uint64]:
    """Return (n, 4) 32-bit words of the absolute value, the most significant first."""
    negated_low = np.uint64(0) - low
    negated_high = ~high + (low == 0).astype(np.uint64)
    low = np.where(is_negative, negated_low, low)
    high = np.where(is_negative, negated_high, high)
    shift = np.uint64(32)
    return np.stack([high >> shift, high & _LOW, low >> shift, low & _LOW], axis=1)


def _divided_by_ten(
    words: npt.NDArray[np.uint64],
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    quotient = np.empty_like(words)
    rest = np.zeros(len(words), np.uint64)
    for word_index in range(_WORDS):
        value = rest << np.uint64(32) | words[:, word_index]
        quotient[:, word_index], rest = value // np.uint64(10), value % np.uint64(10)
    return quotient, rest


_HASHES = {
    TypeRoot.BOOLEAN: _booleans,
    TypeRoot.TINYINT: _ints,
    TypeRoot.SMALLINT: _ints,
    TypeRoot.INT: _ints,
    TypeRoot.DATE: _ints,
    TypeRoot.TIME: _ints,
    TypeRoot.BIGINT: _longs,
    TypeRoot.FLOAT: _floats,
    TypeRoot.DOUBLE: _doubles,
    TypeRoot.CHAR: _bytes,
    TypeRoot.VARCHAR: _bytes,
    TypeRoot.BINARY: _bytes,
    TypeRoot.VARBINARY: _bytes,
    TypeRoot.DECIMAL: _decimals,
}
