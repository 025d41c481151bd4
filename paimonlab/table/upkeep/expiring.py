"""Expiry of snapshots and changelogs, as the options of a table say."""

from __future__ import annotations

import time

from paimonlab.maintenance import changelog_expiry, snapshot_expiry
from paimonlab.maintenance.changelog_expiry import ChangelogExpiry
from paimonlab.maintenance.retention import ExpireOptions, with_given
from paimonlab.maintenance.snapshot_expiry import ChangelogKeeping, SnapshotExpiry
from paimonlab.progress import Progress
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore
from paimonlab.table.upkeep.history import history_of


def expire_snapshots(
    definition: TableDefinition,
    store: TableStore,
    *,
    retain_max: int | None = None,
    retain_min: int | None = None,
    older_than_millis: int | None = None,
    max_deletes: int | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> SnapshotExpiry:
    """Let snapshots go; see `Maintenance.expire_snapshots`."""
    options = definition.options.slice(ExpireOptions)
    retention = with_given(
        options.of_snapshots(_now_millis()),
        retain_max=retain_max,
        retain_min=retain_min,
        older_than_millis=older_than_millis,
        max_deletes=max_deletes,
    )
    keeping = ChangelogKeeping(options.keeps_changelogs, options.has_changelog_files)
    history = history_of(definition, store)
    plan = snapshot_expiry.plan_expiry(history, retention, keeping)
    if dry_run:
        return plan
    return snapshot_expiry.expire(
        plan,
        history,
        cleans_directories=options.cleans_directories,
        threads=options.threads,
        progress=progress,
    )


def expire_changelogs(
    definition: TableDefinition,
    store: TableStore,
    *,
    retain_max: int | None = None,
    retain_min: int | None = None,
    older_than_millis: int | None = None,
    max_deletes: int | None = None,
    deletes_all: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> ChangelogExpiry:
    """Let changelogs go; see `Maintenance.expire_changelogs`."""
    options = definition.options.slice(ExpireOptions)
    retention = with_given(
        options.of_changelogs(_now_millis()),
        retain_max=retain_max,
        retain_min=retain_min,
        older_than_millis=older_than_millis,
        max_deletes=max_deletes,
    )
    history = history_of(definition, store)
    plan = changelog_expiry.plan_changelog_expiry(history, None if deletes_all else retention)
    if dry_run:
        return plan
    return changelog_expiry.expire_changelogs(
        plan,
        history,
        cleans_directories=options.cleans_directories,
        threads=options.threads,
        progress=progress,
    )


def expire_by_options(definition: TableDefinition, store: TableStore) -> None:
    """Let snapshots and changelogs go, as the options of a table say; commits do it."""
    expire_snapshots(definition, store)
    if definition.options.slice(ExpireOptions).keeps_changelogs:
        expire_changelogs(definition, store)


def _now_millis() -> int:
    return time.time_ns() // 1_000_000
