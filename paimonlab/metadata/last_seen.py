"""Which snapshots and schema of a table were there when this process looked last.

In a store each look takes a round trip. Where a table is opened again, what was the latest is
asked for together with whether another follows, and not after the folder was listed or the hint
read; snapshots that were there are read while the folder is listed. Whatever is remembered here
says only where to look first: what is there is read anew.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

from paimonlab.storage.forks import renew_in_children


class LastSeen:
    """Ids in folders of snapshots or schemas, by folder. Thread-safe."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._ids: OrderedDict[str, int] = OrderedDict()
        self._lock = threading.Lock()
        renew_in_children(self)

    def renew(self) -> None:
        """Go on in a forked child, without what a thread was just changing."""
        if self._lock.locked():
            self._ids = OrderedDict()
        self._lock = threading.Lock()

    def get(self, folder: str) -> int | None:
        """Return the id that was found last; None: this process did not look."""
        with self._lock:
            return self._ids.get(folder)

    def put(self, folder: str, found: int) -> None:
        """Remember an id."""
        with self._lock:
            self._ids[folder] = found
            self._ids.move_to_end(folder)
            while len(self._ids) > self._most:
                self._ids.popitem(last=False)


_MOST_TABLES = 10_000
schema_ids = LastSeen(_MOST_TABLES)
snapshot_ids = LastSeen(_MOST_TABLES)
oldest_snapshot_ids = LastSeen(_MOST_TABLES)
