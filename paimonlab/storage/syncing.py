"""Making files durable, with the folders that they are in, many at once.

A disk takes a while to say that something is durable, however little it is, and what many ask for
at once it does together. So files are written first and synced afterwards, by several threads.
Meanwhile the system already writes what is in files to the disk, where it can be asked for that.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections import deque
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor

from paimonlab.storage.local_entries import sync_path
from paimonlab.storage.whole_files import check_size

_THREADS = 8
_FEW = 4
"""Paths up to which threads cost more than they save."""
_MOST_FOLDERS = 100_000
_LEAST_BEGUN_BYTES = 1 << 15
"""Bytes of a file below which asking for them takes more time than it saves."""
_SYNC_FILE_RANGE_WRITE = 2


class DurableFolders:
    """Remembers folders that would be there after a loss of power.

    Whoever finds a folder cannot tell whether who made it has synced the folder above. A copy in
    another process begins anew.
    """

    def __init__(self) -> None:
        self._known: set[str] = set()

    def __reduce__(self) -> tuple[type[DurableFolders], tuple[()]]:
        return DurableFolders, ()

    def unknown(self, folder: str, root: str) -> list[str]:
        """Return those of a folder and of all above it, below ``root``, not known to be."""
        found = list[str]()
        while len(folder) > max(len(root), 1) and folder not in self._known:
            found.append(folder)
            folder = os.path.dirname(folder)  # noqa: PTH120
        return found

    def add(self, folders: Collection[str]) -> None:
        """Remember folders: those above them were synced."""
        if len(self._known) + len(folders) > _MOST_FOLDERS:
            self._known.clear()
        self._known.update(folders)

    def forget(self, folder: str, root: str) -> None:
        """Forget a folder that was made just now, with all above it below ``root``."""
        while len(folder) > max(len(root), 1):
            self._known.discard(folder)
            folder = os.path.dirname(folder)  # noqa: PTH120


def begin_sync(descriptor: int, size_bytes: int) -> None:
    """Let the system begin to write a file to the disk, and wait for nothing.

    Whatever goes wrong, `sync_files` finds out: only it says that a file is durable.

    Parameters
    ----------
    descriptor
        The file.
    size_bytes
        Bytes that were written to it.

    Notes
    -----
    Source: ``sync_file_range(2)``, which only Linux has. ``fsync`` in a thread would take the place
    of an error that another ``fsync`` has to report.
    """
    begin = _sync_file_range()
    if begin is not None and size_bytes >= _LEAST_BEGUN_BYTES:
        begin(descriptor, 0, 0, _SYNC_FILE_RANGE_WRITE)


@functools.cache
def _sync_file_range() -> Callable[[int, int, int, int], int] | None:
    try:
        found = ctypes.CDLL(None).sync_file_range
    except (AttributeError, OSError, TypeError):
        return None
    found.argtypes = (ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint)
    found.restype = ctypes.c_int
    begin: Callable[[int, int, int, int], int] = found
    return begin


def sync_files(sizes: Mapping[str, int], *, durably: bool) -> None:
    """Wait until files are on the disk, whole.

    Parameters
    ----------
    sizes
        Size in bytes of each, by path.
    durably
        False: only check the sizes.

    Raises
    ------
    OSError
        If a file has another size, or the disk fails; it names the file.
    """

    def sync(path: str) -> None:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            if durably:
                os.fsync(descriptor)
            check_size(descriptor, sizes[path], path)
        except OSError as error:
            error.filename = path
            raise
        finally:
            os.close(descriptor)

    _for_each(sync, sizes)


def sync_folders(folders: Collection[str]) -> None:
    """Wait until the entries of folders are on the disk."""
    _for_each(sync_path, folders)


def _for_each(act: Callable[[str], None], paths: Collection[str]) -> None:
    """Do something with each path, several at a time; after an error no more are begun."""
    left = deque(paths)

    def run() -> None:
        while left:
            try:
                path = left.popleft()
            except IndexError:  # others took the last
                return
            try:
                act(path)
            except BaseException:
                left.clear()
                raise

    if len(paths) <= _FEW:
        run()
        return
    with ThreadPoolExecutor(_THREADS) as pool:
        for done in [pool.submit(run) for _ in range(_THREADS)]:
            done.result()
