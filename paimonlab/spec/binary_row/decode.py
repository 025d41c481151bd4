"""Bytes of BinaryRows, BinaryArrays and BinaryMaps as Arrow arrays.

Whatever the bytes claim, nothing is read from outside the rows they are part of.

Source: apache/paimon@1.3.1 ``org.apache.paimon.data.BinaryRow``, ``BinaryArray``,
``BinaryMap``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from paimonlab.arrow_values import arrow_array
from paimonlab.spec.binary_row.buffers import byte_array, fixed_array
from paimonlab.spec.binary_row.layout import ROW_KIND_BITS, header_bytes
from paimonlab.spec.binary_row.pieces import Pieces, joined, offsets_of, words_at
from paimonlab.spec.binary_row.slots import (
    COMPACT_DECIMAL_PRECISION,
    COMPACT_TIMESTAMP_PRECISION,
    COUNT,
    WIDE_DECIMAL_BYTES,
    element_width,
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

_NUMPY_TYPES = {
    TypeRoot.TINYINT: "i1",
    TypeRoot.SMALLINT: "<i2",
    TypeRoot.INT: "<i4",
    TypeRoot.DATE: "<i4",
    TypeRoot.TIME: "<i4",
    TypeRoot.BIGINT: "<i8",
    TypeRoot.FLOAT: "<u4",
    TypeRoot.DOUBLE: "<u8",
}
_BYTES = (TypeRoot.CHAR, TypeRoot.VARCHAR, TypeRoot.BINARY, TypeRoot.VARBINARY, TypeRoot.BLOB)
_TIMESTAMPS = (TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_INLINE = np.uint64(0x80)


class DamagedRowError(ValueError):
    """The bytes are not rows of the given types."""


class Cells(Struct, frozen=True):
    """n values inside rows or arrays."""

    data: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.int64]
    """(n,) where the row or array of each value starts: offsets count from there."""
    ends: npt.NDArray[np.int64]
    """(n,) where it ends."""
    slots: npt.NDArray[np.int64]
    """(n,) position of each value's slot."""
    is_null: npt.NDArray[np.bool_]

    def words(self, width: int = 8) -> npt.NDArray[np.uint64]:
        """Read the slots; those of nulls as 0."""
        words = words_at(self.data, self.slots)
        if width < 8:
            words = words & np.uint64((1 << 8 * width) - 1)
        return np.where(self.is_null, np.uint64(0), words)

    def outside(self, fixed_length: int | None = None) -> Pieces:
        """Find the variable parts: of the length in the slot, or of a fixed one."""
        words = self.words()
        offsets = (words >> np.uint64(32)).astype(np.int64)
        lengths = (words & _LOW_HALF).astype(np.int64)
        if fixed_length is not None:
            lengths = np.full(len(words), fixed_length)
        lengths = np.where(self.is_null, 0, lengths)
        return _checked(Pieces(self.data, self.starts + offsets, lengths), self.starts, self.ends)


