"""Giving rows that wait in ``bucket-postpone`` their buckets: `table.compact()` for such tables.

The rows are read in the order in which they were written, go through a writer as if they were
written now, and are compacted with what is in their buckets. What came out and the removal of
the files that waited is one snapshot of kind COMPACT. If others took files that waited, what
was written is deleted and it begins anew.

Source: apache/paimon@1.3.1 ``org.apache.paimon.flink.action.CompactAction`` and
``org.apache.paimon.flink.postpone``.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.datafile.layout import KIND_FIELD
from paimonlab.errors import SchemaError
from paimonlab.formats.manifests.entry_rows import table_to_entries
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.progress import Progress
from paimonlab.read.merging import open_data_file
from paimonlab.read.read_plan import ReadPlan
from paimonlab.scan.live_files import live_entries
from paimonlab.scan.split import DataSplit
from paimonlab.spec.buckets.key import BucketKey
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.options.table_options import OptionSlice, option_field
from paimonlab.spec.partitions.folders import POSTPONE_BUCKET
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER, Snapshot
from paimonlab.storage import FileIO
from paimonlab.table.committing.failures import files_deleted_on_failure
from paimonlab.table.committing.rounds import until_undisturbed
from paimonlab.table.committing.users import new_user
from paimonlab.table.compacting.bucket_shares import Division, ShareWriter, contents_of
from paimonlab.table.compacting.keyed import Keep
from paimonlab.table.compacting.request import CompactRequest
from paimonlab.table.compacting.result import BucketCompaction, CompactResult, FileTotals
from paimonlab.table.definition import TableDefinition
from paimonlab.table.plans.read import read_plan
from paimonlab.table.plans.write import write_plan
from paimonlab.table.store import TableStore
from paimonlab.table.texts import names_of_partitions
from paimonlab.table.upkeep.after_commit import committer_of
from paimonlab.workers import Divided, Workers
from paimonlab.write.folders import bucket_folder, delete_files
from paimonlab.write.message_kinds import as_compactions
from paimonlab.write.postponed import order_of_writing
from paimonlab.write.write_plan import WritePlan, WriterCompactionOptions

logger = logging.getLogger(__name__)

_REASON = "rows waited for a bucket"


class PostponeOptions(OptionSlice):
    """The table options for giving rows buckets."""

    default_buckets: int = option_field("postpone.default-bucket-num", "int", 1)
    """``postpone.default-bucket-num``: buckets of a partition that has none yet."""
    changelog_producer: str = option_field("changelog-producer", "enum", "none")
    """``changelog-producer``: with ``full-compaction`` every bucket is compacted in full."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A partition with files that wait."""

    partition: bytes
    files: tuple[DataFileMeta, ...]
    """In the order in which they were written."""
    buckets: int
    """How many the partition has, or gets."""


@dataclass(frozen=True, slots=True)
class _Postponed:
    """The files of a table: those that wait for buckets, and those in buckets."""

    waiting: tuple[_Waiting, ...]
    in_buckets: Mapping[BucketKey, Sequence[DataFileMeta]]
    """Files that no longer wait, or never did."""


def compact_postponed(
    definition: TableDefinition, store: TableStore, request: CompactRequest, keep: Keep
) -> CompactResult:
    """Give rows that wait their buckets; again while others interfere.

    Parameters
    ----------
    definition, store
        Of a table with ``bucket`` = -2, at its latest schema.
    request
        What is asked for; ``full`` is about the buckets that rows come to.
    keep
        Which entries are of partitions that are looked at.

    Raises
    ------
    FilesConflictError
        If others took files that waited again and again.
    SchemaError
        If ``postpone.default-bucket-num`` is no number of buckets.
    """
    started = time.monotonic()

    def attempt() -> CompactResult:
        snapshot = store.snapshots.latest()
        postponed = (
            _Postponed((), {})
            if snapshot is None
            else _find(definition, store.manifests, snapshot, keep)
        )
        if request.dry_run or snapshot is None or not postponed.waiting:
            return _result(definition, postponed, (), None, is_dry_run=request.dry_run)
        messages = _written(definition, store, snapshot, postponed, request)
        with files_deleted_on_failure(definition, store, messages):
            landed = committer_of(definition, store).append(
                messages,
                user=new_user(definition.options),
                identifier=BATCH_COMMIT_IDENTIFIER,
                is_new_user=True,
                checked_id=snapshot.id,
            )
        return _result(definition, postponed, messages, landed)

    result = until_undisturbed(definition.name, attempt, what="giving rows buckets")
    if result.snapshot is not None:
        logger.info("%s in %d ms", result, 1000 * (time.monotonic() - started))
    return result


