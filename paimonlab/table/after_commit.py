"""What follows a commit: what is old goes, tags that are due are made.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.sink.TableCommitImpl.maintain``.
"""

from __future__ import annotations

import uuid
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pyarrow as pa

from paimonlab.maintenance.partition_expiry import PartitionExpireOptions
from paimonlab.maintenance.retention import ExpireOptions
from paimonlab.spec.snapshot import Snapshot
from paimonlab.storage.forks import Home
from paimonlab.table.auto_tags import AutoTagOptions
from paimonlab.table.consumers import ConsumerOptions
from paimonlab.table.expiring import expire_by_options
from paimonlab.table.partition_expiring import expire_partitions, is_check_due
from paimonlab.table.tags import Tags
from paimonlab.write.compactions import WriterCompactionOptions

if TYPE_CHECKING:
    from paimonlab.table.parts import TableParts


class Upkeep:
    """What a commit does beside committing: a `CommitCallback`.

    With ``snapshot.expire.execution-mode`` = ``async`` a thread does it, for one commit at a
    time: a commit that finds it at work leaves its share to the next. What goes wrong there the
    next commit raises.
    """

    def __init__(self, parts: TableParts) -> None:
        self._parts = parts
        self._consumers_live_millis = parts.options.slice(ConsumerOptions).expiration_millis
        self._partitions = parts.options.slice(PartitionExpireOptions)
        self._partitions_checked = datetime.now()  # noqa: DTZ005 - partitions have no zone
        self._tags = parts.options.slice(AutoTagOptions)
        self._is_async = parts.options.slice(ExpireOptions).mode.lower() == "async"
        self._home = Home()
        self._pool: ThreadPoolExecutor | None = None
        self._pending: Future[None] | None = None

    def __call__(self, snapshot: Snapshot, _changes: pa.Table, /) -> None:
        """Do it."""
        if not self._is_async:
            self._run(snapshot)
            return
        if not self._home.is_here:  # the thread is in another process
            self._home, self._pool, self._pending = Home(), None, None
        if self._pending is not None:
            if not self._pending.done():
                return
            last, self._pending = self._pending, None
            last.result()
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, thread_name_prefix="paimonlab-upkeep")
        self._pending = self._pool.submit(self._run, snapshot)

    def _run(self, snapshot: Snapshot) -> None:
        # Consumers first: they hold snapshots back.
        if self._consumers_live_millis is not None:
            lifetime = timedelta(milliseconds=self._consumers_live_millis)
            self._parts.consumers.expire(datetime.now(UTC) - lifetime)
        expire_by_options(self._parts)
        if self._partitions.lifetime_millis is not None:
            self._expire_partitions(snapshot)
        tags = Tags(self._parts)
        if self._tags.mode != "none":
            tags.create_due()
        elif self._tags.expires:
            tags.expire()

    def _expire_partitions(self, snapshot: Snapshot) -> None:
        now = datetime.now()  # noqa: DTZ005 - partitions have no zone
        if is_check_due(self._partitions, snapshot, last=self._partitions_checked, now=now):
            expire_partitions(self._parts, self._partitions, user=str(uuid.uuid4()), now=now)
            self._partitions_checked = now


def after_commit(parts: TableParts) -> tuple[Upkeep, ...]:
    """Return what follows a commit; () if others do it."""
    is_left_to_others = parts.options.slice(WriterCompactionOptions).write_only
    return () if is_left_to_others else (Upkeep(parts),)
