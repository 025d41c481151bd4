"""What commits changed since a snapshot that is remembered, for memories that follow a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from paimonlab.errors import SnapshotNotFoundError
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.scan.live_files import delta_manifests_of, read_entries
from paimonlab.spec.snapshot import CommitKind, Snapshot

_MOST_SNAPSHOTS = 100
"""Snapshots that are read one by one; from more, all live files are read at once."""


@dataclass(frozen=True, slots=True)
class LaterChanges:
    """The files that snapshots after one added and deleted."""

    entries: list[pa.Table]
    """In the order of the commits (`ENTRY_SCHEMA`)."""
    has_overwrite: bool
    """Whether one of them replaced rows."""


def changes_since(
    before: Snapshot,
    snapshot: Snapshot,
    snapshots: SnapshotManager,
    manifests: ManifestStore,
    *,
    keep: Callable[[pa.Table], pa.Table] = lambda entries: entries,
) -> LaterChanges | None:
    """Read what the snapshots after one changed, up to another and with it.

    Parameters
    ----------
    before
        As it was when it was remembered.
    snapshot
        The one wanted now.
    snapshots, manifests
        The table's snapshots and manifests.
    keep
        Is called with the entries of each manifest; returns those that matter.

    Returns
    -------
    LaterChanges
        None if the table cannot be followed from ``before``: it was rolled back, snapshots have
        expired meanwhile, or there are so many that reading all live files is cheaper.
    """
    if not 0 <= snapshot.id - before.id <= _MOST_SNAPSHOTS:
        return None
    entries: list[pa.Table] = []
    has_overwrite = False
    try:
        for after in snapshots.between(before, snapshot):
            has_overwrite |= after.commit_kind is CommitKind.OVERWRITE
            metas = delta_manifests_of(after, manifests)
            entries += map(keep, read_entries(after, metas, manifests))
    except SnapshotNotFoundError:  # expired meanwhile, or the table was rolled back
        return None
    return LaterChanges(entries, has_overwrite)
