"""A store that refuses changes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NoReturn

import pyarrow as pa
from msgspec import Struct

from paimonlab.errors import CorruptMetadataError, ReadOnlyError
from paimonlab.storage.file_io import METADATA_LIMIT_BYTES, Buffer, FileIO, FileStatus


class ReadOnlyFileIO(Struct, frozen=True):
    """A read-only view of another store; see `FileIO` for the methods.

    Whatever would write, move or delete raises `ReadOnlyError`.
    """

    store: FileIO

    def within(self, *roots: str) -> ReadOnlyFileIO:
        """Return this store as that of a table below these folders."""
        return ReadOnlyFileIO(self.store.within(*roots))

    def read(self, path: str, *, limit_bytes: int = METADATA_LIMIT_BYTES) -> bytes:
        """Return the whole file."""
        return self.store.read(path, limit_bytes=limit_bytes)

    def open_input(self, path: str, *, size_bytes: int | None = None) -> pa.NativeFile:
        """Open a file for random reads."""
        return self.store.open_input(path, size_bytes=size_bytes)

    def exists(self, path: str) -> bool:
        """Whether a file or folder exists."""
        return self.store.exists(path)

    def has_file(self, path: str) -> bool:
        """Whether a path that is never a folder exists."""
        return self.store.has_file(path)

    def size_bytes(self, path: str) -> int:
        """Size of a file."""
        return self.store.size_bytes(path)

    def check_files(self, folder: str, names: Collection[str]) -> None:
        """Check that names in a folder are files that may be read."""
        self.store.check_files(folder, names)

    def list(self, path: str) -> list[FileStatus]:
        """Files and folders directly in a folder."""
        return self.store.list(path)

    def list_names(self, path: str) -> Sequence[str]:
        """Names directly in a folder."""
        return self.store.list_names(path)

    def open_output(self, path: str) -> pa.NativeFile:
        """Refuse."""
        _refuse("writing", path)

    def create(self, path: str, data: Buffer) -> None:
        """Refuse."""
        del data
        _refuse("writing", path)

    def write(self, path: str, data: bytes) -> None:
        """Refuse."""
        del data
        _refuse("writing", path)

    def begin_sync(self, output: pa.NativeFile) -> None:
        """Do nothing: there are no files that are written."""

    def sync_files(self, sizes: Mapping[str, int]) -> None:
        """Refuse, if there are any."""
        for path in sizes:
            _refuse("writing", path)

    def publish(self, path: str, data: bytes) -> bool:
        """Refuse."""
        del data
        _refuse("writing", path)

    def replace(self, path: str, data: bytes, *, durable: bool = True) -> None:
        """Refuse."""
        del data, durable
        _refuse("writing", path)

    def make_directory(self, path: str) -> None:
        """Refuse."""
        _refuse("making", path)

    def rename(self, source: str, target: str, *, durable: bool = True) -> None:
        """Refuse."""
        del durable
        _refuse("moving", f"{source} to {target}")

    def delete(self, path: str) -> None:
        """Refuse."""
        _refuse("deleting", path)

    def delete_files(self, paths: Sequence[str]) -> Mapping[str, OSError | CorruptMetadataError]:
        """Refuse, if there are any."""
        for path in paths:
            _refuse("deleting", path)
        return {}

    def delete_directory(self, path: str) -> None:
        """Refuse."""
        _refuse("deleting", path)

    def delete_empty_directory(self, path: str) -> bool:
        """Refuse."""
        _refuse("deleting", path)


def _refuse(verb: str, path: str) -> NoReturn:
    raise ReadOnlyError(f"{verb} {path}")
