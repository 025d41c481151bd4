"""Committing what executors wrote, from the driver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from paimonlab.errors import CommitError
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER
from paimonlab.table.writing import delete_files, new_user

if TYPE_CHECKING:
    from paimonlab.commit.scope import OverwriteScope
    from paimonlab.table.table import Table


def commit_rows(table: Table, messages: Sequence[CommitMessage]) -> None:
    """Add files to a table; no files make no snapshot."""
    if not messages:
        return
    try:
        table.commit(messages)
    except CommitError as error:
        delete_files(table.parts, messages, error)
        raise


def commit_scope(table: Table, messages: Sequence[CommitMessage], scope: OverwriteScope) -> None:
    """Replace the files of a scope by others, or by none."""
    parts = table.parts
    try:
        parts.committer.overwrite(
            messages, scope=scope, user=new_user(parts), identifier=BATCH_COMMIT_IDENTIFIER
        )
    except CommitError as error:
        delete_files(parts, messages, error)
        raise
