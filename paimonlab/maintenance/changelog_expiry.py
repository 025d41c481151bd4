"""Expiry of long-lived changelogs, and deleting the files that only they needed.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.ExpireChangelogImpl``.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from functools import partial

from paimonlab import clock
from paimonlab.maintenance.candidates import left_by_changelogs
from paimonlab.maintenance.deletion import delete_empty_folders, delete_unneeded
from paimonlab.maintenance.held_back import held_by, next_read
from paimonlab.maintenance.needed import needed
from paimonlab.maintenance.retention import (
    Bound,
    ExpireOptions,
    Retention,
    RetentionRequest,
    changelog_bound,
)
from paimonlab.maintenance.roots import Root, changelogs_of, others_of, tags_between, tags_of
from paimonlab.maintenance.table_history import TableHistory
from paimonlab.maintenance.unneeded import Candidates, UnneededFiles
from paimonlab.metadata.hints import write_hint
from paimonlab.metadata.take_back import take_back
from paimonlab.progress import Progress
from paimonlab.spec.snapshot import Snapshot

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangelogExpiryRequest:
    """Which changelogs are to expire; by default as the options of the table say."""

    retention: RetentionRequest = field(default_factory=RetentionRequest)
    delete_all: bool = False
    """Whether nothing is retained, whatever ``retention`` says."""
    dry_run: bool = False
    progress: Progress | None = None
    """Called with how many files are deleted."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ChangelogExpiry:
    """What is deleted when changelogs expire."""

    table: str
    changelogs: tuple[int, ...] = ()
    """Ids, lowest first."""
    first_kept: int | None = None
    """The oldest changelog that is kept; None: none is."""
    reason: str = "there are none"
    """Why that one is kept."""
    files: UnneededFiles = field(default_factory=UnneededFiles)
    """Files that nothing needs any more."""
    gone: tuple[Snapshot, ...] = field(default=(), repr=False, compare=False)
    """The changelogs that the ids mean: after a rollback by others the ids are used again."""

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """Describe it in words."""
        if not self.changelogs:
            return f"{self.table}: no changelog expires, as {self.reason}"
        first, last = self.changelogs[0], self.changelogs[-1]
        expired = f"{len(self.changelogs)} changelogs expire, {first} to {last}"
        if first == last:
            expired = f"changelog {first} expires"
        return (
            f"{self.table}: {expired}; first kept: {self.first_kept}, as {self.reason}\n"
            f"  {self.files}"
        )


def expire_changelogs(history: TableHistory, request: ChangelogExpiryRequest) -> ChangelogExpiry:
    """Let changelogs expire, or only plan it; see `Maintenance.expire_changelogs`."""
    options = history.options.slice(ExpireOptions)
    retention = request.retention.over(options.of_changelogs(clock.now_millis()))
    plan = plan_changelog_expiry(history, None if request.delete_all else retention)
    return plan if request.dry_run else expire(plan, history, progress=request.progress)


def plan_changelog_expiry(history: TableHistory, retention: Retention | None) -> ChangelogExpiry:
    """Find out which changelogs expire, and which files can be deleted with them; delete nothing.

    Parameters
    ----------
    history
        The history of the branch.
    retention
        What is kept; None: nothing.

    Raises
    ------
    CorruptMetadataError
        If it is unclear which files are needed: then nothing may be deleted.
    """
    ids, latest = history.changelogs.ids(), history.snapshots.latest_id()
    if not ids or latest is None:
        return ChangelogExpiry(table=history.name)
    if retention is None:
        bound = Bound(ids[-1] + 1, "all are deleted")
    else:
        bound = changelog_bound(
            ids,
            latest,
            retention,
            time_of=lambda changelog_id: history.changelogs.get(changelog_id).time_millis,
            next_read=next_read(history.consumers),
        )
    gone = tuple(changelog_id for changelog_id in ids if changelog_id < bound.first_kept)
    kept = next((changelog_id for changelog_id in ids if changelog_id >= bound.first_kept), None)
    plan = ChangelogExpiry(
        table=history.name, changelogs=gone, first_kept=kept, reason=bound.reason
    )
    if not gone:
        return plan
    read = tuple(changelog for changelog in history.changelogs.list() if changelog.id in gone)
    if len(read) < len(gone):
        return ChangelogExpiry(table=history.name, reason="others let changelogs expire meanwhile")
    plan = replace(plan, gone=read)
    candidates = left_by_changelogs(read, history.reader)
    names = candidates.data_names
    roots = partial(_roots, plan, history)
    candidates.drop(needed(roots, history.reader, history.file_io, data_names=names))
    return replace(plan, files=candidates.files())


def expire(
    plan: ChangelogExpiry, history: TableHistory, *, progress: Progress | None = None
) -> ChangelogExpiry:
    """Let changelogs expire as planned.

    Returns
    -------
    ChangelogExpiry
        What was deleted: nothing if a new consumer has to read what would be deleted, unless all
        are deleted.
    """
    if not plan.changelogs:
        return plan
    reader = None if plan.first_kept is None else held_by(history.consumers, plan.first_kept)
    if reader is not None:
        return ChangelogExpiry(
            table=plan.table,
            first_kept=plan.changelogs[0],
            reason=f"consumer {reader!r} was created or reset meanwhile",
        )
    io, layout = history.file_io, history.layout
    if plan.first_kept is None:
        io.delete(layout.latest_changelog_hint)
        io.delete(layout.earliest_changelog_hint)
    else:
        write_hint(io, layout.earliest_changelog_hint, plan.first_kept)
    for changelog in plan.gone:
        take_back(io, layout.changelog(changelog.id), partial(_is, changelog))
    # What was created meanwhile counts, so that all is read once the changelogs are deleted.
    left = Candidates()
    left.by_path.update({file.path: file for file in plan.files})
    roots = partial(_roots, plan, history)
    left.drop(needed(roots, history.reader, io, data_names=left.data_names))
    files = left.files()
    options = history.options.slice(ExpireOptions)
    delete_unneeded(files.files, io, table=history.name, threads=options.threads, progress=progress)
    history.reader.manifests.forget(files.paths)
    if options.cleans_directories:
        roots_of_data = (layout.table_path, *layout.external_roots)
        delete_empty_folders(files, io, roots=roots_of_data)
    logger.info("%s: %d changelogs expired, %s", history.name, len(plan.changelogs), files)
    return replace(plan, files=files)


def _is(changelog: Snapshot, data: bytes) -> bool:
    return Snapshot.from_json(data, path=f"changelog-{changelog.id}") == changelog


def _roots(plan: ChangelogExpiry, history: TableHistory) -> list[Root]:
    """Return all that may need files of the expired changelogs.

    Of newer changelogs the oldest is enough: files that it does not share, none of them does.
    """
    layout, io = history.layout, history.file_io
    tags = tags_of(layout, io)
    roots = tags_between(tags, plan.changelogs[0], plan.changelogs[-1] + 1) + others_of(history)
    roots += [root for root in changelogs_of(layout, io) if root.snapshot not in plan.gone][:1]
    ids = history.snapshots.ids()
    for oldest in [history.snapshots.get(snapshot_id) for snapshot_id in ids[:1]]:
        roots.append(Root(layout.snapshot(oldest.id), oldest, "metadata"))
    return roots
