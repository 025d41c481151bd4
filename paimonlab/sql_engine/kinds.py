"""Types of expressions: their names in Spark's SQL and in DuckDB's, and what two have in common."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from paimonlab.spec.types.data_types import (
    MAX_LENGTH,
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    RowType,
    TypeRoot,
    with_nullable,
)
from paimonlab.spec.types.text import format_type


class VoidType(Struct, frozen=True):
    """The type of NULL."""


FIELDS = ("DAY", "HOUR", "MINUTE", "SECOND")


class IntervalType(Struct, frozen=True):
    """The type of lengths of days and times, which tables do not have."""

    first: str
    last: str
    """The fields that it has, of `FIELDS`."""

    @property
    def fields_text(self) -> str:
        """The fields in the words of SQL: ``DAY TO SECOND``."""
        return self.first if self.first == self.last else f"{self.first} TO {self.last}"


Kind: TypeAlias = DataType | VoidType | IntervalType
"""Of an expression; all are nullable."""

VOID = VoidType()
BOOLEAN = AtomicType(TypeRoot.BOOLEAN)
TINYINT = AtomicType(TypeRoot.TINYINT)
SMALLINT = AtomicType(TypeRoot.SMALLINT)
INT = AtomicType(TypeRoot.INT)
BIGINT = AtomicType(TypeRoot.BIGINT)
FLOAT = AtomicType(TypeRoot.FLOAT)
DOUBLE = AtomicType(TypeRoot.DOUBLE)
STRING = AtomicType(TypeRoot.VARCHAR, length=MAX_LENGTH)
BINARY = AtomicType(TypeRoot.VARBINARY, length=MAX_LENGTH)
DATE = AtomicType(TypeRoot.DATE)
TIMESTAMP_NTZ = AtomicType(TypeRoot.TIMESTAMP, precision=6)
TIMESTAMP = AtomicType(TypeRoot.TIMESTAMP_LTZ, precision=6)
MOST_DIGITS = 38

WHOLE = (TINYINT, SMALLINT, INT, BIGINT)
"""From the smallest to the largest."""
_DIGITS = {TINYINT: 3, SMALLINT: 5, INT: 10, BIGINT: 20}
_DUCK = {
    BOOLEAN: "BOOLEAN",
    TINYINT: "TINYINT",
    SMALLINT: "SMALLINT",
    INT: "INTEGER",
    BIGINT: "BIGINT",
    FLOAT: "FLOAT",
    DOUBLE: "DOUBLE",
    STRING: "VARCHAR",
    BINARY: "BLOB",
    DATE: "DATE",
    TIMESTAMP_NTZ: "TIMESTAMP",
    TIMESTAMP: "TIMESTAMPTZ",
}
_SPARK = {TIMESTAMP_NTZ: "TIMESTAMP_NTZ", TIMESTAMP: "TIMESTAMP", BINARY: "BINARY"}


def decimal(precision: int, scale: int) -> AtomicType:
    """Return DECIMAL(precision, scale)."""
    return AtomicType(TypeRoot.DECIMAL, precision=precision, scale=scale)


def kind_of(data_type: DataType) -> Kind | None:
    """Return what expressions of a column have as their type; None if they cannot be computed."""
    plain = with_nullable(data_type, nullable=True)
    if not isinstance(plain, AtomicType):
        return plain if _is_passed(plain) else None
    match plain.root:
        case TypeRoot.VARCHAR:
            return STRING
        case TypeRoot.VARBINARY:
            return BINARY
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ if (plain.precision or 0) <= 6:
            return TIMESTAMP_NTZ if plain.root is TypeRoot.TIMESTAMP else TIMESTAMP
        case TypeRoot.DECIMAL:
            return plain
    return plain if plain in _DUCK else None


def _is_passed(data_type: DataType) -> bool:
    """Tell whether values of a nested type are the same after DuckDB had them."""
    match data_type:
        case ArrayType():
            return kind_of(data_type.element) is not None
        case MapType():
            return kind_of(data_type.key) is not None and kind_of(data_type.value) is not None
        case RowType():
            return all(kind_of(field.type) is not None for field in data_type.fields)
    return False


def is_atomic(kind: Kind) -> bool:
    """Tell whether values can be compared and computed with."""
    return isinstance(kind, AtomicType | VoidType)


def is_comparable(kind: Kind) -> bool:
    """Tell whether values have an order."""
    return is_atomic(kind) or isinstance(kind, IntervalType)


def is_grouped(kind: Kind) -> bool:
    """Tell whether equal values are one group.

    Nested ones are as well, if nothing in them has a zero with a sign, or entries in no order.
    """
    match kind:
        case ArrayType():
            return _is_part_grouped(kind.element)
        case RowType():
            return all(_is_part_grouped(field.type) for field in kind.fields)
    return is_comparable(kind)


def _is_part_grouped(data_type: DataType) -> bool:
    kind = kind_of(data_type)
    return kind is not None and kind not in (FLOAT, DOUBLE) and is_grouped(kind)


def is_whole(kind: Kind) -> bool:
    """Tell whether values are integers."""
    return kind in WHOLE


def is_decimal(kind: Kind) -> bool:
    """Tell whether values are decimals."""
    return isinstance(kind, AtomicType) and kind.root is TypeRoot.DECIMAL


def is_numeric(kind: Kind) -> bool:
    """Tell whether values are numbers."""
    return is_whole(kind) or is_decimal(kind) or kind in (FLOAT, DOUBLE)


def shape(kind: Kind) -> tuple[int, int]:
    """Return precision and scale of a decimal, or of one that has any value of an integer."""
    assert isinstance(kind, AtomicType), "a number is atomic"
    if kind in _DIGITS:
        return _DIGITS[kind], 0
    assert kind.precision is not None, "a decimal has digits"
    assert kind.scale is not None, "a decimal has a scale"
    return kind.precision, kind.scale


def duck_type(kind: Kind) -> str:
    """Name a type as DuckDB does; lengths of time are microseconds."""
    if isinstance(kind, IntervalType):
        return "BIGINT"
    assert isinstance(kind, AtomicType), "nested values are not cast"
    if is_decimal(kind):
        return f"DECIMAL({kind.precision},{kind.scale})"
    return _DUCK[kind]


def spark_type(kind: Kind) -> str:
    """Name a type as Spark does, in capitals."""
    if isinstance(kind, VoidType):
        return "VOID"
    if isinstance(kind, IntervalType):
        return f"INTERVAL {kind.fields_text}"
    if isinstance(kind, AtomicType) and kind in _SPARK:
        return _SPARK[kind]
    if is_decimal(kind):
        return "DECIMAL({},{})".format(*shape(kind))
    return format_type(kind) if isinstance(kind, AtomicType) else simple_type(kind).upper()


def simple_type(kind: Kind) -> str:
    """Name a type as Spark's schemas do: ``struct<a:int>``."""
    match kind:
        case ArrayType():
            return f"array<{_part_type(kind.element)}>"
        case MapType():
            return f"map<{_part_type(kind.key)},{_part_type(kind.value)}>"
        case RowType():
            fields = ",".join(f"{field.name}:{_part_type(field.type)}" for field in kind.fields)
            return f"struct<{fields}>"
    return spark_type(kind).lower()


