"""A store that stands before another one, and lets it do all that it does not do itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Self

import pyarrow as pa

from paimonlab.errors import CorruptMetadataError
from paimonlab.storage.file_io import METADATA_LIMIT_BYTES, Buffer, FileIO, FileStatus


class ForwardingFileIO(ABC):
    """Every method of `FileIO`, done by another store."""

    __slots__ = ()

    @abstractmethod
    def _store(self) -> FileIO:
        """Return the store behind."""

    @abstractmethod
    def within(self, *roots: str) -> Self:
        """Return this store as that of a table below these folders."""

    def read(self, path: str, *, limit_bytes: int = METADATA_LIMIT_BYTES) -> bytes:
        """Return the whole file."""
        return self._store().read(path, limit_bytes=limit_bytes)

    def open_input(self, path: str, *, size_bytes: int | None = None) -> pa.NativeFile:
        """Open a file for random reads."""
        return self._store().open_input(path, size_bytes=size_bytes)

    def open_output(self, path: str) -> pa.NativeFile:
        """Create a new file for writing."""
        return self._store().open_output(path)

    def create(self, path: str, data: Buffer) -> None:
        """Create a new file at once."""
        self._store().create(path, data)

    def write(self, path: str, data: bytes) -> None:
        """Create a new, durable file."""
        self._store().write(path, data)

    def begin_sync(self, output: pa.NativeFile) -> None:
        """Let a file that is being written become durable."""
        self._store().begin_sync(output)

    def sync_files(self, sizes: Mapping[str, int]) -> None:
        """Check the sizes of written files."""
        self._store().sync_files(sizes)

    def publish(self, path: str, data: bytes) -> bool:
        """Create a file if nothing exists there."""
        return self._store().publish(path, data)

    def replace(self, path: str, data: bytes, *, durable: bool = True) -> None:
        """Write a file, whether or not it exists."""
        self._store().replace(path, data, durable=durable)

    def exists(self, path: str) -> bool:
        """Whether a file or folder exists."""
        return self._store().exists(path)

    def has_file(self, path: str) -> bool:
        """Whether a path that is never a folder exists."""
        return self._store().has_file(path)

    def size_bytes(self, path: str) -> int:
        """Size of a file."""
        return self._store().size_bytes(path)

    def check_files(self, folder: str, names: Collection[str]) -> None:
        """Check that names in a folder are files that may be read."""
        self._store().check_files(folder, names)

    def list(self, path: str) -> list[FileStatus]:
        """Files and folders directly in a folder."""
        return self._store().list(path)

    def list_names(self, path: str) -> Sequence[str]:
        """Names directly in a folder."""
        return self._store().list_names(path)

    def make_directory(self, path: str) -> None:
        """Create a folder and its parents."""
        self._store().make_directory(path)

    def rename(self, source: str, target: str, *, durable: bool = True) -> None:
        """Move a file or folder."""
        self._store().rename(source, target, durable=durable)

    def delete(self, path: str) -> None:
        """Delete a file."""
        self._store().delete(path)

    def delete_files(self, paths: Sequence[str]) -> Mapping[str, OSError | CorruptMetadataError]:
        """Delete files; return what could not be, and why."""
        return self._store().delete_files(paths)

    def delete_directory(self, path: str) -> None:
        """Delete a folder with all in it."""
        self._store().delete_directory(path)

    def delete_empty_directory(self, path: str) -> bool:
        """Delete a folder if nothing is in it."""
        return self._store().delete_empty_directory(path)
