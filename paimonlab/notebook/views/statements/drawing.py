"""Lists of statements and of parameters."""

from __future__ import annotations

from datetime import UTC, datetime

from paimonlab.notebook.cell.statement_entries import Parameters, StatementEntry, Statements
from paimonlab.notebook.display.characters import cut
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid, texts
from paimonlab.notebook.display.numbers import many
from paimonlab.notebook.display.view import rows
from paimonlab.spec.visible_text import visible

_SQL_COLUMNS = 100


def draw_statements(listed: Statements, about_row: str = "") -> Drawn[Statements]:
    """Draw the statements that were run.

    Parameters
    ----------
    listed
        The statements.
    about_row
        A table and a condition that were looked for in them.
    """
    columns = (
        Column("number", align=Align.RIGHT),
        Column("time (UTC)"),
        Column("connection"),
        Column("SQL"),
        Column("rows", align=Align.RIGHT),
        Column("read at"),
        Column("seconds", align=Align.RIGHT),
        Column("status"),
    )
    count = len(listed.entries)
    footer = f"{count} statement" if count == 1 else f"{count} statements"
    if listed.older_count:
        footer += f"; {many(listed.older_count, 'older one')} not shown"
    if about_row and not count:
        footer += f" with this text; the life of a row is %paimon_row {visible(about_row)}"
    grid = Grid(columns, [texts(_row(entry)) for entry in listed.entries], footer=footer)
    return Drawn(listed, grid, rows(listed.entries))


def _row(entry: StatementEntry) -> list[object]:
    millis = entry.time_millis
    return [
        entry.number,
        millis and datetime.fromtimestamp(millis / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S"),
        entry.alias,
        cut(visible(" ".join(entry.sql.split())), _SQL_COLUMNS),
        entry.row_count,
        cut(visible(entry.snapshots), _SQL_COLUMNS),
        entry.duration_millis and f"{entry.duration_millis / 1000:.1f}",
        entry.status,
    ]


def draw_parameters(listed: Parameters) -> Drawn[Parameters]:
    """Draw the values of a cell's parameters."""
    heads = ("name", "value", "type", "source", "uses")
    body = [
        texts([visible(str(getattr(entry, head))) for head in heads]) for entry in listed.entries
    ]
    count = len(listed.entries)
    footer = f"{count} parameter" if count == 1 else f"{count} parameters"
    grid = Grid(tuple(map(Column, heads)), body, footer=f"{footer}; nothing was run")
    return Drawn(listed, grid, rows(listed.entries))
