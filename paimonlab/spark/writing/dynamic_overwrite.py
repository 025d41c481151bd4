"""INSERT OVERWRITE of just those partitions that the rows have.

Spark gives no DataFrame here, only tasks that write. It is asked to bring equal bucket keys of a
partition into one task, so all rows of a key are written by one task; a bucket may be written
by several. An overwrite starts without files, so no sequence numbers have to go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pyspark.cloudpickle import dumps
from pyspark.sql.types import BinaryType, StructType

from paimonlab.spark.jvm.bridge import CONNECTOR, Bridge, Proxy
from paimonlab.spark.jvm.python_tasks import PYTHON_SOURCE, data_source
from paimonlab.spark.shipping import ship
from paimonlab.spark.values.spellings import scope_of
from paimonlab.spark.writing.commits import commit_scope, discard
from paimonlab.spark.writing.executor_write import (
    MESSAGE_COLUMN,
    Routing,
    WriteTask,
    indexed,
    messages_of,
    waiting,
)
from paimonlab.spark.writing.stream_batches import statement_commit, statement_done
from paimonlab.spark.writing.task_write import TaskWrite
from paimonlab.spec.buckets.mode import BucketMode
from paimonlab.table.committing.users import new_user
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.plans.write import write_plan
from paimonlab.table.writing.key_index import StoredKeyIndex

if TYPE_CHECKING:
    from paimonlab.table.table import Table
    from paimonlab.write.write_plan import WritePlan


class DynamicOverwrite(TaskWrite):
    """A write that replaces the partitions it has rows of."""

    class Java:
        """py4j's list of interfaces."""

        implements = [  # noqa: RUF012
            CONNECTOR + "write.RequiresDistributionAndOrdering",
            CONNECTOR + "write.BatchWrite",
        ]

    def __init__(self, bridge: Bridge, table: Table, schema: Any) -> None:
        super().__init__(bridge, table)
        self._schema = schema
        self._began_commit = False
        self._user = new_user(definition_of(table).options)

    def requiredNumPartitions(self) -> int:
        """Leave the number of tasks to Spark."""
        return 0

    def toBatch(self) -> Proxy:
        """Return the batch: this."""
        return self

    def onDataWriterCommit(self, message: Any) -> None:
        """Do nothing yet."""

    def createBatchWriterFactory(self, physical: Any) -> Any:
        """Return what runs our writer in Spark's Python workers."""
        del physical
        bridge = self._bridge
        ship(bridge.spark.sparkContext)
        definition, store = definition_of(self._table), store_of(self._table)
        plan = write_plan(definition, store.layout)
        task = WriteTask(plan, store.file_io, None, self._routing(plan), user=self._user)
        result = StructType().add(MESSAGE_COLUMN, BinaryType())
        writers = bridge.java_class(PYTHON_SOURCE + "PythonBatchWriterFactory")
        none = bridge.none()
        return writers(data_source(bridge), dumps((task, result)), self._schema, none, none)

    def commit(self, messages: Sequence[Any], *_: Any) -> None:
        """Commit what all tasks wrote."""
        self._began_commit = True
        assert all(message is not None for message in messages), "a task handed back nothing"
        written, error = messages_of([bytes(message.pickledMessage()) for message in messages])
        if error is not None:
            discard(self._table, written)
            raise error
        batch = statement_commit(self._bridge, self._table, "INSERT OVERWRITE of its partitions")
        if batch is not None and batch.earlier(self._table) is not None:
            discard(self._table, written)
        elif partitions := {message.partition for message in written}:
            commit_scope(self._table, written, scope_of(partitions), user=self._user, batch=batch)
        if batch is not None:
            statement_done(self._bridge, self._table)

    def _routing(self, plan: WritePlan) -> Routing | None:
        if plan.bucket_mode is BucketMode.HASH_DYNAMIC:
            stored = StoredKeyIndex.empty(plan, store_of(self._table).file_io)
            return partial(indexed, stored=stored)
        return waiting if plan.bucket_mode is BucketMode.POSTPONE_MODE else None

    def abort(self, messages: Sequence[Any]) -> None:
        """Delete what tasks of a failed job wrote; not once a commit began, it may have landed."""
        if self._began_commit:
            return
        known = [message for message in messages if message is not None]
        written, _ = messages_of([bytes(message.pickledMessage()) for message in known])
        discard(self._table, written)
