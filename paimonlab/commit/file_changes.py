"""What messages say, as the entries of the one or two snapshots that they become.

Source: apache/paimon@1.3.1 ``org.apache.paimon.operation.FileStoreCommitImpl.collectChanges``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec
import pyarrow as pa

from paimonlab.formats.manifests.entry_rows import entries_to_table
from paimonlab.scan.entries import adds_only
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.manifests.index_manifest import DELETION_VECTORS, IndexManifestEntry
from paimonlab.spec.manifests.manifest import FileKind, ManifestEntry


@dataclass(frozen=True, slots=True)
class IndexChanges:
    """Index files that a commit adds and takes away."""

    new: tuple[IndexManifestEntry, ...] = ()
    deleted: tuple[IndexManifestEntry, ...] = ()
    base_ids: tuple[int, ...] = ()
    """The snapshots that they were made against, where the messages say so."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing changes."""
        return not self.new and not self.deleted

    @property
    def has_vectors(self) -> bool:
        """Whether rows of files that stay are deleted, or come back."""
        return any(file.index_type == DELETION_VECTORS for file in (*self.new, *self.deleted))


@dataclass(frozen=True, slots=True)
class KnownKeys:
    """The buckets of keys, as an index gave them to the writer."""

    snapshot_id: int
    """Of the oldest index that was asked; 0: the table was empty."""
    partitions: frozenset[bytes]


@dataclass(frozen=True, slots=True)
class FileChanges:
    """What one snapshot changes."""

    entries: pa.Table
    """Additions and deletions of data files (`ENTRY_SCHEMA`)."""
    changelog: pa.Table
    """Additions of changelog files (`ENTRY_SCHEMA`)."""
    indexes: IndexChanges
    rows_seen_id: int | None = None
    """The snapshot whose rows the files were made of that complete others; None: unknown, then
    nothing is checked."""
    keys_known: KnownKeys | None = None
    """None: no index was asked."""
    alone_since: int | None = None
    """The snapshot after which nobody else may have written, 0: the table was empty; None: all
    may."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing changes."""
        return not self.entries.num_rows and not self.changelog.num_rows and self.indexes.is_empty

    @property
    def only_adds(self) -> bool:
        """Whether no row goes: no file is deleted and no deletion vector changes."""
        return adds_only(self.entries) and not self.indexes.has_vectors


def written(messages: Sequence[CommitMessage]) -> FileChanges:
    """Return what was written, in the order of the messages: new files before deleted ones."""
    entries: list[ManifestEntry] = []
    changelog: list[ManifestEntry] = []
    for message in messages:
        entries += _entries(FileKind.ADD, message, message.new_files)
        entries += _entries(FileKind.DELETE, message, message.deleted_files)
        changelog += _entries(FileKind.ADD, message, message.changelog_files)
    indexes = _indexes(messages, are_of_compaction=False)
    seen = [message.checked_snapshot_id for message in messages if _completes(message)]
    return FileChanges(
        entries_to_table(entries),
        entries_to_table(changelog),
        indexes,
        rows_seen_id=min((id for id in seen if id is not None), default=None),
        keys_known=_keys_known(messages),
        alone_since=_alone_since(messages),
    )


def _keys_known(messages: Sequence[CommitMessage]) -> KnownKeys | None:
    asked = {
        message.partition: message.keys_snapshot_id
        for message in sorted(messages, key=lambda one: -(one.keys_snapshot_id or 0))
        if message.keys_snapshot_id is not None
    }
    return KnownKeys(min(asked.values()), frozenset(asked)) if asked else None


def _completes(message: CommitMessage) -> bool:
    return any(file.first_row_id is not None for file in message.new_files)


def _alone_since(messages: Sequence[CommitMessage]) -> int | None:
    """Return the snapshot whose key index new files were routed by."""
    checked = [
        message.checked_snapshot_id
        for message in messages
        if message.checked_snapshot_id is not None
        and not (message.deleted_files or message.new_indexes or message.deleted_indexes)
        and not (message.compact_before or message.compact_after or _completes(message))
    ]
    return min(checked, default=None)


def compacted(messages: Sequence[CommitMessage]) -> FileChanges:
    """Return what was compacted: the files before it are deleted, then come those after it."""
    entries: list[ManifestEntry] = []
    changelog: list[ManifestEntry] = []
    for message in messages:
        entries += _entries(FileKind.DELETE, message, message.compact_before)
        entries += _entries(FileKind.ADD, message, message.compact_after)
        changelog += _entries(FileKind.ADD, message, message.compact_changelog)
    indexes = _indexes(messages, are_of_compaction=True)
    return FileChanges(entries_to_table(entries), entries_to_table(changelog), indexes)


def compactions_of(messages: Sequence[CommitMessage]) -> list[CommitMessage]:
    """Return what `compacted` looks at of messages, without what was written."""
    return [
        msgspec.structs.replace(
            message,
            new_files=(),
            deleted_files=(),
            changelog_files=(),
            new_indexes=tuple(
                index for index in message.new_indexes if _is_of_compaction(index, message)
            ),
            deleted_indexes=tuple(
                index for index in message.deleted_indexes if _is_of_compaction(index, message)
            ),
        )
        for message in messages
        if message.compact_before or message.compact_after
    ]


def _entries(
    kind: FileKind, message: CommitMessage, files: Iterable[DataFileMeta]
) -> list[ManifestEntry]:
    return [
        ManifestEntry(
            kind=kind,
            partition=message.partition,
            bucket=message.bucket,
            total_buckets=message.total_buckets,
            file=file,
        )
        for file in files
    ]


def _indexes(messages: Sequence[CommitMessage], *, are_of_compaction: bool) -> IndexChanges:
    new: list[IndexManifestEntry] = []
    deleted: list[IndexManifestEntry] = []
    base_ids: list[int] = []
    for message in messages:
        chosen = [
            [file for file in files if _is_of_compaction(file, message) == are_of_compaction]
            for files in (message.new_indexes, message.deleted_indexes)
        ]
        new += chosen[0]
        deleted += chosen[1]
        if any(chosen) and message.checked_snapshot_id is not None:
            base_ids.append(message.checked_snapshot_id)
    return IndexChanges(tuple(new), tuple(deleted), tuple(base_ids))


def _is_of_compaction(file: IndexManifestEntry, message: CommitMessage) -> bool:
    """Whether an index file becomes visible with the compacted files of its message.

    A compaction finds rows to delete in the files it leaves alone; which keys a bucket has
    is known when they are written.
    """
    has_compacted = bool(message.compact_before or message.compact_after)
    return has_compacted and file.index_type == DELETION_VECTORS
