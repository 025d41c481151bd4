"""Emptying a table at once: its rows, its past, and all their files.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.FileStoreTable.purgeFiles``.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from paimonlab.commit.scope import OverwriteScope
from paimonlab.maintenance.orphans import OrphanSearch, clock_of, find_orphans, remove_orphans
from paimonlab.maintenance.retention import ExpireOptions
from paimonlab.maintenance.stored_files import StoredFile, StoredOptions, stored_files
from paimonlab.progress import Progress
from paimonlab.spec.external_paths import ExternalPathOptions
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER
from paimonlab.table.commit_user import new_user
from paimonlab.table.expiring import expire_changelogs, expire_snapshots

if TYPE_CHECKING:
    from paimonlab.table.parts import TableParts


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


def purge(parts: TableParts, *, dry_run: bool, progress: Progress | None) -> Purge:
    """Empty a table; see `Maintenance.purge_files`."""
    files = _stored(parts)
    plan = Purge(
        table=parts.name,
        branches=tuple(parts.branches.names()),
        tags=tuple(name for name, _ in parts.tags.list()),
        consumers=tuple(parts.consumers.list()),
        snapshots=tuple(parts.snapshots.ids()),
        changelogs=tuple(parts.changelogs.ids()),
        file_count=len(files),
        size_bytes=sum(file.status.size_bytes for file in files),
    )
    if dry_run:
        return plan
    for name in plan.branches:
        parts.branches.delete(name)
    for name in plan.tags:
        parts.tags.delete(name)
    for name in plan.consumers:
        parts.consumers.delete(name)
    if plan.snapshots:
        parts.plain_committer.overwrite(
            [],
            scope=OverwriteScope.whole_table(),
            user=new_user(parts),
            identifier=BATCH_COMMIT_IDENTIFIER,
            is_new_user=True,
        )
    quiet = replace(parts, options=parts.options.with_options(_NO_CHANGELOGS))
    expire_snapshots(
        quiet, most=1, least=1, older_than_millis=time.time_ns() // 1_000_000, limit=_ALL
    )
    expire_changelogs(quiet, deletes_all=True)
    # Nobody writes meanwhile, so that what nothing names will never be named.
    limit = clock_of(parts.file_io, parts.layout) + timedelta(seconds=1)
    found = find_orphans(parts.history, _search(parts), older_than=limit)
    threads = parts.options.slice(ExpireOptions).threads
    remove_orphans(found, parts.history, threads=threads, progress=progress)
    return plan


_ALL = 2**31 - 1
_NO_CHANGELOGS = {
    "changelog.num-retained.min": "1",
    "changelog.num-retained.max": "1",
    "changelog.time-retained": "1 ms",
}


def _search(parts: TableParts) -> OrphanSearch:
    return OrphanSearch(
        options=parts.options.slice(StoredOptions),
        external_folders=parts.options.slice(ExternalPathOptions).readable_folders,
        partition_depth=len(parts.schema.partition_keys),
    )


def _stored(parts: TableParts) -> Sequence[StoredFile]:
    layout, search = parts.layout.on_branch(None), _search(parts)
    return list(
        stored_files(
            layout,
            [layout],
            parts.file_io,
            search.options,
            external_folders=search.external_folders,
            partition_depth=search.partition_depth,
        )
    )
