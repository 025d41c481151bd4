"""The tags of a table: snapshots with a name that expiry does not touch.

Source: https://paimon.apache.org/docs/master/maintenance/manage-tags/ and apache/paimon@1.3.1
``org.apache.paimon.utils.TagManager``.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from functools import partial

import msgspec

from paimonlab import clock
from paimonlab.errors import (
    AlreadyExistsError,
    CorruptMetadataError,
    SnapshotExpiredError,
    TagNotFoundError,
)
from paimonlab.metadata.layout import GUARD_END, TAG_PREFIX, TableLayout
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.metadata.take_back import take_back
from paimonlab.spec.decoding import ready
from paimonlab.spec.snapshot import Snapshot, Tag
from paimonlab.storage import FileIO, safe_join
from paimonlab.storage.together import asked_together, both

_SUCCESS_FOLDER = "tag-success-file"
"""Beside the tags: files for others to see that a tag is there."""


class TagManager:
    """Finds, reads, creates and deletes tags."""

    def __init__(
        self,
        file_io: FileIO,
        layout: TableLayout,
        *,
        table_name: str | None = None,
        now: Callable[[], datetime] = clock.now,
    ) -> None:
        self._file_io = file_io
        self._layout = layout
        self._table = table_name or layout.table_path
        self._now = now

    def list(self, if_none: Callable[[], None] | None = None) -> list[tuple[str, Tag]]:
        """Read all tags with their names, sorted by name; those deleted meanwhile are left out.

        A tag that is renamed meanwhile is listed under one of its names or both.

        Parameters
        ----------
        if_none
            What else is to be asked where there is none, in a store at the same time as whether
            there is none indeed. None: nothing.
        """
        tags: dict[str, Tag] = {}
        path, before = self._layout.table_path, None
        names = self._names()
        while names != before:
            before = names
            read = asked_together(path, [partial(self._find, name) for name in names])
            tags = {name: tag for name, tag in zip(names, read, strict=True) if tag is not None}
            if names or if_none is None:
                names = self._names()
            else:
                names, _ = both(path, self._names, if_none)
        return [*tags.items()]

    def _find(self, name: str) -> Tag | None:
        """Read a tag; None if there is none."""
        try:
            path = self._path(name)
            data = self._file_io.read(path)
        except (FileNotFoundError, ValueError):
            return None
        return _decoded(data, path)

    def guards(self) -> Sequence[tuple[str, Tag]]:
        """Read the snapshots that expiry must keep for operations under way, with their paths."""
        folder = self._layout.tag_folder
        snapshots = []
        for name in self._file_io.list_names(folder):
            if name.endswith(GUARD_END):
                with suppress(FileNotFoundError):
                    path = f"{folder}/{name}"
                    snapshots.append((path, _decoded(self._file_io.read(path), path)))
        return snapshots

    def get(self, name: str) -> Tag:
        """Read a tag.

        Raises
        ------
        TagNotFoundError
            If there is no such tag.
        CorruptMetadataError
            If the file does not follow the format.
        """
        try:
            path = self._path(name)
            data = self._file_io.read(path)
        except (FileNotFoundError, ValueError):
            raise TagNotFoundError(self._table, name, self._names()) from None
        return _decoded(data, path)

    def create(
        self, name: str, snapshot: Snapshot, *, time_retained: timedelta | None = None
    ) -> Tag:
        """Give a snapshot a name.

        Parameters
        ----------
        name
            Not blank.
        snapshot
            What the tag keeps.
        time_retained
            How long before expiry may delete the tag; None: for ever.

        Raises
        ------
        AlreadyExistsError
            If the name is taken.
        SnapshotExpiredError
            If the snapshot expired meanwhile; the tag was not created.
        ValueError
            If the name or the time cannot be used.
        """
        tag = self._tag(snapshot, time_retained)
        path = self._path(name)
        if not self._file_io.publish(path, tag.to_json()):
            raise AlreadyExistsError("tag", f"{name!r} of {self._table}")
        # Expiry looks at the tags after it has taken the snapshots away, so one of us sees
        # the other.
        if not self._is_kept(snapshot, but=name):
            take_back(self._file_io, path, lambda data: data == tag.to_json())
            raise SnapshotExpiredError(
                self._table, str(snapshot.id), f"It expired before tag {name!r} was created."
            )
        return tag

    def replace(
        self, name: str, snapshot: Snapshot, *, time_retained: timedelta | None = None
    ) -> Tag:
        """Point a tag to another snapshot.

        Raises
        ------
        TagNotFoundError
            If there is no such tag.
        SnapshotExpiredError
            If the snapshot expired meanwhile; the tag is as it was.
        """
        before = self.get(name)
        tag = self._tag(snapshot, time_retained)
        path = self._path(name)
        # What the tag names now must be kept until it is certain that the other snapshot is.
        with self.guarded([snapshot]):
            if not _is_same(before, snapshot) and not self._is_kept(snapshot, but=name):
                raise SnapshotExpiredError(
                    self._table,
                    str(snapshot.id),
                    f"It expired before tag {name!r} was moved to it.",
                )
            self._file_io.replace(path, tag.to_json())
        return tag

    def guard_path(self, snapshot: Snapshot) -> str:
        """Return a new path of a guard: a snapshot that is moved there is still kept."""
        folder = self._layout.tag_folder
        return f"{folder}/{self._layout.guard_start(snapshot.id)}{uuid.uuid4()}{GUARD_END}"

    @contextmanager
    def guarded(self, snapshots: Sequence[Snapshot]) -> Iterator[None]:
        """Keep snapshots from expiry until they have a tag or their place again."""
        paths = [self.guard_path(snapshot) for snapshot in snapshots]
        try:
            for path, one in zip(paths, snapshots, strict=True):
                self._file_io.publish(path, self._tag(one, None).to_json())
            yield
        finally:
            for path in paths:
                self._file_io.delete(path)

    def rename(self, name: str, target: str) -> None:
        """Give a tag another name.

        Raises
        ------
        TagNotFoundError
            If there is no such tag.
        AlreadyExistsError
            If the new name is taken.
        """
        tag = self.get(name)
        path, new = self._path(name), self._path(target)
        # Under both names for a moment, never under none: expiry looks for what tags keep.
        if not self._file_io.publish(new, tag.to_json()):
            raise AlreadyExistsError("tag", f"{target!r} of {self._table}")
        if not take_back(self._file_io, path, lambda data: _decoded(data, path) == tag):
            take_back(self._file_io, new, lambda data: data == tag.to_json())
            raise TagNotFoundError(self._table, name, self._names())

    def modified(self) -> dict[str, datetime]:
        """Return when the file of each tag was written, as a local time without a zone."""
        return {
            status.path.rpartition("/")[2].removeprefix(TAG_PREFIX): datetime.fromtimestamp(  # noqa: DTZ006 - tags have local times
                status.modified_millis / 1000
            )
            for status in self._file_io.list(self._layout.tag_folder)
            if _is_tag(status.path.rpartition("/")[2])
        }

    def delete(self, name: str) -> None:
        """Delete a tag; files that only it kept stay.

        Raises
        ------
        TagNotFoundError
            If there is no such tag.
        """
        self.get(name)
        self._file_io.delete(self._path(name))

    def delete_younger(self, name: str, snapshot_id: int) -> None:
        """Delete a tag if it exists and names a newer snapshot; its files stay."""

        def is_younger(data: bytes) -> bool:
            return _decoded(data, name).id > snapshot_id

        take_back(self._file_io, self._path(name), is_younger)

    def _is_kept(self, snapshot: Snapshot, *, but: str) -> bool:
        """Whether a snapshot exists, or another tag of it; going back uses ids again."""
        if SnapshotManager(self._file_io, self._layout).still_has(snapshot):
            return True
        return any(_is_same(tag, snapshot) for name, tag in self.list() if name != but)

    def _names(self) -> Sequence[str]:
        names = self._file_io.list_names(self._layout.tag_folder)
        return sorted(name.removeprefix(TAG_PREFIX) for name in names if _is_tag(name))

    def _path(self, name: str) -> str:
        if not name.strip():
            raise ValueError(f"{name!r} cannot be the name of a tag: it is blank")
        if "/" in name:
            raise ValueError(f"{name!r} cannot be the name of a tag: it contains '/'")
        try:
            return safe_join(self._layout.tag_folder, f"{TAG_PREFIX}{name}")
        except CorruptMetadataError as error:
            raise ValueError(f"{name!r} cannot be the name of a tag") from error

    def _tag(self, snapshot: Snapshot, time_retained: timedelta | None) -> Tag:
        fields = {name: getattr(snapshot, name) for name in Snapshot.__struct_fields__}
        if time_retained is None:
            return Tag(**fields)
        seconds = time_retained.total_seconds()
        if seconds <= 0:
            raise ValueError(f"time_retained must be positive, got {time_retained}")
        return Tag(
            **fields, tag_create_time=_local_date_time(self._now()), tag_time_retained=seconds
        )


def _decoded(data: bytes, path: str) -> Tag:
    try:
        return msgspec.json.decode(data, type=ready(Tag)).found_in(path.rpartition("/")[2])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CorruptMetadataError(path, str(error)) from error


def _is_same(one: Snapshot, other: Snapshot) -> bool:
    """Whether two snapshots are from the same commit; a tag has more fields."""
    return (one.id, one.delta_manifest_list) == (other.id, other.delta_manifest_list)


def _is_tag(name: str) -> bool:
    is_one = name.startswith(TAG_PREFIX) and len(name) > len(TAG_PREFIX)
    return is_one and name != _SUCCESS_FOLDER


def _local_date_time(now: datetime) -> list[int]:
    return [
        *(now.year, now.month, now.day, now.hour, now.minute, now.second),
        now.microsecond * 1000,
    ]
