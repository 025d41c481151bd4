"""Under which name the batch of a stream commits, so that a batch run again commits nothing twice.

Spark runs the last batch of a stream again after a crash. Commits of a stream therefore have the
query as their user and the batch as their identifier, and a commit that is found among the
snapshots is not made again. In ``foreachBatch`` statements on a table are counted, since one batch
may have several.

Source: apache/spark@v4.3.0 ``StreamExecution``, ``MicroBatchExecution`` (local properties of the
thread, offset log).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

from paimonlab.commit.history import CommitHistory
from paimonlab.errors import DataError, UnsupportedError
from paimonlab.table.committing.users import UserOptions
from paimonlab.table.inside import definition_of, store_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimonlab.spark.jvm.bridge import Bridge
    from paimonlab.spec.snapshot import Snapshot
    from paimonlab.table.table import Table

_PATIENCE_MILLIS = 1_000
"""How long a thread may take to end whose statement has failed."""
STATEMENT = "paimonlab.stream-statement"
"""Property of a snapshot: what kind of statement of a batch it is."""
_SESSION = "org.apache.spark.sql.classic.SparkSession"
_TAGS, _TAG_OF_CLIENTS = "spark.job.tags", "SparkConnect_OperationTag"
"""Property of a thread, and what it has in threads that run operations of clients."""
_QUERY, _BATCH = "sql.streaming.queryId", "streaming.sql.batchId"


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamBatch:
    """One batch of one stream."""

    query: str
    """The query's id, which is kept in its checkpoint."""
    run: str
    """The id of its run: another one after each start."""
    number: int
    """The batch's number; it rises."""
    is_of_client: bool = field(default=False, compare=False)
    """Whether the function that is called for it runs in a client of Spark Connect."""


def running_batch(bridge: Bridge) -> StreamBatch | None:
    """Return the batch that the running callback is part of; None if it is part of none."""
    context = bridge.spark.sparkContext
    number = context.getLocalProperty(_BATCH)
    query = context.getLocalProperty(_QUERY) if number is not None else None
    if number is None or query is None:
        return _batch_of_client(bridge)
    # The group of its jobs tells the run as well, but statements may be in groups of their own.
    execution = _execution(bridge, query)
    run = "" if execution is None else str(execution.runId().toString())
    return StreamBatch(query=query, run=run, number=int(number))


def _batch_of_client(bridge: Bridge) -> StreamBatch | None:
    """Return the batch that a function of a client of Spark Connect is called for.

    Its statements run in threads of the server, in the session that is the stream's own.
    """
    tags = bridge.spark.sparkContext.getLocalProperty(_TAGS)
    if tags is None or _TAG_OF_CLIENTS not in tags:
        return None
    streams = bridge.session.sharedState().activeStreamingQueries()
    if streams.isEmpty():
        return None
    session = bridge.java_class(_SESSION).active().sessionUUID()
    for execution in list(streams.values()):
        last = execution.lastExecution()
        if last is not None and execution.sparkSessionForStream().sessionUUID() == session:
            return StreamBatch(
                query=str(execution.id().toString()),
                run=str(execution.runId().toString()),
                number=int(last.currentBatchId()),
                is_of_client=True,
            )
    return None


def offset_after(bridge: Bridge, batch: StreamBatch) -> str:
    """Return where a running batch of a stream ends, as its only source writes offsets."""
    offsets = _execution(bridge, batch.query).offsetLog().get(batch.number).get().offsets()
    return str(offsets.head().get().json())


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchCommit:
    """How one statement of a batch commits."""

    user: str
    identifier: int
    statement: str
    began_millis: int | None
    """When the batch was begun for the first time, epoch milliseconds; None: unknown."""

    @property
    def properties(self) -> Mapping[str, str]:
        """What its snapshot says of it."""
        return {STATEMENT: self.statement}

    def earlier(self, table: Table) -> Snapshot | None:
        """Return the snapshot that the statement became when the batch ran before.

        Raises
        ------
        CommitHistoryExpiredError
            If it may have become one that expired.
        DataError
            If another statement committed in its place.
        """
        snapshots = store_of(table).snapshots
        history = CommitHistory(snapshots, table.name, user=self.user, identifier=self.identifier)
        found = history.find(snapshots.latest(), self.began_millis)
        if found is not None and (found.properties or {}).get(STATEMENT) != self.statement:
            raise DataError(
                f"{table.name}: batch {self.identifier} of a stream runs again with "
                f"{self.statement}, but snapshot {found.id} shows that it was "
                f"{(found.properties or {}).get(STATEMENT)}; run the statements that it ran "
                "before, or start the stream with another checkpoint"
            )
        return found


