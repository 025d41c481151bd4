"""Typed parameters, ``:name`` and ``?``: which occur in a statement, and their values.

Values travel beside the SQL text (``spark.sql(text, args=…)``), never in it, so no value can
change what a statement means.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np

from paimonlab.errors import close_matches
from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.cell.statements import Statement
from paimonlab.spec.sql_text.tokens import Span, Token, TokenKind

Values: TypeAlias = Mapping[str, Any] | Sequence[Any]
"""What a statement is given: values by name, or one for each ``?``."""
Bound: TypeAlias = dict[str, Any] | list[Any]
"""What is sent beside the text."""


def parameters(tokens: Sequence[Token]) -> Iterator[tuple[str, Token]]:
    """Yield the name and the token of each ``:name``.

    Not a parameter: ``a::int``, ``v:field``, ``a[1:2]``, ``STRUCT<a :INT>``, and whatever
    is in a string or a comment.
    """
    depth = 0
    for index, token in enumerate(tokens):
        before = tokens[index - 1] if index else None
        after = tokens[index + 1] if index + 1 < len(tokens) else None
        depth = _type_depth(depth, before, token)
        if token.text != ":" or token.kind is not TokenKind.SYMBOL or depth:
            continue
        is_glued = before is not None and before.end == token.start and _ends_operand(before)
        if after is not None and not is_glued and _is_name(after) and after.start == token.end:
            yield after.text, after


def _type_depth(depth: int, before: Token | None, token: Token) -> int:
    """Count the ``<`` of a ``STRUCT<…>`` that are open after ``token``."""
    if token.text == "<" and before is not None:
        return depth + 1 if depth or before.text.upper() == "STRUCT" else 0
    return depth - 1 if token.text == ">" and depth else depth


def _is_name(token: Token) -> bool:
    return token.kind is TokenKind.WORD and not token.text[0].isdigit()


def _ends_operand(token: Token) -> bool:
    return token.kind is not TokenKind.SYMBOL or token.text in ")]}"


def markers(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield each ``?``; not those in strings, comments and names in back-quotes."""
    return (token for token in tokens if token.kind is TokenKind.SYMBOL and token.text == "?")


def share(
    statements: Sequence[Statement], named: Mapping[str, Any], in_order: Sequence[Any] | None
) -> list[Values]:
    """Give each statement of a cell its values, before the first is run.

    Parameters
    ----------
    statements
        All of the cell.
    named
        Values of ``:name``.
    in_order
        Values of ``?``, the first for the first in the cell; None if there are none.

    Returns
    -------
    list
        For each statement its part of ``in_order`` if it has a ``?``, else ``named``.

    Raises
    ------
    QueryError
        If there are more or fewer values than ``?``, or a statement has both kinds.
    """
    shares: list[Values] = []
    count = 0
    for statement in statements:
        question_marks = list(markers(statement.tokens))
        if not question_marks:
            shares.append(named)
            continue
        _check_kind(statement)
        given = () if in_order is None else tuple(in_order)
        if count + len(question_marks) > len(given):
            missing = question_marks[max(len(given) - count, 0)]
            raise _without_value(statement, missing, None if in_order is None else len(given))
        shares.append(given[count : count + len(question_marks)])
        count += len(question_marks)
    if in_order is not None and count < len(in_order):
        raise QueryError(
            f"There are {len(in_order)} values for {count} ?.",
            topic="parameters",
            statement=statements[-1],
            hint="Each ? of the cell takes one value, in order.",
        )
    return shares


def _check_kind(statement: Statement) -> None:
    for name, token in parameters(statement.tokens):
        raise QueryError(
            f"A statement has values for ? or for names; this one has ? and :{name}.",
            topic="parameters",
            statement=statement,
            span=Span(token.start - 1, token.end),
            hint=f"Write ? instead of :{name}, or names instead of every ?.",
        )


def _without_value(statement: Statement, marker: Token, count: int | None) -> QueryError:
    given = "There are no values" if not count else f"There are only {count} values"
    return QueryError(
        f"{given} for ?; this is the first without one.",
        topic="parameters",
        statement=statement,
        span=Span(marker.start, marker.end),
        hint="--params NAME gives those of a list, and paimonlab.sql(text, args=[…])."
        if count is None
        else "Each ? of the cell takes one value, in order.",
    )


def bind(statement: Statement, values: Values) -> Bound:
    """Look up the values of the names that occur in a statement, or check those of ``?``.

    Parameters
    ----------
    statement
        The statement.
    values
        What `share` gave it.

    Raises
    ------
    QueryError
        If a name has no value, or one is of a type that Spark has no literal for.
    """
    if not isinstance(values, Mapping):
        tokens = list(markers(statement.tokens))
        return [
            _literal(
                f"The value of ? number {number}", value, statement, Span(token.start, token.end)
            )
            for number, (token, value) in enumerate(zip(tokens, values, strict=True), start=1)
        ]
    return bind_names(statement, values)


def bind_names(statement: Statement, namespace: Mapping[str, Any]) -> dict[str, Any]:
    """Look up the values of the names that occur in a statement.

    Raises
    ------
    QueryError
        As `bind` does.
    """
    values = {}
    for name, token in parameters(statement.tokens):
        span = Span(token.start - 1, token.end)
        if name not in namespace:
            variables = [variable for variable in namespace if not variable.startswith("_")]
            message = f"There is no variable {name!r} for the parameter :{name}."
            hint = close_matches(name, variables).strip() or f"Set it before: {name} = …"
            raise QueryError(message, topic="parameters", statement=statement, span=span, hint=hint)
        values[name] = _literal(f"The variable {name!r}", namespace[name], statement, span)
    return values


def _literal(what: str, value: Any, statement: Statement, span: Span) -> Any:
    """Turn numpy and pandas scalars and sequences into what Spark has literals for."""
    if hasattr(value, "to_datetime64") or hasattr(value, "to_timedelta64"):  # pandas
        value = value.to_numpy()
    if isinstance(value, np.generic | np.ndarray):
        value = _without_numpy(value)
    if isinstance(value, tuple | list):
        return [_literal(what, item, statement, span) for item in value]
    if problem := _problem(value):
        message = f"{what} cannot be a parameter: {problem}."
        raise QueryError(message, topic="parameters", statement=statement, span=span)
    return value


def _problem(value: Any) -> str:
    """Say why Spark cannot take a value; empty if it can."""
    match value:
        case int() if not -(2**63) <= value < 2**63:
            return "it is beyond BIGINT; a Decimal has room for it"
        case Decimal() if not value.is_finite():
            return f"DECIMAL has no {value}"
        case dt.date() if type(value) is dt.date and value.year < 1000:
            return "PySpark sends no dates before the year 1000; write DATE'0001-01-01' in the SQL"
        case None | str() | int() | float() | Decimal() | bytes() | bytearray():
            return ""
        case dt.date() | dt.time() | dt.timedelta():
            return ""
        case _:
            kind = f"{type(value).__module__}.{type(value).__qualname__}"
            return f"it is a {kind}, and only plain values and lists are sent"


def _without_numpy(value: np.generic | np.ndarray[Any, Any]) -> Any:
    """Turn numpy values into Python's, points in time to the microseconds that SQL has."""
    if value.dtype.kind in "mM":
        value = value.astype(f"{value.dtype.kind}8[us]")
    return value.tolist()
