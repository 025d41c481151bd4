"""Streams that cells start: running, stopping and looking at them."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import functions

from paimonlab.errors import NotFoundError, UnsupportedError
from paimonlab.notebook import results
from paimonlab.notebook.cell.stream_statement import OutputMode, StreamState, StreamStatement
from paimonlab.secrets import without_secrets
from paimonlab.spark.sessions.remote import is_remote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

STREAMS_KEPT = 100
"""Streams that are remembered, of one session."""
_POLL_SECONDS = 0.5
_STOP_SECONDS = 60.0
_POSITION = "__paimonlab_position"
_IS_GONE = (Py4JError, PySparkException)
_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamFacts:
    """What Spark reports about the last batch that had rows; what is not known is None."""

    batch: int | None = None
    rows: int | None = None
    rows_per_second: float | None = None
    snapshots_behind: int | None = None
    millis_behind: int | None = None
    state_rows: int | None = None
    state_bytes: int | None = None
    watermark: str | None = None


class NewestRows:
    """The newest rows of a stream, kept in this process."""

    def __init__(self, limit: int, *, replaces: bool) -> None:
        self.table: pa.Table | None = None
        self.types: tuple[str, ...] = ()
        self.error: str | None = None
        """What a batch failed with: Spark tells only that Python raised something."""
        self._limit = limit
        self._replaces = replaces

    def take(self, batch: DataFrame, _number: int) -> None:
        """Take the last rows of a batch; all of its partitions are read, as state demands."""
        try:
            self._take(batch)
        except Exception as error:
            self.error = str(error)
            raise

    def _take(self, batch: DataFrame) -> None:
        numbered = batch.withColumn(_POSITION, functions.monotonically_increasing_id())
        last = numbered.orderBy(functions.desc(_POSITION)).limit(self._limit)
        fetched = results.spark_fetch.fetch(last.drop(_POSITION), limit=self._limit)
        rows = fetched.table.take(list(range(fetched.table.num_rows))[::-1])
        if self.table is not None and not self._replaces:
            rows = pa.concat_tables([self.table, rows])
        self.types = fetched.types
        self.table = rows.slice(max(0, rows.num_rows - self._limit))


class Stream:
    """A stream that runs or has ended.

    Parameters
    ----------
    query
        What Spark knows it as.
    sink
        The table that its rows go to, or what else gets them.
    rows
        Keeps the newest rows, if no table gets them.
    """

    def __init__(self, query: StreamingQuery, sink: str, rows: NewestRows | None = None) -> None:
        self.query = query
        self.id = str(query.runId)
        self.name = query.name or f"stream {next(_numbers)}"
        self.sink = sink
        self.rows = rows
        self.source = ""
        self.error: str | None = None
        self.state: StreamState = "running"
        self._facts = StreamFacts()

    @property
    def newest(self) -> pa.Table | None:
        """The newest rows, if no table gets them."""
        return None if self.rows is None else self.rows.table

    def facts(self) -> StreamFacts:
        """Ask Spark how the stream is; what it was last, if Spark is gone."""
        if self.state != "running":
            return self._facts
        try:
            is_active = self.query.isActive  # asked first: no batch comes after it says no
            self._read(self.query.recentProgress)
            if not is_active:
                error = self.query.exception()
                self.state = "ended" if error is None else "failed"
                told = self.rows.error if self.rows is not None else None
                self.error = None if error is None else _first_line(told or str(error))
        except _IS_GONE:
            self.state = "ended"
        return self._facts

    def stop(self) -> None:
        """End it after the batch that runs is given up."""
        try:
            self.query.stop()
        except _IS_GONE as error:
            self.error = _first_line(str(error))
        self.facts()

    def _read(self, reports: Iterable[Any]) -> None:
        told = [report for report in reports if report is not None]
        if not told:
            return
        last = told[-1]
        full = next((one for one in reversed(told) if one["numInputRows"]), None)
        sources = last["sources"]
        self.source = ", ".join(sorted({str(source["description"]) for source in sources}))
        lags = [dict(source["metrics"] or {}) for source in sources]
        operators = last["stateOperators"]
        self._facts = StreamFacts(
            batch=self._facts.batch if full is None else int(full["batchId"]),
            rows=self._facts.rows if full is None else int(full["numInputRows"]),
            rows_per_second=(
                self._facts.rows_per_second
                if full is None
                else float(full["processedRowsPerSecond"])
            ),
            snapshots_behind=_most(lags, "snapshotsBehind"),
            millis_behind=_most(lags, "millisBehind"),
            state_rows=sum(int(one["numRowsTotal"]) for one in operators) if operators else None,
            state_bytes=sum(int(one["memoryUsedBytes"]) for one in operators)
            if operators
            else None,
            watermark=dict(last["eventTime"] or {}).get("watermark"),
        )


def start(
    frame: DataFrame,
    asked: StreamStatement,
    *,
    mode: OutputMode | None,
    name: str | None,
    checkpoint: str | None,
    ends: bool,
    limit: int,
) -> Stream:
    """Start a stream.

    Parameters
    ----------
    frame
        The rows of its query.
    asked
        Where they go.
    mode
        Spark's output mode; None: ``complete`` if rows are replaced, else ``append``.
    name
        Of the query; None: a number.
    checkpoint
        Folder in which Spark remembers what was read; None: forgotten at the end.
    ends
        Whether the stream ends when it has read what was there at its start.
    limit
        How many of the newest rows are kept, if no table gets them.

    Raises
    ------
    UnsupportedError
        If rows are to be shown that a Spark Connect server has.
    """
    chosen = mode or ("complete" if asked.replaces else "append")
    writer = frame.writeStream.outputMode(chosen)
    if name is not None:
        writer = writer.queryName(name)
    if checkpoint is not None:
        writer = writer.option("checkpointLocation", checkpoint)
    if ends:
        writer = writer.trigger(availableNow=True)
    if asked.sink is not None:
        stream = Stream(writer.toTable(asked.sink), asked.sink)
    elif is_remote(frame.sparkSession):
        raise UnsupportedError(
            "--stream of a SELECT over Spark Connect", "use INSERT INTO a table of the server"
        )
    else:
        kept = NewestRows(limit, replaces=chosen == "complete")
        stream = Stream(writer.foreachBatch(kept.take).start(), "this notebook", kept)
    _known.add(frame.sparkSession, stream)
    return stream


def follow(stream: Stream, show: Callable[[], None]) -> None:
    """Wait until a stream ends; an interrupt of the kernel stops it.

    Parameters
    ----------
    stream
        The stream.
    show
        Called in this thread when a batch is done.
    """
    # Were this thread interrupted while it talks to the JVM, its next call would read the answer
    # to this one: so others do that.
    over, is_stopping = Event(), Event()

    def watch() -> None:
        while stream.state == "running":
            stream.facts()
            if is_stopping.wait(_POLL_SECONDS) and stream.state == "running":
                stream.stop()
        over.set()

    Thread(target=watch, daemon=True).start()
    shown: Any = None, None
    try:
        while not over.wait(_POLL_SECONDS):
            facts = stream._facts.batch, stream._facts.snapshots_behind  # noqa: SLF001
            if facts != shown:
                shown = facts
                show()
    except KeyboardInterrupt:
        is_stopping.set()
        over.wait(_STOP_SECONDS)


def known_streams(session: SparkSession) -> Sequence[Stream]:
    """Return the streams of a session, the newest last: those of cells, and others that run."""
    for query in session.streams.active:
        _known.find(session, query)
    return _known.of(session)


def stop(session: SparkSession, name: str) -> None:
    """Stop a stream of a session by its name or the id of its run.

    Raises
    ------
    NotFoundError
        If there is no such stream.
    """
    for stream in known_streams(session):
        if name in (stream.name, stream.id):
            stream.stop()
            return
    raise NotFoundError(f"there is no stream {name!r}; %paimon_streams lists them")


class _Known:
    """The streams of each session."""

    def __init__(self) -> None:
        self._streams: weakref.WeakKeyDictionary[Any, list[Stream]] = weakref.WeakKeyDictionary()
        self._lock = Lock()

    def add(self, session: Any, stream: Stream) -> None:
        """Add a stream that a cell started, in place of what others found of it meanwhile."""
        with self._lock:
            kept = self._streams.setdefault(session, [])
            kept[:] = [one for one in kept if one.id != stream.id]
            self._keep(kept, stream)

    def find(self, session: Any, query: StreamingQuery) -> None:
        """Add a stream that runs, unless it is known."""
        run = str(query.runId)
        with self._lock:
            kept = self._streams.setdefault(session, [])
            if all(one.id != run for one in kept):
                self._keep(kept, Stream(query, ""))

    def _keep(self, kept: list[Stream], stream: Stream) -> None:
        kept.append(stream)
        del kept[:-STREAMS_KEPT]

    def of(self, session: Any) -> Sequence[Stream]:
        with self._lock:
            return tuple(self._streams.get(session, ()))


_known = _Known()


def _most(lags: Iterable[dict[str, str]], key: str) -> int | None:
    return max((int(one[key]) for one in lags if key in one), default=None)


def _first_line(text: str) -> str:
    return without_secrets(text.strip().partition("\n")[0])
