"""A table through time: a line of its row counts, and a row per step."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from functools import partial

import pyarrow as pa

from paimonlab.notebook.display.cells import NULL, Cell
from paimonlab.notebook.display.drawn import Answer, Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid, number_align
from paimonlab.notebook.display.headlines import next_rows
from paimonlab.notebook.display.numbers import many
from paimonlab.notebook.views.travel.picture import picture
from paimonlab.notebook.views.travel.value import Travel, TravelStep, TravelStop

_WIDE = 8
"""Columns of a table that is not wide, at most."""
_FEW_COLUMNS = 2
"""Of a wide table, columns that HTML shows also where the page has too little room."""
_ROWS = pa.schema(
    [
        ("snapshot_id", pa.int64()),
        ("commit_kind", pa.string()),
        ("time_millis", pa.int64()),
        ("tags", pa.list_(pa.string())),
        ("row_count", pa.int64()),
        ("columns", pa.list_(pa.string())),
        ("rows", pa.list_(pa.list_(pa.string()))),
    ]
)


def draw(travel: Travel, answer: Answer) -> Drawn[Travel]:
    """Draw the steps, oldest first, then what the table was at the last one."""
    by_id = {stop.snapshot_id: stop for stop in travel.stops}
    if not travel.steps:
        empty = Grid((), (), f"{travel.table} has no snapshot yet", next_rows(travel.table))
        return Drawn(travel, empty, _ROWS.empty_table(), link=travel.table)
    return Drawn(
        travel,
        _grid(travel, by_id),
        partial(_rows, travel, by_id),
        picture(travel),
        others=(_last(travel),),
        link=travel.table,
        answer=answer,
    )


def _grid(travel: Travel, by_id: Mapping[int, TravelStop]) -> Grid:
    has_times = any(stop.time_millis is not None for stop in travel.stops)
    has_tags = any(stop.tags for stop in travel.stops)
    single = _single_row(travel)
    columns = [Column("snapshot", align=Align.RIGHT), Column("kind")]
    columns += [Column("time (UTC)")] if has_times else []
    columns += [Column("tags")] if has_tags else []
    columns += [Column("rows", align=Align.RIGHT)]
    columns += [Column(name, align=Align.RIGHT) for name in single]
    body = []
    for step in travel.steps:
        stop = by_id[step.snapshot_id]
        row = [Cell(str(step.snapshot_id)), Cell(stop.commit_kind.lower())]
        row += [Cell(_time(stop))] if has_times else []
        row += [Cell(", ".join(stop.tags))] if has_tags else []
        row += [Cell(f"{step.row_count:,}")]
        row += [NULL if value is None else Cell(value) for value in step.rows[0]] if single else []
        body.append(row)
    title = f"{travel.table} through time"
    return Grid(tuple(columns), body, title, _footer(travel), _headline(travel.steps))


def _headline(steps: Sequence[TravelStep]) -> str:
    first, last = steps[0], steps[-1]
    begin = f"{many(first.row_count, 'row')} at snapshot {first.snapshot_id}"
    if first is last:
        return begin
    return f"{begin}, {last.row_count:,} at snapshot {last.snapshot_id}"


def _single_row(travel: Travel) -> tuple[str, ...]:
    """Return the columns of an aggregate that has one row at every step."""
    columns = {step.columns for step in travel.steps}
    if travel.sql and len(columns) == 1 and all(len(step.rows) == 1 for step in travel.steps):
        return columns.pop()
    return ()


def _footer(travel: Travel) -> str:
    points = len(travel.stops) + travel.older_count
    older = ""
    if travel.older_count:
        verb = "is" if travel.older_count == 1 else "are"
        older = f"; {many(travel.older_count, 'older point')} {verb} not on the slider"
    return f"{len(travel.steps):,} of {many(points, 'point')}, read from data files{older}"


def _last(travel: Travel) -> Grid:
    step = travel.steps[-1]
    what = travel.sql or "rows"
    is_wide = len(step.columns) > _WIDE
    columns = tuple(
        Column(
            name,
            align=number_align(row[at] for row in step.rows),
            is_float=at in step.floats,
            rank=1 if is_wide and at >= _FEW_COLUMNS else 0,
        )
        for at, name in enumerate(step.columns)
    )
    body = [[NULL if value is None else Cell(value) for value in row] for row in step.rows]
    return Grid(columns, body, f"at snapshot {step.snapshot_id}: {what}", _shown(step, travel))


def _shown(step: TravelStep, travel: Travel) -> str:
    if travel.sql:
        return ""
    hidden = f"; {many(step.hidden_columns, 'more column')}" if step.hidden_columns else ""
    return f"{len(step.rows):,} of {step.row_count:,} rows{hidden}"


def _time(stop: TravelStop) -> str:
    if stop.time_millis is None:
        return ""
    moment = dt.datetime.fromtimestamp(stop.time_millis / 1000, dt.UTC)
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def _rows(travel: Travel, by_id: Mapping[int, TravelStop]) -> pa.Table:
    records = [
        {
            "snapshot_id": step.snapshot_id,
            "commit_kind": by_id[step.snapshot_id].commit_kind,
            "time_millis": by_id[step.snapshot_id].time_millis,
            "tags": list(by_id[step.snapshot_id].tags),
            "row_count": step.row_count,
            "columns": list(step.columns),
            "rows": [list(row) for row in step.rows],
        }
        for step in travel.steps
    ]
    return pa.Table.from_pylist(records, schema=_ROWS)
