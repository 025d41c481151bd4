"""What a condition on a column looks like, for messages."""

from __future__ import annotations

from paimonlab.spec.sql_text.call_text import quoted
from paimonlab.spec.types.data_types import TEXT_ROOTS, AtomicType, DataType, TypeRoot

_TIMES = (TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ)
_WHOLE = (TypeRoot.VARIANT, TypeRoot.BLOB)
_OTHERS = {
    TypeRoot.BOOLEAN: "true",
    TypeRoot.DATE: "DATE '2026-01-31'",
    TypeRoot.TIME: "'12:00:00'",
    TypeRoot.BINARY: "X'1F'",
    TypeRoot.VARBINARY: "X'1F'",
}


def example(column: str, data_type: DataType) -> str:
    """Write a condition that a column of this type can be in.

    Examples
    --------
    >>> from paimonlab.spec.types.text import parse_type
    >>> example("id", parse_type("BIGINT")), example("my key", parse_type("STRING"))
    ('id = 5', "`my key` = 'abc'")
    >>> example("tags", parse_type("ARRAY<INT>"))
    'tags IS NOT NULL'
    """
    name = quoted(column)
    if not isinstance(data_type, AtomicType) or data_type.root in _WHOLE:
        return f"{name} IS NOT NULL"
    if data_type.root in TEXT_ROOTS:
        return f"{name} = 'abc'"
    if data_type.root in _TIMES:
        return f"{name} >= '2026-01-31 12:00:00'"
    return f"{name} = {_OTHERS.get(data_type.root, '5')}"
