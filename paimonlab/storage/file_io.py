"""What every store can do.

Paths are absolute, as text, with ``/``; local paths carry no ``file:``, those of other stores
begin with scheme and bucket. All methods raise ``FileNotFoundError`` when a file that must be there
is missing and `StorageError`, an ``OSError``, when the store fails.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol, Self

import pyarrow as pa
from msgspec import Struct

from paimonlab.errors import CorruptMetadataError

METADATA_LIMIT_BYTES = 64 << 20
"""No file of one JSON document is larger."""
Buffer = bytes | memoryview
"""Bytes, however they are held."""
LARGE_LIMIT_BYTES = 4 << 30
"""No manifest or index is larger."""


class FileStatus(Struct, frozen=True):
    """One file or folder in a listing."""

    path: str
    """Absolute."""
    size_bytes: int
    """0 for a folder."""
    is_directory: bool
    modified_millis: int
    """Epoch milliseconds by the store's clock."""
    is_linked: bool = False
    """Whether it is a link, or reached through one: nothing of ours, and not to be deleted."""


class FileIO(Protocol):
    """A store of files. Picklable: executors get a copy."""

    def within(self, *roots: str) -> Self:
        """Return this store as that of a table, whose files are below these folders.

        What leads out of them is refused with `CorruptMetadataError` in every method; nothing is
        written, moved or deleted through a link below them. A root may be a link itself.
        """
        ...

    def read(self, path: str, *, limit_bytes: int = METADATA_LIMIT_BYTES) -> bytes:
        """Return the whole file.

        Raises `CorruptMetadataError` if it is larger than the limit, or not an ordinary file.
        """
        ...

    def open_input(self, path: str, *, size_bytes: int | None = None) -> pa.NativeFile:
        """Open a file for random reads (memory-mapped or buffered, as the store likes).

        Raises `CorruptDataError` if it is not an ordinary file, as `size_bytes` does. A store that
        is far asks for nothing before the first read where it is told the size of the file: only
        then ``FileNotFoundError`` is raised, or `CorruptDataError` if the size is another one.
        """
        ...

    def open_output(self, path: str) -> pa.NativeFile:
        """Create a new file for writing, parent folders included.

        The file is complete and durable only after `sync_files` (or ``close`` on stores whose
        close is durable). Raises ``FileExistsError`` if the path exists, at the latest when the
        file is closed.
        """
        ...

    def create(self, path: str, data: Buffer) -> None:
        """Create a new file at once, parent folders included; durable after `sync_files`.

        When it fails, no new file is left: ``FileExistsError`` if the path exists.
        """
        ...

    def write(self, path: str, data: bytes) -> None:
        """Create a new, durable file (metadata with names of our own making).

        When it fails, nothing is there.
        """
        ...

    def begin_sync(self, output: pa.NativeFile) -> None:
        """Let what was written to a file of `open_output` so far become durable, without waiting.

        `sync_files` has less to wait for then, and reports what goes wrong. Stores may do nothing.
        """
        ...

    def sync_files(self, sizes: Mapping[str, int]) -> None:
        """Make files written by `create` or `open_output` and their folders durable.

        Raises ``OSError`` also when a file has not the size in bytes that is given with its path.
        """
        ...

    def publish(self, path: str, data: bytes) -> bool:
        """Create ``path`` with ``data`` if nothing exists there, atomically and durably.

        Returns False when another writer was first. Any exception means the outcome is
        unknown until the file is read back.
        """
        ...

    def replace(self, path: str, data: bytes, *, durable: bool = True) -> None:
        """Write ``path`` atomically, whether or not it exists.

        What is not ``durable`` may be lost or empty after a loss of power (hints).
        """
        ...

    def exists(self, path: str) -> bool:
        """Whether a file or folder exists."""
        ...

    def has_file(self, path: str) -> bool:
        """Whether a path that is never a folder exists: one request; `exists` may take two."""
        ...

    def size_bytes(self, path: str) -> int:
        """Size of a file."""
        ...

    def check_files(self, folder: str, names: Collection[str]) -> None:
        """Check that names in a folder are files that may be read, before others open them.

        Those that do not exist are fine. Raises what `size_bytes` does for links that lead out of
        the table, pipes and the like; stores that have no such things need not look.
        """
        ...

    def list(self, path: str) -> list[FileStatus]:
        """Files and folders directly in a folder; [] when the folder does not exist."""
        ...

    def list_names(self, path: str) -> Sequence[str]:
        """Names directly in a folder, without sizes and times; [] when it does not exist."""
        ...

    def make_directory(self, path: str) -> None:
        """Create a folder and its parents; fine when it exists."""
        ...

    def rename(self, source: str, target: str, *, durable: bool = True) -> None:
        """Move a file or folder. Raises ``FileExistsError`` if the target exists."""
        ...

    def delete(self, path: str) -> None:
        """Delete a file; fine when it does not exist."""
        ...

    def delete_files(self, paths: Sequence[str]) -> Mapping[str, OSError | CorruptMetadataError]:
        """Delete files as `delete` does, many at once; return what could not be, and why."""
        ...

    def delete_directory(self, path: str) -> None:
        """Delete a folder with all in it; fine when it does not exist."""
        ...

    def delete_empty_directory(self, path: str) -> bool:
        """Delete a folder if nothing is in it; False if something is, or if it is not there."""
        ...
