"""A file of a store as a stream to read at random."""

from __future__ import annotations

import io
from abc import abstractmethod
from collections.abc import Sequence

import pyarrow as pa

from paimonlab.storage.file_io import Buffer


class RandomInput(io.RawIOBase):
    """What ``pyarrow.PythonFile`` reads from. One thread at a time, as that class sees to."""

    def __init__(self) -> None:
        super().__init__()
        self._position = 0

    @abstractmethod
    def size(self) -> int:
        """Return the size in bytes."""

    @abstractmethod
    def _between(self, start: int, end: int) -> Buffer:
        """Return the bytes of a range that is not empty and ends within the file."""

    def will_read(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Take note of what is read next, start and end of each; stores may fetch it now."""

    def readable(self) -> bool:
        """Whether it can be read."""
        return True

    def seekable(self) -> bool:
        """Whether it can be read at random."""
        return True

    def tell(self) -> int:
        """Return where the next byte is read."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Go to a position."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self.size()}
        self._position = max(start[whence] + offset, 0)
        return self._position

    def read(self, size: int | None = -1, /) -> Buffer:
        """Read as many bytes, fewer only at the end; pyarrow takes them without a copy."""
        start = self._position
        end = self.size() if size is None or size < 0 else min(start + size, self.size())
        data = self._between(start, end) if start < end else b""
        self._position = start + len(data)
        return data

    def readall(self) -> bytes:
        """Read what is left."""
        return bytes(self.read())


class RandomFile(pa.PythonFile):  # type: ignore[misc]
    """An open file of a store that may be told what is read next; its mode is ``r``."""

    def __init__(self, source: RandomInput, mode: str) -> None:
        del mode  # pyarrow takes both as the object is made
        super().__init__()
        self._source = source

    def will_read(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Let bytes be fetched together that are read one after the other."""
        self._source.will_read(ranges)
