"""A job at work: events of a source become rows that wait, then epochs, then snapshots.

Everything happens in one thread, in the order of the source. Rows wait in memory until a boundary
at which an epoch is due; a change of schema first ends the epoch of the rows before it. What is
between the last committed epoch and now is dropped when anything fails, and read again later.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from enum import Enum

import pyarrow as pa

from paimonlab.catalog import Catalog
from paimonlab.clock import now_millis
from paimonlab.errors import (
    DataError,
    IngestDataError,
    IngestError,
    IngestSchemaError,
    IngestStateError,
    SchemaError,
    UnsupportedError,
)
from paimonlab.ingest import dead_letters
from paimonlab.ingest.changes import (
    Boundary,
    Event,
    JsonValue,
    Phase,
    RowChanges,
    Source,
    SourceSchema,
    SourceSchemaChange,
    Truncated,
    Unreadable,
)
from paimonlab.ingest.epochs import (
    Epoch,
    JobEvent,
    JobFiles,
    Known,
    Stopped,
    TableCommit,
    encoded_position,
)
from paimonlab.ingest.evolution import evolution, merged
from paimonlab.ingest.fitting import BadRow, fitted, retracts
from paimonlab.ingest.landing import check_unused, land, user_of
from paimonlab.ingest.leases import Lease
from paimonlab.ingest.plan import IngestPlan, PlannedTable, ingest_plan
from paimonlab.ingest.rules import IngestRules
from paimonlab.ingest.status import JobStatus, TableStatus, position_text
from paimonlab.ingest.targets import RefusedRowsError, Target
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.types.text import format_type
from paimonlab.table.table import Table

logger = logging.getLogger(__name__)

_POSITION_SECONDS = 60.0
"""How often a position is noted down after which nothing was to be written."""
_MOST_EVENTS = 1000
"""Events of the log that a process keeps."""
_SHOWN_ERRORS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """When epochs end, and when a run does."""

    interval_seconds: float = 10.0
    """How long rows wait at most before they are committed, while changes are read."""
    max_bytes: int = 256 << 20
    """How many bytes of rows wait in memory."""
    max_rows: int | None = None
    """Rows of an epoch; None: as many as come."""
    max_dead: int = 0
    """How many rows the job may set aside since it was created."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Until:
    """When a run ends by itself."""

    caught_up: bool = False
    seconds: float | None = None
    rows: int | None = None
    """Rows that were read in this run; it ends at the boundary after them."""


class Ending(Enum):
    """Why reading ended."""

    DONE = "done"
    STOP = "stop"
    PAUSE = "pause"


