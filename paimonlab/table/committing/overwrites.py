"""What an overwrite commits of what was written."""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.spec.commit_message import CommitMessage
from paimonlab.table.definition import TableDefinition
from paimonlab.table.plans.write import write_plan
from paimonlab.table.store import TableStore
from paimonlab.write.folders import without_changelog


def to_overwrite_with(
    definition: TableDefinition, store: TableStore, messages: Sequence[CommitMessage]
) -> list[CommitMessage]:
    """Leave out the changelog of messages, and delete its files: an overwrite has none."""
    return without_changelog(messages, write_plan(definition, store.layout), store.file_io)
