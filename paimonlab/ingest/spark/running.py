"""A job at work on Spark: a stream of batches, each of which becomes an epoch.

Spark's Structured Streaming says how far a batch goes. Executors read and decode it and keep what
they decoded; the driver learns which tables have rows of which schemas, and lets the tables follow;
executors write the files. What is committed, and after which position, is written ahead as an
epoch of the job, as without Spark: so a batch is committed once, a job that was killed goes on
with either engine, and the checkpoint of the stream is not needed any more when a run has ended.
"""

from __future__ import annotations

import json
import pickle
import re
import tempfile
import threading
import uuid
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, functions
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from paimonlab.errors import (
    DataError,
    IngestDataError,
    IngestError,
    IngestStalledError,
    PaimonError,
    SchemaError,
    SourceError,
    UnsupportedError,
)
from paimonlab.ingest.apart import answer_of, done_within
from paimonlab.ingest.changes import (
    Boundary,
    JsonValue,
    PartitionedSource,
    Phase,
    SourceSchemaChange,
    Truncated,
    Unreadable,
)
from paimonlab.ingest.controls import Ending, Until
from paimonlab.ingest.epochs import Epoch, TableCommit
from paimonlab.ingest.landing import user_of
from paimonlab.ingest.letters import key_of_dead
from paimonlab.ingest.running import Runner
from paimonlab.ingest.spark.executor_write import (
    FOUND,
    PIECE,
    PIECES,
    RESULT,
    SHARE,
    DivideTask,
    FindTask,
    Marking,
    Move,
    Place,
    ShareTask,
    TableWrite,
    Written,
)
from paimonlab.ingest.spark.progress import Progress, sign_of
from paimonlab.ingest.spark.reading import (
    FACTS,
    NUMBER,
    PART,
    ROWS,
    TABLE,
    BatchLimit,
    Failed,
    RowFacts,
    stream_of,
)
from paimonlab.ingest.status import position_text
from paimonlab.ingest.targets import Target
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.jvm.python_tasks import offer
from paimonlab.spark.sessions.session import any_session
from paimonlab.spark.shipping import ship
from paimonlab.spark.writing.executor_write import MESSAGE_COLUMN, WriteTask
from paimonlab.spark.writing.stream_batches import offset_after, running_batch
from paimonlab.spark.writing.stream_write import stream_routing
from paimonlab.spark.writing.task_write import WITHOUT_BUCKETS
from paimonlab.spark.writing.workers import SparkWorkers
from paimonlab.spec.buckets.mode import BucketMode
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.table.compacting.after_write import compact_written
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.plans.write import write_plan

_MOST = 1_000_000
"""Changes of a batch, unless ``max_rows`` is given: executors keep them until they are written."""
_USUAL_BYTES = 1024
"""Of a change, before one was seen."""
_LOOK_SECONDS = 0.1
_ASK_SECONDS = 5.0
"""How often Spark is asked what it does."""
_LONG_SECONDS = 60.0
"""Without progress, before it is said."""
_STOP_SECONDS = 30.0
"""For a stream that hangs, to end."""
_STARTS = 5
"""Of a stream whose Python process does not come."""
_NO_WORKER = "Python worker failed to connect back"
"""What Spark says of one that took longer to start than the ten seconds it gives (apache/spark
``PythonWorkerFactory``, a constant): on a busy machine they are not enough."""
_TASKS_PER_CORE = 2
_OF_TABLES = (DataError, SchemaError, UnsupportedError)
"""Errors that stop a table, and let the others go on."""
_OURS = re.compile(r"paimonlab\.errors\.\S*?(\w+Error): ([^\n]+)")
"""What an error of ours looks like that Spark's Python processes print."""


class _NoWorkerError(IngestError):
    """A stream ended before it began: its Python process took too long to start."""


