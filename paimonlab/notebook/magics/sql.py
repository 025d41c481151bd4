"""Connect, look around, run SQL."""

from __future__ import annotations

import sys
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from IPython.core.error import StdinNotImplementedError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments
from IPython.display import display

from paimonlab.notebook import commands
from paimonlab.notebook.cell import magic_line as sql_line
from paimonlab.notebook.cell.history import history
from paimonlab.notebook.cell.parameters import Values, share
from paimonlab.notebook.cell.params_option import values_of
from paimonlab.notebook.cell.query_error import QueryError, whole_trace
from paimonlab.notebook.cell.statements import Statement
from paimonlab.notebook.cell.wrong_use import wrong_use
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.connections import settings
from paimonlab.notebook.display.view import View
from paimonlab.notebook.magics.lines import arguments, errors_on_one_line, unquoted
from paimonlab.notebook.results.cell_results import Results
from paimonlab.notebook.results.result import Result
from paimonlab.secrets import without_secrets
from paimonlab.spec.visible_text import visible

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from paimonlab.notebook.results.plotting import Plot

T = TypeVar("T")
LAST_RESULT = "_paimon"
PLOTTED_LIMIT = 100_000
"""Rows fetched for a plot when ``--limit`` says nothing."""


def _connected(asked: Any, variables: dict[str, Any]) -> connections.Connection:
    """Do what a line of ``%paimon_connect`` asks for."""
    texts = {name: value for name, value in vars(asked).items() if isinstance(value, str)}
    given = {name: unquoted(value) for name, value in texts.items() if value}
    if asked.read_only and ("use" in given or "warehouse" not in given):
        raise ValueError("--read-only goes with PATH; in a configured connection: read-only = true")
    if "use" in given:
        if {"engine", "alias"} & given.keys():
            raise ValueError("--use goes with PATH and --catalog, not with --engine and --alias")
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
        engine=settings.engine_of(given.get("engine", "spark")),
        alias=given.get("alias"),
        read_only=asked.read_only,
    )


def _of_all_rows(manner: commands.Manner, statement: Statement) -> commands.Manner:
    if not statement.is_query:
        raise QueryError(
            f"--to is for queries, and {statement.title} is none.",
            topic="limits",
            statement=statement,
        )
    return replace(manner, limit=0, max_bytes=None, confirm=None)


def _viewed(name: str, statement: Statement) -> str:
    if not statement.is_query:
        raise QueryError(
            f"--view is for queries, and {statement.title} is none.",
            topic="sql",
            statement=statement,
        )
    return name


def _plotted(
    asked: sql_line.SqlLine, plot: tuple[str, ...], result: Result, statement: Statement
) -> Plot:
    if not statement.is_query:
        raise QueryError(
            f"--plot is for queries, and {statement.title} is none.",
            topic="plots",
            statement=statement,
        )
    drawn = result.plot(*plot, by=asked.by, source=asked.target or LAST_RESULT)
    if "--show-code" in asked.flags:
        print(drawn.code)  # noqa: T201 - asked for
    return drawn


def _check_together(asked: sql_line.SqlLine) -> None:
    """Refuse options that say nothing together."""
    if asked.plot is None and (asked.by is not None or "--show-code" in asked.flags):
        raise wrong_use("--by and --show-code are about a plot: give --plot, too", "plots")
    if "--show-sql" in asked.flags and not asked.flags & {"-j", "--jinja"}:
        raise wrong_use("--show-sql is about a template: give -j, too", "parameters")
    without_rows = asked.flags & {
        "--lazy",
        "--dry-run",
        "--explain",
        "--explain-params",
        "--show-sql",
    }
    if "--all" in asked.flags and (asked.plot is not None or "--profile" in asked.flags):
        raise wrong_use("--all returns every result, --plot and --profile look at one", "sql")
    if without_rows and (asked.plot is not None or "--profile" in asked.flags):
        name = min(without_rows)
        raise wrong_use(f"{name} fetches no rows, --plot and --profile look at them", "sql")


