"""What could be better about how tables are maintained."""

from __future__ import annotations

from typing import Any

from IPython.core.magic import Magics, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments

from paimonlab.notebook import commands
from paimonlab.notebook.cell.wrong_use import wrong_use
from paimonlab.notebook.display.view import View
from paimonlab.notebook.magics.compaction import partition_of
from paimonlab.notebook.magics.lines import arguments, errors_on_one_line, unquoted


@magics_class
class UpkeepMagics(Magics):
    """Views for those who look after tables."""

    @line_magic
    @magic_arguments()
    @argument("name", nargs="?", metavar="DB | DB.TABLE", help="what to look at (all tables)")
    @argument("--orphans", action="store_true", help="look for orphan files as well")
    def paimon_health(self, line: str) -> View:
        """Say what could be better about how tables are maintained."""
        options = arguments(self.paimon_health, line)
        with errors_on_one_line():
            return commands.health(options.name, orphans=options.orphans)

    @line_magic
    @magic_arguments()
    @argument("table", metavar="DB.TABLE", help="database.table")
    @argument("--full", action="store_true", help="rewrite everything, not only what is worth it")
    @argument("-p", "--partition", metavar="KEY=VALUE,…", help="only this partition")
    @argument("--dry-run", action="store_true", help="only show what it would do (as without)")
    @argument("--yes", action="store_true", help="do it")
    def paimon_compact(self, line: str) -> View:
        """Show what a compaction would rewrite; with --yes do it."""
        options = arguments(self.paimon_compact, line)
        _check_consent(options)
        with errors_on_one_line():
            return commands.compact(
                options.table,
                full=options.full,
                partition=partition_of(options.partition),
                dry_run=not options.yes,
            )

    @line_magic
    @magic_arguments()
    @argument("table", metavar="DB.TABLE", help="database.table")
    @argument("--retain-max", type=int, metavar="N", help="keep at most N snapshots")
    @argument("--older-than", metavar="TIME", help="expire what is older: '7 d' or a local time")
    @argument("--dry-run", action="store_true", help="only show what it would do (as without)")
    @argument("--yes", action="store_true", help="do it")
    def paimon_expire(self, line: str) -> View:
        """Show which snapshots and files would be deleted; with --yes delete them."""
        options = arguments(self.paimon_expire, line)
        _check_consent(options)
        try:
            with errors_on_one_line():
                return commands.expire(
                    options.table,
                    retain_max=options.retain_max,
                    older_than=options.older_than and unquoted(options.older_than),
                    dry_run=not options.yes,
                )
        except ValueError as error:
            raise wrong_use(str(error), "magics") from error


def _check_consent(options: Any) -> None:
    if options.yes and options.dry_run:
        raise wrong_use("--yes and --dry-run exclude each other", "magics")
