"""What a commit is checked against, read from the snapshot that it would follow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array
from paimonlab.commit.checked import Checked
from paimonlab.commit.conflicts import Base
from paimonlab.commit.read_set import Landed
from paimonlab.errors import FilesConflictError, SnapshotNotFoundError
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.scan.entries import concat, fold, identities
from paimonlab.scan.live_files import (
    delta_manifests_of,
    index_files_of,
    live_entries,
    read_entries,
)
from paimonlab.spec.manifests.index_manifest import IndexManifestEntry
from paimonlab.spec.manifests.manifest import NO_ENTRIES, FileKind, is_kind
from paimonlab.spec.snapshot import CommitKind, Snapshot

_MOST_CHANGES = 100
"""Snapshots that are read one by one; from more, all live files are read at once."""

_IndexChange = tuple[str, Sequence[IndexManifestEntry], Sequence[IndexManifestEntry]]


@dataclass(frozen=True, slots=True)
class BaseFiles:
    """Reads what is there before a commit."""

    table: str
    """Name of the table, for messages."""
    snapshots: SnapshotManager
    manifests: ManifestStore
    checked: Checked
    """What earlier commits have found out."""

    def of(
        self, latest: Snapshot | None, partitions: pa.ChunkedArray, checked_id: int | None
    ) -> Base:
        """Return the files of partitions that a commit is checked against.

        Parameters
        ----------
        latest
            What the commit follows; None: the table is empty.
        partitions
            The partitions that the commit touches, as serialised BinaryRows.
        checked_id
            The snapshot up to which there is no conflict, 0 if the table was empty; None if
            unknown.
        """
        latest_id = latest.id if latest else 0
        if latest is None or latest_id == checked_id:
            nothing = NO_ENTRIES
            return Base(self.table, latest_id, nothing, is_complete=latest is None)
        ours = pc.unique(partitions)

        def keep(entries: pa.Table) -> pa.Table:
            return entries.filter(pc.is_in(entries["partition"], ours))

        if checked_id is not None and 0 < latest_id - checked_id <= _MOST_CHANGES:
            try:
                changes = [keep(table) for table in self._changes(checked_id, latest)]
            except SnapshotNotFoundError:  # expired meanwhile
                pass
            else:
                return Base(self.table, latest_id, _outcome(changes), is_complete=False)
        return Base(self.table, latest_id, live_entries(latest, self.manifests, keep=keep))

    def landed_since(
        self,
        base_id: int,
        latest: Snapshot | None,
        *,
        matters: Callable[[Snapshot], bool] = lambda _: True,
    ) -> Iterator[Landed]:
        """Read what was committed after a snapshot, oldest first.

        Parameters
        ----------
        base_id
            0: before the first snapshot.
        latest
            What the commit follows.
        matters
            Which snapshots to read; the others are skipped.

        Raises
        ------
        FilesConflictError
            If that is no longer known, because snapshots have expired.
        """
        latest_id = latest.id if latest else 0
        if latest_id == base_id:
            return
        try:
            before = self.snapshots.get(base_id) if base_id else None
            for number in range(base_id + 1, latest_id + 1):
                after = self._get(number, latest)
                if matters(after):
                    yield self._landed(before, after)
                before = after
        except SnapshotNotFoundError as error:
            problem = f"it was made of snapshot {base_id}; what came then has expired"
            raise FilesConflictError(self.table, latest_id, (), problem) from error

    def _landed(self, before: Snapshot | None, after: Snapshot) -> Landed:
        metas = delta_manifests_of(after, self.manifests)
        return Landed(
            after.id,
            after.commit_user,
            after.commit_kind,
            concat(read_entries(after, metas, self.manifests)),
            self._index_partitions(before, after),
        )

    def _index_partitions(self, before: Snapshot | None, after: Snapshot) -> frozenset[bytes]:
        """Return the partitions whose index files differ."""
        if after.index_manifest == (before.index_manifest if before else None):
            return frozenset()
        old, new = ({(f.partition, f.file_name) for f in self.indexes(s)} for s in (before, after))
        return frozenset(partition for partition, _ in old ^ new)

    def indexes(self, snapshot: Snapshot | None) -> list[IndexManifestEntry]:
        """Return all index files of a snapshot."""
        return [] if snapshot is None else index_files_of(snapshot, self.manifests)

    def index_history(self, base_id: int, latest: Snapshot | None) -> Iterator[_IndexChange]:
        """Return the commits after a snapshot that changed indexes.

        Yields
        ------
        user, before, after
            Who committed, and all index files before and after it.

        Raises
        ------
        SnapshotNotFoundError
            If one of the snapshots has expired.
        """
        latest_id = latest.id if latest else 0
        before = self.snapshots.get(base_id) if base_id else None
        for snapshot_id in range(base_id + 1, latest_id + 1):
            after = self._get(snapshot_id, latest)
            if after.index_manifest != (before.index_manifest if before else None):
                yield after.commit_user, self.indexes(before), self.indexes(after)
            before = after

    def others_since(self, base_id: int, latest: Snapshot | None, user: str) -> list[int]:
        """Return the snapshots after one in which others than a user wrote rows.

        Raises
        ------
        SnapshotNotFoundError
            If one of the snapshots has expired.
        """
        latest_id = latest.id if latest else 0
        snapshots = (self._get(one, latest) for one in range(base_id + 1, latest_id + 1))
        wrote = (CommitKind.APPEND, CommitKind.OVERWRITE)
        return [
            snapshot.id
            for snapshot in snapshots
            if snapshot.commit_user != user and snapshot.commit_kind in wrote
        ]

    def _changes(self, checked_id: int, latest: Snapshot) -> Iterator[pa.Table]:
        for snapshot_id in range(checked_id + 1, latest.id + 1):
            snapshot = self._get(snapshot_id, latest)
            yield from read_entries(
                snapshot, delta_manifests_of(snapshot, self.manifests), self.manifests
            )

    def _get(self, snapshot_id: int, latest: Snapshot | None) -> Snapshot:
        if latest is not None and snapshot_id == latest.id:
            return latest
        return self.snapshots.get(snapshot_id)


def _outcome(changes: Sequence[pa.Table]) -> pa.Table:
    """Return the additions of files that are alive after changes, and the deletions of all others.

    Files that came and went between are named as well: a commit that was made of a snapshot
    between may delete them, which `fold` alone would not show.
    """
    folded = fold(changes)
    alive = folded.filter(is_kind(folded, FileKind.ADD))
    entries = concat(changes)
    deleted = entries.filter(is_kind(entries, FileKind.DELETE))
    identity = identities(concat([alive, deleted]))
    is_gone = ~np.isin(identity[alive.num_rows :], identity[: alive.num_rows])
    return concat([alive, deleted.filter(arrow_array(is_gone))])
