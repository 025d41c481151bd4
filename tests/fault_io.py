"""A store that fails, or takes the process with it, at a chosen call."""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self
from unittest import mock

import pyarrow as pa

from paimonlab.errors import CorruptMetadataError
from paimonlab.storage import FileIO, FileStatus
from paimonlab.storage.failures import delete_each
from paimonlab.storage.file_io import METADATA_LIMIT_BYTES


@dataclass(frozen=True)
class Fault:
    """What goes wrong, and when."""

    kind: Literal["error", "kill", "interrupt", "death", "full", "lie"]
    """``death`` is that of a process whose memory we go on to look at: no call after it has an
    effect, whatever tries to clean up. ``full``: the disk takes a part of what is written, then
    nothing more, by whatever call. ``lie``: it takes a part and says that it took all."""
    at: int
    """The number of the call, from 1."""
    after: bool = False
    """Whether the call has its effect before it goes wrong."""
    only: str | None = None
    """Count calls of this method alone."""
    times: int = 1
    """So many calls in a row go wrong."""
    part: float = 0.0
    """How much of what is written a disk takes that is full or lies: from 0 up to but not 1."""


class Death(BaseException):
    """The process is dead; what still runs in it does nothing."""


WRITES = frozenset({"create", "write", "publish", "replace", "output.write"})
"""Calls that hand bytes to the store."""


@contextlib.contextmanager
def short_writes(part: float, *, lies: bool = False) -> Iterator[None]:
    """Let the system take only a part of what this thread writes, then nothing more.

    Parameters
    ----------
    part
        How much of the bytes of the first call.
    lies
        Whether each call says that it took all; else the next ones say that the disk is full.
    """
    thread, write = threading.get_ident(), os.write
    is_full = False

    def short(descriptor: int, data: Any) -> int:
        nonlocal is_full
        if threading.get_ident() != thread:
            return write(descriptor, data)
        taken = 0 if is_full else int(len(data) * part)
        is_full = True
        if taken:
            write(descriptor, data[:taken])
        if lies:
            return len(data)
        if not taken and len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return taken

    with mock.patch("os.write", short):
        yield


