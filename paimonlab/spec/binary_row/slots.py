"""Arrow columns as the slots and variable parts of BinaryRows.

Source: apache/paimon@1.3.1 ``org.apache.paimon.data.BinaryRowWriter``,
``org.apache.paimon.data.serializer``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from msgspec.structs import replace

from paimonlab.arrow_values import numpy_values, one_array
from paimonlab.errors import UnsupportedError
from paimonlab.spec.binary_row import layout as binary_layout
from paimonlab.spec.binary_row.buffers import (
    byte_pieces,
    decimal_halves,
    fixed_values,
    null_mask,
)
from paimonlab.spec.binary_row.layout import Slots, Tail
from paimonlab.spec.binary_row.pieces import (
    SPARE,
    Pieces,
    low_bytes,
    offsets_of,
    put_words,
    words_at,
)
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import (
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
)

INLINE_BYTES = 7
"""Strings up to this length live in their slot."""
COMPACT_DECIMAL_PRECISION = 18
"""Decimals up to this precision live in their slot."""
COMPACT_TIMESTAMP_PRECISION = 3
"""Timestamps up to this precision live in their slot."""
WIDE_DECIMAL_BYTES = 16

COUNT = AtomicType(TypeRoot.INT, nullable=False)
"""Type of how often an element of a MULTISET occurs."""

_FEW_VALUES = 64
_MANY_COLUMNS = 8
_NUMPY_TYPES = {
    TypeRoot.BOOLEAN: "u1",
    TypeRoot.TINYINT: "u1",
    TypeRoot.SMALLINT: "<u2",
    TypeRoot.INT: "<u4",
    TypeRoot.DATE: "<u4",
    TypeRoot.TIME: "<u4",
    TypeRoot.FLOAT: "<u4",
    TypeRoot.BIGINT: "<u8",
    TypeRoot.DOUBLE: "<u8",
}
_BYTES = (TypeRoot.CHAR, TypeRoot.VARCHAR, TypeRoot.BINARY, TypeRoot.VARBINARY, TypeRoot.BLOB)


def element_width(data_type: DataType) -> int:
    """Bytes an element of this type takes in a BinaryArray."""
    if isinstance(data_type, AtomicType) and data_type.root in _NUMPY_TYPES:
        return np.dtype(_NUMPY_TYPES[data_type.root]).itemsize
    return 8


def slots(column: pa.Array | pa.ChunkedArray, data_type: DataType) -> Slots:
    """Turn n values into slots.

    Parameters
    ----------
    column
        Values of the Arrow type of ``data_type``, or of one that casts to it without loss.
    data_type
        The type of the field; whether it is nullable does not matter.

    Raises
    ------
    pyarrow.ArrowInvalid
        If a value does not fit the type.
    UnsupportedError
        If the type has no place in a BinaryRow here.
    """
    array = _of_type(column, data_type)
    match data_type:
        case AtomicType():
            return _atomic(array, data_type)
        case ArrayType():
            return _pieces_in_tail(_arrays(array, data_type.element), null_mask(array))
        case MapType():
            pieces = _maps(array, data_type.key, data_type.value)
            return _pieces_in_tail(pieces, null_mask(array))
        case MultisetType():
            pieces = _maps(array, data_type.element, COUNT)
            return _pieces_in_tail(pieces, null_mask(array))
        case RowType():
            return _pieces_in_tail(_rows(array, data_type), null_mask(array))


def _of_type(column: pa.Array | pa.ChunkedArray, data_type: DataType) -> pa.Array:
    array = one_array(column)
    arrow_type = to_arrow(data_type)
    return array if array.type == arrow_type else one_array(array.cast(arrow_type))


def slots_of_each(
    columns: Sequence[pa.Array | pa.ChunkedArray], types: Sequence[DataType]
) -> list[Slots]:
    """Turn columns into slots, as `slots` does with each.

    Columns of a type that have few values are looked at together: each look has its price.
    """
    count = len(columns[0]) if columns else 0
    alike: dict[DataType, list[int]] = {}
    if count <= _FEW_VALUES and len(columns) >= _MANY_COLUMNS:
        for number, data_type in enumerate(types):
            if isinstance(data_type, AtomicType) and data_type.root is not TypeRoot.VARIANT:
                alike.setdefault(data_type, []).append(number)
    slots_of = dict[int, Slots]()
    for data_type, numbers in alike.items():
        arrays = [_of_type(columns[number], data_type) for number in numbers]
        together = slots(pa.concat_arrays(arrays), data_type)
        for place, number in enumerate(numbers):
            slots_of[number] = together.slice(place * count, count)
    return [
        slots_of[number] if number in slots_of else slots(column, data_type)
        for number, (column, data_type) in enumerate(zip(columns, types, strict=True))
    ]


def _atomic(array: pa.Array, data_type: AtomicType) -> Slots:
    is_null = null_mask(array)
    if data_type.root is TypeRoot.BOOLEAN:
        array = array.cast(pa.uint8())
    if data_type.root in _NUMPY_TYPES:
        values = fixed_values(array, _NUMPY_TYPES[data_type.root]).astype(np.uint64)
        return Slots(_zero_where(is_null, values), is_null)
    if data_type.root in _BYTES:
        return _strings(array, is_null)
    precision = data_type.precision or 0
    if data_type.root is TypeRoot.DECIMAL:
        if precision <= COMPACT_DECIMAL_PRECISION:
            low, _ = decimal_halves(array)
            return Slots(_zero_where(is_null, low), is_null)
        return _wide_decimals(array, is_null)
    if data_type.root in (TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ):
        return _timestamps(array, is_null, precision)
    if data_type.root is TypeRoot.VARIANT:
        return _pieces_in_tail(_variants(array), is_null)
    raise UnsupportedError(f"type {data_type.root.value} in a BinaryRow")


def _zero_where(
    is_null: npt.NDArray[np.bool_] | None, values: npt.NDArray[np.uint64]
) -> npt.NDArray[np.uint64]:
    return values if is_null is None else np.where(is_null, np.uint64(0), values)


def _strings(array: pa.Array, is_null: npt.NDArray[np.bool_] | None) -> Slots:
    pieces = byte_pieces(array)
    is_inline = pieces.lengths <= INLINE_BYTES
    lengths = pieces.lengths.astype(np.uint64)
    if not is_inline.any():
        return Slots(lengths, is_null, Tail(pieces, _padded(pieces.lengths)))
    text = low_bytes(words_at(pieces.data, pieces.starts), pieces.lengths)
    inline = text | (lengths | np.uint64(0x80)) << np.uint64(56)
    values = _zero_where(is_null, np.where(is_inline, inline, lengths))
    if is_inline.all():
        return Slots(values, is_null)
    outside = replace(pieces, lengths=np.where(is_inline, 0, pieces.lengths))
    return Slots(values, is_null, Tail(outside, _padded(outside.lengths)))


def _padded(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return (lengths + 7) >> 3 << 3


def _timestamps(array: pa.Array, is_null: npt.NDArray[np.bool_] | None, precision: int) -> Slots:
    ticks = fixed_values(array, "<i8")
    if precision <= COMPACT_TIMESTAMP_PRECISION:
        return Slots(_zero_where(is_null, ticks.view(np.uint64)), is_null)
    ticks_per_milli, nanos_per_tick = (1_000, 1_000) if precision <= 6 else (1_000_000, 1)
    # Floor: the nanos of an instant before 1970 count forward from the milli before it.
    millis = np.floor_divide(ticks, ticks_per_milli)
    nanos = (ticks - millis * ticks_per_milli) * nanos_per_tick
    values = _zero_where(is_null, nanos.view(np.uint64))
    return Slots(values, is_null, _fixed_tail(millis.view(np.uint8), 8, is_null))


def _wide_decimals(array: pa.Array, is_null: npt.NDArray[np.bool_] | None) -> Slots:
    low, high = decimal_halves(array)
    size = _twos_complement_bytes(low, high)
    big_endian = np.empty((len(array), WIDE_DECIMAL_BYTES), np.uint8)
    big_endian[:, :8] = high.astype(">i8").view(np.uint8).reshape(-1, 8)
    big_endian[:, 8:] = low.astype(">u8").view(np.uint8).reshape(-1, 8)
    index = np.arange(WIDE_DECIMAL_BYTES) + (WIDE_DECIMAL_BYTES - size)[:, np.newaxis]
    minimal = np.take_along_axis(big_endian, np.minimum(index, WIDE_DECIMAL_BYTES - 1), axis=1)
    minimal[index >= WIDE_DECIMAL_BYTES] = 0
    values = _zero_where(is_null, size.astype(np.uint64))
    return Slots(values, is_null, _fixed_tail(minimal.reshape(-1), WIDE_DECIMAL_BYTES, is_null))


def _twos_complement_bytes(
    low: npt.NDArray[np.uint64], high: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Count the bytes of the shortest two's complement form of 128-bit numbers."""
    size = np.ones(len(low), np.int64)
    folded_high = (high ^ (high >> 63)).view(np.uint64)
    folded_low = low ^ (high >> 63).view(np.uint64)
    for byte in range(1, WIDE_DECIMAL_BYTES):
        # The sign takes one bit: k bytes reach up to 2 ** (8 k - 1).
        bits = 8 * byte - 1
        if bits < 64:
            exceeds = (folded_low >> np.uint64(bits)) | folded_high
        else:
            exceeds = folded_high >> np.uint64(bits - 64)
        size[exceeds != 0] = byte + 1
    return size