def _part_type(data_type: DataType) -> str:
    kind = kind_of(data_type)
    return simple_type(VOID if kind is None else kind)


def common(left: Kind, right: Kind) -> Kind | None:
    """Return the type that Spark gives two values of CASE, UNION or ``=``; None if unproven."""
    if right in (left, VOID):
        return left
    if left == VOID:
        return right
    if isinstance(left, IntervalType) and isinstance(right, IntervalType):
        first = min(left.first, right.first, key=FIELDS.index)
        return IntervalType(first, max(left.last, right.last, key=FIELDS.index))
    if is_whole(left) and is_whole(right):
        return max(left, right, key=WHOLE.index)
    if is_numeric(left) and is_numeric(right):
        if DOUBLE in (left, right):
            return DOUBLE
        return None if FLOAT in (left, right) else _common_decimal(left, right)
    if {left, right} == {DATE, TIMESTAMP_NTZ}:
        return TIMESTAMP_NTZ
    if {left, right} in ({DATE, TIMESTAMP}, {TIMESTAMP_NTZ, TIMESTAMP}):
        return TIMESTAMP
    return None


def _common_decimal(left: Kind, right: Kind) -> Kind | None:
    (left_digits, left_scale), (right_digits, right_scale) = shape(left), shape(right)
    scale = max(left_scale, right_scale)
    precision = max(left_digits - left_scale, right_digits - right_scale) + scale
    lost = max(precision - MOST_DIGITS, 0)  # digits after the point go, and are rounded
    return decimal(precision - lost, scale - lost) if lost <= scale else None
