"""Show what a query would read, without running it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from paimonlab.analysis.snapshots.snapshot_plan import SnapshotPlan, snapshot_plan
from paimonlab.catalog.settings import Engine
from paimonlab.errors import NotFoundError, PaimonError, UnsupportedError
from paimonlab.notebook import running, views
from paimonlab.notebook.cell.call_statement import is_call, parse_call
from paimonlab.notebook.cell.parameters import Values
from paimonlab.notebook.cell.plan_modes import Explained
from paimonlab.notebook.cell.query_error import QueryError, of_paimon
from paimonlab.notebook.cell.statements import Statement
from paimonlab.notebook.cell.time_travel import check_travels
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.notebook.kernel.progress import ProgressDisplay, is_wanted
from paimonlab.notebook.running import native_query
from paimonlab.notebook.running.execution import lazy, parse, share_all
from paimonlab.notebook.running.native_call import bound_call, failed
from paimonlab.notebook.views.planned.call_drawing import draw_planned_call
from paimonlab.notebook.views.planned.drawing import draw_planned
from paimonlab.secrets import without_secret_values, without_secrets
from paimonlab.spec.predicates.predicate import all_of
from paimonlab.sql_engine import engine as sql_engine
from paimonlab.sql_engine.explaining import ReadTable
from paimonlab.sql_engine.first_words import WRITING
from paimonlab.sql_engine.rows import TableRows
from paimonlab.table.reading.conditions import bound
from paimonlab.table.reading.scan import Scan
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
    engine: Engine | None = None,
    frames: Callable[[str], object] | None = None,
) -> views.View:
    """Show what a statement would do: what a query would read, what a call or a change would do.

    Of a query: files and bytes after pruning, what has to be merged. Of a call of a procedure
    that deletes or rewrites: what, with files, bytes and reasons. Of INSERT, UPDATE, DELETE, MERGE
    and CREATE TABLE … AS without Spark: how many rows and files would change; their queries are
    run, nothing is written.

    Parameters
    ----------
    text
        One statement.
    args
        Values of the ``:name`` parameters by name, or a list of those of ``?`` in order.
    as_of
        Read all tables at this snapshot, tag or moment.
    explain
        Whether the plan is wanted as well, and how: ``formatted`` (as True), and of Spark ``cost``
        or ``extended``.
    engine
        Who would run it: ``spark``, ``native`` or ``auto``; None: as the connection says.
    frames
        Finds data frames of the notebook; None: there are none.

    Raises
    ------
    QueryError
        If it is not one statement that can be planned, or is wrong.
    UnsupportedError
        If SQL goes to a Spark Connect server.
    """
    statement = _one_statement(text)
    (values,) = share_all([statement], args)
    connection = connections.current()
    if is_call(statement):
        return _planned_call(connection, statement, values)
    asked = Asked(connection, statement, values, as_of, explain, frames)
    chosen = engine or connection.engine
    if chosen == "auto" and connection.spark is not None:
        try:
            query = _natively(asked)
        except QueryError as error:
            if not native_query.is_for_spark(error):
                raise
            query = _by_spark(asked)
    else:
        query = _natively(asked) if chosen in ("native", "auto") else _by_spark(asked)
    return draw_planned(query, is_repeatable=is_deterministic())


@dataclass(frozen=True, slots=True)
class Asked:
    """A statement whose plan is wanted."""

    connection: Connection
    statement: Statement
    values: Values
    as_of: int | str | None
    explain: bool | Explained
    frames: Callable[[str], object] | None

    @property
    def sql(self) -> str:
        """The text, without secrets."""
        return without_secrets(self.statement.text)


def _by_spark(asked: Asked) -> views.PlannedQuery:
    """Plan a query by Spark."""
    connection, statement = asked.connection, asked.statement
    if not statement.is_query:
        raise _not_planned(statement)
    if connection.is_remote:
        raise UnsupportedError(
            "--dry-run or --explain over Spark Connect",
            "the plan is the server's; EXPLAIN FORMATTED in front of the query shows it",
        )
    frame = lazy(statement, asked.values, as_of=asked.as_of)
    reads = tuple(_on_spark(connection, read) for read in running.spark_plan.spark_reads(frame))
    mode = "formatted" if asked.explain is True else str(asked.explain)
    plan = ""
    if asked.explain:
        plan = without_secrets(running.spark_plan.plan_text(frame, mode))
    return views.PlannedQuery(sql=asked.sql, reads=reads, plan=plan, planner="Spark")


def _natively(asked: Asked) -> views.PlannedQuery:
    """Plan a statement without Spark: one scan, or DuckDB."""
    connection, statement = asked.connection, asked.statement
    if asked.explain not in {False, True, "formatted"}:
        raise UnsupportedError(f"--explain {asked.explain} without Spark", "connect with Spark")
    if not statement.is_query:
        return _changing(asked)
    try:
        reads = _without_spark(connection, statement, asked.values, asked.as_of)
    except QueryError as error:
        if not native_query.is_for_spark(error):
            raise
        return _by_duckdb(asked)
    scan = None
    if asked.explain:
        scan = native_query.scan_of(connection, statement, asked.values, asked.as_of)
    plan = "" if scan is None else str(scan.explain())
    return views.PlannedQuery(sql=asked.sql, reads=reads, plan=plan, planner="paimonlab")


def _by_duckdb(asked: Asked) -> views.PlannedQuery:
    """Plan a query that takes more than one scan."""
    try:
        query = running.native_sql.plan_of(
            asked.connection, asked.statement, asked.values, asked.as_of, asked.frames
        )
    except QueryError:
        raise
    except PaimonError as error:
        raise of_paimon(error, asked.statement) from error
    return views.PlannedQuery(
        sql=asked.sql,
        reads=tuple(map(_of_duckdb, query.tables)),
        plan=without_secrets(sql_engine.explain(query)) if asked.explain else "",
        planner="DuckDB",
        engine=sql_engine.NAME,
    )


def _changing(asked: Asked) -> views.PlannedQuery:
    """Count what a statement would change."""
    word = asked.statement.tokens[0].text.upper()
    if word not in WRITING:
        raise _not_planned(asked.statement)
    if asked.as_of is not None:
        check_travels(asked.statement, asked.values)
    display = ProgressDisplay(is_shown=is_wanted(), label="paimonlab")
    try:
        done = running.native_sql.dry_run(
            asked.connection, asked.statement, asked.values, asked.frames, display
        )
    except QueryError:
        raise
    except PaimonError as error:
        raise of_paimon(error, asked.statement) from error
    query, change = done.planned, done.change
    plan = ""
    if asked.explain and query is not None:
        plan = without_secrets(sql_engine.explain(query))
    return views.PlannedQuery(
        sql=asked.sql,
        reads=() if query is None else tuple(map(_of_duckdb, query.tables)),
        plan=plan,
        planner="DuckDB",
        engine="paimonlab, without Spark" if query is None else sql_engine.NAME,
        change=views.PlannedRows(table=done.table, said=done.said, **asdict(change)),
    )


def _of_duckdb(read: ReadTable) -> views.PlannedRead:
    """Count what is read of a table in a query by DuckDB."""
    columns = tuple(read.columns.values())
    filters = all_of(*read.filters) if read.filters else None
    if not isinstance(read.rows, TableRows):
        whole: dict[str, Any] = dict.fromkeys(field.name for field in fields(SnapshotPlan))
        found = views.PlannedRead(
            table=read.label,
            snapshot_id=None,
            file_count=None,
            size_bytes=None,
            filters="" if filters is None else without_secret_values(str(filters)),
            **whole,
        )
        return replace(found, columns=columns)
    scan = read.rows.scan
    if filters is not None:
        filters = bound(filters, scan.schema.fields, scan.definition.name)
    found = _read_by(scan.narrowed(columns or scan.columns[:1], filters))
    return replace(found, columns=columns)


def _one_statement(text: str) -> Statement:
    statements = parse(text)
    first = statements[0]
    if len(statements) > 1:
        message = f"One statement at a time can be planned; there are {len(statements)}."
        raise QueryError(message, topic="sql", statement=statements[1])
    is_change = first.tokens[0].text.upper() in WRITING
    if not first.is_query and not is_call(first) and not is_change:
        raise _not_planned(first)
    return first


def _not_planned(statement: Statement) -> QueryError:
    message = f"Only queries and calls can be planned, and {statement.title} is neither."
    return QueryError(message, topic="sql", statement=statement)


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
    return (_read_by(scan),)


def _read_by(scan: Scan) -> views.PlannedRead:
    """Count what a scan reads."""
    pruned, whole = scan.plan(), snapshot_plan(scan.narrowed(scan.columns, None))
    files = [file for split in pruned.splits for file in split.files]
    return views.PlannedRead(
        table=scan.definition.name,
        snapshot_id=None if scan.snapshot is None else scan.snapshot.id,
        file_count=len(files),
        size_bytes=sum(split.size_bytes for split in pruned.splits),
        filters="" if scan.predicate is None else without_secret_values(str(scan.predicate)),
        row_count=sum(file.row_count for file in files),
        **asdict(whole),
    )


def _on_spark(connection: Connection, read: SparkRead) -> views.PlannedRead:
    whole: dict[str, Any] = dict.fromkeys(field.name for field in fields(SnapshotPlan))
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
