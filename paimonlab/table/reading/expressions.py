"""Conditions beyond predicates: functions, arithmetic, comparisons of two columns.

No file can be ruled out by them, so that they are looked at row by row, after the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pyarrow as pa

from paimonlab import write
from paimonlab.arrow_values import null_filled
from paimonlab.errors import ColumnNotFoundError, UnsupportedError
from paimonlab.spec import predicates
from paimonlab.spec.predicates.predicate import Predicate
from paimonlab.table.definition import TableDefinition
from paimonlab.table.reading.conditions import bound
from paimonlab.table.reading.scan import Scan
from paimonlab.table.reading.scan_kinds import OfCondition


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


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that is evaluated row by row."""

    text: str
    """In SQL."""
    columns: frozenset[str]
    """What it reads."""
    evaluate: Callable[[pa.RecordBatch], pa.Array]
    """Makes a truth value a row of rows with these columns: true, false or null."""

    @classmethod
    def of(cls, text: str, schema: pa.Schema, table: str) -> Condition:
        """Parse one.

        Raises
        ------
        UnsupportedError
            If it cannot be evaluated; names the function.
        ColumnNotFoundError
            If a column does not exist; ``table`` is only for the message.
        """
        names = write.expressions.sql.columns_of(text)
        for name in sorted(names.difference(schema.names)):
            raise ColumnNotFoundError(name, table, schema.names, f"A text is quoted: '{name}'")
        value = write.expressions.conditions.truth(
            write.expressions.sql.parse_expression(text, schema, table)
        )
        return cls(value.text, frozenset(names), value.evaluate)

    def is_true(self, rows: pa.RecordBatch) -> pa.Array:
        """Tell of each row whether it is true: n values without nulls."""
        return null_filled(self.evaluate(rows), False)


def divided(
    where: str | Predicate | None, definition: TableDefinition
) -> tuple[Predicate | None, Condition | None]:
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
    fields, table = definition.schema.fields, definition.name
    if not isinstance(where, str):
        return bound(where, fields, table), None
    known, is_whole = predicate_of(where)
    condition = None if is_whole else Condition.of(where, definition.schema.arrow_schema, table)
    return bound(known, fields, table), condition


def with_condition(rows: Scan, text: str, limit: int | None) -> Scan:
    """Read the rows of a read for which a condition is true.

    Raises
    ------
    UnsupportedError
        If it cannot be evaluated; names the function.
    ColumnNotFoundError
        If a column does not exist.
    """
    condition = Condition.of(text, rows.schema.arrow_schema, rows.definition.name)
    names = condition.columns
    extra = [name for name in rows.schema.field_names if name in names - {*rows.columns}]
    inner = replace(rows.narrowed([*rows.columns, *extra], rows.predicate), limit=None)
    return replace(
        rows,
        limit=limit,
        kind=OfCondition(inner, condition),
    )
