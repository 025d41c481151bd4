"""Start the stream that a cell asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.notebook import running
from paimonlab.notebook.cell.history import history
from paimonlab.notebook.cell.parameters import Values, bind
from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.cell.read_only import check_reads
from paimonlab.notebook.cell.statements import Statement
from paimonlab.notebook.cell.stream_statement import OutputMode, stream_statement
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.results.result import Result, Stats
from paimonlab.notebook.running.on_spark import OnSpark

if TYPE_CHECKING:
    from paimonlab.notebook.running.streams import Stream


def streamed(
    statement: Statement,
    args: Values,
    *,
    limit: int,
    mode: OutputMode | None = None,
    checkpoint: str | None = None,
    ends: bool = False,
) -> Stream:
    """Start a statement over streams.

    Parameters
    ----------
    statement
        A query that has ``FROM STREAM``, or an ``INSERT`` of one.
    args
        Values of the ``:name`` parameters.
    limit
        How many of the newest rows of a query are kept.
    mode, checkpoint, ends
        As for `paimonlab.notebook.running.streams.start`.

    Raises
    ------
    QueryError
        If the statement is not one, fails, or writes to a table without a checkpoint.
    """
    connection = connections.current()
    session = connection.session("--stream")
    asked = stream_statement(statement)
    if connection.is_read_only:
        check_reads(statement, connection.alias)
    if asked.sink is not None and checkpoint is None:
        raise QueryError(
            "A stream into a table needs a checkpoint: it remembers what was written.",
            topic="streams",
            statement=statement,
            hint="Give --checkpoint FOLDER; the same folder goes on where the stream ended.",
        )
    if asked.sink is None and limit < 1:
        raise ValueError(f"limit must be 1 or more for a stream, got {limit}")
    work = OnSpark(session, asked.query, bind(asked.query, args), None)
    with history().recorded(statement.text, connection.alias) as entry:
        frame = work.frame()
        stream = work.explained(
            lambda: running.streams.start(
                frame,
                asked,
                mode=mode,
                name=None,
                checkpoint=checkpoint,
                ends=ends,
                limit=limit,
            )
        )
        entry.finish(0)
    return stream


def newest_rows(stream: Stream, statement: Statement) -> Result | None:
    """Return the newest rows of a stream that has ended; None if a table has them."""
    kept = stream.rows
    if kept is None or kept.table is None:
        return None
    stats = Stats(
        row_count=kept.table.num_rows,
        has_more_rows=False,
        fetched_bytes=kept.table.nbytes,
        duration_seconds=0.0,
        snapshots=(),
    )
    return Result(
        kept.table,
        types=kept.types,
        sql=statement.text,
        title=statement.title,
        stats=stats,
        spark=None,
        without_frame="it is what a stream has brought",
    )
