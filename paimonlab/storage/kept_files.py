"""Local files that can be made again: kept in a folder of the user's own, bounded by age and size.

Whatever goes wrong with the folder, those who ask do without it: it is said once, in a warning.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import stat
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from paimonlab.storage.forks import UniqueNames

logger = logging.getLogger(__name__)

_DRAFT = ".draft"
_DRAFT_SECONDS = 3600
"""A draft that was not written to for so long belongs to a process that is dead."""
_SWEEP_SECONDS = 60
"""How often unused files are looked for, but for the moments when one is added."""
_LEAST_FREE = 0.05
"""Share of the disk that has to be free before a file is added."""
_RETRY_SECONDS = 60
"""How long nothing is added to a folder after that failed."""
_names = UniqueNames()
_warned: set[str] = set()
_swept: dict[str, float] = {}
"""When each folder was swept, by the monotonic clock."""
_added: dict[str, int] = {}
"""How many bytes were added to each folder since."""
_failed: dict[str, float] = {}
"""When a folder took no file, or a file was too large for it, by the monotonic clock."""


class _Kept(NamedTuple):
    """A file of the folder."""

    used_at: float
    """Seconds since the epoch."""
    size_bytes: int
    path: Path


@dataclass(frozen=True, slots=True)
class KeptFiles:
    """Files by group and name. Any number of threads and processes may use one folder."""

    folder: str
    """Absolute; made with mode 0700 when the first file is."""
    retention_seconds: float
    """A file that was not used for so long is deleted."""
    limit_bytes: int | None = None
    """Beyond it the files that were not used for longest are deleted; None: no limit."""
    slack_bytes: int | None = None
    """How much is added before unused files are looked for; None: they are for each that is."""

    def find(self, group: str, name: str) -> str | None:
        """Return the path of a file and note that it is used; None if it does not exist."""
        path = Path(self.folder, group, name)
        try:
            if not self._is_private():
                return None
            # The time of the last change stays: it tells whether a file is the one it was.
            os.utime(path, ns=(time.time_ns(), path.stat().st_mtime_ns))
        except FileNotFoundError:
            return None
        except OSError as error:
            # A folder that others filled and nobody may write to any more is good to read.
            if path.exists():
                return str(path)
            self._warn(error)
            return None
        if _is_over(_swept.get(self.folder), _SWEEP_SECONDS):
            self._sweep()
        return str(path)

    def add(self, group: str, name: str, write: Callable[[str], None]) -> str | None:
        """Add a file, in place of the one that has its name.

        Parameters
        ----------
        group, name
            Names of a folder and of a file.
        write
            Called with the path of a file to create. What it writes is visible only when it
            returns, under its name.

        Returns
        -------
        str or None
            The path; None if the system does not let it be written, lately or now, or if it
            alone is larger than the limit.
        """
        group_folder = Path(self.folder, group)
        path = group_folder / name
        if not all(
            _is_over(_failed.get(tried), _RETRY_SECONDS) for tried in (self.folder, str(path))
        ):
            return None
        draft = group_folder / f"{name}.{_names.next()}{_DRAFT}"
        try:
            if not self._made(group_folder):
                return None
            self._require_room()
            try:
                write(str(draft))
                self._make_room(draft)
                draft.rename(path)
            except BaseException:
                draft.unlink(missing_ok=True)
                raise
        except OSError as error:
            tried = str(path) if error.errno == errno.EFBIG else self.folder
            _failed[tried] = time.monotonic()
            self._warn(error)
            return None
        return str(path)

    def keep_only(self, group: str, is_wanted: Callable[[str], bool]) -> None:
        """Delete the files of a group whose names are not wanted."""
        try:
            paths = list(Path(self.folder, group).iterdir())
        except OSError:
            return
        for path in paths:
            if not path.name.endswith(_DRAFT) and not is_wanted(path.name):
                _delete(path)

    def _made(self, group_folder: Path) -> bool:
        """Make the folders, for this user alone; say whether they may be used."""
        Path(self.folder).parent.mkdir(parents=True, exist_ok=True)
        for folder in (Path(self.folder), group_folder):
            try:
                folder.mkdir(mode=0o700)
            except FileExistsError:
                continue
        return self._is_private()

    def _require_room(self) -> None:
        """Leave others some room: what is kept here is no reason for a disk to be full."""
        disk = os.statvfs(self.folder)
        if disk.f_bavail < _LEAST_FREE * disk.f_blocks:
            raise OSError(errno.ENOSPC, f"less than {_LEAST_FREE:.0%} of the disk is free")

    def _make_room(self, draft: Path) -> None:
        size_bytes = draft.stat().st_size
        if self.limit_bytes is not None and size_bytes > self.limit_bytes:
            raise OSError(errno.EFBIG, f"a file has {size_bytes:,} bytes, the limit of all is less")
        added = _added.get(self.folder, 0) + size_bytes
        if self.slack_bytes is None or added > self.slack_bytes:
            self._sweep()
        else:
            _added[self.folder] = added

    def _is_private(self) -> bool:
        """Whether nobody but this user can write to the folder."""
        found = os.lstat(self.folder)
        is_own = not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
        if stat.S_ISDIR(found.st_mode) and is_own and not found.st_mode & 0o022:
            return True
        self._warn("it is not a folder that only this user may write to")
        return False

    def _sweep(self) -> None:
        """Delete what is too old, then what is too much; a draft counts but is not deleted."""
        _swept[self.folder] = time.monotonic()
        _added[self.folder] = 0
        kept = sorted(self._all())
        for file in self._unwanted(kept):
            _delete(file.path)

    def _unwanted(self, kept: Collection[_Kept]) -> Iterator[_Kept]:
        oldest = time.time() - self.retention_seconds
        oldest_draft = time.time() - _DRAFT_SECONDS
        size_bytes = sum(file.size_bytes for file in kept)
        for file in kept:
            is_draft = file.path.name.endswith(_DRAFT)
            is_old = file.used_at < (oldest_draft if is_draft else oldest)
            is_much = self.limit_bytes is not None and size_bytes > self.limit_bytes
            if is_old or (is_much and not is_draft):
                size_bytes -= file.size_bytes
                yield file

    def _all(self) -> Iterator[_Kept]:
        for group in Path(self.folder).iterdir():
            with contextlib.suppress(OSError):  # others delete as well
                paths = list(group.iterdir())
                if not paths and group.stat().st_mtime < time.time() - _DRAFT_SECONDS:
                    group.rmdir()
                for path in paths:
                    found = path.lstat()
                    yield _Kept(max(found.st_atime, found.st_mtime), found.st_size, path)

    def _warn(self, problem: object) -> None:
        if self.folder not in _warned:
            _warned.add(self.folder)
            logger.warning("%s: nothing is kept there, work goes on: %s", self.folder, problem)


def _is_over(since: float | None, seconds: float) -> bool:
    return since is None or time.monotonic() - since >= seconds


def _delete(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        logger.debug("%s: left behind: %s", path, error)
