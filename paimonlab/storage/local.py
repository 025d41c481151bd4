"""The local file system.

Publishing is ``link(2)``, which fails when the target exists, also between processes: a
rename would silently overwrite another writer's snapshot. Files and folders are synced
before anything refers to them, so that a commit that was acknowledged survives power loss.
A file is written whole or not at all: what a full disk cut short is deleted again.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyarrow as pa

from paimonlab.storage.file_io import FileStatus
from paimonlab.storage.forks import kept_from_children


@dataclass(frozen=True, slots=True)
class LocalFileIO:
    """Files below folders of this machine."""

    durability: Literal["fsync", "none"] = "fsync"
    """``none`` leaves syncing to the operating system: faster, a crash of the machine may
    lose commits."""

    def read(self, path: str) -> bytes:
        """Return the whole file."""
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123
            return file.read()

    def open_input(self, path: str) -> pa.NativeFile:
        """Open a file for random reads."""
        return pa.OSFile(path, "rb")

    def open_output(self, path: str) -> pa.NativeFile:
        """Create a new file for writing, parent folders included."""
        while True:
            self.make_directory(str(Path(path).parent))
            # Others may delete a folder that is still empty.
            with contextlib.suppress(FileNotFoundError):
                os.close(os.open(path, _NEW, 0o644))
                with _undone(path):
                    return kept_from_children(pa.OSFile(path, "wb"))  # writes without the GIL

    def write(self, path: str, data: bytes) -> None:
        """Create a new, durable file."""
        folder = str(Path(path).parent)
        self.make_directory(folder)
        self._create(path, data)
        with _undone(path):
            self._sync_directory(folder)

    def sync_files(self, sizes: Mapping[str, int]) -> None:
        """Make written files and their folders durable, if they are whole."""
        for path, size_bytes in sizes.items():
            descriptor = os.open(path, os.O_RDONLY)
            try:
                if self.durability == "fsync":
                    os.fsync(descriptor)
                _check_size(descriptor, size_bytes, path)
            finally:
                os.close(descriptor)
        self._sync_directories({str(Path(path).parent) for path in sizes})

    def publish(self, path: str, data: bytes) -> bool:
        """Create ``path`` with ``data`` if nothing is there, atomically and durably."""
        folder = str(Path(path).parent)
        self.make_directory(folder)
        temporary = f"{folder}/.{Path(path).name}.{uuid.uuid4()}.tmp"
        self._create(temporary, data)
        try:
            _link(temporary, path)
        except FileExistsError:
            return False
        finally:
            self.delete(temporary)
        self._sync_directory(folder)
        return True

    def replace(self, path: str, data: bytes, *, durable: bool = True) -> None:
        """Write ``path`` atomically, whether or not it exists."""
        folder = str(Path(path).parent)
        self.make_directory(folder)
        temporary = f"{folder}/.{Path(path).name}.{uuid.uuid4()}.tmp"
        self._create(temporary, data, durable=durable)
        with _undone(temporary):
            Path(temporary).replace(path)
        if durable:
            self._sync_directory(folder)

    def exists(self, path: str) -> bool:
        """Whether a file or folder is there."""
        return Path(path).exists()

    def size_bytes(self, path: str) -> int:
        """Size of a file."""
        return Path(path).stat().st_size

    def list(self, path: str) -> list[FileStatus]:
        """Files and folders directly in a folder; [] when the folder does not exist."""
        try:
            with os.scandir(path) as entries:
                return [status for entry in entries if (status := _status(entry)) is not None]
        except FileNotFoundError:
            return []

    def list_names(self, path: str) -> Sequence[str]:
        """Names directly in a folder; [] when the folder does not exist."""
        try:
            return os.listdir(path)  # noqa: PTH208
        except FileNotFoundError:
            return []

    def make_directory(self, path: str) -> None:
        """Create a folder and its parents, durably; fine when it exists."""
        if os.path.isdir(path):  # noqa: PTH112
            return
        missing = _missing_parents(path)
        os.makedirs(path, exist_ok=True)  # noqa: PTH103
        self._sync_directories(str(Path(folder).parent) for folder in missing)

    def rename(self, source: str, target: str) -> None:
        """Move a file or folder."""
        if Path(target).exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
        self.make_directory(str(Path(target).parent))
        Path(source).rename(target)
        self._sync_directories({str(Path(source).parent), str(Path(target).parent)})

    def delete(self, path: str) -> None:
        """Delete a file; fine when it does not exist."""
        Path(path).unlink(missing_ok=True)

    def delete_directory(self, path: str) -> None:
        """Delete a folder with all in it; fine when it does not exist."""
        if Path(path).is_symlink():  # never follow a link out of the warehouse
            Path(path).unlink()
            return
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(path)

    def delete_empty_directory(self, path: str) -> bool:
        """Delete a folder if nothing is in it; False if something is, or if it is not there."""
        try:
            Path(path).rmdir()
        except OSError as error:
            if error.errno in {errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT, errno.ENOTDIR}:
                return False
            raise
        return True

    def _create(self, path: str, data: bytes, *, durable: bool = True) -> None:
        """Make a new file with all of the data, or none."""
        descriptor = os.open(path, _NEW, 0o644)
        with _undone(path):
            try:
                _write_all(descriptor, data, path)
                if durable and self.durability == "fsync":
                    os.fsync(descriptor)
                _check_size(descriptor, len(data), path)
            finally:
                os.close(descriptor)

    def _sync_directory(self, path: str) -> None:
        self._sync_directories((path,))

    def _sync_directories(self, paths: Iterable[str]) -> None:
        if self.durability == "fsync":
            for path in paths:
                _sync(path)


_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL


@contextlib.contextmanager
def _undone(path: str) -> Iterator[None]:
    """Delete a file that this very call has made when what follows fails."""
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            Path(path).unlink()
        raise


def _write_all(descriptor: int, data: bytes, path: str) -> None:
    """Write all bytes: the system may take fewer at once, and does when the disk gets full."""
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None


def _check_size(descriptor: int, size_bytes: int, path: str) -> None:
    found = os.fstat(descriptor).st_size
    if found != size_bytes:
        problem = f"{size_bytes:,} bytes were written and {found:,} are there"
        raise OSError(errno.EIO, problem, path)


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in {errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS}:
            raise
        raise OSError(
            error.errno,
            "this file system has no hard links, so two writers could overwrite each other's "
            "snapshots; put the warehouse on another file system",
            target,
        ) from error


def _status(entry: os.DirEntry[str]) -> FileStatus | None:
    try:
        found = entry.stat(follow_symlinks=False)
    except FileNotFoundError:  # deleted while we were listing
        return None
    is_directory = stat.S_ISDIR(found.st_mode)
    return FileStatus(
        path=entry.path,
        size_bytes=0 if is_directory else found.st_size,
        is_directory=is_directory,
        modified_millis=found.st_mtime_ns // 1_000_000,
    )


def _missing_parents(path: str) -> list[str]:
    missing = []
    folder = Path(path)
    while not folder.is_dir():
        missing.append(str(folder))
        folder = folder.parent
    return missing
