"""Up to which snapshot the commits of one process have found no conflict.

Without this a writer that commits often would check everything since it began each time.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable

from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.spec.snapshot import Snapshot

_MOST = 10_000
"""Things that are remembered."""


class Checked:
    """Remembers the newest snapshot up to which things were checked.

    Parameters
    ----------
    snapshots
        The table's snapshots.
    """

    def __init__(self, snapshots: SnapshotManager) -> None:
        self._snapshots = snapshots
        self._upto: dict[Hashable, Snapshot] = {}

    def since(self, things: Collection[Hashable], base_id: int) -> int:
        """Return the snapshot after which some things have to be checked.

        Parameters
        ----------
        things
            What was given to `remember`, together with what it is checked against.
        base_id
            After which they have to be checked if nothing is known.
        """
        known = [self._upto.get(thing) for thing in things]
        since_each = [one for one in known if one is not None]
        if not since_each or len(since_each) < len(known):
            return base_id
        oldest = min(since_each, key=lambda one: one.id)
        return max(oldest.id, base_id) if self._snapshots.still_has(oldest) else base_id

    def remember(self, things: Collection[Hashable], latest: Snapshot | None) -> None:
        """Take note that things were checked up to a snapshot."""
        if latest is None:
            return
        if len(self._upto) > _MOST:
            self._upto.clear()
        self._upto.update(dict.fromkeys(things, latest))
