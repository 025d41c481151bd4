"""Run SQL on the connected catalog."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from paimonlab.catalog.settings import Engine, engine_of
from paimonlab.errors import PaimonError, UnsupportedError
from paimonlab.notebook import cell, kernel, results, running
from paimonlab.notebook.cell.call_statement import is_call
from paimonlab.notebook.cell.history import history
from paimonlab.notebook.cell.ingest_statement import check_engine, ingest_statement
from paimonlab.notebook.cell.limits import DEFAULT_LIMIT, MANY_ROWS
from paimonlab.notebook.cell.parameters import Values, bind, share
from paimonlab.notebook.cell.query_error import QueryError, check_query, of_paimon
from paimonlab.notebook.cell.read_only import check_reads
from paimonlab.notebook.cell.statements import Statement, split
from paimonlab.notebook.cell.time_travel import check_travels
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.connections.warehouse_connection import NotConnectedError
from paimonlab.notebook.kernel.interruptible import Cancelled, run_interruptibly
from paimonlab.notebook.kernel.progress import ProgressDisplay, is_wanted
from paimonlab.notebook.results.result import Result, Stats
from paimonlab.notebook.results.row_files import Written, checked_path, export
from paimonlab.notebook.running import native_query
from paimonlab.notebook.running.native_call import run_call
from paimonlab.notebook.running.native_query import is_for_spark
from paimonlab.notebook.running.on_spark import Answer, OnSpark, looks_up_again

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from paimonlab.catalog import Catalog
    from paimonlab.notebook.connections.warehouse_connection import Connection

T = TypeVar("T")
_AS_NOW = "on a Spark Connect server it would read the tables as they are now"


class Manner(Struct, frozen=True):
    """How statements are run."""

    limit: int = DEFAULT_LIMIT
    """Rows fetched of a query; 0: all."""
    max_bytes: int | None = None
    """Rows are kept while they take no more than this in Arrow."""
    as_of: int | str | None = None
    """Snapshot id, tag, or moment (``2026-01-31 12:00``) at which tables are read; None: now."""
    progress: bool = True
    """Whether a notebook shows how far a slow statement is."""
    frames: Callable[[str], object] | None = None
    """Finds data frames, which queries without Spark can read; None: there are none."""
    engine: Engine | None = None
    """Who runs statements; None: as the connection says."""
    confirm: Callable[[], bool] | None = None
    """Asked before more than `MANY_ROWS` are fetched; None: no question is asked."""


def sql(  # noqa: PLR0913 - all that a statement can be told
    text: str,
    *,
    args: Values | None = None,
    limit: int | None = None,
    max_bytes: int | None = None,
    as_of: int | str | None = None,
    spark: SparkSession | None = None,
    progress: bool = True,
    jinja: bool = False,
    engine: Engine | None = None,
    frames: Mapping[str, object] | None = None,
    catalog: Catalog | None = None,
) -> Result:
    """Run SQL on the connected catalog, or on one that was opened.

    Parameters
    ----------
    text
        One or more statements with ``;`` between them; ``db.t$snapshots`` needs no back-quotes.
    args
        Values of the ``:name`` parameters by name, or a list of those of ``?`` in order.
    limit
        Rows fetched of a query; 0: all. None: all where ``catalog`` is given, else 100, as in a
        cell. Writes and ``CALL`` are never limited.
    max_bytes
        Keep rows of a query while they take no more than this; None: all that were fetched.
    as_of
        Read all tables at this snapshot, tag or moment; for queries only.
    spark
        Session to use instead of the connected one.
    progress
        Whether a notebook shows how far a slow statement is.
    jinja
        Whether ``text`` is a template whose values, from ``args``, become parameters.
    engine
        ``spark``, ``native`` or ``auto``; None: as the connection says.
    frames
        Data frames by the names that queries without Spark call them; None: the variables where
        this is called.
    catalog
        From `paimonlab.connect`: its tables are queried, without Spark; None: those of the
        current connection.

    Returns
    -------
    Result
        That of the last statement.

    Raises
    ------
    QueryError
        If a statement fails; those before it have been run, those after it have not.

    Examples
    --------
    ::

        catalog = paimonlab.connect("./warehouse")
        prices = pandas.read_csv("prices.csv")
        paimonlab.sql("SELECT * FROM db.t JOIN prices USING (item)", catalog=catalog).to_pandas()
    """
    if catalog is not None and (spark is not None or engine not in (None, "native")):
        raise ValueError("catalog is for SQL without Spark: leave out spark and engine")
    if jinja:
        if args is not None and not isinstance(args, Mapping):
            raise ValueError("a template takes its values by name: args must be a mapping")
        template = cell.templates.compiled(text, args or {})
        text, args = template.text, {**(args or {}), **template.values}
    statements = parse(text)
    shares = share_all(statements, args)
    if frames is None:
        caller = sys._getframe(1)  # noqa: SLF001 - DuckDB looks for data frames there, too
        frames = {**caller.f_globals, **caller.f_locals}
    if limit is None:
        limit = DEFAULT_LIMIT if catalog is None else 0
    manner = Manner(
        limit=limit,
        max_bytes=max_bytes,
        as_of=as_of,
        progress=progress,
        engine="native" if catalog is not None else None if engine is None else engine_of(engine),
        frames=frames.get,
    )
    opened = None if catalog is None else connections.to_catalog(catalog)
    results = [
        run(statement, values, manner, spark=spark, opened=opened)
        for statement, values in zip(statements, shares, strict=True)
    ]
    return results[-1]


def share_all(statements: Sequence[Statement], args: Values | None) -> list[Values]:
    """Give each statement its part of what `sql` got.

    Raises
    ------
    QueryError
        As `paimonlab.notebook.cell.parameters.share` does.
    """
    if args is None or isinstance(args, Mapping):
        return share(statements, args or {}, None)
    if isinstance(args, str | bytes):
        raise TypeError("args must be a mapping, or a list of values")
    return share(statements, {}, args)


def parse(text: str) -> list[Statement]:
    """Split text into statements.

    Raises
    ------
    QueryError
        If there is no statement.
    """
    statements = split(text)
    if not statements:
        raise QueryError("There is no SQL to run.", topic="sql")
    return statements


def run(
    statement: Statement,
    args: Values,
    manner: Manner,
    *,
    spark: SparkSession | None = None,
    opened: Connection | None = None,
) -> Result:
    """Run one statement as `sql` does, on ``opened`` if that is not None."""
    if manner.limit < 0:
        raise ValueError(f"limit must be 0 or more, got {manner.limit}")
    connection = opened
    if spark is None and opened is None:
        connection = connection_of(statement, manner)
    alias = "spark" if connection is None else connection.alias
    with history().recorded(statement.text, alias) as entry:
        if spark is not None:
            result = _run_on_spark(spark, statement, args, manner)
        else:
            assert connection is not None, "there is a session or a connection"
            _check_reads(connection, statement)
            result = _run(connection, statement, args, manner)
        entry.finish(result.stats.row_count, result.stats.snapshots)
        return result


def write(
    statement: Statement, args: Values, manner: Manner, path: str | os.PathLike[str]
) -> Written:
    """Write all rows of a query to a file as they come; none is kept.

    Parameters
    ----------
    statement
        The query.
    args
        Values of the ``:name`` parameters.
    manner
        How to run it; its limits are ignored.
    path
        As `paimonlab.notebook.results.row_files.export` takes it.

    Raises
    ------
    QueryError
        If the statement is not a query, or fails.
    UnsupportedError
        If there is no such kind of file, or it has no form for a column.
    """
    check_query("--to", statement, "limits")
    target = checked_path(path)
    connection = connection_of(statement, manner)
    _check_reads(connection, statement)
    with history().recorded(statement.text, connection.alias) as entry:
        if _engine(connection, manner) == "spark":
            session = connections.session_of_current()
            written = _written_by_spark(session, statement, args, manner, target)
        else:
            written = _written_natively(connection, statement, args, manner, target)
        entry.finish(written.row_count)
        return written


def connection_of(statement: Statement, manner: Manner) -> Connection:
    """Return the current connection; for files and data frames alone one without a warehouse.

    Raises
    ------
    NotConnectedError
        If there is none, and the statement takes a catalog or Spark.
    """
    try:
        return connections.current()
    except NotConnectedError:
        frames = manner.frames or (lambda _name: None)
        if manner.engine == "spark" or running.native_sql.needs_catalog(statement, frames):
            raise
        return connections.without_warehouse()


def _engine(connection: Connection, manner: Manner) -> Engine:
    """Say who runs a statement."""
    chosen = connection.engine
    return manner.engine or ("spark" if chosen == "connect" else chosen)


def _run(connection: Connection, statement: Statement, args: Values, manner: Manner) -> Result:
    engine = _engine(connection, manner)
    if ingest_statement(statement) is not None:
        check_engine(statement, engine)
        return running.ingest_jobs.run(connection, statement)
    if engine == "native":
        return _run_natively(connection, statement, args, manner)
    reason = ""
    if engine == "auto":
        try:
            return _run_natively(connection, statement, args, manner)
        except QueryError as error:
            if not is_for_spark(error):
                raise
            reason = f"Spark: {error.message.partition(' without Spark')[0]} needs it"
    result = _run_on_spark(connections.session_of_current(), statement, args, manner)
    result.stats = replace(result.stats, engine=reason)
    return result


def _written_natively(
    connection: Connection, statement: Statement, args: Values, manner: Manner, path: Path
) -> Written:
    try:
        return run_interruptibly(
            lambda progress: export(
                native_query.batches_of(
                    connection, statement, args, manner.as_of, progress, manner.frames
                ),
                path,
            ),
            display=_display(statement, manner, "paimonlab"),
        )
    except QueryError:
        raise
    except PaimonError as error:
        raise of_paimon(error, statement) from error


def _written_by_spark(
    session: SparkSession, statement: Statement, args: Values, manner: Manner, path: Path
) -> Written:
    work = OnSpark(session, statement, bind(statement, args), manner.as_of)
    return kernel.spark_work.run_on_spark(
        session,
        lambda: work.reading(lambda frame: export(results.spark_fetch.stream(frame), path)),
        description=statement.text[:200],
        display=_display(statement, manner, "Spark"),
    )


def lazy(statement: Statement, args: Values, *, as_of: int | str | None = None) -> DataFrame:
    """Return the DataFrame of a query without running it.

    Raises
    ------
    QueryError
        If the statement is not a query.
    """
    connection = connections.current()
    session = connection.session("--lazy")
    _check_reads(connection, statement)
    if as_of is not None and looks_up_again(session):
        raise UnsupportedError("--lazy with --as-of", _AS_NOW)
    return OnSpark(session, statement, bind(statement, args), as_of).frame()


def _run_natively(
    connection: Connection, statement: Statement, args: Values, manner: Manner
) -> Result:
    if is_call(statement):
        if manner.as_of is not None:
            check_travels(statement, args)
        return run_call(connection, statement, args, display=_display(statement, manner, "CALL"))
    begin = time.monotonic()
    asks_first = _asks_first(statement, manner)
    display = _display(statement, manner, "paimonlab")

    def answered(limit: int) -> Result:
        return native_query.run(
            connection,
            statement,
            args,
            limit=limit,
            as_of=manner.as_of,
            display=display,
            frames=manner.frames,
        )

    try:
        result = answered(MANY_ROWS if asks_first else manner.limit)
        has_more = asks_first and result.stats.has_more_rows
        if has_more and manner.confirm is not None and manner.confirm():
            result = answered(manner.limit)
        return result.within(manner.max_bytes)
    except QueryError:
        raise
    except PaimonError as error:
        raise of_paimon(error, statement) from error
    except Cancelled:
        raise
    except KeyboardInterrupt:
        raise Cancelled(f"cancelled after {time.monotonic() - begin:.1f} s") from None


def _check_reads(connection: Connection, statement: Statement) -> None:
    if connection.is_read_only:
        check_reads(statement, connection.alias)


def check_views(*, as_of: int | str | None) -> None:
    """Check that a query read at ``as_of`` can become a view.

    Raises
    ------
    UnsupportedError
        If a Spark Connect server would read the tables of the view as they are now.
    """
    session = connections.current().spark
    if as_of is not None and session is not None and looks_up_again(session):
        raise UnsupportedError("--view with --as-of", _AS_NOW)


def _run_on_spark(
    session: SparkSession, statement: Statement, args: Values, manner: Manner
) -> Result:
    work = OnSpark(session, statement, bind(statement, args), manner.as_of)
    wanted = manner.limit if manner.limit and statement.is_query else None
    asks_first = _asks_first(statement, manner)
    display = _display(statement, manner, "Spark")
    description = statement.text[:200]

    def fetched(limit: int | None) -> Answer:
        return kernel.spark_work.run_on_spark(
            session,
            lambda: work.fetch(limit),
            description=description,
            display=display,
        )

    answer = fetched(MANY_ROWS if asks_first else wanted)
    if asks_first and answer.rows.has_more_rows and manner.confirm is not None and manner.confirm():
        answer = fetched(wanted)
    rows = answer.rows
    stats = Stats(
        row_count=rows.table.num_rows,
        has_more_rows=rows.has_more_rows,
        fetched_bytes=rows.table.nbytes,
        duration_seconds=answer.seconds,
        snapshots=answer.snapshots,
    )
    is_lost = manner.as_of is not None and looks_up_again(session)
    result = Result(
        rows.table,
        types=rows.types,
        sql=statement.text,
        title=statement.title,
        stats=stats,
        spark=None if is_lost else answer.frame,
        without_frame=_AS_NOW,
        said=answer.said,
    )
    return result.within(manner.max_bytes) if statement.is_query else result


def _asks_first(statement: Statement, manner: Manner) -> bool:
    """Tell whether the user is asked before more than `MANY_ROWS` are fetched."""
    is_many = not manner.limit or manner.limit > MANY_ROWS
    return is_many and manner.confirm is not None and statement.is_query


def _display(statement: Statement, manner: Manner, label: str) -> ProgressDisplay:
    is_shown = manner.progress and is_wanted()
    place = (statement.number, statement.count)
    return ProgressDisplay(is_shown=is_shown, label=label, place=place)
