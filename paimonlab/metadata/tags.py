"""The tags of a table: snapshots with a name that expiry does not touch.

Source: https://paimon.apache.org/docs/master/maintenance/manage-tags/ and apache/paimon@1.3.1
``org.apache.paimon.utils.TagManager``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import msgspec

from paimonlab.errors import (
    AlreadyExistsError,
    CorruptMetadataError,
    SnapshotExpiredError,
    TagNotFoundError,
)
from paimonlab.metadata.layout import TAG_PREFIX, TableLayout
from paimonlab.spec.snapshot import Snapshot, Tag
from paimonlab.storage import FileIO, safe_join

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
        now: Callable[[], datetime] = lambda: datetime.now().astimezone(),
    ) -> None:
        self._file_io = file_io
        self._layout = layout
        self._table = table_name or layout.table_path
        self._now = now

    def list(self) -> list[tuple[str, Tag]]:
        """Read all tags with their names, sorted by name; those deleted meanwhile are left out."""
        found = []
        for name in self._names():
            try:
                found.append((name, self.get(name)))
            except TagNotFoundError:
                continue
        return found

    def get(self, name: str) -> Tag:
        """Read a tag.

        Raises
        ------
        TagNotFoundError
            If there is none of that name.
        CorruptMetadataError
            If the file does not follow the format.
        """
        try:
            path = self._path(name)
            data = self._file_io.read(path)
        except (FileNotFoundError, ValueError):
            raise TagNotFoundError(self._table, name, self._names()) from None
        try:
            return msgspec.json.decode(data, type=Tag).found_in(f"{TAG_PREFIX}{name}")
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise CorruptMetadataError(path, str(error)) from error

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
            After that time expiry may delete the tag; None: it stays.

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
            self._file_io.delete(path)
            raise SnapshotExpiredError(
                self._table, str(snapshot.id), f"It expired before tag {name!r} was there."
            )
        return tag

    def replace(
        self, name: str, snapshot: Snapshot, *, time_retained: timedelta | None = None
    ) -> Tag:
        """Let a tag name another snapshot.

        Raises
        ------
        TagNotFoundError
            If there is none of that name.
        SnapshotExpiredError
            If the snapshot expired meanwhile; the tag is as it was.
        """
        before = self.get(name)
        tag = self._tag(snapshot, time_retained)
        path = self._path(name)
        self._file_io.replace(path, tag.to_json())
        if not self._is_kept(snapshot, but=name) and before.id != snapshot.id:
            self._file_io.replace(path, before.to_json())
            raise SnapshotExpiredError(
                self._table, str(snapshot.id), f"It expired before tag {name!r} named it."
            )
        return tag

    def rename(self, name: str, target: str) -> None:
        """Give a tag another name.

        Raises
        ------
        TagNotFoundError
            If there is none of that name.
        AlreadyExistsError
            If the new name is taken.
        """
        self.get(name)
        try:
            self._file_io.rename(self._path(name), self._path(target))
        except FileExistsError:
            raise AlreadyExistsError("tag", f"{target!r} of {self._table}") from None

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
        """Delete a tag; the files that only it kept are left.

        Raises
        ------
        TagNotFoundError
            If there is none of that name.
        """
        self.get(name)
        self._file_io.delete(self._path(name))

    def _is_kept(self, snapshot: Snapshot, *, but: str) -> bool:
        """Whether a snapshot is there, or another tag of it."""
        if self._file_io.exists(self._layout.snapshot(snapshot.id)):
            return True
        return any(tag.id == snapshot.id for name, tag in self.list() if name != but)

    def _names(self) -> Sequence[str]:
        names = self._file_io.list_names(self._layout.tag_folder)
        return sorted(name.removeprefix(TAG_PREFIX) for name in names if _is_tag(name))

    def _path(self, name: str) -> str:
        if not name.strip():
            raise ValueError(f"{name!r} cannot be the name of a tag: it is blank")
        if "/" in name:
            raise ValueError(f"{name!r} cannot be the name of a tag: it holds '/'")
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


def _is_tag(name: str) -> bool:
    is_one = name.startswith(TAG_PREFIX) and len(name) > len(TAG_PREFIX)
    return is_one and name != _SUCCESS_FOLDER


def _local_date_time(now: datetime) -> list[int]:
    return [
        *(now.year, now.month, now.day, now.hour, now.minute, now.second),
        now.microsecond * 1000,
    ]
