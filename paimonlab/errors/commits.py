"""Errors about commits: whether they happened, and why not."""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.errors.base import PaimonError


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


class OverwriteConflictError(CommitError):
    """Another overwrite of a format table went ahead of this one."""

    def __init__(
        self,
        table: str,
        patience_seconds: int,
        is_unknown: bool = False,  # noqa: FBT001, FBT002 - args rebuild it when unpickled
    ) -> None:
        self.table = table
        self.patience_seconds = patience_seconds
        self.is_unknown = is_unknown
        """Whether it is unknown if its rows were visible for a time."""
        super().__init__(table, patience_seconds, is_unknown)

    def __str__(self) -> str:
        if self.is_unknown:
            return (
                f"{self.table}: this overwrite stood still while others replaced rows many times. "
                "Whether it was one of them is unknown; look at the rows before you repeat it."
            )
        return (
            f"{self.table}: others undid this overwrite to go ahead, since it stood still for more "
            f"than {self.patience_seconds} s; its rows are not there. Run it again."
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