def _fixed_tail(
    data: npt.NDArray[np.uint8], width: int, is_null: npt.NDArray[np.bool_] | None
) -> Tail:
    """Make the tail of values of one width; a null reserves its bytes and fills in zeros."""
    count = len(data) // width
    lengths = np.full(count, width, np.int64)
    reserved = lengths
    if is_null is not None:
        lengths = np.where(is_null, 0, lengths)
    spaced = np.concatenate([data, np.zeros(SPARE, np.uint8)])
    return Tail(Pieces(spaced, np.arange(count) * width, lengths), reserved)


def _pieces_in_tail(pieces: Pieces, is_null: npt.NDArray[np.bool_] | None) -> Slots:
    """Keep whole pieces in the variable part; a null reserves nothing."""
    lengths = pieces.lengths if is_null is None else np.where(is_null, 0, pieces.lengths)
    tail = Tail(replace(pieces, lengths=lengths), _padded(lengths))
    return Slots(lengths.astype(np.uint64), is_null, tail)


def _rows(array: pa.Array, data_type: RowType) -> Pieces:
    fields = [
        slots(child, field.type)
        for child, field in zip(array.flatten(), data_type.fields, strict=True)
    ]
    return binary_layout.rows(fields, len(array))


def _arrays(array: pa.Array, element: DataType) -> Pieces:
    return _array_of(array.flatten(), element, _counts(array))


