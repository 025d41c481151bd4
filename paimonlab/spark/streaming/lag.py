"""How far a stream is behind its table."""

from __future__ import annotations

from paimonlab.errors import SnapshotNotFoundError
from paimonlab.scan.following import Position
from paimonlab.table.store import TableStore


def lag(store: TableStore, position: Position) -> dict[str, int]:
    """Return how many snapshots a reader has not read, and how much older those that it has are.

    Parameters
    ----------
    store
        The table's.
    position
        Where the reader is.

    Returns
    -------
    dict
        ``snapshotsBehind`` and ``millisBehind``, by the times of the snapshots; empty if they have
        expired.
    """
    latest = store.snapshots.latest()
    if latest is None:
        return {}
    left = latest.id - position.snapshot_id + 1
    if left <= 0:
        return {"snapshotsBehind": 0, "millisBehind": 0}
    before = max(position.snapshot_id - 1, store.snapshots.earliest_id() or 1)
    try:
        read = store.snapshots.get(before)
    except SnapshotNotFoundError:
        return {"snapshotsBehind": left}
    return {"snapshotsBehind": left, "millisBehind": latest.time_millis - read.time_millis}