@dataclass(kw_only=True)
class SparkRunner(Runner):
    """One run of a job on Spark."""

    _bridge: Bridge | None = None
    _batch: _Batch | None = None
    """What the epoch that is made now consists of."""
    _problem: BaseException | None = None
    """What ended the batch that ran last."""
    _wanted: JsonValue = None
    """How far the source went when a run began that ends when it has caught up."""
    _is_ending: bool = False
    """Whether the stream is being stopped: no batch begins any more."""
    _between: threading.Lock = field(default_factory=threading.Lock)
    """Held while a batch runs."""
    _changed: threading.Event = field(default_factory=threading.Event)
    """Set when a batch has ended."""
    _limit: BatchLimit | None = None
    """How far the next batch goes."""
    _progress: Progress = field(default_factory=Progress)
    _asked: float = float("-inf")
    """When Spark was asked last what it does."""
    _still: str | None = None
    """Since when Spark has made no progress, in words; None: it does."""

    @property
    def stalled(self) -> str | None:
        """What takes long; None: nothing does. For other threads."""
        return self._still or super().stalled

    def _read(self, until: Until, began: float) -> Ending:
        """Run a stream until something ends it."""
        source = self.source
        assert isinstance(source, PartitionedSource), "it was checked when the job was made"
        self._check_tables()
        session = any_session()
        self._bridge = Bridge(session)
        ship(session.sparkContext)
        begin = source.beginning() if self._position is None else self._position
        self._wanted = source.newest(begin) if until.caught_up else None
        self._boundary = Boundary(position=begin, phase=Phase.STREAM)
        self._has_spilled = self._is_ending = False
        self._progress, self._still = Progress(), None
        self._is_snapshot, self._problem = False, None
        self.tables.read_again()
        ending: Ending | None = None
        starts = 0
        while ending is None:
            starts += 1
            try:
                ending = self._streamed(source, begin, until, began)
            except _NoWorkerError as error:
                if starts == _STARTS or self._boundary.position != begin:
                    raise
                self.journal.note("warning", None, f"{error}; the stream is started again")
        if self._problem is not None:  # of the batch that was waited for
            raise self._problem
        return ending

    def _streamed(
        self, source: PartitionedSource, begin: JsonValue, until: Until, began: float
    ) -> Ending:
        """Run a stream from a position until something ends it."""
        session, bridge = any_session(), self._bridge
        assert bridge is not None, "it was made before"
        name = f"paimonlab-{uuid.uuid4().hex}"
        with tempfile.TemporaryDirectory(prefix="paimonlab-stream-") as folder:
            self._limit = BatchLimit(f"{folder}/limit", self.pace.max_rows or _MOST)
            self._limit.learn(self.pace.max_bytes, _USUAL_BYTES)
            offer(bridge, name, stream_of(name, source, begin, self._limit))
            writing = (
                session.readStream.format(name)
                .load()
                .writeStream.foreachBatch(self._take_batch)
                .option("checkpointLocation", f"file://{folder}/checkpoint")
                .queryName(f"ingest job {self.job}")
            )
            if until.caught_up:
                writing = writing.trigger(availableNow=True)
            else:
                millis = max(round(self.pace.interval_seconds * 1000), 1)
                writing = writing.trigger(processingTime=f"{millis} milliseconds")
            with self._running(self._started(writing)) as query:
                return self._watched(query, until, began)

    def _started(self, writing: DataStreamWriter) -> StreamingQuery:
        """Start a stream, and end it at once if an interrupt comes before it runs."""

        def begin() -> StreamingQuery:
            query = writing.start()
            if self._is_ending:
                query.stop()
            return query

        try:
            return answer_of(begin, name="starting a stream")
        except BaseException:
            self._is_ending = True
            raise

    def _check_tables(self) -> None:
        """Make sure that tasks can write the tables of the job.

        Raises
        ------
        UnsupportedError
            If they cannot write one.
        """
        for target in self.tables.targets.values():
            _check_buckets(target)

    @contextmanager
    def _running(self, query: StreamingQuery) -> Iterator[StreamingQuery]:
        """Let a stream run, and end it: after its batch, or at once if an interrupt comes."""
        try:
            yield query
        except IngestStalledError:
            self._leave(query)
            raise
        except _NoWorkerError:  # it ended before a batch began
            query.stop()
            raise
        except BaseException:
            self.controls.interrupt.set()
            self._is_ending = True
            query.stop()
            with self._between:  # what commits does it to its end
                pass
            raise
        with self._between:  # the batch that runs is committed
            self._is_ending = True
        query.stop()

    def _leave(self, query: StreamingQuery) -> None:
        """End a stream that hangs, as far as that can be done in some time."""
        self.controls.interrupt.set()
        self._is_ending = True
        with suppress(Exception):  # what ends the run is known
            done_within(query.stop, name="end of a stream that hangs", seconds=_STOP_SECONDS)
        if self._between.acquire(timeout=_STOP_SECONDS):
            self._between.release()
        else:
            self._is_apart = True

    def _check_progress(self, query: StreamingQuery) -> None:
        """Look whether the stream makes progress.

        Raises
        ------
        IngestStalledError
            If it has made none for too long.
        """
        bridge, most, now = self._bridge, self.pace.max_stall_seconds, self.clock()
        assert bridge is not None, "a stream runs"
        long_seconds = _LONG_SECONDS if most is None else min(_LONG_SECONDS, most / 2)
        if now - self._asked < min(_ASK_SECONDS, long_seconds / 2):
            return
        self._asked = now
        context = bridge.spark.sparkContext
        driver = f"the driver {self._doing}" if self._between.locked() else None
        sign = answer_of(
            lambda: sign_of(query, context, driver=driver),
            name="a question to Spark",
        )
        seconds = self._progress.still_seconds(sign, now)
        if sign is None or seconds < long_seconds:
            self._still = None
            return
        is_new, self._still = self._still is None, str(self._progress)
        if is_new:
            self.journal.note("stalled", None, self._still)
            # The next epoch writes it again; it may never come.
            number, owner = self._number + 1, self.lease.owner.id
            with suppress(OSError):
                self.files.log.write([*self.journal.unwritten], number, owner)
        if most is not None and seconds >= most:
            raise IngestStalledError(
                self.job,
                f"{self._still}. It was ended after max_stall = {most:g} s. What was not committed "
                "is read again by the next run; Spark's UI says what its tasks wait for",
            )

    def _watched(self, query: StreamingQuery, until: Until, began: float) -> Ending:
        """Wait for what ends the stream."""
        while True:
            self._changed.wait(_LOOK_SECONDS)
            self._changed.clear()
            if self.controls.interrupt.is_set():
                raise KeyboardInterrupt
            if self._problem is not None:
                raise self._problem
            # An interrupt must not come in the midst of an answer of the JVM.
            if not answer_of(lambda: bool(query.isActive), name="a question to Spark"):
                self._raise_of(query)
                if until.caught_up and self._is_caught_up():
                    return Ending.DONE
                raise IngestError(self.job, "its stream was stopped by something else than the job")
            if (ending := self._steered()) is not None:
                return ending
            self._check_progress(query)
            if self.tables.again:
                continue  # what takes the place of rows is read to its end
            is_late = until.seconds is not None and self.clock() - began >= until.seconds
            if is_late or (until.rows is not None and self._read_rows >= until.rows):
                return Ending.DONE

    def _is_caught_up(self) -> bool:
        """Whether all was read that was there when the run began: others may stop a stream."""
        source = self.source
        assert isinstance(source, PartitionedSource), "it was checked when the job was made"
        assert self._boundary is not None, "the run began at one"
        at = self._boundary.position
        return not source.parts(at, source.newest(at, until=self._wanted))

    def _raise_of(self, query: StreamingQuery) -> None:
        """Raise what ended a stream by itself, if something did."""
        if self._problem is not None:
            raise self._problem
        error = query.exception()
        if error is None:
            return
        found = _OURS.findall(str(error))
        if found:
            raise SourceError(self.source.name, found[-1][1]) from error
        raised = _NoWorkerError if _NO_WORKER in str(error) else IngestError
        raise raised(self.job, f"Spark's stream failed: {error}") from error

    # A batch, in the thread of the stream

    def _take_batch(self, frame: DataFrame, number: int) -> None:
        """Commit a batch, or say why not."""
        del number  # the epoch's is another
        with self._between:
            if self._is_ending:
                return
            try:
                self._take_events(frame.persist())
            except BaseException as problem:
                self._problem = problem
                if isinstance(problem, Exception):
                    raise
                # py4j answers no others, and Spark would wait for the answer for ever.
                raise IngestError(self.job, f"its batch ended with {problem!r}") from problem
            finally:
                self._batch = None
                frame.unpersist()
                self._changed.set()

    def _take_events(self, events: DataFrame) -> None:
        bridge = self._bridge
        assert bridge is not None, "a stream runs"
        batch = running_batch(bridge)
        assert batch is not None, "this is called for one"
        position: JsonValue = json.loads(offset_after(bridge, batch))["position"]
        found = self._batch = _Batch(events)
        open_parts, again = set[str](), {*self.tables.again}
        done = {name: len(target.moved) for name, target in self.tables.targets.items()}
        for table, part, number, pickled in _facts(events):
            event = pickle.loads(pickled)  # noqa: S301 - our own tasks made it
            open_parts.add(part)
            if isinstance(event, Boundary):
                open_parts.remove(part)
            if isinstance(event, RowFacts):
                target = self._goes_to(event)
                found.add(target, table, part, number, event)
            else:
                self._take_other(event, (number, part), found)
                target = self.tables.target_of(getattr(event, "table", None) or "")
            if target is not None:
                new = target.moved[done.get(target.name, 0) :]
                done[target.name] = len(target.moved)
                found.moves.setdefault(target.name, []).extend(((number, part), one) for one in new)
        if open_parts:
            raise IngestError(
                self.job, f"the reader of {min(open_parts)} ended before the end of its part"
            )
        self._boundary = Boundary(
            position=position, phase=Phase.STREAM, seen_millis=found.seen_millis
        )
        self._empty(found)
        self._dead_rows += self._open_dead
        self._open_dead.clear()
        if again:  # the first batch has all of their rows
            found.drop(again - self.tables.again)
            self._replace()
        elif found.sources or self._dead_rows or self._is_due(self._boundary):
            self._commit()
        if (count := sum(found.rows.values())) and self._limit is not None:
            self._limit.learn(self.pace.max_bytes, found.size_bytes / count)
        self._tell(Phase.STREAM.value)

    def _goes_to(self, facts: RowFacts) -> Target | None:
        return self._accepting(
            facts.table, facts.schema, facts.count, retracts=lambda: facts.retracts
        )

    def _take_other(self, event: Any, place: Place, found: _Batch) -> None:
        number, part = place
        match event:
            case Failed():
                raise event.error
            case Boundary():
                found.see(event)
            case SourceSchemaChange():
                self._take_schema_change(event)
            case Truncated():
                target = self.tables.target_of(event.table)
                is_alone = target is not None and target.sources == [event.table]
                if self.rules.on_truncate == "apply" and is_alone:
                    found.emptied[event.table] = part, event
                    found.begins[event.table, part] = number
                else:
                    self._take_truncated(event)
            case Unreadable():
                before = len(self._open_dead)
                self._take_unreadable(event, is_placed=True)
                for dead in self._open_dead[before:]:
                    found.unreadable.append((place, event.table, dead))

    def _empty(self, found: _Batch) -> None:
        """Empty tables that the source has emptied in a batch: rows before are not written.

        Raises
        ------
        UnsupportedError
            If other parts of the batch have rows of the table.
        """
        for source, (part, event) in found.emptied.items():
            target = self.tables.target_of(source)
            if target is None or target.stopped is not None:
                continue
            others = found.parts.get(source, set()) - {part}
            if others:
                raise UnsupportedError(
                    f"engine = 'spark' with on_truncate = 'apply' of {source}, whose rows come in "
                    "several partitions",
                    f"which of them came before {position_text(event.position)} is not known in "
                    "a batch; leave engine out: it takes messages as they arrive",
                )
            if target.replaces:  # these rows take the place of all that there are
                text = event.reason
                self.journal.note("truncated", target.name, text, event.position)
            else:
                self._take_truncated(event)

    def _prepared_all(self, number: int) -> list[TableCommit]:
        """Let executors write the rows of a batch."""
        batch = self._batch
        if batch is None:
            return super()._prepared_all(number)
        targets = {target.name: target for target in batch.sources.values()}
        targets |= {  # also those that have no row any more
            name: target for name, target in self.tables.targets.items() if target.replaces
        }
        writes: dict[str, WriteTask] = {}
        for name, target in targets.items():
            try:
                writes[name] = self._task_for(target)
            except _OF_TABLES as error:
                self._stop_written(target, error, batch)
        tables = self._table_writes(batch, writes)
        letters = self.tables.letters
        watched = {name: letters.watched(name) for name in writes}
        for name, keys in self._found(batch, tables, watched).items():
            letters.changed(name, keys)
        done = self._written(batch, tables, writes) if writes else []
        problem = problem_of(done)
        if problem is not None:
            self._discard(done)
            raise problem
        failed = {one.table: one.error for one in reversed(done) if one.error is not None}
        self._discard([one for one in done if one.table in failed])
        for name, why in failed.items():
            self._stop_written(targets[name], why, batch)
        try:
            self._set_aside_all(batch, tables, [one for one in done if one.table not in failed])
        except IngestDataError:
            self._discard([one for one in done if one.table not in failed])
            raise
        commits = [_commit_of(name, done, targets[name]) for name in writes if name not in failed]
        for commit in commits:
            targets[commit.table].replaces = False
        return [commit for commit in commits if commit.messages or commit.replaces]

    def _task_for(self, target: Target) -> WriteTask:
        """Return what writes the rows of a table in a task."""
        _check_buckets(target)
        table = target.table
        table.refresh()
        definition, store = definition_of(table), store_of(table)
        plan = write_plan(definition, store.layout)
        is_numbered = plan.bucket_mode not in WITHOUT_BUCKETS and not target.replaces
        numbers = table.sequence_numbers() if is_numbered else None
        seen = store.snapshots.latest()
        routing = stream_routing(table, plan, seen, replaces=target.replaces)
        return WriteTask(plan, store.file_io, numbers, routing, user=user_of(self.job))

    def _table_writes(
        self, batch: _Batch, writes: Mapping[str, WriteTask]
    ) -> Mapping[str, TableWrite]:
        """Say how the rows of each table of the source are written."""
        return {
            source: TableWrite(
                name=target.name,
                task=writes[target.name],
                added=target.added,
                begins={place: at for place, at in batch.begins.items() if place[0] == source},
                ends={place: at for place, at in batch.ends.items() if place[0] == source},
                moves=batch.moves.get(target.name, ()),
            )
            for source, target in batch.sources.items()
            if target.name in writes
        }

    def _written(
        self, batch: _Batch, tables: Mapping[str, TableWrite], writes: Mapping[str, WriteTask]
    ) -> list[Written]:
        """Write the rows of tables, each bucket in one task."""
        bridge = self._bridge
        assert bridge is not None, "a stream runs"
        shares = _TASKS_PER_CORE * max(bridge.spark.sparkContext.defaultParallelism, 1)
        most_bad = max(self.pace.max_dead - self._dead, 0)
        dividing = DivideTask(tables=tables, shares=shares, most_bad=most_bad)
        pieces = batch.rows_only.mapInArrow(dividing, PIECES)
        divided = pieces.repartitionById(shares, functions.col(SHARE))
        ordered = divided.sortWithinPartitions(TABLE, PART, NUMBER, PIECE)
        markings = {
            target.name: Marking(
                table=target.table, replaces=target.replaces, untold=frozenset(target.untold())
            )
            for target in batch.sources.values()
            if target.added.mark and target.name in writes
        }
        results = ordered.mapInArrow(ShareTask(writes, markings), RESULT).collect()
        return [
            one
            for row in results
            for one in pickle.loads(row[MESSAGE_COLUMN])  # noqa: S301 - our own tasks made it
        ]

    def _set_aside_all(
        self, batch: _Batch, tables: Mapping[str, TableWrite], done: list[Written]
    ) -> None:
        """Set the rows of a batch aside that tables do not take, and look for what comes after.

        Raises
        ------
        IngestDataError
            If they are too many.
        """
        letters = self.tables.letters
        keys = {name: tuple(to.table.primary_keys) for name, to in self.tables.targets.items()}
        found = sorted(
            (aside for one in done for aside in one.aside), key=lambda one: (one.place, one.row)
        )
        if found:
            self._count_dead(len(found), found[0].error)
            self._dead_rows += [one.dead for one in found]
        new = [(one.place, one.row, one.table, one.key, one.dead.to_pylist()[0]) for one in found]
        for place, source, dead in batch.unreadable:
            target = None if source is None else self.tables.target_of(source)
            if target is not None:
                of = target.name
                rows = dead.to_pylist()
                new += [(place, -1, of, key_of_dead(row, keys[of]), row) for row in rows]
        new.sort(key=lambda one: one[:2])
        watched: dict[str, set[str]] = {}
        for _, _, name, key, _ in new:
            if key is not None:
                watched.setdefault(name, set()).add(key)
        there = self._found(batch, tables, watched)
        for place, number, name, key, row in new:
            later = any(
                part != place[1] or (event, last) > (place[0], number)
                for part, event, last in there.get(name, {}).get(key or "", ())
            )
            letters.add_placed(name, keys[name], row, key, comes_later=later)

    def _found(
        self, batch: _Batch, tables: Mapping[str, TableWrite], watched: Mapping[str, set[str]]
    ) -> Mapping[str, Mapping[str, list[tuple[str, int, int]]]]:
        """Find where a batch has rows of some keys: by table and key the part, event and row."""
        there: dict[str, dict[str, list[tuple[str, int, int]]]] = {}
        wanted = {name: frozenset(of) for name, of in watched.items() if of}
        if not any(table.name in wanted for table in tables.values()):
            return there
        task = FindTask(tables=tables, keys=wanted)
        for row in batch.rows_only.mapInArrow(task, FOUND).collect():
            at = row[PART], row[NUMBER], row["place"]
            there.setdefault(row[TABLE], {}).setdefault(row["key"], []).append(at)
        return there

    def _stop_written(self, target: Target, error: Exception, batch: _Batch) -> None:
        self.tables.stop(target, f"its rows cannot be written: {error}")
        target.skipped += sum(
            count for source, count in batch.rows.items() if batch.sources[source] is target
        )

    def _discard(self, done: list[Written]) -> None:
        """Delete files that will not be committed."""
        for one in done:
            with suppress(OSError):
                messages = [CommitMessage.from_bytes(message) for message in one.messages]
                self.tables.targets[one.table].drop(messages)

    def _compact_landed(self, epoch: Epoch) -> None:
        """Let executors compact the buckets that an epoch wrote to."""
        bridge = self._bridge
        if bridge is None or self._batch is None:
            super()._compact_landed(epoch)
            return
        workers = SparkWorkers(bridge)
        for commit in epoch.commits:
            target = self.tables.targets.get(commit.table)
            if target is None or not target.table.primary_keys or target.stopped is not None:
                continue
            definition, store = definition_of(target.table), store_of(target.table)
            try:
                compact_written(
                    definition,
                    store,
                    commit.decoded(),
                    target.table.snapshot,
                    workers=workers,
                    round_number=epoch.number - 1,
                )
            except PaimonError as error:  # rows are committed, whatever becomes of it
                self.journal.note("warning", target.name, str(error))


