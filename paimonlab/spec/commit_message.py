"""What a writer hands to a committer: the only thing the two share.

Messages travel between processes as versioned msgpack, never as pickled objects with
behaviour.
"""

from __future__ import annotations

from typing import Self

import msgspec

from paimonlab.spec.decoding import ready
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.manifests.index_manifest import IndexManifestEntry

_VERSION = 3


class CommitMessage(msgspec.Struct, frozen=True, kw_only=True):
    """What one writer changed in one bucket: files of rows, of changelog, and index files.

    Source: apache/paimon@1.3.1 ``org.apache.paimon.table.sink.CommitMessageImpl``.
    """

    partition: bytes
    """Serialised BinaryRow of the partition values."""
    bucket: int
    total_buckets: int
    """As `ManifestEntry.total_buckets`."""
    new_files: tuple[DataFileMeta, ...] = ()
    deleted_files: tuple[DataFileMeta, ...] = ()
    """Files of the table that these rows replace: a copy-on-write."""
    changelog_files: tuple[DataFileMeta, ...] = ()
    """What changed, as it was written."""
    compact_before: tuple[DataFileMeta, ...] = ()
    compact_after: tuple[DataFileMeta, ...] = ()
    """The rows of ``compact_before``, rewritten; a file in both was given another level."""
    compact_changelog: tuple[DataFileMeta, ...] = ()
    """What changed, as compaction found it."""
    new_indexes: tuple[IndexManifestEntry, ...] = ()
    deleted_indexes: tuple[IndexManifestEntry, ...] = ()
    """Index files that ``new_indexes`` replace; those of type HASH, and vectors of a bucket of a
    primary-key table, are replaced without being named here."""
    checked_snapshot_id: int | None = None
    """The snapshot that ``deleted_files`` and the indexes were made against; None: none was. If
    there are only new files: nobody else may have written rows since."""
    keys_snapshot_id: int | None = None
    """The snapshot whose index of keys said which bucket the rows belong into, 0: the table was
    empty; nobody else may have overwritten the partition since. None: no index was asked."""
    version: int = _VERSION

    def to_bytes(self) -> bytes:
        """Encode for another process."""
        return msgspec.msgpack.encode(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Decode what `to_bytes` made.

        Raises
        ------
        ValueError
            If the bytes are not a commit message of this version.
        """
        try:
            message = msgspec.msgpack.decode(data, type=ready(cls))
        except msgspec.DecodeError as error:
            raise ValueError(f"not a commit message: {error}") from error
        if message.version != _VERSION:
            raise ValueError(f"commit message of version {message.version}, known is {_VERSION}")
        return message
