"""Commits: the files of writers become one snapshot, or an error says why not.

Source: https://paimon.apache.org/docs/master/concepts/concurrency-control/ and
apache/paimon@1.3.1 ``org.apache.paimon.operation.FileStoreCommitImpl``.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import partial

import pyarrow.compute as pc

from paimonlab.commit.attempt import CommitRequest
from paimonlab.commit.base_files import BaseFiles
from paimonlab.commit.callbacks import CommitCallback
from paimonlab.commit.changes import Change, Increment, NoChange, Overwrite, TableShape
from paimonlab.commit.checked import Checked
from paimonlab.commit.file_changes import FileChanges, compacted, written
from paimonlab.commit.history import CommitHistory
from paimonlab.commit.manifest_merge import must_change
from paimonlab.commit.options import CommitOptions
from paimonlab.commit.preparation import Preparation
from paimonlab.commit.publisher import SnapshotPublisher
from paimonlab.commit.race import Race
from paimonlab.commit.read_set import ReadSet
from paimonlab.commit.scope import OverwriteScope
from paimonlab.commit.settlement import Fate, Settler, unknown_outcome
from paimonlab.commit.strict_mode import StrictMode
from paimonlab.errors import (
    CommitError,
    CommitOutcomeUnknownError,
    CommitRolledBackError,
    PaimonError,
    PostCommitError,
    SnapshotExpiredError,
    TableNotFoundError,
)
from paimonlab.metadata.hints import write_hint
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.metadata.statistics import StatisticsStore
from paimonlab.scan.entries import concat
from paimonlab.scan.file_times import local_to_epoch
from paimonlab.scan.live_files import delta_manifests_of, manifests_of, read_entries
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.manifests.manifest import FileKind
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.snapshot import (
    BATCH_COMMIT_IDENTIFIER,
    FIRST_SNAPSHOT_ID,
    CommitKind,
    Snapshot,
)
from paimonlab.spec.statistics.table import Statistics
from paimonlab.storage import FileIO

__all__ = ["CommitOptions", "Committer"]

logger = logging.getLogger(__name__)


def _now_millis() -> int:
    return time.time_ns() // 1_000_000


class Committer:
    """Commits to one table.

    A commit is known by its user and identifier and happens at most once, however often it
    is asked for. It happens completely or not at all; if the outcome is unknown, nothing
    is deleted and `CommitOutcomeUnknownError` says so.
    """

    def __init__(
        self,
        table_name: str,
        file_io: FileIO,
        layout: TableLayout,
        *,
        snapshots: SnapshotManager,
        manifests: ManifestStore,
        schemas: SchemaManager,
        publisher: SnapshotPublisher,
        options: CommitOptions,
        now_millis: Callable[[], int] = _now_millis,
        callbacks: Sequence[CommitCallback] = (),
    ) -> None:
        self._table = table_name
        self._file_io = file_io
        self._layout = layout
        self._snapshots = snapshots
        self._manifests = manifests
        self._schemas = schemas
        self._publisher = publisher
        self._options = options
        self._now_millis = now_millis
        self._callbacks = tuple(callbacks)
        self._base = BaseFiles(table_name, snapshots, manifests, Checked(snapshots))
        self._strict = StrictMode(table_name, snapshots, options.last_safe_snapshot)

    def with_callbacks(self, callbacks: Sequence[CommitCallback]) -> Committer:
        """Return this committer, calling others besides its own after a commit."""
        other = copy(self)
        other._callbacks = (*self._callbacks, *callbacks)  # noqa: SLF001 - our own copy
        return other

    def append(
        self,
        messages: Sequence[CommitMessage],
        *,
        user: str,
        identifier: int,
        watermark: int | None = None,
        properties: Mapping[str, str] | None = None,
        is_new_user: bool = False,
        checked_id: int | None = None,
        reads: ReadSet | None = None,
    ) -> Snapshot | None:
        """Commit messages.

        What was written becomes a snapshot of kind APPEND, or OVERWRITE if rows go: files that
        are deleted, deletion vectors. What was compacted becomes a second one of kind COMPACT.

        Parameters
        ----------
        messages
            Messages of one or more writers.
        user, identifier
            Who commits what; identifiers of a user rise.
        watermark
            Event time, epoch milliseconds; the table's never falls.
        properties
            Kept with the snapshot.
        is_new_user
            Promises that there is no earlier commit by ``user``, so none is searched for.
        checked_id
            Promises that there is no conflict with this snapshot (0: an empty table) and those
            before: new files were named after it, deleted ones were alive, and bucket counts
            are those of the partitions. None: all files of the partitions are looked at.
        reads
            What the messages were derived from, if others must not have changed it since.

        Returns
        -------
        Snapshot or None
            The last of what the messages became, now or earlier; None if there is nothing to
            commit.

        Raises
        ------
        FilesConflictError
            If the number of buckets of a partition has changed, if files of the messages are in
            the table already or deleted ones are not, if a level of a bucket would hold a key
            twice, or if others changed the deletion vectors or the index that is replaced, or what
            was read.
        SnapshotConflictError
            If other writers were faster in all attempts.
        CommitOutcomeUnknownError
            If the store does not tell whether the commit happened.
        CommitHistoryExpiredError
            If this commit is so old that it may have happened and been forgotten.
        PostCommitError
            If the commit happened and a later step failed, such as its compaction.
        UnsupportedError
            If the table has indexes of an unknown type, which the commit cannot carry over.
        """
        request = CommitRequest(
            user=user, identifier=identifier, watermark=watermark, properties=properties
        )
        first, second = written(messages), compacted(messages)
        with self._nothing_happens_on_errors(is_new_user=is_new_user):
            shape = self._shape(self._schema())
            landed: Snapshot | None = None
            if self._makes_snapshot(first, second, request):
                change = Increment(
                    first,
                    shape,
                    self._base,
                    user,
                    checked_id=checked_id,
                    discards_duplicates=self._options.discard_duplicate_files,
                    reads=reads,
                )
                landed = self._commit(change, request, shape, is_new_user=is_new_user)
            if second.is_empty:
                return landed
            change = Increment(
                second, shape, self._base, user, is_compaction=True, checked_id=checked_id
            )
            return self._commit_second(landed, change, request, shape, is_new_user=is_new_user)

    def _makes_snapshot(
        self, first: FileChanges, second: FileChanges, request: CommitRequest
    ) -> bool:
        if not first.is_empty or self._options.makes_empty_snapshots:
            return True
        says_something = request.watermark is not None or bool(request.properties)
        return says_something and second.is_empty

    def _commit_second(
        self,
        landed: Snapshot | None,
        change: Change,
        request: CommitRequest,
        shape: TableShape,
        *,
        is_new_user: bool,
    ) -> Snapshot:
        try:
            return self._commit(
                change,
                request,
                shape,
                is_new_user=is_new_user,
                after_id=landed.id if landed else 0,
            )
        except (PaimonError, OSError) as error:
            if landed is None or isinstance(error, CommitOutcomeUnknownError | PostCommitError):
                raise
            problem = f"its compaction did not become visible: {error}"
            late = PostCommitError(self._table, landed.id, problem)
            late.snapshot = landed
            raise late from error

    def overwrite(
        self,
        messages: Sequence[CommitMessage],
        *,
        scope: OverwriteScope,
        user: str,
        identifier: int,
        watermark: int | None = None,
        properties: Mapping[str, str] | None = None,
        is_new_user: bool = False,
        reads: ReadSet | None = None,
    ) -> Snapshot:
        """Replace the files of partitions by those of messages.

        Files that others add to these partitions before the commit are replaced as well. With no
        messages the partitions are dropped.

        Parameters
        ----------
        messages
            All of their partitions are in ``scope``.
        scope
            The partitions to replace.
        user, identifier, watermark, properties, is_new_user, reads
            As in `append`.

        Raises
        ------
        ValueError
            If a message is for a partition that is not replaced.
        FilesConflictError
            If others changed what was read.
        SnapshotConflictError, CommitOutcomeUnknownError, CommitHistoryExpiredError, \
