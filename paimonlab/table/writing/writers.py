"""Writing and committing rows of one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import CommitError, PaimonError, SnapshotExpiredError
from paimonlab.spec.buckets.mode import BucketMode
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.partitions.folders import POSTPONE_BUCKET
from paimonlab.spec.schema.upsert_keys import check_appends
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER, Snapshot
from paimonlab.storage import FileIO
from paimonlab.storage.forks import Home
from paimonlab.storage.held_files import HeldFileIO
from paimonlab.table import compacting, writing
from paimonlab.table.committing.users import new_user
from paimonlab.table.compacting.due import compacts
from paimonlab.table.definition import TableDefinition
from paimonlab.table.memories.sequence_numbers import SequenceMemory
from paimonlab.table.plans.write import write_plan
from paimonlab.table.store import TableStore
from paimonlab.table.upkeep.after_commit import committer_of
from paimonlab.table.writing.commits import commit_own
from paimonlab.table.writing.partial_upserts import told_of_lost_values
from paimonlab.write.frames import batches_of
from paimonlab.write.kept_ids import IdKeepingWriter, keeps_ids
from paimonlab.write.routing import FixedRouter
from paimonlab.write.writer import TableWriter


class Writer:
    """Writes many batches and hands out what commits take: ``table.new_writer()``.

    Examples
    --------
    ::

        writer = table.new_writer(user="job-7")
        for number, batch in enumerate(batches):
            writer.write(batch)
            messages = writer.prepare_commit(number)
            table.commit(messages, identifier=number, user=writer.user)
    """

    def __init__(
        self, definition: TableDefinition, store: TableStore, user: str, *, replaces: bool = False
    ) -> None:
        if not replaces:
            check_appends(definition.name, definition.options)
        self._user = user
        self._home = Home()
        self._definition = definition
        self._writer = new_table_writer(definition, store, replaces=replaces, user=user)

    @property
    def user(self) -> str:
        """The commit user; with a rising identifier it makes commits idempotent.

        Raises
        ------
        ForkedProcessError
            If this process was forked from the one that made the writer: of commits of two
            processes by one user with one identifier the second is taken for the first.
        """
        self._home.check(
            f"a writer of {self._definition.name}", "make a writer here, table.new_writer()"
        )
        return self._user

    def write(self, data: Any, *, row_kinds: str | None = None) -> None:
        """Take rows, as `Table.write` does; nothing is visible before a commit."""
        self._writer.write(data, row_kinds=row_kinds)

    def prepare_commit(self, identifier: int = BATCH_COMMIT_IDENTIFIER) -> list[CommitMessage]:  # noqa: ARG002
        """Finish the files of this round and describe them.

        Parameters
        ----------
        identifier
            Of the commit the messages are for; rises from round to round.
        """
        return self._writer.prepare_commit()

    def abort(self) -> None:
        """Delete what was written since the last `prepare_commit`."""
        self._writer.abort()


def new_table_writer(
    definition: TableDefinition,
    store: TableStore,
    *,
    replaces: bool = False,
    user: str = "",
    seen: tuple[Snapshot | None] | None = None,
    file_io: FileIO | None = None,
) -> TableWriter:
    """Create a writer that continues from the latest snapshot.

    Parameters
    ----------
    definition, store
        The table's definition and store.
    replaces
        Whether all rows of the partitions that are written to are replaced, so that buckets may
        be given anew.
    user
        Who will commit.
    seen
        The latest snapshot, alone in a tuple, if it was looked for just now.
    file_io
        What files are written to; None: the table's store.
    """
    plan, file_io = write_plan(definition, store.layout), file_io or store.file_io
    mode = plan.bucket_mode
    if mode is BucketMode.BUCKET_UNAWARE:
        # Nothing orders the files of an append table without buckets.
        return IdKeepingWriter(plan, file_io) if keeps_ids(plan) else TableWriter(plan, file_io)
    if mode is BucketMode.POSTPONE_MODE:
        waiting = FixedRouter(plan.schema, -1, only_bucket=POSTPONE_BUCKET)
        return TableWriter(plan, file_io, router=waiting, user=user)
    snapshot, numbers = _latest_numbers(store, seen)
    router, compactions = None, None
    if mode is not BucketMode.HASH_FIXED:
        router = writing.routers.router_of(
            definition, store, plan, snapshot, numbers, replaces=replaces
        )
    if compacts(definition, plan):
        compactions = compacting.by_writers.writer_compactions(
            definition, store, plan, snapshot, replaces=replaces, file_io=file_io
        )
    return TableWriter(plan, file_io, numbers, router=router, compactions=compactions)


def _latest_numbers(
    store: TableStore, seen: tuple[Snapshot | None] | None
) -> tuple[Snapshot | None, pa.Table]:
    """Return the latest snapshot and its sequence numbers; once more if it expires meanwhile."""
    while True:
        (snapshot,) = seen or (store.snapshots.latest(),)
        seen = None
        try:
            return snapshot, sequence_numbers(store.sequence_memory, snapshot)
        except SnapshotExpiredError:
            if store.snapshots.latest() == snapshot:
                raise


def sequence_numbers(sequence_memory: SequenceMemory, snapshot: Snapshot | None) -> pa.Table:
    """Highest sequence number of every bucket; see `Table.sequence_numbers`."""
    return sequence_memory.at(snapshot)


def write(
    definition: TableDefinition,
    store: TableStore,
    data: Any,
    *,
    row_kinds: str | None,
    properties: Mapping[str, str] | None,
) -> Snapshot | None:
    """Write rows and commit them; see `Table.write`."""
    user = new_user(definition.options)
    made = partial(write_files, definition, store, row_kinds=row_kinds, user=user)

    def commit(
        messages: Sequence[CommitMessage],
        seen: Snapshot | None,
        before_publishing: Sequence[Callable[[], bool]] = (),
    ) -> Snapshot | None:
        is_checked = has_same_buckets(definition, store, seen, messages)

        def append() -> Snapshot | None:
            return committer_of(definition, store).append(
                messages,
                user=user,
                identifier=BATCH_COMMIT_IDENTIFIER,
                properties=dict(properties) if properties else None,
                is_new_user=True,
                # Names of new files are new, and apart from bucket counts no more matters.
                checked_id=(seen.id if seen else 0) if is_checked else None,
                seen=seen,
                before_publishing=before_publishing,
            )

        return commit_own(definition, store, messages, append)

    own = store.snapshots.newest_own() if _may_write_early(definition, data) else None
    if own is not None:
        if row_kinds is None:
            data = told_of_lost_values(definition, data)
        data, is_small = _held(definition, data)
        if is_small:
            with suppress(_FollowedError):
                return _written_early(definition, store, data, own, made, commit)
    seen = store.snapshots.latest()
    if own is None and seen is not None and row_kinds is None:
        data = told_of_lost_values(definition, data)
    return commit(made(data, seen=(seen,)), seen)


def write_named(
    definition: TableDefinition,
    store: TableStore,
    data: Any,
    *,
    user: str,
    check: Callable[[], None],
) -> Snapshot | None:
    """Write rows and commit them under a name that was chosen before.

    Parameters
    ----------
    definition, store
        The table's definition and store.
    data
        As `Table.write` takes it.
    user
        Who commits; never used before.
    check
        Called before the commit; what it raises keeps it from happening.
    """
    check_appends(definition.name, definition.options)
    seen = store.snapshots.latest()
    messages = write_files(definition, store, data, user=user, seen=(seen,))

    def append() -> Snapshot | None:
        check()
        return committer_of(definition, store).append(
            messages, user=user, identifier=BATCH_COMMIT_IDENTIFIER, is_new_user=True, seen=seen
        )

    return commit_own(definition, store, messages, append)


def _may_write_early(definition: TableDefinition, data: Any) -> bool:
    """Whether files may be written before it is known which snapshot is the latest.

    Files without buckets depend on no snapshot. Those of fixed buckets have sequence numbers after
    it, so their rows must be at hand to be written once more.
    """
    if definition.bucket_mode is BucketMode.HASH_FIXED:
        return isinstance(data, pa.Table | pa.RecordBatch | list | tuple | Mapping)
    return definition.bucket_mode in (BucketMode.BUCKET_UNAWARE, BucketMode.POSTPONE_MODE)


def _depends_on_base(definition: TableDefinition) -> bool:
    return definition.bucket_mode is BucketMode.HASH_FIXED


def _held(definition: TableDefinition, data: Any) -> tuple[Any, bool]:
    """Return rows that may have to be written twice as a table, and whether they are few."""
    if not _depends_on_base(definition):
        return data, True
    names, fields = definition.schema.field_names, definition.schema.fields
    rows = batches_of(data, names, table=definition.name, fields=fields).read_all()
    return rows, rows.nbytes <= _MOST_EARLY_BYTES


def _written_early(
    definition: TableDefinition,
    store: TableStore,
    data: Any,
    own: Snapshot,
    made: Callable[..., list[CommitMessage]],
    commit: Callable[..., Snapshot | None],
) -> Snapshot | None:
    """Write and commit as if our last commit were the latest.

    Whether it is, the store is asked while it takes the files and their manifests.

    Raises
    ------
    _FollowedError
        If it is not, and the files depend on that: nothing was committed.
    """
    depends = _depends_on_base(definition)

    def is_latest() -> bool:
        if store.snapshots.latest() == own:
            return True
        if depends:
            raise _FollowedError
        return False

    held = HeldFileIO(store.file_io)
    try:
        messages = made(data, seen=(own,), file_io=held)
    except (PaimonError, OSError):
        if depends:  # of files that were replaced some may be missing
            is_latest()
        raise
    return commit(messages, own, (held.send, is_latest))


class _FollowedError(CommitError):
    """Others committed after our last commit."""


_MOST_EARLY_BYTES = 16 << 20
"""Of rows that may have to be written twice."""


def has_same_buckets(
    definition: TableDefinition,
    store: TableStore,
    snapshot: Snapshot | None,
    messages: Sequence[CommitMessage],
) -> bool:
    """Whether files were written for as many buckets as their partitions have in a snapshot.

    Also False if the snapshot has expired: then it is unknown.
    """
    if definition.bucket_mode is not BucketMode.HASH_FIXED:
        return True
    try:
        there = sequence_numbers(store.sequence_memory, snapshot)
    except SnapshotExpiredError:
        return False
    touched = {message.partition for message in messages}
    if there.num_rows > _FEW_BUCKETS:
        ours = pc.is_in(there["partition"], arrow_array(touched, pa.large_binary()))
        there = there.filter(ours)
    pairs = zip(there["partition"].to_pylist(), there["total_buckets"].to_pylist(), strict=True)
    counts = {count for partition, count in pairs if partition in touched}
    return counts <= {message.total_buckets for message in messages}


_FEW_BUCKETS = 64
"""Buckets that are looked at one by one."""


def write_files(
    definition: TableDefinition,
    store: TableStore,
    data: Any,
    *,
    row_kinds: str | None = None,
    replaces: bool = False,
    user: str | None = None,
    seen: tuple[Snapshot | None] | None = None,
    file_io: FileIO | None = None,
) -> list[CommitMessage]:
    """Write rows to files that no snapshot knows yet; on an error the files are deleted."""
    with new_table_writer(
        definition,
        store,
        replaces=replaces,
        user=user or new_user(definition.options),
        seen=seen,
        file_io=file_io,
    ) as writer:
        writer.write(data, row_kinds=row_kinds)
        return writer.prepare_commit()