def _limit(asked: sql_line.SqlLine) -> int:
    """Return how many rows are fetched; what is drawn needs more than what is looked at."""
    if asked.limit is not None:
        return asked.limit
    return PLOTTED_LIMIT if asked.plot is not None else commands.DEFAULT_LIMIT


def _hand_out(asked: sql_line.SqlLine, statement: Statement, result: Result) -> None:
    """Write the last result to a file and make a view of it, as far as that is wanted."""
    if asked.to is not None:
        size = result.export(asked.to)
        print(f"{visible(asked.to)}: {len(result):,} rows, {size:,} bytes")  # noqa: T201
    if asked.view is not None:
        result.spark.createOrReplaceTempView(_viewed(asked.view, statement))


def _confirm() -> bool:
    """Ask whether to fetch very many rows."""
    question = f"more than {commands.MANY_ROWS:,} rows: fetch them all? [y/N] "
    try:
        return input(question).strip().lower() in {"y", "yes"}
    except (EOFError, OSError, StdinNotImplementedError) as error:
        raise QueryError(
            f"There are more than {commands.MANY_ROWS:,} rows, and nobody can be asked.",
            topic="limits",
            hint="--yes fetches them, --limit N fetches the first N.",
        ) from error


def _check_server(asked: sql_line.SqlLine) -> None:
    """Refuse what the connection cannot do before anything is run."""
    if "--profile" in asked.flags:
        commands.check_profiles()
    if asked.view is not None:
        commands.check_views(as_of=asked.as_of)


@contextmanager
def _values_on_one_line() -> Iterator[None]:
    """Show a wrong argument without traceback."""
    try:
        yield
    except ValueError as error:
        raise wrong_use(str(error), "connections") from error


