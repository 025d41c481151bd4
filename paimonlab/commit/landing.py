"""One change of a table becomes one snapshot: race, settlement, and what follows.

Source: https://paimon.apache.org/docs/master/concepts/concurrency-control/ and
apache/paimon@1.3.1 ``org.apache.paimon.operation.FileStoreCommitImpl``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow.compute as pc

from paimonlab.commit.attempt import CommitRequest
from paimonlab.commit.callbacks import CommitCallback
from paimonlab.commit.commit_changes import Change, Increment, Overwrite, TableShape
from paimonlab.commit.history import CommitHistory
from paimonlab.commit.kept_settlement import KeptSettler
from paimonlab.commit.options import CommitOptions
from paimonlab.commit.preparation import Preparation
from paimonlab.commit.publisher import SnapshotPublisher
from paimonlab.commit.race import Race
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
from paimonlab.metadata.kept_history import KeptHistory
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.metadata.schemas import SchemaManager, gone_hint
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.scan.entries import concat
from paimonlab.scan.file_times import local_to_epoch
from paimonlab.scan.live_files import delta_manifests_of, read_entries
from paimonlab.spec.manifests.manifest import FileKind, is_kind
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.snapshot import (
    FIRST_SNAPSHOT_ID,
    Snapshot,
)
from paimonlab.storage import FileIO
from paimonlab.storage.schemes import store_kind

logger = logging.getLogger(__name__)


class SchemaMovedOnError(Exception):
    """The schema that was taken for the latest is not; nothing was committed."""


@dataclass(kw_only=True)
class Landing:
    """Where changes of one table land."""

    table: str
    """Its name, for messages."""
    file_io: FileIO
    layout: TableLayout
    snapshots: SnapshotManager
    manifests: ManifestStore
    schemas: SchemaManager
    publisher: SnapshotPublisher
    options: CommitOptions
    strict: StrictMode
    now_millis: Callable[[], int]
    callbacks: tuple[CommitCallback, ...]
    """Called with every snapshot that landed, or is found to have."""

    def land(
        self,
        change: Change,
        request: CommitRequest,
        shape: TableShape,
        *,
        is_new_user: bool,
        after_id: int = 0,
        options: CommitOptions | None = None,
        seen: Snapshot | None = None,
        assumes_schema: bool = False,
        before_publishing: Sequence[Callable[[], bool]] = (),
    ) -> Snapshot:
        """Try until the change is a snapshot, or can never be one.

        Parameters
        ----------
        change
            What becomes of the table's files.
        request
            Who commits, and what the snapshot says beside its files.
        shape
            What the change was checked against.
        is_new_user
            Whether nobody ever committed as this user: then no earlier commit is looked for.
        after_id
            Where to begin to look for it.
        options
            Instead of those of the table; None: those.
        seen
            As in `Committer.append`.
        assumes_schema
            Whether it has to be checked that the schema of ``shape`` is still the latest.
        before_publishing
            As in `Committer.append`; called for the first attempt.

        Raises
        ------
        SchemaMovedOnError
            If it is not: nothing was committed.
        """
        written_millis = None if is_new_user else _written_millis(change)
        history = self._history(request, change, after_id)
        race = Race(self.table, self.options.retry)
        prepare = partial(
            Preparation,
            request,
            change,
            self.manifests,
            shape.partition_fields,
            options or self.options,
        )
        preparation = prepare()
        in_doubt: Snapshot | None = None
        assumed = shape.schema_id if assumes_schema else None
        bases, schema_ids = self._bases(seen if is_new_user else None), self._schema_ids(shape)
        try:
            while True:
                latest = next(bases)
                known = None if is_new_user else history.find(latest, written_millis)
                if known is not None:
                    preparation.discard()
                    return self._called_back(known)
                self.strict.check(latest, request.user)
                snapshot = self._prepared(preparation, latest, next(schema_ids))
                if snapshot is None:
                    race.lost(latest.id + 1 if latest else FIRST_SNAPSHOT_ID)
                    continue
                # Syncing is what takes time on disks; who has lost already need not do it.
                fate = Fate.TAKEN
                if self._synced(preparation, latest, assumed, before_publishing):
                    in_doubt = snapshot
                    fate = self._settler().settle(snapshot, latest, preparation.traces())
                    if fate is Fate.LANDED:
                        break
                    in_doubt = None
                assumed, before_publishing = None, ()
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
                raise unknown_outcome(in_doubt, self.table, error) from error
            preparation.discard()
            raise
        self.snapshots.landed(snapshot, latest)
        return self._called_back(self._landed(snapshot, preparation, race))

    def _history(self, request: CommitRequest, change: Change, after_id: int) -> CommitHistory:
        return CommitHistory(
            self.snapshots,
            self.table,
            user=request.user,
            identifier=request.identifier,
            kind=change.kind,
            after_id=after_id,
        )

    def _prepared(
        self, preparation: Preparation, latest: Snapshot | None, schema_id: int
    ) -> Snapshot | None:
        """Make the snapshot; None: others were so much faster that ``latest`` is gone."""
        try:
            return preparation.after(latest, schema_id=schema_id, time_millis=self.now_millis())
        except SnapshotExpiredError:
            preparation.discard_lists()
            return None

    def _bases(self, seen: Snapshot | None) -> Iterator[Snapshot | None]:
        """Yield what each attempt is built upon; the first may follow what was seen before.

        Whether that is the latest, the store says when the next id is taken, and the settlement
        whether it is still there.
        """
        is_kept = isinstance(self.publisher, KeptHistory)  # then the catalog says what is latest
        if seen is not None and not is_kept and self.snapshots.may_follow(seen):
            yield seen
        while True:
            yield self.snapshots.latest_before_commit()

    def _schema_ids(self, shape: TableShape) -> Iterator[int]:
        """Yield the latest schema for each attempt; that of the shape was read just now."""
        yield shape.schema_id
        while True:
            yield self.schema().id

    def _settler(self) -> Settler | KeptSettler:
        if isinstance(self.publisher, KeptHistory):
            return KeptSettler(table=self.table, kept=self.publisher, manifests=self.manifests)
        return Settler(
            table=self.table,
            file_io=self.file_io,
            layout=self.layout,
            publisher=self.publisher,
            snapshots=self.snapshots,
            manifests=self.manifests,
            schemas=self.schemas,
        )

    def _synced(
        self,
        preparation: Preparation,
        latest: Snapshot | None,
        assumed_schema_id: int | None,
        before_publishing: Sequence[Callable[[], bool]],
    ) -> bool:
        """Make what an attempt wrote durable; whether its snapshot may be published then."""
        may_follow = partial(self._may_follow, latest)
        if not self._is_stored:
            if not (may_follow() and all(preparation.sync(before_publishing))):
                return False
            return may_follow()
        asked: Sequence[Callable[[], bool]] = before_publishing or [may_follow]
        if assumed_schema_id is None:
            return all(preparation.sync(asked))
        has_schema = partial(self.schemas.has, assumed_schema_id + 1)
        has_moved_on, *are_free = preparation.sync([has_schema, *asked])
        if has_moved_on:
            raise SchemaMovedOnError
        return all(are_free)

    def _may_follow(self, latest: Snapshot | None) -> bool:
        """Whether the next id is free, and was not used before."""
        if isinstance(self.publisher, KeptHistory):
            return True  # the catalog finds out
        if latest is None:
            return not self.snapshots.has(FIRST_SNAPSHOT_ID)
        # A store says itself that the next id is taken; as long as the base is there no id after
        # it has expired.
        is_taken = not self._is_stored and self.snapshots.has(latest.id + 1)
        return not is_taken and self.snapshots.has(latest.id)

    @property
    def _is_stored(self) -> bool:
        """Whether the table is in an object store, where each look is a request."""
        return store_kind(self.layout.table_path) is not None

    def _check_history(self, base: Snapshot | None) -> None:
        """Check that the snapshot a lost attempt was built upon is, or was, part of the table."""
        current = None if base is None else self.snapshots.find(base.id)
        if base is not None and current is not None and current != base:
            raise CommitRolledBackError(self.table, base.id + 1)

    def _landed(self, snapshot: Snapshot, preparation: Preparation, race: Race) -> Snapshot:
        self.strict.landed(snapshot)
        try:
            self.snapshots.write_latest_hint(snapshot.id)
            is_kept = isinstance(self.publisher, KeptHistory)
            if snapshot.id == FIRST_SNAPSHOT_ID and not is_kept:
                write_hint(self.file_io, self.layout.earliest_hint, snapshot.id)
            preparation.discard_unused()
        except BaseException as error:
            raise PostCommitError(self.table, snapshot.id, _told(error)) from error
        logger.info(
            "%s: committed snapshot %d (%s), rows %+d, after %d lost races",
            self.table,
            snapshot.id,
            snapshot.commit_kind.value,
            snapshot.delta_record_count,
            race.losses,
        )
        return snapshot

    def _called_back(self, snapshot: Snapshot) -> Snapshot:
        if self.callbacks:
            try:
                metas = delta_manifests_of(snapshot, self.manifests)
                changes = concat(read_entries(snapshot, metas, self.manifests))
                for callback in self.callbacks:
                    callback(snapshot, changes)
            except BaseException as error:
                raise PostCommitError(self.table, snapshot.id, _told(error)) from error
        return snapshot

    def assumed_schema(self, seen: Snapshot | None) -> TableSchema | None:
        """Return the schema that was found last, which is to be checked; None: ask for it.

        That the table was not dropped is seen by the snapshot that the commit follows.
        """
        is_kept = isinstance(self.publisher, KeptHistory)
        if seen is None or is_kept or not self._is_stored:
            return None
        found = self.schemas.found_last()
        return None if found is None or found.id < seen.schema_id else found

    def schema(self) -> TableSchema:
        """Return the latest schema.

        Raises
        ------
        TableNotFoundError
            If there is none.
        """
        schema = self.schemas.latest()
        if schema is None:
            raise TableNotFoundError(self.table, hint=gone_hint(self.table))
        return schema


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if isinstance(error, PaimonError) else repr(error)


def _written_millis(change: Change) -> int | None:
    """Return when the first file was made, epoch milliseconds; None if a file does not say."""
    if not isinstance(change, Increment | Overwrite):
        return None
    entries = change.changes.entries
    times = entries.filter(is_kind(entries, FileKind.ADD))["creation_time_millis"]
    if not len(times) or times.null_count:
        return None
    return local_to_epoch(pc.min(times).as_py())
