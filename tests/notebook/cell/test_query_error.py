from __future__ import annotations

import ast
from pathlib import Path
from typing import get_args

import pytest

from paimonlab.errors import PaimonError, TableNotFoundError
from paimonlab.notebook.cell import topics
from paimonlab.notebook.cell.problem_text import WIDTH
from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.cell.statements import split
from paimonlab.notebook.views import Problem
from paimonlab.notebook.views.help import pages as help_pages
from paimonlab.notebook.views.problem.drawing import draw
from paimonlab.spec.sql_text.tokens import Span
from tests.notebook.display.test_drawing import KEPT_ATTRIBUTES, KEPT_TAGS, Page
from tests.notebook.hostile import strings
from tests.notebook.test_hostile import OVERRIDES

NOTEBOOK = Path(help_pages.__file__).parents[2]


def failed(cell: str, marked: str, *, number: int = 1) -> QueryError:
    """Return an error that points at a piece of a cell and came from another."""
    begin = cell.index(marked)
    error = QueryError(
        "word " * 200,
        topic="sql",
        statement=split(cell)[number - 1],
        span=Span(begin, begin + len(marked)),
        hint="try " * 50,
        condition="SOME_CONDITION, 42000",
    )
    error.__cause__ = ValueError("s3.secret-key = hush " + "x" * 30_000)
    return error


def test_all_that_is_seen_of_an_error_has_at_most_eight_lines() -> None:
    error = failed("SELECT 1;\nSELECT " + "x" * 500, "x" * 500, number=2)

    in_python = error._render_traceback_()
    in_cell = draw(error.problem()).to_text().splitlines() + error.shown()._render_traceback_()

    for lines in (in_python, in_cell):
        assert len(lines) == 8
        assert max(map(len, lines)) <= WIDTH
        assert "help: %paimon_help sql; %paimon_trace shows the whole error" in lines
    assert len(in_cell[-1].splitlines()) == 1
    assert in_cell[-1].startswith("QueryError: word word")
    assert in_cell[-1].endswith(" …")
    short = QueryError("no", topic="sql", condition="SOME_CONDITION, 42000").shown()
    assert short.lines() == ["no [SOME_CONDITION, 42000]"]


def test_html_has_the_statement_and_all_of_the_error() -> None:
    cell = "SELECT 0;\nSELECT a,\n  b + 1,\n  c\nFROM t"
    problem = failed(cell, "b + 1,\n  c", number=2).problem(has_trace=True)

    drawn = draw(problem)

    page = Page(drawn.to_html())
    text = "".join(page.texts)
    assert page.tags <= KEPT_TAGS
    assert [(line.number, line.marked) for line in problem.lines] == [
        (2, ""),
        (3, "b + 1,"),
        (4, "c"),
        (5, ""),
    ]
    assert "   3 |   b + 1,\n     |   ^^^^^^\n   4 |   c\n   5 | FROM t" in text
    assert "statement 2 of 2, lines 2-5" in text
    assert "the whole error" in text
    assert "hush" not in text
    assert len(problem.trace) < 20_100
    assert "more characters …" in problem.trace


def test_what_must_be_repeatable_has_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    from paimonlab.notebook import commands  # noqa: PLC0415 - beside its only use

    error = failed("SELECT x", "x")

    assert "<details>" in commands.problem(error).to_html()
    monkeypatch.setenv("PAIMONLAB_DETERMINISTIC", "1")
    assert "<details>" not in commands.problem(error).to_html()


def test_a_long_statement_is_shown_around_the_mark() -> None:
    cell = "SELECT\n" + "  a,\n" * 100 + "  wrong\n" + "  -- more\n" * 3 + "FROM t"
    problem = failed(cell, "wrong").problem()

    assert len(problem.lines) == 12 - 1 + 1
    assert problem.hidden_line_count == 106 - 12
    assert any(line.marked == "wrong" for line in problem.lines)
    assert "94 of its lines are not shown" in draw(problem).to_html()


