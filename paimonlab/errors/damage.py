"""Errors about files of a table and what they take."""

from __future__ import annotations

import errno

from paimonlab.errors.base import PaimonError


class CorruptError(PaimonError):
    """A file of the table is damaged.

    Parameters
    ----------
    path
        The file.
    problem
        What is wrong with it.
    referrer
        The file that refers to it; empty if there is no particular one.
    """

    def __init__(self, path: str, problem: str, referrer: str = "") -> None:
        self.path = path
        self.problem = problem
        self.referrer = referrer
        super().__init__(path, problem, referrer)

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}" + (
            f" (referred to by {self.referrer})" if self.referrer else ""
        )


class CorruptMetadataError(CorruptError):
    """A metadata file does not follow the format."""


class CorruptDataError(CorruptError):
    """A data file is missing, truncated, damaged, or differs from its metadata."""


class ForkedProcessError(PaimonError):
    """Something begun in one process cannot continue in a fork of that process."""

    def __init__(self, what: str, instead: str) -> None:
        self.what = what
        self.instead = instead
        super().__init__(what, instead)

    def __str__(self) -> str:
        return (
            f"{self.what} belongs to the process that made it, and this one was forked from it: "
            f"{self.instead}, or start workers with multiprocessing.get_context('spawn')"
        )


class MemoryLimitError(PaimonError, MemoryError):
    """A file of the table takes more memory to read than this process has; it may be sound."""

    def __init__(self, path: str, problem: str = "") -> None:
        self.path = path
        self.problem = problem
        super().__init__(path, problem)

    def __str__(self) -> str:
        return (
            f"{self.path}: reading it takes more memory than this process has"
            + (f" ({self.problem})" if self.problem else "")
            + ". A few bytes may decompress to gigabytes: read fewer columns, give the process "
            "more memory, or, if nobody wrote such values, restore the file from a copy"
        )


class StorageError(PaimonError, OSError):
    """The disk or store failed: it is full, read-only, broken, or does not let this process in.

    ``errno`` and ``filename`` are those of the system's error.
    """

    @classmethod
    def of(cls, error: OSError, path: str) -> StorageError:
        """Give an error of the system a name; ``path`` where it has none."""
        return cls(error.errno, error.strerror or str(error), error.filename or path)

    @property
    def is_refusal(self) -> bool:
        """Whether the system refused before it did anything, so nothing happens later either."""
        return self.errno in _REFUSALS

    def __str__(self) -> str:
        advice = _STORAGE_ADVICE.get(self.errno or 0, "")
        return f"{self.filename}: {self.strerror}" + (f"; {advice}" if advice else "")


_STORAGE_ADVICE = {
    errno.ENOSPC: "make room, then do it again",
    errno.EDQUOT: "make room or raise the quota, then do it again",
    errno.EFBIG: "raise the limit of file sizes (ulimit -f), then do it again",
    errno.EROFS: "mount it so that it can be written, then do it again",
    errno.EMFILE: "raise the limit of open files (ulimit -n), then do it again",
    errno.ENFILE: "the whole machine has too many open files",
    errno.EACCES: "this user may not do that there",
    errno.EPERM: "this user may not do that there",
    errno.EIO: "look into the system's log: the device may be failing",
}
_CANNOT = {errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}
_REFUSALS = frozenset({*_STORAGE_ADVICE, *_CANNOT} - {errno.EIO})
