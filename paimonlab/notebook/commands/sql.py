"""Run Spark SQL on the connected catalog."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from paimonlab.notebook import connection as connections
from paimonlab.notebook.parameters import bind
from paimonlab.notebook.progress import is_wanted
from paimonlab.notebook.query_error import QueryError
from paimonlab.notebook.result import Result, Stats
from paimonlab.notebook.statements import Statement, quote_system_tables, split

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULT_LIMIT = 100


def sql(
    text: str,
    *,
    args: Mapping[str, Any] | None = None,
    limit: int = DEFAULT_LIMIT,
    spark: SparkSession | None = None,
    progress: bool = True,
) -> Result:
    """Run Spark SQL on the connected catalog.

    Parameters
    ----------
    text
        One or more statements with ``;`` between them; ``db.t$snapshots`` needs no back-quotes.
    args
        Values of the ``:name`` parameters.
    limit
        Rows fetched of a query; 0: all. Writes and ``CALL`` are never limited.
    spark
        Session to use instead of the connected one.
    progress
        Whether a notebook shows how far a slow statement is.

    Returns
    -------
    Result
        That of the last statement.

    Raises
    ------
    QueryError
        If a statement fails; those before it have been run, those behind it have not.
    """
    statements = parse(text)
    values = args or {}
    results = [
        run(statement, values, limit=limit, spark=spark, progress=progress)
        for statement in statements
    ]
    return results[-1]


def parse(text: str) -> list[Statement]:
    """Split text into statements.

    Raises
    ------
    QueryError
        If there is none.
    """
    statements = split(text)
    if not statements:
        raise QueryError("There is no SQL to run.")
    return statements


def run(
    statement: Statement,
    args: Mapping[str, Any],
    *,
    limit: int = DEFAULT_LIMIT,
    spark: SparkSession | None = None,
    progress: bool = True,
) -> Result:
    """Run one statement as `sql` does."""
    from paimonlab.notebook.running import run_on_spark  # noqa: PLC0415 - PySpark is optional

    if limit < 0:
        raise ValueError(f"limit must be 0 or more, got {limit}")
    session = spark or connections.current().session("SQL")
    values = bind(statement, args)
    row_limit = limit if limit and statement.is_query else None
    return run_on_spark(
        session,
        lambda: _execute(session, statement, values, row_limit),
        description=statement.text[:200],
        shows_progress=progress and is_wanted(),
    )


def _execute(
    spark: SparkSession, statement: Statement, args: dict[str, Any], limit: int | None
) -> Result:
    """Send one statement to Spark and fetch its rows; runs in the worker thread."""
    from paimonlab.notebook.explain import explain  # noqa: PLC0415 - PySpark is optional
    from paimonlab.notebook.fetch import fetch  # noqa: PLC0415

    sent = quote_system_tables(statement)
    begin = time.monotonic()
    try:
        frame = spark.sql(sent.text, args=args) if args else spark.sql(sent.text)
        fetched = fetch(frame, limit=limit)
    except Exception as error:
        explained = explain(error, statement, sent, lambda: _known_tables(spark))
        if explained is None:
            raise
        raise explained from error
    stats = Stats(
        row_count=fetched.table.num_rows,
        has_more_rows=fetched.has_more_rows,
        fetched_bytes=fetched.table.nbytes,
        duration_seconds=time.monotonic() - begin,
    )
    return Result(
        fetched.table,
        types=fetched.types,
        sql=statement.text,
        title=statement.title,
        stats=stats,
        spark=frame,
    )


def _known_tables(spark: SparkSession) -> Sequence[str]:
    if connections.is_connected() and connections.current().spark is spark:
        return connections.current().known_tables()
    rows = spark.sql("SHOW TABLES").collect()
    return [f"{row['namespace']}.{row['tableName']}" for row in rows]
