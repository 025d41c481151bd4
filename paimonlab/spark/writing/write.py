"""INSERT INTO and INSERT OVERWRITE: Spark's executors write files, the driver commits them.

Spark hands over the rows as a DataFrame (`V1Write`): they are shuffled so that one task has all
rows of a bucket, and each task writes its buckets with our writer. The overwrite of just those
partitions that the rows have (``partitionOverwriteMode=dynamic``) has no such way in Spark: a
command of ours (`paimonlab.spark.rows.rewriting`) does it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from paimonlab.commit.scope import OverwriteScope
from paimonlab.errors import UnsupportedError
from paimonlab.spark.jvm.bridge import CONNECTOR, Bridge, Proxy
from paimonlab.spark.jvm.metrics import Unmeasured
from paimonlab.spark.jvm.predicates import predicates_text
from paimonlab.spark.reading.filters import equal_values, is_float
from paimonlab.spark.session_options import options_of, session_options
from paimonlab.spark.shipping import ship
from paimonlab.spark.values.in_arrow import map_in_arrow
from paimonlab.spark.values.spellings import scope_with
from paimonlab.spark.writing.access import check_options_of_write, check_partition_overwrite
from paimonlab.spark.writing.commits import commit_rows, commit_scope, discard, rows_read_of
from paimonlab.spark.writing.evolution import merges_schema, options_of_columns
from paimonlab.spark.writing.executor_assign import Assigning, HashAssignment
from paimonlab.spark.writing.executor_packets import Unpacking
from paimonlab.spark.writing.executor_small_rows import Task
from paimonlab.spark.writing.executor_write import MESSAGE_COLUMN, WriteTask, messages_of
from paimonlab.spark.writing.named_writes import NamedWrite, named_write
from paimonlab.spark.writing.shuffle import Shuffled, shares_of_keys, shuffled
from paimonlab.spark.writing.small_rows import in_batches
from paimonlab.spark.writing.stream_batches import (
    running_batch,
    statement_commit,
    statement_done,
)
from paimonlab.spark.writing.stream_write import OPTIONS_OF_SPARK, StreamWrite
from paimonlab.spark.writing.task_write import WITHOUT_BUCKETS
from paimonlab.spark.writing.upserts import newest_of_keys, upsert_keys, upsert_rows
from paimonlab.spec.buckets.mode import BucketMode
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.options.table_options import check_known, check_supported
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.committing.users import new_user
from paimonlab.table.inside import definition_of, store_of, with_definition
from paimonlab.table.plans.write import write_plan
from paimonlab.table.table import Table
from paimonlab.table.writing.mark_done import check_marks_of_writes

CAPABILITIES = (
    "AUTOMATIC_SCHEMA_EVOLUTION",
    "BATCH_WRITE",
    "OVERWRITE_BY_FILTER",
    "OVERWRITE_DYNAMIC",  # Spark lets such statements pass, and the rule of rows takes them
    "STREAMING_WRITE",
    "TRUNCATE",
    "V1_BATCH_WRITE",
)
"""What a table says it can do when it is written to."""

WithColumns: TypeAlias = Callable[[Bridge, Table, StructType, Mapping[str, str], str], Table]
"""Alters a table for the columns of rows, by options of a catalog of that name."""
_PREDICATE_UTILS = "org.apache.spark.sql.internal.connector.PredicateUtils"


class WriteBuilder(Proxy):
    """Learns from Spark what kind of write a statement is."""

    class Java:
        """py4j's list of interfaces."""

        implements = [CONNECTOR + "write.SupportsOverwriteV2"]  # noqa: RUF012

    def __init__(
        self,
        bridge: Bridge,
        table: Table,
        definition: Any,
        *,
        catalog: str,
        is_new: bool = False,
        stream_options: Mapping[str, str] | None = None,
        with_columns: WithColumns | None = None,
    ) -> None:
        super().__init__(bridge)
        given = stream_options
        if given is None:
            given = bridge.texts_of_map(definition.options().asCaseSensitiveMap())
        self._query = _query_of_sink(bridge, definition)
        self._merges = merges_schema(bridge, catalog, table, given)
        if self._query is not None and self._merges:
            assert with_columns is not None, "streams go into tables of catalogs"
            rows = bridge.python_schema(definition.schema())
            of_columns = options_of_columns(bridge, catalog, table, given)
            table = with_columns(bridge, table, rows, of_columns, catalog)
        self._table = with_write_options(bridge, table, given, catalog, is_new=is_new)
        ours, store = definition_of(self._table), store_of(self._table)
        check_supported(ours.options, ours.schema, "write")
        write_plan(ours, store.layout)  # whether files can hold all columns
        self._catalog, self._is_new = catalog, is_new
        self._schema = definition.schema()
        self._scope: OverwriteScope | None = None

    def truncate(self) -> Proxy:
        """Replace all rows of the table."""
        self._scope = OverwriteScope.whole_table()
        return self

    def canOverwrite(self, predicates: Sequence[Any]) -> bool:
        """Say that predicates choose whole partitions by values of partition columns.

        Raises
        ------
        UnsupportedError
            If they do not.
        """
        if self._values(predicates) is None:
            said = predicates_text(self._bridge, predicates)
            raise UnsupportedError(
                f"overwriting rows of {self._table.name} where {said}",
                "partitions are replaced by one value of each column; DELETE the rows and INSERT "
                "the others, or use MERGE INTO",
            )
        return True

    def overwrite(self, predicates: Sequence[Any]) -> Proxy:
        """Replace the partitions that predicates choose."""
        values = self._values(predicates)
        assert values is not None, "Spark asks canOverwrite first"
        if values:
            check_partition_overwrite(self._table)
        self._scope = scope_with([values], self._table)
        return self

    def build(self) -> Proxy:
        """Finish."""
        if self._query is not None:
            replaces = self._scope is not None
            return StreamWrite(
                self._bridge,
                self._table,
                self._schema,
                self._query,
                replaces=replaces,
                merges=self._merges,
            )
        return RowsWrite(
            self._bridge, self._table, self._scope, None if self._is_new else self._catalog
        )

    def _values(self, predicates: Sequence[Any]) -> dict[str, Any] | None:
        utilities = self._bridge.module(_PREDICATE_UTILS)
        translated = [utilities.toV1(predicate) for predicate in predicates]
        if not all(value.isDefined() for value in translated):
            return None
        schema = definition_of(self._table).schema
        keys = schema.partition_keys
        floats = [key for key in keys if is_float(schema.field(key).type)]
        return equal_values([value.get() for value in translated], keys, floats)


