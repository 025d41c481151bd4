"""An expression that is bound to columns: its type, and how it is evaluated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

import pyarrow as pa

from paimonlab.arrow_values import arrow_scalar
from paimonlab.errors import ColumnNotFoundError

Evaluate: TypeAlias = Callable[[pa.RecordBatch], pa.Array]
"""Makes one value per row; raises `DataError` where that is impossible."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A bound expression."""

    type: pa.DataType
    """Of its values; null: it is NULL whatever the row."""
    evaluate: Evaluate
    text: str
    """As SQL, for messages."""
    constant: bool | int | float | Decimal | str | None = None
    """The value of a literal; None for NULL and for anything else."""


def column(name: str, schema: pa.Schema, table: str, hint: str = "") -> Expression:
    """Make an expression of a column.

    Raises
    ------
    ColumnNotFoundError
        If there is no such column; ``table`` and ``hint`` are for the message.
    """
    if name not in schema.names:
        raise ColumnNotFoundError(name, table, schema.names, hint)
    return Expression(schema.field(name).type, lambda rows: rows.column(name), name)


def literal(value: object, arrow_type: pa.DataType, text: str) -> Expression:
    """Make an expression of a constant."""
    scalar = arrow_scalar(value, arrow_type)
    known = value if isinstance(value, bool | int | float | Decimal | str) else None
    return Expression(arrow_type, lambda rows: pa.repeat(scalar, rows.num_rows), text, known)
