"""Orphan files of a table, as users look for and delete them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from paimonlab.maintenance.deletion import Progress
from paimonlab.maintenance.orphans import (
    LEAST_AGE,
    OrphanFiles,
    OrphanSearch,
    clock_of,
    find_orphans,
    remove_orphans,
)
from paimonlab.maintenance.retention import ExpireOptions
from paimonlab.maintenance.stored_files import StoredOptions
from paimonlab.spec.external_paths import ExternalPathOptions

if TYPE_CHECKING:
    from paimonlab.table.parts import TableParts

_PAST = timedelta(seconds=1)


def remove_orphan_files(
    parts: TableParts,
    *,
    older_than: datetime | None,
    dry_run: bool,
    force: bool,
    progress: Progress | None,
) -> OrphanFiles:
    """Find orphan files, and delete them; see `Maintenance.remove_orphan_files`."""
    history = parts.history
    now = datetime.now(UTC) if dry_run else clock_of(parts.file_io, parts.layout)
    limit = older_than or now - LEAST_AGE
    if now - limit < _PAST:
        raise ValueError(
            f"older_than = {limit} is not past: files of commits that are under way would go"
        )
    if not (dry_run or force) and now - limit < LEAST_AGE - timedelta(minutes=1):
        raise ValueError(
            f"older_than = {limit} is less than a day ago: files of a write that is under way may "
            "go. Pass force=True if nobody writes to the table"
        )
    search = OrphanSearch(
        options=parts.options.slice(StoredOptions),
        external_folders=parts.options.slice(ExternalPathOptions).readable_folders,
        partition_depth=len(parts.schema.partition_keys),
    )
    found = find_orphans(history, search, older_than=limit, progress=progress)
    if dry_run:
        return found
    threads = parts.options.slice(ExpireOptions).threads
    return remove_orphans(found, history, threads=threads, progress=progress)