class UpsertBuilder(WriteBuilder):
    """Also lets the rows of a stream replace those with the same primary key (update mode)."""

    class Java:
        """py4j's list of interfaces."""

        implements = [  # noqa: RUF012
            *WriteBuilder.Java.implements,
            "org.apache.spark.sql.internal.connector.SupportsStreamingUpdateAsAppend",
        ]


def write_builder(
    bridge: Bridge,
    table: Table,
    definition: Any,
    *,
    catalog: str,
    is_new: bool = False,
    stream_options: Mapping[str, str] | None = None,
    with_columns: WithColumns | None = None,
) -> WriteBuilder:
    """Start a write: INSERT, or that of a stream; parameters as Spark gives them.

    ``is_new`` says that the statement makes the table, ``stream_options`` which options of a stream
    are not about which table it is; None: all. ``with_columns`` alters the sink of a stream for the
    columns of its rows. Where rows have no key nothing would be replaced, and Spark refuses update
    mode.
    """
    builder = UpsertBuilder if table.primary_keys else WriteBuilder
    return builder(
        bridge,
        table,
        definition,
        catalog=catalog,
        is_new=is_new,
        stream_options=stream_options,
        with_columns=with_columns,
    )


def _query_of_sink(bridge: Bridge, definition: Any) -> str | None:
    """Return the id of the stream whose rows Spark itself writes; None for a statement."""
    batch = running_batch(bridge)
    query = str(definition.queryId()) if batch is not None else None
    return query if batch is not None and query == batch.query else None


