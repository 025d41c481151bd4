from __future__ import annotations

import pytest

from paimonlab.notebook.query_error import WIDTH, QueryError, Span
from paimonlab.notebook.statements import split


def test_an_error_has_at_most_eight_lines() -> None:
    cell = "SELECT 1;\nSELECT " + "x" * 500
    statement = split(cell)[1]
    error = QueryError(
        "word " * 200,
        statement=statement,
        span=Span(cell.index("x"), len(cell)),
        hint="try " * 50,
        condition="SOME_CONDITION, 42000",
    )
    error.__cause__ = ValueError()

    lines = error._render_traceback_()

    assert len(lines) == 8
    assert max(map(len, lines)) <= WIDTH


@pytest.mark.parametrize("column", [0, 40, 300, 598])
def test_the_caret_stands_under_the_fragment_of_a_long_line(column: int) -> None:
    cell = "." * column + "@@" + "." * (598 - column)
    error = QueryError("no", statement=split(cell)[0], span=Span(column, column + 2))

    line, carets = error.lines()[1:]

    assert line[carets.index("^") :][: carets.count("^")] == "@@"
    assert carets.count("^") == 2


def test_the_caret_knows_wide_and_invisible_characters() -> None:
    cell = "SELECT '日本\t', x"
    error = QueryError("no", statement=split(cell)[0], span=Span(cell.index("x"), len(cell)))

    assert error.lines()[1:] == [
        "   1 | SELECT '日本\\t', x",
        "     | " + " " * 17 + "^",
    ]


def test_a_span_over_several_lines_is_marked_on_its_first() -> None:
    cell = "SELECT f(1,\n2)"
    error = QueryError("no", statement=split(cell)[0], span=Span(7, len(cell)))

    assert error.lines()[1:] == ["   1 | SELECT f(1,", "     |        ^^^^"]


def test_text_of_a_message_cannot_forge_lines() -> None:
    assert QueryError("a\nb\u202ec").lines() == ["a\\nb\\u202ec"]