PostCommitError, UnsupportedError
            As in `append`.
        """
        request = CommitRequest(
            user=user, identifier=identifier, watermark=watermark, properties=properties
        )
        first, second = written(messages), compacted(messages)
        if first.changelog.num_rows or second.changelog.num_rows:
            logger.warning("%s: an overwrite has no changelog, its files are ignored", self._table)
        with self._nothing_happens_on_errors(is_new_user=is_new_user):
            shape = self._shape(self._schema())
            landed = self._commit(
                Overwrite(first, scope, shape, self._base, reads),
                request,
                shape,
                is_new_user=is_new_user,
            )
            second = replace(second, changelog=first.changelog.slice(0, 0))
            if second.is_empty:
                return landed
            change = Increment(second, shape, self._base, user, is_compaction=True)
            return self._commit_second(landed, change, request, shape, is_new_user=is_new_user)

    def analyze(
        self, statistics: Statistics, *, user: str, identifier: int, is_new_user: bool = False
    ) -> Snapshot:
        """Make statistics of the table visible, in a snapshot of kind ANALYZE.

        Parameters
        ----------
        statistics
            Statistics for the schema that they name; later snapshots keep them until it changes.
        user, identifier, is_new_user
            As in `append`.

        Raises
        ------
        SnapshotConflictError, CommitOutcomeUnknownError, CommitHistoryExpiredError, \
