"""What was typed into the table of a result, as SQL over its statement."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

import pyarrow as pa

from paimonlab.errors import UnsupportedError
from paimonlab.notebook.cell.statements import split
from paimonlab.notebook.kernel.selection import RowQuery
from paimonlab.notebook.results.column_kinds import ColumnKind
from paimonlab.notebook.results.row_query import literals
from paimonlab.notebook.results.row_query.bounds import bound
from paimonlab.notebook.results.row_query.filters import (
    Compares,
    Contains,
    IsNull,
    Operator,
    Value,
    condition,
    lowered,
)
from paimonlab.spark.values.quoting import quoted

_IN_FLOATS = frozenset("0123456789.+-einfaty")
"""All characters that the text of a floating-point number may have, in lower case."""


@dataclass(frozen=True, slots=True)
class SqlColumn:
    """A column of the statement."""

    name: str
    type: pa.DataType
    kind: ColumnKind


def query_sql(statement: str, columns: Sequence[SqlColumn], query: RowQuery) -> str:
    """Return SQL that answers what the table shows, of all rows of a statement.

    Parameters
    ----------
    statement
        A query.
    columns
        What it returns.
    query
        What was chosen; if nothing was, the statement itself is returned.

    Raises
    ------
    UnsupportedError
        If the statement is not a query, or SQL writes what a condition looks for differently.
    """
    if not query:
        return statement
    if not all(part.is_query for part in split(statement)):
        raise UnsupportedError("SQL over a statement that is not a query", "use to_arrow()")
    parts = ["SELECT * FROM (", statement, ")"]  # on lines of their own: it may end in a comment
    if wanted := conditions(columns, query):
        parts.append("WHERE " + "\n  AND ".join(wanted))
    if by := order(columns, query):
        parts.append(f"ORDER BY {by}")
    return "\n".join(parts)


def conditions(columns: Sequence[SqlColumn], query: RowQuery) -> list[str]:
    """Return the conditions, all of which are true for the rows that pass.

    Raises
    ------
    UnsupportedError
        As `query_sql` does.
    IndexError
        If there is no such column.
    """
    terms = [_filter(columns, number, text) for number, text in query.filters]
    piece = lowered(query.search.strip(" \t"))
    if piece:
        matches = [_contains(columns, number, piece, "a search") for number in range(len(columns))]
        some = [term for term in matches if term != _NEVER]
        terms.append("(" + " OR ".join(some) + ")" if some else _NEVER)
    return [term for term in terms if term]


def order(columns: Sequence[SqlColumn], query: RowQuery) -> str:
    """Return what follows ``ORDER BY``; empty if the rows are not sorted.

    Raises
    ------
    UnsupportedError
        If SQL orders such values differently, or not at all.
    """
    if query.by is None:
        return ""
    column = columns[query.by]
    if column.kind == "nested" or (column.kind == "other" and pa.types.is_string(column.type)):
        raise _refused(f"an order by {column.name}", column)
    return f"{_name(columns, query.by)} {'DESC' if query.descending else 'ASC'} NULLS LAST"


_NEVER = "false"


def _filter(columns: Sequence[SqlColumn], number: int, text: str) -> str:
    column = columns[number]
    match condition(text, column.kind):
        case IsNull(is_null):
            return f"{_name(columns, number)} IS {'' if is_null else 'NOT '}NULL"
        case Compares(operator, value):
            return _compared(_name(columns, number), column, operator, value)
        case Contains(piece):
            return _contains(columns, number, piece, "a filter")
        case _:
            return ""


def _name(columns: Sequence[SqlColumn], number: int) -> str:
    name = columns[number].name
    if sum(column.name.lower() == name.lower() for column in columns) > 1:
        raise UnsupportedError(
            f"SQL over two columns named {name}", "give them names of their own in the query"
        )
    return quoted(name)


def _refused(what: str, column: SqlColumn) -> UnsupportedError:
    return UnsupportedError(
        f"{what} in SQL", f"SQL has no such text for values of type {column.type}: use to_arrow()"
    )


def _contains(columns: Sequence[SqlColumn], number: int, piece: str, what: str) -> str:
    """Look for a piece of text in a column; `_NEVER` if no value of its type can have it."""
    column = columns[number]
    if column.kind in {"float", "double"} and not set(piece) <= _IN_FLOATS:
        return _NEVER
    if column.kind in {"float", "double", "nested", "other"}:
        raise _refused(f"{what} for {piece!r} in column {column.name}", column)
    name = _name(columns, number)
    if column.kind == "text":
        written = f"lower({name})"
    elif column.kind == "binary":
        written = f"concat('0x', lower(hex({name})))"
    else:
        written = f"CAST({name} AS STRING)"
    return f"contains({written}, {literals.text(piece)})"


def _compared(name: str, column: SqlColumn, operator: Operator, value: Value) -> str:
    if isinstance(value, Fraction):
        return _number_compared(name, column.type, operator, value)
    if isinstance(value, bool):
        literal = "true" if value else "false"
    elif isinstance(value, float):
        literal = literals.floating(value, column.kind.upper())
    elif isinstance(value, str):
        literal = literals.text(value)
    elif isinstance(value, bytes):
        literal = f"X'{value.hex()}'"
    elif isinstance(value, dt.datetime):
        # As it is shown: the time on the clock of the session's zone.
        name = f"CAST({name} AS TIMESTAMP_NTZ)" if column.kind == "local timestamp" else name
        literal = f"TIMESTAMP_NTZ'{value.isoformat(sep=' ')}'"
    else:
        literal = f"DATE'{value.isoformat()}'"
    return f"{name} {operator} {literal}"


def _number_compared(name: str, kind: pa.DataType, operator: Operator, value: Fraction) -> str:
    is_decimal = pa.types.is_decimal(kind)
    if is_decimal:
        nines = 10**kind.precision - 1
        comparison = bound(operator, value * Fraction(10) ** kind.scale, -nines, nines)
    else:
        half = 2 ** (kind.bit_width - 1)
        comparison = bound(operator, value, -half, half - 1)
    if isinstance(comparison, bool):
        return f"{name} IS NOT NULL" if comparison else _NEVER
    if not is_decimal:
        suffix = "L" if kind.bit_width == 64 else ""
        return f"{name} {comparison.operator} {comparison.number}{suffix}"
    with localcontext(prec=kind.precision + 1):
        text = format(Decimal(comparison.number).scaleb(-kind.scale), "f")
    literal = f"CAST('{text}' AS DECIMAL({kind.precision}, {kind.scale}))"
    return f"{name} {comparison.operator} {literal}"
