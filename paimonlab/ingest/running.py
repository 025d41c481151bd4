"""A job at work: events of a source become rows that wait, then epochs, then snapshots.

Everything happens in one thread, in the order of the source. Rows wait in memory until a boundary
at which an epoch is due; a change of schema first ends the epoch of the rows before it. What is
between the last committed epoch and now is dropped when anything fails, and read again later.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field

import pyarrow as pa

from paimonlab.catalog import Catalog
from paimonlab.clock import now_millis
from paimonlab.errors import (
    DataError,
    IngestDataError,
    IngestError,
    NotFoundError,
    PaimonError,
    SchemaError,
    SourceError,
    UnsupportedError,
)
from paimonlab.ingest import dead_letters
from paimonlab.ingest.answering import Answering
from paimonlab.ingest.apart import apart, leave
from paimonlab.ingest.changes import (
    Boundary,
    Event,
    JsonValue,
    Phase,
    RemindedSource,
    RepeatingSource,
    RowChanges,
    SizedSource,
    Source,
    SourceSchema,
    SourceSchemaChange,
    Truncated,
    Unreadable,
    Waits,
    WideningSource,
)
from paimonlab.ingest.controls import Controls, Ending, Pace, Until
from paimonlab.ingest.cuts import cut
from paimonlab.ingest.epochs import Epoch, JobFiles, TableCommit, encoded_position
from paimonlab.ingest.fitting import BadRow, FittedRows, fitted, retracts
from paimonlab.ingest.job_tables import JobTables
from paimonlab.ingest.journal import Journal
from paimonlab.ingest.landing import land, user_of
from paimonlab.ingest.leases import Lease
from paimonlab.ingest.replaying import Mend, Replay, Replayed
from paimonlab.ingest.rules import IngestRules
from paimonlab.ingest.sources.losses import TornError
from paimonlab.ingest.status import JobStatus, TableStatus, position_text
from paimonlab.ingest.steering import Ask, Waiting
from paimonlab.ingest.targets import RefusedRowsError, Target
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.table.compacting.after_write import compact_written
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.table import Table
from paimonlab.workers import side_by_side

_WRITTEN_AT_ONCE = 4
"""Tables whose rows are written at a time: each waits for the disk, and takes memory."""
_TOLD_SECONDS = 1.0
"""How often the status tells what is read, also in the midst of a table."""
_ASKED_SECONDS = 5.0
"""How often it is looked for what other processes ask."""
_PAUSE_SECONDS = 1.0
_STALLED_SECONDS = 10.0
"""Without a word, before it is said what takes so long."""
_WAITED_SECONDS = 3.0
"""Without being told so again, nothing is waited for any more."""
_LOST_SECONDS = 30.0
"""Without a word of it, before a lost server is another loss."""
_MOST_TORN = 3
"""Losses in the midst of the same rows, before it is an error."""
_POSITION_SECONDS = 60.0
"""How often a position is noted down after which nothing was to be written."""


@dataclass(kw_only=True)
class Runner:
    """One run of a job."""

    job: str
    catalog: Catalog
    source: Source
    rules: IngestRules
    pace: Pace
    files: JobFiles
    lease: Lease
    controls: Controls
    report: Callable[[JobStatus], None]
    clock: Callable[[], float] = time.monotonic
    journal: Journal = field(init=False)
    tables: JobTables = field(init=False)
    _known: str = ""
    _number: int = 0
    _position: JsonValue = None
    _boundary: Boundary | None = None
    _epoch_began: float | None = None
    _looked_for_rows: float = 0.0
    """When the source was asked for what came after its last boundary. What came while an epoch was
    committed has waited since then."""
    _noted: float = 0.0
    _waiting_bytes: int = 0
    _open_bytes: int = 0
    _rows: int = 0
    _dead: int = 0
    _read_rows: int = 0
    _dead_rows: list[pa.RecordBatch] = field(default_factory=list)
    _open_dead: list[pa.RecordBatch] = field(default_factory=list)
    _committed_millis: int | None = None
    _lag_millis: int | None = None
    _began_millis: int = field(default_factory=now_millis)
    _phase: str = "starting"
    _told: float = 0.0
    _told_of: tuple[Boundary, int, int] | None = None
    """What the status told last of a boundary; the same is told once a second."""
    _looked: float = float("-inf")
    _doing: str = ""
    """What may take long; empty: nothing, or it is not known."""
    _waits: tuple[str, float] | None = None
    """What the source waits for, and when it said so."""
    _lost: float | None = None
    """When the source said last that its server is gone; None: it came back."""
    _is_recovering: bool = False
    """Whether an epoch is committed that another run has made."""
    _is_torn: bool = False
    """Whether reading ended since rows were lost that are read again."""
    _torn_count: int = 0
    """How often what came after the last boundary was lost since rows came before one."""
    _rows_at_boundary: tuple[int, int] = (0, 0)
    """Of the snapshot, and of the run."""
    _asks: Sequence[Ask] = ()
    """What other processes ask."""
    _is_apart: bool = False
    """Whether another thread works on the tables."""
    _has_spilled: bool = False
    """Whether rows after the last boundary were written."""
    _is_within: bool = False
    """Whether rows of tables are read that have to come whole, and are not."""
    _is_snapshot: bool = True
    """Whether rows are read that tables had when the job began."""
    _snapshot_rows: int = 0
    _snapshot_total: int | None = None

    def __post_init__(self) -> None:
        self.journal = Journal(here=self._here)
        self.tables = JobTables(
            job=self.job,
            catalog=self.catalog,
            rules=self.rules,
            journal=self.journal,
            end_epoch=self._commit_waiting,
        )

    def run(self, until: Until) -> None:
        """Read until the end; leave nothing half done.

        Raises
        ------
        PaimonError, OSError
            If it cannot go on. All that was committed stays.
        """
        began = self.clock()
        self._noted = began
        try:
            self._apart(self._recover)
            self._tell("starting")
            is_mended = self._is_asked() and any(ask.verb == "resnapshot" for ask in self._asks)
            self.tables.prepare(self.source, is_first_run=self._number == 0, is_mended=is_mended)
            ending = Ending.ASKED
            while ending in (Ending.ASKED, Ending.PAUSE):
                if self._is_asked():
                    self._answer()
                if self.controls.pause.is_set():
                    self._pause()
                if self.controls.stop.is_set() or until.is_answered:
                    break
                ending = self._read(until, began)
                self._finish()
            self._waits = None
            self._tell("caught up" if ending is Ending.DONE and until.caught_up else "stopped")
        except KeyboardInterrupt:
            self.controls.interrupt.set()
            self._tell("interrupted")
            if not self._is_apart:  # files of a large transaction are many
                self._is_apart = True
                leave(self.tables.abort, of=self.files.folder, name=f"end of ingest job {self.job}")
            raise
        except BaseException as error:
            self._tell("failed", error=str(error))  # first: the note may fail, too
            self.journal.note("failed", None, str(error))
            with suppress(OSError, PaimonError):
                self.files.log.write(self.journal.unwritten, self._number + 1, self.lease.owner.id)
            raise
        finally:
            if not self._is_apart:
                self.tables.abort()
            while not self.controls.asked.empty():
                waiting = self.controls.asked.get()
                waiting.problem = IngestError(self.job, "it ended before it did what was asked")
                waiting.done.set()

    # Being asked

    def _pause(self) -> None:
        """Wait until the job is to go on, or to stop."""
        self._doing = ""
        self._tell("paused")
        while not self.controls.resumed.wait(_PAUSE_SECONDS):
            self.lease.check()
            if self._is_asked():
                self._answer()
            if self.controls.stop.is_set():
                break
        self.controls.pause.clear()
        self.controls.resumed.clear()

    def _is_asked(self) -> bool:
        """Say whether something is asked, here or by another process.

        While a table is read anew only what ends that is heard.
        """
        now = self.clock()
        if now - self._looked >= _ASKED_SECONDS:
            self._looked = now
            self._asks = self.files.asked.read_as(self.lease.owner.id)
        if self.tables.is_reading_again:
            return any(ask.verb in ("pause", "stop") for ask in self._asks)
        return bool(self._asks) or not self.controls.asked.empty()

    def _answer(self) -> None:
        """Do what is asked; all that was read is committed."""
        waiting = [Waiting(ask) for ask in self._asks]
        while not self.controls.asked.empty():
            waiting.append(self.controls.asked.get())
        self._asks = ()
        answering = Answering(
            job=self.job,
            source=self.source,
            tables=self.tables,
            controls=self.controls,
            position=lambda: self._position,
        )
        for one in waiting:
            what = f"{one.ask.verb} {one.ask.what}".rstrip()
            place = None
            try:
                if one.ask.verb == "replay":
                    one.answer = self._replay(one.given)
                else:
                    place = answering.answer(one.ask)
            except (PaimonError, ValueError) as error:
                self.journal.note("refused", None, f"{what}: {error}")
                self.journal.warnings.append(f"{what} was refused: {error}")
                one.problem = error
            self.rules = self.tables.rules
            if place is not None:  # an epoch without rows says where the job goes on
                self._boundary = place
                self._commit()
            one.done.set()
            self.files.asked.done(one.ask)

    def _replay(self, mend: Mend | None) -> Replayed:
        """Commit rows that were set aside and can be stored now."""
        replay = Replay(job=self.job, catalog=self.catalog, tables=self.tables, mend=mend)
        try:
            done = replay.run()
        except BaseException:
            self.tables.abort()
            raise
        if done.rows:
            self._dead -= done.rows
            self.tables.letters.replayed(replay.ids)
            self._boundary = Boundary(position=self._position, phase=Phase.STREAM)
            for target in self.tables.targets.values():
                target.close()
            self.journal.note("replayed", None, str(done))
            self._commit()
        return done

    # Beginning

    def _recover(self) -> None:
        """Commit the newest epoch again, unless it is known to be done."""
        newest = self.files.newest()
        self.files.fold_log()
        self.journal.events.extend(self.files.events())
        if newest is None:
            return
        epoch, is_done = newest
        self._number, self._position = epoch.number, epoch.source_position
        self._rows, self._dead, self._known = epoch.rows, epoch.dead, epoch.known
        self._is_snapshot = epoch.phase == Phase.SNAPSHOT.value
        self._snapshot_rows = epoch.rows
        if epoch.known:
            known = self.files.known(epoch.known)
            self.tables.restore(known)
            self.rules = self.tables.rules
            if isinstance(self.source, WideningSource):
                for pattern in known.added:
                    self.source.include(pattern)
        if not is_done:
            self._is_recovering = True
            self._land(epoch)
            self._is_recovering = False
            self.journal.note("recovered", None, f"epoch {epoch.number} was committed again")
        self.source.acknowledge(self._position)

    # Reading

    def _read(self, until: Until, began: float) -> Ending:
        """Read events until something ends it."""
        if self._is_snapshot and isinstance(self.source, SizedSource):
            with suppress(SourceError):  # a server that is gone is for the reading to wait for
                self._snapshot_total = self.source.estimated_rows(self.rules.wants)
        if isinstance(self.source, RemindedSource):
            self.source.remind(self.tables.schemas)
        events: Iterator[Event] = self.source.read(self._position, self.rules.wants)
        self._boundary = None
        self._looked_for_rows = self.clock()
        self._has_spilled = self._is_within = False
        self.tables.read_again()
        self._rows_at_boundary = self._snapshot_rows, self._read_rows
        self._doing, self._told = f"waits for {self.source.name}", self.clock()
        with closing(self._until_torn(events)) as reading:
            for event in reading:
                if self.controls.interrupt.is_set():
                    raise KeyboardInterrupt
                self._take(event)
                if self.clock() - self._told >= _TOLD_SECONDS:
                    has_begun = self._is_snapshot and self._snapshot_rows
                    self._tell(Phase.SNAPSHOT.value if has_begun else self._phase)
                if self._is_over(event, until, began):
                    return Ending.DONE
                if self._may_end(event) and (ending := self._steered()) is not None:
                    return ending
        if self._is_torn:
            return Ending.ASKED
        raise IngestError(
            self.job,
            f"{self.source.name} ended without saying so, as if its reader had been killed; what "
            "was not committed is read again by the next run",
        )

    def _may_end(self, event: Event) -> bool:
        """Whether reading can end after an event: what came after the last boundary is dropped."""
        if isinstance(event, Waits):
            return not self._has_spilled
        return isinstance(event, Boundary)

    def _steered(self) -> Ending | None:
        """Say whether others want something; None: they do not."""
        if self.controls.stop.is_set():
            return Ending.STOP
        if self.controls.pause.is_set():
            return Ending.PAUSE
        return Ending.ASKED if self._is_asked() else None

    def _is_over(self, event: Event, until: Until, began: float) -> bool:
        is_late = until.seconds is not None and self.clock() - began >= until.seconds
        if isinstance(event, Waits):
            return is_late and self._may_end(event) and not self.tables.again
        if not isinstance(event, Boundary):
            return False
        if event.phase is Phase.ENDED:
            return True
        if until.caught_up and event.phase is Phase.CAUGHT_UP:
            return True
        if self.tables.again or self._is_within:
            return False  # what takes the place of rows is read to its end
        return is_late or (until.rows is not None and self._read_rows >= until.rows)

    def _take(self, event: Event) -> None:
        match event:
            case RowChanges():
                self._take_rows(event)
                has_come = event.order is None  # or rows come that were before some of these
                if has_come and self._waiting_bytes + self._open_bytes >= self.pace.max_bytes:
                    self._make_room()
            case Boundary():
                self._take_boundary(event)
            case SourceSchemaChange():
                self._take_schema_change(event)
            case Truncated():
                self._take_truncated(event)
            case Unreadable():
                self._take_unreadable(event)
            case Waits():
                self._waits = event.what, self.clock()
                if event.is_lost:
                    self._note_lost(event.what)

    def _note_lost(self, what: str) -> None:
        """Note that the source lost its server, once until it is back."""
        now = self.clock()
        if self._lost is None or now - self._lost > _LOST_SECONDS:
            self.journal.note("lost", None, f"waits for {what}")
        self._lost = now

    def _until_torn(self, events: Iterator[Event]) -> Generator[Event]:
        """Yield events until a connection is lost; what came after the last boundary is read again.

        Raises
        ------
        TornError
            If the same rows were lost too often.
        """
        self._is_torn = False
        try:
            with closing(_closable(events)) as reading:
                yield from reading
        except TornError as torn:
            self._torn_count += 1
            if self._torn_count > _MOST_TORN:
                raise
            self._is_torn = True
            self.journal.note("lost", None, str(torn))
            self._snapshot_rows, self._read_rows = self._rows_at_boundary

    def _take_rows(self, changes: RowChanges) -> None:
        count = changes.rows.num_rows
        target = self._accepting(
            changes.table, changes.schema, count, retracts=lambda: retracts(changes)
        )
        if target is None:
            return
        if not count:
            return
        self._epoch_began = self._epoch_began or self._looked_for_rows
        start = len(target.open)
        size_bytes, bad = target.take(fitted(changes))
        self._open_bytes += size_bytes
        self.tables.letters.look(target.name, target.table.primary_keys, target.open[start:])
        if bad:
            self._set_aside(bad, self._open_dead, target, target.open, is_late=False)

    def _accepting(
        self, source: str, schema: SourceSchema, count: int, *, retracts: Callable[[], bool]
    ) -> Target | None:
        """Return the table that takes rows, which follows their schema; None: none does.

        Parameters
        ----------
        source
            ``database.table`` that they come from.
        schema
            Of the rows.
        count
            How many they are.
        retracts
            Says whether some are updated or deleted.
        """
        target = self.tables.target_for(source, schema)
        if target is None:
            return None
        if count:
            self._waits = self._lost = None
        self._read_rows += count
        self._snapshot_rows += count
        if target.stopped is None:
            self.tables.follow_rows(target, source, schema)
        if target.stopped is None and not target.table.primary_keys and retracts():
            self.tables.stop(
                target,
                f"{source} updates or deletes rows, but {target.name} has no primary key to "
                "find them by; give primary_keys and let the job begin anew",
            )
        if target.stopped is None and not self._bears_repeats(target):
            self.tables.stop(
                target,
                f"rows of {source} that change while they are read come twice, which only tables "
                "with a primary key and merge-engine = deduplicate or partial-update without "
                "aggregate functions bear; write to such a table and let the job begin anew",
            )
        engine = target.table.options.get("merge-engine", "deduplicate")
        if target.stopped is None and self.rules.mark and engine != "deduplicate":
            self.tables.stop(
                target,
                f"on_delete = {self.rules.on_delete!r} is for merge-engine = deduplicate: {engine} "
                "would take the row a second time; leave one of them out and let the job begin "
                "anew",
            )
        if target.stopped is not None:
            target.skipped += count
            self.tables.has_news = True
            return None
        return target

    def _bears_repeats(self, target: Target) -> bool:
        if not (isinstance(self.source, RepeatingSource) and self.source.may_repeat):
            return True
        options = target.table.options
        return (
            bool(target.table.primary_keys)
            and options.get("merge-engine", "deduplicate") in ("deduplicate", "partial-update")
            and not any(key.endswith("aggregate-function") for key in options)
        )

    def _make_room(self) -> None:
        """Let rows go that take too much memory before the source comes to a boundary."""
        if not self._has_spilled:
            self._commit_waiting()
        if self._open_bytes >= self.pace.max_bytes:
            self._apart(self._spill)

    def _spill(self) -> None:
        for target in self.tables.targets.values():
            while target.open:
                self._has_spilled = True
                try:
                    target.spill(user_of(self.job))
                except RefusedRowsError as refused:
                    self._set_aside(refused.bad, self._open_dead, target, target.open)
        self._open_bytes = 0

    def _take_boundary(self, boundary: Boundary) -> None:
        self.journal.warn(boundary.warnings)
        if boundary.phase is Phase.SNAPSHOT:
            # From the same position all that came since would come once more.
            self._is_within = bool(self.tables.again) or boundary.position == self._position
            if self._is_within:
                self._tell(boundary.phase.value)
                return
        self._is_within = False
        self._boundary = boundary
        if boundary.phase is Phase.CAUGHT_UP:
            self._lost = None
        self._looked_for_rows = self.clock()
        self._has_spilled = False
        if self._read_rows > self._rows_at_boundary[1]:
            self._torn_count = 0
        self._rows_at_boundary = self._snapshot_rows, self._read_rows
        self._is_snapshot = self._is_snapshot and boundary.phase is Phase.SNAPSHOT
        for target in self.tables.targets.values():
            if target.open:
                target.close()
        self._dead_rows += self._open_dead
        self._open_dead.clear()
        self.tables.letters.close()
        self._waiting_bytes += self._open_bytes
        self._open_bytes = 0
        if self.tables.again:
            self._replace()
        elif self._is_due(boundary):
            self._commit()
        what = boundary, self._number, self._read_rows
        is_old = self.clock() - self._told >= _TOLD_SECONDS
        if is_old or what != self._told_of or boundary.phase.value != self._phase:
            self._told_of = what
            self._tell(boundary.phase.value)

    def _replace(self) -> None:
        """Commit rows that were read anew in place of those that the tables have."""
        names = sorted(self.tables.again)
        self.tables.again.clear()
        self.tables.has_news = True
        for name in names:
            self.journal.note("resnapshot", name, "its rows are replaced")
        self._commit()

    def _is_due(self, boundary: Boundary) -> bool:
        now = self.clock()
        if self._epoch_began is None:
            moved = boundary.position != self._position or self.tables.has_news
            return moved and now - self._noted >= _POSITION_SECONDS
        rows = sum(target.waiting_rows for target in self.tables.targets.values())
        if self._waiting_bytes >= self.pace.max_bytes:
            return True
        if self.pace.max_rows is not None and rows >= self.pace.max_rows:
            return True
        is_old = now - self._epoch_began >= self.pace.interval_seconds
        return is_old and boundary.phase is not Phase.SNAPSHOT

    def _finish(self) -> None:
        """Commit what was read up to the last boundary."""
        boundary = self._boundary
        # Rows that were spilled are after it, and all before it is committed then.
        is_whole = not (self.tables.again or self._has_spilled)
        if (
            boundary is not None
            and is_whole
            and (self._has_rows() or boundary.position != self._position or self.tables.has_news)
        ):
            self._commit()
        self.tables.abort()
        self._waiting_bytes = self._open_bytes = 0
        self._dead -= sum(rows.num_rows for rows in self._open_dead)
        self._open_dead.clear()
        self.tables.letters.open.clear()
        self.tables.check_any_goes_on()

    def _has_rows(self) -> bool:
        return bool(self._dead_rows) or any(
            target.has_rows for target in self.tables.targets.values()
        )

    def _take_schema_change(self, change: SourceSchemaChange) -> None:
        if self.rules.wants(change.table):
            self.tables.take_change(change)

    def _take_truncated(self, event: Truncated) -> None:
        target = self.tables.target_of(event.table)
        if target is None or target.stopped is not None:
            return
        if self.rules.on_truncate == "ignore":
            text = f"the source emptied {event.table} ({event.reason}): its rows are kept here"
            self.journal.note("truncated", target.name, text, event.position)
            return
        if len(target.sources) > 1:
            text = f"{event.table} was emptied, but {target.name} has rows of other tables too"
            self.journal.note("truncated", target.name, f"{text}: they are kept", event.position)
            self.journal.warnings.append(text)
            return
        self._commit_waiting()
        target.abort()
        if target.table.snapshot is not None:
            target.table.truncate()
        self.journal.note("truncated", target.name, event.reason, event.position)

    def _take_unreadable(self, broken: Unreadable, *, is_placed: bool = False) -> None:
        """Set aside what the source could not read; its keys are watched unless it is placed."""
        if broken.table is not None and not self.rules.wants(broken.table):
            return
        first = f"{broken.table or self.source.name}: {broken.errors[0].as_py()}"
        if broken.positions is not None:
            first += f" (at {position_text(broken.positions[0].as_py())})"
        self._count_dead(broken.count, first)
        dead = dead_letters.of_unreadable(broken, now_millis())
        self._open_dead.append(dead)
        target = None if broken.table is None else self.tables.target_of(broken.table)
        if target is not None and not is_placed:
            keys = target.table.primary_keys
            self.tables.letters.add_unreadable(target.name, keys, dead)

    def _set_aside(
        self,
        bad: list[BadRow],
        dead: list[pa.RecordBatch],
        target: Target,
        waiting: Sequence[FittedRows],
        *,
        is_late: bool = True,
    ) -> None:
        """Set rows aside that a table does not take; others of it wait."""
        self._count_dead(len(bad), bad[0].error)
        rows = dead_letters.of_bad_rows(bad, now_millis())
        dead.append(rows)
        keys = target.table.primary_keys
        is_open = dead is self._open_dead
        self.tables.letters.add(
            target.name, keys, rows, bad, waiting, is_open=is_open, is_late=is_late
        )

    def _count_dead(self, count: int, first: str) -> None:
        self._dead += count
        self._epoch_began = self._epoch_began or self.clock()
        if self._dead > self.pace.max_dead:
            dead = dead_letters.table_of(self.rules.into, self.job)
            raise IngestDataError(
                self.job,
                f"{first}. Nothing of this epoch was committed; mend the source, or let max_dead = "
                f"{self._dead} or more rows be set aside in {dead}",
            )
        self.journal.note("dead", None, f"{count} rows set aside: {first}")

    # Epochs

    def _commit_waiting(self) -> None:
        """Commit the rows before the last boundary, if there are any.

        Raises
        ------
        IngestError
            If rows after it were written already.
        """
        if self._has_spilled:
            raise IngestError(
                self.job,
                "a table is altered or emptied within a transaction larger than max_bytes: give "
                "more memory",
            )
        if not self.tables.again and self._has_rows() and self._boundary is not None:
            self._commit()

    def _apart(self, work: Callable[[], None]) -> None:
        """Do something that an interrupt does not wait for; it ends by itself."""

        def body() -> None:
            try:
                work()
            finally:
                self._is_apart = False
                if self.controls.interrupt.is_set():
                    self.tables.abort()

        self._is_apart = True
        apart(body, of=self.files.folder, name=f"ingest job {self.job}")

    def _commit(self) -> None:
        """End the epoch at the last boundary, and commit it."""
        before, self._doing = self._doing, f"commits epoch {self._number + 1}"
        self._told = self.clock()
        try:
            self._apart(self._commit_epoch)
        finally:
            self._doing = before

    def _commit_epoch(self) -> None:
        boundary = self._boundary
        assert boundary is not None, "an epoch ends at a boundary"
        began = self.clock()
        number = self._number + 1
        owner = self.lease.owner.id
        commits = self._prepared_all(number)
        if self.controls.interrupt.is_set():
            self._drop(commits)
            raise KeyboardInterrupt
        if self._dead_rows:
            commits.append(self._dead_commit(number))
        if self.tables.has_news or self.tables.letters.has_news:
            self._known = self.files.write_known(self.tables.known(), number, owner)
        if self.journal.unwritten:
            self.files.log.write(self.journal.unwritten, number, owner)
        epoch = Epoch(
            number=number,
            owner=owner,
            position=encoded_position(boundary.position),
            phase=boundary.phase.value,
            commits=tuple(commits),
            known=self._known,
            made_millis=now_millis(),
            seen_millis=boundary.seen_millis,
            rows=self._rows + sum(commit.rows for commit in commits),
            dead=self._dead - sum(rows.num_rows for rows in self._open_dead),
        )
        self.lease.check()
        self.files.publish(epoch)
        self.tables.has_news = self.tables.letters.has_news = False
        self.tables.letters.committed()
        self.journal.unwritten.clear()
        self._number, self._position, self._rows = number, boundary.position, epoch.rows
        self._land(epoch)
        self.source.acknowledge(boundary.position)
        self._waiting_bytes = 0
        self._epoch_began = began if self._open_bytes else None
        self._noted = self.clock()

    def _prepared_all(self, number: int) -> list[TableCommit]:
        """Write the rows of all tables that wait, of some tables at a time."""
        user = user_of(self.job)

        def prepared(target: Target) -> _Prepared:
            rows = target.waiting_rows
            try:
                return _Prepared(rows, target.prepare(user, number), None)
            except (RefusedRowsError, DataError, SchemaError, UnsupportedError) as error:
                return _Prepared(rows, [], error)

        waiting = [target for target in self.tables.targets.values() if target.has_rows]
        commits = []
        while waiting:
            found = side_by_side(prepared, waiting, threads=_WRITTEN_AT_ONCE)
            again = []
            for target, one in zip(waiting, found, strict=True):
                if isinstance(one.error, RefusedRowsError):
                    later = [*target.waiting, *target.open]
                    self._set_aside(one.error.bad, self._dead_rows, target, later)
                    again.append(target)
                elif one.error is not None:
                    target.abort()
                    self.tables.stop(target, f"its rows cannot be written: {one.error}")
                    target.skipped += one.rows
                elif one.messages or target.replaces:
                    commits.append(one.commit(target.name, replaces=target.replaces))
                    target.replaces = False
            waiting = again
        return commits

    def _drop(self, commits: Iterable[TableCommit]) -> None:
        """Delete the files of an epoch that there will never be."""
        for commit in commits:
            target = self.tables.targets[commit.table]
            with suppress(OSError):
                target.drop(commit.decoded())

    def _dead_commit(self, number: int) -> TableCommit:
        name = dead_letters.table_of(self.rules.into, self.job)
        table = self.catalog.create_table(name, dead_letters.COLUMNS, exist_ok=True)
        writer = table.new_writer(user_of(self.job))
        rows = 0
        for batch in self._dead_rows:
            writer.write(batch)
            rows += batch.num_rows
        messages = writer.prepare_commit(number)
        self._dead_rows = []
        return TableCommit(
            table=name, messages=tuple(message.to_bytes() for message in messages), rows=0
        )

    def _land(self, epoch: Epoch) -> None:
        def opened(name: str) -> Table | None:
            target = self.tables.targets.get(name)
            return None if target is None else target.table

        landed = land(self.catalog, self.job, epoch, opened=opened)
        for commit in epoch.commits:
            target = self.tables.targets.get(commit.table)
            if target is not None and commit.table in landed.snapshots:
                snapshot = landed.snapshots[commit.table]
                target.rows += commit.rows
                target.snapshot_id = snapshot.id if snapshot else target.snapshot_id
        for warning in landed.warnings:
            self.journal.note("warning", None, warning)
        for name, reason in landed.failed.items():
            text = f"epoch {epoch.number} could not be committed: {reason}"
            if name in self.tables.targets:
                self.tables.stop(self.tables.targets[name], text)
            else:
                self.tables.stop_unopened(name, text, epoch.source_position)
        self._compact_landed(epoch)
        if self.pace.tags:
            known = self.tables.known()
            going = {*known.targets.values()} - {*known.stopped}
            cut(self.catalog, going, self.job, epoch.number, keep=self.pace.tags)
        self.files.mark_done(epoch)
        self._committed_millis = now_millis()
        if epoch.seen_millis is not None:
            self._lag_millis = max(self._committed_millis - epoch.seen_millis, 0)

    def _compact_landed(self, epoch: Epoch) -> None:
        """Compact what Spark's tasks may have written: they do not do it.

        Until then tables may hide rows. What this process writes is compacted as it is written.
        """
        if not self._is_recovering:
            return
        for commit in epoch.commits:
            try:
                table = self.catalog.table(commit.table)
            except NotFoundError:
                continue
            if not table.primary_keys or table.snapshot is None:
                continue
            definition, store = definition_of(table), store_of(table)
            with suppress(PaimonError):  # rows are committed, whatever becomes of it
                compact_written(definition, store, commit.decoded(), table.snapshot)

    # Telling

    @property
    def stalled(self) -> str | None:
        """What the run has done for long without a word; None: it goes on. For other threads."""
        seconds = self.clock() - self._told
        if not self._doing or seconds < _STALLED_SECONDS:
            return None
        return f"{self._doing}, for {seconds:.0f} s"

    def _here(self) -> JsonValue:
        return self._position if self._boundary is None else self._boundary.position

    def _waiting(self) -> tuple[str, ...]:
        """Say what the source waits for, if it waits."""
        if self._waits is None or self.clock() - self._waits[1] >= _WAITED_SECONDS:
            return ()
        return (f"waits for {self._waits[0]}",)

    def _tell(self, phase: str, *, error: str | None = None) -> None:
        self._phase, self._told = phase, self.clock()
        boundary = self._boundary
        seconds = max((now_millis() - self._began_millis) / 1000, 0.001)
        # Before something is read it is not known whether there is a snapshot to read.
        is_snapshot = self._is_snapshot and bool(self._snapshot_rows or self._snapshot_total)
        self.report(
            JobStatus(
                name=self.job,
                source=self.source.name,
                phase=phase,
                epoch=self._number,
                position=self._position,
                rows=self._rows,
                dead=self._dead,
                pending_rows=sum(
                    target.waiting_rows + target.open_rows
                    for target in self.tables.targets.values()
                ),
                pending_bytes=self._waiting_bytes + self._open_bytes,
                lag_millis=self._lag_millis,
                behind=None if boundary is None else boundary.behind,
                behind_unit="changes" if boundary is None else boundary.behind_unit,
                began_millis=self._began_millis,
                committed_millis=self._committed_millis,
                tables=tuple(
                    TableStatus(
                        name=name,
                        sources=tuple(target.sources),
                        rows=target.rows,
                        rows_per_second=target.rows / seconds,
                        snapshot_id=target.snapshot_id,
                        stopped=target.stopped.reason if target.stopped else None,
                        skipped=target.skipped,
                    )
                    for name, target in sorted(self.tables.targets.items())
                )
                + tuple(
                    TableStatus(
                        name=name,
                        sources=refused.sources,
                        rows=0,
                        rows_per_second=0.0,
                        snapshot_id=None,
                        stopped=refused.reason,
                        skipped=0,
                    )
                    for name, refused in sorted(self.tables.refused.items())
                ),
                warnings=(*self.journal.warnings, *self._waiting()),
                error=error,
                snapshot_rows=self._snapshot_rows if is_snapshot else None,
                snapshot_total=self._snapshot_total if is_snapshot else None,
            )
        )


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What became of the rows of a table that waited for their epoch."""

    rows: int
    messages: list[CommitMessage]
    error: Exception | None

    def commit(self, table: str, *, replaces: bool) -> TableCommit:
        """Return what the epoch commits to the table."""
        messages = tuple(message.to_bytes() for message in self.messages)
        return TableCommit(table=table, messages=messages, rows=self.rows, replaces=replaces)


def _closable(events: Iterator[Event]) -> Generator[Event]:
    """Give any iterator a method that closes it."""
    try:
        yield from events
    finally:
        close = getattr(events, "close", None)
        if close is not None:
            close()