def _maps(array: pa.Array, key: DataType, value: DataType) -> Pieces:
    counts = _counts(array)
    keys, values = _as_lists(array).flatten().flatten()
    return binary_layout.maps(_array_of(keys, key, counts), _array_of(values, value, counts))


def _as_lists(maps: pa.MapArray) -> pa.ListArray:
    """View maps as lists of structs, which can be flattened."""
    entries = pa.StructArray.from_arrays([maps.keys, maps.items], names=["key", "value"])
    buffers = maps.buffers()[:2]
    list_type = pa.list_(entries.type)
    return pa.Array.from_buffers(
        list_type, len(maps), buffers, offset=maps.offset, children=[entries]
    )


def _array_of(flat: pa.Array, element: DataType, counts: npt.NDArray[np.int64]) -> Pieces:
    elements = _zeroed_nulls(slots(flat, element))
    return binary_layout.arrays(elements, element_width(element), counts)


def _zeroed_nulls(elements: Slots) -> Slots:
    """Let nulls reserve nothing: in an array, unlike in a row, a null element has no tail."""
    if elements.tail is None or elements.is_null is None:
        return elements
    reserved = np.where(elements.is_null, 0, elements.tail.reserved)
    return replace(elements, tail=replace(elements.tail, reserved=reserved))


def _counts(array: pa.Array) -> npt.NDArray[np.int64]:
    counts = np.zeros(0, np.int64)
    if len(array):
        counts = np.diff(numpy_values(array.offsets).astype(np.int64))  # type: ignore[assignment]
    is_null = null_mask(array)
    return counts if is_null is None else np.where(is_null, 0, counts)


def _variants(array: pa.Array) -> Pieces:
    """Lay out variants: int32 size of the value, value, metadata."""
    storage = array.storage if isinstance(array, pa.ExtensionArray) else array
    by_name = {field.name: k for k, field in enumerate(storage.type)}
    children = storage.flatten()
    value, metadata = (byte_pieces(children[by_name[name]]) for name in ("value", "metadata"))
    lengths = 4 + value.lengths + metadata.lengths
    offsets = offsets_of(_padded(lengths))
    data = np.zeros(offsets[-1] + SPARE, np.uint8)
    starts = offsets[:-1]
    put_words(data, starts, value.lengths.astype(np.uint64), 4)
    _copy_exact(data, starts + 4, value)
    _copy_exact(data, starts + 4 + value.lengths, metadata)
    return Pieces(data, starts, lengths)


def _copy_exact(
    target: npt.NDArray[np.uint8], positions: npt.NDArray[np.int64], source: Pieces
) -> None:
    """Copy pieces that need not end at a multiple of eight bytes."""
    first = offsets_of(source.lengths)
    within = np.arange(first[-1]) - np.repeat(first[:-1], source.lengths)
    here = np.repeat(positions, source.lengths) + within
    target[here] = source.data[np.repeat(source.starts, source.lengths) + within]
