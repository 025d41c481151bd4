"""Commits of what writers wrote and compacted, which others may have compacted first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from paimonlab.commit.file_changes import compactions_of
from paimonlab.errors import FilesConflictError, PostCommitError
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table import compacting
from paimonlab.table.definition import TableDefinition
from paimonlab.table.plans.write import write_plan
from paimonlab.table.store import TableStore
from paimonlab.write.folders import delete_files

Committed = TypeVar("Committed", Snapshot, Snapshot | None)


def landed(
    definition: TableDefinition,
    store: TableStore,
    messages: Sequence[CommitMessage],
    commit: Callable[[], Committed],
) -> Committed | Snapshot:
    """Commit, and compact again if others compacted the same buckets first.

    Parameters
    ----------
    definition, store
        The table's definition and store.
    messages
        What is committed.
    commit
        Does it.

    Returns
    -------
    Snapshot or None
        What ``commit`` returned, or the last snapshot that came of it.

    Notes
    -----
    What was compacted is deleted: the files that it replaces are gone, so that the same messages,
    committed again, cannot bring it back. Their rows are found then by user and identifier.
    """
    try:
        return commit()
    except PostCommitError as error:
        rows = error.snapshot
        if not isinstance(error.__cause__, FilesConflictError) or not isinstance(rows, Snapshot):
            raise
        compactions = compactions_of(messages)
        delete_files(compactions, write_plan(definition, store.layout), store.file_io)
        compacted = compacting.after_write.compact_written(definition, store, compactions)
        return rows if compacted is None else compacted