@dataclass(slots=True)
class Controls:
    """What other threads ask of a run."""

    stop: threading.Event = field(default_factory=threading.Event)
    pause: threading.Event = field(default_factory=threading.Event)
    resumed: threading.Event = field(default_factory=threading.Event)
    interrupt: threading.Event = field(default_factory=threading.Event)
    """Ctrl-C came, which what commits may have taken for its own."""


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
    targets: dict[str, Target] = field(default_factory=dict)
    """By ``database.table`` here."""
    events: deque[JobEvent] = field(default_factory=lambda: deque(maxlen=_MOST_EVENTS))
    warnings: list[str] = field(default_factory=list)
    _target_of: dict[str, Target | None] = field(default_factory=dict)
    _schemas: dict[str, SourceSchema] = field(default_factory=dict)
    _stopped: dict[str, Stopped] = field(default_factory=dict)
    _skipped: dict[str, int] = field(default_factory=dict)
    _targets: dict[str, str] = field(default_factory=dict)
    _new_events: list[JobEvent] = field(default_factory=list)
    _known: str = ""
    _known_changed: bool = False
    _number: int = 0
    _position: JsonValue = None
    _boundary: Boundary | None = None
    _epoch_began: float | None = None
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
            self._recover()
            self._prepare_tables()
            while True:
                ending = self._read(until, began)
                self._finish()
                if ending is not Ending.PAUSE:
                    break
                self._tell("paused")
                while not self.controls.resumed.wait(1.0):
                    self.lease.check()
                    if self.controls.stop.is_set():
                        break
                self.controls.pause.clear()
                self.controls.resumed.clear()
                if self.controls.stop.is_set():
                    break
            self._tell("caught up" if ending is Ending.DONE and until.caught_up else "stopped")
        except KeyboardInterrupt:
            self._tell("interrupted")
            raise
        except BaseException as error:
            self._event("failed", None, str(error))
            with suppress(OSError):
                self.files.write_events(self._new_events, self._number + 1, self.lease.owner.id)
            self._tell("failed", error=str(error))
            raise
        finally:
            for target in self.targets.values():
                target.abort()

    # Beginning

    def _recover(self) -> None:
        """Commit the newest epoch again, unless it is known to be done."""
        newest = self.files.newest()
        self.events.extend(self.files.events()[-_MOST_EVENTS:])
        if newest is None:
            return
        epoch, is_done = newest
        self._number, self._position = epoch.number, epoch.source_position
        self._rows, self._dead, self._known = epoch.rows, epoch.dead, epoch.known
        if epoch.known:
            known = self.files.known(epoch.known)
            self._schemas = dict(known.schemas)
            self._stopped, self._skipped = dict(known.stopped), dict(known.skipped)
            self._targets = dict(known.targets)
        if not is_done:
            self._land(epoch)
            self._event("recovered", None, f"epoch {epoch.number} was committed again")
        self.source.acknowledge(self._position)

    def plan(self) -> IngestPlan:
        """Say what the tables of the source become; see `ingest_plan`."""
        return plan_of(self.catalog, self.source, self.rules, self._schemas)

    def _prepare_tables(self) -> None:
        plan = self.plan()
        if plan.refused:
            reasons = [f"{refused.target}: {refused.reason}" for refused in plan.refused]
            more = (
                f"; and {len(reasons) - _SHOWN_ERRORS} more" if len(reasons) > _SHOWN_ERRORS else ""
            )
            raise IngestSchemaError(
                self.job,
                "; ".join(reasons[:_SHOWN_ERRORS])
                + more
                + ". Leave tables out with excluding, or change what is said",
            )
        self.catalog.create_database(self.rules.into, exist_ok=True)
        if self._number == 0:
            self._check_unused(plan)
        found = self.source.tables()
        for planned in plan.tables:
            self._check_places(planned)
            self._open(planned)
            for source in planned.sources:
                if source not in self._schemas:
                    self._schemas[source] = found[source]
                    self._known_changed = True

    def _check_places(self, planned: PlannedTable) -> None:
        """Make sure that rows go on where those before went.

        Raises
        ------
        IngestStateError
            If a table of the source went elsewhere: its earlier rows are not read again.
        """
        for source in planned.sources:
            before = self._targets.get(source)
            if before is not None and before != planned.name:
                raise IngestStateError(
                    self.job,
                    f"{source} went to {before} so far, not to {planned.name}, which would lack "
                    "what was read before: give the job another name, or the arguments it had",
                )
            if before is None and self._number and self._targets:
                self.warnings.append(
                    f"{source} was not read before: {planned.name} gets what comes from here on"
                )
                self._event("note", planned.name, self.warnings[-1])

    def _check_unused(self, plan: IngestPlan) -> None:
        dead = dead_letters.table_of(self.rules.into, self.job)
        for name in (*(table.name for table in plan.tables), dead):
            if self.catalog.has_table(name):
                check_unused(self.job, self.catalog.table(name))

    def _open(self, planned: PlannedTable) -> Target:
        """Create or alter a table as planned, and write to it from here on."""
        name = planned.name
        if planned.definition is not None:
            table = self.catalog.create_table(name, planned.definition, exist_ok=True)
            self._event("created", name, f"from {', '.join(planned.sources)}")
        elif planned.changes:
            before = _columns_of(self.catalog.table(name).schema)
            table = self.catalog.alter_table(name, *planned.changes)
            after = _columns_of(table.schema)
            self._event("altered", name, "as the source is", before=before, after=after)
        else:
            table = self.catalog.table(name)
        target = Target(
            name=name,
            table=table,
            sources=list(planned.sources),
            has_own_key=planned.has_own_key,
            stopped=self._stopped.get(name),
            skipped=self._skipped.get(name, 0),
        )
        self.targets[name] = target
        for source in planned.sources:
            self._target_of[source] = target
        return target

    # Reading

    def _read(self, until: Until, began: float) -> Ending:
        """Read events until something ends it."""
        events: Iterator[Event] = self.source.read(self._position, self.rules.wants)
        self._boundary = None
        with closing(_closable(events)) as reading:
            for event in reading:
                if self.controls.interrupt.is_set():
                    raise KeyboardInterrupt
                self._take(event)
                if self._is_over(event, until, began):
                    return Ending.DONE
                if isinstance(event, Boundary):
                    if self.controls.stop.is_set():
                        return Ending.STOP
                    if self.controls.pause.is_set():
                        return Ending.PAUSE
        return Ending.DONE

    def _is_over(self, event: Event, until: Until, began: float) -> bool:
        if not isinstance(event, Boundary):
            return False
        if event.phase is Phase.ENDED:
            return True
        if until.caught_up and event.phase is Phase.CAUGHT_UP:
            return True
        if until.seconds is not None and self.clock() - began >= until.seconds:
            return True
        return until.rows is not None and self._read_rows >= until.rows

    def _take(self, event: Event) -> None:
        match event:
            case RowChanges():
                self._take_rows(event)
            case Boundary():
                self._take_boundary(event)
            case SourceSchemaChange():
                self._take_schema_change(event)
            case Truncated():
                self._take_truncated(event)
            case Unreadable():
                self._take_unreadable(event)

    def _take_rows(self, changes: RowChanges) -> None:
        target = self._target_for(changes.table, changes.schema)
        if target is None:
            return
        count = changes.rows.num_rows
        self._read_rows += count
        if target.stopped is None and not self._is_known(target, changes.table, changes.schema):
            known = self._schemas.get(changes.table)
            self._follow(target, changes.table, known, changes.schema, reason="rows of the source")
        if target.stopped is None and not target.table.primary_keys and retracts(changes):
            self._stop(
                target,
                f"{changes.table} updates or deletes rows, but {target.name} has no primary key to "
                "find them by; give primary_keys and let the job begin anew",
            )
        if target.stopped is not None:
            target.skipped += count
            self._known_changed = True
            return
        if not count:
            return
        self._epoch_began = self._epoch_began or self.clock()
        rows = fitted(changes)
        target.open.append(rows)
        self._open_bytes += rows.size_bytes
        if self._waiting_bytes + self._open_bytes >= self.pace.max_bytes:
            self._make_room()

    def _make_room(self) -> None:
        """Let rows go that take too much memory before the source comes to a boundary."""
        if self._waiting_bytes and self._boundary is not None:
            self._commit()
        if self._open_bytes < self.pace.max_bytes:
            return
        for target in self.targets.values():
            while target.open:
                try:
                    target.spill(user_of(self.job))
                except RefusedRowsError as refused:
                    self._set_aside(refused.bad, self._open_dead)
        self._open_bytes = 0

    def _take_boundary(self, boundary: Boundary) -> None:
        self._boundary = boundary
        for target in self.targets.values():
            if target.open:
                target.close()
        self._dead_rows += self._open_dead
        self._open_dead.clear()
        self._waiting_bytes += self._open_bytes
        self._open_bytes = 0
        if self._is_due(boundary):
            self._commit()
        self._tell(boundary.phase.value)

    def _is_due(self, boundary: Boundary) -> bool:
        now = self.clock()
        if self._epoch_began is None:
            moved = boundary.position != self._position or self._known_changed
            return moved and now - self._noted >= _POSITION_SECONDS
        rows = sum(target.waiting_rows for target in self.targets.values())
        if self._waiting_bytes >= self.pace.max_bytes:
            return True
        if self.pace.max_rows is not None and rows >= self.pace.max_rows:
            return True
        is_old = now - self._epoch_began >= self.pace.interval_seconds
        return is_old and boundary.phase is not Phase.SNAPSHOT

    def _finish(self) -> None:
        """Commit what was read up to the last boundary."""
        boundary = self._boundary
        if boundary is not None and (
            self._has_rows() or boundary.position != self._position or self._known_changed
        ):
            self._commit()
        for target in self.targets.values():
            target.abort()
        self._waiting_bytes = self._open_bytes = 0
        self._dead -= sum(rows.num_rows for rows in self._open_dead)
        self._open_dead.clear()
        if self.targets and all(target.stopped for target in self.targets.values()):
            reasons = [
                f"{name}: {target.stopped.reason}"
                for name, target in self.targets.items()
                if target.stopped
            ]
            raise IngestSchemaError(
                self.job, f"no table can go on. {'; '.join(reasons[:_SHOWN_ERRORS])}"
            )

    def _has_rows(self) -> bool:
        return bool(self._dead_rows) or any(target.has_rows for target in self.targets.values())

    # Tables and their schemas

    def _target_for(self, source: str, schema: SourceSchema) -> Target | None:
        """Return the table that rows go to, which is created if the source has just got it."""
        if source in self._target_of:
            return self._target_of[source]
        if not self.rules.wants(source):
            self._target_of[source] = None
            return None
        name = f"{self.rules.into}.{self.rules.target_of(source)}"
        there = self.targets.get(name)
        if there is not None and self.rules.merge_shards:
            there.sources.append(source)
            self._target_of[source] = there
            if there.stopped is None:
                self._follow(there, source, None, schema, reason=f"{source} is new in the source")
            return there
        existing = {}
        if self.catalog.has_table(name):
            existing[name] = self.catalog.table(name).schema
        plan = ingest_plan({source: schema}, existing, self.rules)
        if there is not None or plan.refused:
            reason = plan.refused[0].reason if plan.refused else f"{name} has another source"
            self._event("refused", source, reason)
            if self.rules.on_error == "stop":
                raise IngestSchemaError(self.job, f"{source}: {reason}")
            self.warnings.append(f"{source} is not read: {reason}")
            self._target_of[source] = None
            return None
        target = self._open(plan.tables[0])
        self._schemas[source] = schema
        self._known_changed = True
        return target

    def _is_known(self, target: Target, source: str, schema: SourceSchema) -> bool:
        known = self._schemas.get(source)
        if known is schema or schema in target.accepted:
            return True
        if known == schema:
            target.accepted.add(schema)
            return True
        return False

    def _take_schema_change(self, change: SourceSchemaChange) -> None:
        if not self.rules.wants(change.table):
            return
        before, after = _columns(change.before), _columns(change.after)
        self._event(
            "schema", change.table, change.reason, change.position, before=before, after=after
        )
        if change.after is None:
            self.warnings.append(f"the source dropped {change.table}: its rows are kept here")
            return
        is_new = change.table not in self._target_of
        target = self._target_for(change.table, change.after)
        if target is None or is_new or target.stopped is not None:
            return
        known = self._schemas.get(change.table) or change.before
        self._follow(
            target,
            change.table,
            known,
            change.after,
            renamed=change.renamed,
            reason=change.reason,
            position=change.position,
        )

    def _follow(
        self,
        target: Target,
        source: str,
        before: SourceSchema | None,
        after: SourceSchema,
        *,
        renamed: Mapping[str, str] | None = None,
        reason: str,
        position: JsonValue = None,
    ) -> None:
        """Let a table follow the schema of its source; stop the table if it cannot."""
        target.table.refresh()
        step = evolution(
            target.table.schema,
            before,
            after,
            mode=self.rules.evolve,
            renamed=renamed,
            is_shared=len(target.sources) > 1,
            has_own_key=target.has_own_key,
        )
        at = self._here() if position is None else position
        if step.refusal is not None:
            self._stop(
                target,
                f"{source} at {position_text(at)}: {step.refusal} ({reason}). Rows before are "
                f"committed. Alter or rename {target.name} and begin a new job, or leave it out",
                at,
            )
            return
        if step.changes:
            if self._has_rows() and self._boundary is not None:
                self._commit()
            if target.writer is not None:
                raise IngestError(
                    self.job,
                    f"{source} changes its schema within a transaction larger than max_bytes: give "
                    "more memory",
                )
            old = _columns_of(target.table.schema)
            try:
                table = self.catalog.alter_table(target.name, *step.changes)
            except (SchemaError, UnsupportedError) as error:
                self._stop(target, f"{source} at {position_text(at)}: {error} ({reason})", at)
                return
            target.altered(table, step.changes)
            self._event(
                "altered", target.name, reason, at, before=old, after=_columns_of(table.schema)
            )
        for note in step.notes:
            self._event("note", target.name, note, at)
        known = after
        if before is not None and after.is_partial:
            both = merged(before, after)
            known = after if isinstance(both, str) else both
        if self._schemas.get(source) != known:
            self._schemas[source] = known
            self._known_changed = True
        target.accepted.add(after)

    def _stop(self, target: Target, reason: str, position: JsonValue = None) -> None:
        """Let a table not go on, and the others do."""
        at = self._here() if position is None else position
        target.stopped = Stopped(reason=reason, position=at, at_millis=now_millis())
        self._known_changed = True
        self._event("stopped", target.name, reason, at)
        logger.warning("ingest job %s: %s stopped: %s", self.job, target.name, reason)
        if self.rules.on_error == "stop":
            raise IngestSchemaError(self.job, reason)

    def _take_truncated(self, event: Truncated) -> None:
        target = self._target_of.get(event.table)
        if target is None or target.stopped is not None:
            return
        if self.rules.on_truncate == "ignore":
            text = f"the source emptied {event.table} ({event.reason}): its rows are kept here"
            self._event("truncated", target.name, text, event.position)
            return
        if len(target.sources) > 1:
            text = f"{event.table} was emptied, but {target.name} has rows of other tables too"
            self._event("truncated", target.name, f"{text}: they are kept", event.position)
            self.warnings.append(text)
            return
        if self._has_rows() and self._boundary is not None:
            self._commit()
        target.abort()
        if target.table.snapshot is not None:
            target.table.truncate()
        self._event("truncated", target.name, event.reason, event.position)

    def _take_unreadable(self, broken: Unreadable) -> None:
        if broken.table is not None and not self.rules.wants(broken.table):
            return
        first = f"{broken.table or self.source.name}: {broken.errors[0].as_py()}"
        if broken.positions is not None:
            first += f" (at {position_text(broken.positions[0].as_py())})"
        self._count_dead(broken.count, first)
        self._open_dead.append(dead_letters.of_unreadable(broken, now_millis()))

    def _set_aside(self, bad: list[BadRow], dead: list[pa.RecordBatch]) -> None:
        self._count_dead(len(bad), bad[0].error)
        dead.append(dead_letters.of_bad_rows(bad, now_millis()))

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
        self._event("dead", None, f"{count} rows set aside: {first}")

    # Epochs

    def _commit(self) -> None:
        """End the epoch at the last boundary, and commit it."""
        boundary = self._boundary
        assert boundary is not None, "an epoch ends at a boundary"
        number = self._number + 1
        owner = self.lease.owner.id
        commits = [
            commit
            for target in self.targets.values()
            if target.has_rows and (commit := self._prepared(target, number)) is not None
        ]
        if self._dead_rows:
            commits.append(self._dead_commit(number))
        if self._known_changed:
            self._known = self.files.write_known(self._known_now(), number, owner)
        if self._new_events:
            self.files.write_events(self._new_events, number, owner)
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
            dead=self._dead,
        )
        self.lease.check()
        self.files.publish(epoch)
        self._known_changed = False
        self._new_events = []
        self._number, self._position, self._rows = number, boundary.position, epoch.rows
        self._land(epoch)
        self.source.acknowledge(boundary.position)
        self._waiting_bytes = 0
        self._epoch_began = self.clock() if self._open_bytes else None
        self._noted = self.clock()

    def _prepared(self, target: Target, number: int) -> TableCommit | None:
        """Write the rows of a table that wait; None: there is nothing to commit."""
        while True:
            rows = target.waiting_rows
            try:
                messages = target.prepare(user_of(self.job), number)
            except RefusedRowsError as refused:
                self._set_aside(refused.bad, self._dead_rows)
                continue
            except (DataError, SchemaError, UnsupportedError) as error:
                target.abort()
                self._stop(target, f"its rows cannot be written: {error}")
                target.skipped += rows
                return None
            if not messages:
                return None
            return TableCommit(
                table=target.name,
                messages=tuple(message.to_bytes() for message in messages),
                rows=rows,
            )

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

    def _known_now(self) -> Known:
        stopped = {**self._stopped}
        skipped = {**self._skipped}
        for name, target in self.targets.items():
            if target.stopped is not None:
                stopped[name], skipped[name] = target.stopped, target.skipped
        targets = dict(self._targets)
        targets |= {
            source: target.name for source, target in self._target_of.items() if target is not None
        }
        return Known(schemas=dict(self._schemas), stopped=stopped, skipped=skipped, targets=targets)

    def _land(self, epoch: Epoch) -> None:
        def opened(name: str) -> Table | None:
            target = self.targets.get(name)
            return None if target is None else target.table

        landed = land(self.catalog, self.job, epoch, opened=opened)
        for commit in epoch.commits:
            target = self.targets.get(commit.table)
            if target is not None and commit.table in landed.snapshots:
                snapshot = landed.snapshots[commit.table]
                target.rows += commit.rows
                target.snapshot_id = snapshot.id if snapshot else target.snapshot_id
        for warning in landed.warnings:
            self._event("warning", None, warning)
        for name, reason in landed.failed.items():
            text = f"epoch {epoch.number} could not be committed: {reason}"
            if name in self.targets:
                self._stop(self.targets[name], text)
            else:
                at = epoch.source_position
                self._stopped[name] = Stopped(reason=text, position=at, at_millis=now_millis())
                self._known_changed = True
                self._event("stopped", name, text, at)
        self.files.mark_done(epoch)
        self._committed_millis = now_millis()
        if epoch.seen_millis is not None:
            self._lag_millis = max(self._committed_millis - epoch.seen_millis, 0)

    # Telling

    def _here(self) -> JsonValue:
        return self._position if self._boundary is None else self._boundary.position

    def _event(
        self,
        kind: str,
        table: str | None,
        text: str,
        position: JsonValue = None,
        *,
        before: tuple[str, ...] | None = None,
        after: tuple[str, ...] | None = None,
    ) -> None:
        event = JobEvent(
            at_millis=now_millis(),
            kind=kind,
            table=table,
            text=text,
            position=self._here() if position is None else position,
            before=before,
            after=after,
        )
        self.events.append(event)
        self._new_events.append(event)

    def _tell(self, phase: str, *, error: str | None = None) -> None:
        self._phase = phase
        boundary = self._boundary
        seconds = max((now_millis() - self._began_millis) / 1000, 0.001)
        self.report(
            JobStatus(
                name=self.job,
                source=self.source.name,
                phase=phase,
                epoch=self._number,
                position=self._position,
                rows=self._rows,
                dead=self._dead,
                pending_rows=sum(target.waiting_rows for target in self.targets.values()),
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
                    for name, target in sorted(self.targets.items())
                ),
                warnings=tuple(self.warnings),
                error=error,
            )
        )


def plan_of(
    catalog: Catalog, source: Source, rules: IngestRules, known: Mapping[str, SourceSchema]
) -> IngestPlan:
    """Look at a source and at the tables that exist, and decide what a job would do."""
    found = source.tables()
    existing = {}
    if catalog.has_database(rules.into):
        there = set(catalog.tables(rules.into))
        for name in {*found, *known}:
            target = rules.target_of(name)
            if target in there and rules.wants(name):
                full = f"{rules.into}.{target}"
                existing[full] = catalog.table(full).schema
    return ingest_plan(found, existing, rules, known=known)


def _columns(schema: SourceSchema | None) -> tuple[str, ...] | None:
    return None if schema is None else tuple(map(str, schema.columns))


def _columns_of(schema: TableSchema) -> tuple[str, ...]:
    return tuple(f"{field.name} {format_type(field.type)}" for field in schema.fields)


def _closable(events: Iterator[Event]) -> Generator[Event]:
    """Give any iterator a method that closes it."""
    try:
        yield from events
    finally:
        close = getattr(events, "close", None)
        if close is not None:
            close()
