"""Lists of tables."""

from __future__ import annotations

from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid, texts
from paimonlab.notebook.display.view import rows
from paimonlab.notebook.views.tables.value import TableList


def draw_tables(listed: TableList) -> Drawn[TableList]:
    """Draw the tables of a catalog."""
    columns = (
        Column("database"),
        Column("table"),
        Column("primary key"),
        Column("partitioned by"),
        Column("columns", align=Align.RIGHT),
        Column("snapshot", align=Align.RIGHT),
    )
    body = [
        texts(
            [
                table.database,
                table.table,
                ", ".join(table.primary_keys),
                ", ".join(table.partition_keys),
                table.column_count,
                table.snapshot_id,
            ]
        )
        for table in listed.tables
    ]
    grid = Grid(columns, body, footer=_tables_footer(listed))
    return Drawn(listed, grid, rows(listed.tables))


def _tables_footer(listed: TableList) -> str:
    empty = sorted(set(listed.databases) - {table.database for table in listed.tables})
    count = len(listed.tables)
    tables = f"{count} table" if count == 1 else f"{count} tables"
    return tables + (f"; no table in {', '.join(empty)}" if empty else "")