def with_write_options(
    bridge: Bridge,
    table: Table,
    every: Mapping[str, str],
    catalog: str,
    *,
    is_new: bool = False,
) -> Table:
    """Put the options of the session on top of the table's; refuse ``every`` one of one write."""
    given = {key: item for key, item in every.items() if key.lower() not in OPTIONS_OF_SPARK}
    merges = merges_schema(bridge, catalog, table, given)
    check_options_of_write(table, given, is_new=is_new, merges=merges)
    check_known(given)
    return with_session_options(bridge, table, catalog)


def with_session_options(bridge: Bridge, table: Table, catalog: str) -> Table:
    """Put the options of the session for writes on top of those of a table."""
    name = (catalog, table.identifier.database, table.identifier.table)
    of_session = options_of(session_options(bridge, name), table, writes=True)
    return with_definition(table, definition_of(table).with_options(of_session))


class RowsWrite(Unmeasured):
    """A write that gets its rows as a DataFrame."""

    class Java:
        """py4j's list of interfaces."""

        implements = [CONNECTOR + "write.V1Write"]  # noqa: RUF012

    def __init__(
        self, bridge: Bridge, table: Table, scope: OverwriteScope | None, catalog: str | None
    ) -> None:
        super().__init__(bridge)
        self._table = table
        self._scope = scope
        self._catalog = catalog

    def description(self) -> str:
        """Say what is written, for plans."""
        return f"Paimon({self._table.name})"

    def toInsertableRelation(self) -> Proxy:
        """Return what takes the rows."""
        return RowsInsert(self._bridge, self._table, self._scope, self._catalog)


class RowsInsert(Proxy):
    """Takes the rows, writes and commits them."""

    class Java:
        """py4j's list of interfaces."""

        implements = ["org.apache.spark.sql.sources.InsertableRelation"]  # noqa: RUF012

    def __init__(
        self, bridge: Bridge, table: Table, scope: OverwriteScope | None, catalog: str | None
    ) -> None:
        super().__init__(bridge)
        self._table = table
        self._scope = scope
        self._catalog = catalog

    def insert(self, rows: Any, overwrite: bool) -> None:  # noqa: FBT001 - Spark's signature
        """Write rows; whether they replace others was said before."""
        del overwrite
        frame = DataFrame(rows, self._bridge.spark)
        if self._scope is None and upsert_keys(self._table):
            if self._catalog is not None:
                self._upsert(frame, self._catalog)
                return
            frame = newest_of_keys(frame, self._table)
        seen = store_of(self._table).snapshots.latest()
        verb = "INSERT INTO" if self._scope is None else "INSERT OVERWRITE"
        named = named_write(self._bridge)
        batch = None if named else statement_commit(self._bridge, self._table, verb)
        if batch is not None and batch.earlier(self._table) is not None:
            statement_done(self._bridge, self._table)
            return
        chosen = named or batch
        user = chosen.user if chosen else new_user(definition_of(self._table).options)
        replaces = self._scope is not None
        messages = written(self._bridge, frame, self._table, seen, replaces=replaces, user=user)
        if named is not None:
            _check_named(named, self._table, messages)
        if self._scope is None:
            commit_rows(self._bridge, self._table, messages, seen=seen, user=user, batch=batch)
        else:
            reads = rows_read_of(self._bridge, frame, self._table)
            commit_scope(
                self._bridge,
                self._table,
                messages,
                self._scope,
                user=user,
                batch=batch,
                reads=reads,
            )
        if batch is not None:
            statement_done(self._bridge, self._table)

    def _upsert(self, rows: DataFrame, catalog: str) -> None:
        if named_write(self._bridge) is not None:
            raise UnsupportedError(
                f"COPY INTO {self._table.name} with upsert-key = "
                f"{','.join(upsert_keys(self._table))!r}",
                "use INSERT INTO … SELECT from the files: SELECT * FROM parquet.`/in`",
            )
        upsert_rows(self._bridge, rows, self._table, catalog)


