"""What is done for a cell that runs, one step after the other: decided before anything is done.

A step is about the result or the DataFrame that the last step made, unless it has a statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from msgspec import Struct

from paimonlab.notebook.cell.cell_request import CellRequest, PlotRequest
from paimonlab.notebook.cell.parameters import Values
from paimonlab.notebook.cell.statements import Statement

LAST_RESULT = "_paimon"
"""Variable that has the last result."""


class BoundStatement(Struct, frozen=True):
    """A statement and the values of its parameters."""

    statement: Statement
    values: Values


class Check(Struct, frozen=True):
    """Refuse what the connection cannot do."""

    profiles: bool
    views: bool


class Run(Struct, frozen=True):
    """Run a statement and keep its rows."""

    bound: BoundStatement
    has_all_rows: bool = False
    """However many rows there are."""


class MakeFrame(Struct, frozen=True):
    """Make a DataFrame of a query without running it."""

    bound: BoundStatement


class Stream(Struct, frozen=True):
    """Write the rows of a query to a file as they come; none is kept."""

    bound: BoundStatement
    path: str


class TellWritten(Struct, frozen=True):
    """Say what was written."""

    path: str


class Export(Struct, frozen=True):
    """Write the rows of the result to a file."""

    path: str


class MakeView(Struct, frozen=True):
    """Make a temporary view of the query."""

    name: str
    statement: Statement


class Gather(Struct, frozen=True):
    """Collect the results of all statements."""


class Keep(Struct, frozen=True):
    """Put what the cell returns into a variable."""

    name: str


class Show(Struct, frozen=True):
    """Show what was made last."""


class Hide(Struct, frozen=True):
    """Let the cell return nothing."""


class MakePlot(Struct, frozen=True):
    """Draw columns of the result."""

    plot: PlotRequest
    statement: Statement
    source: str
    """Variable that the code of the plot begins with."""


class MakeProfile(Struct, frozen=True):
    """Show what is in each column of all rows of a query."""

    bound: BoundStatement


Step: TypeAlias = (
    Check
    | Run
    | MakeFrame
    | Stream
    | TellWritten
    | Export
    | MakeView
    | Gather
    | Keep
    | Show
    | Hide
    | MakePlot
    | MakeProfile
)


def steps_of(request: CellRequest, statements: Sequence[BoundStatement]) -> list[Step]:
    """List what is done for a cell.

    Parameters
    ----------
    request
        What it asks for.
    statements
        At least one; options such as ``--to`` are about the last.
    """
    *earlier, last = statements
    steps: list[Step] = [Check(profiles=request.has_profile, views=request.view is not None)]
    for bound in earlier:
        steps.append(Run(bound))
        if not request.is_silent and not request.keeps_all:
            steps.append(Show())
    if request.is_lazy:
        return [*steps, *_lazy(request, last)]
    is_kept = request.keeps_all or request.target is not None or request.plot is not None
    if request.to is not None and not is_kept:
        return [*steps, *_streamed(request, last, request.to)]
    return [*steps, *_run(request, last)]


def _lazy(request: CellRequest, last: BoundStatement) -> Iterator[Step]:
    yield MakeFrame(last)
    yield from _view(request, last)
    yield from _kept(request)
    if request.is_silent:
        yield Hide()


def _streamed(request: CellRequest, last: BoundStatement, path: str) -> Iterator[Step]:
    yield Stream(last, path)
    if request.view is not None:
        yield MakeFrame(last)
        yield from _view(request, last)
    yield Hide()
    yield TellWritten(path)
    if request.has_profile:
        yield MakeProfile(last)


def _run(request: CellRequest, last: BoundStatement) -> Iterator[Step]:
    yield Run(last, has_all_rows=request.to is not None)
    if request.to is not None:
        yield Export(request.to)
    yield from _view(request, last)
    if request.keeps_all:
        yield Gather()
    yield from _kept(request)
    is_hidden = request.is_silent or (request.to is not None and not request.keeps_all)
    if is_hidden:
        yield Hide()
    if request.plot is not None:
        yield MakePlot(request.plot, last.statement, request.target or LAST_RESULT)
    if request.has_profile:
        if not is_hidden or request.plot is not None:
            yield Show()
        yield MakeProfile(last)


def _view(request: CellRequest, last: BoundStatement) -> Iterator[Step]:
    if request.view is not None:
        yield MakeView(request.view, last.statement)


def _kept(request: CellRequest) -> Iterator[Step]:
    if request.target is not None:
        yield Keep(request.target)
