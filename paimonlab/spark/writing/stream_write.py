"""A table as the sink of a stream: ``rows.writeStream.toTable("paimon.db.t")``.

Spark gives no DataFrame here, only tasks that write. It is asked to bring equal bucket keys of a
partition into one task, so all rows of a key are written by one task; a bucket may be written by
several. Each batch is committed once, see `paimonlab.spark.writing.stream_batches`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pyspark.cloudpickle import dumps
from pyspark.sql.types import BinaryType, StructType

from paimonlab.commit.scope import OverwriteScope
from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spark.jvm.bridge import CONNECTOR, Bridge, Proxy
from paimonlab.spark.jvm.python_tasks import PYTHON_SOURCE, data_source
from paimonlab.spark.shipping import ship
from paimonlab.spark.values.types import from_spark, spark_schema
from paimonlab.spark.writing.commits import commit_rows, commit_scope, discard
from paimonlab.spark.writing.executor_write import (
    MESSAGE_COLUMN,
    Routing,
    WriteTask,
    indexed,
    messages_of,
    waiting,
)
from paimonlab.spark.writing.stream_batches import sink_commit
from paimonlab.spark.writing.task_write import WITHOUT_BUCKETS, TaskWrite
from paimonlab.spark.writing.upserts import upsert_keys
from paimonlab.spec.buckets.mode import BucketMode
from paimonlab.spec.types.casting import is_wider
from paimonlab.spec.types.data_types import AtomicType, DataField, RowType, TypeRoot
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.plans.write import write_plan
from paimonlab.table.writing.key_index import KeyIndex, StoredKeyIndex
from paimonlab.table.writing.writers import sequence_numbers

if TYPE_CHECKING:
    from paimonlab.spec.snapshot import Snapshot
    from paimonlab.table.table import Table
    from paimonlab.write.write_plan import WritePlan

OPTIONS_OF_SPARK = frozenset({"checkpointlocation", "queryname"})
"""Options of a stream that are not for its sink."""


class StreamWrite(TaskWrite):
    """Writes the batches of a stream."""

    class Java:
        """py4j's list of interfaces."""

        implements = [  # noqa: RUF012
            CONNECTOR + "write.RequiresDistributionAndOrdering",
            CONNECTOR + "write.streaming.StreamingWrite",
        ]

    def __init__(
        self,
        bridge: Bridge,
        table: Table,
        schema: Any,
        query: str,
        *,
        replaces: bool,
        merges: bool,
    ) -> None:
        super().__init__(bridge, table)
        self._schema = schema
        self._query = query
        self._replaces = replaces
        self._seen: Snapshot | None = None
        self._began_commit = False
        _check_table(table, replaces=replaces)
        _check_columns(table, bridge.python_schema(schema), merges=merges)

    def requiredNumPartitions(self) -> int:
        """Ask for no more tasks than run at once: each writes files of its own."""
        mode = definition_of(self._table).bucket_mode
        if mode in WITHOUT_BUCKETS:
            return 0
        if mode is BucketMode.HASH_DYNAMIC and not self._table.partition_keys:
            return 1
        return int(self._bridge.spark.sparkContext.defaultParallelism)

    def toStreaming(self) -> Proxy:
        """Return what writes: this."""
        return self

    def createStreamingWriterFactory(self, physical: Any) -> Any:
        """Return what runs our writer in Spark's Python workers."""
        del physical
        bridge, table = self._bridge, self._table
        ship(bridge.spark.sparkContext)
        definition, store = definition_of(table), store_of(table)
        self._seen = store.snapshots.latest()
        plan = write_plan(definition, store.layout)
        is_numbered = plan.bucket_mode not in WITHOUT_BUCKETS and not self._replaces
        numbers = table.sequence_numbers() if is_numbered else None
        routing = stream_routing(table, plan, self._seen, replaces=self._replaces)
        task = WriteTask(plan, store.file_io, numbers, routing, user=self._query)
        result = StructType().add(MESSAGE_COLUMN, BinaryType())
        writers = bridge.java_class(PYTHON_SOURCE + "PythonStreamingWriterFactory")
        none = bridge.none()
        return writers(data_source(bridge), dumps((task, result)), self._schema, none, none)

    def commit(self, batch: int, messages: Sequence[Any]) -> None:
        """Commit what all tasks wrote, unless the batch was committed when it ran before."""
        self._began_commit = True
        assert all(message is not None for message in messages), "a task handed back nothing"
        written, error = messages_of([bytes(message.pickledMessage()) for message in messages])
        if error is not None:
            discard(self._table, written)
            raise error
        mode = "complete" if self._replaces else "append"
        how = sink_commit(self._bridge, self._table, self._query, batch, f"a stream, {mode}")
        if how.earlier(self._table) is not None:
            discard(self._table, written)
        elif self._replaces:
            commit_scope(
                self._bridge,
                self._table,
                written,
                OverwriteScope.whole_table(),
                batch=how,
                round_number=batch,
            )
        else:
            commit_rows(
                self._bridge,
                self._table,
                written,
                seen=self._seen,
                user=how.user,
                batch=how,
                round_number=batch,
            )

    def abort(self, batch: int, messages: Sequence[Any]) -> None:
        """Delete what tasks of a failed job wrote; not once a commit began, it may have landed."""
        del batch
        if self._began_commit:
            return
        known = [message for message in messages if message is not None]
        written, _ = messages_of([bytes(message.pickledMessage()) for message in known])
        discard(self._table, written)


