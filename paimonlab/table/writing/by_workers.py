"""Rows that workers read become files of a table, written by workers: only a commit is left to do.

Where any writer may write any row, who reads rows writes them. Else rows that belong together
go to one writer: those of a bucket, of a partition whose buckets depend on its keys, or all rows
where keys may be in any partition. All that is in the partitions is replaced, so writers know of
nothing that is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.compact.compaction import CompactPlan
from paimonlab.read.changed_rows import read_change_split
from paimonlab.read.read_plan import ReadPlan
from paimonlab.read.splits import read_split
from paimonlab.scan.change_splits import ChangeSplit
from paimonlab.scan.changed_files import ChangeKind
from paimonlab.scan.split import DataSplit
from paimonlab.spec.binary_row.rows import hash_codes
from paimonlab.spec.buckets.bucket import bucket_ids
from paimonlab.spec.buckets.mode import BucketMode
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.partitions.folders import POSTPONE_BUCKET
from paimonlab.spec.row_digest import RowDigest
from paimonlab.spec.snapshot import Snapshot
from paimonlab.spec.types.data_types import DataType
from paimonlab.storage import FileIO
from paimonlab.table.compacting.due import compacts
from paimonlab.table.compacting.live_buckets import bucket_of
from paimonlab.table.definition import TableDefinition
from paimonlab.table.plans.compact import compact_plan
from paimonlab.table.plans.write import write_plan
from paimonlab.table.reading.changes import Changes
from paimonlab.table.reading.incremental import ChangeRange
from paimonlab.table.reading.scan import Scan
from paimonlab.table.store import TableStore
from paimonlab.workers import Divided, Workers, in_parts
from paimonlab.write.compactions import BucketCompactions
from paimonlab.write.folders import delete_files
from paimonlab.write.hash_indexes import HashIndexFiles
from paimonlab.write.kept_ids import IdKeepingWriter, keeps_ids
from paimonlab.write.key_places.places import collected_in_memory
from paimonlab.write.key_router import KeyRouter
from paimonlab.write.routing import DynamicRouter, FixedRouter, Router
from paimonlab.write.write_plan import WritePlan, WriterCompactionOptions
from paimonlab.write.writer import TableWriter

Job = TypeVar("Job")
_ANYWHERE = (BucketMode.BUCKET_UNAWARE, BucketMode.POSTPONE_MODE)
"""Modes in which any writer may write any row."""


@dataclass(frozen=True, slots=True)
class WrittenRows:
    """What writers wrote."""

    messages: Sequence[CommitMessage]
    rows: RowDigest
    """Of the rows that they were given."""


def writes_where_it_reads(definition: TableDefinition) -> bool:
    """Whether what reads rows writes them, so that none pass from one worker to another."""
    return definition.bucket_mode in _ANYWHERE


def write_by_workers(
    definition: TableDefinition,
    store: TableStore,
    jobs: Sequence[Job],
    read: Callable[[Job], Iterator[pa.RecordBatch]],
    columns: Sequence[str],
    *,
    workers: Workers,
    what: str,
    user: str,
    done: Callable[[Job], object] | None = None,
) -> WrittenRows:
    """Write rows into buckets of which nothing is kept that is there.

    Parameters
    ----------
    definition, store
        Of the table.
    jobs
        What is read; picklable.
    read
        Reads the rows of a job, with the table's types; picklable.
    columns
        Their columns.
    workers
        What reads and writes.
    what
        Which work it is, in words.
    user
        Who will commit.
    done
        Is called with each job when it is read.

    Returns
    -------
    WrittenRows
        What a commit takes. If anything fails, no file is left.
    """
    plan = write_plan(definition, store.layout)
    compacting = None
    if compacts(definition, plan):
        compacting = compact_plan(definition, store, store.snapshots.latest())
    types = [definition.schema.field(name).type for name in columns]
    options = definition.options.slice(WriterCompactionOptions)
    sink = _Sink(plan, store.file_io, types, compacting, options, user)
    made: Sequence[WrittenRows | None]
    if writes_where_it_reads(definition):
        made = workers(
            _Copying(read, sink),
            in_parts(jobs, workers.tasks),
            what=what,
            undo=sink.undo,
            done=None if done is None else lambda part: [done(job) for job in part],
        )
    else:
        division = _Division(plan, _shares(plan, workers))
        made = workers.exchange(
            _Dividing(read, division),
            jobs,
            sink,
            range(division.shares),
            what=what,
            undo=sink.undo,
            done=done,
        )
    messages, rows = list[CommitMessage](), RowDigest(types)
    for one in made:
        if one is not None:
            messages += one.messages
            rows.unite(one.rows)
    return WrittenRows(messages, rows)


def digest_by_workers(
    jobs: Sequence[Job],
    read: Callable[[Job], Iterator[pa.RecordBatch]],
    types: Sequence[DataType],
    *,
    workers: Workers,
    what: str,
) -> RowDigest:
    """Let workers read rows, and say how many there are and the sum of their hashes.

    Parameters
    ----------
    jobs, read
        What is read; picklable.
    types
        Of the columns.
    workers
        What reads.
    what
        Which work it is, in words.
    """
    digest = RowDigest(types)
    for one in workers(_Digesting(read, types), in_parts(jobs, workers.tasks), what=what):
        digest.unite(one)
    return digest


def digest_of_scan(scan: Scan, *, workers: Workers, what: str) -> RowDigest:
    """Let workers read the rows of a scan; see `digest_by_workers`."""
    return digest_by_workers(
        scan.plan().splits,
        SplitRows(scan.read_plan(), scan.store.file_io),
        [scan.schema.field(name).type for name in scan.columns],
        workers=workers,
        what=what,
    )


def digest_of_added(
    definition: TableDefinition,
    store: TableStore,
    snapshot: Snapshot,
    *,
    workers: Workers,
    what: str,
) -> RowDigest:
    """Let workers read the rows that a commit added to a table without keys."""
    schema = definition.schema
    added = Changes(
        definition,
        store,
        ChangeRange(kind=ChangeKind.DELTA, snapshots=(snapshot,)),
        schema,
        tuple(field.name for field in schema.fields),
        None,
    )
    return digest_by_workers(
        added.splits,
        _AddedRows(added.read_plan(), store.file_io),
        [field.type for field in schema.fields],
        workers=workers,
        what=what,
    )


@dataclass(frozen=True, slots=True)
class _AddedRows:
    """Reads the rows that a split has more; picklable."""

    plan: ReadPlan
    file_io: FileIO

    def __call__(self, split: ChangeSplit) -> Iterator[pa.RecordBatch]:
        """Read them, without their kind, which is that of new rows."""
        for batch in read_change_split(split, self.plan, self.file_io):
            yield batch.select(range(1, batch.num_columns))


@dataclass(frozen=True, slots=True)
class SplitRows:
    """Reads the rows of a split; picklable."""

    plan: ReadPlan
    file_io: FileIO

    def __call__(self, split: DataSplit) -> Iterator[pa.RecordBatch]:
        """Read them."""
        return read_split(split, self.plan, self.file_io)


@dataclass(frozen=True, slots=True)
class _Digesting(Generic[Job]):
    read: Callable[[Job], Iterator[pa.RecordBatch]]
    types: Sequence[DataType]

    def __call__(self, jobs: Sequence[Job]) -> RowDigest:
        digest = RowDigest(self.types)
        for job in jobs:
            for batch in self.read(job):
                digest.add(batch)
        return digest


@dataclass(frozen=True, slots=True)
class _Sink:
    """Writes the rows of a share, whichever it is; picklable."""

    plan: WritePlan
    file_io: FileIO
    types: Sequence[DataType]
    compacting: CompactPlan | None
    """None: writers do not compact."""
    options: WriterCompactionOptions
    user: str

    def __call__(self, _: object, batches: Iterator[pa.RecordBatch]) -> WrittenRows:
        rows = RowDigest(self.types)
        with self._writer() as writer:
            for batch in batches:
                rows.add(batch)
                writer.write(batch)
            return WrittenRows(writer.prepare_commit(), rows)

    def undo(self, _: object, written: WrittenRows | None) -> None:
        """Delete what was written."""
        if written is not None:
            delete_files(written.messages, self.plan, self.file_io)

    def _writer(self) -> TableWriter:
        if keeps_ids(self.plan):
            return IdKeepingWriter(self.plan, self.file_io)
        compactions = None
        if self.compacting is not None:
            compactions = BucketCompactions(
                self.compacting,
                self.options,
                self.file_io,
                lambda keys: {
                    key: bucket_of(self.plan, *key, total_buckets=self.plan.buckets) for key in keys
                },
            )
        return TableWriter(
            self.plan, self.file_io, router=self._router(), user=self.user, compactions=compactions
        )

    def _router(self) -> Router | None:
        plan = self.plan
        match plan.bucket_mode:
            case BucketMode.POSTPONE_MODE:
                return FixedRouter(plan.schema, -1, only_bucket=POSTPONE_BUCKET)
            case BucketMode.HASH_DYNAMIC:
                files = HashIndexFiles(self.file_io, plan)
                return DynamicRouter(plan.schema, plan.dynamic, files, lambda _: {})
            case BucketMode.KEY_DYNAMIC:
                return KeyRouter(
                    plan,
                    lambda: collected_in_memory(iter(()), plan.schema, table=plan.table_name),
                    snapshot_id=None,
                )
        return None


@dataclass(frozen=True, slots=True)
class _Copying(Generic[Job]):
    """Reads rows and writes them; picklable."""

    read: Callable[[Job], Iterator[pa.RecordBatch]]
    sink: _Sink

    def __call__(self, jobs: Sequence[Job]) -> WrittenRows:
        return self.sink(None, (batch for job in jobs for batch in self.read(job)))


@dataclass(frozen=True, slots=True)
class _Division:
    """Which share a row belongs to; picklable."""

    plan: WritePlan
    shares: int

    def __call__(self, rows: pa.RecordBatch) -> Divided:
        if self.shares == 1:
            yield 0, rows
            return
        shares = self._numbers(rows) % self.shares
        grouped = rows.take(arrow_array(np.argsort(shares, kind="stable")))
        ends = np.cumsum(np.bincount(shares, minlength=self.shares)).tolist()
        for share, start, end in zip(range(self.shares), [0, *ends], ends, strict=False):
            if end > start:
                yield share, grouped.slice(start, end - start)

    def _numbers(self, rows: pa.RecordBatch) -> npt.NDArray[np.int64]:
        """Return the same number for rows that have to be together."""
        schema, plan = self.plan.schema, self.plan
        numbers = np.zeros(rows.num_rows, np.int64)
        if schema.partition_keys:
            values = [rows.column(name) for name in schema.partition_keys]
            types = [schema.field(name).type for name in schema.partition_keys]
            numbers += hash_codes(values, types).view(np.uint32)
        if plan.bucket_mode is BucketMode.HASH_FIXED:
            keys = [schema.field(name) for name in schema.bucket_keys]
            numbers += bucket_ids(rows, keys, plan.buckets, schema.bucket_function)
        return numbers


@dataclass(frozen=True, slots=True)
class _Dividing(Generic[Job]):
    """Reads rows and says which share they belong to; picklable."""

    read: Callable[[Job], Iterator[pa.RecordBatch]]
    division: _Division

    def __call__(self, job: Job) -> Divided:
        for rows in self.read(job):
            yield from self.division(rows)


def _shares(plan: WritePlan, workers: Workers) -> int:
    if not workers.divides or plan.bucket_mode is BucketMode.KEY_DYNAMIC:
        return 1
    if plan.schema.partition_keys:
        return workers.tasks
    return min(workers.tasks, plan.buckets) if plan.bucket_mode is BucketMode.HASH_FIXED else 1
