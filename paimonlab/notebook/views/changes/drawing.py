"""The rows that changed: a mark and the values, old and new where they differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from paimonlab.notebook.display.cells import NULL, Cell
from paimonlab.notebook.display.drawn import Answer, Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid, number_align, texts
from paimonlab.notebook.display.headlines import next_rows
from paimonlab.notebook.display.numbers import many
from paimonlab.notebook.views.changes.value import ChangeCount, ChangedRow, ChangeList

_ARROW = " → "
_MOST_COLUMNS = 8
"""Of a wide table the key, then the columns that changed, are shown in the static form."""
_MOST_ROWS = 30
"""Rows of the static form; the interactive one has more."""
_FEW_COLUMNS = 2
"""Those of them that HTML shows also where the page has too little room."""


def draw(changes: ChangeList, rows: Callable[[], pa.Table], answer: Answer) -> Drawn[ChangeList]:
    """Draw the first changes, and how many there are in each place."""
    if not changes.has_snapshots:
        empty = Grid((), (), f"{changes.table} has no snapshot yet", next_rows(changes.table))
        return Drawn(changes, empty, rows, link=changes.table)
    places = (*changes.partitions, *changes.buckets)
    return Drawn(
        changes,
        _grid(changes),
        rows,
        others=(_counts(changes.total, places),) if len(places) > 1 else (),
        legend=(
            *(["+ inserted, - deleted, ~ updated (old → new)"] if changes.rows else []),
            changes.note,
        ),
        link=changes.table,
        answer=answer,
    )


def _grid(changes: ChangeList) -> Grid:
    places = _places_shown(changes)
    is_wide = len(places) < len(changes.columns)
    columns = (
        Column(""),
        Column("kind", is_optional=True, rank=1),
        *(
            Column(
                f"{changes.columns[number]} (key)"
                if number in changes.key
                else changes.columns[number],
                align=number_align(row.cells[number] for row in changes.rows),
                is_float=number in changes.floats,
                rank=1 if is_wide and at >= _FEW_COLUMNS else 0,
            )
            for at, number in enumerate(places)
        ),
    )
    caption = f"{changes.table}: changes from {changes.start} to {changes.end}"
    total = changes.total
    counts = {"inserted": total.inserts, "updated": total.updates, "deleted": total.deletes}
    headline = ", ".join(f"{number:,} {what}" for what, number in counts.items() if number)
    facts = [(row.mark, row.kind) for row in changes.rows]
    has_kinds = len(set(facts)) > len({mark for mark, _ in facts})
    shown = changes.rows[:_MOST_ROWS]
    body = [_row(row, places, row.kind if has_kinds else "") for row in shown]
    footer = _footer(changes)
    if is_wide:
        hidden = len(changes.columns) - len(places)
        footer += f"; {many(hidden, 'column')} more, to_arrow() has all"
    grid = Grid(columns, body, caption, footer, headline or "No row changed")
    return grid.without_empty()


def _places_shown(changes: ChangeList) -> Sequence[int]:
    every = range(len(changes.columns))
    if len(every) <= _MOST_COLUMNS:
        return every
    changed = {number for row in changes.rows for number, _ in row.old}
    ranked = sorted(every, key=lambda at: (at not in changes.key, at not in changed, at))
    return ranked[: max(_MOST_COLUMNS, len(changes.key))]


def _row(row: ChangedRow, places: Sequence[int], kind: str) -> Sequence[Cell]:
    old = dict(row.old)
    values = [
        Cell(_text(old[number]) + _ARROW + _text(value))
        if number in old
        else NULL
        if value is None
        else Cell(value)
        for number, value in ((number, row.cells[number]) for number in places)
    ]
    return (Cell(row.mark), Cell(kind), *values)


def _text(value: str | None) -> str:
    return NULL.text if value is None else value


def _footer(changes: ChangeList) -> str:
    shown = min(len(changes.rows), _MOST_ROWS)
    first = f"the first {shown:,} of " if shown < changes.row_count else ""
    return (
        f"{first}{many(changes.row_count, 'change')}; {changes.source}, from "
        f"{many(changes.file_count, 'data file')}"
        f"{'' if changes.row_count else _elsewhere(changes)}"
    )


def _elsewhere(changes: ChangeList) -> str:
    wider = "" if changes.start == "0" else ", other changes by an earlier start"
    diff = f"%paimon_diff {changes.table} {changes.start} {changes.end}"
    return f"; the commits are shown by {diff}{wider}"


def _counts(total: ChangeCount, places: Sequence[ChangeCount]) -> Grid:
    names = {"+ inserted": "inserts", "~ updated": "updates", "- deleted": "deletes"}
    kinds = {name: count for name, count in names.items() if getattr(total, count)}
    columns = (Column("where"), *(Column(name, align=Align.RIGHT) for name in kinds))
    body = [
        texts([entry.place, *(f"{getattr(entry, count):,}" for count in kinds.values())])
        for entry in (*places, total)
    ]
    return Grid(columns, body, "changes by place")
