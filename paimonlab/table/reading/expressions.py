"""Conditions beyond predicates: functions, arithmetic, comparisons of two columns.

No file can be ruled out by them, so that they are looked at row by row, after the rest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa

from paimonlab.errors import UnsupportedError
from paimonlab.spec import predicates
from paimonlab.spec.predicates.predicate import Predicate, all_of
from paimonlab.table import reading
from paimonlab.table.definition import TableDefinition
from paimonlab.table.reading.conditions import bound, is_of_library
from paimonlab.table.reading.row_conditions import Condition
from paimonlab.table.reading.scan import Scan
from paimonlab.table.reading.scan_kinds import OfChanges, OfCondition


def predicate_of(text: str) -> tuple[Predicate | None, bool]:
    """Parse what of a condition files can be ruled out by.

    Returns
    -------
    predicate : Predicate or None
        None: nothing of it.
    is_whole : bool
        Whether that is all of the condition.

    Raises
    ------
    SchemaError
        If the text cannot be read.
    """
    try:
        return predicates.sql.parse_predicate(text), True
    except UnsupportedError:
        return predicates.sql.parse_what_prunes(text), False


def divided(where: Any, definition: TableDefinition) -> tuple[Predicate | None, Condition | None]:
    """Divide a condition into what rules out files, and what is looked at row by row.

    Returns
    -------
    predicate : Predicate or None
        Bound to the table; true wherever the condition is; None: that may be anywhere.
    condition : Condition or None
        The whole condition; None: the predicate is.

    Raises
    ------
    SchemaError, ColumnNotFoundError, UnsupportedError
        As `Table.scan` does.
    """
    schema, table = definition.schema, definition.name
    known, is_whole = what_prunes(where, schema.arrow_schema, table)
    condition = None if is_whole else Condition.of(where, schema.arrow_schema, table)
    return bound(known, schema.fields, table), condition


def what_prunes(where: Any, schema: pa.Schema, table: str) -> tuple[str | Predicate | None, bool]:
    """Return what of a condition files can be ruled out by, and whether that is all of it.

    Raises
    ------
    SchemaError, ColumnNotFoundError, UnsupportedError
        As `Table.scan` does.
    """
    if isinstance(where, str):
        return predicate_of(where)
    if is_of_library(where):
        found = reading.library_conditions.library_condition(where, schema, table)
        return found.known, found.is_whole
    return where, True


def restricted(rows: Scan, where: Any) -> Scan | None:
    """Read those rows of a read for which an expression of a library is true as well.

    Returns
    -------
    Scan or None
        None: the read itself has to be filtered.
    """
    if rows.row_limit is not None or isinstance(rows.kind, OfChanges | OfCondition):
        return None
    known, is_whole = what_prunes(where, rows.arrow_schema, rows.definition.name)
    more = bound(known, rows.schema.fields, rows.definition.name)
    both = [one for one in (rows.predicate, more) if one is not None]
    found = rows.narrowed(rows.columns, all_of(*both) if both else None)
    return found if is_whole else with_condition(found, where, None)


def with_condition(rows: Scan, where: Any, limit: int | None) -> Scan:
    """Read the rows of a read for which a condition is true.

    Raises
    ------
    UnsupportedError
        If it cannot be evaluated; names the function.
    ColumnNotFoundError
        If a column does not exist.
    """
    condition = Condition.of(where, rows.schema.arrow_schema, rows.definition.name)
    names = condition.columns
    extra = [name for name in rows.schema.field_names if name in names - {*rows.columns}]
    inner = replace(rows.narrowed([*rows.columns, *extra], rows.predicate), row_limit=None)
    return replace(
        rows,
        row_limit=limit,
        kind=OfCondition(inner, condition),
    )