def _find(
    definition: TableDefinition, manifests: ManifestStore, snapshot: Snapshot, keep: Keep
) -> _Postponed:
    default = definition.options.slice(PostponeOptions).default_buckets
    if default < 1:
        raise SchemaError(
            f"{definition.name}: 'postpone.default-bucket-num' has to be at least 1, is {default}"
        )
    waiting: defaultdict[bytes, list[DataFileMeta]] = defaultdict(list)
    in_buckets: defaultdict[BucketKey, list[DataFileMeta]] = defaultdict(list)
    counts: dict[bytes, int] = {}
    for entry in table_to_entries(live_entries(snapshot, manifests, keep=keep)):
        if entry.bucket == POSTPONE_BUCKET:
            waiting[entry.partition].append(entry.file)
        else:
            in_buckets[entry.partition, entry.bucket].append(entry.file)
            counts[entry.partition] = entry.total_buckets
    return _Postponed(
        tuple(
            _Waiting(
                partition,
                tuple(sorted(files, key=order_of_writing)),
                counts.get(partition, default),
            )
            for partition, files in sorted(waiting.items())
        ),
        in_buckets,
    )


def _written(
    definition: TableDefinition,
    store: TableStore,
    snapshot: Snapshot,
    postponed: _Postponed,
    request: CompactRequest,
) -> list[CommitMessage]:
    """Write and compact all rows that wait; returns what one commit takes."""
    groups: defaultdict[int, list[_Waiting]] = defaultdict(list)
    for partition in postponed.waiting:
        groups[partition.buckets].append(partition)
    progress = _Files(
        sum(len(partition.files) for partition in postponed.waiting), request.progress
    )
    messages: list[CommitMessage] = []
    try:
        for buckets, waiting in sorted(groups.items()):
            target = _with_buckets(definition, buckets, is_full=request.full)
            messages += _rewritten(target, store, snapshot, waiting, progress, request.workers)
    except BaseException:
        delete_files(messages, write_plan(definition, store.layout), store.file_io)
        raise
    gone = (
        CommitMessage(
            partition=partition.partition,
            bucket=POSTPONE_BUCKET,
            total_buckets=POSTPONE_BUCKET,
            compact_before=partition.files,
        )
        for partition in postponed.waiting
    )
    return [*messages, *gone]


@dataclass(slots=True)
class _Files:
    """Counts the files that were read."""

    total: int
    progress: Progress | None
    done: int = 0

    def add(self) -> None:
        """Count one."""
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, self.total, "files")


def _with_buckets(definition: TableDefinition, buckets: int, *, is_full: bool) -> TableDefinition:
    """Return the table as one whose rows have buckets, and that compacts."""
    options = {"bucket": str(buckets), "write-only": "false"}
    reports = definition.options.slice(PostponeOptions).changelog_producer == "full-compaction"
    # The last commit of a writer is one that compacts in full, and this is its only one.
    is_last = definition.options.slice(WriterCompactionOptions).full_every is not None
    if is_full or reports or is_last:
        options["full-compaction.delta-commits"] = "1"
    return definition.with_options(options)


