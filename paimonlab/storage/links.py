"""Links below a table's folder: whoever made a table must not choose what else is read or deleted.

A table may come from strangers, links in it included. Only links can be told: a hard link is a
file like any other.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator, Sequence

from paimonlab.errors import CorruptMetadataError
from paimonlab.storage.spare_descriptors import SPARE

_MOST_FOLDERS = 100_000
_FOLDER = os.O_RDONLY | os.O_DIRECTORY


class PlainFolders:
    """Remembers folders that are not reached through a link below their root.

    A copy in another process begins anew.
    """

    def __init__(self) -> None:
        self._known: set[str] = set()

    def __reduce__(self) -> tuple[type[PlainFolders], tuple[()]]:
        return PlainFolders, ()

    def has(self, folder: str) -> bool:
        """Whether it is known that a folder is not reached through a link."""
        return folder in self._known

    def make(self, folder: str, root: str) -> bool:
        """Create a folder and those above it, below ``root``, none of which is a link.

        Returns
        -------
        bool
            Whether it did. False if the folder exists, or if the way to it has to be looked at.
        """
        if folder in self._known or len(folder) <= max(len(root), 1):
            return False
        above = os.path.dirname(folder)  # noqa: PTH120
        if not self.make(above, root) and above not in self._known and above != root:
            return False
        try:
            os.mkdir(folder)  # noqa: PTH102
        except (FileExistsError, FileNotFoundError, NotADirectoryError):
            return False
        self._remember(folder)
        return True

    def first_link(self, folder: str, root: str) -> str | None:
        """Return a link that is ``folder`` or above it, below ``root``; None if there is none."""
        if folder in self._known or len(folder) <= max(len(root), 1):
            return None
        link = self.first_link(os.path.dirname(folder), root)  # noqa: PTH120
        if link is not None:
            return link
        try:
            mode = os.lstat(folder).st_mode
        except (FileNotFoundError, NotADirectoryError):
            return None
        if stat.S_ISLNK(mode):
            return folder
        self._remember(folder)
        return None

    def _remember(self, folder: str) -> None:
        if len(self._known) >= _MOST_FOLDERS:
            self._known.clear()
        self._known.add(folder)


def root_of(path: str, roots: Sequence[str]) -> str | None:
    """Return the first of the folders that a path is in, or is itself."""
    for root in roots:
        if path.startswith(root) and path[len(root) : len(root) + 1] in ("/", ""):
            return root
    return None


def require_inside(path: str, link: str, root: str) -> None:
    """Refuse a path that leads out of ``root`` through a link.

    Raises
    ------
    CorruptMetadataError
        If it does.
    """
    if root_of(os.path.realpath(path), (os.path.realpath(root),)) is None:
        raise CorruptMetadataError(
            path,
            f"{_named(link, path)} a link that leads out of {root} and is not followed; if you "
            "trust it, open the catalog with connect(…, follow_links=True)",
        )


def refusal(path: str, link: str) -> CorruptMetadataError:
    """Make the error for writing or deleting through a link."""
    return CorruptMetadataError(
        path, f"{_named(link, path)} a link: nothing is written or deleted through it"
    )


@contextlib.contextmanager
def folder_held(path: str, root: str) -> Iterator[tuple[int, str]]:
    """Open the folder that a path is in, following no link below ``root``.

    Replacing a folder by a link meanwhile does not change which folder is held.

    Yields
    ------
    tuple of int, str
        A descriptor of the folder, and the name in it.

    When the process may open no more files, spare descriptors are used.

    Raises
    ------
    CorruptMetadataError
        If there is a link on the way.
    OSError
        As opening a folder does, and for what is done with it; it names the path.
    """
    *folders, name = path[len(root) :].strip("/").split("/")
    with contextlib.ExitStack() as stack:
        try:
            try:
                held = _descended(folders, path, root)
            except OSError as error:
                if error.errno not in (errno.EMFILE, errno.ENFILE):
                    raise
                stack.enter_context(SPARE.lent())
                held = _descended(folders, path, root)
            stack.callback(os.close, held)
            yield held, name
        except OSError as error:
            error.filename = path
            raise


def is_link(name: str, folder: int) -> bool:
    """Whether a name in an open folder is a link."""
    return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)


def _descended(folders: Sequence[str], path: str, root: str) -> int:
    """Open one folder after the other, each below the one before."""
    held = os.open(root or "/", _FOLDER)
    for number, folder in enumerate(folders):
        try:
            below = _opened(folder, held, path, "/".join((root, *folders[: number + 1])))
        finally:
            os.close(held)
        held = below
    return held


def _opened(folder: str, held: int, path: str, absolute: str) -> int:
    try:
        return os.open(folder, _FOLDER | os.O_NOFOLLOW, dir_fd=held)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK) and is_link(folder, held):
            raise refusal(path, absolute) from None
        raise


def _named(link: str, path: str) -> str:
    return "it is" if link == path else f"{link} is"
