"""Every error paimonlab raises on purpose.

PaimonError
├── NotFoundError                   a named thing is missing            (also LookupError)
│   ├── DatabaseNotFoundError
│   ├── TableNotFoundError
│   ├── ColumnNotFoundError
│   ├── SchemaNotFoundError
│   ├── SnapshotNotFoundError
│   │   ├── SnapshotExpiredError    it was there, expiry removed it
│   │   └── SnapshotReplacedError   it was there, a rollback removed it or put another in its place
│   ├── TagNotFoundError
│   ├── BranchNotFoundError
│   ├── ConsumerNotFoundError
│   └── ProcedureNotFoundError
├── ArgumentError                   wrong arguments of a procedure     (also ValueError)
├── AlreadyExistsError              a name is taken
├── ReadOnlyError                   the catalog was opened to read only
├── SchemaError                     a definition that the format does not allow
├── DataError                       rows that the table does not accept
├── UnsupportedError                not implemented here              (also NotImplementedError)
├── CorruptError                    a file of the table is damaged
│   ├── CorruptMetadataError        a metadata file does not follow the format
│   └── CorruptDataError            a data file is missing, truncated or damaged
├── ForkedProcessError              begun in the process that this one was forked from
├── MemoryLimitError                a file takes more memory than there is (also MemoryError)
├── StorageError                    the disk or store failed            (also OSError)
├── PostCommitError                 the commit landed, later work failed
└── CommitError                     a commit did not happen; the table is as it was
    ├── SnapshotConflictError       lost the race for a snapshot id too often: try again
    ├── FilesConflictError          our inputs were changed meanwhile: start over
    ├── CommitRolledBackError       others rolled the table back to before it
    ├── CommitOutcomeUnknownError   it may have happened: look before doing it again
    └── CommitHistoryExpiredError   it is too late to tell whether it happened

A wrong argument is a plain ``ValueError`` or ``TypeError``; an impossible state is an
``AssertionError``. Neither is caught anywhere in paimonlab.
"""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable, Sequence

from paimonlab.secrets import without_secrets


def close_matches(name: str, known: Iterable[str]) -> str:
    """Say which known names look like ``name``: `` Did you mean 'a' or 'b'?``, or nothing."""
    candidates = {candidate.lower(): candidate for candidate in known}
    found = difflib.get_close_matches(name.lower(), list(candidates), n=3, cutoff=0.6)
    if not found:
        return ""
    return " Did you mean " + " or ".join(repr(candidates[match]) for match in found) + "?"


class PaimonError(Exception):
    """Base of all errors that a caller may want to handle."""

    def __repr__(self) -> str:
        return without_secrets(super().__repr__())


class NotFoundError(PaimonError, LookupError):
    """There is nothing with the name that was asked for."""


class DatabaseNotFoundError(NotFoundError):
    """The catalog has no such database."""

    def __init__(self, database: str, known: Sequence[str] = ()) -> None:
        self.database = database
        self.known = tuple(known)
        super().__init__(database, self.known)

    def __str__(self) -> str:
        return f"database {self.database} not found.{close_matches(self.database, self.known)}"


class TableNotFoundError(NotFoundError):
    """The catalog has no such table."""

    def __init__(self, table: str, known: Sequence[str] = ()) -> None:
        self.table = table
        self.known = tuple(known)
        super().__init__(table, self.known)

    def __str__(self) -> str:
        return f"table {self.table} not found.{close_matches(self.table, self.known)}"


class ColumnNotFoundError(NotFoundError):
    """The table has no such column."""

    def __init__(self, column: str, table: str, known: Sequence[str] = ()) -> None:
        self.column = column
        self.table = table
        self.known = tuple(known)
        super().__init__(column, table, self.known)

    def __str__(self) -> str:
        shown = ", ".join(self.known[:20]) + (", …" if len(self.known) > 20 else "")
        return (
            f"{self.table} has no column {self.column!r}; it has {shown}."
            f"{close_matches(self.column, self.known)}"
        )


