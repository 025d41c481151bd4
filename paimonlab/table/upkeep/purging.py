"""Emptying a table at once: its rows, its past, and all their files.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.FileStoreTable.purgeFiles``.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from paimonlab.commit.scope import OverwriteScope
from paimonlab.maintenance.orphans import OrphanSearch, clock_of, find_orphans, remove_orphans
from paimonlab.maintenance.retention import ExpireOptions
from paimonlab.maintenance.stored_files import StoredFile, StoredOptions, stored_files
from paimonlab.progress import Progress
from paimonlab.spec.external_paths import ExternalPathOptions
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER
from paimonlab.table.committing.committers import plain_committer_of
from paimonlab.table.committing.users import new_user
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore
from paimonlab.table.upkeep.expiring import expire_changelogs, expire_snapshots
from paimonlab.table.upkeep.history import history_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Purge:
    """What goes when a table is emptied; its definition and one empty snapshot stay."""

    table: str
    branches: tuple[str, ...]
    tags: tuple[str, ...]
    consumers: tuple[str, ...]
    snapshots: tuple[int, ...]
    """Ids of the main branch."""
    changelogs: tuple[int, ...]
    file_count: int
    """Files of data and metadata; few of them stay."""
    size_bytes: int
    """Of these."""

    def __str__(self) -> str:
        """Tell it to a person."""
        return (
            f"{self.table}: all rows, {len(self.snapshots)} snapshots, {len(self.changelogs)} "
            f"changelogs, {len(self.tags)} tags, {len(self.branches)} branches, "
            f"{len(self.consumers)} consumers, {self.file_count:,} files, "
            f"{self.size_bytes:,} bytes"
        )


def purge(
    definition: TableDefinition, store: TableStore, *, dry_run: bool, progress: Progress | None
) -> Purge:
    """Empty a table; see `Maintenance.purge_files`."""
    files = _stored(definition, store)
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
    quiet = definition.with_options(_NO_CHANGELOGS)
    expire_snapshots(
        quiet,
        store,
        retain_max=1,
        retain_min=1,
        older_than_millis=time.time_ns() // 1_000_000,
        max_deletes=_ALL,
    )
    expire_changelogs(quiet, store, deletes_all=True)
    # Nobody writes meanwhile, so that what nothing names will never be named.
    limit = clock_of(store.file_io, store.layout) + timedelta(seconds=1)
    found = find_orphans(history_of(definition, store), _search(definition), older_than=limit)
    threads = definition.options.slice(ExpireOptions).threads
    remove_orphans(found, history_of(definition, store), threads=threads, progress=progress)
    return plan


_ALL = 2**31 - 1
_NO_CHANGELOGS = {
    "changelog.num-retained.min": "1",
    "changelog.num-retained.max": "1",
    "changelog.time-retained": "1 ms",
}


def _search(definition: TableDefinition) -> OrphanSearch:
    return OrphanSearch(
        options=definition.options.slice(StoredOptions),
        external_folders=definition.options.slice(ExternalPathOptions).readable_folders,
        partition_depth=len(definition.schema.partition_keys),
    )


def _stored(definition: TableDefinition, store: TableStore) -> Sequence[StoredFile]:
    layout, search = store.layout.on_branch(None), _search(definition)
    return list(
        stored_files(
            layout,
            [layout],
            store.file_io,
            search.options,
            external_folders=search.external_folders,
            partition_depth=search.partition_depth,
        )
    )
