"""Columns and condition of a read, as users give them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import pyarrow as pa

from paimonlab.errors import ColumnNotFoundError, UnsupportedError
from paimonlab.spec import predicates
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.predicates.predicate import Column, Predicate, bind, columns
from paimonlab.spec.schema.row_tracking import TRACKING_COLUMNS, RowTrackingOptions, with_tracking
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import DataField
from paimonlab.table import reading

if TYPE_CHECKING:
    import polars as pl
    import pyarrow.compute as pc

Where: TypeAlias = "str | Predicate | pc.Expression | pl.Expr"
"""A condition as users give it."""


def is_of_library(where: object) -> bool:
    """Tell whether a condition is an expression of pyarrow or polars."""
    library = type(where).__module__.partition(".")[0]
    return (library, type(where).__name__) in (("pyarrow", "Expression"), ("polars", "Expr"))


def resolved(
    names: Sequence[str] | None,
    where: Where | None,
    schema: TableSchema,
    options: Options,
    table: str,
) -> tuple[tuple[str, ...], TableSchema, Predicate | None]:
    """Find the columns a read asks for, and the schema that has them.

    Parameters
    ----------
    names
        Columns in the order wanted; None: all of ``schema``. ``_ROW_ID`` and
        ``_SEQUENCE_NUMBER`` may be asked for if rows are tracked.
    where
        As for `bound`.
    schema
        Of the table, or of a snapshot of it.
    options
        The table's options.
    table
        Its name, for messages.

    Returns
    -------
    names : tuple of str
    schema : TableSchema
        With the tracking columns if they are asked for.
    predicate : Predicate or None
        Bound to that schema.

    Raises
    ------
    ColumnNotFoundError
        If a column does not exist.
    """
    readable = with_tracking(schema) if options.slice(RowTrackingOptions).row_tracking else schema
    wanted = schema.field_names if names is None else _checked(names, readable, table)
    predicate = bound(where, readable.fields, table)
    asked = {*wanted, *(() if predicate is None else columns(predicate))}
    return wanted, readable if asked & TRACKING_COLUMNS else schema, predicate


def _checked(names: Sequence[str], schema: TableSchema, table: str) -> tuple[str, ...]:
    if isinstance(names, str):
        raise TypeError(f"columns must be a list of names, not the text {names!r}")
    for name in names:
        if name not in schema.field_names:
            raise ColumnNotFoundError(name, table, schema.field_names)
    if len(set(names)) < len(names):
        raise ValueError(f"a column is asked for twice: {list(names)}")
    return tuple(names)


def _whole(where: Any, fields: Sequence[DataField], table: str) -> Predicate:
    schema = pa.schema([pa.field(one.name, to_arrow(one.type)) for one in fields])
    found = reading.library_conditions.library_condition(where, schema, table)
    if found.known is None or not found.is_whole:
        raise UnsupportedError(
            f"{found.text} as a condition here",
            f"{table}: only columns that are compared with values of their own types, no floats",
        )
    return found.known


def bound(where: Where | None, fields: Sequence[DataField], table: str) -> Predicate | None:
    """Bind SQL text or an expression to columns; None stays None.

    Raises
    ------
    SchemaError
        If the text cannot be read, or a literal does not fit its column.
    ColumnNotFoundError
        If a column does not exist; ``table`` is only for the message.
    """
    if where is None:
        return None
    given: Any = where
    if isinstance(where, str):
        given = predicates.sql.parse_predicate(where)
    elif is_of_library(where):
        given = _whole(where, fields, table)
    if not isinstance(given, Predicate | Column):
        raise TypeError(
            f"{table}: a condition is SQL text ('amount > 10') or made with paimonlab.col, not a "
            f"{type(given).__module__}.{type(given).__name__}"
        )
    return bind(cast("Predicate", given), fields, table)
