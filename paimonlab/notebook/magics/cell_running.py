"""Do what a cell asks for."""

from __future__ import annotations

import sys
from collections import ChainMap
from collections.abc import Mapping, Sequence
from functools import singledispatchmethod
from typing import TYPE_CHECKING, Any, TypeAlias

from IPython.core.error import StdinNotImplementedError
from IPython.display import display
from msgspec.structs import replace

from paimonlab.catalog.settings import Engine, engine_of
from paimonlab.notebook import cell, commands, running
from paimonlab.notebook.cell.cell_request import CellRequest, StreamRequest, Task
from paimonlab.notebook.cell.cell_steps import (
    LAST_RESULT,
    BoundStatement,
    Check,
    Export,
    Gather,
    Hide,
    Keep,
    MakeFrame,
    MakePlot,
    MakeProfile,
    MakeView,
    Run,
    Show,
    Step,
    Stream,
    TellWritten,
    steps_of,
)
from paimonlab.notebook.cell.ingest_statement import ingest_statement
from paimonlab.notebook.cell.parameters import share
from paimonlab.notebook.cell.params_option import values_of
from paimonlab.notebook.cell.query_error import QueryError, check_query
from paimonlab.notebook.cell.wrong_use import wrong_use
from paimonlab.notebook.display.numbers import many
from paimonlab.notebook.display.view import View
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.notebook.kernel.loading_ahead import statement_runs
from paimonlab.notebook.results.cell_results import Results
from paimonlab.notebook.results.result import Result
from paimonlab.notebook.results.row_files import Written
from paimonlab.secrets import without_secrets
from paimonlab.spec.visible_text import visible

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from paimonlab.notebook.results.plotting.plot import Plot
    from paimonlab.notebook.views.ingest.command import Following

Outcome: TypeAlias = "Result | Results | Plot | View | Following | DataFrame | None"
"""What a cell returns."""


def answer(request: CellRequest, variables: dict[str, Any]) -> Outcome:
    """Do what a cell asks for.

    Parameters
    ----------
    request
        What it asks for.
    variables
        Of the notebook: parameters are taken from them, results put into them.

    Raises
    ------
    QueryError
        If a statement fails; those before it have been run, those after it have not.
    """
    with statement_runs():
        return _answer(request, variables)


def _answer(request: CellRequest, variables: dict[str, Any]) -> Outcome:
    if request.task is Task.HELP:
        return commands.show_help("sql")
    in_order = None if request.params is None else values_of(request.params, variables)
    sql, named = _compiled(request, variables)
    if request.shows_sql:
        print(without_secrets(sql))  # noqa: T201 - asked for
    if request.task is Task.SHOW_VALUES:
        shown = commands.explain_parameters(
            sql,
            named,
            source="notebook",
            in_order=in_order,
            order_source=f"--params {request.params}",
        )
        return _shown(request, shown, variables)
    statements = commands.parse(sql)
    shares = share(statements, named, in_order)
    if request.task is Task.SHOW_PLAN:
        shown = commands.planned(
            sql,
            args=named if in_order is None else in_order,
            as_of=request.as_of,
            explain=request.explained or False,
            engine=_engine(request.engine),
            frames=variables.get,
        )
        return _shown(request, shown, variables)
    bound = [BoundStatement(*pair) for pair in zip(statements, shares, strict=True)]
    if request.stream is not None:
        return _stream(request, request.stream, bound, variables)
    return CellRun(request, variables).all(steps_of(request, bound))


def _stream(
    request: CellRequest,
    asked: StreamRequest,
    statements: Sequence[BoundStatement],
    variables: dict[str, Any],
) -> Outcome:
    """Run the statements of a cell, the last as a stream that is shown until it ends."""
    *earlier, last = statements
    if earlier:
        CellRun(replace(request, target=None), variables).all(
            [Run(bound) for bound in earlier],
        )
    stream = commands.streamed(
        last.statement,
        last.values,
        limit=request.limit,
        mode=asked.mode,
        checkpoint=asked.checkpoint,
        ends=asked.ends,
    )
    shown = commands.one_stream(stream)
    is_live = not is_deterministic()
    handle = display(shown, display_id=True) if is_live else None
    running.streams.follow(
        stream,
        lambda: handle and handle.update(commands.one_stream(stream, view_id=shown.id)),
    )
    if handle is None:
        display(commands.one_stream(stream))
    else:
        handle.update(commands.one_stream(stream, view_id=shown.id))
    if stream.error is not None:
        raise QueryError(
            f"The stream failed: {stream.error}", topic="streams", statement=last.statement
        )
    outcome = commands.newest_rows(stream, last.statement)
    if request.target is not None:
        variables[request.target] = outcome
    return None if request.is_silent else outcome


def _shown(request: CellRequest, shown: View, variables: dict[str, Any]) -> View | None:
    if request.target is not None:
        variables[request.target] = shown
    return None if request.is_silent else shown


