"""Rows of a table as they were, and what changed. These views read data files."""

from __future__ import annotations

from IPython.core.magic import Magics, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments

from paimonlab.notebook import commands
from paimonlab.notebook.cell.wrong_use import wrong_use
from paimonlab.notebook.display.view import View
from paimonlab.notebook.magics.lines import arguments, errors_on_one_line, two_points, unquoted
from paimonlab.notebook.views.bounds import MOST_ROWS, MOST_STEPS, MOST_VERSIONS


@magics_class
class RowMagics(Magics):
    """Views of rows."""

    @line_magic
    @magic_arguments()
    @argument("table", metavar="DB.TABLE", help="database.table")
    @argument(
        "start", nargs="?", metavar="FROM", help="snapshot id, tag or time (the last but one)"
    )
    @argument("end", nargs="?", metavar="TO", help="snapshot id, tag or time (the newest)")
    @argument("--mode", choices=["changelog", "delta", "diff"], help="where changes come from")
    @argument("--where", metavar="SQL", help="only these rows; with diff by columns of the key")
    @argument("--to", metavar="FILE", help="write all changes: .csv .parquet .arrow .json .md")
    def paimon_changes(self, line: str) -> View:
        """Show which rows changed between two points; reads data files."""
        options = arguments(self.paimon_changes, line)
        with errors_on_one_line():
            start, end = two_points(options.table, options.start, options.end)
            return commands.changes(
                options.table,
                start,
                end,
                mode=options.mode,
                where=options.where and unquoted(options.where),
                path=options.to and unquoted(options.to),
            )

    @line_magic
    @magic_arguments()
    @argument("table", metavar="DB.TABLE", help="database.table")
    @argument("--sql", metavar="SQL", help="aggregates, or a query on rows, in polars' SQL")
    @argument("-n", "--steps", type=int, default=12, metavar="N", help="points computed now (12)")
    @argument("--rows", type=int, default=10, metavar="N", help="rows shown of each point (10)")
    def paimon_travel(self, line: str) -> View:
        """Show a table at points of its past; reads data files."""
        options = arguments(self.paimon_travel, line)
        if not 2 <= options.steps <= MOST_STEPS:
            raise wrong_use(f"-n must be 2 to {MOST_STEPS}, got {options.steps}", "magics")
        if not 1 <= options.rows <= MOST_ROWS:
            raise wrong_use(f"--rows must be 1 to {MOST_ROWS}, got {options.rows}", "magics")
        with errors_on_one_line():
            return commands.travel(
                options.table,
                sql=options.sql and unquoted(options.sql),
                steps=options.steps,
                rows=options.rows,
            )

    @line_magic
    @magic_arguments()
    @argument("table", metavar="DB.TABLE", help="database.table")
    @argument("where", metavar="CONDITION", nargs="*", help="the row's key: id = 5")
    @argument("-n", "--last", type=int, default=50, metavar="N", help="newest snapshots (50)")
    def paimon_row(self, line: str) -> View:
        """Show what became of one row; reads data files."""
        options = arguments(self.paimon_row, line)
        if not 1 <= options.last <= MOST_VERSIONS:
            raise wrong_use(f"-n must be 1 to {MOST_VERSIONS}, got {options.last}", "magics")
        if not options.where:
            message = f"a condition finds the row: %paimon_row {options.table} id=1"
            raise wrong_use(message, "magics")
        with errors_on_one_line():
            where = unquoted(" ".join(options.where))
            return commands.row(options.table, where, last=options.last)

    @line_magic
    @magic_arguments()
    @argument("table", metavar="DB.TABLE", help="database.table")
    @argument("-o", "--output", metavar="FILE", help="also write the view as an HTML page")
    @argument("--where", metavar="SQL", help="only these rows")
    @argument("--columns", metavar="A,B", help="only these columns")
    @argument("--all-files", action="store_true", help="not only some of more than 300 files")
    def paimon_profile(self, line: str) -> View:
        """Show what is in each column of a table; reads data files."""
        options = arguments(self.paimon_profile, line)
        columns = options.columns and unquoted(options.columns).split(",")
        with errors_on_one_line():
            return commands.profile(
                options.table,
                where=options.where and unquoted(options.where),
                columns=columns and [name.strip() for name in columns],
                all_files=options.all_files,
                path=options.output and unquoted(options.output),
            )
