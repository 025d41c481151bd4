"""The life of one row as a table and as text."""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.notebook.display.cells import NULL, Cell
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid, number_align, texts
from paimonlab.notebook.display.headlines import next_rows, when
from paimonlab.notebook.display.numbers import count, many, time_text
from paimonlab.notebook.display.view import rows
from paimonlab.notebook.views.row.value import RowLife, RowStep, shown_columns
from paimonlab.spec.visible_text import visible
from paimonlab.table.reading.row_history import where_done


def draw(life: RowLife) -> Drawn[RowLife]:
    """Draw the life of a row, the newest step first."""
    if not life.looked_at:
        empty = Grid((), (), f"{life.table} has no snapshot yet", next_rows(life.table))
        return Drawn(life, empty, rows(()), link=life.table)
    places = shown_columns(life.columns, life.steps)
    changing = {
        at for at in places if len({step.values[at] for step in life.steps if step.values}) > 1
    }
    has_times = any(step.time_millis is not None for step in life.steps)
    heads = [
        Column("snapshot", align=Align.RIGHT),
        *([Column("time (UTC)")] if has_times else []),
        Column("what"),
        Column("changed", is_optional=True, rank=2),
        Column("tags", is_optional=True, rank=1),
        Column("files", is_optional=True, rank=4),
        *(
            Column(life.columns[at], align=_align(life, at), rank=0 if at in changing else 3)
            for at in places
        ),
    ]
    body = []
    for step in reversed(life.steps):
        values = [step.values[at] if step.values else "" for at in places]
        facts = [step.snapshot_id, *([time_text(step.time_millis)] if has_times else [])]
        facts += [what_text(step), ", ".join(step.changed), ", ".join(step.tags), files_text(step)]
        cells = [NULL if value is None else Cell(visible(value)) for value in values]
        body.append([*texts(facts), *cells])
    footer = f"{many(life.looked_at, 'snapshot')} read"
    if life.steps:
        footer += "; what is not here did nothing to it"
    is_older = bool(life.steps) and life.steps[0].what == "present"
    if is_older and _real(life.steps):
        first = life.steps[0]
        footer += f"; there {_where(first)}: {first.unknown}"
    elif life.older_count and not is_older:
        footer += f"; {count(life.older_count)} older ones were not read"
    if hidden := len(life.columns) - len(places):
        footer += f"; {many(hidden, 'column')} more, shown here if they change"
    caption = f"{life.table}: the row where {life.where}"
    grid = Grid(tuple(heads), body, caption, footer, _headline(life))
    return Drawn(life, grid.without_empty(), rows(life.steps), link=life.table)


def _headline(life: RowLife) -> str:
    if not life.steps:
        return "No snapshot that was read has such a row"
    real = _real(life.steps)
    first = life.steps[0]
    if not real and first.what == "present":
        return f"No change in what was read: there {_where(first)}; {first.unknown}"
    if not real:
        return "There is no such row in the tags that were read"
    last = real[-1]
    changed = f" ({', '.join(last.changed)})" if last.changed else ""
    return visible(
        f"{many(len(real), 'change')}{': ' if len(real) == 1 else '; last '}{last.what} "
        f"{_where(last)}{changed}"
        f"{when(last.time_millis)}"
    )


def _real(steps: Sequence[RowStep]) -> Sequence[RowStep]:
    """Return the steps that changed the row."""
    return [step for step in steps if step.what in {"inserted", "updated", "deleted"}]


def _where(step: RowStep) -> str:
    return where_done(step.snapshot_id, step.earliest_id, is_present=step.what == "present")


def what_text(step: RowStep) -> str:
    """Say what was done to a row, and which snapshots may have done it if it is not this one."""
    if step.what == "present":
        return "present by then"
    if step.unknown:
        return f"{step.what} between {step.earliest_id - 1} and {step.snapshot_id}"
    return step.what


def _align(life: RowLife, column: int) -> Align:
    values = [step.values[column] for step in life.steps if step.values]
    return number_align(values)


def files_text(step: RowStep) -> str:
    """Say in how many files of which levels a row may be."""
    levels = sorted({file.level for file in step.files if file.level is not None})
    if not step.files:
        return ""
    return ", ".join([many(len(step.files), "file"), *(f"level {level}" for level in levels)])