def _rewritten(
    target: TableDefinition,
    store: TableStore,
    snapshot: Snapshot,
    waiting: Sequence[_Waiting],
    progress: _Files,
    workers: Workers,
) -> list[CommitMessage]:
    """Write the rows of partitions that have the same number of buckets."""
    plan = write_plan(target, store.layout)
    read = read_plan(
        target, store, target.schema, target.schema.field_names, None, snapshot=snapshot
    )
    kinds = None if plan.options.kind_field else KIND_FIELD.name
    partitions = [partition.partition for partition in waiting]
    division = Division.of(plan, partitions, workers)
    writer = ShareWriter.of(target, store, snapshot, as_compactions, kinds=kinds)
    contents = contents_of(target, store, snapshot, partitions, replaces=False)
    reading = _Reading(division, read, store.file_io, has_kinds=kinds is not None)
    made = workers.exchange(
        reading,
        [
            (split, file)
            for partition in waiting
            for split in [_split(plan, partition, snapshot)]
            for file in partition.files
        ],
        writer,
        division.contents(contents),
        what=f"giving rows of {target.name} buckets",
        undo=writer.undo,
        done=lambda _: progress.add(),
    )
    return [message for messages in made for message in messages or ()]


def _split(plan: WritePlan, waiting: _Waiting, snapshot: Snapshot) -> DataSplit:
    return DataSplit(
        snapshot_id=snapshot.id,
        partition=waiting.partition,
        bucket=POSTPONE_BUCKET,
        total_buckets=POSTPONE_BUCKET,
        bucket_path=bucket_folder(plan, waiting.partition, POSTPONE_BUCKET),
        files=(),
        raw_convertible=False,
    )


@dataclass(frozen=True, slots=True)
class _Reading:
    """Reads files of rows that wait; picklable."""

    division: Division
    plan: ReadPlan
    file_io: FileIO
    has_kinds: bool
    """Whether rows come with their kinds, as no column of the table is that."""

    def __call__(self, job: tuple[DataSplit, DataFileMeta]) -> Divided:
        """Read the rows of a file as they came."""
        split, file = job
        wanted = [*self.plan.fields, KIND_FIELD] if self.has_kinds else self.plan.fields
        with open_data_file(split, file, self.plan, self.file_io) as opened:
            for rows in opened.batches(wanted, batch_rows=self.plan.bounds.batch_rows):
                yield from self.division.rows(rows, split.partition)


def _result(
    definition: TableDefinition,
    postponed: _Postponed,
    messages: Sequence[CommitMessage],
    snapshot: Snapshot | None,
    *,
    is_dry_run: bool = False,
) -> CompactResult:
    partitions = [partition.partition for partition in postponed.waiting]
    rows = arrow_array(partitions, pa.large_binary())
    texts = names_of_partitions(rows, definition.schema)
    text_of = dict(zip(partitions, texts, strict=True))
    nothing = FileTotals(0, 0, 0)
    left = [
        BucketCompaction(
            partition=text_of[partition.partition],
            bucket=POSTPONE_BUCKET,
            reason=_REASON,
            output_level=None,
            picked=FileTotals.of(partition.files),
            before=FileTotals.of(partition.files),
            after=None if is_dry_run else nothing,
        )
        for partition in postponed.waiting
    ]
    reached = [
        _summary(message, postponed, text_of[message.partition])
        for message in messages
        if message.bucket != POSTPONE_BUCKET
    ]
    return CompactResult(
        table=definition.name,
        snapshot=snapshot,
        is_dry_run=is_dry_run,
        buckets=tuple(
            sorted(
                [*left, *reached], key=lambda bucket: (texts.index(bucket.partition), bucket.bucket)
            )
        ),
    )


def _summary(message: CommitMessage, postponed: _Postponed, partition: str) -> BucketCompaction:
    before = postponed.in_buckets.get((message.partition, message.bucket), ())
    gone = {file.file_name for file in message.compact_before}
    rest = [file for file in before if file.file_name not in gone]
    return BucketCompaction(
        partition=partition,
        bucket=message.bucket,
        reason=_REASON,
        output_level=max((file.level for file in message.compact_after), default=None),
        picked=FileTotals.of(message.compact_before),
        before=FileTotals.of(before),
        after=FileTotals.of([*rest, *message.compact_after]),
    )
