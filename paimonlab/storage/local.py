"""The local file system.

Publishing is ``link(2)``, which fails when the target exists, also between processes: a
rename would silently overwrite another writer's snapshot. Files and folders are synced
before anything refers to them, so that a commit that was acknowledged survives power loss.
A file is written whole or not at all: what a full disk cut short is deleted again.

Below the folders that a store is `within`, links that lead out are not followed. Only ordinary
files are read: a pipe or device in place of a file is never waited for.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import stat
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal, Self

import pyarrow as pa

from paimonlab.errors import CorruptDataError, CorruptMetadataError
from paimonlab.interrupts import whole_module
from paimonlab.storage.failures import delete_each, named_failures
from paimonlab.storage.file_io import METADATA_LIMIT_BYTES, Buffer, FileStatus
from paimonlab.storage.forks import kept_from_children
from paimonlab.storage.links import (
    PlainFolders,
    folder_held,
    is_link,
    refusal,
    require_inside,
    root_of,
)
from paimonlab.storage.local_entries import (
    delete_from,
    link_new,
    make_below,
    missing_parents,
    status_of,
    undone,
)
from paimonlab.storage.paths import parent_of
from paimonlab.storage.spare_descriptors import SPARE
from paimonlab.storage.syncing import DurableFolders, begin_sync, sync_files, sync_folders
from paimonlab.storage.whole_files import check_size, kind, read_all, size_of_file, write_all


@dataclass(frozen=True, slots=True)
class LocalFileIO:
    """Files below folders of this machine."""

    durability: Literal["fsync", "none"] = "fsync"
    """``none`` leaves syncing to the operating system: faster, a crash of the machine may
    lose commits."""
    follow_links: bool = False
    """Whether what links lead to is read, also out of `roots`. Nothing is ever written or deleted
    through a link below them."""
    roots: tuple[str, ...] = ()
    """Folders below which links matter."""
    _plain: PlainFolders = field(
        default_factory=PlainFolders, init=False, compare=False, repr=False
    )
    _durable: DurableFolders = field(
        default_factory=DurableFolders, init=False, compare=False, repr=False
    )

    def within(self, *roots: str) -> Self:
        """Return this store, which lets no link lead out of these folders either."""
        known = {*self.roots, *(root.rstrip("/") for root in roots)}
        return replace(self, roots=tuple(sorted(known, key=len)))

    @named_failures
    def read(self, path: str, *, limit_bytes: int = METADATA_LIMIT_BYTES) -> bytes:
        """Return the whole file."""
        descriptor = self._opened(path)
        try:
            size_bytes = size_of_file(descriptor, path)
            if size_bytes > limit_bytes:
                problem = f"it has {size_bytes:,} bytes, more than the {limit_bytes:,} allowed"
                raise CorruptMetadataError(path, f"{problem} for a file of its kind")
            return read_all(descriptor, size_bytes)
        finally:
            os.close(descriptor)

    @named_failures
    def open_input(self, path: str, *, size_bytes: int | None = None) -> pa.NativeFile:
        """Open a file for random reads."""
        del size_bytes  # asking takes nothing here
        self._stat(path)
        return pa.OSFile(path, "rb")

    @named_failures
    def open_output(self, path: str) -> pa.NativeFile:
        """Create a new file for writing, parent folders included."""
        os.close(self._opened_new(path))
        with undone(path):
            return kept_from_children(pa.OSFile(path, "wb"))  # writes without the GIL

    @named_failures
    def create(self, path: str, data: Buffer) -> None:
        """Create a new file at once, parent folders included."""
        descriptor = self._opened_new(path)
        with undone(path):
            try:
                write_all(descriptor, data, path)
                if self.durability == "fsync":
                    begin_sync(descriptor, len(data))
            finally:
                os.close(descriptor)

    @named_failures
    def write(self, path: str, data: bytes) -> None:
        """Create a new, durable file."""
        folder = parent_of(path)
        self.make_directory(folder)
        self._create(path, data)
        with undone(path):
            self._sync_directory(folder)

    def begin_sync(self, output: pa.NativeFile) -> None:
        """Let the system begin to write a file to the disk."""
        if self.durability == "fsync":
            begin_sync(output.fileno(), output.tell())

    @named_failures
    def sync_files(self, sizes: Mapping[str, int]) -> None:
        """Make written files and their folders durable, if they are whole."""
        sync_files(sizes, durably=self.durability == "fsync")
        folders = set(map(parent_of, sizes))
        new = set[str]()
        for folder in folders:
            root = root_of(folder, self.roots)
            if root is not None:
                new.update(self._durable.unknown(folder, root))
        self._sync_directories(folders | {os.path.dirname(folder) for folder in new})  # noqa: PTH120
        self._durable.add(new)

    @named_failures
    def publish(self, path: str, data: bytes) -> bool:
        """Create ``path`` with ``data`` if nothing exists there, atomically and durably."""
        folder = parent_of(path)
        self.make_directory(folder)
        temporary = f"{folder}/.{path[len(folder) + 1 :]}.{uuid.uuid4()}.tmp"
        self._create(temporary, data)
        try:
            link_new(temporary, path)
        except FileExistsError:
            return False
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)  # noqa: PTH108
        self._sync_directory(folder)
        return True

    @named_failures
    def replace(self, path: str, data: bytes, *, durable: bool = True) -> None:
        """Write ``path`` atomically, whether or not it exists."""
        folder = parent_of(path)
        self.make_directory(folder)
        if durable and root_of(path, self.roots) is not None and Path(path).is_symlink():
            raise refusal(path, path)
        temporary = f"{folder}/.{path[len(folder) + 1 :]}.{uuid.uuid4()}.tmp"
        self._create(temporary, data, durable=durable)
        with undone(temporary):
            os.replace(temporary, path)  # noqa: PTH105
        if durable:
            self._sync_directory(folder)

    @named_failures
    def exists(self, path: str) -> bool:
        """Whether a file or folder exists; a link is, wherever it leads."""
        folder = parent_of(path)
        if self.follow_links or not self._plain.has(folder):
            root = None if self.follow_links else root_of(path, self.roots)
            if root is None:
                return os.path.exists(path)  # noqa: PTH110
            self._find_link(folder, path)
        return os.path.lexists(path)

    def has_file(self, path: str) -> bool:
        """Whether a path that is never a folder exists."""
        return self.exists(path)

    @named_failures
    def size_bytes(self, path: str) -> int:
        """Size of a file."""
        return self._stat(path).st_size

    @named_failures
    def check_files(self, folder: str, names: Collection[str]) -> None:
        """Check that names in a folder are files that may be read."""
        unsure = names
        if len(names) > _FEW_NAMES and self._find_link(folder, folder) is None:
            unsure = ()  # if there is no such folder
            with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
                unsure = [
                    entry.name
                    for entry in entries
                    if not entry.is_file(follow_symlinks=False) and entry.name in names
                ]
        for name in unsure:
            with contextlib.suppress(FileNotFoundError):
                self._stat(f"{folder}/{name}")

    @named_failures
    def list(self, path: str) -> list[FileStatus]:
        """Files and folders directly in a folder; [] when the folder does not exist."""
        link = self._find_link(path, path)
        try:
            with os.scandir(path) as entries:
                statuses = [status_of(entry, is_below_link=link is not None) for entry in entries]
        except FileNotFoundError:
            return []
        return [status for status in statuses if status is not None]

    @named_failures
    def list_names(self, path: str) -> Sequence[str]:
        """Names directly in a folder; [] when the folder does not exist."""
        self._find_link(path, path)
        try:
            return os.listdir(path)  # noqa: PTH208
        except FileNotFoundError:
            return []

    @named_failures
    def make_directory(self, path: str) -> None:
        """Create a folder and its parents, durably; fine when it exists."""
        self._require_plain(path, path)
        if os.path.isdir(path):  # noqa: PTH112
            return
        missing = missing_parents(path)
        os.makedirs(path, exist_ok=True)  # noqa: PTH103
        self._sync_directories([os.path.dirname(path) for path in missing])  # noqa: PTH120

    @named_failures
    def rename(self, source: str, target: str, *, durable: bool = True) -> None:
        """Move a file or folder."""
        self._require_plain(source, source)
        self._require_plain(os.path.dirname(target), target)  # noqa: PTH120
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
        self.make_directory(os.path.dirname(target))  # noqa: PTH120
        try:
            os.rename(source, target)  # noqa: PTH104
        except OSError as error:
            if error.errno == errno.ENOTEMPTY:  # others made it since
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target) from error
            raise
        if durable:
            self._sync_directories({str(Path(source).parent), str(Path(target).parent)})

    @named_failures
    def delete(self, path: str) -> None:
        """Delete a file; fine when it does not exist."""
        root = root_of(path, self.roots)
        if root is None:
            Path(path).unlink(missing_ok=True)
            return
        with contextlib.suppress(FileNotFoundError), folder_held(path, root) as (folder, _):
            delete_from(folder, path)

    def delete_files(self, paths: Sequence[str]) -> Mapping[str, OSError | CorruptMetadataError]:
        """Delete files, many at once; return what could not be, and why."""
        left: dict[str, OSError | CorruptMetadataError] = {}
        for folder, together in itertools.groupby(paths, key=os.path.dirname):
            group = list(together)
            root = root_of(folder, self.roots)
            if root is None:
                left |= delete_each(self.delete, group)
                continue
            try:
                with folder_held(group[0], root) as (held, _):
                    left |= delete_each(partial(delete_from, held), group)
            except (OSError, CorruptMetadataError):
                left |= delete_each(self.delete, group)  # each says why
        return left

    @named_failures
    def delete_directory(self, path: str) -> None:
        """Delete a folder with all in it; fine when it does not exist."""
        root = root_of(path, self.roots)
        if root is None:
            if Path(path).is_symlink():  # never follow a link out of the warehouse
                Path(path).unlink()
                return
            with contextlib.suppress(FileNotFoundError):
                whole_module("shutil").rmtree(path)
            return
        with contextlib.suppress(FileNotFoundError), folder_held(path, root) as (folder, name):
            if is_link(name, folder):
                raise refusal(path, path)
            whole_module("shutil").rmtree(name, dir_fd=folder)

    @named_failures
    def delete_empty_directory(self, path: str) -> bool:
        """Delete a folder if nothing is in it; False if something is, or if it is not there."""
        root = root_of(path, self.roots)
        try:
            if root is None:
                os.rmdir(path)  # noqa: PTH106
            else:
                with folder_held(path, root) as (folder, name):
                    os.rmdir(name, dir_fd=folder)
        except CorruptMetadataError:  # it is reached through a link
            return False
        except OSError as error:
            if error.errno in {errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT, errno.ENOTDIR}:
                return False
            raise
        return True

    def _opened_new(self, path: str) -> int:
        """Open a file that is not there yet, and make the folders that it is in."""
        folder = parent_of(path)
        if not self._plain.has(folder):
            root = root_of(folder, self.roots)
            if root is not None and self._plain.make(folder, root):
                self._durable.forget(folder, root)
        while True:
            self._require_plain(folder, folder)
            try:
                return os.open(path, _NEW, 0o644)
            except FileNotFoundError:
                # Others may delete a folder that is still empty.
                self._make_until_synced(folder)

    def _make_until_synced(self, folder: str) -> None:
        """Create a folder and its parents, durable when the files in it are synced."""
        root = root_of(folder, self.roots)
        if root is None or not make_below(folder, root):
            self.make_directory(folder)  # it is not known how far up the syncing goes
            return
        self._durable.forget(folder, root)

    def _opened(self, path: str) -> int:
        """Open a file to read it, whatever its kind, without blocking."""
        try:
            root = None if self.follow_links else root_of(path, self.roots)
            if root is None:
                return os.open(path, _READ)
            link = self._find_link(parent_of(path), path)
            try:
                return os.open(path, _READ | (0 if link else os.O_NOFOLLOW))
            except OSError as error:
                if error.errno not in _IS_LINK:
                    raise
            require_inside(path, path, root)
            return os.open(path, _READ)
        except OSError as error:
            if error.errno in (errno.ENXIO, *_IS_LINK):
                problem = "it is not a file, but a socket, a device or a link to itself"
                raise CorruptMetadataError(path, problem) from None
            raise

    def _stat(self, path: str) -> os.stat_result:
        """Look at a file that may be read."""
        root = None if self.follow_links else root_of(path, self.roots)
        if root is not None and self._find_link(parent_of(path), path) is None:
            status = os.lstat(path)
            if stat.S_ISREG(status.st_mode):
                return status
            if stat.S_ISLNK(status.st_mode):
                require_inside(path, path, root)
        try:
            status = os.stat(path)  # noqa: PTH116
        except OSError as error:
            if error.errno in _IS_LINK:
                raise CorruptDataError(path, "it is a link to itself") from None
            raise
        if not stat.S_ISREG(status.st_mode):
            raise CorruptDataError(path, f"it is {kind(status.st_mode)}, not a file")
        return status

    def _find_link(self, folder: str, path: str) -> str | None:
        """Return a link that the folder of a path is reached through, refuse one that leads out."""
        if self._plain.has(folder):
            return None
        root = root_of(folder, self.roots)
        link = None if root is None else self._plain.first_link(folder, root)
        if root is not None and link is not None and not self.follow_links:
            require_inside(path, link, root)
        return link

    def _require_plain(self, folder: str, path: str) -> None:
        """Refuse to change what is reached through a link; what is made can be deleted again."""
        SPARE.keep()
        if self._plain.has(folder):
            return
        root = root_of(folder, self.roots)
        link = None if root is None else self._plain.first_link(folder, root)
        if link is not None:
            raise refusal(path, link)

    def _create(self, path: str, data: bytes, *, durable: bool = True) -> None:
        """Make a new file with all of the data, or none."""
        descriptor = os.open(path, _NEW, 0o644)
        with undone(path):
            try:
                write_all(descriptor, data, path)
                if durable and self.durability == "fsync":
                    os.fsync(descriptor)
                check_size(descriptor, len(data), path)
            finally:
                os.close(descriptor)

    def _sync_directory(self, path: str) -> None:
        self._sync_directories((path,))

    def _sync_directories(self, paths: Collection[str]) -> None:
        if self.durability == "fsync":
            sync_folders(paths)


_FEW_NAMES = 16
"""So many are looked at one by one; the folder may have many others."""
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_READ = os.O_RDONLY | os.O_NONBLOCK
"""Without waiting for who writes into a pipe."""
_IS_LINK = (errno.ELOOP, errno.EMLINK)
"""What systems say to who opens a link and does not want to follow it."""
