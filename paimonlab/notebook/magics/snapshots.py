"""What happened to a table, and whether it is intact."""

from __future__ import annotations

from IPython.core.magic import Magics, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments

from paimonlab.notebook import commands
from paimonlab.notebook.cell.wrong_use import wrong_use
from paimonlab.notebook.display.view import View
from paimonlab.notebook.magics.lines import arguments, errors_on_one_line, two_points


@magics_class
class SnapshotMagics(Magics):
    """Views of a table's snapshots."""

    @line_magic
    @magic_arguments()
    @argument("table", metavar="DB.TABLE", help="database.table")
    @argument("-n", "--last", type=int, default=20, metavar="N", help="newest N snapshots (20)")
    def paimon_timeline(self, line: str) -> View:
        """Draw the newest snapshots of a table."""
        options = arguments(self.paimon_timeline, line)
        if options.last < 1:
            raise wrong_use(f"-n must be at least 1, got {options.last}", "magics")
        with errors_on_one_line():
            return commands.timeline(options.table, last=options.last)

    @line_magic
    @magic_arguments()
    @argument("table", metavar="DB.TABLE", help="database.table")
    @argument("-n", "--last", type=int, default=20, metavar="N", help="newest N commits (20)")
    def paimon_log(self, line: str) -> View:
        """Show what the newest commits of a table did."""
        options = arguments(self.paimon_log, line)
        if options.last < 1:
            raise wrong_use(f"-n must be at least 1, got {options.last}", "magics")
        with errors_on_one_line():
            return commands.log(options.table, last=options.last)

    @line_magic
    @magic_arguments()
    @argument("table", metavar="DB.TABLE", help="database.table")
    @argument(
        "start", nargs="?", metavar="FROM", help="a snapshot, a tag or a time (the last but one)"
    )
    @argument("end", nargs="?", metavar="TO", help="the same (the newest)")
    def paimon_diff(self, line: str) -> View:
        """Show what changed from one snapshot of a table to another."""
        options = arguments(self.paimon_diff, line)
        with errors_on_one_line():
            start, end = two_points(options.table, options.start, options.end)
            return commands.diff(options.table, start, end)

    @line_magic
    @magic_arguments()
    @argument("table", metavar="DB.TABLE", help="database.table")
    def paimon_schemas(self, line: str) -> View:
        """Show the history of a table's schema."""
        options = arguments(self.paimon_schemas, line)
        with errors_on_one_line():
            return commands.schemas(options.table)

    @line_magic
    @magic_arguments()
    @argument("table", metavar="DB.TABLE", help="database.table")
    @argument("--deep", action="store_true", help="read all rows as well")
    def paimon_fsck(self, line: str) -> View:
        """Check every file of a table."""
        options = arguments(self.paimon_fsck, line)
        with errors_on_one_line():
            return commands.fsck(options.table, deep=options.deep)
