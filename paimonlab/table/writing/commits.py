"""From what writers wrote to a snapshot, and to the compaction that follows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table import compacting
from paimonlab.table.committing.failures import files_deleted_on_failure
from paimonlab.table.compacting.due import compacts_appended
from paimonlab.table.compacting.landing import Committed, landed
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore
from paimonlab.workers import Workers, side_by_side


def commit_own(
    definition: TableDefinition,
    store: TableStore,
    messages: Sequence[CommitMessage],
    commit: Callable[[], Committed],
    workers: Workers = side_by_side,
) -> Committed | Snapshot:
    """Commit files that were written for this commit alone: they go if it does not happen.

    Parameters
    ----------
    definition, store
        The table's definition and store.
    messages
        What is committed.
    commit
        Does it, and what follows commits of the table.
    workers
        What compacts then.

    Returns
    -------
    Snapshot or None
        The last one of those it became: what was compacted comes after what was written.
    """
    with files_deleted_on_failure(definition, store, messages):
        snapshot = landed(definition, store, messages, commit)
    if not compacts_appended(definition):
        return snapshot
    return compacting.after_write.compact_appended(
        definition, store, messages, snapshot, workers=workers
    )


def commit_given(
    definition: TableDefinition,
    store: TableStore,
    messages: Sequence[CommitMessage],
    commit: Callable[[], Snapshot | None],
) -> Snapshot | None:
    """Commit files of others, perhaps once more: they stay whatever happens.

    Parameters and result are those of `commit_own`.
    """
    if not compacts_appended(definition):
        return landed(definition, store, messages, commit)
    seen = store.snapshots.latest()
    written = landed(definition, store, messages, commit)
    if written is not None and seen is not None and written.id <= seen.id:
        # The identifiers of a user rise: nothing may come after an old commit in its name.
        return written
    return compacting.after_write.compact_appended(definition, store, messages, written)
