"""PIVOT and UNPIVOT, as the queries that they stand for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from paimonlab.sql_engine.aggregates import AGGREGATES
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.tree import check_parts

_OF_NOTHING = frozenset({"count", "count_if"})
"""Aggregates that have a value for no rows."""
_NUMBERS = frozenset({"sum", "avg", "mean"})

_PLAIN = re.compile(r"[0-9]+([.][0-9]+)?")
"""Numbers that a column is called as they are written."""


def rewritten(source: exp.Expression, names: Sequence[str], pivot: exp.Pivot) -> exp.Query:
    """Return the query that ``source PIVOT (…)`` stands for.

    Parameters
    ----------
    source
        A query in parentheses, or a table.
    names
        Its columns.
    pivot
        The clause.

    Raises
    ------
    NotTranslatedError
        If it is not proven.
    """
    check_parts(
        pivot, "expressions", "fields", "unpivot", "columns", "pivot_column_naming", "alias"
    )
    if len(pivot.args.get("fields") or ()) != 1 or not isinstance(pivot.args["fields"][0], exp.In):
        raise NotTranslatedError("such a PIVOT", "PIVOT")
    if len({name.lower() for name in names}) < len(names):
        raise NotTranslatedError("PIVOT of two columns of one name", "PIVOT")
    if pivot.args.get("unpivot"):
        return _unpivoted(source, names, pivot)
    return _pivoted(source, names, pivot)


def _column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))


def _named(value: exp.Expression, name: str) -> Any:
    return exp.alias_(value, exp.to_identifier(name, quoted=True))


def _pivoted(source: exp.Expression, names: Sequence[str], pivot: exp.Pivot) -> exp.Query:
    """Group twice: by all other columns and the one that becomes columns, then by the others."""
    by: exp.In = pivot.args["fields"][0]
    if not isinstance(by.this, exp.Column) or len(by.this.parts) != 1:
        raise NotTranslatedError("PIVOT by several columns", "PIVOT")
    aggregates = [_aggregate(one) for one in pivot.expressions]
    words = {str(one.this).lower() for one, _ in aggregates}
    if words & _OF_NOTHING and not words <= _OF_NOTHING | _NUMBERS:
        # Where a value is not a number Spark counts in another way, which gives 0 for no rows.
        raise NotTranslatedError("PIVOT of a count beside such values", "PIVOT")
    used = {column.name.lower() for one, _ in aggregates for column in one.find_all(exp.Column)}
    used.add(by.this.name.lower())
    groups = [name for name in names if name.lower() not in used]
    first = exp.select(
        *(_column(name) for name in groups),
        _named(_column(by.this.name), "p"),
        *(_named(one, f"a{number}") for number, (one, _) in enumerate(aggregates)),
    ).from_(source)
    first = first.group_by(*(_column(name) for name in (*groups, by.this.name)))
    outputs: list[exp.Expression] = [_column(name) for name in groups]
    for value in by.expressions:
        constant = value.this if isinstance(value, exp.PivotAlias) else value
        sign = "-" if isinstance(constant, exp.Neg) else ""
        literal = constant.this if sign else constant
        if not isinstance(literal, exp.Literal):
            raise NotTranslatedError("PIVOT FOR what is not a literal", "PIVOT")
        if not literal.is_string and not _PLAIN.fullmatch(literal.name):
            raise NotTranslatedError(f"PIVOT FOR {literal.name}", "PIVOT")
        called = sign + literal.name
        if isinstance(value, exp.PivotAlias):
            called = value.args["alias"].name
        for number, (_, name) in enumerate(aggregates):
            chosen = exp.Case().when(
                exp.EQ(this=_column("p"), expression=constant.copy()), _column(f"a{number}")
            )
            most = exp.Anonymous(this="max", expressions=[chosen])
            outputs.append(_named(most, called if len(aggregates) == 1 else f"{called}_{name}"))
    whole = exp.select(*outputs).from_(first.subquery())
    return whole.group_by(*(_column(name) for name in groups)) if groups else whole


def _aggregate(node: exp.Expression) -> tuple[exp.Expression, str]:
    inner = node.this if isinstance(node, exp.Alias) else node
    if not isinstance(inner, exp.Anonymous) or str(inner.this).lower() not in AGGREGATES:
        raise NotTranslatedError("PIVOT of what is not one aggregate", "PIVOT")
    if isinstance(node, exp.Alias):
        return inner, node.alias
    arguments = [one for one in inner.expressions if not isinstance(one, exp.Star)]
    if not all(isinstance(one, exp.Column) for one in arguments):
        raise NotTranslatedError("PIVOT of an expression without a name", "PIVOT")
    shown = ", ".join(one.name for one in arguments) or "1"
    return inner, f"{str(inner.this).lower()}({shown})"


def _unpivoted(source: exp.Expression, names: Sequence[str], pivot: exp.Pivot) -> exp.Query:
    """Put a query for each column one below the other."""
    by: exp.In = pivot.args["fields"][0]
    values = pivot.expressions
    is_plain = len(values) == 1 and isinstance(values[0], exp.Column | exp.Identifier)
    if not is_plain or not isinstance(by.this, exp.Column | exp.Identifier):
        raise NotTranslatedError("UNPIVOT of several columns at once", "UNPIVOT")
    chosen: list[tuple[str, str]] = []
    for one in by.expressions:
        inner = one.this if isinstance(one, exp.PivotAlias | exp.Alias) else one
        if not isinstance(inner, exp.Column):
            raise NotTranslatedError("UNPIVOT of several columns at once", "UNPIVOT")
        alias = one.args["alias"].name if inner is not one else inner.name
        chosen.append((inner.name, alias))
    taken = {name.lower() for name, _ in chosen}
    rest = [name for name in names if name.lower() not in taken]
    queries: list[exp.Select] = []
    for name, alias in chosen:
        query = exp.select(
            *(_column(one) for one in rest),
            _named(exp.Literal.string(alias), by.this.name),
            _named(_column(name), values[0].name),
        ).from_(source.copy())
        queries.append(query.where(exp.Not(this=exp.Is(this=_column(name), expression=exp.Null()))))
    whole: exp.Query = queries[0]
    for query in queries[1:]:
        whole = exp.union(whole, query, distinct=False, copy=False)
    return whole