@magics_class
class SqlMagics(Magics):
    """Connect, look around, run SQL."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._last_error: QueryError | None = None

    @line_magic
    @magic_arguments()
    @argument("warehouse", nargs="?", metavar="PATH", help="folder or URI of the warehouse")
    @argument("--engine", default="", metavar="NAME", help="spark (default) or native: no Spark")
    @argument("--catalog", metavar="NAME", help="its name in SQL (the alias, else paimon)")
    @argument("--alias", metavar="NAME", help="names the connection (the catalog's name)")
    @argument("--read-only", action="store_true", help="refuse whatever would change something")
    @argument("--use", metavar="NAME", help="go to a connection, make one that --list shows")
    @argument("--close", metavar="NAME", help="forget a connection")
    @argument("--list", action="store_true", help="show connections: open, configured, on offer")
    def paimon_connect(self, line: str) -> View | None:
        """Connect to a warehouse, and say what to; without PATH: as configured."""
        asked = arguments(self.paimon_connect, line)
        with errors_on_one_line("connections"), _values_on_one_line():
            if asked.list:
                return commands.list_connections(self._variables)
            if asked.close is not None:
                connections.disconnect(unquoted(asked.close))
                print(f"closed: {unquoted(asked.close)}")  # noqa: T201
                return None
            print(_connected(asked, self._variables))  # noqa: T201 - the one line a user waits for
        return None

    @line_magic
    @magic_arguments()
    @argument("database", nargs="?", help="only the tables of this database")
    def paimon_tables(self, line: str) -> View:
        """List the tables of the connected warehouse."""
        asked = arguments(self.paimon_tables, line)
        with errors_on_one_line():
            return commands.tables(asked.database)

    @line_magic
    def paimon_help(self, line: str) -> View:
        """Show what can be typed: %paimon_help [TOPIC]."""
        with errors_on_one_line():
            return commands.show_help(line.strip() or None)

    @line_magic
    def paimon_trace(self, _line: str) -> None:
        """Show all of the last SQL error: what Spark said, and where it came from."""
        # What failed in Python, as `paimonlab.sql(…)`, only IPython knows.
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
        asked = arguments(self.paimon_history, line)
        if asked.last < 1:
            raise wrong_use(f"-n must be at least 1, got {asked.last}", "magics")
        return commands.statement_history(
            last=asked.last, is_failed=asked.failed, pattern=unquoted(" ".join(asked.pattern))
        )

    @line_magic
    def paimon_rerun(self, line: str) -> Result | Results | Plot | View | DataFrame | None:
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
        return self._answer(sql_line.SqlLine(), sql)

    @no_var_expand
    @line_cell_magic
    def paimon(
        self, line: str, cell: str | None = None
    ) -> Result | Results | Plot | View | DataFrame | None:
        """Run Spark SQL on the connected catalog.

        ``%paimon [options] SELECT …`` takes the rest of the line, ``%%paimon [options]`` the
        lines below. ``:name`` is the value of the variable ``name``; ``db.t$snapshots`` needs
        no back-quotes; several statements have ``;`` between them.

        Options: ``name <<`` keeps the result in a variable and shows nothing, ``name = <<`` or
        ``-o name`` keeps and shows it; ``--limit N`` fetches N rows of a query (100), 0 is all;
        ``--max-bytes 20MB`` keeps no more; ``--yes`` fetches more than a million rows unasked;
        ``--as-of 12``, a tag or ``'2026-01-31 12:00'`` reads all tables as they were;
        ``--lazy`` returns Spark's DataFrame and runs nothing; ``--view NAME`` makes the query a
        temporary view; ``--params NAME`` gives the values of a list to each ``?``;
        ``--explain-params`` shows the values of parameters and runs nothing;
        ``--all`` keeps and returns the results of all statements as a list;
        ``--to FILE`` writes all rows as .csv, .parquet, .arrow, .json or .md;
        ``-j`` or ``--jinja`` makes the cell a Jinja template whose values become parameters,
        ``--show-sql`` shows what comes out and runs nothing;
        ``--plot line X Y``, ``bar``, ``hist`` or ``scatter``, draws columns of the result, ``--by
        COLUMN`` a series for each of its values, ``--show-code`` prints the Python of it;
        ``--profile`` shows what is in each column of all rows of a query, too;
        ``--dry-run`` shows which files would be read, ``--explain [formatted|cost|extended]``
        Spark's plan, too;
        ``--no-progress``. ``--`` ends the options.
        """
        asked = sql_line.parse(line) if cell is None else sql_line.parse_first(line)
        return self._answer(asked, asked.sql if cell is None else cell)

    def _answer(
        self, asked: sql_line.SqlLine, sql: str
    ) -> Result | Results | Plot | View | DataFrame | None:
        if "--help" in asked.flags:
            return commands.show_help("sql")
        _check_together(asked)
        with errors_on_one_line(), self._showing_errors():
            in_order = None if asked.params is None else values_of(asked.params, self._variables)
            sql, named = self._compiled(asked, sql)
            if "--show-sql" in asked.flags:
                print(without_secrets(sql))  # noqa: T201 - asked for
            if asked.flags & {"--explain-params", "--show-sql"}:
                shown = commands.explain_parameters(
                    sql,
                    named,
                    source="notebook",
                    in_order=in_order,
                    order_source=f"--params {asked.params}",
                )
                return self._bound(asked, shown)
            statements = commands.parse(sql)
            shares = share(statements, named, in_order)
            if asked.flags & {"--dry-run", "--explain"}:
                explain = asked.explained if "--explain" in asked.flags else False
                shown = commands.planned(
                    sql,
                    args=named if in_order is None else in_order,
                    as_of=asked.as_of,
                    explain=explain,
                )
                return self._bound(asked, shown)
            return self._run(asked, list(zip(statements, shares, strict=True)))

    def _bound(self, asked: sql_line.SqlLine, shown: T) -> T | None:
        """Keep what is shown, if that is wanted."""
        if asked.target is not None:
            self._variables[asked.target] = shown
        return None if asked.is_silent else shown

    def _compiled(self, asked: sql_line.SqlLine, sql: str) -> tuple[str, Mapping[str, Any]]:
        """Return SQL and the values of its parameters, those that a template makes among them."""
        if not asked.flags & {"-j", "--jinja"}:
            return sql, self._variables
        from paimonlab.notebook.cell.templates import compiled  # noqa: PLC0415 - few ask for it

        made = compiled(sql, self._variables)
        return made.text, ChainMap(dict(made.values), self._variables)

    @property
    def _variables(self) -> dict[str, Any]:
        assert self.shell is not None, "magics run in a shell"
        return self.shell.user_ns

    def _run(
        self, asked: sql_line.SqlLine, statements: Sequence[tuple[Statement, Values]]
    ) -> Result | Results | Plot | View | DataFrame | None:
        variables = self._variables
        _check_server(asked)
        manner = commands.Manner(
            limit=_limit(asked),
            max_bytes=asked.max_bytes,
            as_of=asked.as_of,
            progress="--no-progress" not in asked.flags,
            confirm=None if "--yes" in asked.flags else _confirm,
        )
        keeps_all = "--all" in asked.flags
        results: list[Result] = []
        try:
            for statement, values in statements:
                is_last = statement.number == statement.count
                if is_last and "--lazy" in asked.flags:
                    return self._lazy(asked, statement, values)
                is_written = is_last and asked.to is not None
                if is_written and not (keeps_all or asked.target or asked.plot):
                    return self._streamed(asked, (statement, values), manner)
                result = commands.run(
                    statement, values, _of_all_rows(manner, statement) if is_written else manner
                )
                variables[LAST_RESULT] = result
                if is_last:
                    _hand_out(asked, statement, result)
                results.append(result)
                if is_last and not keeps_all:
                    self._bound(asked, result)
                    return self._shown(asked, (statement, values), result, manner)
                if not asked.is_silent and not keeps_all:
                    display(result)
        except BaseException:
            if keeps_all and not asked.is_silent:
                display(Results(results))
            raise
        return self._bound(asked, Results(results))

    def _shown(
        self,
        asked: sql_line.SqlLine,
        last: tuple[Statement, Values],
        result: Result,
        manner: commands.Manner,
    ) -> Result | Plot | View | None:
        """Choose what the last statement shows; what was asked for by name is never silent."""
        made: Result | Plot | None = None if asked.is_silent or asked.to is not None else result
        if asked.plot is not None:
            made = _plotted(asked, asked.plot, result, last[0])
        if "--profile" not in asked.flags:
            return made
        if made is not None:
            display(made)
        return commands.profile_query(*last, manner)

    def _streamed(
        self, asked: sql_line.SqlLine, last: tuple[Statement, Values], manner: commands.Manner
    ) -> View | None:
        """Write rows that nothing else needs: none is kept."""
        assert asked.to is not None, "there is a file"
        written = commands.write(*last, manner, asked.to)
        if asked.view is not None:
            self._lazy(asked, *last)
        told = f"{visible(asked.to)}: {written.row_count:,} rows, {written.byte_count:,} bytes"
        print(told)  # noqa: T201
        return commands.profile_query(*last, manner) if "--profile" in asked.flags else None

    def _lazy(
        self, asked: sql_line.SqlLine, statement: Statement, values: Values
    ) -> DataFrame | None:
        frame = commands.lazy(statement, values, as_of=asked.as_of)
        if asked.view is not None:
            frame.createOrReplaceTempView(_viewed(asked.view, statement))
        return self._bound(asked, frame)

    @contextmanager
    def _showing_errors(self) -> Iterator[None]:
        """Show a block that says all, then stop the cell with one line."""
        try:
            yield
        except QueryError as error:
            self._last_error = error
            display(commands.problem(error))
            raise error.shown() from error