def _compiled(request: CellRequest, variables: dict[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Return SQL and the values of its parameters, those that a template makes among them."""
    if not request.is_template:
        may_have = "{{" in request.text  # others need not load what reads templates
        for name in cell.templates.left_in_texts(request.text, variables) if may_have else ():
            print(  # noqa: T201 - the cell runs all the same
                f"note: {{{{{name}}}}} stays as it is within quotes: write :{name} without them, "
                "or %%paimon --jinja for a template",
                file=sys.stderr,
            )
        return request.text, variables
    template = cell.templates.compiled(request.text, variables)
    return template.text, ChainMap(dict(template.values), variables)


class CellRun:
    """Takes the steps of a cell.

    Parameters
    ----------
    request
        What the cell asks for.
    variables
        Of the notebook.
    """

    def __init__(self, request: CellRequest, variables: dict[str, Any]) -> None:
        self._request = request
        self._variables = variables
        self._manner = commands.Manner(
            limit=request.limit,
            max_bytes=request.max_bytes,
            as_of=request.as_of,
            progress=request.has_progress,
            engine=_engine(request.engine),
            frames=variables.get,
            confirm=None if request.is_confirmed else confirm_many,
        )
        self._results: list[Result] = []
        self._frame: DataFrame | None = None
        """Made without running a query."""
        self._written: Written | None = None
        self._outcome: Outcome = None

    def all(self, steps: Sequence[Step]) -> Outcome:
        """Take steps, one after the other; return what the cell returns."""
        try:
            for step in steps:
                self._do(step)
        except BaseException:
            if self._request.keeps_all and not self._request.is_silent:
                display(Results(self._results))
            raise
        return self._outcome

    @singledispatchmethod
    def _do(self, step: object) -> None:
        raise TypeError(f"no such step: {step}")

    @_do.register
    def _check(self, step: Check) -> None:
        if step.profiles:
            commands.check_profiles()
        if step.views:
            commands.check_views(as_of=self._request.as_of)

    @_do.register
    def _run(self, step: Run) -> None:
        manner = self._manner
        statement = step.bound.statement
        if ingest_statement(statement) is not None:
            self._outcome = commands.ingest_cell(statement, engine=manner.engine)
            return
        if step.has_all_rows:
            check_query("--to", statement, "limits")
            manner = replace(manner, limit=0, max_bytes=None, confirm=None)
        result = commands.run(statement, step.bound.values, manner)
        self._variables[LAST_RESULT] = self._outcome = result
        self._results.append(result)

    @_do.register
    def _make_frame(self, step: MakeFrame) -> None:
        bound = step.bound
        frame = commands.lazy(bound.statement, bound.values, as_of=self._request.as_of)
        self._frame = self._outcome = frame

    @_do.register
    def _stream(self, step: Stream) -> None:
        bound = step.bound
        self._written = commands.write(bound.statement, bound.values, self._manner, step.path)

    @_do.register
    def _tell_written(self, step: TellWritten) -> None:
        assert self._written is not None, "something was written"
        _print_written(step.path, self._written.row_count, self._written.byte_count)

    @_do.register
    def _export(self, step: Export) -> None:
        size = self._results[-1].export(step.path)
        _print_written(step.path, len(self._results[-1]), size)

    @_do.register
    def _make_view(self, step: MakeView) -> None:
        frame = self._results[-1].spark if self._frame is None else self._frame
        check_query("--view", step.statement, "sql")
        frame.createOrReplaceTempView(step.name)

    @_do.register
    def _gather(self, _step: Gather) -> None:
        self._outcome = Results(self._results)

    @_do.register
    def _keep(self, step: Keep) -> None:
        self._variables[step.name] = self._outcome

    @_do.register
    def _show(self, _step: Show) -> None:
        display(self._outcome)

    @_do.register
    def _hide(self, _step: Hide) -> None:
        self._outcome = None

    @_do.register
    def _make_plot(self, step: MakePlot) -> None:
        check_query("--plot", step.statement, "plots")
        plot = step.plot
        drawn = self._results[-1].plot(*plot.words, by=plot.by, source=step.source)
        if plot.shows_code:
            print(drawn.code)  # noqa: T201 - asked for
        self._outcome = drawn

    @_do.register
    def _make_profile(self, step: MakeProfile) -> None:
        bound = step.bound
        self._outcome = commands.profile_query(bound.statement, bound.values, self._manner)


def _engine(name: str | None) -> Engine | None:
    try:
        return None if name is None else engine_of(name)
    except ValueError as error:
        raise wrong_use(f"--{error}", "connections") from error


def _print_written(path: str, row_count: int, byte_count: int) -> None:
    print(f"{visible(path)}: {many(row_count, 'row')}, {many(byte_count, 'byte')}")  # noqa: T201


def confirm_many() -> bool:
    """Ask whether to fetch very many rows."""
    question = f"more than {commands.MANY_ROWS:,} rows: fetch them all? [y/N] "
    try:
        return input(question).strip().lower() in {"y", "yes"}
    except (EOFError, OSError, StdinNotImplementedError) as error:
        raise QueryError(
            f"There are more than {commands.MANY_ROWS:,} rows, and no way to ask for them.",
            topic="limits",
            hint="--yes fetches them, --limit N fetches the first N.",
        ) from error
