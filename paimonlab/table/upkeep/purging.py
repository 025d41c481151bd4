"""Emptying a table at once: its rows, its past, and all their files.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.FileStoreTable.purgeFiles``.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from paimonlab import clock
from paimonlab.commit.scope import OverwriteScope
from paimonlab.maintenance.changelog_expiry import ChangelogExpiryRequest, expire_changelogs
from paimonlab.maintenance.orphans import clock_of, find_orphans, remove_orphans
from paimonlab.maintenance.retention import RetentionRequest
from paimonlab.maintenance.snapshot_expiry import SnapshotExpiryRequest, expire_snapshots
from paimonlab.maintenance.stored_files import stored_files
from paimonlab.progress import Progress
from paimonlab.spec.plurals import many
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER
from paimonlab.table.committing.committers import plain_committer_of
from paimonlab.table.committing.users import new_user
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore
from paimonlab.table.upkeep.history import history_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Purge:
    """What is deleted when a table is emptied: all but its definition and one empty snapshot."""

    table: str
    branches: tuple[str, ...]
    tags: tuple[str, ...]
    consumers: tuple[str, ...]
    snapshots: tuple[int, ...]
    """Ids of the main branch."""
    changelogs: tuple[int, ...]
    file_count: int
    """Files of data and metadata; few of them are kept."""
    size_bytes: int
    """Of these."""

    def __str__(self) -> str:
        """Describe it in words."""
        return (
            f"{self.table}: all rows, {many(len(self.snapshots), 'snapshot')}, "
            f"{many(len(self.changelogs), 'changelog')}, {many(len(self.tags), 'tag')}, "
            f"{many(len(self.branches), 'branch', 'branches')}, "
            f"{many(len(self.consumers), 'consumer')}, {many(self.file_count, 'file')}, "
            f"{many(self.size_bytes, 'byte')}"
        )


def purge(
    definition: TableDefinition, store: TableStore, *, dry_run: bool, progress: Progress | None
) -> Purge:
    """Empty a table; see `Maintenance.purge_files`."""
    history = history_of(definition, store)
    files = list(stored_files(history, [store.layout.on_branch(None)]))
    plan = Purge(
        table=definition.name,
        branches=tuple(store.branches.names()),
        tags=tuple(name for name, _ in store.tags.list()),
        consumers=tuple(store.consumers.list()),
        snapshots=tuple(store.snapshots.ids()),
        changelogs=tuple(store.changelogs.ids()),
        file_count=len(files),
        size_bytes=sum(file.status.size_bytes for file in files),
    )
    if dry_run:
        return plan
    for name in plan.branches:
        store.branches.delete(name)
    for name in plan.tags:
        store.tags.delete(name)
    for name in plan.consumers:
        store.consumers.delete(name)
    if plan.snapshots:
        plain_committer_of(definition.options, store).overwrite(
            [],
            scope=OverwriteScope.whole_table(),
            user=new_user(definition.options),
            identifier=BATCH_COMMIT_IDENTIFIER,
            is_new_user=True,
        )
    quiet = history_of(definition.with_options(_NO_CHANGELOGS), store)
    expire_snapshots(quiet, SnapshotExpiryRequest(retention=_latest_alone()))
    expire_changelogs(quiet, ChangelogExpiryRequest(delete_all=True))
    # Nobody writes meanwhile, so that nothing will ever refer to what nothing refers to now.
    older_than = clock_of(store.file_io, store.layout) + timedelta(seconds=1)
    remove_orphans(find_orphans(history, older_than=older_than), history, progress=progress)
    return plan


def _latest_alone() -> RetentionRequest:
    return RetentionRequest(
        retain_max=1,
        retain_min=1,
        older_than_millis=clock.now_millis(),
        max_deletes=2**31 - 1,
    )


_NO_CHANGELOGS = {
    "changelog.num-retained.min": "1",
    "changelog.num-retained.max": "1",
    "changelog.time-retained": "1 ms",
}
