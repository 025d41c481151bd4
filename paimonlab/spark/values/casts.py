"""Which changes of a column's type Spark's own reading makes as Java Paimon makes them.

A data file keeps the types it was written with. Where Spark's ``CAST`` of the old type to the new
one gives the same value for every value, Spark reads the file itself; everything else goes
through `paimonlab.read`, which casts as Java does.

Source: apache/paimon@1.3.1 ``org.apache.paimon.casting``; the pairs here are those that lose
nothing and print nothing.
"""

from __future__ import annotations

from enum import Enum

from paimonlab.spec.types.data_types import (
    TEXT_ROOTS,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
)

_INTEGER_DIGITS = {
    TypeRoot.TINYINT: 3,
    TypeRoot.SMALLINT: 5,
    TypeRoot.INT: 10,
    TypeRoot.BIGINT: 19,
}
_BYTES = frozenset({TypeRoot.BINARY, TypeRoot.VARBINARY})
_TIMES = frozenset({TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ})


class Conversion(Enum):
    """What Spark has to do with a column of a data file."""

    NONE = "none"
    """Read it as it is."""
    CAST = "cast"
    """Read it and cast it."""
    TIME = "time"
    """Read milliseconds of a day, and make times of them: Spark does not read TIME from files."""


def conversion(old: DataType, new: DataType) -> Conversion | None:
    """Say how Spark turns a column of type ``old`` in a file into type ``new``.

    Parameters
    ----------
    old, new
        Types of the same column in the schema of a file and in the schema of the read;
        whether they are nullable does not matter.

    Returns
    -------
    Conversion or None
        None: Spark must not do it.
    """
    if not isinstance(old, AtomicType) or not isinstance(new, AtomicType):
        return Conversion.NONE if same_shape(old, new) else None
    if old.root is new.root:
        return _within(old, new)
    if old.root in _INTEGER_DIGITS:
        return _from_integer(old, new)
    if (old.root, new.root) == (TypeRoot.FLOAT, TypeRoot.DOUBLE):
        return Conversion.CAST
    return None


def same_shape(old: DataType, new: DataType) -> bool:
    """Say whether nested values of both types are laid out alike, field ids included."""
    match old, new:
        case AtomicType(), AtomicType():
            return conversion(old, new) is Conversion.NONE
        case ArrayType(), ArrayType():
            return same_shape(old.element, new.element)
        case MultisetType(), MultisetType():
            return same_shape(old.element, new.element)
        case MapType(), MapType():
            return same_shape(old.key, new.key) and same_shape(old.value, new.value)
        case RowType(), RowType():
            return len(old.fields) == len(new.fields) and all(
                map(_same_field, old.fields, new.fields)
            )
    return False


def _same_field(old: DataField, new: DataField) -> bool:
    return (old.id, old.name) == (new.id, new.name) and same_shape(old.type, new.type)


def _within(old: AtomicType, new: AtomicType) -> Conversion | None:
    """Conversion between two types of the same root."""
    root = old.root
    if root is TypeRoot.TIME:
        return Conversion.TIME
    if root in TEXT_ROOTS or root in _BYTES:
        assert old.length is not None, "text and bytes have a length"
        assert new.length is not None, "text and bytes have a length"
        return Conversion.NONE if old.length <= new.length else None
    if root in _TIMES:
        return Conversion.NONE if (old.precision or 0) <= (new.precision or 0) else None
    if root is TypeRoot.DECIMAL:
        if (old.precision, old.scale) == (new.precision, new.scale):
            return Conversion.NONE
        wider = _whole_digits(old) <= _whole_digits(new) and (old.scale or 0) <= (new.scale or 0)
        return Conversion.CAST if wider else None
    return Conversion.NONE


def _from_integer(old: AtomicType, new: AtomicType) -> Conversion | None:
    digits = _INTEGER_DIGITS[old.root]
    if new.root in _INTEGER_DIGITS:
        return Conversion.CAST if digits < _INTEGER_DIGITS[new.root] else None
    if new.root in {TypeRoot.FLOAT, TypeRoot.DOUBLE}:
        return Conversion.CAST
    if new.root is TypeRoot.DECIMAL:
        return Conversion.CAST if digits <= _whole_digits(new) else None
    return None


def _whole_digits(decimal: AtomicType) -> int:
    assert decimal.precision is not None, "a decimal has a precision"
    return decimal.precision - (decimal.scale or 0)
