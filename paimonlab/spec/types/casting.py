"""Which types a column may change to: old data files are then read by casting.

Source: apache/paimon@1.3.1 ``org.apache.paimon.types.DataTypeCasts`` and
``org.apache.paimon.casting.CastExecutors``.
"""

from __future__ import annotations

from paimonlab.spec.types.data_types import (
    MAX_LENGTH,
    TEXT_ROOTS,
    AtomicType,
    DataType,
    TypeRoot,
    with_nullable,
)

_INTEGERS = (TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.BIGINT)
_FLOATS = (TypeRoot.FLOAT, TypeRoot.DOUBLE)
_NUMBERS = (*_INTEGERS, TypeRoot.DECIMAL, *_FLOATS)
_BYTES = (TypeRoot.BINARY, TypeRoot.VARBINARY)
_TIMESTAMPS = (TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ)
_CLOCKS = (TypeRoot.DATE, TypeRoot.TIME, *_TIMESTAMPS)

_IMPLICIT: dict[TypeRoot, tuple[TypeRoot, ...]] = {
    TypeRoot.CHAR: (TypeRoot.CHAR,),
    TypeRoot.VARCHAR: TEXT_ROOTS,
    TypeRoot.BINARY: (TypeRoot.BINARY,),
    TypeRoot.VARBINARY: _BYTES,
    TypeRoot.DECIMAL: _NUMBERS,
    TypeRoot.SMALLINT: (TypeRoot.TINYINT,),
    TypeRoot.INT: (TypeRoot.TINYINT, TypeRoot.SMALLINT),
    TypeRoot.BIGINT: (TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT),
    TypeRoot.FLOAT: (*_INTEGERS, TypeRoot.DECIMAL),
    TypeRoot.DOUBLE: _NUMBERS,
    TypeRoot.DATE: (TypeRoot.TIMESTAMP,),
    TypeRoot.TIME: (TypeRoot.TIME, TypeRoot.TIMESTAMP),
    TypeRoot.TIMESTAMP: _TIMESTAMPS,
    TypeRoot.TIMESTAMP_LTZ: _TIMESTAMPS,
}
"""From what (values) a type (key) is always reached."""

_EXPLICIT: dict[TypeRoot, tuple[TypeRoot, ...]] = {
    **dict.fromkeys(TEXT_ROOTS, (TypeRoot.BOOLEAN, *_NUMBERS, *TEXT_ROOTS, *_BYTES, *_CLOCKS)),
    TypeRoot.BOOLEAN: (*TEXT_ROOTS, *_INTEGERS),
    **dict.fromkeys(_BYTES, (*TEXT_ROOTS, *_BYTES)),
    TypeRoot.DECIMAL: (*_NUMBERS, *TEXT_ROOTS, TypeRoot.BOOLEAN),
    **dict.fromkeys(_INTEGERS, (*_NUMBERS, *TEXT_ROOTS, TypeRoot.BOOLEAN)),
    TypeRoot.INT: (*_NUMBERS, *TEXT_ROOTS, TypeRoot.BOOLEAN, *_TIMESTAMPS),
    TypeRoot.BIGINT: (*_NUMBERS, *TEXT_ROOTS, TypeRoot.BOOLEAN, *_TIMESTAMPS),
    **dict.fromkeys(_FLOATS, (*_NUMBERS, *TEXT_ROOTS, TypeRoot.BOOLEAN)),
    TypeRoot.DATE: (*_TIMESTAMPS, *TEXT_ROOTS),
    TypeRoot.TIME: (TypeRoot.TIME, *_TIMESTAMPS, *TEXT_ROOTS),
    **dict.fromkeys(_TIMESTAMPS, (*_CLOCKS, *TEXT_ROOTS, TypeRoot.INT, TypeRoot.BIGINT)),
}
"""From what a type is reached if values may lose digits, or fail to be read."""


