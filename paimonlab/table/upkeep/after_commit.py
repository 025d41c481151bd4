"""What follows a commit: what is old expires, tags that are due are created.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.sink.TableCommitImpl.maintain``.
"""

from __future__ import annotations

import uuid
from datetime import timedelta
from functools import partial

import pyarrow as pa

from paimonlab import clock
from paimonlab.commit.committer import Committer
from paimonlab.maintenance.auto_tags import AutoTagOptions
from paimonlab.maintenance.changelog_expiry import ChangelogExpiryRequest, expire_changelogs
from paimonlab.maintenance.partition_expiry import (
    PartitionExpireOptions,
    PartitionExpiryRequest,
    is_check_due,
)
from paimonlab.maintenance.retention import ExpireOptions
from paimonlab.maintenance.snapshot_expiry import SnapshotExpiryRequest, expire_snapshots
from paimonlab.maintenance.table_history import TableHistory
from paimonlab.maintenance.tag_creation import create_due_tags
from paimonlab.maintenance.tag_expiry import TagExpiryRequest, expire_tags
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.committing.committers import plain_committer_of
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore
from paimonlab.table.upkeep.consumers import ConsumerOptions
from paimonlab.table.upkeep.history import history_of
from paimonlab.table.upkeep.partition_expiring import expire_partitions
from paimonlab.write.write_plan import WriterCompactionOptions


class Upkeep:
    """What a commit does beside committing: a `CommitCallback`.

    With ``snapshot.expire.execution-mode`` = ``async`` a thread does it, for one commit at a
    time: a commit that finds it at work leaves the rest to the next. An error there is raised by
    the next commit.
    """

    def __init__(self, definition: TableDefinition, store: TableStore) -> None:
        options = definition.options
        self._definition = definition
        self._store = store
        self._consumers_live_millis = options.slice(ConsumerOptions).expiration_millis
        self._partitions = options.slice(PartitionExpireOptions)
        self._tags = options.slice(AutoTagOptions)
        self._is_async = options.slice(ExpireOptions).mode.lower() == "async"
        self._turns = store.upkeep_turns

    def __call__(self, snapshot: Snapshot, _changes: pa.Table, /) -> None:
        """Do it."""
        if self._is_async:
            self._turns.begin(partial(self._run, snapshot))
        else:
            self._run(snapshot)

    def _run(self, snapshot: Snapshot) -> None:
        # Consumers first: they hold snapshots back.
        if self._consumers_live_millis is not None:
            lifetime = timedelta(milliseconds=self._consumers_live_millis)
            self._store.consumers.expire(clock.now() - lifetime)
        history = history_of(self._definition, self._store)
        expire_by_options(history)
        if self._partitions.expiration_millis is not None:
            self._expire_partitions(snapshot)
        if self._tags.mode != "none":
            create_due_tags(history)
        elif self._tags.expires:
            expire_tags(history, TagExpiryRequest())

    def _expire_partitions(self, snapshot: Snapshot) -> None:
        now = clock.local_now()
        last = self._turns.partitions_checked
        if is_check_due(self._partitions, snapshot, last=last, now=now):
            request, user = PartitionExpiryRequest(), str(uuid.uuid4())
            expire_partitions(self._definition, self._store, request, user=user, now=now)
            self._turns.partitions_checked = now


def expire_by_options(history: TableHistory) -> None:
    """Let snapshots and changelogs expire as the options of the table say."""
    expire_snapshots(history, SnapshotExpiryRequest())
    if history.options.slice(ExpireOptions).keeps_changelogs:
        expire_changelogs(history, ChangelogExpiryRequest())


def committer_of(definition: TableDefinition, store: TableStore) -> Committer:
    """Return a committer after whose commits upkeep runs, if the options say so."""
    committer = plain_committer_of(definition.options, store)
    is_left_to_others = definition.options.slice(WriterCompactionOptions).write_only
    return committer if is_left_to_others else committer.with_callbacks([Upkeep(definition, store)])
