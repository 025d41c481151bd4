"""``GROUP BY``: keys, numbers of columns, ALL, ROLLUP, CUBE and GROUPING SETS."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from paimonlab.errors import UnsupportedError
from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.aggregates import AGGREGATES
from paimonlab.sql_engine.kinds import spark_type
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.time_windows import is_span
from paimonlab.sql_engine.tree import check_parts
from paimonlab.sql_engine.value import Value

_SETS = {exp.Rollup: "ROLLUP", exp.Cube: "CUBE"}
_CONSTANT = "([1])[1]"
"""A key that all rows have: DuckDB takes a number for the place of a column."""
Key = Callable[[exp.Expression], Value]
"""Translates one key."""


def check_comparable(values: Sequence[Value], what: str) -> None:
    """Check that values can be compared.

    Raises
    ------
    NotTranslatedError
        If one is nested.
    """
    for value in values:
        if not kinds.is_comparable(value.kind) and not is_span(value):
            raise NotTranslatedError(f"{what} of {spark_type(value.kind)}", what)


def check_grouped(values: Sequence[Value], what: str) -> None:
    """Check that equal values can be made one.

    Raises
    ------
    NotTranslatedError
        If one has a map, or a number within it whose zero has a sign.
    """
    for value in values:
        if not kinds.is_grouped(value.kind) and not is_span(value):
            raise NotTranslatedError(f"{what} of {spark_type(value.kind)}", what)


def check_distinct(node: exp.Select) -> None:
    """Check that DISTINCT is that of whole rows: Spark's grammar has no DISTINCT ON.

    Raises
    ------
    UnsupportedError
        If it is that of some columns, as in PostgreSQL; it says what keeps a row of each here.
    """
    distinct = node.args.get("distinct")
    if distinct is None:
        return
    if distinct.args.get("on") is None:
        check_parts(distinct)
        return
    keys = [_as_written(key) for key in distinct.args["on"].expressions]
    order = node.args.get("order")
    orders = [] if order is None else order.expressions
    # Without an order PostgreSQL takes any row of each, and so does one by the key itself.
    rest = [_as_written(one) for one in orders if _as_written(one.this) not in keys] or keys
    numbered = f"row_number() OVER (PARTITION BY {', '.join(keys)} ORDER BY {', '.join(rest)})"
    source = "FROM …" if node.args.get("group") is None else "FROM (SELECT … GROUP BY …)"
    raise UnsupportedError(
        "DISTINCT ON",
        f"Spark's SQL has none. SELECT … {source} QUALIFY {numbered} = 1 keeps the first row of "
        "each",
    )


def groups(node: exp.Select, key: Key, chosen: Sequence[Value]) -> str:
    """Translate the groups of a query; empty if it has none.

    Parameters
    ----------
    node
        The query.
    key
        Translates a key, which may be the number of a column.
    chosen
        The select list.

    Raises
    ------
    NotTranslatedError
        If they are not proven.
    """
    group = node.args.get("group")
    if group is None:
        return ""
    check_parts(group, "expressions", "all", "rollup", "cube")
    if group.args.get("all"):
        return _written(_all(node, chosen))
    whole = [name for name in ("rollup", "cube") if group.args.get(name)]
    if whole:
        if len(whole) > 1 or any(one.expressions for one in group.args[whole[0]]):
            raise NotTranslatedError("such a GROUP BY", "GROUP")
        return f" GROUP BY {whole[0].upper()} ({_listed(group.expressions, key)})"
    texts = []
    for part in group.expressions:
        if type(part) in _SETS:
            texts.append(f"{_SETS[type(part)]} ({_listed(part.expressions, key)})")
        elif isinstance(part, exp.GroupingSets):
            texts.append(f"GROUPING SETS ({', '.join(_set(one, key) for one in part.expressions)})")
        else:
            value = _checked(key(part))
            if not value.is_literal:
                texts.append(value.text)
    return _written(texts or [_CONSTANT])


def has_totals(node: exp.Select) -> bool:
    """Tell whether there are groups of fewer keys: Spark gives none of them where no row is."""
    group = node.args.get("group")
    if group is None:
        return False
    if group.args.get("rollup") or group.args.get("cube"):
        return True
    return any(
        isinstance(one, exp.GroupingSets | exp.Rollup | exp.Cube) for one in group.expressions
    )


def check_grouping_id(node: exp.Select) -> None:
    """Check that ``grouping_id`` names all keys in their order, as Spark wants it.

    Raises
    ------
    NotTranslatedError
        If not, or if that is not known.
    """
    calls = [one for one in node.find_all(exp.Anonymous) if str(one.this).lower() == "grouping_id"]
    if not calls:
        return
    group = node.args.get("group")
    parts = [] if group is None else list(group.expressions)
    if len(parts) == 1 and type(parts[0]) in _SETS:
        parts = parts[0].expressions
    elif group is None or not (group.args.get("rollup") or group.args.get("cube")):
        parts = []
    for call in calls:
        if [one.sql() for one in call.expressions] != [one.sql() for one in parts]:
            raise NotTranslatedError("grouping_id() of other columns than all keys", "grouping_id")


def _as_written(node: exp.Expression) -> str:
    """Write a part of a statement again; the number of a column is one only where it stands."""
    inner = node.this if isinstance(node, exp.Ordered) else node
    return "…" if isinstance(inner, exp.Literal) else node.sql("spark")


def _written(texts: Sequence[str]) -> str:
    return f" GROUP BY {', '.join(texts)}" if texts else " GROUP BY ()"


def _checked(value: Value) -> Value:
    check_grouped([value], "GROUP BY")
    return value


def _listed(parts: Sequence[exp.Expression], key: Key) -> str:
    """Translate keys of which some rows have none."""
    texts = []
    for part in parts:
        if isinstance(part, exp.Tuple):
            raise NotTranslatedError("several columns as one of ROLLUP or CUBE", "GROUP")
        value = _checked(key(part))
        if value.is_literal:
            raise NotTranslatedError("ROLLUP or CUBE of a constant", "GROUP")
        texts.append(value.text)
    return ", ".join(texts)


def _set(node: exp.Expression, key: Key) -> str:
    if isinstance(node, exp.Paren):
        return f"({_listed([node.this], key)})"
    parts = node.expressions if isinstance(node, exp.Tuple) else [node]
    return f"({_listed(parts, key)})"


def _all(node: exp.Select, chosen: Sequence[Value]) -> Sequence[str]:
    """Return the columns of the select list that have no aggregate."""
    if len(node.expressions) != len(chosen):
        raise NotTranslatedError("GROUP BY ALL beside *", "GROUP")
    texts = []
    for part, value in zip(node.expressions, chosen, strict=True):
        calls = [one for one in part.find_all(exp.Anonymous, exp.WithinGroup) if _is_aggregate(one)]
        if part.find(exp.Window, exp.Subquery):
            raise NotTranslatedError("GROUP BY ALL beside OVER or a query", "GROUP")
        if not calls:
            texts.append(_CONSTANT if value.is_literal else _checked(value).text)
        elif any(not _is_within(column, calls) for column in part.find_all(exp.Column)):
            raise NotTranslatedError("GROUP BY ALL of a column beside an aggregate", "GROUP")
    return texts


def _is_aggregate(node: exp.Expression) -> bool:
    return isinstance(node, exp.WithinGroup) or str(node.this).lower() in AGGREGATES


def _is_within(node: exp.Expression, calls: Sequence[exp.Expression]) -> bool:
    parent = node.parent
    while parent is not None:
        if any(parent is call for call in calls):
            return True
        parent = parent.parent
    return False
