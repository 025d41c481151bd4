"""Sequence numbers of buckets, followed from commit to commit instead of read anew."""

from __future__ import annotations

import pyarrow as pa

from paimonlab.errors import SnapshotNotFoundError
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.scan.live_files import delta_manifests_of, read_entries
from paimonlab.scan.sequences import restore_sequence_numbers, with_changes
from paimonlab.spec.snapshot import CommitKind, Snapshot

_MOST_CHANGES = 100
"""Snapshots that are read one by one; from more, all live files are read at once."""


class SequenceMemory:
    """Remembers the greatest sequence number of every bucket at the snapshot last asked for.

    A writer that writes often reads the changes since, not all files.
    """

    def __init__(self, snapshots: SnapshotManager, manifests: ManifestStore) -> None:
        self._snapshots = snapshots
        self._manifests = manifests
        self._known: tuple[Snapshot, pa.Table] | None = None

    def at(self, snapshot: Snapshot | None) -> pa.Table:
        """Return the numbers at a snapshot, as `restore_sequence_numbers` does.

        After compactions they may be greater than those of the files that are alive.
        """
        if snapshot is None:
            return restore_sequence_numbers(None, self._manifests)
        numbers = self._followed(snapshot)
        if numbers is None:
            numbers = restore_sequence_numbers(snapshot, self._manifests)
        self._known = (snapshot, numbers)
        return numbers

    def _followed(self, snapshot: Snapshot) -> pa.Table | None:
        """Go on from what is known; None: that is not possible."""
        if self._known is None:
            return None
        before, numbers = self._known
        if snapshot == before:
            return numbers
        if not 0 < snapshot.id - before.id <= _MOST_CHANGES:
            return None
        changes = self._changes(before, snapshot)
        return None if changes is None else with_changes(numbers, changes)

    def _changes(self, before: Snapshot, snapshot: Snapshot) -> list[pa.Table] | None:
        """Read what was added since; None: that is not all that happened."""
        changes: list[pa.Table] = []
        try:
            is_same = self._snapshots.get(before.id) == before  # else the table was rolled back
            following = range(before.id + 1, snapshot.id + 1) if is_same else ()
            for after in map(self._snapshots.get, following):
                is_same = is_same and after.commit_kind is not CommitKind.OVERWRITE
                metas = delta_manifests_of(after, self._manifests)
                changes += read_entries(after, metas, self._manifests)
        except SnapshotNotFoundError:  # expired meanwhile
            return None
        return changes if is_same else None
