"""What a writer hands to a committer: the only thing the two share.

Messages travel between processes as versioned msgpack, never as pickled objects with
behaviour.
"""

from __future__ import annotations

from typing import Self

import msgspec

from paimonlab.spec.data_file import DataFileMeta

_VERSION = 1


class CommitMessage(msgspec.Struct, frozen=True, kw_only=True):
    """Files one writer made for one bucket."""

    partition: bytes
    """Serialised BinaryRow of the partition values."""
    bucket: int
    total_buckets: int
    """As `ManifestEntry.total_buckets`."""
    new_files: tuple[DataFileMeta, ...] = ()
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
            message = msgspec.msgpack.decode(data, type=cls)
        except msgspec.DecodeError as error:
            raise ValueError(f"not a commit message: {error}") from error
        if message.version != _VERSION:
            raise ValueError(f"commit message of version {message.version}, known is {_VERSION}")
        return message
