"""What was read from files that never change, kept in memory while it is in use."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

from paimonlab.storage.forks import renew_in_children

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class _Turns:
    """Threads that want one value."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.waiting = 0


class Recent(Generic[Key, Value]):
    """Values up to a number of bytes, the least recently used evicted first. Thread-safe."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._size_bytes = 0
        self._values: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._lock = threading.Lock()
        self._turns: dict[Key, _Turns] = {}
        renew_in_children(self)

    def renew(self) -> None:
        """Go on in a forked child: with what is there, unless a thread was just changing it."""
        if self._lock.locked():
            self._values = OrderedDict()
            self._size_bytes = 0
        self._lock = threading.Lock()
        self._turns = {}

    def __reduce__(self) -> tuple[type[Recent[Key, Value]], tuple[int]]:
        """Pickle the limit alone: another process remembers what it reads itself."""
        return type(self), (self._limit_bytes,)

    def get(self, key: Key) -> Value | None:
        """Return what `put` kept, or None."""
        with self._lock:
            entry = self._values.get(key)
            if entry is None:
                return None
            self._values.move_to_end(key)
            return entry[0]

    def put(self, key: Key, value: Value, size_bytes: int) -> None:
        """Keep a value, unless it alone is larger than the limit."""
        if size_bytes > self._limit_bytes:
            return
        with self._lock:
            if key not in self._values:
                self._values[key] = (value, size_bytes)
                self._size_bytes += size_bytes
            while self._size_bytes > self._limit_bytes and self._values:
                _, (_, oldest_bytes) = self._values.popitem(last=False)
                self._size_bytes -= oldest_bytes
            if not self._values:  # an interrupt may have come between a value and its size
                self._size_bytes = 0

    def made_once(self, key: Key, make: Callable[[], tuple[Value, int]]) -> Value:
        """Return what is kept, or make and keep it: one thread does, others wait for it.

        Parameters
        ----------
        key
            Of the value.
        make
            Returns the value and its bytes. If it raises, the next thread that waits tries.
        """
        value = self.get(key)
        if value is not None:
            return value
        with self._lock:
            turns = self._turns.setdefault(key, _Turns())
            turns.waiting += 1
        try:
            with turns.lock:
                value = self.get(key)
                if value is None:
                    value, size_bytes = make()
                    self.put(key, value, size_bytes)
                return value
        finally:
            with self._lock:
                turns.waiting -= 1
                if not turns.waiting:
                    self._turns.pop(key, None)

    def all_keys(self) -> list[Key]:
        """Return the keys of all values kept, the least recently used first."""
        with self._lock:
            return list(self._values)

    def drop(self, keys: Iterable[Key]) -> None:
        """Forget some values; unknown keys are ignored."""
        with self._lock:
            for key in keys:
                entry = self._values.pop(key, None)
                if entry is not None:
                    self._size_bytes -= entry[1]

    @property
    def size_bytes(self) -> int:
        """Size of all values kept."""
        with self._lock:
            return self._size_bytes

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._values.clear()
            self._size_bytes = 0
