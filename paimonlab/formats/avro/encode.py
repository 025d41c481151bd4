"""Arrow columns -> Avro records, column by column.

What a row takes of a column is a run of bytes, so a column is all its bytes and how many of
them each row has; a record is such runs one after the other.

Source: https://avro.apache.org/docs/1.12.0/specification/#binary-encoding
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import numpy_values
from paimonlab.formats.avro.schema import COUNT, has_text_keys
from paimonlab.spec.types.data_types import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    with_nullable,
)

Bytes: TypeAlias = npt.NDArray[np.uint8]
Counts: TypeAlias = npt.NDArray[np.int64]

_MOST_STEPS = 10
"""Runs of up to as many bytes are copied byte by byte of all rows."""
_LONG_BYTES = 128
"""Runs that are longer on average are copied one by one; others take numbers for each byte."""
_DECIMAL_BYTES = 16


class Encoded(NamedTuple):
    """A column, or several one after the other."""

    data: Bytes
    lengths: Counts
    """(rows,) how many bytes of ``data`` each row has."""


def encode_rows(rows: pa.RecordBatch, fields: Sequence[DataField]) -> Encoded:
    """Encode rows as records with these fields.

    Raises
    ------
    ValueError
        If a field that is not nullable has a null.
    """
    return _joined([_column(rows.column(field.name), field.type) for field in fields])


def _column(array: pa.Array, data_type: DataType) -> Encoded:
    if not data_type.nullable:
        if array.null_count:
            raise ValueError(f"{array.null_count} nulls in a column that is NOT NULL")
        return _value(array, data_type)
    size = len(array)
    if not array.null_count:
        return _joined([_constant(2, size), _value(array, data_type)])
    is_valid = numpy_values(array.is_valid())
    branches = Encoded(np.where(is_valid, 2, 0).astype(np.uint8), np.ones(size, np.int64))
    values = _value(array.drop_null(), data_type)
    lengths = np.zeros(size, np.int64)
    lengths[is_valid] = values.lengths
    return _joined([branches, Encoded(values.data, lengths)])


def _value(array: pa.Array, data_type: DataType) -> Encoded:
    """Encode an array without nulls."""
    match data_type:
        case ArrayType(element):
            return _items(array.offsets, [(array.values, element)])
        case MapType(key, value):
            return _pairs(array, key, value)
        case MultisetType(element):
            return _pairs(array, element, COUNT)
        case RowType(fields):
            children = zip(array.flatten(), fields, strict=True)
            return _joined([_column(child, field.type) for child, field in children])
        case AtomicType():
            return _atomic(array, data_type)


def _pairs(array: pa.MapArray, key: DataType, value: DataType) -> Encoded:
    if has_text_keys(key):
        key = with_nullable(key, nullable=False)  # of a map in Avro, not of an array of pairs
    return _items(array.offsets, [(array.keys, key), (array.items, value)])


def _items(offsets: pa.Array, children: Sequence[tuple[pa.Array, DataType]]) -> Encoded:
    """Encode lists: how many there are, what they are, an end; only an end when empty."""
    bounds = offsets.to_numpy().astype(np.int64)
    low, high = int(bounds[0]), int(bounds[-1])
    items = _joined([_column(array.slice(low, high - low), type_) for array, type_ in children])
    counts = np.diff(bounds)
    ends = np.concatenate([[0], np.cumsum(items.lengths)])[bounds - low]
    heads = _varints(counts[counts > 0])
    head_lengths = np.zeros(len(counts), np.int64)
    head_lengths[counts > 0] = heads.lengths
    return _joined(
        [
            Encoded(heads.data, head_lengths),
            Encoded(items.data, np.diff(ends)),
            _constant(0, len(counts)),
        ]
    )


def _atomic(array: pa.Array, data_type: AtomicType) -> Encoded:  # noqa: PLR0911 - one a type
    match data_type.root:
        case TypeRoot.BOOLEAN:
            data = array.to_numpy(zero_copy_only=False).astype(np.uint8)
            return Encoded(data, np.ones(len(array), np.int64))
        case TypeRoot.FLOAT | TypeRoot.DOUBLE:
            numbers = numpy_values(array)
            width = numbers.dtype.itemsize
            return Encoded(numbers.view(np.uint8), np.full(len(array), width, np.int64))
        case TypeRoot.CHAR | TypeRoot.VARCHAR | TypeRoot.BINARY | TypeRoot.VARBINARY:
            return _with_lengths(_binary(array))
        case TypeRoot.DECIMAL:
            return _with_lengths(_decimals(array))
        case TypeRoot.DATE | TypeRoot.TIME:
            return _varints(numpy_values(array.view(pa.int32())).astype(np.int64))
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            return _varints(numpy_values(array.view(pa.int64())))
        case _:
            return _varints(numpy_values(array).astype(np.int64))


def _constant(byte: int, size: int) -> Encoded:
    return Encoded(np.full(size, byte, np.uint8), np.ones(size, np.int64))


def _varints(numbers: Counts) -> Encoded:
    """Encode numbers: zigzag, seven bits a byte, the last byte without its highest bit."""
    values = (numbers.astype(np.uint64) << np.uint64(1)) ^ (numbers >> 63).astype(np.uint64)
    largest = int(values.max()) if len(values) else 0
    width = max(1, -(-largest.bit_length() // 7))
    lengths = np.ones(len(values), np.int64)
    for more in range(1, width):
        lengths += values >= np.uint64(1 << 7 * more)
    digits = np.empty((len(values), width), np.uint8)
    for byte_index in range(width):
        low = (values >> np.uint64(7 * byte_index)).astype(np.uint8) & 0x7F
        digits[:, byte_index] = np.where(lengths > byte_index + 1, low | 0x80, low)
    if width == 1:
        return Encoded(digits.reshape(-1), lengths)
    return Encoded(digits[np.arange(width) < lengths[:, None]], lengths)


def _with_lengths(values: Encoded) -> Encoded:
    return _joined([_varints(values.lengths), values])


def _binary(array: pa.Array) -> Encoded:
    _, offsets, data = array.buffers()
    bounds = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1]
    if data is None or not len(bounds):
        return Encoded(np.zeros(0, np.uint8), np.zeros(len(array), np.int64))
    stored = np.frombuffer(data, np.uint8)[bounds[0] : bounds[-1]]
    return Encoded(stored, np.diff(bounds).astype(np.int64))


def _decimals(array: pa.Array) -> Encoded:
    """Encode as big-endian numbers of as few bytes as hold them and their sign."""
    stored = np.frombuffer(array.buffers()[1], np.uint8).reshape(-1, _DECIMAL_BYTES)
    digits = stored[array.offset : array.offset + len(array), ::-1]
    sign = np.where(digits[:, :1] >= 0x80, 0xFF, 0).astype(np.uint8)
    is_digit = digits != sign
    first = np.where(is_digit.any(axis=1), is_digit.argmax(axis=1), _DECIMAL_BYTES - 1)
    # The byte before is needed where the first one would say another sign.
    says_other = (np.take_along_axis(digits, first[:, None], 1) ^ sign)[:, 0] >= 0x80
    first -= says_other
    lengths = (_DECIMAL_BYTES - first).astype(np.int64)
    return Encoded(digits[np.arange(_DECIMAL_BYTES) >= first[:, None]], lengths)


def _joined(parts: Sequence[Encoded]) -> Encoded:
    """Join the bytes of each row, part by part."""
    if len(parts) == 1:
        return parts[0]
    lengths: Counts = np.zeros(len(parts[0].lengths), np.int64)
    for part in parts:
        lengths = lengths + part.lengths
    ends = np.cumsum(lengths)
    data = np.empty(int(ends[-1]) if len(ends) else 0, np.uint8)
    places = ends - lengths
    for part in parts:
        _copy(part, data, places)
        places = places + part.lengths
    return Encoded(data, lengths)


def _copy(part: Encoded, data: Bytes, places: Counts) -> None:
    """Copy each row's bytes to its place."""
    if not len(part.data):
        return
    starts = np.cumsum(part.lengths) - part.lengths
    longest = int(part.lengths.max())
    if len(part.data) > _LONG_BYTES * len(places):
        source, target = part.data.data, data.data
        bounds = (starts.tolist(), places.tolist(), part.lengths.tolist())
        for start, place, length in zip(*bounds, strict=True):
            target[place : place + length] = source[start : start + length]
        return
    if longest > _MOST_STEPS:
        shifts = np.repeat(places - starts, part.lengths)
        data[shifts + np.arange(len(part.data))] = part.data
        return
    shortest = int(part.lengths.min())
    for step in range(longest):
        if step < shortest:
            data[places + step] = part.data[starts + step]
        else:
            rows = np.flatnonzero(part.lengths > step)
            data[places[rows] + step] = part.data[starts[rows] + step]
