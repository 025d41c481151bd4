"""What follows a commit: what is old goes, tags that are due are made.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.sink.TableCommitImpl.maintain``.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from functools import partial

import pyarrow as pa

from paimonlab.commit.committer import Committer
from paimonlab.maintenance.auto_tags import AutoTagOptions
from paimonlab.maintenance.partition_expiry import PartitionExpireOptions
from paimonlab.maintenance.retention import ExpireOptions
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.committing.committers import plain_committer_of
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore
from paimonlab.table.upkeep.consumers import ConsumerOptions
from paimonlab.table.upkeep.expiring import expire_by_options
from paimonlab.table.upkeep.partition_expiring import expire_partitions, is_check_due
from paimonlab.table.upkeep.tags import Tags
from paimonlab.write.compactions import WriterCompactionOptions


class Upkeep:
    """What a commit does beside committing: a `CommitCallback`.

    With ``snapshot.expire.execution-mode`` = ``async`` a thread does it, for one commit at a
    time: a commit that finds it at work leaves its share to the next. What goes wrong there the
    next commit raises.
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
            self._store.consumers.expire(datetime.now(UTC) - lifetime)
        expire_by_options(self._definition, self._store)
        if self._partitions.expiration_millis is not None:
            self._expire_partitions(snapshot)
        tags = Tags(self._definition, self._store)
        if self._tags.mode != "none":
            tags.create_due()
        elif self._tags.expires:
            tags.expire()

    def _expire_partitions(self, snapshot: Snapshot) -> None:
        now = datetime.now()  # noqa: DTZ005 - partitions have no zone
        last = self._turns.partitions_checked
        if is_check_due(self._partitions, snapshot, last=last, now=now):
            expire_partitions(
                self._definition, self._store, self._partitions, user=str(uuid.uuid4()), now=now
            )
            self._turns.partitions_checked = now


def committer_of(definition: TableDefinition, store: TableStore) -> Committer:
    """Return a committer, after whose commits the table is looked after if its options say so."""
    committer = plain_committer_of(definition.options, store)
    is_left_to_others = definition.options.slice(WriterCompactionOptions).write_only
    return committer if is_left_to_others else committer.with_callbacks([Upkeep(definition, store)])
