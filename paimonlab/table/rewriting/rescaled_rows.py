"""Writing the rows of partitions into another number of buckets, in one commit.

Where readers or followers learn of rows only when they are compacted, the new files are compacted
before they are committed, to the highest level: what compactions told last stands there, so that
the next one finds nothing new.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from paimonlab.commit.read_set import ReadSet
from paimonlab.commit.scope import OverwriteScope
from paimonlab.compact.bucket_files import BucketFiles
from paimonlab.progress import Progress
from paimonlab.read.read_plan import ReadPlan
from paimonlab.read.splits import read_split
from paimonlab.scan.split import DataSplit
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER, Snapshot
from paimonlab.storage import FileIO
from paimonlab.table.committing.failures import files_deleted_on_failure
from paimonlab.table.committing.users import new_user
from paimonlab.table.compacting.bucket_shares import Division, ShareWriter, contents_of
from paimonlab.table.definition import TableDefinition
from paimonlab.table.reading.scan import Scan
from paimonlab.table.store import TableStore
from paimonlab.table.upkeep.after_commit import committer_of
from paimonlab.workers import Divided, Workers
from paimonlab.write.folders import delete_files
from paimonlab.write.message_kinds import as_new_files

_OF_NEW_ROWS = frozenset(
    {
        *("changelog-producer", "rowkind.field", "record-level.expire-time"),
        "record-level.time-field",
    }
)
"""Options that do something to rows which come: these have been there."""


def rescaled_definition(
    definition: TableDefinition, schema: TableSchema, buckets: int, *, compacts: bool
) -> TableDefinition:
    """Return the definition that rows are written by which were there before.

    Parameters
    ----------
    definition
        The table's definition.
    schema
        The latest; what it says of buckets does not matter.
    buckets
        How many a partition gets.
    compacts
        Whether each bucket is compacted in full before it is committed.
    """
    options = {
        key: definition.options[key] for key in definition.options if key not in _OF_NEW_ROWS
    }
    options["bucket"] = str(buckets)
    if compacts:
        options |= {"write-only": "false", "full-compaction.delta-commits": "1"}
    return replace(definition, schema=schema, options=Options(options))


def move_rows(
    definition: TableDefinition,
    store: TableStore,
    target: TableDefinition,
    snapshot: Snapshot,
    found: Sequence[Sequence[BucketFiles]],
    progress: Progress | None,
    workers: Workers,
) -> tuple[Snapshot, list[list[DataFileMeta]]]:
    """Write the rows of partitions into their new buckets, and commit that.

    Parameters
    ----------
    definition, store
        Of the table as it is read.
    target
        Its definition as `rescaled_definition` returned it.
    snapshot
        That is read.
    found
        The buckets of each partition.
    progress
        Is called with the number of partitions written.
    workers
        What reads and writes.

    Returns
    -------
    Snapshot
        What it became.
    list of list of DataFileMeta
        The new files of each partition.

    Raises
    ------
    FilesConflictError
        If others changed rows of the partitions. What was written is deleted.
    """
    scan = Scan(
        definition=definition,
        store=store,
        snapshot=snapshot,
        schema=target.schema,
        columns=target.schema.field_names,
        predicate=None,
        row_limit=None,
    )
    splits: dict[bytes, list[DataSplit]] = {}
    for split in scan.plan().splits:
        splits.setdefault(split.partition, []).append(split)
    read = scan.read_plan()
    writer = ShareWriter.of(target, store, snapshot, as_new_files)
    messages: list[CommitMessage] = []
    # Of threads each writes one partition after the other.
    together = list(found) if workers.divides else []
    done = 0
    try:
        for part in [together] if together else [[buckets] for buckets in found]:
            partitions = [buckets[0].partition for buckets in part]
            division = Division.of(writer.plan, partitions, workers)
            contents = contents_of(target, store, snapshot, partitions, replaces=True)
            made = workers.exchange(
                _Reading(division, read, store.file_io),
                [
                    split
                    for partition in partitions
                    for split in sorted(splits.get(partition, ()), key=_oldest_first)
                ],
                writer,
                division.contents(contents),
                what=f"rescaling {definition.name}",
                undo=writer.undo,
            )
            messages += [message for ours in made for message in ours or ()]
            done += len(part)
            if progress is not None:
                progress(done, len(found), "partitions")
    except BaseException:
        delete_files(messages, writer.plan, store.file_io)
        raise
    after: dict[bytes, list[DataFileMeta]] = {buckets[0].partition: [] for buckets in found}
    for message in messages:
        after[message.partition] += message.new_files
    with files_deleted_on_failure(target, store, messages):
        landed = committer_of(target, store).overwrite(
            messages,
            scope=OverwriteScope.exactly(buckets[0].partition for buckets in found),
            user=new_user(definition.options),
            identifier=BATCH_COMMIT_IDENTIFIER,
            is_new_user=True,
            reads=ReadSet(snapshot_id=snapshot.id, its_partitions=True),
        )
    return landed, [after[buckets[0].partition] for buckets in found]


@dataclass(frozen=True, slots=True)
class _Reading:
    """Reads the rows of splits; those of a bucket come in their order; picklable."""

    division: Division
    plan: ReadPlan
    file_io: FileIO

    def __call__(self, split: DataSplit) -> Divided:
        """Read the rows of a split."""
        for rows in read_split(split, self.plan, self.file_io):
            yield from self.division.rows(rows, split.partition)


def _oldest_first(split: DataSplit) -> tuple[int, int]:
    return split.bucket, min(file.min_sequence_number for file in split.files)
