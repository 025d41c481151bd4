"""Publishing one snapshot and finding out for certain what became of it.

The next id is never tried before this one is settled: otherwise a late write could make the
same rows visible twice. And to be in the folder is not to be in the table: a process may stand
still before it publishes, while others commit and let old snapshots expire, or go back to one;
then its id is free again, but below the oldest snapshot that anybody reads, or above the newest.

Why, and what was turned down: docs/adr/0004-a-snapshot-is-settled-after-it-is-published.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from paimonlab.commit.lineage import (
    Traces,
    descends_from,
    files_after,
    files_before,
    is_built_upon,
)
from paimonlab.commit.publisher import SnapshotPublisher
from paimonlab.errors import (
    CommitError,
    CommitOutcomeUnknownError,
    CommitRolledBackError,
    CorruptMetadataError,
    SchemaNotFoundError,
    SnapshotExpiredError,
    StorageError,
    TableNotFoundError,
)
from paimonlab.metadata.branches import BranchManager
from paimonlab.metadata.changelogs import ChangelogManager
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.metadata.tags import TagManager
from paimonlab.metadata.take_back import take_back
from paimonlab.spec.snapshot import Snapshot
from paimonlab.storage import FileIO

_ATTEMPTS = 5
_PAUSE_SECONDS = 0.05


class Fate(Enum):
    """What became of a snapshot."""

    LANDED = "landed"
    TAKEN = "taken"
    """Its id belongs to another; it was never there, and what was written for it may serve the
    next attempt."""
    LOST = "lost"
    """It can never become visible, but somebody may have seen it, or may yet: what was written
    for it must not be used again."""


class _Found(Enum):
    """What is under the id."""

    OURS = "ours"
    OTHER = "other"
    NOTHING = "nothing"


class _MovedOnError(Exception):
    """Others changed what was being read: read again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settler:
    """Publishes snapshots of a table, and settles what became of them."""

    table: str
    """Its name, for messages."""
    file_io: FileIO
    layout: TableLayout
    publisher: SnapshotPublisher
    snapshots: SnapshotManager
    manifests: ManifestStore
    schemas: SchemaManager
    sleep: Callable[[float], None] = time.sleep

    def settle(self, snapshot: Snapshot, base: Snapshot | None, traces: Traces) -> Fate:
        """Publish a snapshot.

        Parameters
        ----------
        snapshot
            Never published before.
        base
            What it was built upon; None: an empty table.
        traces
            What the commit leaves in snapshots that are built upon it.

        Raises
        ------
        CommitOutcomeUnknownError
            If the outcome is unknown: nothing may be deleted.
        CommitRolledBackError
            If others rolled back to a snapshot before it, and it is gone.
        CommitError
            If the disk refused the snapshot: it is not there and never was.
        TableNotFoundError
            If the table was dropped meanwhile.
        """
        owner, is_in_doubt = self._publish(snapshot, base, traces)
        if owner is _Found.OTHER:
            return Fate.LOST if is_in_doubt else Fate.TAKEN
        problem: Exception | None = None
        for attempt in range(_ATTEMPTS):
            try:
                return self._fate(snapshot, base, traces)
            except (_MovedOnError, SnapshotExpiredError, OSError, CorruptMetadataError) as error:
                problem = error
            self.sleep(_PAUSE_SECONDS * 2**attempt)
        raise unknown_outcome(snapshot, self.table, problem) from problem

    def _publish(
        self, snapshot: Snapshot, base: Snapshot | None, traces: Traces
    ) -> tuple[_Found, bool]:
        """Publish a snapshot; return who had the id then, and whether a request got no answer.

        Such a request may still be on its way: it may succeed once the id is free again.
        """
        problem: Exception | None = None
        for attempt in range(_ATTEMPTS):
            try:
                # The same bytes again, under the same id.
                if self.publisher.publish(snapshot):
                    return _Found.OURS, problem is not None
                if problem is None and self._found(snapshot) is not _Found.OURS:
                    return _Found.OTHER, False  # it may have expired since
            except Exception as error:  # noqa: BLE001 - whatever it was, it is looked up below
                problem = error
            try:
                owner = self._found(snapshot)
                if owner is not _Found.NOTHING:
                    if problem is not None:
                        self._sync(snapshot, owner)
                    return owner, problem is not None
                if not self._was_free(base):
                    break  # the id may have been used, and be gone again
                self._check_refused(problem, attempt)
            except (OSError, CorruptMetadataError) as error:
                problem = error
            self.sleep(_PAUSE_SECONDS * 2**attempt)
        if problem is None or self._has_descendants(snapshot, traces):
            return _Found.OURS, True
        raise unknown_outcome(snapshot, self.table, problem) from problem

    def _sync(self, snapshot: Snapshot, found: _Found) -> None:
        """Make our snapshot durable after an error, as that may be the step that failed."""
        if found is _Found.OURS:
            path = self.layout.snapshot(snapshot.id)
            self.file_io.sync_files({path: len(snapshot.to_json())})

    def _check_refused(self, problem: Exception | None, attempt: int) -> None:
        """Give up if the disk refused; after another error the request may still succeed."""
        if attempt == 0 and isinstance(problem, StorageError) and problem.is_refusal:
            raise CommitError(f"{self.table}: the commit did not happen: {problem}") from problem

    def _was_free(self, base: Snapshot | None) -> bool:
        """Whether the id after a snapshot, which holds nothing now, was never used."""
        return not self.snapshots.ids() if base is None else self._is_there(base)

    def _fate(self, snapshot: Snapshot, base: Snapshot | None, traces: Traces) -> Fate:
        """Settle a snapshot that was under its id at some time."""
        # What expires goes lowest first. So if the base is there the id was never used before,
        # unless the table went back to the base.
        if base is not None and self._is_there(base):
            return Fate.LANDED
        published = self._found(snapshot)
        if published is _Found.OURS:
            return self._fate_of_ours(snapshot, base, traces)
        if self._has_descendants(snapshot, traces):
            return Fate.LANDED
        if published is _Found.OTHER or self._went_back(base):
            raise CommitRolledBackError(self.table, snapshot.id)
        raise unknown_outcome(snapshot, self.table, None)

    def _fate_of_ours(self, snapshot: Snapshot, base: Snapshot | None, traces: Traces) -> Fate:
        """Settle a snapshot that is under its id, and whose base is not."""
        self._check_table(snapshot)
        child = self._get(snapshot.id + 1)
        above = [snapshot_id for snapshot_id in self.snapshots.ids() if snapshot_id > snapshot.id]
        if child is None and snapshot.id + 1 in above:
            raise _MovedOnError(f"others published snapshot {snapshot.id + 1}")
        if child is not None:
            if self._is_parent(snapshot, traces, child):
                return Fate.LANDED
            return self._lost(snapshot, traces)
        if above:
            # The next one has expired, and ours would have before it.
            self._check_ours(snapshot)
            return self._lost(snapshot, traces)
        if self._went_back(base):
            if self._lost(snapshot, traces) is Fate.LANDED:
                return Fate.LANDED
            raise CommitRolledBackError(self.table, snapshot.id)
        self._check_ours(snapshot)
        return Fate.LANDED  # all before it has expired

    def _is_parent(self, snapshot: Snapshot, traces: Traces, child: Snapshot) -> bool:
        is_parent = is_built_upon(child, traces, self.manifests)
        if is_parent is not None:
            return is_parent
        # Nothing came with it that has a name, so what is alive after it is all there is of it.
        before = files_before(child, self.manifests)
        try:
            return before == files_after(snapshot, self.manifests)
        except CorruptMetadataError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return False  # others who let what came before it expire did not know of it
            raise

    def _lost(self, snapshot: Snapshot, traces: Traces) -> Fate:
        """Remove a snapshot that nobody can see, unless others already did."""
        if self._is_kept(snapshot):
            return Fate.LANDED
        path = self.layout.snapshot(snapshot.id)
        if not take_back(self.file_io, path, lambda data: data == snapshot.to_json()):
            raise _MovedOnError(f"others deleted snapshot {snapshot.id}")
        child = self._get(snapshot.id + 1)
        if child is not None and is_built_upon(child, traces, self.manifests):
            self.publisher.publish(snapshot)
            raise _MovedOnError(f"others built upon snapshot {snapshot.id}")
        return Fate.LOST

    def _check_table(self, snapshot: Snapshot) -> None:
        """Check that the table was not dropped, as publishing creates folders again."""
        schemas = SchemaManager(self.file_io, self.layout, table_name=self.table)
        try:
            is_same = schemas.get(snapshot.schema_id) == self.schemas.get(snapshot.schema_id)
        except SchemaNotFoundError:
            is_same = False
        if is_same:
            return
        path = self.layout.snapshot(snapshot.id)
        take_back(self.file_io, path, lambda data: data == snapshot.to_json())
        if schemas.ids():
            raise CommitRolledBackError(self.table, snapshot.id)
        self.file_io.delete_empty_directory(self.layout.snapshot_folder)
        raise TableNotFoundError(self.table)

    def _check_ours(self, snapshot: Snapshot) -> None:
        hint = self.snapshots.hinted_id() or 0
        if self._found(snapshot) is not _Found.OURS or self.snapshots.has(snapshot.id + 1):
            raise _MovedOnError(f"others changed what follows snapshot {snapshot.id - 1}")
        if hint > snapshot.id and not self.snapshots.ids()[-1] > snapshot.id:
            raise _MovedOnError(f"snapshot {hint} was not listed")

    def _went_back(self, base: Snapshot | None) -> bool:
        """Whether a rollback deleted the base: expiry would have deleted lower ones first."""
        if base is None:
            return False
        if self.snapshots.has(base.id):
            return not self._is_there(base)
        below = [snapshot_id for snapshot_id in self.snapshots.live_ids() if snapshot_id < base.id]
        return bool(below) and self.snapshots.has(below[-1])

    def _has_descendants(self, snapshot: Snapshot, traces: Traces) -> bool:
        """Whether something that is kept descends from a snapshot."""
        if self._is_kept(snapshot):
            return True
        later = (one for one in self._all_kept() if one.id > snapshot.id)
        return any(descends_from(snapshot_id, traces, self.manifests) for snapshot_id in later)

    def _is_kept(self, snapshot: Snapshot) -> bool:
        """Whether a tag, a branch or a long-lived changelog has a snapshot."""
        changelogs = ChangelogManager(self.file_io, self.layout).list()
        kept = (*changelogs, *self._named())
        return any(one.delta_manifest_list == snapshot.delta_manifest_list for one in kept)

    def _all_kept(self) -> Iterator[Snapshot]:
        """Return the snapshots that show which files are alive; later ones show no more."""
        yield from self.snapshots.oldest_live()
        yield from self._named()

    def _named(self) -> Iterator[Snapshot]:
        """Return the snapshots that tags and other branches have."""
        names = BranchManager(self.file_io, self.layout).names()
        yield from _tagged(self.file_io, self.layout)
        for layout in (self.layout.on_branch(one) for one in (None, *names)):
            if layout != self.layout:
                yield from SnapshotManager(self.file_io, layout).list()
                yield from _tagged(self.file_io, layout)

    def _is_there(self, snapshot: Snapshot) -> bool:
        return self._get(snapshot.id) == snapshot

    def _found(self, snapshot: Snapshot) -> _Found:
        published = self._get(snapshot.id)
        if published is None:
            return _Found.NOTHING
        # The name of the list holds a random number that only this commit knows.
        is_ours = published.delta_manifest_list == snapshot.delta_manifest_list
        return _Found.OURS if is_ours else _Found.OTHER

    def _get(self, snapshot_id: int) -> Snapshot | None:
        return self.snapshots.find(snapshot_id)


def _tagged(file_io: FileIO, layout: TableLayout) -> Iterable[Snapshot]:
    return [tag for _, tag in TagManager(file_io, layout).list()]


def unknown_outcome(
    snapshot: Snapshot, table: str, error: BaseException | None
) -> CommitOutcomeUnknownError:
    """Return the error that says that a snapshot may have been published."""
    if isinstance(error, CommitOutcomeUnknownError):
        return error
    return CommitOutcomeUnknownError(
        table,
        snapshot.commit_user,
        snapshot.commit_identifier,
        snapshot.id,
        f"{type(error).__name__}: {error}" if error else "it is no longer there",
    )
