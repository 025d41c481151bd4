"""Expiry of snapshots and changelogs, as the options of a table say."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from paimonlab.maintenance import changelog_expiry, snapshot_expiry
from paimonlab.maintenance.changelog_expiry import ChangelogExpiry
from paimonlab.maintenance.retention import ExpireOptions, with_given
from paimonlab.maintenance.snapshot_expiry import ChangelogKeeping, SnapshotExpiry
from paimonlab.progress import Progress

if TYPE_CHECKING:
    from paimonlab.table.parts import TableParts


def expire_snapshots(
    parts: TableParts,
    *,
    most: int | None = None,
    least: int | None = None,
    older_than_millis: int | None = None,
    limit: int | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> SnapshotExpiry:
    """Let snapshots go; see `Maintenance.expire_snapshots`."""
    options = parts.options.slice(ExpireOptions)
    retention = with_given(
        options.of_snapshots(_now_millis()),
        most=most,
        least=least,
        older_than_millis=older_than_millis,
        limit=limit,
    )
    keeping = ChangelogKeeping(options.keeps_changelogs, options.has_changelog_files)
    history = parts.history
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
    parts: TableParts,
    *,
    most: int | None = None,
    least: int | None = None,
    older_than_millis: int | None = None,
    limit: int | None = None,
    deletes_all: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> ChangelogExpiry:
    """Let changelogs go; see `Maintenance.expire_changelogs`."""
    options = parts.options.slice(ExpireOptions)
    retention = with_given(
        options.of_changelogs(_now_millis()),
        most=most,
        least=least,
        older_than_millis=older_than_millis,
        limit=limit,
    )
    history = parts.history
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


def expire_by_options(parts: TableParts) -> None:
    """Let snapshots and changelogs go, as the options of a table say; commits do it."""
    expire_snapshots(parts)
    if parts.options.slice(ExpireOptions).keeps_changelogs:
        expire_changelogs(parts)


def _now_millis() -> int:
    return time.time_ns() // 1_000_000
