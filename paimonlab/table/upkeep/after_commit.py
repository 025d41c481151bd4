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
from paimonlab.errors import SnapshotNotFoundError
from paimonlab.maintenance.auto_tags import AutoTagOptions
from paimonlab.maintenance.changelog_expiry import ChangelogExpiryRequest, expire_changelogs
from paimonlab.maintenance.partition_expiry import (
    PartitionExpireOptions,
    PartitionExpiryRequest,
    is_check_due,
)
from paimonlab.maintenance.retention import ExpireOptions
from paimonlab.maintenance.snapshot_expiry import (
    SnapshotExpiry,
    SnapshotExpiryRequest,
    expire_snapshots,
)
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

TAGS_UNSEEN_MILLIS = 60_000
"""How long nobody looks for tags that are to expire, after there were none."""


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
        self._expiry = options.slice(ExpireOptions)
        self._is_async = self._expiry.mode.lower() == "async"
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
        if not self._keeps_oldest(snapshot):
            self._turns.oldest = None
            self._turns.oldest = _oldest(history, expire_by_options(history))
        if self._partitions.expiration_millis is not None:
            self._expire_partitions(snapshot)
        if self._tags.mode != "none":
            create_due_tags(history)
        elif self._tags.expires and clock.now_millis() >= self._turns.tags_due_millis:
            self._expire_tags(history)

    def _keeps_oldest(self, latest: Snapshot) -> bool:
        """Whether nothing can expire, as far as it was found out after an earlier commit."""
        if self._turns.oldest is None or self._expiry.keeps_changelogs:
            return False
        oldest, time_millis = self._turns.oldest
        count = latest.id - oldest + 1
        retention = self._expiry.of_snapshots(clock.now_millis())
        if count < 2 or not 1 <= retention.retain_min <= retention.retain_max:
            return False
        is_young = time_millis >= retention.older_than_millis and count <= retention.retain_max
        return count <= retention.retain_min or is_young

    def _expire_tags(self, history: TableHistory) -> None:
        tags = history.tags.list()
        expire_tags(history, TagExpiryRequest(), tags)
        if not any(tag.tag_time_retained for _, tag in tags):
            self._turns.tags_due_millis = clock.now_millis() + TAGS_UNSEEN_MILLIS

    def _expire_partitions(self, snapshot: Snapshot) -> None:
        now = clock.local_now()
        last = self._turns.partitions_checked
        if is_check_due(self._partitions, snapshot, last=last, now=now):
            request, user = PartitionExpiryRequest(), str(uuid.uuid4())
            expire_partitions(self._definition, self._store, request, user=user, now=now)
            self._turns.partitions_checked = now


def expire_by_options(history: TableHistory) -> SnapshotExpiry:
    """Let snapshots and changelogs expire as the options of the table say.

    Returns
    -------
    SnapshotExpiry
        What became of snapshots.
    """
    done = expire_snapshots(history, SnapshotExpiryRequest())
    if history.options.slice(ExpireOptions).keeps_changelogs:
        expire_changelogs(history, ChangelogExpiryRequest())
    return done


def _oldest(history: TableHistory, expiry: SnapshotExpiry) -> tuple[int, int] | None:
    if expiry.first_kept is None:
        return None
    try:
        return expiry.first_kept, history.snapshots.get(expiry.first_kept + 1).time_millis
    except SnapshotNotFoundError:
        return None


def committer_of(definition: TableDefinition, store: TableStore) -> Committer:
    """Return a committer after whose commits upkeep runs, if the options say so."""
    committer = plain_committer_of(definition.options, store)
    is_left_to_others = definition.options.slice(WriterCompactionOptions).write_only
    return committer if is_left_to_others else committer.with_callbacks([Upkeep(definition, store)])
