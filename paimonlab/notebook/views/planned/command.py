"""Show what a query would read, without running it."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TYPE_CHECKING

from paimonlab.analysis.snapshots.snapshot_plan import SnapshotPlan, snapshot_plan
from paimonlab.errors import NotFoundError, PaimonError, UnsupportedError
from paimonlab.notebook import running, views
from paimonlab.notebook.cell.call_statement import is_call, parse_call
from paimonlab.notebook.cell.parameters import Values
from paimonlab.notebook.cell.plan_modes import Explained
from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.cell.statements import Statement
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.notebook.running import native_query
from paimonlab.notebook.running.execution import lazy, parse, share_all
from paimonlab.notebook.running.native_call import bound_call, failed
from paimonlab.notebook.running.scan_query import NotOneScanError
from paimonlab.notebook.views.planned.call_drawing import draw_planned_call
from paimonlab.notebook.views.planned.drawing import draw_planned
from paimonlab.secrets import without_secret_values, without_secrets
from paimonlab.table.table import Table

if TYPE_CHECKING:
    from paimonlab.notebook.connections.warehouse_connection import Connection
    from paimonlab.notebook.running.spark_plan import SparkRead


def planned(
    text: str,
    *,
    args: Values | None = None,
    as_of: int | str | None = None,
    explain: bool | Explained = False,
) -> views.View:
    """Show what a statement would do: what a query would read, what a call would change.

    Of a query: files and bytes after pruning, what has to be merged. Of a call of a procedure
    that deletes or rewrites: what, with files, bytes and reasons.

    Parameters
    ----------
    text
        One query or call.
    args
        Values of the ``:name`` parameters by name, or a list of those of ``?`` in order.
    as_of
        Read all tables at this snapshot, tag or moment.
    explain
        Whether Spark's plan is wanted as well, and how: ``formatted`` (as True), ``cost``
        or ``extended``.

    Raises
    ------
    QueryError
        If it is not one query or call, or is wrong.
    UnsupportedError
        If SQL goes to a Spark Connect server.
    """
    statement = _one_statement(text)
    (values,) = share_all([statement], args)
    connection = connections.current()
    if is_call(statement):
        return _planned_call(connection, statement, values)
    plan = ""
    if connection.is_remote:
        raise UnsupportedError(
            "--dry-run or --explain over Spark Connect",
            "the plan is the server's; EXPLAIN FORMATTED in front of the query shows it",
        )
    if connection.spark is None:
        if explain not in {False, True, "formatted"}:
            raise UnsupportedError(f"--explain {explain} without Spark", "connect with Spark")
        try:
            reads = _without_spark(connection, statement, values, as_of)
        except NotOneScanError as error:
            error.hint = "EXPLAIN SELECT … shows the files and DuckDB's plan of such a query"
            raise
        scan = native_query.scan_of(connection, statement, values, as_of) if explain else None
        plan = "" if scan is None else str(scan.explain())
    else:
        frame = lazy(statement, values, as_of=as_of)
        reads = tuple(_on_spark(connection, read) for read in running.spark_plan.spark_reads(frame))
        mode = "formatted" if explain is True else str(explain)
        plan = without_secrets(running.spark_plan.plan_text(frame, mode)) if explain else ""
    query = views.PlannedQuery(
        sql=without_secrets(statement.text),
        reads=reads,
        plan=plan,
        planner="paimonlab" if connection.spark is None else "Spark",
    )
    return draw_planned(query, is_repeatable=is_deterministic())


def _one_statement(text: str) -> Statement:
    statements = parse(text)
    first = statements[0]
    if len(statements) > 1:
        message = f"One statement at a time can be planned; there are {len(statements)}."
        raise QueryError(message, topic="sql", statement=statements[1])
    if not first.is_query and not is_call(first):
        message = f"Only queries and calls can be planned, and {first.title} is neither."
        raise QueryError(message, topic="sql", statement=first)
    return first


def _planned_call(connection: Connection, statement: Statement, args: Values) -> views.View:
    call = parse_call(statement, args)
    procedure, arguments = bound_call(connection, call)
    try:
        plans = procedure.plan(
            connection.catalog,
            arguments,
            default_database=_current_database(connection),
            catalog_name=connection.catalog_name,
        )
    except PaimonError as error:
        raise failed(call, error) from error
    sql = without_secrets(statement.text)
    value = views.planned_call(sql, procedure.name, plans, folder=connection.catalog.path)
    if is_deterministic():
        value = views.repeatable_call(value)
    return draw_planned_call(value, is_repeatable=is_deterministic())


def _current_database(connection: Connection) -> str | None:
    """Return the database of a table that is named without one; None if it has to be named."""
    if (
        connection.spark is None
        or connection.spark.catalog.currentCatalog() != connection.catalog_name
    ):
        return None
    return connection.spark.catalog.currentDatabase()


def _without_spark(
    connection: Connection, statement: Statement, args: Values, as_of: int | str | None
) -> tuple[views.PlannedRead, ...]:
    scan = native_query.scan_of(connection, statement, args, as_of)
    if scan is None:  # a system table: its rows are computed, not read
        return ()
    pruned, whole = scan.plan(), snapshot_plan(scan.narrowed(scan.columns, None))
    read = views.PlannedRead(
        table=scan.definition.name,
        snapshot_id=None if scan.snapshot is None else scan.snapshot.id,
        file_count=sum(len(split.files) for split in pruned.splits),
        size_bytes=sum(split.size_bytes for split in pruned.splits),
        filters="" if scan.predicate is None else without_secret_values(str(scan.predicate)),
        **asdict(whole),
    )
    return (read,)


def _on_spark(connection: Connection, read: SparkRead) -> views.PlannedRead:
    whole: dict[str, int | None] = dict.fromkeys(field.name for field in fields(SnapshotPlan))
    try:
        table = connection.catalog.relation(read.table)
    except NotFoundError:  # of another catalog
        table = None
    snapshot_id = read.snapshot_id
    if isinstance(table, Table) and snapshot_id is not None:
        whole = asdict(snapshot_plan(table.scan(snapshot=snapshot_id)))
    return views.PlannedRead(
        table=read.table,
        snapshot_id=snapshot_id,
        file_count=read.file_count,
        size_bytes=read.size_bytes,
        filters=without_secrets(read.filters),
        **whole,
    )
