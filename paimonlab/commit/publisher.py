"""How a snapshot becomes visible: what a catalog gives to the committer."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from paimonlab.metadata.layout import TableLayout
from paimonlab.spec.snapshot import Snapshot
from paimonlab.storage import FileIO


class SnapshotPublisher(Protocol):
    """Publishes snapshots so that of two writers of one id exactly one wins."""

    def publish(self, snapshot: Snapshot) -> bool:
        """Make a snapshot visible if its id is free; False when another writer was first.

        Any exception means that the outcome is unknown until the snapshot is read back.
        Publishing the same snapshot again is allowed.
        """
        ...


class TablePublisher(SnapshotPublisher, Protocol):
    """Publishes the snapshots of a table, and knows the publishers of its branches."""

    def on_branch(self, layout: TableLayout) -> TablePublisher:
        """Return the publisher of a branch of the table, which has this layout."""
        ...


class RenamelessPublisher(Struct, frozen=True):
    """Creates the snapshot file if it is absent, in one step of the store."""

    file_io: FileIO
    layout: TableLayout

    def publish(self, snapshot: Snapshot) -> bool:
        """Create the file of a snapshot if nothing exists there."""
        return self.file_io.publish(self.layout.snapshot(snapshot.id), snapshot.to_json())

    def on_branch(self, layout: TableLayout) -> RenamelessPublisher:
        """Return the publisher of a branch of the table."""
        return replace(self, layout=layout)
