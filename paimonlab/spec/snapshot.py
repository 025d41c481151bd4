"""The snapshot file: one JSON document per committed version of a table.

Spec: https://paimon.apache.org/docs/master/concepts/spec/snapshot/
"""

from __future__ import annotations

from datetime import datetime
from enum import Enum
from typing import ClassVar, Self

import msgspec

from paimonlab.errors import CorruptMetadataError
from paimonlab.errors.habits import IsAttribute
from paimonlab.secrets import hides_secrets
from paimonlab.spec.decoding import ready
from paimonlab.spec.rows_said import rows_said

FIRST_SNAPSHOT_ID = 1
CURRENT_VERSION = 3
BATCH_COMMIT_IDENTIFIER = 2**63 - 1
"""Identifier of a commit that no stream numbers."""
NO_WATERMARK = -(2**63)
"""What writers leave that know no watermark: Java's ``Long.MIN_VALUE``."""


class CommitKind(Enum):
    """What a commit did to the data files. The values are on disk: never rename them."""

    APPEND = "APPEND"
    """Files were added, none deleted."""
    COMPACT = "COMPACT"
    """Files were replaced by others holding the same rows."""
    OVERWRITE = "OVERWRITE"
    """Files were deleted, or replaced by others holding new rows."""
    ANALYZE = "ANALYZE"
    """Only statistics were written."""


@hides_secrets
class Snapshot(
    msgspec.Struct, IsAttribute, frozen=True, kw_only=True, rename="camel", omit_defaults=True
):
    """One committed version of a table.

    ``base_manifest_list`` and ``delta_manifest_list`` together list every live file;
    the delta alone lists what this commit changed. Optional fields are absent from the
    JSON when None, as Java Paimon writes them.
    """

    _written: ClassVar[str] = "table.snapshot"

    version: int = msgspec.field(default=1)
    """Absent means 1 (before Paimon 0.3); written as `CURRENT_VERSION`."""
    id: int
    schema_id: int
    """The latest schema when the commit happened, not that of the writer."""
    base_manifest_list: str
    delta_manifest_list: str
    commit_user: str
    commit_identifier: int
    """Grows with every commit of ``commit_user``; the same pair is never applied twice."""
    commit_kind: CommitKind
    time_millis: int
    """Commit time, milliseconds since the epoch, UTC."""
    total_record_count: int | None = None
    """Rows over all live data files before merging: an upper bound of ``COUNT(*)``.
    None only in tables written before Paimon 0.3."""
    delta_record_count: int | None = None
    """Rows added minus rows deleted by this commit, before merging; may be negative."""
    base_manifest_list_size: int | None = None
    """Bytes; None in tables written by Paimon 1.0 or older."""
    delta_manifest_list_size: int | None = None
    """Bytes; None in tables written by Paimon 1.0 or older."""
    changelog_manifest_list: str | None = None
    changelog_manifest_list_size: int | None = None
    changelog_record_count: int | None = None
    index_manifest: str | None = None
    statistics: str | None = None
    watermark: int | None = None
    """Event time, milliseconds since the epoch; -2**63 or None if there is none."""
    next_row_id: int | None = None
    properties: dict[str, str] | None = None
    """Set by the writer of this commit; not inherited by the next."""
    uuid: str | None = None
    """Only read: written since Paimon 2.0."""
    operation: str | None = None
    """Only read: written since Paimon 2.0."""
    writer_version: str | None = None
    """Only read: written since Paimon 2.1."""

    @property
    def file_name(self) -> str:
        """The file this stands in, for messages."""
        return f"snapshot-{self.id}"

    def __repr__(self) -> str:
        """Say what it is; `to_json` has all of it."""
        parts = [f"<{type(self).__name__} {self.id}: {self.commit_kind.value.lower()}"]
        added, total = self.delta_record_count, self.total_record_count
        if added is not None:
            parts.append(rows_said(self.commit_kind.value, added))
        if total is not None:
            parts.append(f"{total:,} in all")
        parts.append(_local_time(self.time_millis))
        parts += [f"{key} = {value!r}" for key, value in (self.properties or {}).items()]
        return f"{', '.join(parts)}>"

    def to_json(self) -> bytes:
        """Encode as the bytes of a snapshot file."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2)

    @classmethod
    def from_json(cls, data: bytes, *, path: str) -> Self:
        """Decode the bytes of a snapshot file; unknown fields are ignored.

        Raises
        ------
        CorruptMetadataError
            If a field is missing or has the wrong type. ``path`` is only for the message.
        """
        try:
            return msgspec.json.decode(data, type=ready(cls))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise CorruptMetadataError(path, str(error)) from error


_FILE_NAME = "file_name"


def _local_time(millis: int) -> str:
    try:
        return f"{datetime.fromtimestamp(millis / 1000).astimezone():%Y-%m-%d %H:%M:%S}"
    except (OverflowError, OSError, ValueError):
        return f"at {millis} ms"


class Tag(Snapshot, frozen=True, kw_only=True, rename="camel", omit_defaults=True, dict=True):
    """A named snapshot that expiry does not touch: the snapshot's JSON and two more fields."""

    tag_create_time: list[int] | None = None
    """Local date and time ``[year, month, day, hour, minute, second, nanosecond]``; trailing
    zeros may be missing. None without retention."""
    tag_time_retained: float | str | None = None
    """Seconds the tag is kept; None: for ever."""

    @property
    def file_name(self) -> str:
        """The file this stands in, for messages."""
        return str(self.__dict__.get(_FILE_NAME, super().file_name))

    def found_in(self, file_name: str) -> Self:
        """Say which file this stands in; it is not part of the document."""
        self.__dict__[_FILE_NAME] = file_name
        return self

    def to_snapshot(self) -> Snapshot:
        """Return the snapshot without what the tag says of itself."""
        return Snapshot(**{name: getattr(self, name) for name in Snapshot.__struct_fields__})


def watermark_of(snapshot: Snapshot) -> int | None:
    """Return the watermark of a snapshot, epoch milliseconds; None if it has none."""
    return None if snapshot.watermark == NO_WATERMARK else snapshot.watermark
