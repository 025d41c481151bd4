"""Calls of procedures as values."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimonlab.errors import ArgumentError, ProcedureNotFoundError
from paimonlab.notebook.cell.call_statement import CallStatement, is_call, parse_call
from paimonlab.notebook.cell.query_error import QueryError, of_paimon
from paimonlab.notebook.cell.statements import split
from paimonlab.spec.sql_text.call_text import literal
from paimonlab.spec.sql_text.strings import string_value
from paimonlab.spec.sql_text.tokens import Span
from tests.support import cases


def parsed(text: str, **args: Any) -> CallStatement:
    (statement,) = split(text)
    return parse_call(statement, args)


@pytest.mark.parametrize(("title", "given_text", "wanted"), cases("calls"))
def test_call(title: str, given_text: str, wanted: str) -> None:
    try:
        call = parsed(given_text, day="2026-01-01", n=7, nothing=None)
    except QueryError as error:
        span = error.span or Span(0, 0)
        told = f"{error.message} @{given_text[span.start : span.end]}"
    else:
        lines = [
            f"{one.name or '-'} {one.value!r} <{given_text[one.span.start : one.span.end]}>"
            for one in call.arguments
        ]
        told = "; ".join([".".join(call.name), *lines])
    assert " ".join(told.split()) == wanted, title


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_literal_means_the_text_it_was_made_of(text: str) -> None:
    assert string_value(literal(text)) == text


def test_numbers_keep_their_type() -> None:
    values = [one.value for one in parsed("CALL sys.p(1, -2, 3L, 1.50, -.5)").arguments]

    assert values == [1, -2, 3, Decimal("1.50"), Decimal("-0.5")]
    assert [type(one) for one in values] == [int, int, int, Decimal, Decimal]


@pytest.mark.parametrize(
    ("text", "answer"), [("call sys.p()", True), ("SELECT call", False), ("`call`", False)]
)
def test_what_is_a_call(text: str, *, answer: bool) -> None:
    (statement,) = split(text)

    assert is_call(statement) is answer


@pytest.mark.parametrize(
    ("error", "pointed_at"),
    [
        (ProcedureNotFoundError("Compactt"), "compactt"),
        (ArgumentError("compact", "Where => 1 is no STRING"), "where"),
        (ArgumentError("compact", "needs table"), None),
    ],
)
def test_what_spark_hands_back_points_at_names(
    error: ArgumentError | ProcedureNotFoundError, pointed_at: str | None
) -> None:
    (statement,) = split("CALL sys.compactt(where => upper('x'))")

    explained = of_paimon(error, statement)

    assert explained.topic == "call"
    span = explained.span
    assert (span and statement.cell[span.start : span.end]) == pointed_at
