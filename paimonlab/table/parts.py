"""The parts of one table, wired together once; what only some verbs take loads with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from paimonlab.commit.publisher import RenamelessPublisher, SnapshotPublisher
from paimonlab.errors import (
    BranchNotFoundError,
    SnapshotExpiredError,
    SnapshotNotFoundError,
    UnsupportedError,
)
from paimonlab.metadata.branches import BranchManager
from paimonlab.metadata.changelogs import ChangelogManager
from paimonlab.metadata.consumers import ConsumerManager
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.metadata.tags import TagManager
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.merge_engine import MergeEngine
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.snapshot import Snapshot
from paimonlab.storage import FileIO
from paimonlab.storage.recent import Recent

if TYPE_CHECKING:
    from paimonlab.commit.callbacks import CommitCallback
    from paimonlab.commit.committer import Committer
    from paimonlab.compact.compaction import CompactPlan
    from paimonlab.maintenance.table_history import TableHistory
    from paimonlab.read.read_plan import ReadPlan
    from paimonlab.spec.predicates.predicate import Predicate
    from paimonlab.table.bucket_memory import BucketMemory
    from paimonlab.table.planned_files import PlanCache
    from paimonlab.table.sequence_memory import SequenceMemory
    from paimonlab.write.write_plan import WritePlan

_LOOKUP_PLAN_BYTES = 64 << 20


@dataclass(frozen=True)
class TableParts:
    """What the verbs of a table work with."""

    name: str
    """``database.table``, for messages."""
    schema: TableSchema
    options: Options
    """Of the schema, with those of the read or write at hand on top."""
    file_io: FileIO
    layout: TableLayout
    publisher: SnapshotPublisher
    callbacks: tuple[CommitCallback, ...] = ()
    """Called after every commit."""

    @cached_property
    def snapshots(self) -> SnapshotManager:
        """The snapshots of the table."""
        return SnapshotManager(self.file_io, self.layout, table_name=self.name)

    @cached_property
    def schemas(self) -> SchemaManager:
        """The schemas of the table."""
        return SchemaManager(self.file_io, self.layout, table_name=self.name)

    @cached_property
    def tags(self) -> TagManager:
        """The tags of the table."""
        return TagManager(self.file_io, self.layout, table_name=self.name)

    @cached_property
    def consumers(self) -> ConsumerManager:
        """The consumers of the table."""
        return ConsumerManager(self.file_io, self.layout, table_name=self.name)

    @cached_property
    def changelogs(self) -> ChangelogManager:
        """The copies of snapshots that outlive them."""
        return ChangelogManager(self.file_io, self.layout, table_name=self.name)

    def snapshot_or_changelog(self, snapshot_id: int) -> Snapshot:
        """Return a snapshot; of one that has expired the long-lived changelog.

        Raises
        ------
        SnapshotNotFoundError
            If there is none of that id; `SnapshotExpiredError` if it is gone.
        """
        try:
            return self.snapshots.get(snapshot_id)
        except SnapshotExpiredError as error:
            try:
                return self.changelogs.get(snapshot_id)
            except SnapshotNotFoundError:
                raise error from None

    @property
    def history(self) -> TableHistory:
        """What maintenance works on."""
        from paimonlab.maintenance.references import ReferenceReader
        from paimonlab.maintenance.table_history import TableHistory
        from paimonlab.scan.options import ScanOptions

        fields = [self.schema.field(name) for name in self.schema.partition_keys]
        reader = ReferenceReader(
            layout=self.layout,
            manifests=self.manifests,
            options=self.options.slice(ScanOptions),
            partition_fields=fields,
        )
        return TableHistory(
            name=self.name,
            layout=self.layout,
            file_io=self.file_io,
            snapshots=self.snapshots,
            tags=self.tags,
            changelogs=self.changelogs,
            consumers=self.consumers,
            reader=reader,
        )

    @cached_property
    def branches(self) -> BranchManager:
        """The branches of the table."""
        return BranchManager(self.file_io, self.layout, table_name=self.name)

    def on_branch(self, branch: str) -> TableParts:
        """Return the parts of the table on another branch, opened at its latest schema.

        Raises
        ------
        BranchNotFoundError
            If there is no such branch.
        """
        layout = self.branches.layout(branch)
        name = replace(Identifier.parse(self.name), branch=layout.branch)
        schema = SchemaManager(self.file_io, layout, table_name=str(name)).latest()
        if schema is None:
            raise BranchNotFoundError(self.name, branch, self.branches.names())
        if not isinstance(self.publisher, RenamelessPublisher):
            raise UnsupportedError("a branch", f"of {self.name}: its catalog publishes snapshots")
        return replace(
            self,
            name=str(name),
            schema=schema,
            options=Options(schema.options),
            layout=layout,
            publisher=replace(self.publisher, layout=layout),
        )

    @cached_property
    def manifests(self) -> ManifestStore:
        """The manifests of the table."""
        return ManifestStore(self.file_io, self.layout)

    @cached_property
    def lookup_plans(self) -> PlanCache:
        """Plans of the point reads of late."""
        return Recent(_LOOKUP_PLAN_BYTES)

    @cached_property
    def sequence_memory(self) -> SequenceMemory:
        """Where the sequence numbers of the buckets stand."""
        from paimonlab.table.sequence_memory import SequenceMemory

        return SequenceMemory(self.snapshots, self.manifests)

    @cached_property
    def bucket_memory(self) -> BucketMemory:
        """What is in the buckets that were written to of late."""
        from paimonlab.table.bucket_memory import BucketMemory

        return BucketMemory(self.snapshots, self.manifests)

    @cached_property
    def committer(self) -> Committer:
        """The committer of this table."""
        from paimonlab.table.after_commit import after_commit

        return self.plain_committer.with_callbacks(after_commit(self))

    @cached_property
    def plain_committer(self) -> Committer:
        """A committer for upkeep itself: after its commits nothing is looked after."""
        from paimonlab.commit.committer import CommitOptions, Committer

        return Committer(
            self.name,
            self.file_io,
            self.layout,
            snapshots=self.snapshots,
            manifests=self.manifests,
            schemas=self.schemas,
            publisher=self.publisher,
            options=self.options.slice(CommitOptions),
            callbacks=self.callbacks,
        )

    def read_plan(
        self,
        schema: TableSchema,
        columns: Sequence[str],
        predicate: Predicate | None,
        *,
        snapshot: Snapshot | None,
    ) -> ReadPlan:
        """Gather what reading splits of a snapshot takes."""
        from paimonlab.read.read_plan import ReadOptions, ReadPlan

        newest = max(schema.id, -1 if snapshot is None else snapshot.schema_id)
        schemas = {found.id: found for found in self.schemas.list() if found.id <= newest}
        return ReadPlan(
            table_path=self.layout.table_path,
            table_name=self.name,
            schema=schema,
            schemas=schemas,
            columns=tuple(columns),
            predicate=predicate,
            options=self.options.slice(ReadOptions),
            external_roots=self.layout.external_roots,
            engine=MergeEngine.of(schema.fields, schema.primary_keys, self.options),
        )

    def write_plan(self) -> WritePlan:
        """Gather what writing takes.

        Raises
        ------
        UnsupportedError
            If files of the table's format cannot hold a column.
        """
        from paimonlab.formats.data_output import DataFormats
        from paimonlab.formats.file_index.options import FileIndexOptions
        from paimonlab.spec.external_paths import ExternalPathOptions
        from paimonlab.spec.partitions.folders import PartitionOptions
        from paimonlab.spec.statistics.mode import StatsOptions
        from paimonlab.write.key_hashes import DynamicBucketOptions
        from paimonlab.write.write_plan import WriteOptions, WritePlan

        formats = DataFormats.of(self.options)
        formats.check(self.schema.fields)
        return WritePlan(
            table_path=self.layout.table_path,
            table_name=self.name,
            schema=self.schema,
            options=self.options.slice(WriteOptions),
            partition=self.options.slice(PartitionOptions),
            formats=formats,
            stats=StatsOptions.of(self.schema.fields, self.options),
            file_index=FileIndexOptions.of(self.schema.fields, self.options),
            dynamic=self.options.slice(DynamicBucketOptions),
            external=self.options.slice(ExternalPathOptions).write_folders,
            engine=MergeEngine.of(self.schema.fields, self.schema.primary_keys, self.options),
        )

    def compact_plan(self, snapshot: Snapshot | None) -> CompactPlan:
        """Gather what compacting the files of a snapshot takes."""
        from paimonlab.compact.changelog import ChangelogOptions
        from paimonlab.compact.compaction import CompactPlan
        from paimonlab.compact.record_expiry import RecordExpiryOptions
        from paimonlab.compact.strategy import StrategyOptions
        from paimonlab.compact.tasks import TaskOptions
        from paimonlab.datafile.index_files import IndexFileOptions

        return CompactPlan(
            read=self.read_plan(self.schema, (), None, snapshot=snapshot),
            strategy=StrategyOptions.of(self.options),
            tasks=self.options.slice(TaskOptions),
            expiry=self.options.slice(RecordExpiryOptions),
            index_files=self.options.slice(IndexFileOptions),
            changelog=self.options.slice(ChangelogOptions),
        )
