"""Connect, and look around."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from IPython.core.magic import Magics, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments

from paimonlab.catalog import settings
from paimonlab.notebook import commands
from paimonlab.notebook.cell.wrong_use import wrong_use
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.connections.warehouse_connection import Connection
from paimonlab.notebook.display.view import View
from paimonlab.notebook.magics.lines import arguments, errors_on_one_line, unquoted, variables_of


def _connected(options: Any, variables: dict[str, Any]) -> Connection:
    """Do what a line of ``%paimon_connect`` asks for."""
    texts = {name: value for name, value in vars(options).items() if isinstance(value, str)}
    given = {name: unquoted(value) for name, value in texts.items() if value}
    if options.read_only and ("use" in given or "warehouse" not in given):
        raise ValueError("--read-only needs PATH; in a configured connection: read-only = true")
    if "use" in given:
        if {"engine", "alias"} & given.keys():
            raise ValueError(
                "--use can be combined with PATH and --catalog, not with --engine and --alias"
            )
        return connections.use(
            given["use"],
            given.get("warehouse"),
            catalog=given.get("catalog"),
            variables=variables,
        )
    if "warehouse" not in given:
        return connections.use(settings.DEFAULT)
    return connections.connect(
        given["warehouse"],
        catalog=given.get("catalog"),
        engine=settings.engine_of(given["engine"]) if "engine" in given else "",
        alias=given.get("alias"),
        read_only=options.read_only,
    )


@contextmanager
def _values_on_one_line() -> Iterator[None]:
    """Show a wrong argument without traceback."""
    try:
        yield
    except ValueError as error:
        raise wrong_use(str(error), "connections") from error


@magics_class
class ConnectionMagics(Magics):
    """Connect, and look around."""

    @line_magic
    @magic_arguments()
    @argument("warehouse", nargs="?", metavar="PATH", help="folder or URI of the warehouse")
    @argument(
        "--engine",
        default="",
        metavar="NAME",
        help="spark (default where PySpark is installed), native: no Spark, or auto: either",
    )
    @argument("--catalog", metavar="NAME", help="its name in SQL (the alias, else paimon)")
    @argument("--alias", metavar="NAME", help="names the connection (the catalog's name)")
    @argument("--read-only", action="store_true", help="refuse everything that changes something")
    @argument("--use", metavar="NAME", help="use a connection that --list shows")
    @argument("--close", metavar="NAME", help="forget a connection")
    @argument("--list", action="store_true", help="show connections: open, configured, on offer")
    def paimon_connect(self, line: str) -> View | None:
        """Connect to a warehouse and show which; without PATH as configured."""
        options = arguments(self.paimon_connect, line)
        with errors_on_one_line("connections"), _values_on_one_line():
            if options.list:
                return commands.list_connections(variables_of(self.shell))
            if options.close is not None:
                connections.disconnect(unquoted(options.close))
                print(f"closed: {unquoted(options.close)}")  # noqa: T201
                return None
            print(_connected(options, variables_of(self.shell)))  # noqa: T201 - the one line a user waits for
        return None

    @line_magic
    @magic_arguments()
    @argument("database", nargs="?", help="only the tables of this database")
    def paimon_tables(self, line: str) -> View:
        """List the tables of the connected warehouse."""
        options = arguments(self.paimon_tables, line)
        with errors_on_one_line():
            return commands.tables(options.database)

    @line_magic
    def paimon_help(self, line: str) -> View:
        """Show what can be typed: %paimon_help [TOPIC]."""
        with errors_on_one_line():
            return commands.show_help(line.strip() or None)