class SchemaNotFoundError(NotFoundError):
    """The table has no schema of that id."""

    def __init__(self, table: str, schema_id: int) -> None:
        self.table = table
        self.schema_id = schema_id
        super().__init__(table, schema_id)

    def __str__(self) -> str:
        return f"{self.table}: schema {self.schema_id} not found"


class SnapshotNotFoundError(NotFoundError):
    """The table has no snapshot that answers the question."""

    def __init__(self, table: str, asked: str, hint: str = "") -> None:
        self.table = table
        self.asked = asked
        self.hint = hint
        super().__init__(table, asked, hint)

    def __str__(self) -> str:
        return f"{self.table}: no snapshot {self.asked}." + (f" {self.hint}" if self.hint else "")


class SnapshotExpiredError(SnapshotNotFoundError):
    """The snapshot was there once; expiry has removed it or its files."""


class SnapshotReplacedError(SnapshotNotFoundError):
    """The snapshot was read, and is no longer part of the table's history."""


class TagNotFoundError(NotFoundError):
    """The table has no such tag."""

    def __init__(self, table: str, tag: str, known: Sequence[str] = ()) -> None:
        self.table = table
        self.tag = tag
        self.known = tuple(known)
        super().__init__(table, tag, self.known)

    def __str__(self) -> str:
        return f"{self.table}: no tag {self.tag!r}.{close_matches(self.tag, self.known)}"


class BranchNotFoundError(NotFoundError):
    """The table has no such branch."""

    def __init__(self, table: str, branch: str, known: Sequence[str] = ()) -> None:
        self.table = table
        self.branch = branch
        self.known = tuple(known)
        super().__init__(table, branch, self.known)

    def __str__(self) -> str:
        return f"{self.table}: no branch {self.branch!r}.{close_matches(self.branch, self.known)}"


class ConsumerNotFoundError(NotFoundError):
    """The table has no such consumer."""

    def __init__(self, table: str, consumer: str, known: Sequence[str] = ()) -> None:
        self.table = table
        self.consumer = consumer
        self.known = tuple(known)
        super().__init__(table, consumer, self.known)

    def __str__(self) -> str:
        return (
            f"{self.table}: no consumer {self.consumer!r}."
            f"{close_matches(self.consumer, self.known)}"
        )


class ProcedureNotFoundError(NotFoundError):
    """There is no such procedure."""

    def __init__(self, procedure: str, known: Sequence[str] = ()) -> None:
        self.procedure = procedure
        self.known = tuple(known)
        super().__init__(procedure, self.known)

    def __str__(self) -> str:
        return (
            f"there is no procedure sys.{self.procedure}."
            f"{close_matches(self.procedure, self.known)}"
        )


class ArgumentError(PaimonError, ValueError):
    """A procedure cannot take these arguments; nothing was done."""

    def __init__(self, procedure: str, problem: str) -> None:
        self.procedure = procedure
        self.problem = problem
        super().__init__(procedure, problem)

    def __str__(self) -> str:
        return f"sys.{self.procedure}: {self.problem}"


