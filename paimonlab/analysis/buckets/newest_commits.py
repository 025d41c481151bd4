"""Read what the newest commits of a table changed."""

from __future__ import annotations

from collections.abc import Iterator

from paimonlab.analysis.buckets.bucket_lives import Commit
from paimonlab.errors import SnapshotExpiredError
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.scan.entries import fold
from paimonlab.scan.live_files import delta_manifests_of, in_real_buckets, read_entries
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.compacting.keyed import Keep
from paimonlab.table.store import TableStore

_READ_AT_ONCE = 16
"""Snapshots that a store is asked for together."""


def newest_commits(
    store: TableStore,
    snapshot: Snapshot,
    count: int,
    keep: Keep = lambda entries: entries,
) -> list[Commit]:
    """Read what the newest commits changed in real buckets.

    Parameters
    ----------
    store
        The table's store.
    snapshot
        The newest one.
    count
        How many, at least 1.
    keep
        Which entries are looked at; decides by partition or bucket alone.

    Returns
    -------
    list of Commit
        Oldest first, without gaps: they begin after the newest snapshot that has expired.
    """
    commits: list[Commit] = []
    for candidate in _newest_first(store.snapshots, snapshot, count):
        try:
            commits.append(_commit(store.manifests, candidate, keep))
        except SnapshotExpiredError:
            break
    return commits[::-1]


def _newest_first(snapshots: SnapshotManager, snapshot: Snapshot, count: int) -> Iterator[Snapshot]:
    yield snapshot
    ids = range(snapshot.id - 1, max(snapshot.id - count, 0), -1)
    for start in range(0, len(ids), _READ_AT_ONCE):
        wanted = ids[start : start + _READ_AT_ONCE]
        read = snapshots.those(wanted)
        for wanted_id, found in zip(wanted, read, strict=False):
            if found.id != wanted_id:
                return
            yield found
        if len(read) < len(wanted):
            return


def _commit(manifests: ManifestStore, snapshot: Snapshot, keep: Keep) -> Commit:
    metas = delta_manifests_of(snapshot, manifests)
    tables = read_entries(snapshot, metas, manifests)
    chosen = [keep(in_real_buckets(entries)) for entries in tables]
    return Commit(snapshot, fold(chosen, referrer=f"snapshot-{snapshot.id}"))
