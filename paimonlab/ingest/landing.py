"""An epoch becomes snapshots: each of its tables is committed, at most once."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from paimonlab.catalog import Catalog
from paimonlab.catalog.filesystem import FileSystemCatalog
from paimonlab.commit.scope import OverwriteScope
from paimonlab.errors import (
    CommitError,
    CommitHistoryExpiredError,
    DatabaseNotFoundError,
    FilesConflictError,
    IngestStateError,
    NotFoundError,
    PostCommitError,
    SchemaError,
    StorageError,
    TableNotFoundError,
)
from paimonlab.ingest.epochs import Epoch, TableCommit
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.table import Table
from paimonlab.workers import side_by_side

logger = logging.getLogger(__name__)

_AT_ONCE = 8
_ATTEMPTS = 6
_WAIT_SECONDS = 0.2
_MAX_POSITION_BYTES = 16 << 10
"""Larger positions are not written into snapshots."""
_NEVER = (
    FilesConflictError,
    CommitHistoryExpiredError,
    DatabaseNotFoundError,
    TableNotFoundError,
    SchemaError,
)
"""What becomes no better by trying again."""

JOB, EPOCH, OWNER = "ingest.job", "ingest.epoch", "ingest.owner"
POSITION, TABLES = "ingest.position", "ingest.tables"


def user_of(job: str) -> str:
    """Return the commit user of a job, which is also the name of its consumers."""
    return f"ingest-{job}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Landed:
    """What became of an epoch."""

    snapshots: dict[str, Snapshot | None] = field(default_factory=dict)
    """By table; None: its messages changed nothing."""
    failed: dict[str, str] = field(default_factory=dict)
    """Tables for which it can never succeed, and why."""
    warnings: list[str] = field(default_factory=list)


def land(
    catalog: Catalog,
    job: str,
    epoch: Epoch,
    *,
    opened: Callable[[str], Table | None] = lambda _: None,
    wait: Callable[[float], None] = time.sleep,
) -> Landed:
    """Commit the tables of an epoch, those too that were committed before, some at a time.

    After each commit the job's consumer of the table moves to its snapshot, so that nothing that
    tells whether the next epoch was committed expires.

    Parameters
    ----------
    catalog, job, epoch
        Where, for whom, what.
    opened
        Returns a table that is open; None: it is not.
    wait
        Waits for some seconds before another attempt.

    Raises
    ------
    PaimonError, OSError
        If a table could not be committed and may be later. The same epoch can be landed again.
    IngestStateError
        If the table has another epoch of this number: the job's notes are older than its tables.
    """
    properties = _properties(job, epoch)

    def one(commit: TableCommit) -> _Done:
        warnings: list[str] = []
        try:
            table = opened(commit.table) or catalog.table(commit.table)
            snapshot = _committed(table, job, epoch.number, commit, properties, warnings, wait)
            if snapshot is not None:
                _check_owner(job, table, epoch, snapshot)
                table.consumers.reset(user_of(job), snapshot.id)
        except _NEVER as error:
            logger.warning("ingest job %s: %s stops: %s", job, commit.table, error)
            return _Done(None, str(error), warnings)
        return _Done(snapshot, None, warnings)

    results = side_by_side(one, epoch.commits, threads=threads_of(catalog))
    done = Landed()
    for commit, result in zip(epoch.commits, results, strict=True):
        done.warnings.extend(result.warnings)
        if result.failure is None:
            done.snapshots[commit.table] = result.snapshot
        else:
            done.failed[commit.table] = result.failure
    return done


def threads_of(catalog: Catalog) -> int:
    """Return how many tables are created or committed at a time.

    What a commit takes is to wait for the disk, some times for each table, which overlaps. Servers
    of other catalogs are asked for one table after the other.
    """
    return _AT_ONCE if isinstance(catalog, FileSystemCatalog) else 1


@dataclass(frozen=True, slots=True)
class _Done:
    """What became of the commit of a table."""

    snapshot: Snapshot | None
    failure: str | None
    warnings: list[str]


def _committed(
    table: Table,
    job: str,
    number: int,
    commit: TableCommit,
    properties: Mapping[str, str],
    warnings: list[str],
    wait: Callable[[float], None],
) -> Snapshot | None:
    messages = commit.decoded()
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return table.commit(
                messages,
                identifier=number,
                user=user_of(job),
                properties=properties,
                overwrite=OverwriteScope.whole_table() if commit.replaces else None,
            )
        except PostCommitError as error:
            warnings.append(str(error))
            return error.snapshot if isinstance(error.snapshot, Snapshot) else None
        except _NEVER:
            raise
        except (CommitError, OSError) as error:
            if attempt == _ATTEMPTS or _is_refused(error):
                raise
            logger.info("ingest job %s: %s once more: %s", job, table.name, error)
            wait(_WAIT_SECONDS * 2**attempt)
        except ValueError as error:
            raise IngestStateError(job, f"{table.name} is ahead of the job: {error}") from error
    raise AssertionError("the last attempt returns or raises")


def _is_refused(error: BaseException | None) -> bool:
    """Whether the disk is full or the like, which some seconds do not mend."""
    while error is not None:
        if isinstance(error, StorageError):
            return error.is_refusal
        error = error.__cause__
    return False


def _properties(job: str, epoch: Epoch) -> dict[str, str]:
    made = {
        JOB: job,
        EPOCH: str(epoch.number),
        OWNER: epoch.owner,
        TABLES: ",".join(commit.table for commit in epoch.commits),
    }
    if len(epoch.position) <= _MAX_POSITION_BYTES:
        made[POSITION] = epoch.position.decode()
    return made


def _check_owner(job: str, table: Table, epoch: Epoch, snapshot: Snapshot) -> None:
    """Make sure that a commit is this epoch's, not that of an earlier one of the same number."""
    found = (snapshot.properties or {}).get(OWNER)
    if found is not None and found != epoch.owner:
        raise IngestStateError(
            job,
            f"{table.name} has an epoch {epoch.number} of this job that is not in its notes: they "
            "are older than the table. Run recover(), or give the job another name",
        )


def check_unused(job: str, table: Table) -> None:
    """Make sure that a job without notes never wrote to a table.

    Raises
    ------
    IngestStateError
        If it did: what it would read again is there already.
    PaimonError
        If that cannot be told.
    """
    user = user_of(job)
    used = user in table.consumers.list()
    latest = table.snapshot
    while not used and latest is not None:
        used = latest.commit_user == user
        try:
            latest = table.snapshots.get(latest.id - 1) if latest.id > 1 else None
        except NotFoundError:
            break
    if used:
        raise IngestStateError(
            job,
            f"{table.name} has rows of a job of this name, but the job's notes are gone: reading "
            "from the start would add them again. Run recover(), or give the job another name",
        )
