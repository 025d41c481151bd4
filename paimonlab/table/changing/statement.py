"""A statement that changes rows: its condition, its assignments, and running it until it lands.

Source: apache/paimon@1.3.1 ``org.apache.paimon.spark.commands.DeleteFromPaimonTableCommand``,
``UpdatePaimonTableCommand``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import pyarrow as pa

from paimonlab.commit.read_set import ReadSet
from paimonlab.errors import FilesConflictError, SnapshotExpiredError
from paimonlab.progress import Progress
from paimonlab.secrets import hides_secrets
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.predicates.predicate import Predicate
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER, Snapshot
from paimonlab.table.committing.failures import files_deleted_on_failure
from paimonlab.table.committing.users import new_user
from paimonlab.table.compacting.landing import landed
from paimonlab.table.definition import TableDefinition
from paimonlab.table.reading.row_conditions import Condition
from paimonlab.table.store import TableStore
from paimonlab.table.upkeep.after_commit import committer_of
from paimonlab.table.writing.isolation import rows_of_interest

logger = logging.getLogger(__name__)

"""Is told what is done, of how much, and the unit: ``progress(3, 10, "files")``."""

_MOST_RUNS = 4
"""Once, and three times more."""


class Assignments(Protocol):
    """What an update makes of rows."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that get new values."""
        ...

    def applied(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows with new values."""
        ...


@dataclass(slots=True)
class RowCount:
    """How many rows a statement changes, counted as it runs; 0 again where it runs again."""

    rows: int = 0

    def found(self, rows: int) -> None:
        """Take a number for the last one."""
        self.rows = rows


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedChange:
    """What a statement would make of the rows of a snapshot; nothing is written."""

    rows_inserted: int = 0
    rows_updated: int = 0
    rows_deleted: int = 0
    files_read: int = 0
    """Data files whose rows are looked at."""
    files_changed: int = 0
    """Those that would be replaced, or get deletion vectors; none of a table with a primary key,
    whose new rows are in files of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What is done to which rows."""

    predicate: Predicate | None
    """Bound to the schema of the table; None: every row."""
    condition: Condition | None = None
    """What rows have to satisfy as well; None: nothing."""
    assignments: Assignments | None = None
    """None: the rows are deleted."""
    progress: Progress | None = None
    verb: str = ""
    """For the log; empty: update or delete."""
    counted: RowCount = field(default_factory=RowCount)
    """Rows that an update or a delete touches; a merge counts its own."""

    def report(self, done: int, total: int, unit: str) -> None:
        """Tell how far the work is."""
        if self.progress is not None:
            self.progress(done, total, unit)


@hides_secrets
@dataclass(frozen=True, slots=True)
class Changed:
    """What a statement changed, before it is committed."""

    messages: Sequence[CommitMessage]
    are_of_rows_read: bool
    """Whether new rows may only be committed if nobody wrote into their buckets since."""
    user: str | None = None
    """Who commits; None: a new user."""
    identifier: int = BATCH_COMMIT_IDENTIFIER
    """What the user calls the commit, for commits that may come again."""
    properties: Mapping[str, str] | None = None
    """What the snapshot says of the statement."""


def run(
    definition: TableDefinition,
    store: TableStore,
    statement: Statement,
    change: Callable[[Snapshot], Changed | None],
    on_nothing: Callable[[], Changed | None] | None = None,
) -> Snapshot | None:
    """Run a statement against the latest snapshot, and again if others changed what it touches.

    Parameters
    ----------
    definition, store
        The table's definition and store.
    statement
        For the log.
    change
        Writes the files of the statement as of a snapshot; None: no row is touched.
    on_nothing
        The same of a table without a snapshot, where a merge may insert; None: there is nothing to
        do then.

    Returns
    -------
    Snapshot or None
        None if no row is touched.

    Raises
    ------
    FilesConflictError, SnapshotExpiredError
        If others were faster four times.
    """
    for number in range(1, _MOST_RUNS + 1):
        snapshot = store.snapshots.latest()
        changes = on_nothing if snapshot is None else partial(change, snapshot)
        if changes is None:
            return None
        statement.counted.rows = 0
        try:
            changed = changes()
            if changed is None:
                return None
            with files_deleted_on_failure(definition, store, changed.messages):
                commit = partial(_commit, definition, store, statement, snapshot, changed)
                return landed(definition, store, changed.messages, commit)
        except (FilesConflictError, SnapshotExpiredError) as error:
            if number == _MOST_RUNS:
                raise
            verb = statement.verb or ("delete" if statement.assignments is None else "update")
            logger.info("%s: the %s runs again: %s", definition.name, verb, error)
    raise AssertionError("the last run returns or raises")


def _commit(
    definition: TableDefinition,
    store: TableStore,
    statement: Statement,
    snapshot: Snapshot | None,
    changed: Changed,
) -> Snapshot | None:
    read_id = 0 if snapshot is None else snapshot.id
    return committer_of(definition, store).append(
        changed.messages,
        user=changed.user or new_user(definition.options),
        identifier=changed.identifier,
        properties=changed.properties,
        is_new_user=changed.identifier == BATCH_COMMIT_IDENTIFIER,
        checked_id=read_id,
        reads=ReadSet(
            snapshot_id=read_id,
            its_buckets=changed.are_of_rows_read,
            may_match=rows_of_interest(definition, store.schemas, statement.predicate),
        ),
    )
