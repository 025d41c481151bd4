"""A store in memory, whose every call may be preceded by whatever others do meanwhile."""

from __future__ import annotations

import errno
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import pyarrow as pa

from paimonlab.errors import CorruptMetadataError
from paimonlab.storage import FileStatus
from paimonlab.storage.failures import delete_each
from paimonlab.storage.file_io import METADATA_LIMIT_BYTES

Files = dict[str, bytes]


def nothing(_method: str, _path: str) -> None:
    """Let a call pass."""


@dataclass
class MemoryStore:
    """Files by path; there are no folders but those that files are in."""

    files: Files = field(default_factory=dict)
    before: Callable[[str, str], None] = nothing
    """Called with the method and the path before each call has its effect."""

    def within(self, *roots: str) -> Self:
        del roots
        return self

    def read(self, path: str, *, limit_bytes: int = METADATA_LIMIT_BYTES) -> bytes:
        del limit_bytes
        self.before("read", path)
        try:
            return self.files[path]
        except KeyError:
            raise FileNotFoundError(errno.ENOENT, "not there", path) from None

    def open_input(self, path: str, *, size_bytes: int | None = None) -> pa.NativeFile:
        del size_bytes
        return pa.BufferReader(self.read(path))

    def open_output(self, path: str) -> Any:
        self.before("open_output", path)
        if path in self.files:
            raise FileExistsError(errno.EEXIST, "there already", path)
        return _Output(self, path)

    def create(self, path: str, data: bytes | memoryview) -> None:
        self.before("create", path)
        if path in self.files:
            raise FileExistsError(errno.EEXIST, "there already", path)
        self.files[path] = bytes(data)

    def write(self, path: str, data: bytes) -> None:
        self.before("write", path)
        if path in self.files:
            raise FileExistsError(errno.EEXIST, "there already", path)
        self.files[path] = data

    def begin_sync(self, output: Any) -> None:
        """Do nothing."""

    def sync_files(self, sizes: Mapping[str, int]) -> None:
        self.before("sync_files", " ".join(sizes))

    def publish(self, path: str, data: bytes) -> bool:
        self.before("publish", path)
        if path in self.files:
            return False
        self.files[path] = data
        return True

    def replace(self, path: str, data: bytes, *, durable: bool = True) -> None:
        del durable
        self.before("replace", path)
        self.files[path] = data

    def exists(self, path: str) -> bool:
        self.before("exists", path)
        return path in self.files or bool(self._below(path))

    def has_file(self, path: str) -> bool:
        return self.exists(path)

    def size_bytes(self, path: str) -> int:
        return len(self.read(path))

    def check_files(self, folder: str, names: Collection[str]) -> None:
        """Do nothing: there are no links."""

    def list_names(self, path: str) -> Sequence[str]:
        self.before("list_names", path)
        start = len(path) + 1
        return [*{one[start:].partition("/")[0] for one in self._below(path)}]

    def make_directory(self, path: str) -> None:
        self.before("make_directory", path)

    def rename(self, source: str, target: str, *, durable: bool = True) -> None:
        del durable
        self.before("rename", source)
        if target in self.files or self._below(target):
            raise FileExistsError(errno.EEXIST, "there already", target)
        if source in self.files:
            self.files[target] = self.files.pop(source)
            return
        moved = self._below(source)
        if not moved:
            raise FileNotFoundError(errno.ENOENT, "not there", source)
        for one in moved:
            self.files[target + one[len(source) :]] = self.files.pop(one)

    def delete(self, path: str) -> None:
        self.before("delete", path)
        self.files.pop(path, None)

    def delete_files(self, paths: Sequence[str]) -> Mapping[str, OSError | CorruptMetadataError]:
        return delete_each(self.delete, paths)

    def delete_directory(self, path: str) -> None:
        self.before("delete_directory", path)
        for one in self._below(path):
            del self.files[one]

    def delete_empty_directory(self, path: str) -> bool:
        self.before("delete_empty_directory", path)
        return False

    def _below(self, path: str) -> Sequence[str]:
        start = f"{path}/"
        return [one for one in self.files if one.startswith(start)]

    def list(self, path: str) -> list[FileStatus]:
        self.before("list", path)
        found = {}
        for one in self._below(path):
            name, _, rest = one[len(path) + 1 :].partition("/")
            size = 0 if rest else len(self.files[one])
            found[name] = FileStatus(f"{path}/{name}", size, bool(rest), 0)
        return [*found.values()]


@dataclass
class _Output:
    store: MemoryStore
    path: str
    data: bytearray = field(default_factory=bytearray)

    def __enter__(self) -> Self:
        self.store.files[self.path] = b""
        return self

    def __exit__(self, *error: object) -> None:
        self.store.files[self.path] = bytes(self.data)

    def write(self, data: bytes) -> None:
        self.data += data