def _check_named(named: NamedWrite, table: Table, messages: Sequence[CommitMessage]) -> None:
    try:
        named.check()
    except BaseException:
        discard(table, messages)
        raise


def written(
    bridge: Bridge,
    rows: DataFrame,
    table: Table,
    seen: Snapshot | None,
    *,
    replaces: bool,
    user: str,
) -> list[CommitMessage]:
    """Write rows to files on the executors; nothing is visible before a commit.

    Parameters
    ----------
    bridge
        The session.
    rows
        The table's columns; with `KIND_COLUMN` (TINYINT) rows can be deletes and updates.
    table
        Where they go to.
    seen
        Its latest snapshot, None if it has none.
    replaces
        Whether all rows of the partitions that are written to are replaced: nothing that is there
        says the buckets or sequence numbers.
    user
        Who will commit.

    Raises
    ------
    PaimonError
        The first error of a task; the files of all tasks are deleted.
    """

    def write(some: DataFrame, wrapped: Callable[[Task], Task]) -> list[CommitMessage]:
        divided = divided_write(bridge, some, table, seen, replaces=replaces, user=user)
        task = divided.taking(wrapped(divided.task))
        pickled = map_in_arrow(divided.rows, task, f"{MESSAGE_COLUMN} binary").collect()
        messages, error = messages_of([row[MESSAGE_COLUMN] for row in pickled])
        if error is not None:
            discard(table, messages)
            raise error
        return messages

    plan = write_plan(definition_of(table), store_of(table).layout)
    if plan.bucket_mode is BucketMode.KEY_DYNAMIC:
        known = None if replaces else seen
        if shares_of_keys(bridge, rows, plan, known) > 1:  # which takes the table's columns alone
            return write(rows, lambda task: task)
    return in_batches(bridge, rows, table, write)


@dataclass(frozen=True, slots=True)
class DividedWrite:
    """Rows where they are written, and what writes them."""

    rows: DataFrame
    """They may be in packets."""
    task: WriteTask
    """Takes rows."""
    is_packed: bool
    assignment: HashAssignment | None = None
    """What finds the buckets of rows that come without."""

    def taking(self, task: Task) -> Task:
        """Let a task of rows, one that has `task`, take what `rows` has."""
        with_buckets = task if self.assignment is None else Assigning(self.assignment, task)
        return Unpacking(with_buckets) if self.is_packed else with_buckets


def divided_write(
    bridge: Bridge,
    rows: DataFrame,
    table: Table,
    seen: Snapshot | None,
    *,
    replaces: bool,
    user: str,
    are_placed: bool = False,
) -> DividedWrite:
    """Return rows where they are written, and what writes them.

    Parameters as in `written`; ``are_placed`` says that all rows of a bucket are in one task.
    """
    check_marks_of_writes(definition_of(table))
    ship(bridge.spark.sparkContext)
    store = store_of(table)
    plan = write_plan(definition_of(table), store.layout)
    divided = (
        Shuffled(rows)
        if are_placed
        else shuffled(bridge, rows, table, seen, replaces=replaces, packs=True)
    )
    is_numbered = plan.bucket_mode not in WITHOUT_BUCKETS and not replaces
    numbers = table.sequence_numbers() if is_numbered else None
    task = WriteTask(plan, store.file_io, numbers, divided.routing, divided.takes_buckets, user)
    return DividedWrite(divided.rows, task, divided.is_packed, divided.assignment)
