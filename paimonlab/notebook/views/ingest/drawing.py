"""Jobs that read changes, as tables and as text."""

from __future__ import annotations

from functools import partial

from paimonlab.notebook.display.drawn import Answer, Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid, texts
from paimonlab.notebook.display.headlines import when
from paimonlab.notebook.display.numbers import bytes_text, count, many, time_text
from paimonlab.notebook.display.view import rows
from paimonlab.notebook.views.ingest.value import IngestEntry, IngestJobs
from paimonlab.spec.visible_text import visible

_JOBS = (
    Column("job"),
    Column("source"),
    Column("state"),
    Column("rows", align=Align.RIGHT),
    Column("rows/s", align=Align.RIGHT, is_optional=True),
    Column("lag", align=Align.RIGHT, is_optional=True),
    Column("behind", align=Align.RIGHT, is_optional=True),
    Column("last commit (UTC)", is_optional=True),
    Column("error", is_optional=True),
)
_TABLES = (
    Column("table"),
    Column("from"),
    Column("rows", align=Align.RIGHT),
    Column("rows/s", align=Align.RIGHT, is_optional=True),
    Column("snapshot", align=Align.RIGHT, is_optional=True),
    Column("stopped", is_optional=True),
    Column("skipped", align=Align.RIGHT, is_optional=True),
)
_EVENTS = (
    Column("time (UTC)", is_optional=True),
    Column("event"),
    Column("table", is_optional=True),
    Column("what happened"),
    Column("columns", is_optional=True),
)
_FIRST = "CREATE TABLE … AS TABLE source.database.table in a %%paimon cell starts one"


def draw_ingest(
    listed: IngestJobs, *, answer: Answer | None = None, view_id: str | None = None
) -> Drawn[IngestJobs]:
    """Draw jobs: one with its tables and what happened to it, several as a list.

    Parameters
    ----------
    listed
        The jobs.
    answer
        Steers them, and tells how they are now.
    view_id
        Of a view that this one takes the place of.
    """
    if listed.is_one and listed.jobs:
        grid, others, notes = _one(listed.jobs[0])
        shown = rows(listed.jobs[0].tables)
    else:
        grid, others, notes = _list(listed), (), ()
        shown = rows(listed.jobs)
    drawn = partial(Drawn, listed, grid, shown, legend=notes, others=others, answer=answer)
    return drawn() if view_id is None else drawn(id=view_id)


def sentence(entry: IngestEntry) -> str:
    """Say how a job is.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> some = {"name": "shop", "phase": "stream", "error": None, "rows": 1200, "behind": 3}
    >>> times = {"rows_per_second": 41.2, "lag_millis": 800, "committed_millis": None}
    >>> more = {"behind_unit": "files", "dead": 0, "tables": (), "snapshot_rows": None}
    >>> sentence(SimpleNamespace(**some, **times, **more))
    'shop reads changes: 1,200 rows, 41 rows a second, 3 files behind, 0.8 s lag'
    """
    said = [many(entry.rows, "row")]
    if entry.snapshot_rows is not None:
        about = "" if entry.snapshot_total is None else f" of about {entry.snapshot_total:,}"
        said.append(f"{entry.snapshot_rows:,}{about} read")
    if entry.rows_per_second:
        said.append(f"{entry.rows_per_second:,.0f} rows a second")
    if entry.behind:
        said.append(f"{behind(entry)} behind")
    if entry.lag_millis is not None:
        said.append(f"{entry.lag_millis / 1000:,.1f} s lag")
    if entry.dead:
        said.append(f"{many(entry.dead, 'row')} set aside")
    stopped = sum(table.stopped is not None for table in entry.tables)
    if stopped:
        said.append(f"{many(stopped, 'table')} stopped")
    phase = _PHASES.get(entry.phase, entry.phase)
    return f"{entry.name} {phase}: {', '.join(said)}{when(entry.committed_millis)}"


_PHASES = {
    "idle": "has not begun",
    "starting": "starts",
    "snapshot": "reads the rows that tables have",
    "stream": "reads changes",
    "caught up": "has read all there is",
    "paused": "is paused",
    "stopped": "is stopped",
    "interrupted": "was interrupted",
    "failed": "failed",
    "noted": "does not run here",
}


def behind(entry: IngestEntry) -> str:
    """Say what is still to be read; empty: it is unknown."""
    if entry.behind is None:
        return ""
    unit = entry.behind_unit
    if unit == "bytes":
        return bytes_text(entry.behind)
    return f"{entry.behind:,} {unit[:-1] if entry.behind == 1 and unit.endswith('s') else unit}"


def _list(listed: IngestJobs) -> Grid:
    body = [
        texts(
            [
                entry.name,
                visible(entry.source),
                entry.phase,
                count(entry.rows),
                _rate(entry.rows_per_second),
                _seconds(entry.lag_millis),
                behind(entry),
                time_text(entry.committed_millis),
                entry.error or "",
            ]
        )
        for entry in listed.jobs
    ]
    running = sum(entry.is_running for entry in listed.jobs)
    told = f"{many(running, 'job')} of this process {'runs' if running == 1 else 'run'}"
    footer = told if listed.jobs else f"no jobs yet: {_FIRST}"
    return Grid(_JOBS, body, footer=footer).without_empty()


def _one(entry: IngestEntry) -> tuple[Grid, tuple[Grid, ...], tuple[str, ...]]:
    body = [
        texts(
            [
                table.name,
                visible(", ".join(table.sources)),
                count(table.rows),
                _rate(table.rows_per_second),
                count(table.snapshot_id),
                table.stopped or "",
                count(table.skipped or None),
            ]
        )
        for table in entry.tables
    ]
    waiting = ""
    if entry.pending_rows:
        size = f" of {bytes_text(entry.pending_bytes)}" if entry.pending_bytes else ""
        waiting = f", {many(entry.pending_rows, 'row')}{size} wait for their commit"
    footer = f"epoch {entry.epoch:,}{waiting}"
    caption = visible(f"{entry.name} from {entry.source}")
    grid = Grid(_TABLES, body, caption, footer, visible(sentence(entry))).without_empty()
    notes = [f"warning: {warning}" for warning in entry.warnings]
    notes += [f"error: {entry.error}"] if entry.error else []
    if not entry.events:
        return grid, (), tuple(map(visible, notes))
    events = [
        texts([time_text(one.at_millis), one.what, one.table, one.text, one.columns])
        for one in entry.events
    ]
    log = Grid(_EVENTS, events, "what happened").without_empty()
    return grid, (log,), tuple(map(visible, notes))


def _rate(speed: float | None) -> str:
    return "" if speed is None else f"{speed:,.0f}"


def _seconds(millis: int | None) -> str:
    return "" if millis is None else f"{millis / 1000:,.1f} s"
