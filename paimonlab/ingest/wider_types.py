"""The type that holds the values of two, for columns that change and shards that differ."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from paimonlab.spec.types.casting import is_wider
from paimonlab.spec.types.data_types import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    RowType,
    TypeRoot,
    with_nullable,
)
from paimonlab.spec.types.text import MAX_DECIMAL_PRECISION

_WHOLE_DIGITS = {
    TypeRoot.TINYINT: 3,
    TypeRoot.SMALLINT: 5,
    TypeRoot.INT: 10,
    TypeRoot.BIGINT: 19,
}


def wider_type(left: DataType, right: DataType) -> DataType | None:
    """Return the narrowest type that has each value of two types unchanged.

    Nullable if one of them is. Fields of ROWs are matched by name; what one lacks is nullable.

    Returns
    -------
    DataType or None
        None: there is no such type.

    Examples
    --------
    >>> from paimonlab.spec.types.text import format_type, parse_type
    >>> def wider(left, right):
    ...     found = wider_type(parse_type(left), parse_type(right))
    ...     return found and format_type(found)
    >>> wider("INT NOT NULL", "BIGINT"), wider("DECIMAL(10, 2)", "DECIMAL(8, 4)")
    ('BIGINT', 'DECIMAL(12, 4)')
    >>> wider("VARCHAR(5)", "CHAR(9)"), wider("INT", "FLOAT"), wider("INT", "STRING")
    ('VARCHAR(9)', 'DOUBLE', None)
    """
    nullable = left.nullable or right.nullable
    match left, right:
        case AtomicType(), AtomicType():
            found = _atomic(left, right)
        case ArrayType(mine), ArrayType(other):
            element = wider_type(mine, other)
            found = None if element is None else ArrayType(element)
        case MapType(key, mine), MapType(other_key, other):
            value = wider_type(mine, other)
            is_same = with_nullable(key, nullable=True) == with_nullable(other_key, nullable=True)
            found = MapType(key, value) if is_same and value is not None else None
        case RowType(mine), RowType(other):
            found = _row(mine, other)
        case _:
            is_same = with_nullable(left, nullable=True) == with_nullable(right, nullable=True)
            found = left if is_same else None
    return None if found is None else with_nullable(found, nullable)


def _atomic(left: AtomicType, right: AtomicType) -> DataType | None:
    for candidate in (left, right, *_candidates(left, right)):
        if is_wider(left, candidate) and is_wider(right, candidate):
            return candidate
    return None


def _candidates(left: AtomicType, right: AtomicType) -> Iterator[AtomicType]:
    length = max(left.length or 0, right.length or 0)
    yield AtomicType(TypeRoot.VARCHAR, length=length)
    yield AtomicType(TypeRoot.VARBINARY, length=length)
    yield AtomicType(TypeRoot.DOUBLE)
    whole, scale = _digits(left), _digits(right)
    if whole is not None and scale is not None:
        before, after = max(whole[0], scale[0]), max(whole[1], scale[1])
        if before + after <= MAX_DECIMAL_PRECISION:
            yield AtomicType(TypeRoot.DECIMAL, precision=before + after, scale=after)


def _digits(number: AtomicType) -> tuple[int, int] | None:
    """Return the digits before and after the point; None: it is no exact number."""
    if number.root is TypeRoot.DECIMAL:
        scale = number.scale or 0
        return (number.precision or 0) - scale, scale
    whole = _WHOLE_DIGITS.get(number.root)
    return None if whole is None else (whole, 0)


def _row(left: tuple[DataField, ...], right: tuple[DataField, ...]) -> RowType | None:
    others = {field.name: field for field in right}
    merged = []
    for field in left:
        other = others.pop(field.name, None)
        found = with_nullable(field.type, nullable=True)
        if other is not None:
            wider = wider_type(field.type, other.type)
            if wider is None:
                return None
            found = wider
        merged.append(replace(field, type=found))
    merged += [
        replace(field, type=with_nullable(field.type, nullable=True)) for field in others.values()
    ]
    return RowType(tuple(merged))
