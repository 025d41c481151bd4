"""The data types of columns.

Values only: the text and JSON grammar is `paimonlab.spec.types.text`, the Arrow side
`paimonlab.spec.types.arrow`.

Source: https://paimon.apache.org/docs/master/concepts/data-types/ and apache/paimon@1.3.1
``org.apache.paimon.types``.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

MAX_LENGTH = 2**31 - 1
"""Length of STRING and BYTES."""


class TypeRoot(Enum):
    """The atomic types; the values are the words of the grammar."""

    __hash__ = object.__hash__  # by identity: that of enumerations is a call of Python each time

    BOOLEAN = "BOOLEAN"
    TINYINT = "TINYINT"
    SMALLINT = "SMALLINT"
    INT = "INT"
    BIGINT = "BIGINT"
    FLOAT = "FLOAT"
    DOUBLE = "DOUBLE"
    DECIMAL = "DECIMAL"
    CHAR = "CHAR"
    VARCHAR = "VARCHAR"
    BINARY = "BINARY"
    VARBINARY = "VARBINARY"
    DATE = "DATE"
    TIME = "TIME"
    TIMESTAMP = "TIMESTAMP"
    TIMESTAMP_LTZ = "TIMESTAMP_LTZ"
    """``TIMESTAMP(p) WITH LOCAL TIME ZONE``"""
    VARIANT = "VARIANT"
    BLOB = "BLOB"


class AtomicType(Struct, frozen=True):
    """A type without parts."""

    root: TypeRoot
    nullable: bool = True
    length: int | None = None
    """Characters of CHAR and VARCHAR, bytes of BINARY and VARBINARY, else None."""
    precision: int | None = None
    """Digits of DECIMAL (1-38), fraction digits of TIME, TIMESTAMP, TIMESTAMP_LTZ (0-9)."""
    scale: int | None = None
    """Fraction digits of DECIMAL (0-precision)."""


class ArrayType(Struct, frozen=True):
    """``ARRAY<element>``."""

    element: DataType
    nullable: bool = True


class MapType(Struct, frozen=True):
    """``MAP<key, value>``."""

    key: DataType
    value: DataType
    nullable: bool = True


class MultisetType(Struct, frozen=True):
    """``MULTISET<element>``: a map from element to how often it occurs."""

    element: DataType
    nullable: bool = True


class DataField(Struct, frozen=True):
    """A column of a table or a field of a ROW."""

    id: int
    """Never reused within a table."""
    name: str
    type: DataType
    description: str | None = None
    default_value: str | None = None
    """Text as the schema file has it; applied on write only."""


class RowType(Struct, frozen=True):
    """``ROW<name type, …>``."""

    fields: tuple[DataField, ...]
    nullable: bool = True


DataType: TypeAlias = AtomicType | ArrayType | MapType | MultisetType | RowType


def with_nullable(data_type: DataType, nullable: bool) -> DataType:  # noqa: FBT001
    """Return the same type, nullable or not."""
    return data_type if data_type.nullable == nullable else replace(data_type, nullable=nullable)


TEXT_ROOTS = (TypeRoot.CHAR, TypeRoot.VARCHAR)
"""Types whose values are texts; STRING is VARCHAR of the longest length."""


def is_text(data_type: DataType) -> bool:
    """Whether values of a type are texts: CHAR, VARCHAR, STRING."""
    return isinstance(data_type, AtomicType) and data_type.root in TEXT_ROOTS


def parts(data_type: DataType) -> tuple[DataType, ...]:
    """Return the types that a nested type is made of; () for an atomic one."""
    match data_type:
        case AtomicType():
            return ()
        case RowType(fields):
            return tuple(field.type for field in fields)
        case MapType(key, value):
            return (key, value)
        case ArrayType(element) | MultisetType(element):
            return (element,)


def types_in(data_type: DataType) -> Iterator[DataType]:
    """Yield a type and all that are in it, outermost first."""
    yield data_type
    for part in parts(data_type):
        yield from types_in(part)


def atoms_in(data_type: DataType) -> Iterator[AtomicType]:
    """Yield the atomic types in a type, or the type if it is atomic.

    Examples
    --------
    >>> nested = MapType(AtomicType(TypeRoot.INT), ArrayType(AtomicType(TypeRoot.DATE)))
    >>> [atom.root.value for atom in atoms_in(nested)]
    ['INT', 'DATE']
    """
    return (one for one in types_in(data_type) if isinstance(one, AtomicType))
