"""Values as indexes have them: whole numbers, or bytes.

Numbers that are not whole are indexed by the bits of their total order, in which -0.0 comes
before 0.0 and NaN last, as Java compares them.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from paimonlab.arrow_values import one_array
from paimonlab.formats.file_index.container import DamagedIndexError
from paimonlab.spec.binary_row.buffers import decimal_halves, fixed_values
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import TEXT_ROOTS, AtomicType, DataType, TypeRoot

Key: TypeAlias = int | bytes
"""A value of an index."""

_WIDTHS = {
    TypeRoot.BOOLEAN: 1,
    TypeRoot.TINYINT: 1,
    TypeRoot.SMALLINT: 2,
    TypeRoot.INT: 4,
    TypeRoot.BIGINT: 8,
    TypeRoot.FLOAT: 4,
    TypeRoot.DOUBLE: 8,
    TypeRoot.DATE: 4,
    TypeRoot.TIME: 4,
    TypeRoot.TIMESTAMP: 8,
    TypeRoot.TIMESTAMP_LTZ: 8,
    TypeRoot.DECIMAL: 8,
    TypeRoot.CHAR: 0,
    TypeRoot.VARCHAR: 0,
    TypeRoot.BINARY: 0,
    TypeRoot.VARBINARY: 0,
}
_TIMES = (TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ)
_BINARIES = (TypeRoot.BINARY, TypeRoot.VARBINARY)
_MOST_DECIMAL_DIGITS = 18
_MILLIS_DIGITS, _MICROS_DIGITS = 3, 6
_NANOS_OF_MICRO = 1000
_INT = struct.Struct(">i")

_FLOATS = frozenset({TypeRoot.FLOAT, TypeRoot.DOUBLE})
_EXACT = frozenset(_WIDTHS) - frozenset(TEXT_ROOTS) - _FLOATS - frozenset(_BINARIES)
_ALLOWED = {
    "bloom-filter": frozenset(_WIDTHS) - {TypeRoot.BOOLEAN, TypeRoot.DECIMAL},
    "bitmap": frozenset(_WIDTHS) - {TypeRoot.DECIMAL, *_BINARIES},
    "bsi": _EXACT - {TypeRoot.BOOLEAN},
    "range-bitmap": _EXACT | _FLOATS | frozenset(TEXT_ROOTS),
}
INDEX_TYPES = tuple(_ALLOWED)
"""Names of the types of indexes."""


class ValueForm(Struct, frozen=True):
    """How the values of a column type stand in indexes."""

    width: int
    """Bytes of a number; 0: a length, then so many bytes."""
    is_float: bool = False
    is_cut: bool = False
    """Whether different values may look the same: nanoseconds, of which microseconds stay."""

    def pack(self, keys: Sequence[Key]) -> bytes:
        """Write keys one after the other, big-endian."""
        if not self.width:
            return b"".join(_INT.pack(len(key)) + key for key in keys if isinstance(key, bytes))
        numbers = np.array(keys, np.int64)
        if self.is_float:
            numbers = _order_to_bits(numbers, self.width)
        return numbers.astype(f">i{self.width}").tobytes()

    def unpack(self, data: bytes, at: int, count: int) -> tuple[list[Key], int]:
        """Read ``count`` keys from a position; returns them and the position after them."""
        keys: list[Key] = []
        if at < 0:
            raise DamagedIndexError("an index says that its values are before it")
        if self.width:
            end = at + count * self.width
            if count < 0 or end > len(data):
                raise DamagedIndexError("an index ends inside its values")
            keys += self.numbers(data[at:end]).tolist()
            return keys, end
        for _ in range(count):
            (size,) = _INT.unpack_from(data, at)
            at += _INT.size
            if size < 0 or at + size > len(data):
                raise DamagedIndexError("an index ends inside a value")
            keys.append(data[at : at + size])
            at += size
        return keys, at

    def numbers(self, data: bytes) -> npt.NDArray[np.int64]:
        """Read numbers that stand one after the other."""
        numbers = np.frombuffer(data, f">i{self.width}").astype(np.int64)
        return _bits_to_order(numbers, self.width) if self.is_float else numbers

    def size(self, key: Key) -> int:
        """Return the bytes of a key."""
        return self.width or _INT.size + len(key)  # type: ignore[arg-type]


def form_of(data_type: DataType, index_type: str) -> ValueForm | None:
    """Tell how a column's values are indexed; None: such columns cannot have such an index."""
    if not isinstance(data_type, AtomicType) or data_type.root not in _ALLOWED[index_type]:
        return None
    root, precision = data_type.root, data_type.precision or 0
    is_cut = root in _TIMES and precision > _MICROS_DIGITS
    if index_type == "range-bitmap" and is_cut:
        return None
    if root is TypeRoot.DECIMAL and precision > _MOST_DECIMAL_DIGITS:
        return None
    return ValueForm(_WIDTHS[root], is_float=root in _FLOATS, is_cut=is_cut)


