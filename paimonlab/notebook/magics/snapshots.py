"""What happened to a table, and whether it is whole."""

from __future__ import annotations

from IPython.core.magic import Magics, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments

from paimonlab.notebook import commands
from paimonlab.notebook.cell.wrong_use import wrong_use
from paimonlab.notebook.display.view import View
from paimonlab.notebook.magics.lines import arguments, errors_on_one_line, unquoted


@magics_class
class SnapshotMagics(Magics):
    """Views of a table's snapshots."""

    @line_magic
    @magic_arguments()
    @argument("table", metavar="DB.TABLE", help="database.table")
    @argument("-n", "--last", type=int, default=20, metavar="N", help="newest N snapshots (20)")
    def paimon_timeline(self, line: str) -> View:
        """Draw the newest snapshots of a table."""
        asked = arguments(self.paimon_timeline, line)
        if asked.last < 1:
            raise wrong_use(f"-n must be at least 1, got {asked.last}", "magics")
        with errors_on_one_line():
            return commands.timeline(asked.table, last=asked.last)

    @line_magic
    @magic_arguments()
    @argument("table", metavar="DB.TABLE", help="database.table")
    @argument("-n", "--last", type=int, default=20, metavar="N", help="newest N commits (20)")
    def paimon_log(self, line: str) -> View:
        """Show what the newest commits of a table did."""
        asked = arguments(self.paimon_log, line)
        if asked.last < 1:
            raise wrong_use(f"-n must be at least 1, got {asked.last}", "magics")
        with errors_on_one_line():
            return commands.log(asked.table, last=asked.last)

    @line_magic
    @magic_arguments()
    @argument("table", metavar="DB.TABLE", help="database.table")
    @argument("start", metavar="FROM", help="a snapshot, a tag or a time in quotes")
    @argument("end", metavar="TO", help="the same")
    def paimon_diff(self, line: str) -> View:
        """Show what leads from one snapshot of a table to another."""
        asked = arguments(self.paimon_diff, line)
        with errors_on_one_line():
            return commands.diff(asked.table, unquoted(asked.start), unquoted(asked.end))

    @line_magic
    @magic_arguments()
    @argument("table", metavar="DB.TABLE", help="database.table")
    def paimon_schemas(self, line: str) -> View:
        """Show how the schema of a table came to be."""
        asked = arguments(self.paimon_schemas, line)
        with errors_on_one_line():
            return commands.schemas(asked.table)

    @line_magic
    @magic_arguments()
    @argument("table", metavar="DB.TABLE", help="database.table")
    @argument("--deep", action="store_true", help="read all rows, too")
    def paimon_fsck(self, line: str) -> View:
        """Check every file of a table."""
        asked = arguments(self.paimon_fsck, line)
        with errors_on_one_line():
            return commands.fsck(asked.table, deep=asked.deep)