@dataclass
class _Counts:
    """How many statements of the last batch of each query were done, by table."""

    by_query: dict[str, tuple[StreamBatch, Counter[str]]] = field(default_factory=dict)
    doing: dict[tuple[str, str], Any] = field(default_factory=dict)
    """The (Java) threads in which clients' functions change rows, by query and table."""
    lock: Lock = field(default_factory=Lock)

    def of(self, batch: StreamBatch) -> Counter[str]:
        with self.lock:
            known = self.by_query.get(batch.query)
            if known is None or known[0] != batch:
                known = self.by_query[batch.query] = (batch, Counter())
            return known[1]


_counts = _Counts()


def sink_commit(bridge: Bridge, table: Table, query: str, number: int, mode: str) -> BatchCommit:
    """Return how a batch of a stream into a table commits.

    Parameters
    ----------
    bridge
        The session.
    table
        Where the rows go to.
    query, number
        The query's id, the batch's number.
    mode
        What becomes of the rows that are there.
    """
    return BatchCommit(
        user=_user(table, query),
        identifier=number,
        statement=mode,
        began_millis=_began_millis(bridge, query, number),
    )


def statement_commit(bridge: Bridge, table: Table, statement: str) -> BatchCommit | None:
    """Return how the running statement commits, if it is one of ``foreachBatch``; else None.

    Parameters
    ----------
    bridge
        The session.
    table
        What it changes.
    statement
        What it does, in a few words.
    """
    batch = running_batch(bridge)
    if batch is None:
        return None
    if batch.is_of_client:
        _check_alone(bridge, batch, table)
    count = _counts.of(batch)[table.path]
    return BatchCommit(
        user=_user(table, f"{batch.query}-{count}"),
        identifier=batch.number,
        statement=statement,
        began_millis=_began_millis(bridge, batch.query, batch.number),
    )


def statement_done(bridge: Bridge, table: Table) -> None:
    """Count a statement of ``foreachBatch`` that is done, now or when the batch ran before."""
    batch = running_batch(bridge)
    if batch is not None:
        _counts.of(batch)[table.path] += 1
        _counts.doing.pop((batch.query, table.path), None)


def _check_alone(bridge: Bridge, batch: StreamBatch, table: Table) -> None:
    """Refuse statements of one batch on one table at the same time: which is first is chance.

    A client runs each statement in a thread of its own, which has ended if the statement failed.
    """
    key = batch.query, table.path
    own = bridge.jvm.java.lang.Thread.currentThread()
    with _counts.lock:
        other = _counts.doing.get(key)
        if other is not None and other.getId() != own.getId():
            other.join(_PATIENCE_MILLIS)
            if other.isAlive():
                raise UnsupportedError(
                    f"two statements of one batch of a stream on {table.name} at the same time",
                    "run them one after the other",
                )
        _counts.doing[key] = own


def _user(table: Table, name: str) -> str:
    prefix = definition_of(table).options.slice(UserOptions).prefix
    return f"{prefix}_{name}" if prefix else name


def _began_millis(bridge: Bridge, query: str, number: int) -> int | None:
    """Return when a batch was written down in its checkpoint for the first time."""
    execution = _execution(bridge, query)
    if execution is None:
        return None
    offsets = execution.offsetLog().get(number)
    metadata = offsets.get().metadataOpt() if offsets.isDefined() else None
    if metadata is None or not metadata.isDefined():
        return None
    return int(metadata.get().batchTimestampMs())


def _execution(bridge: Bridge, query: str) -> Any:
    """Return the (Java) stream that runs a query; None if none does."""
    identity = bridge.jvm.java.util.UUID.fromString(query)
    return bridge.session.sharedState().activeStreamingQueries().get(identity)