PostCommitError
            As in `append`.
        """
        with self._nothing_happens_on_errors(is_new_user=is_new_user):
            shape = self._shape(self._schema())
            files = StatisticsStore(self._file_io, self._layout)
            name = files.write(statistics)
            request = CommitRequest(user=user, identifier=identifier, statistics=name)
            is_new = False
            try:
                snapshot = self._commit(
                    NoChange(CommitKind.ANALYZE), request, shape, is_new_user=is_new_user
                )
                is_new = snapshot.statistics == name
            except (CommitOutcomeUnknownError, PostCommitError):
                is_new = True
                raise
            finally:
                if not is_new:
                    files.delete(name)
        return snapshot

    def compact_manifests(self, *, user: str) -> Snapshot | None:
        """Rewrite small manifests, and those with deletions, in a snapshot of kind COMPACT.

        Parameters
        ----------
        user
            Who commits; must be a new user.

        Returns
        -------
        Snapshot or None
            None if there is nothing to rewrite.

        Raises
        ------
        SnapshotConflictError, CommitOutcomeUnknownError, PostCommitError
            As in `append`.
        """
        options = replace(
            self._options, manifest_merge_min_count=1, full_compaction_threshold_bytes=1
        )
        with self._nothing_happens_on_errors(is_new_user=True):
            latest = self._snapshots.latest_before_commit()
            metas = manifests_of(latest, self._manifests) if latest else []
            changing = [meta for meta in metas if must_change(meta, options.merge)]
            if len(changing) < 2 and not any(meta.num_deleted_files for meta in changing):
                return None
            request = CommitRequest(
                user=user, identifier=BATCH_COMMIT_IDENTIFIER, only_manifests=True
            )
            return self._commit(
                NoChange(CommitKind.COMPACT),
                request,
                self._shape(self._schema()),
                is_new_user=True,
                options=options,
            )

    def _commit(
        self,
        change: Change,
        request: CommitRequest,
        shape: TableShape,
        *,
        is_new_user: bool,
        after_id: int = 0,
        options: CommitOptions | None = None,
    ) -> Snapshot:
        written_millis = _written_millis(change)
        history = CommitHistory(
            self._snapshots,
            self._table,
            user=request.user,
            identifier=request.identifier,
            kind=change.kind,
            after_id=after_id,
        )
        race = Race(self._table, self._options.retry)
        prepare = partial(
            Preparation,
            request,
            change,
            self._manifests,
            shape.partition_fields,
            options or self._options,
        )
        preparation = prepare()
        in_doubt: Snapshot | None = None
        try:
            while True:
                latest = self._snapshots.latest_before_commit()
                known = None if is_new_user else history.find(latest, written_millis)
                if known is not None:
                    preparation.discard()
                    return self._called_back(known)
                self._strict.check(latest, request.user)
                try:
                    snapshot = preparation.after(
                        latest, schema_id=self._schema().id, time_millis=self._now_millis()
                    )
                except SnapshotExpiredError:  # others were so much faster that latest is gone
                    preparation.discard_lists()
                    race.lost(latest.id + 1 if latest else FIRST_SNAPSHOT_ID)
                    continue
                # Syncing is what takes time; who has lost already need not do it.
                fate = Fate.TAKEN
                if self._may_follow(latest):
                    preparation.sync()
                    if self._may_follow(latest):
                        in_doubt = snapshot
                        fate = self._settler().settle(snapshot, latest, preparation.traces())
                        if fate is Fate.LANDED:
                            break
                        in_doubt = None
                if fate is Fate.LOST:
                    preparation.discard()
                    preparation = prepare()
                else:
                    preparation.discard_lists()
                self._check_history(latest)
                race.lost(snapshot.id)
        except BaseException as error:
            is_told = isinstance(error, CommitError | TableNotFoundError)
            is_unknown = isinstance(error, CommitOutcomeUnknownError) or not is_told
            if in_doubt is not None and is_unknown:  # whatever was written may be in use
                raise unknown_outcome(in_doubt, self._table, error) from error
            preparation.discard()
            raise
        return self._called_back(self._landed(snapshot, preparation, race))

    def _settler(self) -> Settler:
        return Settler(
            table=self._table,
            file_io=self._file_io,
            layout=self._layout,
            publisher=self._publisher,
            snapshots=self._snapshots,
            manifests=self._manifests,
            schemas=self._schemas,
        )

    def _may_follow(self, latest: Snapshot | None) -> bool:
        """Whether the next id is free, and was not used before."""
        if latest is None:
            return not self._snapshots.has(FIRST_SNAPSHOT_ID)
        return not self._snapshots.has(latest.id + 1) and self._snapshots.has(latest.id)

    def _check_history(self, base: Snapshot | None) -> None:
        """Check that the snapshot a lost attempt was built upon is, or was, part of the table."""
        found = None if base is None else self._snapshots.find(base.id)
        if base is not None and found is not None and found != base:
            raise CommitRolledBackError(self._table, base.id + 1)

    @contextmanager
    def _nothing_happens_on_errors(self, *, is_new_user: bool) -> Iterator[None]:
        """Turn failures of the store before publication into `CommitError`."""
        try:
            yield
        except OSError as error:
            if is_new_user:
                raise CommitError(f"{self._table}: the commit did not happen: {error}") from error
            raise CommitError(
                f"{self._table}: nothing was committed now: {error}. Commit the same messages "
                "again with the same user and identifier: they may have landed before"
            ) from error

    def _landed(self, snapshot: Snapshot, preparation: Preparation, race: Race) -> Snapshot:
        self._strict.landed(snapshot)
        try:
            self._snapshots.write_latest_hint(snapshot.id)
            if snapshot.id == FIRST_SNAPSHOT_ID:
                write_hint(self._file_io, self._layout.earliest_hint, snapshot.id)
            preparation.discard_unused()
        except BaseException as error:
            raise PostCommitError(self._table, snapshot.id, repr(error)) from error
        logger.info(
            "%s: committed snapshot %d (%s), rows %+d, after %d lost races",
            self._table,
            snapshot.id,
            snapshot.commit_kind.value,
            snapshot.delta_record_count,
            race.losses,
        )
        return snapshot

    def _called_back(self, snapshot: Snapshot) -> Snapshot:
        if self._callbacks:
            try:
                metas = delta_manifests_of(snapshot, self._manifests)
                changes = concat(read_entries(snapshot, metas, self._manifests))
                for callback in self._callbacks:
                    callback(snapshot, changes)
            except BaseException as error:
                raise PostCommitError(self._table, snapshot.id, repr(error)) from error
        return snapshot

    def _schema(self) -> TableSchema:
        schema = self._schemas.latest()
        if schema is None:
            raise TableNotFoundError(self._table)
        return schema

    def _shape(self, schema: TableSchema) -> TableShape:
        keys = schema.trimmed_primary_keys
        return TableShape(
            partition_fields=tuple(schema.field(name) for name in schema.partition_keys),
            key_types=tuple(schema.field(key).type for key in keys) if keys else None,
            buckets=self._options.buckets,
            schema_id=schema.id,
        )


def _written_millis(change: Change) -> int | None:
    """Return when the first file was made, epoch milliseconds; None if a file does not say."""
    if not isinstance(change, Increment | Overwrite):
        return None
    entries = change.changes.entries
    times = entries.filter(pc.equal(entries["kind"], int(FileKind.ADD)))["creation_time_millis"]
    if not len(times) or times.null_count:
        return None
    return local_to_epoch(pc.min(times).as_py())
