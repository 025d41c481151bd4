"""SQL without Spark: the query of one table that `Table.scan` can answer.

``SELECT * | columns | count(*) FROM table [VERSION AS OF …] [WHERE …] [LIMIT n]``. Whatever else
there is in a statement is refused by name: a query is never answered in part.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, TypedDict

import pyarrow as pa

from paimonlab import sql_engine
from paimonlab.arrow_values import arrow_array
from paimonlab.errors import DatabaseNotFoundError, UnsupportedError
from paimonlab.notebook import running
from paimonlab.notebook.cell.parameters import Values, bind
from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.cell.statements import Statement
from paimonlab.notebook.cell.time_travel import check_travels, is_moment
from paimonlab.notebook.kernel.interruptible import run_interruptibly
from paimonlab.notebook.kernel.progress import ProgressDisplay
from paimonlab.notebook.results.result import Result, Stats
from paimonlab.notebook.running.scan_query import (
    WITHOUT_SPARK,
    NotOneScanError,
    ScanQuery,
    scan_query,
)
from paimonlab.progress import Progress
from paimonlab.spec.types.arrow import from_arrow
from paimonlab.spec.types.data_types import with_nullable
from paimonlab.spec.types.text import format_type
from paimonlab.sql_engine.kinds import kind_of, simple_type
from paimonlab.sql_engine.refusal import StatementFailedError
from paimonlab.table.reading.scan import Scan
from paimonlab.table.system.asking import SystemRows

if TYPE_CHECKING:
    from paimonlab.notebook.connections.warehouse_connection import Connection
    from paimonlab.notebook.running.native_sql import Frames

PATIENCE_SECONDS = 1.0
"""How long an interrupt waits for a read, which changes nothing."""

Answering: TypeAlias = Scan | SystemRows
"""What answers a query: the scan of a table, or the rows of a system table."""


class _Point(TypedDict, total=False):
    """Which state of a table is read; empty: the latest."""

    version: int | str
    timestamp: str
    tag: str
    snapshot: int


def run(
    connection: Connection,
    statement: Statement,
    args: Values,
    *,
    limit: int,
    as_of: int | str | None,
    display: ProgressDisplay,
    frames: Frames | None = None,
) -> Result:
    """Answer a query: with one scan if that is all it takes.

    Parameters
    ----------
    connection
        Where its table is.
    statement
        The query.
    args
        Values of the parameters.
    limit
        Rows fetched; 0: all.
    display
        Shows how many files are read, while it lasts.
    as_of
        Snapshot, tag or moment to read, unless the query says it.
    frames
        Finds variables of the notebook; None: there are none.

    Raises
    ------
    QueryError
        If it is not translated, or there is no such table or column.
    """
    begin = time.monotonic()
    plan = _plan_of_scan(connection, statement, args, as_of)
    if plan is not None:
        return _document(plan, statement, begin)
    answers = _answers(connection, statement, args, limit, as_of)
    if answers is None:
        return running.native_sql.run(
            connection,
            statement,
            args,
            limit=limit,
            as_of=as_of,
            frames=frames,
            display=display,
        )
    query, scan = answers
    if query.is_count:
        rows = _rows(scan, query)  # interrupted wherever it is
    else:
        rows = run_interruptibly(
            lambda progress: _rows(scan, query, progress),
            display=display,
            patience_seconds=PATIENCE_SECONDS,
        )
    row_limit = limit if not query.is_count else 0
    has_more = bool(row_limit) and rows.num_rows > row_limit
    table = rows.slice(0, row_limit) if has_more else rows
    stats = Stats(
        row_count=table.num_rows,
        has_more_rows=has_more,
        fetched_bytes=table.nbytes,
        duration_seconds=time.monotonic() - begin,
        snapshots=(_read_at(scan, query),),
    )
    return Result(
        table,
        types=[type_text(field) for field in table.schema],
        sql=statement.text,
        title=statement.title,
        stats=stats,
        spark=None,
    )


def _plan_of_scan(
    connection: Connection, statement: Statement, args: Values, as_of: int | str | None
) -> str | None:
    """Explain the scan that a query would be; None if it is not EXPLAIN of such a query."""
    words = [token.text.upper() for token in statement.tokens[:2]]
    query = statement.tokens[2 if words[1:] == ["FORMATTED"] else 1 :]
    if words[0] != "EXPLAIN" or not query:
        return None
    answers = _answers(connection, replace(statement, tokens=query), args, 0, as_of)
    if answers is None or not isinstance(answers[1], Scan):
        return None
    return str(answers[1].explain())


def _document(plan: str, statement: Statement, begin: float) -> Result:
    rows = pa.table({"plan": arrow_array([plan], pa.string())})
    return Result(
        rows,
        types=["string"],
        sql=statement.text,
        title=statement.title,
        stats=Stats(
            row_count=1,
            has_more_rows=False,
            fetched_bytes=rows.nbytes,
            duration_seconds=time.monotonic() - begin,
        ),
        spark=None,
    )


def scan_of(
    connection: Connection, statement: Statement, args: Values, as_of: int | str | None
) -> Scan | None:
    """Return the scan that answers a query; None if it reads a system table.

    Raises
    ------
    QueryError
        As `run` does.
    """
    query = scan_query(statement, bind(statement, args))
    if as_of is not None:
        check_travels(statement, args)
    scan = _scan(connection, query, 0, as_of)
    return scan if isinstance(scan, Scan) else None


def batches_of(
    connection: Connection,
    statement: Statement,
    args: Values,
    as_of: int | str | None,
    progress: Progress,
    frames: Frames | None = None,
) -> pa.RecordBatchReader:
    """Stream all rows of a query.

    Parameters
    ----------
    connection, statement, args, as_of, frames
        As for `run`.
    progress
        Called with the number of files read, before each batch; what it raises ends the stream.

    Raises
    ------
    QueryError
        As `run` does.
    """
    answers = _answers(connection, statement, args, 0, as_of)
    if answers is None:
        return running.native_sql.batches_of(connection, statement, args, as_of, frames, progress)
    query, scan = answers
    if query.is_count or not isinstance(scan, Scan):
        return _rows(scan, query).to_reader()
    return _streamed(scan, progress)


def _answers(
    connection: Connection,
    statement: Statement,
    args: Values,
    limit: int,
    as_of: int | str | None,
) -> tuple[ScanQuery, Answering] | None:
    """Return the scan that answers a query; None if it takes more than one scan."""
    try:
        query = scan_query(statement, bind(statement, args))
        if as_of is not None:
            check_travels(statement, args)
        return query, _scan(connection, query, limit, as_of)
    except UnsupportedError:
        return None
    except QueryError as error:
        if isinstance(error, NotOneScanError) or isinstance(error.__cause__, UnsupportedError):
            return None
        raise


def is_for_spark(error: QueryError) -> bool:
    """Tell whether Spark may answer what this process does not: the text itself is not wrong."""
    cause = error.__cause__
    is_elsewhere = isinstance(cause, UnsupportedError | StatementFailedError)
    return isinstance(error, NotOneScanError) or is_elsewhere


def _ignored(_done: int, _total: int, _unit: str) -> None:
    """Ignore progress."""


def _read_at(scan: Answering, query: ScanQuery) -> str:
    """Name what is read, as ``table@snapshot``; a system table has no snapshot."""
    if not isinstance(scan, Scan):
        return ".".join(query.table)
    return f"{scan.definition.name}@{'none' if scan.snapshot is None else scan.snapshot.id}"


def _rows(scan: Answering, query: ScanQuery, progress: Progress = _ignored) -> pa.Table:
    if query.is_count:
        counted = pa.table({"count(1)": arrow_array([scan.count()], pa.int64())})
        return counted.slice(0, query.limit)
    if not isinstance(scan, Scan):
        return scan.to_arrow()
    return _streamed(scan, progress).read_all()


def _streamed(scan: Scan, progress: Progress) -> pa.RecordBatchReader:
    latest: deque[tuple[int, int, str]] = deque(maxlen=1)  # by the threads that read
    reader = scan.to_batches(progress=lambda *report: latest.append(report))

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in reader:
            progress(*(latest[-1] if latest else (0, 0, "files")))
            yield batch

    return pa.RecordBatchReader.from_batches(reader.schema, batches())


def _scan(
    connection: Connection, query: ScanQuery, limit: int, as_of: int | str | None
) -> Answering:
    name = query.table[1:] if len(query.table) == 3 else query.table
    if len(query.table) == 3 and query.table[0] != connection.catalog_name:
        raise UnsupportedError(f"the catalog {query.table[0]} without Spark", WITHOUT_SPARK)
    point = _point(query, as_of)
    row_count = None if query.is_count or not limit else limit + 1
    if query.limit is not None:
        row_count = query.limit if row_count is None else min(query.limit, row_count)
    try:
        table = connection.catalog.relation(".".join(name))
    except DatabaseNotFoundError:
        sql_engine.tables.relation(connection.catalog, ".".join(name))  # of a file it says so
        raise
    where = None if query.where is None else query.where.predicate()
    return table.scan(query.columns, where, limit=None if query.is_count else row_count, **point)


def _point(query: ScanQuery, as_of: int | str | None) -> _Point:
    """Say which state is read; the query itself takes precedence."""
    if query.version is not None:
        return {"version": query.version}
    if isinstance(as_of, str):
        return {"timestamp": as_of} if is_moment(as_of) else {"tag": as_of}
    return {} if as_of is None else {"snapshot": as_of}


def type_text(field: pa.Field) -> str:
    """Name the type of a column as Spark does; one that Spark lacks as Paimon does."""
    data_type = with_nullable(from_arrow(field.type), nullable=True)
    kind = kind_of(data_type)
    return format_type(data_type).lower() if kind is None else simple_type(kind)
