"""SQL without Spark that takes more than one scan: joins, groups, windows, data frames, files."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

from paimonlab import sql_engine
from paimonlab.errors import PaimonError, UnsupportedError, without_database
from paimonlab.notebook.cell.parameters import Values, bind
from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.cell.statements import Statement, quote_system_tables
from paimonlab.notebook.cell.time_travel import check_travels, is_moment
from paimonlab.notebook.kernel.interruptible import run_interruptibly
from paimonlab.notebook.kernel.progress import ProgressDisplay
from paimonlab.notebook.results.result import Result, Stats
from paimonlab.notebook.running.without_rows import said_of
from paimonlab.procedures import told
from paimonlab.procedures.habits import CalledOtherwiseError
from paimonlab.progress import Progress
from paimonlab.spec.sql_text.tokens import Span
from paimonlab.spec.types.arrow import from_arrow
from paimonlab.spec.types.data_types import with_nullable
from paimonlab.spec.types.text import format_type
from paimonlab.sql_engine import copying, engine, table_names, tables
from paimonlab.sql_engine.first_words import COPYING, WRITING
from paimonlab.sql_engine.refusal import (
    NoDatabaseError,
    NotTranslatedError,
    StatementFailedError,
)
from paimonlab.sql_engine.statements import calls
from paimonlab.sql_engine.statements.calls import CALLING

if TYPE_CHECKING:
    from paimonlab.notebook.connections.warehouse_connection import Connection

T = TypeVar("T")
Frames = Callable[[str], object]
ENGINE = engine.NAME
_MOST_DATABASES = 5


def run(
    connection: Connection,
    statement: Statement,
    args: Values,
    *,
    limit: int,
    as_of: int | str | None,
    frames: Frames | None,
    display: ProgressDisplay,
) -> Result:
    """Answer a query.

    Parameters
    ----------
    connection
        Where its tables are.
    statement
        The query.
    args
        Values of the parameters.
    limit
        Rows fetched; 0: all.
    as_of
        Snapshot, tag or moment at which tables are read, unless the query says it.
    frames
        Finds variables of the notebook; None: there are none.
    display
        Shows that it lasts.

    Raises
    ------
    QueryError
        If a part of it is not proven to give Spark's rows, or it fails.
    """
    begin = time.monotonic()
    if statement.tokens[0].text.upper() in CALLING:
        return _called(connection, statement, display)
    if statement.tokens[0].text.upper() == COPYING:
        if as_of is not None:
            check_travels(statement, args)
        return _copied(connection, statement, args, frames, display)
    if statement.tokens[0].text.upper() in WRITING:
        if as_of is not None:
            check_travels(statement, args)
        return _changed(connection, statement, args, frames, display)

    def work(progress: Progress) -> tuple[engine.Planned, pa.Table]:
        planned = _planned(connection, statement, args, as_of, frames, limit + 1 if limit else None)
        return planned, engine.run(planned, options_of(connection), progress)

    try:
        planned, rows = run_interruptibly(work, display=display)
    except NotTranslatedError as error:
        raise refused(connection, statement, error) from error
    except StatementFailedError as error:
        raise QueryError(str(error), topic="without spark", statement=statement) from error
    has_more = bool(limit) and rows.num_rows > limit
    table = rows.slice(0, limit) if has_more else rows
    stats = Stats(
        row_count=table.num_rows,
        has_more_rows=has_more,
        fetched_bytes=table.nbytes,
        duration_seconds=time.monotonic() - begin,
        snapshots=planned.read,
        engine=ENGINE,
    )
    return Result(
        table,
        types=planned.types,
        sql=statement.text,
        title=statement.title,
        stats=stats,
        spark=None,
        said=planned.quoted_column,
    )


def _called(connection: Connection, statement: Statement, display: ProgressDisplay) -> Result:
    """Run OPTIMIZE, or say what does what VACUUM and RESTORE do."""
    begin = time.monotonic()
    sources = tables.Sources(connection.catalog, connection.catalog_name)
    noted: list[object] = []
    try:
        rows = run_interruptibly(
            lambda progress: calls.run(statement.text, sources, progress, noted), display=display
        )
    except NotTranslatedError as error:
        raise refused(connection, statement, error) from error
    except CalledOtherwiseError as error:
        raise _answered(statement, error) from None
    except PaimonError as error:
        raise QueryError(str(error), topic="call", statement=statement) from None
    return _answer(statement, rows, begin, told(noted))


def _copied(
    connection: Connection,
    statement: Statement,
    args: Values,
    frames: Frames | None,
    display: ProgressDisplay,
) -> Result:
    """Run COPY INTO."""
    begin = time.monotonic()
    rows = _run(copying.statement.run, connection, statement, args, frames, display)
    return _answer(statement, rows, begin)


def _answer(statement: Statement, rows: pa.Table, begin: float, said: str = "") -> Result:
    """Show the rows that a statement answers with."""
    return Result(
        rows,
        types=[
            format_type(with_nullable(from_arrow(field.type), nullable=True)).lower()
            for field in rows.schema
        ],
        sql=statement.text,
        title=statement.title,
        stats=Stats(
            row_count=rows.num_rows,
            has_more_rows=False,
            fetched_bytes=rows.nbytes,
            duration_seconds=time.monotonic() - begin,
        ),
        spark=None,
        said=said,
    )


def _answered(statement: Statement, error: CalledOtherwiseError) -> QueryError:
    """Say which calls do what a statement of another format does."""
    return QueryError(
        f"{error.feature} is not supported; run the following: {error.remark}.",
        topic="call",
        statement=statement,
        hint="\n".join(error.calls),
    )


def _changed(
    connection: Connection,
    statement: Statement,
    args: Values,
    frames: Frames | None,
    display: ProgressDisplay,
) -> Result:
    """Run a statement that writes."""
    begin = time.monotonic()
    done = _run(sql_engine.changes.run, connection, statement, args, frames, display)
    return said_of(statement, done.said, begin=begin)


def _run(
    run: Callable[[str, tables.Sources, Values, engine.EngineOptions, Progress], T],
    connection: Connection,
    statement: Statement,
    args: Values,
    frames: Frames | None,
    display: ProgressDisplay,
) -> T:
    """Run a statement that writes, so that an interrupt ends it, and say what is wrong."""
    text, values = quote_system_tables(statement).text, bind(statement, args)
    sources = tables.Sources(connection.catalog, connection.catalog_name, frames or _nothing)
    options = options_of(connection)
    try:
        return run_interruptibly(
            lambda progress: run(text, sources, values, options, progress), display=display
        )
    except NotTranslatedError as error:
        raise refused(connection, statement, error) from error
    except CalledOtherwiseError as error:
        raise _answered(statement, error) from None
    except StatementFailedError as error:
        raise QueryError(str(error), topic="without spark", statement=statement) from error


def batches_of(
    connection: Connection,
    statement: Statement,
    args: Values,
    as_of: int | str | None,
    frames: Frames | None,
    progress: Progress,
) -> pa.RecordBatchReader:
    """Compute all rows of a query.

    Raises
    ------
    QueryError
        As `run` does.
    """
    try:
        planned = _planned(connection, statement, args, as_of, frames, None)
        return engine.run(planned, options_of(connection), progress).to_reader()
    except NotTranslatedError as error:
        raise refused(connection, statement, error) from error
    except StatementFailedError as error:
        raise QueryError(str(error), topic="without spark", statement=statement) from error


def options_of(connection: Connection) -> engine.EngineOptions:
    """Return how much a query of a connection may take."""
    return engine.EngineOptions.of(connection.catalog.options)


def _planned(
    connection: Connection,
    statement: Statement,
    args: Values,
    as_of: int | str | None,
    frames: Frames | None,
    most: int | None,
) -> engine.Planned:
    values = bind(statement, args)
    if as_of is not None:
        check_travels(statement, args)
    sources = tables.Sources(
        connection.catalog, connection.catalog_name, frames or _nothing, point_of(as_of)
    )
    return engine.plan(quote_system_tables(statement).text, sources, values, most=most)


def plan_of(
    connection: Connection,
    statement: Statement,
    args: Values,
    as_of: int | str | None,
    frames: Frames | None,
) -> engine.Planned:
    """Plan a query, which is not run.

    Raises
    ------
    QueryError
        If a part of it is not proven to give Spark's rows.
    """
    try:
        return _planned(connection, statement, args, as_of, frames, None)
    except NotTranslatedError as error:
        raise refused(connection, statement, error) from error


def dry_run(
    connection: Connection,
    statement: Statement,
    args: Values,
    frames: Frames | None,
    display: ProgressDisplay,
) -> sql_engine.dry_runs.DryRun:
    """Count what a statement that writes would change; nothing is written.

    Raises
    ------
    QueryError
        If it would be refused, or would fail.
    """
    text, values = quote_system_tables(statement).text, bind(statement, args)
    sources = tables.Sources(connection.catalog, connection.catalog_name, frames or _nothing)
    options = options_of(connection)
    try:
        return run_interruptibly(
            lambda progress: sql_engine.dry_runs.dry_run(text, sources, values, options, progress),
            display=display,
        )
    except NotTranslatedError as error:
        raise refused(connection, statement, error) from error
    except StatementFailedError as error:
        raise QueryError(str(error), topic="without spark", statement=statement) from error


def needs_catalog(statement: Statement, frames: Frames) -> bool:
    """Tell whether a statement takes more than files and data frames."""
    return table_names.needs_catalog(quote_system_tables(statement).text, frames)


def point_of(as_of: int | str | None) -> tables.Point:
    """Return which state of all tables is meant, as arguments of a scan."""
    if isinstance(as_of, str):
        return {"timestamp": as_of} if is_moment(as_of) else {"tag": as_of}
    return {} if as_of is None else {"snapshot": as_of}


def _nothing(_name: str) -> None:
    return None


def refused(connection: Connection, statement: Statement, error: NotTranslatedError) -> QueryError:
    """Say what of a statement is refused, and point at it."""
    hint = error.hint
    if isinstance(error, NoDatabaseError) and not connection.is_auto:
        hint = without_database(error.table, connection.known_tables()).strip() or _databases(
            connection
        )
    word = error.word.lower()
    found = next((one for one in statement.tokens if one.text.strip("`'\"").lower() == word), None)
    return QueryError(
        str(error),
        topic="without spark",
        statement=statement,
        span=None if found is None else Span(found.start, found.end),
        hint=hint,
    )


def _databases(connection: Connection) -> str:
    """Say which databases a table may be in."""
    names = connection.catalog.databases()
    if not names:
        return "There is no database yet: CREATE DATABASE db makes one."
    more = f" and {len(names) - _MOST_DATABASES} more" if len(names) > _MOST_DATABASES else ""
    return f"There are the databases {', '.join(names[:_MOST_DATABASES])}{more}."


def is_refusal(error: QueryError) -> bool:
    """Tell whether a statement failed because it is not translated, so that Spark may run it."""
    return isinstance(error.__cause__, UnsupportedError)
