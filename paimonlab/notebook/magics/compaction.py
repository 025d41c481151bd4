"""The files of a table by level, and what compaction does to them."""

from __future__ import annotations

from IPython.core.magic import Magics, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments

from paimonlab.notebook import commands
from paimonlab.notebook.cell.wrong_use import wrong_use
from paimonlab.notebook.display.view import View
from paimonlab.notebook.magics.lines import arguments, errors_on_one_line


@magics_class
class CompactionMagics(Magics):
    """Views of levels and compactions."""

    @line_magic
    @magic_arguments()
    @argument("table", metavar="DB.TABLE", help="database.table")
    @argument("-p", "--partition", metavar="KEY=VALUE,…", help="only this partition")
    @argument("-b", "--bucket", type=int, metavar="N", help="only this bucket")
    @argument("-n", "--last", type=int, default=30, metavar="N", help="newest N snapshots (30)")
    @argument("--buckets", type=int, default=6, metavar="N", help="draw N buckets (6)")
    def paimon_lsm(self, line: str) -> View:
        """Draw the levels of the buckets that most need compaction, step by step."""
        options = arguments(self.paimon_lsm, line)
        for option, value in (("-n", options.last), ("--buckets", options.buckets)):
            if value < 1:
                raise wrong_use(f"{option} must be at least 1, got {value}", "magics")
        with errors_on_one_line():
            return commands.lsm(
                options.table,
                partition=partition_of(options.partition),
                bucket=options.bucket,
                snapshots=options.last,
                buckets=options.buckets,
            )

    @line_magic
    @magic_arguments()
    @argument("table", metavar="DB.TABLE", help="database.table")
    @argument("snapshot", nargs="?", type=int, metavar="SNAPSHOT", help="a compaction (the newest)")
    @argument(
        "-n", "--last", type=int, default=100, metavar="N", help="window of N snapshots (100)"
    )
    def paimon_compaction(self, line: str) -> View:
        """Show what compactions did, what they cost, and what would be picked now."""
        options = arguments(self.paimon_compaction, line)
        try:
            with errors_on_one_line():
                return commands.compaction(options.table, options.snapshot, snapshots=options.last)
        except ValueError as error:
            raise wrong_use(str(error), "magics") from error

    @line_magic
    @magic_arguments()
    @argument("table", nargs="?", metavar="DB.TABLE", help="whose writes; else invented ones")
    @argument("-p", "--partition", metavar="KEY=VALUE,…", help="only this partition")
    @argument("-b", "--bucket", type=int, metavar="N", help="this bucket")
    @argument("-n", "--flushes", type=int, default=100, metavar="N", help="N flushes (100)")
    @argument("--pattern", default="uniform", help="invented keys: uniform, rising or hot")
    def paimon_simulator(self, line: str) -> View:
        """Show what a history of writes would cost under other compaction options."""
        options = arguments(self.paimon_simulator, line)
        try:
            with errors_on_one_line():
                return commands.simulate(
                    options.table,
                    partition=partition_of(options.partition),
                    bucket=options.bucket,
                    flushes=options.flushes,
                    pattern=options.pattern,
                )
        except ValueError as error:
            raise wrong_use(str(error), "magics") from error


def partition_of(text: str | None) -> dict[str, str] | None:
    """Read ``dt=2026-01-01,hour=7``.

    Raises
    ------
    UsageError
        If a part has no equals sign.
    """
    if text is None:
        return None
    pairs = [part.partition("=") for part in text.replace("/", ",").split(",") if part]
    for key, equals, _ in pairs:
        if not equals or not key:
            raise wrong_use(f"a partition is written KEY=VALUE,…, got {text!r}", "magics")
    return {key.strip(): value.strip() for key, _, value in pairs}
