"""Commits: the files of writers become one snapshot, or an error says why not.

Source: https://paimon.apache.org/docs/master/concepts/concurrency-control/ and
apache/paimon@1.3.1 ``org.apache.paimon.operation.FileStoreCommitImpl``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import replace

from msgspec import structs

from paimonlab.clock import now_millis
from paimonlab.commit.attempt import CommitRequest
from paimonlab.commit.base_files import BaseFiles
from paimonlab.commit.callbacks import CommitCallback
from paimonlab.commit.checked import Checked
from paimonlab.commit.commit_changes import Change, Increment, NoChange, Overwrite, TableShape
from paimonlab.commit.file_changes import FileChanges, compacted, written
from paimonlab.commit.landing import Landing, SchemaMovedOnError
from paimonlab.commit.manifest_merge import must_change
from paimonlab.commit.options import CommitOptions
from paimonlab.commit.publisher import SnapshotPublisher
from paimonlab.commit.read_set import ReadSet
from paimonlab.commit.scope import OverwriteScope
from paimonlab.commit.strict_mode import StrictMode
from paimonlab.errors import (
    CommitError,
    CommitOutcomeUnknownError,
    PaimonError,
    PostCommitError,
)
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.metadata.statistics import StatisticsStore
from paimonlab.scan.live_files import manifests_of
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.snapshot import (
    BATCH_COMMIT_IDENTIFIER,
    CommitKind,
    Snapshot,
)
from paimonlab.spec.statistics.table import Statistics
from paimonlab.storage import FileIO

__all__ = ["CommitOptions", "Committer"]

logger = logging.getLogger(__name__)


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
        now_millis: Callable[[], int] = now_millis,
        callbacks: Sequence[CommitCallback] = (),
    ) -> None:
        self._table = table_name
        self._file_io = file_io
        self._layout = layout
        self._snapshots = snapshots
        self._manifests = manifests
        self._options = options
        self._base = BaseFiles(table_name, snapshots, manifests, Checked(snapshots))
        self._landing = Landing(
            table=table_name,
            file_io=file_io,
            layout=layout,
            snapshots=snapshots,
            manifests=manifests,
            schemas=schemas,
            publisher=publisher,
            options=options,
            strict=StrictMode(table_name, snapshots, options.last_safe_snapshot),
            now_millis=now_millis,
            callbacks=tuple(callbacks),
        )

    def with_callbacks(self, callbacks: Sequence[CommitCallback]) -> Committer:
        """Return this committer, calling others besides its own after a commit."""
        other = copy(self)
        ours = self._landing
        other._landing = replace(ours, callbacks=(*ours.callbacks, *callbacks))  # noqa: SLF001 - our own copy
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
        seen: Snapshot | None = None,
        before_publishing: Sequence[Callable[[], bool]] = (),
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
        seen
            The latest snapshot before the files were written. If it is this process's own last
            commit or, in a store, follows what the process knows, the first attempt follows it
            without looking for others: the id that they took cannot be taken again, and whether
            the table still has it is seen afterwards.
        before_publishing
            Called at the same time while manifests are written, and each has to return True, or
            what is built upon ``seen`` is not published. One looks whether ``seen`` is the latest
            still; files of the messages may be created by another. What they raise is raised, and
            nothing was committed then.

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
            assumed = self._landing.assumed_schema(seen) if is_new_user else None

            def commit(schema: TableSchema) -> Snapshot | None:
                shape = self._shape(schema)
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
                    landed = self._landing.land(
                        change,
                        request,
                        shape,
                        is_new_user=is_new_user,
                        seen=seen,
                        assumes_schema=schema is assumed,
                        before_publishing=before_publishing,
                    )
                if second.is_empty:
                    return landed
                change = Increment(
                    second, shape, self._base, user, is_compaction=True, checked_id=checked_id
                )
                return self._commit_second(
                    landed,
                    change,
                    request,
                    shape,
                    is_new_user=is_new_user,
                    before_publishing=() if landed else before_publishing,
                )

            if assumed is not None and self._makes_snapshot(first, second, request):
                with suppress(SchemaMovedOnError):
                    return commit(assumed)
            return commit(self._landing.schema())

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
        before_publishing: Sequence[Callable[[], bool]] = (),
    ) -> Snapshot:
        try:
            return self._landing.land(
                change,
                request,
                shape,
                is_new_user=is_new_user,
                after_id=landed.id if landed else 0,
                before_publishing=before_publishing,
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
            shape = self._shape(self._landing.schema())
            landed = self._landing.land(
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
            shape = self._shape(self._landing.schema())
            files = StatisticsStore(self._file_io, self._layout)
            name = files.write(statistics)
            request = CommitRequest(user=user, identifier=identifier, statistics=name)
            is_new = False
            try:
                snapshot = self._landing.land(
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
        options = structs.replace(
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
            return self._landing.land(
                NoChange(CommitKind.COMPACT),
                request,
                self._shape(self._landing.schema()),
                is_new_user=True,
                options=options,
            )

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

    def _shape(self, schema: TableSchema) -> TableShape:
        keys = schema.trimmed_primary_keys
        return TableShape(
            partition_fields=tuple(schema.field(name) for name in schema.partition_keys),
            key_types=tuple(schema.field(key).type for key in keys) if keys else None,
            buckets=self._options.buckets,
            schema_id=schema.id,
        )
