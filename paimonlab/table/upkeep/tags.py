"""The tags of a table, as users handle them."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from paimonlab.errors import SnapshotNotFoundError
from paimonlab.maintenance.auto_tags import AutoTagOptions, batch_name, new_tags, surplus
from paimonlab.maintenance.tag_deletion import TagDeletion, delete_tag, expired_tags
from paimonlab.spec.options.table_options import option_field
from paimonlab.spec.snapshot import Snapshot, Tag
from paimonlab.storage import join
from paimonlab.table.definition import TableDefinition
from paimonlab.table.reading.time_travel import to_millis
from paimonlab.table.store import TableStore
from paimonlab.table.upkeep.history import history_of

logger = logging.getLogger(__name__)

_SUCCESS_FOLDER = "tag-success-file"


@dataclass(frozen=True, slots=True, kw_only=True)
class TagOptions:
    """The table options that steer all tags."""

    retained_millis: int | None = option_field("tag.default-time-retained", "duration", None)
    """``tag.default-time-retained``"""
    writes_success_file: bool = option_field("tag.create-success-file", "boolean", default=False)
    """``tag.create-success-file``"""


class _SuccessFile(msgspec.Struct, rename="camel"):
    creation_time: int
    modification_time: int


class Tags:
    """Named snapshots of one table: ``table.tags``."""

    def __init__(self, definition: TableDefinition, store: TableStore) -> None:
        self._definition = definition
        self._store = store
        self._options = definition.options.slice(TagOptions)

    def list(self) -> dict[str, Tag]:
        """All tags by name, sorted."""
        return dict(self._store.tags.list())

    def get(self, name: str) -> Tag:
        """Return one tag.

        Raises
        ------
        TagNotFoundError
            If there is none of that name.
        """
        return self._store.tags.get(name)

    def create(
        self,
        name: str,
        *,
        snapshot: int | None = None,
        timestamp: datetime | int | str | None = None,
        time_retained: timedelta | None = None,
    ) -> Tag:
        """Name a snapshot, so that expiry leaves it and its files.

        Parameters
        ----------
        name
            Not blank.
        snapshot
            Its id; None: the latest.
        timestamp
            Instead of the id: the latest snapshot at or before this time.
        time_retained
            How long the tag is meant to live; None: as ``tag.default-time-retained`` says, else
            for ever.

        Raises
        ------
        AlreadyExistsError
            If the name is taken.
        SnapshotNotFoundError
            If there is no such snapshot.
        """
        found = self._snapshot(snapshot, timestamp)
        self._check_alone(name, found)
        tag = self._store.tags.create(name, found, time_retained=self._retained(time_retained))
        self._tell(name)
        return tag

    def replace(
        self, name: str, *, snapshot: int | None = None, time_retained: timedelta | None = None
    ) -> Tag:
        """Let a tag name another snapshot; the files that only it kept are not deleted.

        Parameters
        ----------
        name, snapshot, time_retained
            As in `create`; without ``time_retained`` the tag then lives for ever.

        Raises
        ------
        TagNotFoundError
            If there is none of that name.
        SnapshotNotFoundError
            If there is no such snapshot.
        """
        found = self._snapshot(snapshot, None)
        return self._store.tags.replace(name, found, time_retained=time_retained)

    def rename(self, name: str, target: str) -> None:
        """Give a tag another name.

        Raises
        ------
        TagNotFoundError
            If there is none of that name.
        AlreadyExistsError
            If the new name is taken.
        """
        self._store.tags.rename(name, target)

    def delete(
        self, name: str, *, dry_run: bool = False, after: Collection[str] = ()
    ) -> TagDeletion:
        """Delete a tag; if its snapshot has expired, the files that nothing else needs as well.

        Parameters
        ----------
        name
            Of the tag.
        dry_run
            Delete nothing, only tell what would be.
        after
            For a dry run of several: the tags that would be gone by then, whose files count as
            needed no more.

        Returns
        -------
        TagDeletion
            What was, or would be, deleted.

        Raises
        ------
        TagNotFoundError
            If there is none of that name.
        CorruptMetadataError
            If it cannot be told what is needed: the tag is gone then, its files are left.
        ValueError
            If ``after`` is given without ``dry_run``.
        """
        if after and not dry_run:
            raise ValueError("after is for a dry run: what is gone needs no name")
        deletion = delete_tag(
            name, history_of(self._definition, self._store), dry_run=dry_run, after=after
        )
        if not dry_run:
            self._store.file_io.delete(self._success_file(name))
        return deletion

    def expire(
        self,
        *,
        older_than: datetime | None = None,
        now: datetime | None = None,
        dry_run: bool = False,
    ) -> Sequence[str]:
        """Delete the tags that have lived as long as they were meant to.

        Parameters
        ----------
        older_than
            Tags made before this time go as well, whatever they say.
        now
            The present, if it is not the clock's; both are local without a zone.
        dry_run
            Delete none, only tell which.

        Returns
        -------
        list of str
            Their names.
        """
        tags = self._store.tags.list()
        names = expired_tags(
            tags,
            now=now or datetime.now(),  # noqa: DTZ005 - tags have local times
            older_than=older_than,
            modified={} if older_than is None else self._store.tags.modified(),
        )
        if not dry_run:
            for name in names:
                self.delete(name)
        return names

    def create_due(self) -> Sequence[str]:
        """Make the tags that ``tag.automatic-creation`` asks for by now; commits do it.

        Returns
        -------
        list of str
            Names of the new tags.
        """
        options = self._definition.options.slice(AutoTagOptions)
        if options.mode == "none":
            return []
        made = self._make_batch(options) if options.mode == "batch" else self._make_due(options)
        if options.expires:
            self.expire()
        return made

    def _make_due(self, options: AutoTagOptions) -> Sequence[str]:
        made = []
        for name, snapshot in new_tags(options, self._store.snapshots, self.list()):
            if name not in self.list():
                self._store.tags.create(name, snapshot, time_retained=self._retained(None))
                self._tell(name)
                made.append(name)
            self._delete_surplus(options)
        return made

    def _make_batch(self, options: AutoTagOptions) -> Sequence[str]:
        snapshot = self._store.snapshots.latest()
        if snapshot is None:
            return []
        name = batch_name(options, snapshot)
        if name in self.list():
            self.delete(name)
        self._store.tags.create(name, snapshot, time_retained=self._retained(None))
        self._tell(name)
        self._delete_surplus(options)
        return [name]

    def _delete_surplus(self, options: AutoTagOptions) -> None:
        for name in surplus(options, self.list()):
            logger.info("%s: tag %s goes, there are too many", self._definition.name, name)
            self.delete(name)

    def _snapshot(self, snapshot: int | None, timestamp: datetime | int | str | None) -> Snapshot:
        snapshots = self._store.snapshots
        if timestamp is not None:
            if snapshot is not None:
                raise ValueError("give the id of a snapshot or a time, not both")
            return snapshots.at_or_before(to_millis(timestamp))
        if snapshot is not None:
            return self._of_id(snapshot)
        found = snapshots.latest()
        if found is None:
            raise SnapshotNotFoundError(
                self._definition.name, "to tag", "Nothing was committed yet."
            )
        return found

    def _of_id(self, snapshot_id: int) -> Snapshot:
        """Find a snapshot, also one that only tags keep."""
        try:
            return self._store.snapshots.get(snapshot_id)
        except SnapshotNotFoundError:
            for tag in self.list().values():
                if tag.id == snapshot_id:
                    return tag.to_snapshot()
            raise

    def _check_alone(self, name: str, snapshot: Snapshot) -> None:
        """Check that no snapshot gets two tags that look as if they were made by themselves."""
        options = self._definition.options.slice(AutoTagOptions)
        if options.mode not in {"process-time", "watermark"}:
            return
        periods = options.periods
        others = [
            other
            for other, tag in self.list().items()
            if tag.id == snapshot.id and periods.time(other) is not None
        ]
        if others and periods.time(name) is not None:
            raise ValueError(
                f"snapshot {snapshot.id} has the tag {others[0]!r} of a period already; choose a "
                f"name other than {name!r} that is not the name of a period"
            )

    def _retained(self, given: timedelta | None) -> timedelta | None:
        millis = self._options.retained_millis
        if given is not None or millis is None:
            return given
        return timedelta(milliseconds=millis)

    def _tell(self, name: str) -> None:
        """Write the file that says that a tag is there (``tag.create-success-file``)."""
        if not self._options.writes_success_file:
            return
        io, path = self._store.file_io, self._success_file(name)
        now = int(datetime.now().astimezone().timestamp() * 1000)
        told = _SuccessFile(now, now)
        if io.exists(path):
            told = _SuccessFile(
                msgspec.json.decode(io.read(path), type=_SuccessFile).creation_time, now
            )
        io.replace(path, msgspec.json.format(msgspec.json.encode(told), indent=2))

    def _success_file(self, name: str) -> str:
        return join(self._store.layout.tag_folder, _SUCCESS_FOLDER, f"{name}_SUCCESS")
