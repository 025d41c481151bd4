"""Run SQL, and look back at what was run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments
from IPython.display import display

from paimonlab.notebook import commands
from paimonlab.notebook.cell import magic_line
from paimonlab.notebook.cell.cell_request import request_of
from paimonlab.notebook.cell.history import history
from paimonlab.notebook.cell.query_error import QueryError, whole_trace
from paimonlab.notebook.cell.wrong_use import wrong_use
from paimonlab.notebook.display.view import View
from paimonlab.notebook.magics.lines import arguments, errors_on_one_line, unquoted, variables_of
from paimonlab.secrets import without_secrets

if TYPE_CHECKING:
    from paimonlab.notebook.magics.cell_running import Outcome


def offer_usual_name(shell: InteractiveShell) -> None:
    """Let ``%%sql`` and ``%sql`` be ``%%paimon`` and ``%paimon``, unless others have them."""
    theirs = (shell.find_cell_magic("sql"), shell.find_line_magic("sql"))
    if all(magic is None or magic.__module__ == __name__ for magic in theirs):
        shell.register_magic_function(shell.find_cell_magic("paimon"), "line_cell", "sql")


@magics_class
class SqlMagics(Magics):
    """Run SQL, and look back at what was run."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._last_error: QueryError | None = None

    @line_magic
    def paimon_trace(self, _line: str) -> None:
        """Show all of the last SQL error: what Spark reported, and where it is from."""
        # Only IPython knows what failed in Python, as in `paimonlab.sql(…)`.
        last = getattr(sys, "last_value", None)
        is_newer = isinstance(last, QueryError) and not last.is_shown
        error = last if is_newer else self._last_error
        if error is None:
            raise wrong_use("no SQL has failed yet", "errors")
        print(without_secrets(whole_trace(error)))  # noqa: T201 - asked for

    @line_magic
    @magic_arguments()
    @argument("-n", "--last", type=int, default=20, metavar="N", help="newest N statements (20)")
    @argument("--failed", action="store_true", help="only those that failed")
    @argument("pattern", nargs="*", metavar="TEXT", help="only those with this text in the SQL")
    def paimon_history(self, line: str) -> View:
        """Show the statements that were run: when, where, how many rows, how long."""
        options = arguments(self.paimon_history, line)
        if options.last < 1:
            raise wrong_use(f"-n must be at least 1, got {options.last}", "magics")
        return commands.statement_history(
            last=options.last, is_failed=options.failed, pattern=unquoted(" ".join(options.pattern))
        )

    @line_magic
    def paimon_rerun(self, line: str) -> Outcome:
        """Run the text of a statement of %paimon_history again, here and now.

        ``%paimon_rerun NUMBER`` runs it on the current connection, without options.
        """
        if not line.strip().isdecimal():
            message = "%paimon_rerun needs the number of a statement in %paimon_history"
            raise wrong_use(message, "magics")
        try:
            sql = history().text(int(line))
        except LookupError as error:
            raise wrong_use(str(error), "magics") from error
        return self._answer(magic_line.SqlLine(), sql)

    @no_var_expand
    @line_cell_magic
    def paimon(self, line: str, cell: str | None = None) -> Outcome:
        """Run Spark SQL on the connected catalog.

        ``%paimon [options] SELECT …`` takes the rest of the line, ``%%paimon [options]`` the
        lines below. ``:name`` is the value of the variable ``name``; ``db.t$snapshots`` needs
        no back-quotes; several statements have ``;`` between them.

        Options: ``name <<`` keeps the result in a variable and shows nothing, ``name = <<`` or
        ``-o name`` keeps and shows it; ``--limit N`` fetches N rows of a query (100), 0 is all;
        ``--max-bytes 20MB`` keeps no more; ``--yes`` does not ask before more than a million rows;
        ``--as-of 12``, a tag or ``'2026-01-31 12:00'`` reads all tables as they were;
        ``--engine native`` runs the cell without Spark, ``auto`` where Spark would give the same;
        ``--lazy`` returns Spark's DataFrame and runs nothing; ``--view NAME`` makes the query a
        temporary view; ``--params NAME`` gives the values of a list to each ``?``;
        ``--explain-params`` shows the values of parameters and runs nothing;
        ``--all`` keeps and returns the results of all statements as a list;
        ``--to FILE`` writes all rows as .csv, .parquet, .arrow, .json or .md;
        ``-j`` or ``--jinja`` makes the cell a Jinja template whose values become parameters,
        ``--show-sql`` shows what comes out and runs nothing;
        ``--plot line X Y``, ``bar``, ``hist`` or ``scatter``, draws columns of the result, ``--by
        COLUMN`` a series for each of its values, ``--show-code`` prints the Python of it;
        ``--profile`` also shows what is in each column, of all rows of a query;
        ``--dry-run`` shows which files would be read, and without Spark what ``INSERT``,
        ``UPDATE``, ``DELETE`` and ``MERGE`` would change; ``--explain [formatted|cost|extended]``
        the plan as well;
        ``--stream [append|update|complete]`` runs a query over ``FROM STREAM db.t``, or an
        ``INSERT`` of one, until the kernel is interrupted, ``--once`` until all that is there is
        read, ``--checkpoint FOLDER`` where it ended before;
        ``--no-progress``. ``--`` ends the options.
        """
        options = magic_line.parse(line) if cell is None else magic_line.parse_first(line)
        return self._answer(options, options.sql if cell is None else cell)

    def _answer(self, options: magic_line.SqlLine, text: str) -> Outcome:
        request = request_of(options, text)
        with errors_on_one_line(), self._showing_errors():
            from paimonlab.notebook.magics.cell_running import answer  # noqa: PLC0415 - takes long

            return answer(request, variables_of(self.shell))

    @contextmanager
    def _showing_errors(self) -> Iterator[None]:
        """Show all of an error as a block, then stop the cell with one line."""
        try:
            yield
        except QueryError as error:
            self._last_error = error
            display(commands.problem(error))
            raise error.shown() from error
