"""What the clients of HDFS have in common. Paths are those within HDFS: ``/w/db.db/t``.

What is missing raises ``FileNotFoundError``, what is there already ``FileExistsError``, all else
``OSError`` with what the name node said.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol


class Status(Protocol):
    """A file or folder."""

    path: str
    length: int
    isdir: bool
    modification_time: int
    """Epoch milliseconds."""


class Reader(Protocol):
    """A file that is read."""

    def __len__(self) -> int:
        """Return the size in bytes."""
        ...

    def read_range(self, start: int, count: int, /) -> bytes:
        """Return ``count`` bytes from a position."""
        ...


class Writer(Protocol):
    """A file that is written."""

    def write(self, data: bytes, /) -> object:
        """Add bytes."""
        ...

    def hsync(self) -> object:
        """Make them durable, at the latest when the file is closed."""
        ...

    def close(self) -> object:
        """End the file: it is there, whole and durable, afterwards."""
        ...

    def abandon(self) -> object:
        """Stop writing; what is left of the file is deleted by its name."""
        ...


class HdfsClient(Protocol):
    """A connection to a name node."""

    creates_at_once: bool
    """Whether `create` takes the name; if not, it is taken by moving a file that is whole."""

    def read(self, path: str, /) -> Reader:
        """Open a file."""
        ...

    def create(self, path: str, /) -> Writer:
        """Begin a file that does not exist, parent folders included."""
        ...

    def rename(self, source: str, target: str, /, *, overwrite: bool) -> object:
        """Move a file or folder at once; only with ``overwrite`` onto a file that exists."""
        ...

    def list_status(self, path: str, /) -> Iterable[Status]:
        """Return what is directly in a folder."""
        ...

    def mkdirs(self, path: str, /) -> object:
        """Create a folder and its parents."""
        ...

    def delete(self, path: str, /, *, recursive: bool) -> bool:
        """Delete a file or folder; False: there is none."""
        ...

    def get_file_info(self, path: str, /) -> Status:
        """Return what is known of a file or folder."""
        ...
