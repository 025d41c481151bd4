"""Rows as texts that two libraries write alike; only the standard library, for each Spark's Python.

`cells` makes the text of each value: of rows of Spark, of Arrow and of the model.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeAlias

Cells: TypeAlias = tuple[str, ...]


def cell(value: Any) -> str:  # noqa: PLR0911 - one return a type
    """Write a value; structs and lists by their values."""
    match value:
        case None:
            return "NULL"
        case bool() | int() | float():
            return repr(value)
        case Decimal():
            return f"{value:.2f}"
        case str():
            return f"'{value}'"
        case dt.datetime():
            return value.replace(tzinfo=None).isoformat(" ")
        case dt.date():
            return value.isoformat()
        case Mapping():
            return cell(tuple(value.values()))
        case Sequence():
            return f"[{', '.join(map(cell, value))}]"
    raise TypeError(f"{type(value).__name__} has no text")


def cells(rows: Iterable[Iterable[Any]]) -> list[Cells]:
    """Write rows, sorted, each as often as it is there."""
    return sorted(tuple(map(cell, row)) for row in rows)
