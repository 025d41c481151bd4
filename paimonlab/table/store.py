"""Where a table lies, and what this process remembers of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from paimonlab import metadata
from paimonlab.commit.publisher import TablePublisher
from paimonlab.errors import (
    BranchNotFoundError,
    SnapshotExpiredError,
    SnapshotNotFoundError,
)
from paimonlab.metadata.branches import BranchManager
from paimonlab.metadata.changelogs import ChangelogManager
from paimonlab.metadata.consumers import ConsumerManager
from paimonlab.metadata.kept_history import KeptBranches, KeptHistory, KeptSnapshots
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.metadata.tags import TagManager
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.snapshot import Snapshot
from paimonlab.storage import FileIO
from paimonlab.storage.recent import Recent
from paimonlab.table import memories
from paimonlab.table.definition import TableDefinition

if TYPE_CHECKING:
    from paimonlab.commit.callbacks import CommitCallback, TagCallback
    from paimonlab.commit.committer import CommitOptions, Committer
    from paimonlab.commit.iceberg.catalogs import IcebergCatalog
    from paimonlab.metadata.load_history import LoadHistory
    from paimonlab.spec.options.table_options import Options
    from paimonlab.table.memories.bucket_files import BucketMemory
    from paimonlab.table.memories.planned_files import PlanCache
    from paimonlab.table.memories.scan_plans import ScanPlanCache
    from paimonlab.table.memories.sequence_numbers import SequenceMemory
    from paimonlab.table.memories.upkeep_turns import UpkeepTurns

_LOOKUP_PLAN_BYTES = 64 << 20
_SCAN_PLAN_BYTES = 4 << 20
"""Of plans of some thousand files: those of more take long to read, too."""


class TableStore(Struct, frozen=True, dict=True):
    """The files of a table, the managers of its metadata, and memories of recent reads and writes.

    It outlives definitions: another schema, or other options for one read, take the same store,
    so that nothing that is remembered is lost. What only some verbs take loads with them.
    """

    name: str
    """``database.table``, for messages."""
    file_io: FileIO
    layout: TableLayout
    publisher: TablePublisher
    callbacks: tuple[CommitCallback, ...] = ()
    """Called after every commit."""
    tag_callbacks: tuple[TagCallback, ...] = ()
    """Called when tags of the main branch come and go."""
    iceberg_catalog: Callable[[Options], IcebergCatalog] | None = None
    """Opens the catalog of Iceberg's that the options of the table name; None: none can be told."""
    lookup_folder: str = ""
    """Where lookup stores are kept; empty: where the system has temporary files."""

    @property
    def kept(self) -> KeptHistory | None:
        """What the catalog keeps of the table's history; None: files tell all."""
        return self.publisher if isinstance(self.publisher, KeptHistory) else None

    @cached_property
    def snapshots(self) -> SnapshotManager:
        """The snapshots of the table."""
        if self.kept is not None:
            return KeptSnapshots(self.kept, self.file_io, self.layout, table_name=self.name)
        return SnapshotManager(
            self.file_io, self.layout, table_name=self.name, schemas=self.schemas
        )

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
    def loads(self) -> LoadHistory:
        """Which files were loaded into the table."""
        return metadata.load_history.LoadHistory(self.file_io, self.layout)

    @cached_property
    def changelogs(self) -> ChangelogManager:
        """The copies of snapshots that outlive them."""
        return ChangelogManager(self.file_io, self.layout, table_name=self.name)

    @cached_property
    def branches(self) -> BranchManager:
        """The branches of the table."""
        if self.kept is not None:
            return KeptBranches(self.kept, self.file_io, self.layout, table_name=self.name)
        return BranchManager(self.file_io, self.layout, table_name=self.name)

    @cached_property
    def manifests(self) -> ManifestStore:
        """The manifests of the table."""
        return ManifestStore(self.file_io, self.layout)

    @cached_property
    def lookup_plans(self) -> PlanCache:
        """Plans of recent point reads."""
        return Recent(_LOOKUP_PLAN_BYTES)

    @cached_property
    def scan_plans(self) -> ScanPlanCache:
        """Plans of recent reads of whole snapshots."""
        return Recent(_SCAN_PLAN_BYTES)

    @cached_property
    def sequence_memory(self) -> SequenceMemory:
        """Where the sequence numbers of the buckets stand."""
        return memories.sequence_numbers.SequenceMemory(self.snapshots, self.manifests)

    @cached_property
    def bucket_memory(self) -> BucketMemory:
        """What is in the buckets that were recently written to."""
        return memories.bucket_files.BucketMemory(self.snapshots, self.manifests)

    @cached_property
    def committers(self) -> dict[CommitOptions, Committer]:
        """Recent committers, which remember what they have checked."""
        return {}

    @cached_property
    def upkeep_turns(self) -> UpkeepTurns:
        """When upkeep was last at work after a commit."""
        return memories.upkeep_turns.UpkeepTurns()

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

    def with_callbacks(self, callbacks: Sequence[CommitCallback]) -> TableStore:
        """Return this store, calling others besides its own after every commit."""
        return replace(self, callbacks=(*self.callbacks, *callbacks))

    def with_tag_callbacks(self, callbacks: Sequence[TagCallback]) -> TableStore:
        """Return this store, calling others besides its own when tags come and go."""
        return replace(self, tag_callbacks=(*self.tag_callbacks, *callbacks))

    def on_branch(self, branch: str) -> tuple[TableDefinition, TableStore]:
        """Open another branch of the table at its latest schema.

        Raises
        ------
        BranchNotFoundError
            If there is no such branch.
        """
        layout = self.branches.layout(branch)
        name = str(replace(Identifier.parse(self.name), branch=layout.branch))
        schema = SchemaManager(self.file_io, layout, table_name=name).latest()
        if schema is None:
            raise BranchNotFoundError(self.name, branch, self.branches.names())
        publisher = self.publisher.on_branch(layout)
        store = replace(self, name=name, layout=layout, publisher=publisher)
        return TableDefinition.of_schema(name, schema), store
