"""Rows of a table that get other buckets: workers read them, and each writes some buckets.

What writes a bucket has all its rows, in the order in which they are read, and knows what is in
the bucket, so that it can compact it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.compact.bucket_files import BucketFiles
from paimonlab.compact.compaction import CompactPlan
from paimonlab.spec.buckets.bucket import bucket_ids
from paimonlab.spec.buckets.key import BucketKey
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.snapshot import Snapshot
from paimonlab.storage import FileIO
from paimonlab.table.compacting.by_writers import bucket_contents
from paimonlab.table.compacting.due import compacts
from paimonlab.table.definition import TableDefinition
from paimonlab.table.plans.compact import compact_plan
from paimonlab.table.plans.write import write_plan
from paimonlab.table.store import TableStore
from paimonlab.workers import Divided, Workers
from paimonlab.write.compactions import BucketCompactions
from paimonlab.write.folders import delete_files
from paimonlab.write.write_plan import WritePlan, WriterCompactionOptions
from paimonlab.write.writer import TableWriter

Contents: TypeAlias = Mapping[BucketKey, BucketFiles]
Reported: TypeAlias = Callable[
    [Sequence[CommitMessage]], tuple[list[CommitMessage], list[CommitMessage]]
]
"""Says how what a writer did is reported, and which files of it are useless."""


@dataclass(frozen=True, slots=True)
class Division:
    """Which share the rows of a bucket belong to; picklable."""

    plan: WritePlan
    partitions: Mapping[bytes, int]
    """The number of each partition."""
    shares: int

    @classmethod
    def of(cls, plan: WritePlan, partitions: Iterable[bytes], workers: Workers) -> Division:
        """Divide buckets evenly."""
        numbers = {partition: number for number, partition in enumerate(partitions)}
        most = workers.tasks if workers.divides else 1
        return cls(plan, numbers, min(most, len(numbers) * plan.buckets))

    def rows(self, rows: pa.RecordBatch, partition: bytes) -> Divided:
        """Divide rows of a partition; those of a bucket stay in their order."""
        if self.shares == 1:
            yield 0, rows
            return
        schema = self.plan.schema
        keys = [schema.field(name) for name in schema.bucket_keys]
        buckets = bucket_ids(rows, keys, self.plan.buckets, schema.bucket_function)
        shares = (self.partitions[partition] * self.plan.buckets + buckets) % self.shares
        grouped = rows.take(arrow_array(np.argsort(shares, kind="stable")))
        ends = np.cumsum(np.bincount(shares, minlength=self.shares)).tolist()
        for share, start, end in zip(range(self.shares), [0, *ends], ends, strict=False):
            if end > start:
                yield share, grouped.slice(start, end - start)

    def contents(self, contents: Contents) -> list[Contents]:
        """Say what is in the buckets of each share."""
        shares: list[dict[BucketKey, BucketFiles]] = [{} for _ in range(self.shares)]
        for key, files in contents.items():
            place = self.partitions[key[0]] * self.plan.buckets + key[1]
            shares[place % self.shares][key] = files
        return list(shares)


@dataclass(frozen=True, slots=True)
class ShareWriter:
    """Writes the rows of some buckets, and compacts these; picklable."""

    plan: WritePlan
    file_io: FileIO
    sequence_numbers: pa.Table
    compacting: CompactPlan | None
    """None: nothing is compacted."""
    options: WriterCompactionOptions
    kinds: str | None
    """Column of the kinds of rows; None: the table says."""
    reported: Reported

    @classmethod
    def of(
        cls,
        definition: TableDefinition,
        store: TableStore,
        snapshot: Snapshot,
        reported: Reported,
        *,
        kinds: str | None = None,
    ) -> ShareWriter:
        """Make what writes rows as a table says, beside those of a snapshot.

        Parameters
        ----------
        definition, store
            Of the table, with the buckets that rows get.
        snapshot
            Whose sequence numbers the rows go on from.
        reported
            How what was done is reported.
        kinds
            Column of the kinds of rows.
        """
        plan = write_plan(definition, store.layout)
        compacting = compact_plan(definition, store, snapshot)
        return cls(
            plan,
            store.file_io,
            store.sequence_memory.at(snapshot),
            compacting if compacts(definition, plan) else None,
            definition.options.slice(WriterCompactionOptions),
            kinds,
            reported,
        )

    def __call__(
        self, contents: Contents, batches: Iterator[pa.RecordBatch]
    ) -> list[CommitMessage]:
        """Write rows whose buckets have these files."""
        compactions = None
        if self.compacting is not None:
            compactions = BucketCompactions(
                self.compacting,
                self.options,
                self.file_io,
                lambda keys: {key: contents[key] for key in keys},
            )
        with TableWriter(
            self.plan, self.file_io, self.sequence_numbers, compactions=compactions
        ) as writer:
            for batch in batches:
                writer.write(batch, row_kinds=self.kinds)
            messages, useless = self.reported(writer.prepare_commit())
        self.undo(contents, useless)
        return messages

    def undo(self, _: Contents, messages: Sequence[CommitMessage]) -> None:
        """Delete what was written."""
        delete_files(messages, self.plan, self.file_io)


def contents_of(
    definition: TableDefinition,
    store: TableStore,
    snapshot: Snapshot,
    partitions: Iterable[bytes],
    *,
    replaces: bool,
) -> Contents:
    """Say what is in all buckets of partitions; nothing if it is replaced, or not compacted."""
    plan = write_plan(definition, store.layout)
    if not compacts(definition, plan):
        return {}
    keys = [(partition, bucket) for partition in partitions for bucket in range(plan.buckets)]
    return bucket_contents(definition, store, plan, None if replaces else snapshot, keys)
