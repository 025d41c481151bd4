"""One entry of a folder on a local disk: linked, synced, described, deleted."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from paimonlab.storage.file_io import FileStatus
from paimonlab.storage.links import (
    is_link,
    refusal,
)


def delete_from(folder: int, path: str) -> None:
    """Delete a file from its folder, which is held open."""
    name = path.rpartition("/")[2]
    if is_link(name, folder):
        raise refusal(path, path)
    os.unlink(name, dir_fd=folder)


@contextlib.contextmanager
def undone(path: str) -> Iterator[None]:
    """Delete a file made by this call if what follows fails."""
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            Path(path).unlink()
        raise


def sync_path(path: str) -> None:
    """Wait until a file or folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def link_new(source: str, target: str) -> None:
    """Give a file a second name, if nobody has it."""
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


def status_of(entry: os.DirEntry[str], *, is_below_link: bool) -> FileStatus | None:
    """Describe an entry of a listing; None: it is gone."""
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:  # deleted while we were listing
        return None
    is_directory = stat.S_ISDIR(status.st_mode)
    return FileStatus(
        path=entry.path,
        size_bytes=0 if is_directory else status.st_size,
        is_directory=is_directory,
        modified_millis=status.st_mtime_ns // 1_000_000,
        is_linked=is_below_link or stat.S_ISLNK(status.st_mode),
    )


def make_below(folder: str, root: str) -> bool:
    """Create a folder and those above it, below a root; False if the root is not there."""
    if len(folder) <= max(len(root), 1):
        return os.path.isdir(folder)  # noqa: PTH112
    try:
        os.mkdir(folder)  # noqa: PTH102
    except FileExistsError:
        return True
    except FileNotFoundError:
        if not make_below(os.path.dirname(folder), root):  # noqa: PTH120
            return False
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder)  # noqa: PTH102
    return True


def missing_parents(path: str) -> list[str]:
    """List the folders above a path that are not there, the deepest first."""
    missing = []
    folder = Path(path)
    while not folder.is_dir():
        missing.append(str(folder))
        folder = folder.parent
    return missing