@dataclass
class _Batch:
    """What a batch has for each table."""

    events: DataFrame
    sources: dict[str, Target] = field(default_factory=dict)
    """Where the rows of tables of the source go."""
    rows: dict[str, int] = field(default_factory=dict)
    """How many they are, by table of the source."""
    parts: dict[str, set[str]] = field(default_factory=dict)
    """In which parts they are."""
    size_bytes: int = 0
    """Memory that all rows take, decoded."""
    begins: dict[tuple[str, str], int] = field(default_factory=dict)
    """By table of the source and part: the event that emptied it; rows before are not written."""
    ends: dict[tuple[str, str], int] = field(default_factory=dict)
    """By table of the source and part: the first event that is not written."""
    moves: dict[str, list[Move]] = field(default_factory=dict)
    """By table here: how its columns were renamed and dropped."""
    emptied: dict[str, tuple[str, Truncated]] = field(default_factory=dict)
    """By table of the source: where it was emptied last."""
    unreadable: list[tuple[Place, str | None, pa.RecordBatch]] = field(default_factory=list)
    """Dead letters of what the source could not read, with the table of the source."""
    seen_millis: int | None = None

    @property
    def rows_only(self) -> DataFrame:
        """The events that have rows."""
        return self.events.where(functions.col(TABLE).isNotNull()).drop(FACTS)

    def add(
        self, target: Target | None, source: str, part: str, number: int, facts: RowFacts
    ) -> None:
        """Note rows, and where they go; None: nowhere, nor does what comes after them."""
        if target is None:
            self.ends.setdefault((source, part), number)
        elif facts.count:
            self.sources[source] = target
            self.rows[source] = self.rows.get(source, 0) + facts.count
            self.parts.setdefault(source, set()).add(part)
            self.size_bytes += facts.size_bytes

    def drop(self, names: Collection[str]) -> None:
        """Write no rows to some tables: they stopped before all came that were to be replaced."""
        self.sources = {one: to for one, to in self.sources.items() if to.name not in names}

    def see(self, boundary: Boundary) -> None:
        """Note when the source made its newest change."""
        if boundary.seen_millis is not None:
            self.seen_millis = max(self.seen_millis or 0, boundary.seen_millis)


def _facts(events: DataFrame) -> list[tuple[str, str, int, bytes]]:
    """Return what the driver has to know, in the order of parts, as far as there is one."""
    rows = events.drop(ROWS).collect()
    found = [(row[TABLE], row[PART], row[NUMBER], bytes(row[FACTS])) for row in rows]
    return sorted(found, key=lambda one: (one[2], one[1]))


def problem_of(done: list[Written]) -> PaimonError | None:
    """Return what ends the job; None: nothing does, though tables may stop."""
    for one in done:
        if one.error is not None and not isinstance(one.error, _OF_TABLES):
            return one.error
    return None


def _commit_of(name: str, done: list[Written], target: Target) -> TableCommit:
    mine = [one for one in done if one.table == name]
    return TableCommit(
        table=name,
        messages=tuple(message for one in mine for message in one.messages),
        rows=sum(one.rows for one in mine),
        replaces=target.replaces,
    )


def _check_buckets(target: Target) -> None:
    if definition_of(target.table).bucket_mode is BucketMode.KEY_DYNAMIC:
        raise UnsupportedError(
            f"engine = 'spark' into {target.name}, whose primary key lacks a partition column",
            "give bucket = a number and a key with it, or leave engine out",
        )