def stream_routing(
    table: Table, plan: WritePlan, seen: Snapshot | None, *, replaces: bool = False
) -> Routing | None:
    """Return what says the buckets of rows in the tasks of a stream; None: the rows themselves do.

    Parameters
    ----------
    table, plan
        The table and how it is written; its keys stay in their partition.
    seen
        Its latest snapshot.
    replaces
        Whether all rows of the table are replaced.
    """
    if plan.bucket_mode is BucketMode.HASH_DYNAMIC:
        definition, store = definition_of(table), store_of(table)
        if replaces:
            stored = StoredKeyIndex.empty(plan, store.file_io)
        else:
            live = sequence_numbers(store.sequence_memory, seen)
            stored = KeyIndex(definition, store, seen, live).stored()
        return partial(indexed, stored=stored)
    return waiting if plan.bucket_mode is BucketMode.POSTPONE_MODE else None


def _check_table(table: Table, *, replaces: bool) -> None:
    instead = "use foreachBatch with INSERT INTO"
    keys = upsert_keys(table)
    if keys and not replaces:
        raise UnsupportedError(
            f"a stream into {table.name} with upsert-key = {','.join(keys)!r}", instead
        )
    if definition_of(table).bucket_mode is BucketMode.KEY_DYNAMIC:
        raise UnsupportedError(
            f"a stream into {table.name}, whose primary key lacks a partition column", instead
        )
    for column in table.schema.fields:
        if isinstance(column.type, AtomicType) and column.type.root is TypeRoot.CHAR:
            raise UnsupportedError(
                f"a stream into {table.name}, whose column {column.name!r} is a CHAR",
                f"Spark does not pad the rows of a stream; {instead}",
            )


def _check_columns(table: Table, given: StructType, *, merges: bool) -> None:
    """Check that the rows have the table's columns: Spark does not align those of a stream.

    With ``write.merge-schema`` they may lack some, and have narrower numbers.
    """
    wanted = spark_schema(table.schema.fields, plain=True)
    by_name = {column.name: column.dataType for column in given}
    types = {name: kind.simpleString() for name, kind in by_name.items()}
    for field, column in zip(table.schema.fields, wanted, strict=True):
        there = types.pop(column.name, None)
        if there != column.dataType.simpleString():
            if merges and _fits(field, by_name.get(column.name)):
                continue
            has = "have no such column" if there is None else f"have {there}"
            raise SchemaError(
                f"{table.name}: column {column.name!r} is {column.dataType.simpleString()}, but "
                f"the rows of the stream {has}; select and cast them as the table has them"
            )
    if types:
        raise SchemaError(
            f"{table.name} has no column {next(iter(types))!r}, but the rows of the stream have; "
            "select the table's columns"
        )


def _fits(column: DataField, given: Any) -> bool:
    """Return whether writers give values of a stream the type of a column, which may be wider.

    ``given`` is Spark's type; None: the rows have no such column, which is null then.
    """
    if given is None:
        return column.type.nullable
    theirs = from_spark(given, column=column.name)
    return not isinstance(column.type, RowType) and is_wider(theirs, column.type)
