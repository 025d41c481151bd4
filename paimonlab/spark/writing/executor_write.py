"""What a writing task does on an executor: batches of rows -> files and their messages.

A task hands back one value: what it wrote, or the error it met. An error of paimonlab is not
raised in the task, so that it reaches the user as itself, is not tried again in vain, and the
files of the other tasks are known and can be deleted.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, arrow_row
from paimonlab.errors import PaimonError
from paimonlab.spec.buckets.bucket import bucket_ids
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.partitions.folders import POSTPONE_BUCKET
from paimonlab.storage import FileIO
from paimonlab.write.given_buckets import GivenRouter
from paimonlab.write.kept_ids import IdKeepingWriter, keeps_ids
from paimonlab.write.key_places.places import KnownKeys, collected_in_memory
from paimonlab.write.key_router import KeyRouter
from paimonlab.write.routing import DynamicRouter, FixedRouter, Router
from paimonlab.write.write_plan import WritePlan
from paimonlab.write.writer import TableWriter

if TYPE_CHECKING:
    from paimonlab.table.writing.key_index import StoredKeyIndex

BUCKET_COLUMN = "__paimon_bucket"
"""Column of the bucket by which Spark shuffled the rows; it is not written."""
KIND_COLUMN = "__paimon_kind"
"""Column of the kind of each row (0..3), where there is one; it is not written."""
BEFORE = "__paimon_before_"
"""Begins the name of a column with what a column of the table was before an update; it is not
written."""
MESSAGE_COLUMN = "message"
_RESULT = pa.schema([(MESSAGE_COLUMN, pa.binary())])

Routing: TypeAlias = Callable[[WritePlan], Router]
"""Makes the router of a task; picklable."""


@dataclass(frozen=True, slots=True)
class WriteTask:
    """All that a writing task needs, picklable."""

    plan: WritePlan
    file_io: FileIO
    sequence_numbers: pa.Table | None
    routing: Routing | None = None
    """What says the buckets of rows; None: they themselves do."""
    takes_buckets: bool = False
    """Whether the router takes `BUCKET_COLUMN`; else that column is checked."""
    user: str = ""
    """Who will commit."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Write the rows of one task; yields one row with the pickled `TaskOutcome`."""
        yield arrow_row(_RESULT, pickle.dumps(self.outcome(batches)))

    def outcome(self, batches: Iterator[pa.RecordBatch]) -> TaskOutcome:
        """Write the rows of one task; an error of ours is part of what comes back."""
        try:
            with self.writer() as writer:
                for batch in batches:
                    rows, columns = self._rows(batch), batch.schema.names
                    writer.write(
                        rows,
                        row_kinds=KIND_COLUMN if KIND_COLUMN in columns else None,
                        buckets=BUCKET_COLUMN if self.takes_buckets else None,
                    )
                messages = tuple(message.to_bytes() for message in writer.prepare_commit())
        except PaimonError as error:
            for _ in batches:  # Spark's side must be read to its end
                pass
            return TaskOutcome(error=pickle.dumps(error))
        return TaskOutcome(messages=messages)

    def writer(self) -> TableWriter:
        """Make what writes the files of one task."""
        if keeps_ids(self.plan):
            return IdKeepingWriter(self.plan, self.file_io)
        router = self.routing(self.plan) if self.routing is not None else None
        return TableWriter(
            self.plan, self.file_io, self.sequence_numbers, router=router, user=self.user
        )

    def _rows(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        position = batch.schema.get_field_index(BUCKET_COLUMN)
        if position < 0 or self.takes_buckets:
            return batch
        schema = self.plan.schema
        keys = [schema.field(name) for name in schema.bucket_keys]
        buckets = bucket_ids(batch, keys, self.plan.buckets, schema.bucket_function)
        assert np.array_equal(batch.column(position).to_numpy(), buckets), (
            f"{self.plan.table_name}: rows were shuffled by other buckets than they belong to"
        )
        return batch.drop_columns([BUCKET_COLUMN])


def indexed(plan: WritePlan, *, stored: StoredKeyIndex) -> Router:
    """Make the router of the only task that writes to its partitions of dynamic buckets."""
    return DynamicRouter(
        plan.schema,
        plan.dynamic,
        stored.files,
        lambda partition: dict(stored.of_partition(partition)),
    )


def given(
    plan: WritePlan, *, stored: StoredKeyIndex | None, alone_since: int | None = None
) -> Router:
    """Make the router of rows whose buckets another task has found."""
    return GivenRouter(plan.schema, stored, alone_since=alone_since)


def keyed(
    plan: WritePlan, *, known: Callable[[], Iterator[KnownKeys]], snapshot_id: int | None
) -> Router:
    """Make the router of the only task that writes to a table of keys that may move."""
    return KeyRouter(
        plan,
        lambda: collected_in_memory(known(), plan.schema, table=plan.table_name),
        snapshot_id=snapshot_id,
    )


def waiting(plan: WritePlan) -> Router:
    """Make the router of rows that get their buckets when they are compacted."""
    return FixedRouter(plan.schema, -1, only_bucket=POSTPONE_BUCKET)


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """What became of one writing task."""

    messages: tuple[bytes, ...] = ()
    error: bytes | None = None
    """A pickled `PaimonError`: nothing of this task is left then."""


def add_buckets(plan: WritePlan, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Add the bucket of each row, for keys that Spark has no expression for."""
    keys = [plan.schema.field(name) for name in plan.schema.bucket_keys]
    for batch in batches:
        buckets = arrow_array(bucket_ids(batch, keys, plan.buckets, plan.schema.bucket_function))
        yield batch.append_column(BUCKET_COLUMN, buckets)


def messages_of(pickled: list[bytes]) -> tuple[list[CommitMessage], PaimonError | None]:
    """Gather what tasks handed back: all messages, and the first error."""
    outcomes = [pickle.loads(value) for value in pickled]  # noqa: S301 - our own tasks made it
    messages = [
        CommitMessage.from_bytes(message) for outcome in outcomes for message in outcome.messages
    ]
    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    return messages, pickle.loads(errors[0]) if errors else None  # noqa: S301 - as above