class ReadOnlyError(PaimonError):
    """The catalog was opened to read only; nothing was changed."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(what)

    def __str__(self) -> str:
        return f"{self.what}: the catalog is read-only"


class AlreadyExistsError(PaimonError):
    """A name is already taken."""

    def __init__(self, what: str, name: str) -> None:
        self.what = what
        self.name = name
        super().__init__(what, name)

    def __str__(self) -> str:
        return f"{self.what} {self.name} already exists"


class SchemaError(PaimonError):
    """A table definition or a schema change that the format does not allow."""


class DataError(PaimonError):
    """Rows that the table does not accept; none of them became visible."""


class UnsupportedError(PaimonError, NotImplementedError):
    """The format allows it, paimonlab does not (yet).

    Parameters
    ----------
    feature
        What is not supported; an option as ``key = 'value'``. Secrets in it are hidden.
    reason
        What that means and what can be done instead.
    """

    def __init__(self, feature: str, reason: str = "") -> None:
        self.feature = without_secrets(feature)
        self.reason = without_secrets(reason)
        super().__init__(self.feature, self.reason)

    def __str__(self) -> str:
        return f"{self.feature} is not supported" + (f": {self.reason}" if self.reason else "")


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


class PostCommitError(PaimonError):
    """The commit landed as ``snapshot_id``; work that follows a commit failed."""

    snapshot: object = None
    """The snapshot itself where it is known, as it may expire before it is read. It is dropped when
    the error is sent to another process."""

    def __init__(self, table: str, snapshot_id: int, problem: str) -> None:
        self.table = table
        self.snapshot_id = snapshot_id
        self.problem = problem
        super().__init__(table, snapshot_id, problem)

    def __str__(self) -> str:
        return (
            f"{self.table}: snapshot {self.snapshot_id} is committed, do not repeat the write; "
            f"afterwards this failed: {self.problem}"
        )


class CommitError(PaimonError):
    """A commit did not happen; the table is as it was."""


class SnapshotConflictError(CommitError):
    """Other writers took every snapshot id this commit tried."""

    def __init__(self, table: str, snapshot_id: int, attempts: int) -> None:
        self.table = table
        self.snapshot_id = snapshot_id
        self.attempts = attempts
        super().__init__(table, snapshot_id, attempts)

    def __str__(self) -> str:
        return (
            f"{self.table}: gave up after {self.attempts} attempts, the last for snapshot "
            f"{self.snapshot_id}: other writers were faster each time. Commit the same messages "
            "again, or raise 'commit.max-retries'."
        )


class FilesConflictError(CommitError):
    """Files this commit builds on are no longer as it read them.

    Retrying the same commit can never succeed: read the table again and redo the work.

    Source: Paimon docs, "Concurrency Control", files conflict.
    """

    def __init__(
        self, table: str, snapshot_id: int, missing: Sequence[str], problem: str = ""
    ) -> None:
        self.table = table
        self.snapshot_id = snapshot_id
        self.missing = tuple(missing)
        self.problem = problem
        super().__init__(table, snapshot_id, self.missing, problem)  # rebuilds it when unpickled

    def __str__(self) -> str:
        if self.problem:
            return f"{self.table}, snapshot {self.snapshot_id}: {self.problem}"
        shown = ", ".join(self.missing[:3])
        more = f" and {len(self.missing) - 3} more" if len(self.missing) > 3 else ""
        return (
            f"{self.table}: {shown}{more} not in snapshot {self.snapshot_id}, deleted by "
            "another commit. Read the table again and redo this write; if it keeps "
            "happening, set 'write-only' = 'true' here and compact in one dedicated job."
        )


class CommitOutcomeUnknownError(CommitError):
    """The commit may have happened. Nothing was deleted."""

    def __init__(
        self, table: str, user: str, identifier: int, snapshot_id: int, problem: str
    ) -> None:
        self.table = table
        self.user = user
        self.identifier = identifier
        self.snapshot_id = snapshot_id
        self.problem = problem
        super().__init__(table, user, identifier, snapshot_id, problem)

    def __str__(self) -> str:
        return (
            f"{self.table}: whether snapshot {self.snapshot_id} was published is unknown "
            f"({self.problem}). Commit the same messages again with user {self.user!r} and "
            f"identifier {self.identifier}: they land at most once."
        )


class CommitRolledBackError(CommitError):
    """Others rolled the table back while the commit was under way; the commit is gone."""

    def __init__(self, table: str, snapshot_id: int) -> None:
        self.table = table
        self.snapshot_id = snapshot_id
        super().__init__(table, snapshot_id)

    def __str__(self) -> str:
        return (
            f"{self.table}: the table went back to before snapshot {self.snapshot_id} while that "
            "was being committed, so it is not there. Read the table again and redo this write."
        )


class CommitHistoryExpiredError(CommitError):
    """Snapshots that would tell whether this commit already happened have expired."""

    def __init__(self, table: str, user: str, identifier: int) -> None:
        self.table = table
        self.user = user
        self.identifier = identifier
        super().__init__(table, user, identifier)

    def __str__(self) -> str:
        return (
            f"{self.table}: the snapshots that would tell whether ({self.user!r}, "
            f"{self.identifier}) was already committed have expired. Look at the data, then "
            "commit with a new user."
        )
