"""An object as a file to read at random: few requests, the end of it with the first."""

from __future__ import annotations

from collections import deque
from typing import Any

import obstore
from obstore.store import AzureStore

from paimonlab.errors import StorageError
from paimonlab.storage.random_input import RandomInput
from paimonlab.storage.stores.answers import failure, is_answer_of_store
from paimonlab.storage.stores.connecting import ObjectStore

_TAIL_BYTES = 64 << 10
"""Of a data file the end is read first: footers are there."""
_SMALL_BYTES = 64 << 10
"""A smaller read is of a page or an index: others nearby follow it."""
_LEAST_BYTES = 1 << 20
"""What another read fetches at least: of a column, which columns nearby follow. A round trip takes
as long as some megabytes."""
_BLOCKS = 4
"""How many pieces are kept."""


class ObjectInput(RandomInput):
    """An object that is read; the end of it came with the first request."""

    def __init__(self, store: ObjectStore, key: str, path: str, secrets: tuple[str, ...]) -> None:
        super().__init__()
        self._store, self._key, self._path, self._secrets = store, key, path, secrets
        self._tail = b""
        self._size_bytes = self._open()
        self._tail_start = self._size_bytes - len(self._tail)
        self._blocks: deque[tuple[int, bytes]] = deque(maxlen=_BLOCKS)
        """Where each starts, and its bytes."""

    def size(self) -> int:
        """Return the size in bytes."""
        return self._size_bytes

    def _between(self, start: int, end: int) -> bytes:
        if start >= self._tail_start:
            return self._tail[start - self._tail_start : end - self._tail_start]
        if end > self._tail_start:
            head = self._between(start, self._tail_start)
            return head + self._tail[: end - self._tail_start]
        for first, block in self._blocks:
            if first <= start < end <= first + len(block):
                return block[start - first : end - first]
        least = _SMALL_BYTES if end - start < _SMALL_BYTES else _LEAST_BYTES
        last = min(max(end, start + least), self._tail_start)
        data = self._fetched(start, last)
        if last > end:
            self._blocks.append((start, data))
        return data[: end - start]

    def _open(self) -> int:
        """Read the end and return the size."""
        try:
            if isinstance(self._store, AzureStore):
                return self._open_sized(int(obstore.head(self._store, self._key)["size"]))
            try:
                suffix: Any = {"range": {"suffix": _TAIL_BYTES}}
                answer = obstore.get(self._store, self._key, options=suffix)
                self._tail = bytes(answer.bytes())
                return int(answer.meta["size"])
            except FileNotFoundError:
                raise
            except Exception as error:
                if not is_answer_of_store(error):
                    raise
                # Of an object without bytes there is no range.
                size = int(obstore.head(self._store, self._key)["size"])
                if size:
                    raise
                return 0
        except Exception as error:
            if is_answer_of_store(error):
                raise failure(error, self._path, "reading", self._secrets) from None
            raise

    def _open_sized(self, size_bytes: int) -> int:
        """Read the end of an object where only ranges from the start can be asked for."""
        start = max(size_bytes - _TAIL_BYTES, 0)
        if size_bytes:
            self._tail = self._fetched(start, size_bytes)
        return size_bytes

    def _fetched(self, start: int, end: int) -> bytes:
        try:
            data = bytes(obstore.get_range(self._store, self._key, start=start, end=end))
        except Exception as error:
            if is_answer_of_store(error):
                raise failure(error, self._path, "reading", self._secrets) from None
            raise
        if len(data) != end - start:
            problem = f"{end - start:,} bytes were asked for and {len(data):,} came"
            raise StorageError(None, problem, self._path)
        return data
