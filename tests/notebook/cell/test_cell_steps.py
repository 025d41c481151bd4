from __future__ import annotations

from functools import singledispatch

import pytest
from IPython.core.error import UsageError

from paimonlab.notebook.cell import cell_steps, magic_line
from paimonlab.notebook.cell.cell_request import CellRequest, Task, request_of
from paimonlab.notebook.cell.cell_steps import BoundStatement, steps_of
from paimonlab.notebook.cell.limits import DEFAULT_LIMIT, PLOTTED_LIMIT
from paimonlab.notebook.cell.statements import split
from tests.support import cases


@pytest.mark.parametrize(("title", "given", "expected"), cases("cell_steps"))
def test_case_file(title: str, given: str, expected: str) -> None:
    line, text = given.strip().split("\n", 1)
    bound = [BoundStatement(statement, {}) for statement in split(text.strip())]

    steps = steps_of(asked(line.removeprefix("%%paimon"), text), bound)

    assert " ".join(map(told, steps)) == expected, title


def asked(line: str, text: str = "SELECT 1") -> CellRequest:
    return request_of(magic_line.parse_first(line), text)


@singledispatch
def told(step: object) -> str:
    name = {"TellWritten": "tell", "MakeView": "view"}.get(type(step).__name__)
    given = getattr(step, "path", "") or getattr(step, "name", "")
    return f"{name or type(step).__name__.lower()} {given}".strip()


@told.register
def _(step: cell_steps.Check) -> str:
    wanted = ("profiles" if step.profiles else "", "views" if step.views else "")
    return " ".join(["check", *filter(None, wanted)])


@told.register
def _(step: cell_steps.Run) -> str:
    return f"run {'all of ' if step.has_all_rows else ''}{step.bound.statement.text.strip()}"


@told.register
def _(step: cell_steps.MakeFrame) -> str:
    return f"frame {step.bound.statement.text.strip()}"


@told.register
def _(step: cell_steps.Stream) -> str:
    return f"stream {step.bound.statement.text.strip()} to {step.path}"


@told.register
def _(step: cell_steps.MakePlot) -> str:
    plot = step.plot
    by = f" by {plot.by}" if plot.by else ""
    code = " with code" if plot.shows_code else ""
    return f"plot {' '.join(plot.words)}{by} of {step.source}{code}"


@told.register
def _(step: cell_steps.MakeProfile) -> str:
    return f"profile {step.bound.statement.text.strip()}"


@pytest.mark.parametrize(
    ("line", "task"),
    [
        ("", Task.RUN),
        ("--lazy", Task.RUN),
        ("--dry-run", Task.SHOW_PLAN),
        ("--explain cost", Task.SHOW_PLAN),
        ("--explain-params", Task.SHOW_VALUES),
        ("-j --show-sql", Task.SHOW_VALUES),
        ("-j --show-sql --dry-run", Task.SHOW_VALUES),
        ("--help --by x", Task.HELP),
    ],
)
def test_a_line_says_what_happens(line: str, task: Task) -> None:
    assert asked(line).task is task


@pytest.mark.parametrize(
    ("line", "limit"),
    [
        ("", DEFAULT_LIMIT),
        ("--limit 0", 0),
        ("--plot hist a", PLOTTED_LIMIT),
        ("--plot hist a --limit 5", 5),
    ],
)
def test_what_is_drawn_needs_more_rows(line: str, limit: int) -> None:
    assert asked(line).limit == limit


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--by a", "--by and --show-code are about a plot: give --plot as well"),
        ("--show-code", "--by and --show-code are about a plot: give --plot as well"),
        ("--show-sql", "--show-sql is about a template: give -j as well"),
        ("--lazy --profile", "--lazy fetches no rows, --plot and --profile look at them"),
        ("--dry-run --plot hist a", "--dry-run fetches no rows, --plot and --profile look at them"),
    ],
)
def test_options_that_say_nothing_together_are_refused(line: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        asked(line)

    assert str(error.value).splitlines()[0] == message


def test_a_request_is_a_value() -> None:
    assert asked("--limit 5 -o x") == asked("-o x --limit 5")
    assert hash(asked("--as-of 3")) == hash(asked("--as-of=3"))
    assert asked("--explain").explained == "formatted"
    assert asked("").explained is None
