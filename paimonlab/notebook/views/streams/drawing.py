"""Lists of streams."""

from __future__ import annotations

from paimonlab.notebook.display.drawn import Answer, Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid, texts
from paimonlab.notebook.display.numbers import bytes_text, count
from paimonlab.notebook.display.view import rows
from paimonlab.notebook.views.streams.value import StreamEntry, StreamList

_COLUMNS = (
    Column("name"),
    Column("source"),
    Column("sink"),
    Column("state"),
    Column("batch", align=Align.RIGHT),
    Column("rows", align=Align.RIGHT),
    Column("rows/s", align=Align.RIGHT),
    Column("behind"),
    Column("remembers"),
    Column("error"),
)


def draw_streams(
    listed: StreamList, *, answer: Answer | None = None, view_id: str | None = None
) -> Drawn[StreamList]:
    """Draw streams.

    Parameters
    ----------
    listed
        The streams.
    answer
        Stops them, and tells how they are now.
    view_id
        Of a view that this one takes the place of.
    """
    grid = Grid(_COLUMNS, [texts(_cells(entry)) for entry in listed.streams], footer=_said(listed))
    newest = listed.newest
    others: tuple[Grid, ...] = ()
    if newest is not None and newest.rows:
        heads = tuple(map(Column, newest.columns))
        others = (Grid(heads, [texts(row) for row in newest.rows], caption="newest rows"),)
    shown = rows(listed.streams)
    if view_id is None:
        return Drawn(listed, grid, shown, others=others, answer=answer)
    return Drawn(listed, grid, shown, others=others, answer=answer, id=view_id)


def _cells(entry: StreamEntry) -> list[str]:
    speed = entry.rows_per_second
    remembered = (count(entry.state_rows), bytes_text(entry.state_bytes))
    return [
        entry.name,
        entry.source,
        entry.sink,
        entry.state,
        count(entry.batch),
        count(entry.rows),
        "" if speed is None else f"{speed:,.0f}",
        behind(entry),
        ", ".join(filter(None, remembered)),
        entry.error or "",
    ]


def behind(entry: StreamEntry) -> str:
    """Say how far a stream is behind its tables.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> behind(SimpleNamespace(snapshots_behind=2, millis_behind=1500))
    '2 snapshots, 1.5 s'
    """
    if entry.snapshots_behind is None:
        return ""
    if entry.snapshots_behind == 0:
        return "nothing"
    many = "snapshot" if entry.snapshots_behind == 1 else "snapshots"
    time = "" if entry.millis_behind is None else f", {entry.millis_behind / 1000:,.1f} s"
    return f"{entry.snapshots_behind:,} {many}{time}"


def _said(listed: StreamList) -> str:
    if not listed.streams:
        return "no streams yet: %%paimon --stream starts one"
    states = [entry.state for entry in listed.streams]
    found = [(state, states.count(state)) for state in ("running", "failed", "ended")]
    return ", ".join(f"{number} {state}" for state, number in found if number)
