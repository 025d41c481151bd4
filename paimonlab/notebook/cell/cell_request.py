"""What a cell asks for: its line and its body as one value."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from paimonlab.notebook.cell.limits import DEFAULT_LIMIT, PLOTTED_LIMIT
from paimonlab.notebook.cell.magic_line import SqlLine
from paimonlab.notebook.cell.plan_modes import Explained
from paimonlab.notebook.cell.stream_statement import OutputMode
from paimonlab.notebook.cell.wrong_use import wrong_use


class Task(Enum):
    """What happens to the statements of a cell."""

    HELP = "help"
    SHOW_VALUES = "show values"
    """The values of parameters are shown, nothing is run."""
    STREAM = "stream"
    """The last statement becomes a stream."""
    SHOW_PLAN = "show plan"
    """What would be read is shown, nothing is run."""
    RUN = "run"


class PlotRequest(Struct, frozen=True, kw_only=True):
    """A plot of the last query."""

    words: tuple[str, ...]
    """Kind, x, and y if there is one."""
    by: str | None
    """Column whose values are series."""
    shows_code: bool


class StreamRequest(Struct, frozen=True, kw_only=True):
    """How the statement of a cell becomes a stream."""

    mode: OutputMode | None
    """Spark's output mode; None: as the statement says."""
    checkpoint: str | None
    """Folder in which Spark remembers what was read; None: forgotten at the end."""
    ends: bool
    """Whether it ends when it has read what is there."""


class CellRequest(Struct, frozen=True, kw_only=True):
    """What a cell asks for."""

    text: str
    """SQL, or a template of it."""
    task: Task
    is_template: bool
    shows_sql: bool
    """What comes out of the template is printed."""
    params: str | None
    """Name of the list whose values take the place of each ``?``, or the list itself."""
    explained: Explained | None
    """How Spark's plan is written; None if it is not wanted."""
    limit: int
    """Rows fetched of a query; 0: all."""
    max_bytes: int | None
    engine: str | None
    """Who runs the statements; None: as the connection says."""
    as_of: int | str | None
    has_progress: bool
    is_confirmed: bool
    """Very many rows are fetched without a question."""
    target: str | None
    """Variable that gets what is returned."""
    is_silent: bool
    keeps_all: bool
    """The results of all statements are returned."""
    is_lazy: bool
    """The last statement becomes a DataFrame and is not run."""
    to: str | None
    """File that gets all rows of the last statement."""
    view: str | None
    """Temporary view that gets the query of the last statement."""
    plot: PlotRequest | None
    has_profile: bool
    stream: StreamRequest | None


def request_of(line: SqlLine, text: str) -> CellRequest:
    """Combine the options of a line with the SQL that they are about.

    Parameters
    ----------
    line
        The options.
    text
        SQL of the line or of the lines below.

    Raises
    ------
    UsageError
        If options cannot be combined.
    """
    task = _task(line)
    if task is not Task.HELP:
        _check_together(line)
    flags = line.flags
    return CellRequest(
        text=text,
        task=task,
        is_template=bool(flags & {"-j", "--jinja"}),
        shows_sql="--show-sql" in flags,
        params=line.params,
        explained=line.explained if "--explain" in flags else None,
        limit=_limit(line),
        max_bytes=line.max_bytes,
        engine=line.engine,
        as_of=line.as_of,
        has_progress="--no-progress" not in flags,
        is_confirmed="--yes" in flags,
        target=line.target,
        is_silent=line.is_silent,
        keeps_all="--all" in flags,
        is_lazy="--lazy" in flags,
        to=line.to,
        view=line.view,
        plot=_plot(line),
        has_profile="--profile" in flags,
        stream=_stream(line),
    )


def _task(line: SqlLine) -> Task:
    if "--help" in line.flags:
        return Task.HELP
    if line.flags & {"--explain-params", "--show-sql"}:
        return Task.SHOW_VALUES
    if "--stream" in line.flags:
        return Task.STREAM
    return Task.SHOW_PLAN if line.flags & {"--dry-run", "--explain"} else Task.RUN


def _limit(line: SqlLine) -> int:
    if line.limit is not None:
        return line.limit
    return DEFAULT_LIMIT if line.plot is None else PLOTTED_LIMIT


def _plot(line: SqlLine) -> PlotRequest | None:
    if line.plot is None:
        return None
    return PlotRequest(words=line.plot, by=line.by, shows_code="--show-code" in line.flags)


def _stream(line: SqlLine) -> StreamRequest | None:
    if "--stream" not in line.flags:
        return None
    return StreamRequest(
        mode=line.output_mode, checkpoint=line.checkpoint, ends="--once" in line.flags
    )


def _check_together(line: SqlLine) -> None:
    """Refuse options that cannot be combined."""
    if line.plot is None and (line.by is not None or "--show-code" in line.flags):
        raise wrong_use("--by and --show-code are about a plot: give --plot as well", "plots")
    if "--show-sql" in line.flags and not line.flags & {"-j", "--jinja"}:
        raise wrong_use("--show-sql is about a template: give -j as well", "parameters")
    if "--stream" not in line.flags and line.given & {"--once", "--checkpoint"}:
        raise wrong_use("--once and --checkpoint are about a stream: give --stream", "streams")
    looks_at_rows = line.plot is not None or "--profile" in line.flags
    if "--all" in line.flags and looks_at_rows:
        raise wrong_use("--all returns every result, --plot and --profile look at one", "sql")
    without_rows = line.flags & {
        *("--lazy", "--dry-run", "--explain", "--explain-params", "--show-sql")
    }
    if without_rows and looks_at_rows:
        name = min(without_rows)
        raise wrong_use(f"{name} fetches no rows, --plot and --profile look at them", "sql")