@pytest.mark.parametrize("column", [0, 40, 300, 598])
def test_the_caret_stands_under_the_fragment_of_a_long_line(column: int) -> None:
    cell = "." * column + "@@" + "." * (598 - column)
    span = Span(column, column + 2)
    error = QueryError("no", topic="sql", statement=split(cell)[0], span=span)

    line, carets = error.lines()[1:]

    assert line[carets.index("^") :][: carets.count("^")] == "@@"
    assert carets.count("^") == 2


def test_the_caret_knows_wide_and_invisible_characters() -> None:
    cell = "SELECT '日本\t', x"
    span = Span(cell.index("x"), len(cell))
    error = QueryError("no", topic="sql", statement=split(cell)[0], span=span)

    assert error.lines()[1:] == [
        "   1 | SELECT '日本\\t', x",
        "     | " + " " * 17 + "^",
    ]


def test_a_span_over_several_lines_is_marked_on_its_first() -> None:
    cell = "SELECT f(1,\n2)"
    error = QueryError("no", topic="sql", statement=split(cell)[0], span=Span(7, len(cell)))

    assert error.lines()[1:] == ["   1 | SELECT f(1,", "     |        ^^^^"]


def test_the_end_of_a_cell_can_be_pointed_at() -> None:
    cell = "SELECT 1 +\n\n"
    span = Span(len(cell), len(cell))
    error = QueryError("no", topic="sql", statement=split(cell)[0], span=span)

    assert error.lines()[1:] == ["   3 |", "     | ^"]


def test_text_of_a_message_cannot_forge_lines() -> None:
    assert QueryError("a\nb\u202ec", topic="sql").lines() == ["a\\nb\\u202ec"]


def test_hostile_texts_are_texts_in_every_form() -> None:
    for hostile in strings():
        cell = f"SELECT 1; SELECT x, {hostile}"
        statement = split(cell)[1]
        span = Span(statement.start, len(cell))
        error = QueryError(
            hostile, topic="sql", statement=statement, span=span, hint=hostile, condition=hostile
        )
        error.__cause__ = ValueError(hostile)

        drawn = draw(error.problem(has_trace=True))

        page = Page(drawn.to_html())
        assert page.tags <= KEPT_TAGS
        assert page.attributes <= KEPT_ATTRIBUTES
        assert not set(drawn.to_text()) & set(OVERRIDES)
        assert len(drawn.to_text().splitlines()) <= 7
        assert len(error.shown().lines()) == 1
        assert drawn.to_markdown()


def test_a_problem_without_statement_is_drawn() -> None:
    drawn = draw(QueryError("There is no SQL.", topic="sql").problem())

    assert isinstance(drawn.value, Problem)
    assert drawn.to_text() == "There is no SQL.\nhelp: %paimon_help sql"
    assert drawn.to_arrow().num_rows == 0


@pytest.mark.parametrize("topic", get_args(topics.Topic))
def test_every_topic_has_a_page(topic: topics.Topic) -> None:
    assert help_pages.page(topic).entries
    assert help_pages.page(topic.replace(" ", "-")).topic == topic


def test_every_error_names_a_topic_that_is_there() -> None:
    made = list(_made_errors())

    assert len(made) > 30
    assert [one for one in made if one[2] not in help_pages.TOPICS] == []
    assert {kind for kind, _, _ in made} == {"QueryError", "wrong_use"}
    assert topics.topic_of(TableNotFoundError("a.b"), "sql") == "tables"
    assert topics.topic_of(PaimonError(), "sql") == "sql"
    assert set(get_args(topics.Topic)) == set(help_pages.TOPICS)


def _made_errors() -> list[tuple[str, str, str]]:
    """List where the notebook layer makes errors for users: what, where, the topic."""
    found = []
    for path in sorted(NOTEBOOK.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            kind = node.func.id
            if kind not in {"QueryError", "wrong_use", "UsageError"} or path.stem == "wrong_use":
                continue
            given = {one.arg: one.value for one in node.keywords}
            topic = given.get("topic", node.args[-1])
            is_text = isinstance(topic, ast.Constant)
            # Handed on, its type says that it is one of them.
            said = str(topic.value) if isinstance(topic, ast.Constant) else "sql"
            assert is_text or kind == "QueryError" or "topic_of" in ast.dump(topic)
            found.append((kind, f"{path.name}:{node.lineno}", said))
    return found
