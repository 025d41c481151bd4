"""Sequence numbers of buckets, followed from commit to commit instead of read anew."""

from __future__ import annotations

import pyarrow as pa

from paimonlab.metadata.manifests import ManifestStore
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.scan.sequences import restore_sequence_numbers, with_changes
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.memories.later_changes import changes_since


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
        later = changes_since(before, snapshot, self._snapshots, self._manifests)
        if later is None or later.has_overwrite:
            return None
        return with_changes(numbers, later.entries)