def is_indexed_as_bytes(data_type: DataType) -> bool:
    """Whether values of a type are indexed as bytes."""
    return isinstance(data_type, AtomicType) and _WIDTHS.get(data_type.root) == 0


def index_numbers(column: pa.Array, data_type: DataType) -> npt.NDArray[np.int64]:
    """Return the numbers that indexes have for the values of a column without nulls."""
    assert isinstance(data_type, AtomicType), "nested values are not indexed"
    root = data_type.root
    if root is TypeRoot.DECIMAL:
        return decimal_halves(column)[0].view(np.int64)
    if root is TypeRoot.BOOLEAN:
        return column.cast(pa.uint8()).to_numpy(zero_copy_only=False).astype(np.int64)
    width = column.type.bit_width // 8
    values = fixed_values(column, f"<i{width}").astype(np.int64)
    if root in _FLOATS:
        return _bits_to_order(_one_nan(values, column), width)
    if root in _TIMES and (data_type.precision or 0) > _MICROS_DIGITS:
        return values // _NANOS_OF_MICRO
    return values


class Distinct(Struct, frozen=True):
    """The values of a column of n rows, each value once."""

    keys: list[Key]
    """c values, ascending."""
    codes: npt.NDArray[np.int64]
    """(m,) number of the value of each row that has one."""
    rows: npt.NDArray[np.int64]
    """(m,) which rows these are, ascending."""
    nulls: npt.NDArray[np.int64]
    """(n - m,) the other rows."""

    @property
    def row_count(self) -> int:
        """Rows of the column."""
        return len(self.rows) + len(self.nulls)


def distinct(column: pa.Array | pa.ChunkedArray, data_type: DataType) -> Distinct:
    """Give each value of a column a number, ascending with the values."""
    array = one_array(column)
    is_valid = array.is_valid().to_numpy(zero_copy_only=False)
    values = array.drop_null()
    keys: list[Key]
    if is_indexed_as_bytes(data_type):
        keys, codes = _distinct_bytes(values)
    else:
        numbers, codes = np.unique(index_numbers(values, data_type), return_inverse=True)
        keys = numbers.tolist()
    return Distinct(
        keys, codes.astype(np.int64), np.flatnonzero(is_valid), np.flatnonzero(~is_valid)
    )


def _distinct_bytes(values: pa.Array) -> tuple[list[Key], npt.NDArray[np.int64]]:
    encoded = pc.dictionary_encode(values.cast(pa.large_binary()))
    order = pc.sort_indices(encoded.dictionary)
    rank = np.empty(len(order), np.int64)
    rank[order.to_numpy()] = np.arange(len(order))
    return encoded.dictionary.take(order).to_pylist(), rank[encoded.indices.to_numpy()]


def literal_key(value: Any, data_type: DataType) -> Key:
    """Return the key of a bound literal (`paimonlab.spec.predicates.predicate.Literal`)."""
    array = pa.array([pa.scalar(value, to_arrow(data_type))])
    if is_indexed_as_bytes(data_type):
        key: bytes = array.cast(pa.large_binary())[0].as_py()
        return key
    return int(index_numbers(array, data_type)[0])


def _one_nan(bits: npt.NDArray[np.int64], column: pa.Array) -> npt.NDArray[np.int64]:
    is_nan = pc.is_nan(column).to_numpy(zero_copy_only=False)
    nan = np.array([np.nan], f"<f{column.type.bit_width // 8}")
    return np.where(is_nan, int(nan.view(f"<i{nan.itemsize}")[0]), bits)


def _bits_to_order(bits: npt.NDArray[np.int64], width: int) -> npt.NDArray[np.int64]:
    """Turn the bits of floating numbers, as signed integers, into integers of their order."""
    return np.where(bits >= 0, bits, bits ^ (2 ** (8 * width - 1) - 1))


_order_to_bits = _bits_to_order
"""It is its own inverse."""


def float_bits(keys: npt.NDArray[np.int64], width: int) -> npt.NDArray[np.int64]:
    """Return the bits of floating numbers, as signed integers, of their order."""
    return _order_to_bits(keys, width)
