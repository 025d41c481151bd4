"""A view that follows a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from IPython.core.magic import Magics, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments

from paimonlab.notebook import commands
from paimonlab.notebook.cell.wrong_use import wrong_use
from paimonlab.notebook.magics.lines import arguments, errors_on_one_line
from paimonlab.notebook.views.bounds import MOST_COMMITS

if TYPE_CHECKING:
    from paimonlab.notebook.views.watch.command import Watching


@magics_class
class WatchMagics(Magics):
    """Watch tables, and stop that."""

    @line_magic
    @magic_arguments()
    @argument("table", metavar="DB.TABLE", nargs="?", help="database.table")
    @argument("-n", "--last", type=int, default=50, metavar="N", help="newest N commits (50)")
    @argument("--seconds", type=float, metavar="S", help="end after S seconds")
    @argument("--background", action="store_true", help="let other cells run in the meantime")
    @argument("--stop", action="store_true", help="end every watch that runs")
    def paimon_watch(self, line: str) -> Watching | None:
        """Follow a table in one view: commits, levels, changed rows, rates."""
        options = arguments(self.paimon_watch, line)
        if options.stop:
            commands.stop_watches()
            return None
        if options.table is None:
            raise wrong_use("give DB.TABLE, or --stop", "magics")
        if not 1 <= options.last <= MOST_COMMITS:
            raise wrong_use(f"-n must be 1 to {MOST_COMMITS}, got {options.last}", "magics")
        if options.seconds is not None and options.seconds <= 0:
            raise wrong_use(f"--seconds must be positive, got {options.seconds:g}", "magics")
        with errors_on_one_line():
            return commands.watch(
                options.table,
                last=options.last,
                seconds=options.seconds,
                background=options.background,
            )
