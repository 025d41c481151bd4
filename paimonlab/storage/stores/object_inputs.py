"""An object as a file to read at random, by few requests."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import obstore
from obstore.store import AzureStore

from paimonlab.errors import CorruptDataError, StorageError
from paimonlab.storage.file_io import Buffer
from paimonlab.storage.random_input import RandomInput
from paimonlab.storage.recent import Recent
from paimonlab.storage.stores.answers import failure, is_answer_of_store, is_beyond_end
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
_GAP_BYTES = 1 << 20
"""Between two ranges what is fetched with them: it takes less than another round trip."""
_RANGE_BYTES = 8 << 20
"""What is fetched by one request; more is fetched by several at a time."""
_AHEAD_BYTES = 32 << 20
"""What is fetched before it is read, at most."""

recent_tails: Recent[tuple[str, int], Buffer] = Recent(16 << 20)
"""Ends of files whose metadata says their size, which never change: a footer and page indexes are
read at different times, small files are read as a whole."""


class ObjectInput(RandomInput):
    """An object that is read; where its size is not known its end comes with the answer to that.

    Parameters
    ----------
    store, key, path, secrets
        Where the object is; its name in errors, and what must not be in them.
    size_bytes
        Its size; nothing is asked for before the first read then. None: not known.
    """

    def __init__(
        self,
        store: ObjectStore,
        key: str,
        path: str,
        secrets: tuple[str, ...],
        size_bytes: int | None = None,
    ) -> None:
        super().__init__()
        self._store, self._key, self._path, self._secrets = store, key, path, secrets
        self._tail: Buffer | None = None
        """What follows `_tail_start`; None: it was not needed yet."""
        self._is_known = size_bytes is not None
        self._size_bytes = self._open() if size_bytes is None else size_bytes
        self._tail_start = max(self._size_bytes - _TAIL_BYTES, 0)
        self._blocks: deque[tuple[int, Buffer]] = deque(maxlen=_BLOCKS)
        """Where each starts, and its bytes."""
        self._ahead: list[tuple[int, Buffer]] = []
        """The same of what was fetched before it is read."""

    def size(self) -> int:
        """Return the size in bytes."""
        return self._size_bytes

    def will_read(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Fetch ranges together, unless they are many bytes; earlier ones are given up."""
        self._ahead = []
        if not self._tail_start:
            return  # its end is all of it
        if self._tail is None and self._is_known:
            self._tail = recent_tails.get((self._path, self._size_bytes))
        last = self._size_bytes if self._tail is None else self._tail_start
        pieces = coalesced([(start, min(end, last)) for start, end in ranges])
        if sum(end - start for start, end in pieces) > _AHEAD_BYTES:
            return
        fetched = self._fetched_all(pieces)
        self._ahead = list(zip([start for start, _ in pieces], fetched, strict=True))

    def _between(self, start: int, end: int) -> Buffer:
        for first, block in (*self._ahead, *self._blocks):
            if first <= start < end <= first + len(block):
                return block[start - first : end - first]
        if start >= self._tail_start:
            return self._fetched_tail()[start - self._tail_start : end - self._tail_start]
        for first, block in self._ahead:
            last = first + len(block)
            if first <= start < last < end:
                return b"".join((block[start - first :], self._between(last, end)))
        if end > self._tail_start and self._tail is not None:
            return b"".join(
                (self._between(start, self._tail_start), self._between(self._tail_start, end))
            )
        least = _SMALL_BYTES if end - start < _SMALL_BYTES else _LEAST_BYTES
        last = max(end, min(start + least, self._tail_start))
        data = self._fetched(start, last)
        if last > end:
            self._blocks.append((start, data))
        return data[: end - start]

    def _fetched_tail(self) -> Buffer:
        """Return the end of the object, which one thread asks for where others need it, too."""
        if self._tail is None:
            if self._is_known:
                key = (self._path, self._size_bytes)
                self._tail = recent_tails.made_once(key, self._asked_tail)
            else:
                self._tail, _ = self._asked_tail()
        return self._tail

    def _asked_tail(self) -> tuple[Buffer, int]:
        """Ask for the end; only the answer says whether the object has the size that was given."""
        span: Any = {"range": (self._tail_start, self._size_bytes)}
        try:
            answer = obstore.get(self._store, self._key, options=span)
            found, tail = int(answer.meta["size"]), memoryview(answer.bytes())
        except Exception as error:
            if is_answer_of_store(error):
                raise self._named(error) from None
            raise
        if found != self._size_bytes or len(tail) != found - self._tail_start:
            problem = f"it has {found:,} bytes, not {self._size_bytes:,}"
            raise CorruptDataError(self._path, problem)
        return tail, len(tail)

    def _open(self) -> int:
        """Read the end and return the size."""
        try:
            if isinstance(self._store, AzureStore):  # no range there ends at the end
                return int(obstore.head(self._store, self._key)["size"])
            try:
                suffix: Any = {"range": {"suffix": _TAIL_BYTES}}
                answer = obstore.get(self._store, self._key, options=suffix)
                self._tail = memoryview(answer.bytes())
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
                raise self._named(error) from None
            raise

    def _named(self, error: Exception) -> Exception:
        """Return an error that names the object."""
        if is_beyond_end(error):
            return CorruptDataError(self._path, f"it ends before its {self._size_bytes:,} bytes do")
        return failure(error, self._path, "reading", self._secrets)

    def _fetched(self, start: int, end: int) -> Buffer:
        return self._fetched_all([(start, end)])[0]

    def _fetched_all(self, ranges: Sequence[tuple[int, int]]) -> list[Buffer]:
        """Fetch each range by a request of its own, several at a time."""
        try:
            if len(ranges) == 1:
                ((start, end),) = ranges
                parts = [obstore.get_range(self._store, self._key, start=start, end=end)]
            else:
                parts = obstore.get_ranges(
                    self._store,
                    self._key,
                    starts=[start for start, _ in ranges],
                    ends=[end for _, end in ranges],
                    coalesce=0,
                )
        except Exception as error:
            if is_answer_of_store(error):
                raise self._named(error) from None
            raise
        found = [memoryview(part) for part in parts]
        for (start, end), data in zip(ranges, found, strict=True):
            if len(data) != end - start:
                problem = f"{end - start:,} bytes were asked for and {len(data):,} came"
                raise StorageError(None, problem, self._path)
        return list(found)


def coalesced(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join ranges with small gaps between them, and cut long ones.

    Parameters
    ----------
    ranges
        Start and end of each; those without bytes are left out.

    Examples
    --------
    >>> coalesced([(100, 200), (0, 50), (5_000_000, 5_000_010), (7, 7)])
    [(0, 200), (5000000, 5000010)]
    >>> [end - start for start, end in coalesced([(0, 20 << 20)])] == [8 << 20, 8 << 20, 4 << 20]
    True
    """
    joined: list[tuple[int, int]] = []
    for start, end in sorted(one for one in ranges if one[0] < one[1]):
        if joined and start <= joined[-1][1] + _GAP_BYTES:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return [
        (first, min(first + _RANGE_BYTES, end))
        for start, end in joined
        for first in range(start, end, _RANGE_BYTES)
    ]
