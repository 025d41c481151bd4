"""What becomes of files whose commit did not happen."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

from paimonlab.spec.commit_message import CommitMessage
from paimonlab.table.committing.rounds import undone_if_not_committed
from paimonlab.table.definition import TableDefinition
from paimonlab.table.plans.write import write_plan
from paimonlab.table.store import TableStore
from paimonlab.write.folders import delete_files


def files_deleted_on_failure(
    definition: TableDefinition, store: TableStore, messages: Sequence[CommitMessage]
) -> AbstractContextManager[None]:
    """Delete the files of a commit if it definitely did not happen."""
    return undone_if_not_committed(
        lambda: delete_files(messages, write_plan(definition, store.layout), store.file_io)
    )
