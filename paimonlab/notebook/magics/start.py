"""Tables to try things on, and checks of this machine."""

from __future__ import annotations

from IPython.core.magic import Magics, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments

from paimonlab.notebook import commands
from paimonlab.notebook.cell.wrong_use import wrong_use
from paimonlab.notebook.display.view import View
from paimonlab.notebook.magics.lines import arguments, errors_on_one_line, unquoted


@magics_class
class StartMagics(Magics):
    """Begin without a warehouse of one's own."""

    @line_magic
    @magic_arguments()
    @argument(
        "warehouse", nargs="?", metavar="PATH", help="folder to make them in (a temporary one)"
    )
    def paimon_demo(self, line: str) -> View:
        """Make two small tables full of history, and connect to them without Spark."""
        options = arguments(self.paimon_demo, line)
        from paimonlab.notebook.connections import demo_tables  # noqa: PLC0415 - takes long

        with errors_on_one_line():
            connection = commands.demo(options.warehouse and unquoted(options.warehouse))
            print(connection)  # noqa: T201 - what it is connected to, as %paimon_connect says
            return commands.tables(demo_tables.DATABASE)

    @line_magic
    def paimon_doctor(self, line: str) -> View:
        """Check whether Spark, JupyterLab and the warehouse work here, and say what to do."""
        if line.strip():
            message = f"it looks at this machine; at a table looks %paimon_health {line.strip()}"
            raise wrong_use(message, "magics")
        with errors_on_one_line():
            return commands.doctor()
