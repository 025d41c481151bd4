"""The tags of a table, as users handle them."""

from __future__ import annotations

from datetime import timedelta

from paimonlab.errors import SnapshotNotFoundError
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.metadata.tags import TagManager
from paimonlab.spec.snapshot import Tag


class Tags:
    """Named snapshots of one table: ``table.tags``."""

    def __init__(self, tags: TagManager, snapshots: SnapshotManager, table: str) -> None:
        self._tags = tags
        self._snapshots = snapshots
        self._table = table

    def list(self) -> dict[str, Tag]:
        """All tags by name, sorted."""
        return dict(self._tags.list())

    def get(self, name: str) -> Tag:
        """Return one tag.

        Raises
        ------
        TagNotFoundError
            If there is none of that name.
        """
        return self._tags.get(name)

    def create(
        self, name: str, *, snapshot: int | None = None, time_retained: timedelta | None = None
    ) -> Tag:
        """Name a snapshot, so that expiry leaves it and its files.

        Parameters
        ----------
        name
            Not blank, not all digits.
        snapshot
            Its id; None: the latest.
        time_retained
            How long the tag is meant to live; None: for ever.

        Raises
        ------
        AlreadyExistsError
            If the name is taken.
        SnapshotNotFoundError
            If there is no such snapshot.
        """
        found = self._snapshots.latest() if snapshot is None else self._snapshots.get(snapshot)
        if found is None:
            raise SnapshotNotFoundError(self._table, "to tag", "Nothing was committed yet.")
        return self._tags.create(name, found, time_retained=time_retained)

    def delete(self, name: str) -> None:
        """Remove a tag; the snapshot's files stay until expiry or orphan removal.

        Raises
        ------
        TagNotFoundError
            If there is none of that name.
        """
        self._tags.delete(name)
