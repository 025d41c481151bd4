"""The files of buckets that are written to, followed from commit to commit."""

from __future__ import annotations

from collections.abc import Callable, Collection

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.scan.entries import live
from paimonlab.scan.live_files import live_entries
from paimonlab.spec.buckets.key import BucketKey
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.memories.later_changes import changes_since

_MOST_BUCKETS = 1000
_MOST_FILES = 20_000
"""What is remembered; of more than this nothing is."""


class BucketMemory:
    """Remembers the files of some buckets at the snapshot last asked for.

    A writer that writes often to the same buckets reads the changes since, not all files.
    """

    def __init__(self, snapshots: SnapshotManager, manifests: ManifestStore) -> None:
        self._snapshots = snapshots
        self._manifests = manifests
        self._known: tuple[Snapshot, frozenset[BucketKey], pa.Table] | None = None

    def at(self, snapshot: Snapshot, keys: Collection[BucketKey]) -> pa.Table:
        """Return the entries of the live files of buckets (`ENTRY_SCHEMA`), others among them."""
        wanted = frozenset(keys)
        followed = self._followed(snapshot, wanted)
        if followed is None:
            # Rows that come now to this bucket, now to that one soon make all of them known.
            both = wanted | self._known[1] if self._known is not None else wanted
            wanted = both if len(both) <= _MOST_BUCKETS else wanted
            followed = live_entries(snapshot, self._manifests, keep=of_buckets(wanted))
        else:
            assert self._known is not None, "what was followed is known"
            wanted = self._known[1]
        is_small = len(wanted) <= _MOST_BUCKETS and followed.num_rows <= _MOST_FILES
        self._known = (snapshot, wanted, followed) if is_small else None
        return followed

    def _followed(self, snapshot: Snapshot, keys: frozenset[BucketKey]) -> pa.Table | None:
        """Go on from what is known; None: that is not possible."""
        if self._known is None or not keys <= self._known[1]:
            return None
        before, known, entries = self._known
        if snapshot == before:
            return entries
        later = changes_since(
            before, snapshot, self._snapshots, self._manifests, keep=of_buckets(known)
        )
        if later is None:
            return None
        return live([entries, *later.entries], referrer=f"snapshot-{snapshot.id}")


def of_buckets(keys: Collection[BucketKey]) -> Callable[[pa.Table], pa.Table]:
    """Return what keeps the entries of some buckets, and perhaps of a few others."""
    partitions = arrow_array({partition for partition, _ in keys}, pa.large_binary())
    numbers = arrow_array({bucket for _, bucket in keys}, pa.int32())

    def keep(entries: pa.Table) -> pa.Table:
        entries = entries.filter(pc.is_in(entries["bucket"], numbers))
        return entries.filter(pc.is_in(entries["partition"], partitions))

    return keep
