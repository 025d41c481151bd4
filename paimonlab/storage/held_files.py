"""New files of a store that are held in memory until all of them are sent at the same time."""

from __future__ import annotations

import io
import threading
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from paimonlab.errors import CorruptMetadataError
from paimonlab.storage.failures import delete_each
from paimonlab.storage.file_io import METADATA_LIMIT_BYTES, Buffer, FileIO
from paimonlab.storage.forks import Home
from paimonlab.storage.forwarding import ForwardingFileIO
from paimonlab.storage.new_files import create_file
from paimonlab.storage.together import asked_together

_MOST_BYTES = 16 << 20
"""What is held at most; further files are written at once."""
_LARGEST_BYTES = 8 << 20
"""Of a file; a store takes larger ones part by part while they are written."""


class HeldFileIO(ForwardingFileIO):
    """A store before which new files wait. Thread-safe; it serves one commit of one process.

    Whoever reads through it sees them. `sync_files` does not wait for them: `send` does.
    """

    __slots__ = ("_held", "_inner", "_lock", "_size_bytes", "_sizes")

    def __init__(self, store: FileIO) -> None:
        self._inner = store
        self._held: dict[str, bytes] = {}
        self._sizes: dict[str, int] = {}
        self._size_bytes = 0
        self._lock = threading.Lock()

    def _store(self) -> FileIO:
        return self._inner

    def within(self, *roots: str) -> HeldFileIO:
        """Return this store: that of a table is within its folders already."""
        del roots
        return self

    def send(self) -> bool:
        """Create what is held, all at the same time; True once it is done."""
        with self._lock:
            waiting = dict(self._held)
        creating = [partial(create_file, self._inner, path, data) for path, data in waiting.items()]
        if creating:
            asked_together(next(iter(waiting)), creating)
        self._inner.sync_files({path: len(data) for path, data in waiting.items()})
        for path in waiting:
            self._dropped(path)
        return True

    def open_output(self, path: str) -> pa.NativeFile:
        """Create a new file for writing, which is held if it is small."""
        return pa.PythonFile(_HeldOutput(self, path), mode="w")

    def create(self, path: str, data: Buffer) -> None:
        """Create a new file."""
        if not self.hold(path, bytes(data)):
            self._inner.create(path, data)

    def write(self, path: str, data: bytes) -> None:
        """Create a new file; it is durable once it is sent."""
        if not self.hold(path, data):
            self._inner.write(path, data)

    def hold(self, path: str, data: bytes) -> bool:
        """Hold a file, if there is room."""
        with self._lock:
            if not self.has_room(len(data)):
                return False
            self._size_bytes += len(data)
            self._held[path] = data
            return True

    def has_room(self, size_bytes: int) -> bool:
        """Whether a file of so many bytes may be held."""
        return size_bytes < _LARGEST_BYTES and self._size_bytes + size_bytes <= _MOST_BYTES

    def sync_files(self, sizes: Mapping[str, int]) -> None:
        """Check the sizes of files that are not held."""
        self._inner.sync_files({path: sizes[path] for path in sizes if path not in self._held})

    def read(self, path: str, *, limit_bytes: int = METADATA_LIMIT_BYTES) -> bytes:
        """Return the whole file."""
        held = self._held.get(path)
        return self._inner.read(path, limit_bytes=limit_bytes) if held is None else held

    def open_input(self, path: str, *, size_bytes: int | None = None) -> pa.NativeFile:
        """Open a file for random reads."""
        held = self._held.get(path)
        if held is None:
            return self._inner.open_input(path, size_bytes=size_bytes)
        return pa.BufferReader(held)

    def exists(self, path: str) -> bool:
        """Whether a file or folder exists."""
        return path in self._held or self._inner.exists(path)

    def has_file(self, path: str) -> bool:
        """Whether a path that is never a folder exists."""
        return path in self._held or self._inner.has_file(path)

    def size_bytes(self, path: str) -> int:
        """Size of a file."""
        held = self._held.get(path)
        return self._inner.size_bytes(path) if held is None else len(held)

    def delete(self, path: str) -> None:
        """Delete a file."""
        if not self._dropped(path):
            self._inner.delete(path)

    def delete_files(self, paths: Sequence[str]) -> Mapping[str, OSError | CorruptMetadataError]:
        """Delete files; return what could not be, and why."""
        return delete_each(self.delete, paths)

    def _dropped(self, path: str) -> bool:
        with self._lock:
            held = self._held.pop(path, None)
            self._size_bytes -= 0 if held is None else len(held)
            return held is not None


class _HeldOutput(io.RawIOBase):
    """What ``pyarrow.PythonFile`` writes to: into memory, or on to the store once it is large.

    A forked child that drops it holds and writes nothing.
    """

    def __init__(self, files: HeldFileIO, path: str) -> None:
        super().__init__()
        self._files, self._path = files, path
        self._pieces: list[bytes] = []
        self._size_bytes = 0
        self._written: pa.NativeFile | None = None
        self._home = Home()

    def writable(self) -> bool:
        """Whether it can be written."""
        return True

    def tell(self) -> int:
        """Return how much was written."""
        return self._size_bytes

    def write(self, data: Any, /) -> int:
        """Take bytes."""
        taken = bytes(data)
        self._size_bytes += len(taken)
        if self._written is not None:
            self._written.write(taken)
            return len(taken)
        self._pieces.append(taken)
        if not self._files.has_room(self._size_bytes):
            self._let_go()
        return len(taken)

    def close(self) -> None:
        """Hold the file, or finish it in the store."""
        if self.closed:
            return
        super().close()
        if not self._home.is_here:
            return
        if self._written is None and not self._files.hold(self._path, b"".join(self._pieces)):
            self._let_go()
        if self._written is not None:
            self._written.close()
        self._pieces.clear()

    def _let_go(self) -> None:
        self._written = self._files._store().open_output(self._path)  # noqa: SLF001 - its own output
        for piece in self._pieces:
            self._written.write(piece)
        self._pieces.clear()
