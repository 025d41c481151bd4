"""The tags of a table, as users handle them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from paimonlab.errors import TagNotFoundError, habits
from paimonlab.maintenance.table_history import TableHistory
from paimonlab.maintenance.tag_creation import TagRequest, create_due_tags, create_tag, replace_tag
from paimonlab.maintenance.tag_deletion import TagDeletion, delete_tag
from paimonlab.maintenance.tag_expiry import TagExpiryRequest, expire_tags
from paimonlab.spec.snapshot import Tag
from paimonlab.table.definition import TableDefinition
from paimonlab.table.named import Named
from paimonlab.table.reading.time_travel import to_millis
from paimonlab.table.store import TableStore
from paimonlab.table.upkeep.history import history_of


class Tags(Named, written="table.tags"):
    """Named snapshots of one table: ``table.tags``."""

    def __init__(self, definition: TableDefinition, store: TableStore) -> None:
        self._definition = definition
        self._store = store

    def __getitem__(self, name: str) -> Tag:
        return self.get(name)

    @property
    def _history(self) -> TableHistory:
        return history_of(self._definition, self._store)

    def list(self) -> dict[str, Tag]:
        """All tags by name, sorted.

        Raises
        ------
        TableNotFoundError
            If the table was dropped or renamed after it was opened.
        """
        return dict(self._store.tags.list(self._store.snapshots.check_exists))

    def get(self, name: str) -> Tag:
        """Return one tag.

        Raises
        ------
        TagNotFoundError
            If there is no such tag.
        TableNotFoundError
            If the table was dropped or renamed after it was opened.
        """
        try:
            return self._store.tags.get(name)
        except TagNotFoundError:
            self._store.snapshots.check_exists()
            raise

    @habits.arguments(habits.TAG)
    def create(
        self,
        name: str,
        *,
        snapshot: int | None = None,
        timestamp: datetime | int | str | None = None,
        time_retained: timedelta | None = None,
    ) -> Tag:
        """Give a snapshot a name, which keeps it and its files from expiry.

        Parameters
        ----------
        name
            Not blank.
        snapshot
            Its id; None: the latest.
        timestamp
            Instead of the id: the latest snapshot at or before this time.
        time_retained
            How long the tag is kept; None: as ``tag.default-time-retained`` says, else for ever.

        Raises
        ------
        AlreadyExistsError
            If the name is taken.
        SnapshotNotFoundError
            If there is no such snapshot.
        """
        request = TagRequest(
            name=name,
            snapshot=snapshot,
            timestamp_millis=None if timestamp is None else to_millis(timestamp),
            time_retained=time_retained,
        )
        self._store.upkeep_turns.tags_due_millis = 0
        return create_tag(self._history, request)

    def replace(
        self, name: str, *, snapshot: int | None = None, time_retained: timedelta | None = None
    ) -> Tag:
        """Let a tag refer to another snapshot; the files that only it kept are not deleted.

        Parameters
        ----------
        name, snapshot, time_retained
            As in `create`; without ``time_retained`` the tag is then kept for ever.

        Raises
        ------
        TagNotFoundError
            If there is no such tag.
        SnapshotNotFoundError
            If there is no such snapshot.
        """
        request = TagRequest(name=name, snapshot=snapshot, time_retained=time_retained)
        self._store.upkeep_turns.tags_due_millis = 0
        return replace_tag(self._history, request)

    def rename(self, name: str, target: str) -> None:
        """Give a tag another name.

        Raises
        ------
        TagNotFoundError
            If there is no such tag.
        AlreadyExistsError
            If the new name is taken.
        """
        self._store.tags.rename(name, target)
        self._history.show_tag(target, self._store.tags.get(target).id)
        self._history.show_tag(name, None)

    def delete(
        self, name: str, *, dry_run: bool = False, after: Collection[str] = ()
    ) -> TagDeletion:
        """Delete a tag; if its snapshot has expired, the files that nothing else needs as well.

        Parameters
        ----------
        name
            Of the tag.
        dry_run
            Delete nothing, only return what would be deleted.
        after
            For a dry run of several: the tags that would be deleted by then, whose files count as
            no longer needed.

        Returns
        -------
        TagDeletion
            What was, or would be, deleted.

        Raises
        ------
        TagNotFoundError
            If there is no such tag.
        CorruptMetadataError
            If it is unclear what is needed: the tag is deleted by then, its files are left.
        ValueError
            If ``after`` is given without ``dry_run``.
        """
        if after and not dry_run:
            raise ValueError("after is for a dry run: it names tags as if they were deleted")
        return delete_tag(name, self._history, dry_run=dry_run, after=after)

    def expire(
        self,
        *,
        older_than: datetime | None = None,
        now: datetime | None = None,
        dry_run: bool = False,
    ) -> Sequence[str]:
        """Delete the tags whose time has passed.

        Parameters
        ----------
        older_than
            Tags created before this time are deleted as well, whatever they say.
        now
            The present, if it is not the clock's; both are local without a zone.
        dry_run
            Delete none, only return which.

        Returns
        -------
        list of str
            Their names.
        """
        request = TagExpiryRequest(older_than=older_than, now=now, dry_run=dry_run)
        return expire_tags(self._history, request)

    def create_due(self) -> Sequence[str]:
        """Create the tags that ``tag.automatic-creation`` asks for by now; commits do it.

        Returns
        -------
        list of str
            Names of the new tags.
        """
        return create_due_tags(self._history)
