"""Changing rows of an append table: by deletion vector, or by rewriting files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from paimonlab.arrow_values import arrow_array
from paimonlab.compact.bucket_vectors import VectorPlace, VectorWriter
from paimonlab.datafile.index_files import IndexFileOptions
from paimonlab.formats.deletion_vectors import DeletionVector
from paimonlab.formats.manifests.entry_rows import table_to_entries
from paimonlab.read.deletions import read_deletion_vectors
from paimonlab.read.matches import FileMatch, divided_rows, find_matches
from paimonlab.read.read_plan import ReadPlan
from paimonlab.scan.live_files import index_files_of, live_entries
from paimonlab.spec.buckets.key import BucketKey
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.manifests.index_manifest import DELETION_VECTORS, IndexManifestEntry
from paimonlab.spec.options.table_options import OptionSlice, option_field
from paimonlab.spec.predicates.predicate import Predicate
from paimonlab.spec.schema.row_tracking import with_stored_tracking, with_tracking
from paimonlab.spec.snapshot import Snapshot
from paimonlab.spec.types.system_fields import SEQUENCE_NUMBER
from paimonlab.table.changing.statement import Changed, Statement
from paimonlab.table.definition import TableDefinition
from paimonlab.table.plans.write import write_plan
from paimonlab.table.reading.scan import Scan
from paimonlab.table.store import TableStore
from paimonlab.table.writing.writers import new_table_writer
from paimonlab.write.folders import delete_files
from paimonlab.write.writer import TableWriter


class ChangeOptions(OptionSlice):
    """The table options that say how rows of append tables are changed."""

    by_vector: bool = option_field("deletion-vectors.enabled", "boolean", default=False)
    """``deletion-vectors.enabled``: files stay, their rows are marked; else they are rewritten."""
    tracks_rows: bool = option_field("row-tracking.enabled", "boolean", default=False)
    """``row-tracking.enabled``"""


@dataclass(slots=True)
class _Bucket:
    """What changes in one bucket."""

    match: FileMatch
    """Any of its files."""
    deleted: list[DataFileMeta] = field(default_factory=list)
    vectors: dict[str, DeletionVector | None] = field(default_factory=dict)


def change_rows(
    definition: TableDefinition, store: TableStore, statement: Statement, snapshot: Snapshot
) -> Changed | None:
    """Write what a statement makes of the rows of a snapshot.

    Returns
    -------
    Changed or None
        None if the condition is true for no row.
    """
    change = AppendChange(definition, store, snapshot, statement.predicate)
    splits = change.scan.plan().splits
    total = sum(len(split.files) for split in splits)
    with new_table_writer(change.written_definition, store) as writer:
        matches = find_matches(splits, change.read_plan, store.file_io, statement.condition)
        for done, match in enumerate(matches, start=1):
            if match.matched.cardinality:
                change.take(match)
                write_again(change, match, statement, writer, store)
                statement.counted.rows += match.matched.cardinality
            statement.report(done, total, "files")
        if change.is_empty:
            return None
        written = writer.prepare_commit()
    return Changed(change.messages(written), are_of_rows_read=False)


def write_again(
    change: AppendChange,
    match: FileMatch,
    statement: Statement,
    writer: TableWriter,
    store: TableStore,
) -> None:
    """Write the rows of a file that stay, and those that are updated."""
    assignments = statement.assignments
    only_matched = match.is_whole or not change.replaces_file(match)
    if assignments is None and only_matched:
        return
    parts = divided_rows(match, change.read_plan, store.file_io, only_matched=only_matched)
    for rows, is_matched in parts:
        mask = arrow_array(is_matched)
        stays = rows.filter(pc.invert(mask))
        if stays.num_rows:
            writer.write(stays)
        hit = rows.filter(mask)
        if assignments is not None and hit.num_rows:
            writer.write(updated_rows(change.options, assignments.applied(hit)))


def updated_rows(options: ChangeOptions, rows: pa.RecordBatch) -> pa.RecordBatch:
    """Forget when rows were written last: that is the snapshot that comes now."""
    column_index = rows.schema.get_field_index(SEQUENCE_NUMBER)
    if not options.tracks_rows or column_index < 0:
        return rows
    return rows.set_column(column_index, SEQUENCE_NUMBER, pa.nulls(len(rows), pa.int64()))


class AppendChange:
    """What becomes of the files of an append table of which some rows go.

    Takes the rows that go file by file, and says in the end what to commit.
    """

    def __init__(
        self,
        definition: TableDefinition,
        store: TableStore,
        snapshot: Snapshot,
        predicate: Predicate | None,
    ) -> None:
        self._definition = definition
        self._store = store
        self._snapshot = snapshot
        self.options = definition.options.slice(ChangeOptions)
        # Rows that are written again keep their ids: the file has them.
        is_tracked = self.options.tracks_rows
        schema = with_tracking(definition.schema) if is_tracked else definition.schema
        self.scan = Scan(
            definition=definition,
            store=store,
            snapshot=snapshot,
            schema=schema,
            columns=schema.field_names,
            predicate=predicate,
            row_limit=None,
        )
        self.read_plan: ReadPlan = self.scan.read_plan()
        self._buckets: dict[BucketKey, _Bucket] = {}

    @property
    def is_empty(self) -> bool:
        """Whether no row goes."""
        return not self._buckets

    @property
    def written_definition(self) -> TableDefinition:
        """How rows are written again: with their ids, where they have some."""
        if not self.options.tracks_rows:
            return self._definition
        return replace(self._definition, schema=with_stored_tracking(self._definition.schema))

    def replaces_file(self, match: FileMatch) -> bool:
        """Whether the file itself goes, so that its other rows have to be written again."""
        return match.is_whole or not self.options.by_vector

    def take(self, match: FileMatch) -> None:
        """Let the rows of a file go that are matched."""
        split, file = match.split, match.file
        bucket = self._buckets.setdefault((split.partition, split.bucket), _Bucket(match))
        if self.replaces_file(match):
            bucket.deleted.append(file)
            if split.has_deletions:
                bucket.vectors[file.file_name] = None
            return
        (before,) = read_deletion_vectors(
            split.deletion_files or (None,),
            self.read_plan,
            self._store.file_io,
            snapshot_id=split.snapshot_id,
        )
        both = match.matched if before is None else before | match.matched
        bucket.vectors[file.file_name] = both

    def messages(self, written: Sequence[CommitMessage]) -> list[CommitMessage]:
        """Write deletion vectors; return what to commit.

        Parameters
        ----------
        written
            Messages of the rows that were written, to be deleted if this fails.
        """
        deletions: list[CommitMessage] = []
        try:
            deletions.extend(map(self._message, self._buckets.values()))
        except BaseException:
            delete_files(
                [*written, *deletions],
                write_plan(self._definition, self._store.layout),
                self._store.file_io,
            )
            raise
        return [*written, *deletions]

    def _message(self, bucket: _Bucket) -> CommitMessage:
        split = bucket.match.split
        new: tuple[IndexManifestEntry, ...] = ()
        replaced: tuple[IndexManifestEntry, ...] = ()
        if bucket.vectors:
            place = VectorPlace(
                partition=split.partition,
                bucket=split.bucket,
                folder=split.bucket_path,
                is_one_file=split.total_buckets > 0,
                snapshot_id=split.snapshot_id,
            )
            before = self._index_files.get((split.partition, split.bucket), ())
            new, replaced = self._vectors.change(place, before, bucket.vectors, self._alive)
        return CommitMessage(
            partition=split.partition,
            bucket=split.bucket,
            total_buckets=split.total_buckets,
            deleted_files=tuple(self._with_statistics(bucket.deleted)),
            new_indexes=new,
            deleted_indexes=replaced,
            checked_snapshot_id=self._snapshot.id,
        )

    @cached_property
    def _vectors(self) -> VectorWriter:
        options = self._definition.options.slice(IndexFileOptions)
        return VectorWriter(self.read_plan, options, self._store.file_io)

    @cached_property
    def _index_files(self) -> dict[BucketKey, list[IndexManifestEntry]]:
        """The files of deletion vectors of each bucket."""
        by_bucket: dict[BucketKey, list[IndexManifestEntry]] = {}
        for index in index_files_of(self._snapshot, self._store.manifests):
            if index.index_type == DELETION_VECTORS:
                by_bucket.setdefault((index.partition, index.bucket), []).append(index)
        return by_bucket

    @cached_property
    def _alive(self) -> set[str]:
        """Names of the files of the partitions, whether or not the condition rules them out."""
        partitions = arrow_array([partition for partition, _ in self._buckets], pa.large_binary())

        def keep(entries: pa.Table) -> pa.Table:
            return entries.filter(pc.is_in(entries["partition"], partitions))

        entries = live_entries(self._snapshot, self._store.manifests, keep=keep)
        return set(entries["file_name"].to_pylist())

    def _with_statistics(self, files: Sequence[DataFileMeta]) -> list[DataFileMeta]:
        """Describe files as their manifest does; a plan leaves statistics out."""
        if not files:
            return []
        names = arrow_array([file.file_name for file in files], pa.large_string())
        entries = self.scan.plan().files
        named_entries = entries.filter(pc.is_in(entries["file_name"], names))
        return [entry.file for entry in table_to_entries(named_entries)]
