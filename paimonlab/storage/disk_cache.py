"""Files of a slow store that never change, kept on the local disk: whole, or by blocks.

Each entry ends with a checksum of its bytes and of what it is of, so that what a crash, a bad disk
or another user left is not taken for it: it is fetched again.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
from msgspec import Struct

from paimonlab.errors import CorruptDataError, StorageError
from paimonlab.interrupts import whole_module
from paimonlab.storage.file_io import METADATA_LIMIT_BYTES, FileIO
from paimonlab.storage.forwarding import ForwardingFileIO
from paimonlab.storage.kept_files import KeptFiles
from paimonlab.storage.random_input import RandomFile, RandomInput

logger = logging.getLogger(__name__)

_SUM_BYTES = 16
_RETENTION_SECONDS = 30 * 86_400
_SWEPT_SHARE = 16
"""Unused entries are looked for when so much of the limit, a sixteenth, was added."""
_LARGEST_WHOLE = 64 << 20
_IN_MEMORY = 4
"""How many blocks an open file keeps at hand."""


class DiskCache(Struct, frozen=True, kw_only=True):
    """A folder on the local disk. Threads and processes may share it."""

    folder: str
    """Absolute; made with mode 0700."""
    limit_bytes: int | None = None
    """None: no limit but that a twentieth of the disk stays free."""
    block_bytes: int = 1 << 20

    def find(self, key: str) -> bytes | None:
        """Return what was kept under a key; None: nothing, or it is damaged."""
        group, name = _place(key)
        path = self._files.find(group, name)
        if path is None:
            return None
        try:
            data = Path(path).read_bytes()
        except OSError:
            return None
        if data[-_SUM_BYTES:] == _sum(key, memoryview(data)[:-_SUM_BYTES]):
            return data[:-_SUM_BYTES]
        logger.warning("%s: its content is not what was written; it is fetched again", path)
        return None

    def keep(self, key: str, data: bytes) -> None:
        """Keep bytes under a key; where the disk does not take them work goes on without."""
        group, name = _place(key)

        def write(path: str) -> None:
            with Path(path).open("xb") as file:
                file.write(data)
                file.write(_sum(key, data))

        self._files.add(group, name, write)

    @property
    def _files(self) -> KeptFiles:
        slack = None if self.limit_bytes is None else self.limit_bytes // _SWEPT_SHARE
        return KeptFiles(
            self.folder,
            retention_seconds=_RETENTION_SECONDS,
            limit_bytes=None if slack is None else (self.limit_bytes or 0) - slack,
            slack_bytes=slack if slack is not None else 1 << 30,
        )


def _place(key: str) -> tuple[str, str]:
    """Return the names of a folder and of a file for a key."""
    name: str = _blake2b(key.encode(), digest_size=20).hexdigest()
    return name[:2], name


def _sum(key: str, data: bytes | memoryview) -> bytes:
    found = _blake2b(key.encode() + b"\0", digest_size=_SUM_BYTES)
    found.update(data)
    return bytes(found.digest())


def _blake2b(data: bytes, *, digest_size: int) -> Any:
    return whole_module("hashlib").blake2b(data, digest_size=digest_size)


@dataclass(frozen=True, slots=True)
class CachingFileIO(ForwardingFileIO):
    """A store before which files that never change are kept on the local disk."""

    store: FileIO
    cache: DiskCache
    is_kept: Callable[[str], bool] = field(repr=False)
    """From the path of a file to whether it is kept: its name must never come again. Picklable."""

    def _store(self) -> FileIO:
        return self.store

    def within(self, *roots: str) -> Self:
        """Return this store as that of a table below these folders."""
        return type(self)(self.store.within(*roots), self.cache, self.is_kept)

    def read(self, path: str, *, limit_bytes: int = METADATA_LIMIT_BYTES) -> bytes:
        """Return the whole file."""
        if not self.is_kept(path):
            return self.store.read(path, limit_bytes=limit_bytes)
        known = self.cache.find(path)
        if known is not None and len(known) <= limit_bytes:
            return known
        data = self.store.read(path, limit_bytes=limit_bytes)
        if len(data) <= _LARGEST_WHOLE:
            self.cache.keep(path, data)
        return data

    def open_input(self, path: str, *, size_bytes: int | None = None) -> pa.NativeFile:
        """Open a file for random reads."""
        opened = partial(self.store.open_input, path, size_bytes=size_bytes)
        if not self.is_kept(path):
            return opened()
        return RandomFile(CachedInput(self.cache, path, opened, size_bytes), "r")


class CachedInput(RandomInput):
    """A file that is read by blocks; it is opened in its store only for those that are missing."""

    def __init__(
        self,
        cache: DiskCache,
        path: str,
        open_input: Callable[[], pa.NativeFile],
        size_bytes: int | None,
    ) -> None:
        super().__init__()
        self._cache, self._path, self._open = cache, path, open_input
        self._file: pa.NativeFile | None = None
        self._recent: deque[tuple[int, bytes]] = deque(maxlen=_IN_MEMORY)
        self._size_bytes = self._asked_size() if size_bytes is None else size_bytes

    def _asked_size(self) -> int:
        known = self._cache.find(f"{self._path}#size")
        if known is not None:
            return int(known)
        file = self._file = self._open()
        size_bytes = int(file.size())
        self._cache.keep(f"{self._path}#size", str(size_bytes).encode())
        return size_bytes

    def size(self) -> int:
        """Return the size in bytes."""
        return self._size_bytes

    def will_read(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Fetch the blocks of ranges that are missing, together."""
        wanted = {number for start, end in ranges if start < end for number in self._of(start, end)}
        missing = [
            number for number in sorted(wanted) if self._cache.find(self._key(number)) is None
        ]
        if not missing:
            return
        runs = list(_runs(missing))
        file = self._opened()
        if isinstance(file, RandomFile):
            file.will_read([self._range(first, last) for first, last in runs])
        for first, last in runs:
            self._fetch(first, last)

    def close(self) -> None:
        """Close the file in the store as well."""
        if self._file is not None:
            self._file.close()
        super().close()

    def _between(self, start: int, end: int) -> bytes:
        numbers = self._of(start, end)
        found = {number: self._block(number) for number in numbers}
        blocks = {number: block for number, block in found.items() if block is not None}
        for first, last in _runs([number for number in numbers if number not in blocks]):
            blocks |= self._fetch(first, last)
        begin = numbers[0] * self._cache.block_bytes
        return b"".join(blocks[number] for number in numbers)[start - begin : end - begin]

    def _block(self, number: int) -> bytes | None:
        for known, recent in self._recent:
            if known == number:
                return recent
        block = self._cache.find(self._key(number))
        first, last = self._range(number, number)
        if block is None or len(block) != last - first:
            return None
        self._recent.append((number, block))
        return block

    def _fetch(self, first: int, last: int) -> dict[int, bytes]:
        """Read neighbouring blocks from the store at once, and keep each."""
        start, end = self._range(first, last)
        file = self._opened()
        file.seek(start)
        data = file.read(end - start)
        if len(data) != end - start:
            problem = f"{end - start:,} bytes were asked for and {len(data):,} came"
            raise StorageError(None, problem, self._path)
        size_bytes = self._cache.block_bytes
        blocks = {
            number: data[(number - first) * size_bytes : (number - first + 1) * size_bytes]
            for number in range(first, last + 1)
        }
        for number, block in blocks.items():
            self._cache.keep(self._key(number), block)
            self._recent.append((number, block))
        return blocks

    def _opened(self) -> pa.NativeFile:
        file = self._file
        if file is None:
            file = self._file = self._open()
            if file.size() != self._size_bytes:
                problem = f"it has {file.size():,} bytes, not {self._size_bytes:,}"
                raise CorruptDataError(self._path, problem)
        return file

    def _of(self, start: int, end: int) -> range:
        """Return the numbers of the blocks of a range that is not empty."""
        return range(start // self._cache.block_bytes, (end - 1) // self._cache.block_bytes + 1)

    def _range(self, first: int, last: int) -> tuple[int, int]:
        size_bytes = self._cache.block_bytes
        return first * size_bytes, min((last + 1) * size_bytes, self._size_bytes)

    def _key(self, number: int) -> str:
        return f"{self._path}#{self._cache.block_bytes}#{number}"


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Join numbers that follow each other; yields first and last of each run."""
    first = last = -1
    for number in numbers:
        if first >= 0 and number == last + 1:
            last = number
            continue
        if first >= 0:
            yield first, last
        first = last = number
    if first >= 0:
        yield first, last
