"""What could be better about how tables are maintained."""

from __future__ import annotations

from IPython.core.magic import Magics, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments

from paimonlab.notebook import commands
from paimonlab.notebook.display.view import View
from paimonlab.notebook.magics.lines import arguments, errors_on_one_line


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