class _Output:
    """A file being written: each write and the close are calls of their own."""

    def __init__(self, file: pa.NativeFile, store: FaultFileIO, path: str) -> None:
        self._file = file
        self._store = store
        self._path = path
        self._missing_bytes = 0
        """So many fewer than the store was told are there."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def closed(self) -> bool:
        return self._file.closed

    def readable(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def tell(self) -> int:
        return self._file.tell() + self._missing_bytes

    def flush(self) -> None:
        """Leave it to closing."""

    def write(self, data: bytes) -> None:
        self._store.call("output.write", self._path, _PieceWrite(self, data))

    def write_whole(self, data: bytes) -> Any:
        return self._file.write(data)

    def write_part(self, data: bytes, part: float) -> None:
        size_bytes = memoryview(data).nbytes  # a library hands us anything that has bytes
        taken = memoryview(data).cast("B")[: int(size_bytes * part)]
        self._file.write(taken)
        self._missing_bytes += size_bytes - len(taken)

    def close(self) -> None:
        self._store.call("output.close", self._path, self._file.close)


@dataclass(frozen=True)
class _PieceWrite:
    """A piece that is written to a file."""

    output: _Output
    data: bytes

    def __call__(self) -> Any:
        return self.output.write_whole(self.data)


@dataclass
class FaultFileIO:
    """Passes every call on and counts it."""

    store: FileIO
    fault: Fault | None = None
    calls: list[tuple[str, str]] = field(default_factory=list)
    """Method and path of every call."""
    counted: int = 0
    unsynced: set[str] = field(default_factory=set)
    """Files that were written piece by piece and not made durable."""

    def lose_unsynced(self) -> None:
        """Let the machine lose power: of what nobody synced only the names are left."""
        for path in self.unsynced:
            if os.path.exists(path):  # noqa: PTH110
                # Not in place: copies of a warehouse share their bytes.
                os.unlink(path)  # noqa: PTH108
                os.close(os.open(path, os.O_CREAT, 0o644))
        self.unsynced.clear()

    def call(self, method: str, path: str, action: Any) -> Any:
        """Make a call, or fail."""
        self.calls.append((method, path))
        fault = self.fault
        if fault is None or fault.only not in (None, method):
            return action()
        self.counted += 1
        if fault.kind in ("full", "lie"):
            return self._short(fault, method, path, action)
        if fault.kind == "death" and self.counted > fault.at:
            raise Death
        if not fault.at <= self.counted < fault.at + fault.times:
            return action()
        if fault.after:
            action()
        if fault.kind == "kill":
            os._exit(9)
        if fault.kind == "interrupt":
            raise KeyboardInterrupt
        if fault.kind == "death":
            raise Death
        raise OSError(5, "injected fault", path)

    def _short(self, fault: Fault, method: str, path: str, action: Any) -> Any:
        lies = fault.kind == "lie"
        ends = fault.at + 1 if lies else float("inf")
        if method not in WRITES or not fault.at <= self.counted < ends:
            return action()
        part = fault.part if self.counted == fault.at else 0.0
        if not isinstance(action, _PieceWrite):
            with short_writes(part, lies=lies):
                return action()
        action.output.write_part(action.data, part)
        if not lies:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
        return None

    def within(self, *roots: str) -> Self:
        self.store = self.store.within(*roots)
        return self

    def read(self, path: str, *, limit_bytes: int = METADATA_LIMIT_BYTES) -> bytes:
        return self.call("read", path, lambda: self.store.read(path, limit_bytes=limit_bytes))

    def open_input(self, path: str, *, size_bytes: int | None = None) -> pa.NativeFile:
        del size_bytes  # what goes wrong goes wrong as it is opened
        return self.call("open_input", path, lambda: self.store.open_input(path))

    def open_output(self, path: str) -> Any:
        file = self.call("open_output", path, lambda: self.store.open_output(path))
        self.unsynced.add(path)
        return _Output(file, self, path)

    def create(self, path: str, data: bytes | memoryview) -> None:
        self.unsynced.add(path)
        self.call("create", path, lambda: self.store.create(path, data))

    def write(self, path: str, data: bytes) -> None:
        self.call("write", path, lambda: self.store.write(path, data))

    def begin_sync(self, output: Any) -> None:
        """Do nothing."""

    def sync_files(self, sizes: Mapping[str, int]) -> None:
        self.call("sync_files", " ".join(sizes), lambda: self.store.sync_files(sizes))
        self.unsynced.difference_update(sizes)

    def publish(self, path: str, data: bytes) -> bool:
        return self.call("publish", path, lambda: self.store.publish(path, data))

    def replace(self, path: str, data: bytes, *, durable: bool = True) -> None:
        self.call("replace", path, lambda: self.store.replace(path, data, durable=durable))
        if not durable:
            self.unsynced.add(path)

    def exists(self, path: str) -> bool:
        return self.call("exists", path, lambda: self.store.exists(path))

    def has_file(self, path: str) -> bool:
        return self.exists(path)

    def size_bytes(self, path: str) -> int:
        return self.call("size_bytes", path, lambda: self.store.size_bytes(path))

    def check_files(self, folder: str, names: Collection[str]) -> None:
        self.call("check_files", folder, lambda: self.store.check_files(folder, names))

    def list(self, path: str) -> list[FileStatus]:
        return self.call("list", path, lambda: self.store.list(path))

    def list_names(self, path: str) -> Sequence[str]:
        return self.call("list_names", path, lambda: self.store.list_names(path))

    def make_directory(self, path: str) -> None:
        self.call("make_directory", path, lambda: self.store.make_directory(path))

    def rename(self, source: str, target: str, *, durable: bool = True) -> None:
        self.call("rename", source, lambda: self.store.rename(source, target, durable=durable))

    def delete(self, path: str) -> None:
        self.call("delete", path, lambda: self.store.delete(path))

    def delete_files(self, paths: Sequence[str]) -> Mapping[str, OSError | CorruptMetadataError]:
        return delete_each(self.delete, paths)

    def delete_directory(self, path: str) -> None:
        self.call("delete_directory", path, lambda: self.store.delete_directory(path))

    def delete_empty_directory(self, path: str) -> bool:
        return self.call(
            "delete_empty_directory", path, lambda: self.store.delete_empty_directory(path)
        )
