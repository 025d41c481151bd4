"""Which kind of values a column of a result has: how they are compared, and written in SQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pyarrow as pa

ColumnKind = Literal[
    "whole",
    "decimal",
    "float",
    "double",
    "text",
    "boolean",
    "date",
    "timestamp",
    "local timestamp",
    "binary",
    "nested",
    "other",
]
"""``timestamp`` has no zone, ``local timestamp`` is a moment, shown in the zone of its column."""

_TEXT_TYPES = ("string", "large_string", "varchar", "char")


def column_kind(kind: pa.DataType, type_text: str) -> ColumnKind:
    """Return the kind of a column.

    Parameters
    ----------
    kind
        Its type in Arrow.
    type_text
        Its type in SQL: what Arrow has no form for is transferred as text and is ``other``.
    """
    types = pa.types
    if types.is_string(kind) or types.is_large_string(kind):
        return "text" if type_text.startswith(_TEXT_TYPES) else "other"
    if types.is_timestamp(kind):
        return "timestamp" if kind.tz is None else "local timestamp"
    for is_kind, name in _KINDS:
        if is_kind(kind):
            return name
    return "other"


_KINDS: tuple[tuple[Callable[[pa.DataType], bool], ColumnKind], ...] = (
    (pa.types.is_integer, "whole"),
    (pa.types.is_decimal, "decimal"),
    (pa.types.is_float32, "float"),
    (pa.types.is_float64, "double"),
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_date, "date"),
    (pa.types.is_binary, "binary"),
    (pa.types.is_nested, "nested"),
)
