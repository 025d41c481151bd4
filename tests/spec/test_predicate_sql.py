from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimonlab.errors import ColumnNotFoundError, SchemaError, UnsupportedError
from paimonlab.spec.predicates.predicate import bind
from paimonlab.spec.predicates.sql import parse_predicate
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import parse_type
from tests.support import cases


@pytest.mark.parametrize(("title", "given", "expected"), cases("predicate_sql"))
def test_case_file(title: str, given: str, expected: str) -> None:
    assert str(parse_predicate(given.strip())) == expected, title


def test_an_error_shows_the_place() -> None:
    with pytest.raises(SchemaError) as caught:
        parse_predicate("a = 1\nAND b > 1 2")

    assert str(caught.value) == (
        "cannot read the condition: Invalid expression / Unexpected token, at position 16\n"
        "  AND b > 1 2\n"
        "            ^"
    )


def test_an_error_says_how_a_name_of_two_words_is_written() -> None:
    with pytest.raises(SchemaError) as caught:
        parse_predicate("Unit Price > 1")

    assert str(caught.value).endswith(
        "^\nIf Unit Price is one name, write it in backquotes: `Unit Price`"
    )


@pytest.mark.parametrize(
    ("text", "problem", "position"),
    [
        ("a >", "something is missing", 2),
        ("(a = 1", "Expecting )", 5),
        ("a = 'x", "a quote is not closed", 6),
        ("", "an expression is missing", 0),
        ("a IN", "IN needs values", 0),
        ("a = 1; DROP TABLE t", "Unexpected token", 7),
        ("a = DATE '2024-13-01'", "has no such value", 9),
        ("a = -'x'", "only numbers can be negative", 5),
        ("1 = 'a'", "cannot be compared", 0),
        ("a LIKE 5", "is not a text to match", 7),
    ],
)
def test_what_is_no_condition_is_an_error(text: str, problem: str, position: int) -> None:
    with pytest.raises(SchemaError) as caught:
        parse_predicate(text)

    assert problem in str(caught.value)
    assert f"at position {position}\n" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a = b", "a comparison of two columns"),
        ("a + 1 > 2", "'a + 1' in place of a constant"),
        ("upper(a) = 'X'", "'UPPER(a)' in place of a constant"),
        ("a RLIKE 'x'", "as a condition"),
        ("t.a = 1", "a field inside a column"),
        ("a IN (SELECT 1)", "IN with a query"),
        ("a = 'it''s'", "two texts side by side"),
        ("nosuch(a)", "the function nosuch"),
        ("a = CAST(1.7 AS INT)", "the cast"),
        ("a IS DISTINCT FROM 1", "as a condition"),
    ],
)
def test_conditions_that_cannot_be_evaluated_are_refused(text: str, what: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        parse_predicate(text)

    assert what in str(caught.value)
    assert "^" in str(caught.value)


@pytest.mark.parametrize("text", ["nope = NULL", "nope = 1 OR 1 = 1", "nope = 1 AND false"])
def test_a_column_that_is_not_there_is_found_even_where_it_does_not_matter(text: str) -> None:
    with pytest.raises(ColumnNotFoundError, match="'nope'"):
        bind(parse_predicate(text), [DataField(0, "a", parse_type("INT"))], "db.t")


@given(st.text(alphabet="ab10 '=<>!()\"`.,-%_ANDORLIKE\n", max_size=25))
def test_any_text_is_a_predicate_or_a_typed_error(text: str) -> None:
    with suppress(SchemaError, UnsupportedError):
        parse_predicate(text)
