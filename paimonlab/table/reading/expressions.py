"""Conditions beyond predicates: functions, arithmetic, comparisons of two columns.

No file can be ruled out by them, so that they are looked at row by row, after the rest.
"""

from __future__ import annotations

from dataclasses import replace

from paimonlab import write
from paimonlab.errors import ColumnNotFoundError, UnsupportedError
from paimonlab.spec import predicates
from paimonlab.spec.predicates.predicate import Predicate
from paimonlab.table.reading.scan import OfCondition, Scan


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


def with_condition(rows: Scan, text: str, limit: int | None) -> Scan:
    """Read the rows of a read for which a condition is true.

    Raises
    ------
    UnsupportedError
        If it cannot be evaluated; names the function.
    ColumnNotFoundError
        If a column does not exist.
    """
    names = write.expressions.sql.columns_of(text)
    schema, table = rows.schema.arrow_schema, rows.definition.name
    for name in sorted(names.difference(schema.names)):
        raise ColumnNotFoundError(name, table, schema.names, f"A text is quoted: '{name}'")
    value = write.expressions.conditions.truth(
        write.expressions.sql.parse_expression(text, schema, table)
    )
    extra = [name for name in rows.schema.field_names if name in names - {*rows.columns}]
    inner = replace(rows.narrowed([*rows.columns, *extra], rows.predicate), limit=None)
    return replace(
        rows,
        limit=limit,
        kind=OfCondition(inner, value.evaluate, value.text),
    )
