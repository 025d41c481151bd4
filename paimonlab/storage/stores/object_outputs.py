"""An object that is written in pieces, and is there as a whole when it is closed."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from typing import Any

import obstore

from paimonlab.errors import StorageError
from paimonlab.storage.forks import Home
from paimonlab.storage.stores.answers import failure, is_answer_of_store
from paimonlab.storage.stores.connecting import ObjectStore

PART_BYTES = 8 << 20
"""A smaller object is one request; of a larger one so much is in a part."""
_PARTS_AT_ONCE = 4
_ROOM_ASKED_SECONDS = (1.0, 4.0, 15.0, 45.0)
"""So long parts are waited for before the store is asked whether it has room, again and again."""


class ObjectOutput(io.RawIOBase):
    """What ``pyarrow.PythonFile`` writes to. A forked child can do nothing to it."""

    def __init__(
        self,
        store: ObjectStore,
        key: str,
        path: str,
        *,
        create: Callable[[bytes], None],
        note_size: Callable[[int], None],
        find_full: Callable[[], OSError | None],
        secrets: tuple[str, ...],
    ) -> None:
        super().__init__()
        self._store, self._key, self._path, self._secrets = store, key, path, secrets
        self._create = create
        self._note_size = note_size
        self._find_full = find_full
        self._home = Home()
        self._pieces: list[bytes] = []
        self._held_bytes = 0
        self._size_bytes = 0
        self._parts: Any = None
        self._has_failed = False

    def writable(self) -> bool:
        """Whether it can be written."""
        return True

    def tell(self) -> int:
        """Return how much was written."""
        return self._size_bytes

    def write(self, data: Any, /) -> int:
        """Take bytes, and send parts as soon as there are enough."""
        taken = bytes(data)
        self._size_bytes += len(taken)
        if not self._home.is_here:
            return len(taken)
        self._pieces.append(taken)
        self._held_bytes += len(taken)
        if self._held_bytes >= PART_BYTES:
            self._requested(self._send)
        return len(taken)

    def close(self) -> None:
        """Make the object, unless something failed before: then there is none."""
        if self.closed:
            return
        super().close()
        if self._has_failed or not self._home.is_here:
            return
        if self._parts is None:
            self._requested(lambda: self._create(b"".join(self._pieces)))
        else:
            self._requested(self._complete)
        self._pieces.clear()
        self._note_size(self._size_bytes)

    def _send(self) -> None:
        if self._parts is None:
            # Names are never given twice, so nobody else makes it until all parts are there.
            if _exists(self._store, self._key):
                raise FileExistsError(f"{self._path} exists")
            self._parts = obstore.open_writer(
                self._store, self._key, buffer_size=PART_BYTES, max_concurrency=_PARTS_AT_ONCE
            )
        data = b"".join(self._pieces)
        self._pieces.clear()
        self._held_bytes = 0
        self._waited(lambda: self._parts.write(data))

    def _complete(self) -> None:
        if self._pieces:
            self._send()
        try:
            self._waited(self._parts.close)
        except Exception as error:
            # The answer may be what was lost; an object made of parts has its full size or is not.
            if not is_answer_of_store(error) or _size(self._store, self._key) != self._size_bytes:
                raise

    def _waited(self, act: Callable[[], None]) -> None:
        """Wait for what the library tries again by itself, but not for a store that is full.

        Whatever answer a part has, only the last one comes out of the library, after minutes. So
        what takes long is left alone if the store says of another object that it has no room.
        """
        problems: list[BaseException] = []

        def run() -> None:
            try:
                act()
            except BaseException as error:  # noqa: BLE001 - raised by who waits
                problems.append(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        for seconds in _ROOM_ASKED_SECONDS:
            thread.join(seconds)
            if not thread.is_alive():
                break
            if (full := self._find_full()) is not None:
                raise full
        thread.join()
        if problems:
            raise problems[0]

    def _requested(self, act: Callable[[], None]) -> None:
        try:
            act()
        except BaseException as error:
            self._has_failed = True
            self._pieces.clear()
            if isinstance(error, (StorageError, FileExistsError)):
                raise
            if isinstance(error, Exception) and is_answer_of_store(error):
                raise failure(error, self._path, "writing", self._secrets) from None
            raise


def _exists(store: ObjectStore, key: str) -> bool:
    return _size(store, key) is not None


def _size(store: ObjectStore, key: str) -> int | None:
    try:
        return int(obstore.head(store, key)["size"])
    except FileNotFoundError:
        return None