def is_castable(source: DataType, target: DataType, *, explicitly: bool) -> bool:
    """Return whether values of one type can be read as another; nullability does not count.

    Parameters
    ----------
    source, target
        Types; composite ones only reach themselves, their parts change one by one.
    explicitly
        Whether casts count that can lose something.

    Examples
    --------
    >>> from paimonlab.spec.types.text import parse_type
    >>> is_castable(parse_type("INT"), parse_type("BIGINT"), explicitly=False)
    True
    >>> is_castable(parse_type("BIGINT"), parse_type("INT"), explicitly=False)
    False
    """
    if with_nullable(source, nullable=True) == with_nullable(target, nullable=True):
        return True
    if not isinstance(source, AtomicType) or not isinstance(target, AtomicType):
        return False
    rules = _EXPLICIT if explicitly else _IMPLICIT
    if source.root in _CLOCKS and target.root in TEXT_ROOTS and target.length != MAX_LENGTH:
        return False  # Java prints dates and times into STRING only
    return source.root in rules.get(target.root, ())


def reads_each(source: DataType, target: DataType) -> bool:
    """Return whether each value of one type can be read as another, whatever it loses.

    Examples
    --------
    >>> from paimonlab.spec.types.text import parse_type
    >>> reads_each(parse_type("INT"), parse_type("STRING"))
    True
    >>> [reads_each(parse_type(text), parse_type("DECIMAL(9, 2)")) for text in ("STRING", "DOUBLE")]
    [False, False]
    """
    if not is_castable(source, target, explicitly=True):
        return False
    if not isinstance(source, AtomicType) or not isinstance(target, AtomicType):
        return True  # the same type
    if source.root in _FLOATS and target.root is TypeRoot.DECIMAL:
        return False  # NaN is none
    return source.root not in TEXT_ROOTS or target.root in (*TEXT_ROOTS, *_BYTES)


_DIGITS = {
    TypeRoot.TINYINT: 3,
    TypeRoot.SMALLINT: 5,
    TypeRoot.INT: 10,
    TypeRoot.BIGINT: 19,
}
"""Digits that the integers of a type have at most."""
_EXACT: dict[TypeRoot, tuple[TypeRoot, ...]] = {
    **{root: _INTEGERS[: place + 1] for place, root in enumerate(_INTEGERS)},
    TypeRoot.FLOAT: (TypeRoot.TINYINT, TypeRoot.SMALLINT),
    TypeRoot.DOUBLE: (TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.FLOAT),
    TypeRoot.VARCHAR: TEXT_ROOTS,
    TypeRoot.VARBINARY: _BYTES,
    **{root: (root,) for root in (TypeRoot.TIME, *_TIMESTAMPS)},
}
"""From what (values) a type (key) is reached if it is as long. CHAR is not here: it is padded."""


def is_wider(source: DataType, target: DataType) -> bool:
    """Return whether a type has each value of another one unchanged; nullability does not count.

    Java's implicit casts (`is_castable`) are more: BIGINT to FLOAT, or DOUBLE to DECIMAL.

    Examples
    --------
    >>> from paimonlab.spec.types.text import parse_type
    >>> is_wider(parse_type("INT"), parse_type("DECIMAL(12, 2)"))
    True
    >>> is_wider(parse_type("BIGINT"), parse_type("DOUBLE"))
    False
    >>> is_wider(parse_type("VARCHAR(3)"), parse_type("STRING"))
    True
    """
    if with_nullable(source, nullable=True) == with_nullable(target, nullable=True):
        return True
    if not isinstance(source, AtomicType) or not isinstance(target, AtomicType):
        return False
    if target.root is TypeRoot.DECIMAL:
        whole = _whole_digits(source) <= _whole_digits(target)
        return whole and (source.scale or 0) <= (target.scale or 0)
    return source.root in _EXACT.get(target.root, ()) and _size(source) <= _size(target)


def _whole_digits(number: AtomicType) -> int:
    """Return the digits before the point; of what is no exact number more than any type has."""
    if number.root is TypeRoot.DECIMAL:
        return (number.precision or 0) - (number.scale or 0)
    return _DIGITS.get(number.root, MAX_LENGTH)


def _size(sized: AtomicType) -> int:
    return sized.length if sized.length is not None else sized.precision or 0
