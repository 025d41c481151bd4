"""Folders that files arrive in: on a disk, or in a store."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Protocol

import msgspec
import pyarrow as pa

from paimonlab.formats.source_files import SourceFile, SourceFormat
from paimonlab.secrets import hides_secrets
from paimonlab.storage import FileIO, join


class Seen(msgspec.Struct, frozen=True, array_like=True):
    """How a file was when it was looked at."""

    size_bytes: int
    modified_nanos: int
    number: int = 0
    """Of the file on its disk, which it keeps under another name; 0: unknown, as in stores."""

    def is_same(self, other: Seen) -> bool:
        """Whether nothing was written in between, whatever the number says."""
        return (self.size_bytes, self.modified_nanos) == (other.size_bytes, other.modified_nanos)


class Folder(Protocol):
    """A folder, and those below it. Paths are below the folder, with ``/``."""

    @property
    def place(self) -> str:
        """Where it is."""
        ...

    @property
    def poll_seconds(self) -> float:
        """How often it is listed."""
        ...

    def exists(self) -> bool:
        """Say whether there is such a folder."""
        ...

    def files(self) -> Iterator[tuple[str, Seen]]:
        """Yield files in no order; those in folders of hidden names are left out."""
        ...

    def seen(self, path: str) -> Seen:
        """Look at a file; raises ``FileNotFoundError``."""
        ...

    def begin_of(self, path: str, size_bytes: int) -> bytes:
        """Return the first bytes of a file."""
        ...

    def opened(self, path: str, form: SourceFormat, delimiter: str | None) -> SourceFile:
        """Return a file to be read."""
        ...

    def delete(self, path: str) -> None:
        """Delete a file."""
        ...

    def move(self, path: str, folder: str) -> None:
        """Move a file to another folder."""
        ...


def is_hidden(name: str) -> bool:
    """Say whether a name is that of something that is not meant for others."""
    return name.startswith((".", "_"))


@dataclass(frozen=True)
class LocalFolder:
    """A folder of a disk."""

    path: Path
    poll_seconds: float = 0.5

    @property
    def place(self) -> str:
        """Return its path."""
        return str(self.path)

    def exists(self) -> bool:
        """Say whether it exists."""
        return self.path.is_dir()

    def files(self) -> Iterator[tuple[str, Seen]]:
        """Yield files; links to files are files, links to folders are passed over.

        Raises
        ------
        OSError
            If a folder cannot be listed: its files are not gone.
        """
        for folder, folders, names in os.walk(self.path, onerror=_raise):
            folders[:] = sorted(name for name in folders if not is_hidden(name))
            below = os.path.relpath(folder, self.path)
            for name in names:
                path = name if below == "." else f"{below}/{name}"
                try:
                    status = Path(folder, name).stat()
                except OSError as error:
                    if error.errno in (errno.ENOENT, errno.ELOOP):  # a link to nothing, or gone
                        continue
                    raise
                if stat.S_ISREG(status.st_mode):
                    yield path, _seen(status)

    def seen(self, path: str) -> Seen:
        """Look at a file."""
        return _seen((self.path / path).stat())

    def begin_of(self, path: str, size_bytes: int) -> bytes:
        """Return the first bytes of a file."""
        with (self.path / path).open("rb") as file:
            return file.read(size_bytes)

    def opened(self, path: str, form: SourceFormat, delimiter: str | None) -> SourceFile:
        """Return a file to be read."""
        return SourceFile(str(self.path / path), form, delimiter)

    def delete(self, path: str) -> None:
        """Delete a file."""
        (self.path / path).unlink()

    def move(self, path: str, folder: str) -> None:
        """Move a file to another folder, beside those of its name that are there: ``a.1.csv``.

        A process that is killed in between leaves the file, whole, in one of the two or in both.
        """
        there, seen = Path(folder) / path, self.seen(path)
        there.parent.mkdir(parents=True, exist_ok=True)
        stem, dot, ending = there.name.partition(".")
        names = (f"{stem}.{number}{dot}{ending}" for number in count(1))
        target = there
        while target.exists() and not _seen(target.stat()).is_same(seen):
            target = there.with_name(next(names))
        try:
            (self.path / path).replace(target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            begun = target.with_name(f".{target.name}.part")
            shutil.copy2(self.path / path, begun)
            begun.replace(target)
            (self.path / path).unlink()


def _seen(status: os.stat_result) -> Seen:
    return Seen(status.st_size, status.st_mtime_ns, status.st_ino)


def _raise(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):  # a folder that goes meanwhile
        raise error


@hides_secrets
@dataclass(frozen=True)
class StoreFolder:
    """A folder of a store, such as ``s3://bucket/in``."""

    place: str
    options: Mapping[str, str]
    """Of the store, as a catalog takes them."""
    poll_seconds: float
    _store: list[FileIO] = field(default_factory=list, repr=False)

    @property
    def store(self) -> FileIO:
        """Open the store when it is needed first."""
        if not self._store:
            from paimonlab.catalog.rest.stores import opened_store  # noqa: PLC0415 - an extra

            self._store.append(opened_store(self.place, self.options))
        return self._store[0]

    def exists(self) -> bool:
        """Say whether it exists: in object stores, whether anything is in it."""
        return self.store.exists(self.place)

    def files(self) -> Iterator[tuple[str, Seen]]:
        """Yield files."""
        folders = [""]
        while folders:
            below = folders.pop()
            for status in self.store.list(join(self.place, below) if below else self.place):
                name = status.path.rstrip("/").rpartition("/")[2]
                path = f"{below}/{name}" if below else name
                if not status.is_directory:
                    yield path, Seen(status.size_bytes, status.modified_millis * 1_000_000)
                elif not is_hidden(name):
                    folders.append(path)

    def seen(self, path: str) -> Seen:
        """Look at a file."""
        folder, _, name = join(self.place, path).rpartition("/")
        for status in self.store.list(folder):
            if not status.is_directory and status.path.rpartition("/")[2] == name:
                return Seen(status.size_bytes, status.modified_millis * 1_000_000)
        raise FileNotFoundError(join(self.place, path))

    def begin_of(self, path: str, size_bytes: int) -> bytes:
        """Return the first bytes of a file."""
        with self.store.open_input(join(self.place, path)) as file:
            found: bytes = file.read(size_bytes)
            return found

    def opened(self, path: str, form: SourceFormat, delimiter: str | None) -> SourceFile:
        """Return a file to be read."""
        full = join(self.place, path)

        def open_it() -> pa.NativeFile:
            return self.store.open_input(full)

        return SourceFile(full, form, delimiter, opens=open_it)

    def delete(self, path: str) -> None:
        """Delete a file."""
        self.store.delete(join(self.place, path))

    def move(self, path: str, folder: str) -> None:
        """Move a file to another folder of the store."""
        self.store.rename(join(self.place, path), join(folder, path))
