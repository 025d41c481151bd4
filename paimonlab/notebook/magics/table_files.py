"""What a table is made of: manifests, buckets, data files."""

from __future__ import annotations

from IPython.core.magic import Magics, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments

from paimonlab.analysis.buckets.measures import DEFAULT_TOP, MEASURES
from paimonlab.notebook import commands
from paimonlab.notebook.cell.wrong_use import wrong_use
from paimonlab.notebook.display.view import View
from paimonlab.notebook.magics.lines import arguments, errors_on_one_line


@magics_class
class FileMagics(Magics):
    """Views of a table's files."""

    @line_magic
    @magic_arguments()
    @argument("table", metavar="DB.TABLE", help="database.table")
    @argument("--snapshot", type=int, metavar="N", help="of snapshot N (the latest)")
    def paimon_manifests(self, line: str) -> View:
        """Draw the manifest lists, manifests and entries of a snapshot."""
        options = arguments(self.paimon_manifests, line)
        with errors_on_one_line():
            return commands.manifests(options.table, snapshot=options.snapshot)

    @line_magic
    @magic_arguments()
    @argument("table", metavar="DB.TABLE", help="database.table")
    @argument("--by", default="bytes", choices=MEASURES, help="measure (bytes)")
    @argument("--top", type=int, default=DEFAULT_TOP, metavar="N", help="partitions shown (50)")
    @argument("--snapshot", type=int, metavar="N", help="of snapshot N (the latest)")
    def paimon_heatmap(self, line: str) -> View:
        """Draw the buckets of a table by what they contain."""
        options = arguments(self.paimon_heatmap, line)
        if options.top < 1:
            raise wrong_use(f"--top must be at least 1, got {options.top}", "magics")
        with errors_on_one_line():
            return commands.heatmap(
                options.table, by=options.by, top=options.top, snapshot=options.snapshot
            )

    @line_magic
    @magic_arguments()
    @argument("table", metavar="DB.TABLE", help="database.table")
    @argument("--snapshot", type=int, metavar="N", help="of snapshot N (the latest)")
    def paimon_files(self, line: str) -> View:
        """Draw the data files of a table by size and place."""
        options = arguments(self.paimon_files, line)
        with errors_on_one_line():
            return commands.files(options.table, snapshot=options.snapshot)

    @line_magic
    @magic_arguments()
    @argument("table", metavar="DB.TABLE", help="database.table")
    @argument("name", metavar="NAME", help="of a live data file, or a part that only it has")
    @argument("--snapshot", type=int, metavar="N", help="in snapshot N (the latest)")
    def paimon_file(self, line: str) -> View:
        """Draw one data file: its columns, statistics, checksums and first rows."""
        options = arguments(self.paimon_file, line)
        with errors_on_one_line():
            return commands.file(options.table, options.name, snapshot=options.snapshot)
