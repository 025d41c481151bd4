"""The lock of a catalog, taken around what makes a snapshot of a table visible.

Writers that put a snapshot only if there is none need no lock among themselves. Java's writers on
object stores look, then put: beside them all take the lock that the catalog keeps. It may expire
while its holder stands still, so the holder asks again before it publishes, and puts only if there
is no snapshot: whoever was late loses the race, and nobody's snapshot is replaced.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Protocol

from paimonlab.commit.publisher import TablePublisher
from paimonlab.metadata.layout import TableLayout
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.snapshot import Snapshot
from paimonlab.storage.guards import lock_held

_LOST_LOCKS = 100


class HeldLock(Protocol):
    """A lock that was taken."""

    def is_held(self) -> bool:
        """Whether it still is; it may have expired, and others may have it."""
        ...


class CatalogLock(Protocol):
    """The locks of the tables of a catalog."""

    def held(self, identifier: Identifier) -> AbstractContextManager[HeldLock]:
        """Take the lock of a table, and give it back at the end.

        Raises
        ------
        CatalogLockError
            If it cannot be taken; nothing was done.
        """
        ...


@dataclass(frozen=True, slots=True)
class LockingPublisher:
    """Publishes under the lock of the table."""

    publisher: TablePublisher
    lock: CatalogLock
    identifier: Identifier

    def publish(self, snapshot: Snapshot) -> bool:
        """Make a snapshot visible if its id is free; False when another writer was first."""
        for _ in range(_LOST_LOCKS):
            with self.lock.held(self.identifier) as held:
                if held.is_held():
                    with lock_held():
                        return self.publisher.publish(snapshot)
        return False

    def on_branch(self, layout: TableLayout) -> LockingPublisher:
        """Return the publisher of a branch, which has the lock of its table."""
        return replace(self, publisher=self.publisher.on_branch(layout))
