"""Single values as Iceberg's metadata has them: bounds of columns, values of partitions.

Source: https://iceberg.apache.org/spec/#appendix-d-single-value-serialization and
apache/paimon@1.4.2 ``org.apache.paimon.iceberg.manifest.IcebergConversions``.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import TypeAlias

import pyarrow as pa

from paimonlab.spec.types.data_types import TEXT_ROOTS, AtomicType, TypeRoot

Plain: TypeAlias = bool | int | float | str | bytes
"""A value as Avro has it: days of dates, micro- or nanoseconds of times, digits of decimals."""

_BYTES = (TypeRoot.BINARY, TypeRoot.VARBINARY)
_INTS = (TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.DATE)
_TIMES = (TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ)
_PACKED = {
    TypeRoot.BOOLEAN: struct.Struct("<?"),
    **dict.fromkeys(_INTS, struct.Struct("<i")),
    **dict.fromkeys((TypeRoot.BIGINT, TypeRoot.TIME, *_TIMES), struct.Struct("<q")),
    TypeRoot.FLOAT: struct.Struct("<f"),
    TypeRoot.DOUBLE: struct.Struct("<d"),
}
_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def plain_values(values: pa.Array, data_type: AtomicType) -> list[Plain | None]:
    """Return the n values of an array as plain ones.

    Parameters
    ----------
    values
        Of the Arrow type of ``data_type``.
    data_type
        Their type.
    """
    root = data_type.root
    if root is TypeRoot.DATE:
        return values.cast(pa.int32()).to_pylist()
    if root is TypeRoot.TIME:
        return [
            None if value is None else value * 1_000
            for value in values.cast(pa.int32()).to_pylist()
        ]
    if root in _TIMES:
        return _scaled(values, 1_000_000_000 if (data_type.precision or 0) > 6 else 1_000_000)
    if root is TypeRoot.DECIMAL:
        return [None if value is None else _digits(value) for value in values.to_pylist()]
    return values.to_pylist()


def _scaled(values: pa.Array, per_second: int) -> list[Plain | None]:
    have = _PER_SECOND[values.type.unit]
    numbers = values.cast(pa.int64()).to_pylist()
    if per_second >= have:
        factor = per_second // have
        return [None if number is None else number * factor for number in numbers]
    divisor = have // per_second
    return [None if number is None else number // divisor for number in numbers]


def _digits(value: object) -> int:
    """Return the unscaled number of a decimal of up to 38 digits."""
    sign, digits, _ = value.as_tuple()  # type: ignore[attr-defined]
    number = int("".join(map(str, digits)))
    return -number if sign else number


def to_bytes(value: Plain, data_type: AtomicType) -> bytes:
    """Return a plain value as metadata stores it."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return value
    if data_type.root is TypeRoot.DECIMAL:
        return signed_bytes(int(value))
    return _PACKED[data_type.root].pack(value)


def from_bytes(data: bytes, data_type: AtomicType) -> Plain:
    """Undo `to_bytes`.

    Raises
    ------
    ValueError
        If there are too few bytes for the type.
    """
    if data_type.root in TEXT_ROOTS:
        return data.decode()
    if data_type.root in _BYTES:
        return data
    if data_type.root is TypeRoot.DECIMAL:
        return int.from_bytes(data, "big", signed=True)
    packed = _PACKED[data_type.root]
    if len(data) < packed.size:
        raise ValueError(f"{len(data)} bytes for {data_type.root.value}")
    return packed.unpack_from(data)[0]


def signed_bytes(number: int, length: int | None = None) -> bytes:
    r"""Return a number as big-endian two's complement.

    Parameters
    ----------
    number
        An unscaled decimal.
    length
        In bytes; None: as few as will do.

    Examples
    --------
    >>> signed_bytes(128), signed_bytes(-128), signed_bytes(1, 2)
    (b'\x00\x80', b'\x80', b'\x00\x01')
    """
    magnitude = number if number >= 0 else ~number
    return number.to_bytes(length or magnitude.bit_length() // 8 + 1, "big", signed=True)


def decimal_length(precision: int) -> int:
    """Return how many bytes hold every decimal of a precision.

    Examples
    --------
    >>> decimal_length(9), decimal_length(18), decimal_length(38)
    (4, 8, 16)
    """
    return (10**precision).bit_length() // 8 + 1


def is_nan(value: Plain | None) -> bool:
    """Whether a value is not a number."""
    return isinstance(value, float) and math.isnan(value)


def bounds_of(
    values: Sequence[Plain | None],
) -> tuple[Plain, Plain] | None:
    """Return the least and the greatest of values of a type; None if there is none.

    Texts are ordered by code points, as their bytes are.
    """
    known = [value for value in values if value is not None and not is_nan(value)]
    return (min(known), max(known)) if known else None
