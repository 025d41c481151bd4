"""What the magics do, as functions: each magic calls one of these and returns what it returns."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from paimonlab.errors import UnsupportedError
from paimonlab.notebook import connection as connections
from paimonlab.notebook import help_pages, views
from paimonlab.notebook.determinism import is_deterministic
from paimonlab.notebook.display.fsck import draw as draw_fsck
from paimonlab.notebook.display.tables import draw_help, draw_tables
from paimonlab.notebook.display.timeline import draw as draw_timeline
from paimonlab.notebook.parameters import bind
from paimonlab.notebook.progress import is_wanted
from paimonlab.notebook.query_error import QueryError
from paimonlab.notebook.result import Result, Stats
from paimonlab.notebook.statements import Statement, quote_system_tables, split
from paimonlab.table.table import Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULT_LIMIT = 100

connect = connections.connect


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
    session = spark or connections.current().spark
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


def tables(database: str | None = None) -> views.View:
    """List the tables of the connected catalog, or of one of its databases.

    Raises
    ------
    DatabaseNotFoundError
        If there is no such database.
    """
    catalog = connections.current().catalog
    databases = catalog.databases() if database is None else [database]
    entries = [
        _entry(_open(f"{name}.{table}"), name, table)
        for name in databases
        for table in catalog.tables(name)
    ]
    return draw_tables(views.TableList(databases=tuple(databases), tables=tuple(entries)))


def _entry(table: Table, database: str, name: str) -> views.TableEntry:
    snapshot = table.snapshot
    return views.TableEntry(
        database=database,
        table=name,
        primary_keys=tuple(table.primary_keys),
        partition_keys=tuple(table.partition_keys),
        column_count=len(table.arrow_schema),
        snapshot_id=None if snapshot is None else snapshot.id,
    )


def timeline(table: str | Table, *, last: int = 20) -> views.View:
    """Draw the newest snapshots of a table as a timeline.

    Parameters
    ----------
    table
        ``database.table`` in the connected catalog, or a table.
    last
        How many snapshots, at least 1.
    """
    opened = _open(table) if isinstance(table, str) else table
    tags = {name: tag.id for name, tag in opened.tags.list().items()}
    drawn = views.timeline(opened.name, opened.snapshots.list(), tags, last=last)
    return draw_timeline(views.repeatable(drawn) if is_deterministic() else drawn)


def fsck(table: str | Table, *, deep: bool = False) -> views.View:
    """Check every file of a table, and show what was found.

    Parameters
    ----------
    table
        ``database.table`` in the connected catalog, or a table.
    deep
        Whether to read all rows, too.
    """
    opened = _open(table) if isinstance(table, str) else table
    return draw_fsck(opened.fsck(deep=deep))


def _open(name: str) -> Table:
    table = connections.current().catalog.table(name)
    if not isinstance(table, Table):
        raise UnsupportedError(f"a view of the system table {name}", "ask for the table itself")
    return table


def show_help(topic: str | None = None) -> views.View:
    """Show what can be typed; a topic is one of `paimonlab.notebook.help_pages.TOPICS`.

    Raises
    ------
    NotFoundError
        If there is no such topic.
    """
    return draw_help(help_pages.page(topic or help_pages.FIRST_TOPIC))
