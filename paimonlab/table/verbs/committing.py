"""Verbs of a table for many writers and commits: bound in `paimonlab.table.table.Table`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER, Snapshot
from paimonlab.table import committing, upkeep
from paimonlab.table import writing as table_writing
from paimonlab.table.inside import definition_of, store_of, writable
from paimonlab.table.opened import OpenedTable

if TYPE_CHECKING:
    from paimonlab.commit.callbacks import CommitCallback
    from paimonlab.commit.scope import OverwriteScope
    from paimonlab.spec.commit_message import CommitMessage
    from paimonlab.spec.statistics.table import Statistics
    from paimonlab.table.writing.writers import Writer


def new_writer(table: OpenedTable, user: str | None = None, *, replaces: bool = False) -> Writer:
    """Begin to write many batches, for one or many commits; see `Writer`.

    Parameters
    ----------
    user
        Who will commit; None: a new user.
    replaces
        Whether what is written will be committed with ``overwrite``, in place of all rows of its
        partitions: buckets may be given anew, and files that are there are not compacted with it.
    """
    given_user = user or committing.users.new_user(definition_of(table).options)
    return table_writing.writers.Writer(*writable(table), given_user, replaces=replaces)


def commit(
    table: OpenedTable,
    messages: Sequence[CommitMessage],
    *,
    identifier: int = BATCH_COMMIT_IDENTIFIER,
    user: str | None = None,
    watermark: int | None = None,
    properties: Mapping[str, str] | None = None,
    overwrite: OverwriteScope | None = None,
    statistics: Statistics | None = None,
    callbacks: Sequence[CommitCallback] = (),
) -> Snapshot | None:
    """Make what writers wrote visible, all of it or nothing.

    Parameters
    ----------
    messages
        From `Writer.prepare_commit`, of any number of writers in any processes.
    identifier, user
        The same pair is committed at most once: committing it again returns the snapshot
        it became. Identifiers of a user rise.
    watermark
        Event time, epoch milliseconds.
    properties
        Kept with the snapshot.
    overwrite
        Partitions whose files are replaced; None: none are.
    statistics
        Of the table, committed by themselves: ``messages`` must be empty.
    callbacks
        Called after the commit, and if it happened before; see `CommitCallback`.

    Returns
    -------
    Snapshot or None
        The last one of those it became: what was compacted comes after what was written.
        None when there is nothing to commit.

    Raises
    ------
    CommitError
        If the commit did not happen; `FilesConflictError` if it can never succeed.
    PostCommitError
        If the commit happened, but not all that should follow.
    """
    definition, store = writable(table)
    if overwrite is not None:
        messages = committing.overwrites.to_overwrite_with(definition, store, messages)
    committer = upkeep.after_commit.committer_of(definition, store).with_callbacks(callbacks)
    given_user = user or committing.users.new_user(definition.options)
    if statistics is not None:
        if messages or overwrite or properties or watermark is not None:
            raise ValueError("statistics are committed by themselves")
        return committer.analyze(
            statistics, user=given_user, identifier=identifier, is_new_user=user is None
        )
    request: dict[str, Any] = {
        "user": given_user,
        "identifier": identifier,
        "watermark": watermark,
        "properties": dict(properties) if properties else None,
        "is_new_user": user is None,
    }

    def do_commit() -> Snapshot | None:
        if overwrite is not None:
            return committer.overwrite(messages, scope=overwrite, **request)
        return committer.append(messages, **request)

    return table_writing.commits.commit_given(definition, store, messages, do_commit)


def sequence_numbers(table: OpenedTable) -> pa.Table:
    """Highest sequence number of every bucket, which writers go on from.

    Returns
    -------
    pyarrow.Table
        Columns ``partition`` (serialised BinaryRow), ``bucket``, ``total_buckets``,
        ``max_sequence_number``; one row per bucket with live files.
    """
    return table_writing.writers.sequence_numbers(store_of(table).sequence_memory, table.snapshot)