def _checked(pieces: Pieces, starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> Pieces:
    is_inside = (pieces.starts >= starts) & (pieces.starts + pieces.lengths <= ends)
    if not (is_inside | (pieces.lengths == 0)).all():
        raise DamagedRowError("a value lies outside its row")
    return replace(pieces, starts=np.where(is_inside, pieces.starts, starts))


def rows(
    pieces: Pieces,
    fields: Sequence[DataType],
    is_null: npt.NDArray[np.bool_],
    *,
    is_lenient: bool = False,
    wanted: Sequence[int] | None = None,
) -> list[pa.Array]:
    """Decode rows without arity, one array per wanted field; null rows give nulls.

    With ``is_lenient`` a timestamp that Arrow cannot hold becomes null.

    Raises
    ------
    DamagedRowError
        If a row is too short for its fields or points outside itself.
    """
    header = header_bytes(len(fields))
    if (pieces.lengths[~is_null] < header + 8 * len(fields)).any():
        raise DamagedRowError(f"a row is too short for {len(fields)} fields")
    ends = pieces.starts + pieces.lengths
    # A null row may be empty: its slots are looked for where there is something to read.
    starts = np.where(is_null, 0, pieces.starts)
    chosen = range(len(fields)) if wanted is None else wanted
    if is_null.all():
        return [pa.nulls(len(is_null), to_arrow(fields[field])) for field in chosen]
    arrays = []
    for field in chosen:
        data_type = fields[field]
        byte, bit = divmod(field + ROW_KIND_BITS, 8)
        flags = pieces.data[np.where(is_null, 0, starts + byte)]
        field_is_null = is_null | (flags >> np.uint8(bit) & np.uint8(1)).astype(np.bool_)
        slots = np.where(is_null, 0, starts + header + 8 * field)
        cells = Cells(pieces.data, starts, ends, slots, field_is_null)
        if is_lenient:
            cells = replace(cells, is_null=field_is_null | _beyond_arrow(cells, data_type))
        arrays.append(values(cells, data_type))
    return arrays


def values(cells: Cells, data_type: DataType) -> pa.Array:
    """Decode n values to an array of the Arrow type of ``data_type``."""
    match data_type:
        case AtomicType():
            return _atomic(cells, data_type)
        case ArrayType():
            return _arrays(cells, data_type)
        case MapType():
            return _maps(cells, data_type, data_type.key, data_type.value)
        case MultisetType():
            return _maps(cells, data_type, data_type.element, COUNT)
        case RowType():
            return _structs(cells, data_type)


def _atomic(cells: Cells, data_type: AtomicType) -> pa.Array:
    root, arrow_type = data_type.root, to_arrow(data_type)
    if root is TypeRoot.BOOLEAN:
        return fixed_array(pa.uint8(), cells.words(1).astype("u1"), cells.is_null).cast(arrow_type)
    if root is TypeRoot.VARIANT:
        return _variants(cells, arrow_type)
    if root in _BYTES:
        return _strings(cells, arrow_type)
    return fixed_array(arrow_type, _numbers(cells, data_type), cells.is_null)


def _numbers(cells: Cells, data_type: AtomicType) -> npt.NDArray[np.generic]:
    """Decode values of a fixed width to what an Arrow array holds."""
    root, precision = data_type.root, data_type.precision or 0
    if root is TypeRoot.DECIMAL:
        return _decimals(cells, precision)
    if root in _TIMESTAMPS:
        return _timestamps(cells, precision)
    return cells.words(element_width(data_type)).astype(_NUMPY_TYPES[root])


def _decimals(cells: Cells, precision: int) -> npt.NDArray[np.int64]:
    """Return (n, 2) low and high halves."""
    if precision <= COMPACT_DECIMAL_PRECISION:
        low = cells.words().view(np.int64)
        return np.stack([low, low >> 63], axis=1)
    lengths = (cells.words() & _LOW_HALF).astype(np.int64)
    if (lengths > WIDE_DECIMAL_BYTES).any() or (lengths == 0)[~cells.is_null].any():
        raise DamagedRowError("a decimal has no or too many bytes")
    pieces = cells.outside(WIDE_DECIMAL_BYTES)
    index = np.arange(WIDE_DECIMAL_BYTES) - (WIDE_DECIMAL_BYTES - lengths)[:, np.newaxis]
    digits = cells.data[pieces.starts[:, np.newaxis] + np.maximum(index, 0)]
    sign = np.where(digits[:, :1] & 0x80, np.uint8(0xFF), np.uint8(0))
    padded = np.ascontiguousarray(np.where(index < 0, sign, digits))
    halves = padded.view(">u8").astype(np.uint64).view(np.int64)
    return np.where(cells.is_null[:, np.newaxis], 0, halves[:, ::-1])


def _timestamps(cells: Cells, precision: int) -> npt.NDArray[np.int64]:
    if precision <= COMPACT_TIMESTAMP_PRECISION:
        return cells.words().view(np.int64)
    ticks, fits = _ticks(cells, precision)
    if not fits.all():
        raise DamagedRowError("a timestamp does not fit 64 bits")
    return np.where(cells.is_null, 0, ticks)


def _ticks(cells: Cells, precision: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return timestamps in Arrow's unit, and which of them did not overflow."""
    nanos = (cells.words() & _LOW_HALF).astype(np.int64)
    pieces = cells.outside(8)
    millis = words_at(cells.data, pieces.starts).view(np.int64)
    per_milli = 1_000 if precision <= 6 else 1_000_000
    ticks = millis * per_milli + nanos // (1_000_000 // per_milli)
    return ticks, cells.is_null | (ticks // per_milli == millis)


def _beyond_arrow(cells: Cells, data_type: DataType) -> npt.NDArray[np.bool_]:
    """Tell the values that the Arrow type cannot hold: nanoseconds reach from 1677 to 2262."""
    precision = (data_type.precision or 0) if isinstance(data_type, AtomicType) else 0
    is_timestamp = isinstance(data_type, AtomicType) and data_type.root in _TIMESTAMPS
    if not is_timestamp or precision <= COMPACT_TIMESTAMP_PRECISION:
        return np.zeros(len(cells.is_null), np.bool_)
    return ~_ticks(cells, precision)[1]


def _strings(cells: Cells, arrow_type: pa.DataType) -> pa.Array:
    words = cells.words()
    mark = words >> np.uint64(56)
    is_inline = mark >= _INLINE
    lengths = np.where(is_inline, mark & np.uint64(0x7F), words & _LOW_HALF).astype(np.int64)
    offsets = (words >> np.uint64(32)).astype(np.int64)
    starts = np.where(is_inline, cells.slots, cells.starts + offsets)
    pieces = _checked(Pieces(cells.data, starts, lengths), cells.starts, cells.ends)
    data, first = joined(pieces)
    array = byte_array(pa.binary(), data, first, cells.is_null)
    try:
        return array.cast(arrow_type)
    except pa.ArrowInvalid as error:
        raise DamagedRowError(f"a text is not UTF-8: {error}") from error


def _variants(cells: Cells, arrow_type: pa.DataType) -> pa.Array:
    pieces = cells.outside()
    if (pieces.lengths[~cells.is_null] < 4).any():
        raise DamagedRowError("a variant is too short")
    readable = np.where(cells.is_null, 0, pieces.starts)
    sizes = _signed(words_at(cells.data, readable, "<u4"))
    value = Pieces(cells.data, pieces.starts + 4, np.where(cells.is_null, 0, sizes))
    ends = pieces.starts + pieces.lengths
    metadata_starts = value.starts + value.lengths
    metadata = Pieces(
        cells.data, metadata_starts, np.where(cells.is_null, 0, ends - metadata_starts)
    )
    children = [
        byte_array(pa.binary(), *joined(_checked(part, pieces.starts, ends)), None)
        for part in (value, metadata)
    ]
    return _struct(arrow_type, children, cells.is_null)


def _struct(
    arrow_type: pa.DataType, children: Sequence[pa.Array], is_null: npt.NDArray[np.bool_]
) -> pa.Array:
    return pa.StructArray.from_arrays(
        children, fields=list(arrow_type), mask=arrow_array(is_null) if is_null.any() else None
    )


def _structs(cells: Cells, data_type: RowType) -> pa.Array:
    fields = [field.type for field in data_type.fields]
    children = rows(cells.outside(), fields, cells.is_null)
    return _struct(to_arrow(data_type), children, cells.is_null)


def _arrays(cells: Cells, data_type: ArrayType) -> pa.Array:
    elements, offsets = _elements(cells.outside(), data_type.element, cells.is_null)
    arrow_type = to_arrow(data_type)
    return pa.ListArray.from_arrays(
        arrow_array(offsets, pa.int32()), elements, type=arrow_type, mask=_mask(cells.is_null)
    )


def _maps(cells: Cells, data_type: DataType, key: DataType, value: DataType) -> pa.Array:
    pieces = cells.outside()
    if (pieces.lengths[~cells.is_null] < 4).any():
        raise DamagedRowError("a map is too short")
    sizes = _signed(words_at(cells.data, np.where(cells.is_null, 0, pieces.starts), "<u4"))
    sizes = np.where(cells.is_null, 0, sizes)
    ends = pieces.starts + pieces.lengths
    keys = Pieces(cells.data, pieces.starts + 4, sizes)
    value_starts = np.where(cells.is_null, pieces.starts, pieces.starts + 4 + sizes)
    values_ = Pieces(cells.data, value_starts, ends - value_starts)
    if (sizes < 0).any() or (values_.lengths < 0).any():
        raise DamagedRowError("the keys of a map lie outside its row")
    key_array, offsets = _elements(keys, key, cells.is_null)
    value_array, value_offsets = _elements(values_, value, cells.is_null)
    if not np.array_equal(offsets, value_offsets):
        raise DamagedRowError("a map differs in the number of keys and values")
    if key_array.null_count:
        raise DamagedRowError("a map has a null key")
    return pa.MapArray.from_arrays(
        arrow_array(offsets, pa.int32()),
        key_array,
        value_array,
        type=to_arrow(data_type),
        mask=_mask(cells.is_null),
    )


def _mask(is_null: npt.NDArray[np.bool_]) -> pa.Array | None:
    return arrow_array(is_null) if is_null.any() else None


def _signed(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Read 32-bit words as signed numbers."""
    return words.astype("<u4").view("<i4").astype(np.int64)


def _elements(
    arrays: Pieces, element: DataType, is_null: npt.NDArray[np.bool_]
) -> tuple[pa.Array, npt.NDArray[np.int64]]:
    """Decode the elements of all arrays in a row, and where each array starts."""
    if (arrays.lengths[~is_null] < 4).any():
        raise DamagedRowError("an array is too short")
    counts = _signed(words_at(arrays.data, np.where(is_null, 0, arrays.starts), "<u4"))
    counts = np.where(is_null, 0, counts)
    width = element_width(element)
    header = 4 + (counts + 31) // 32 * 4
    if (counts < 0).any() or ((header + width * counts > arrays.lengths) & ~is_null).any():
        raise DamagedRowError("an array is too short for its elements")
    offsets = offsets_of(counts)
    array = np.repeat(np.arange(len(counts)), counts)
    index = np.arange(int(offsets[-1])) - offsets[array]
    starts = arrays.starts[array]
    flags = arrays.data[starts + 4 + (index >> 3)]
    element_is_null = (flags >> (index & 7).astype(np.uint8) & np.uint8(1)).astype(np.bool_)
    cells = Cells(
        arrays.data,
        starts,
        starts + arrays.lengths[array],
        starts + header[array] + width * index,
        element_is_null,
    )
    return values(cells, element), offsets
