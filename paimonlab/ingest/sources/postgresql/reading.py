"""One reading of a server: tables are copied at a moment of its log, then the log is followed.

What was copied at a later moment than where the log is read from skips the transactions that its
copy has already. So a table that is not copied yet, as the job began or later, is copied at a
moment of its own, and nothing is lost or read twice.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from paimonlab.errors import SourceError
from paimonlab.ingest.changes import (
    Boundary,
    Event,
    JsonValue,
    Phase,
    RowChanges,
    SourceSchema,
    SourceSchemaChange,
    Waits,
    no_rows,
)
from paimonlab.ingest.sources.losses import TornError
from paimonlab.ingest.sources.postgresql import catalog, pgoutput, publishing
from paimonlab.ingest.sources.postgresql.catalog import (
    Published,
    ServerTable,
    Types,
)
from paimonlab.ingest.sources.postgresql.cells import Flags
from paimonlab.ingest.sources.postgresql.connections import (
    Connection,
    ServerError,
    lsn_of,
    lsn_text,
)
from paimonlab.ingest.sources.postgresql.copying import Copy, Moment, RewrittenError, made_slot
from paimonlab.ingest.sources.postgresql.positions import Place, mark_of
from paimonlab.ingest.sources.postgresql.relations import DROPPED, Relations, layout_of
from paimonlab.ingest.sources.postgresql.settings import Settings
from paimonlab.ingest.sources.silence import ConnectionEndedError, Silence

logger = logging.getLogger(__name__)

Result = TypeVar("Result")

_WAIT_SECONDS = 0.25
"""For messages, before a boundary says that there are none."""
_GATHER_SECONDS = 0.05
_MOST_GATHER_SECONDS = 0.5
_DISCOVERY_SECONDS = 30.0
_LOOK_SECONDS = 10.0
"""How often the end of the server's log is asked for."""
_IDLE_SECONDS = 30.0
"""Without a transaction, before the position moves to where the server's log is."""
_PATIENCE_SECONDS = 60.0
"""Without a server, before it is an error: it may start again meanwhile."""
_ACTIVE_SECONDS = 8.0
"""For a slot whose reader has just gone."""
_SILENT_SECONDS = 15.0
"""Longer than a server that is asked for an answer every ten seconds says nothing."""
_QUIET_SECONDS = 2.0
_PAGE_BYTES = 8192
_OPEN_BYTES = 8 << 20
"""Of a transaction, before its rows are yielded although it is not whole."""
_BOUNDARY_BYTES = 64 << 20
"""Of copied tables, before a boundary."""
_MOST_TRIES = 3
_IN_USE = ("55006",)
_GONE = ("42704",)
_STARTING = (None, "57P03", "57P02", "57P01", "08006", "08001", "53300")


@dataclass(kw_only=True, eq=False)
class Reading:
    """A reading, from a position on."""

    settings: Settings
    wanted: Callable[[str], bool]
    place: Place | None
    stream: Connection | None = None
    """While the log is followed."""
    acknowledged: int = 0
    schemas: Mapping[str, SourceSchema] = field(default_factory=dict)
    """What tables were at the position; empty: it is not known."""
    _relations: Relations = field(init=False)
    _pending: list[Any] = field(default_factory=list)
    """Messages of a transaction that is not whole yet."""
    _pending_bytes: int = 0
    _open: tuple[int, int] = (0, 0)
    """Of the transaction that is partly yielded: where and when it was committed."""
    _open_rows: int = 0
    """Messages of it that were taken."""
    _skip: int = 0
    """Messages with rows that were taken before the connection was lost."""
    _lost: int | None = None
    """Process of the server that read the log for us when the connection was lost."""
    _torn: str = ""
    """The table that is copied, if some of its rows were yielded."""
    _has_copied: bool = False
    """Whether something was copied since a connection was lost the time before."""
    _silence: Silence | None = None
    """Of the stream."""
    _heard: float = 0.0
    _seen_millis: int | None = None
    _server_end: int = 0
    _looked: float = 0.0
    _discovered: float = 0.0
    _moved: float = 0.0
    _refused: dict[int, str] = field(default_factory=dict)
    """By oid of tables that cannot be read: why, as it was yielded."""
    _names: dict[int, str] = field(default_factory=dict)
    """By oid: names that the server had for tables when it was looked at."""
    _named_at: int = 0
    """Where its log ended then."""

    def __post_init__(self) -> None:
        self._relations = Relations(
            settings=self.settings,
            wanted=self.wanted,
            types=Types(self.settings.rules),
            reminded=self.schemas,
        )

    def close(self) -> None:
        """Release what is open."""
        if self.stream is not None:
            self.stream.close()
            self.stream = None

    def events(self) -> Iterator[Event]:
        """Yield what comes after the position, without end."""
        yield from self._until_log()
        yield self._boundary(Phase.STREAM)
        self._discovered = time.monotonic()
        yield from self._follow()

    def _until_log(self) -> Iterator[Event]:
        """Copy tables, by other connections where one is lost.

        Raises
        ------
        SourceError
            If the server is gone for long, or was lost in the midst of a table.
        """
        since: float | None = None
        while True:
            self._has_copied = False
            try:
                yield from self._before_log()
            except (ServerError, ConnectionEndedError) as error:
                self._check_lost(error)
                now = time.monotonic()
                if since is None or self._has_copied:
                    since = now
                if now - since > _PATIENCE_SECONDS:
                    raise
                lost = error
            else:
                return
            logger.warning("%s", lost)
            if self.place is not None:
                yield self._boundary(Phase.SNAPSHOT)
            yield Waits(what=f"the server to come back: {lost}", is_lost=True)
            time.sleep(_WAIT_SECONDS)

    def _check_lost(self, error: ServerError | ConnectionEndedError) -> None:
        """Raise what another connection would not mend while tables are copied."""
        if isinstance(error, ServerError) and error.state not in _STARTING:
            raise error
        if self._torn:
            raise TornError(
                self.settings.name,
                f"the connection was lost while {self._torn} was copied ({error}); it is copied "
                "again",
            ) from error

    def _before_log(self) -> Iterator[Event]:
        """Copy the tables that were not copied yet."""
        settings = self.settings
        with closing(settings.connect()) as server:
            catalog.check_server(server)
            tables = yield from self._readable(server, self._chosen(server))
            self._names = {table.oid: table.full_name for table in tables}
            if self.place is not None and catalog.publication(server, settings.publication) is None:
                raise publishing.missing(server.name, settings.publication)
            unlike = self._unlike(server)
            published = yield from self._waited(
                publishing.publish(server, settings.publication, tables),
                server,
                "tables to be published",
            )
            self._look(server)
            self._named_at = self._server_end
            self._relations.learn(tables, published)
            if self.place is not None:
                self._check_place(server)
                yield from self._unpublished(unlike)
                self._unlike(server)  # as they are published since
        if self.place is None:
            yield from self._begin(tables)
        assert self.place is not None
        yield from self._copy_missing(tables)

    # Tables

    def _unlike(self, server: Connection) -> Mapping[int, str | None]:
        """Return how tables are published that are read and were published in another way."""
        if self.place is None:
            return {}
        tables = self.place.tables
        found: dict[int, str | None] = {oid: DROPPED for oid in tables}  # noqa: C420 - of that type
        found |= catalog.how_published(server, self.settings.publication, tables)
        before, self.place = self.place.published, self.place.with_published(found)
        return {
            oid: how
            for oid, how in found.items()
            if before.get(oid, self.place.published[oid]) != self.place.published[oid]
            or (how is None and oid not in before)
        }

    def _unpublished(self, unlike: Mapping[int, str | None]) -> Iterator[Event]:
        """Say of tables that not all of their changes were published."""
        assert self.place is not None
        for oid, how in unlike.items():
            name = self._relations.name_of(oid, self.place)
            if name is not None and self._relations.is_meant(name):
                yield self._relations.unpublished(name, how, lsn_text(self.place.lsn))

    def _chosen(self, server: Connection) -> list[ServerTable]:
        return publishing.chosen(
            server.name,
            catalog.tables(server, self._relations.types),
            self.settings.pattern,
            self.wanted,
        )

    def _readable(
        self, server: Connection, tables: Sequence[ServerTable]
    ) -> Generator[Event, None, list[ServerTable]]:
        """Return the tables that can be read; say once of each of the others why it cannot."""
        published, refusals = publishing.looked_at(server, self.settings.publication, tables)
        for table in tables:
            reason = refusals.get(table.oid)
            if reason is None:
                self._refused.pop(table.oid, None)
                continue
            if self._refused.get(table.oid) != reason:
                self._refused[table.oid] = reason
                schema = layout_of(table, self._relations.types, published).schema
                yield SourceSchemaChange(
                    table=table.full_name,
                    before=None,
                    after=replace(schema, refusal=reason),
                    position=None if self.place is None else lsn_text(self.place.lsn),
                    reason="as the server has the table",
                )
        return [table for table in tables if table.oid not in refusals]

    def _check_place(self, server: Connection) -> None:
        settings, place = self.settings, self.place
        assert place is not None
        ((system,),) = server.rows("SELECT system_identifier::text FROM pg_control_system()")
        if system != place.system:
            raise SourceError(
                server.name,
                f"this is server {system}, and the job read server {place.system}: begin a job of "
                "another name",
            )
        if self._server_end < place.lsn:
            raise SourceError(
                server.name,
                f"its log ends at {lsn_text(self._server_end)}, before {lsn_text(place.lsn)}, "
                "which was read: it was restored from a backup; begin a job of another name",
            )
        found = catalog.slot(server, settings.slot)
        publishing.check_slot_has(server, settings.slot, found, place.lsn, settings.login.dbname)

    # Copying

    def _begin(self, tables: Sequence[ServerTable]) -> Iterator[Event]:
        """Create the slot, or take the one that is there, and copy all tables."""
        settings = self.settings
        with closing(settings.connect()) as server:
            ((system,),) = server.rows("SELECT system_identifier::text FROM pg_control_system()")
            found = catalog.slot(server, settings.slot)
            if found is not None:
                publishing.check_slot(server, settings.slot, found, settings.login.dbname)
        oids = [table.oid for table in tables]
        with closing(settings.connect(replication=True)) as replication:
            name = settings.slot if found is None else self._temporary()
            moment = yield from self._waited(
                made_slot(replication, name, temporary=found is not None),
                replication,
                "a slot, which begins after transactions that are open",
            )
            place = Place(system=str(system), lsn=moment.lsn)
            self.place = place
            if settings.start == "latest":
                self.place = Place(
                    system=place.system,
                    lsn=place.lsn,
                    tables=tuple(sorted(oids)),
                    names={table.oid: mark_of(table.full_name) for table in tables},
                )
            else:
                yield from self._copy(moment, oids)

    def _temporary(self) -> str:
        return f"{self.settings.slot[:50]}_{uuid.uuid4().hex[:12]}"

    def _copy_missing(self, tables: Sequence[ServerTable]) -> Iterator[Event]:
        """Copy tables that were not copied yet, each as it is now."""
        missing = list(tables)
        for attempt in range(_MOST_TRIES + 1):
            assert self.place is not None
            missing = [table for table in tables if table.oid not in self.place.tables]
            if missing and attempt:
                # What was dropped meanwhile is not to be copied.
                with closing(self.settings.connect()) as server:
                    there = {table.oid for table in self._chosen(server)}
                missing = [table for table in missing if table.oid in there]
            if not missing:
                return
            if attempt == _MOST_TRIES:
                break
            with closing(self.settings.connect(replication=True)) as replication:
                moment = yield from self._waited(
                    made_slot(replication, self._temporary(), temporary=True),
                    replication,
                    "a slot, which begins after transactions that are open",
                )
                yield from self._copy(moment, [table.oid for table in missing])
        names = ", ".join(table.full_name for table in missing)
        raise SourceError(
            self.settings.name,
            f"{names} was emptied or altered each time before it could be copied: run the job "
            "again when that is over",
        )

    def _copy(self, moment: Moment, oids: Sequence[int]) -> Iterator[Event]:
        """Copy tables; those that were rewritten meanwhile are left to be copied later."""
        settings = self.settings
        size = 0
        assert self.place is not None
        with closing(settings.connect()) as server:
            copy = Copy(
                server=server,
                moment=moment,
                types=self._relations.types,
                database=settings.login.dbname,
                drops_specials=settings.drops_specials,
            )
            try:
                with closing(settings.connect()) as other:
                    tables = yield from self._waited(
                        copy.begin(oids, other), server, "tables that others alter"
                    )
            except RewrittenError:
                return
            published = catalog.publication(server, settings.publication)
            assert published is not None
            how = catalog.how_published(server, settings.publication, oids)
            for table in tables:
                layout = layout_of(table, self._relations.types, published)
                yield from self._taken_over(table, moment)
                self._relations.copied(table, layout)
                part = published.tables.get(table.oid, Published(None, None))
                silence = self._silence_of(server)
                for event in copy.rows(table, layout, part):
                    self._keep_alive()
                    if isinstance(event, RowChanges):
                        size += event.size_bytes
                        self._has_copied = True
                    if event is not None:
                        self._torn = table.full_name
                        silence.heard()
                        yield event
                        continue
                    if size:
                        yield no_rows(table.full_name, layout.schema)
                    else:
                        yield self._boundary(Phase.SNAPSHOT)
                    if waits := silence.waits(f"rows of {table.full_name}"):
                        yield waits
                copied = self.place.with_copied(table.oid, moment.lsn, table.full_name)
                self.place = copied.with_published({table.oid: how.get(table.oid)})
                self._names.pop(table.oid, None)
                self._torn, self._has_copied = "", True
                if size >= _BOUNDARY_BYTES:
                    size = 0
                    yield self._boundary(Phase.SNAPSHOT)
        if size or not oids:
            yield self._boundary(Phase.SNAPSHOT)

    def _taken_over(self, table: ServerTable, moment: Moment) -> Iterator[Event]:
        """Say that the table is gone that had the name of one that is copied."""
        assert self.place is not None
        if before := self.place.others_named(table.oid, table.full_name):
            self.place = self.place.without(before)
            yield self._relations.gone(table.full_name, lsn_text(moment.lsn))

    def _waited(
        self, ticks: Generator[None, None, Result], connection: Connection, what: str
    ) -> Generator[Event, None, Result]:
        """Wait for something that a connection does, and say so; return what it gives."""
        silence = self._silence_of(connection)
        while True:
            try:
                next(ticks)
            except StopIteration as end:
                result: Result = end.value
                return result
            self._keep_alive()
            yield self._boundary(Phase.SNAPSHOT)
            if waits := silence.waits(what):
                yield waits

    def _silence_of(self, connection: Connection, *, after_seconds: float = 0.0) -> Silence:
        process = connection.process

        def look() -> str | None:
            with closing(self.settings.connect()) as other:
                return catalog.doing(other, process)

        return Silence(self.settings.name, look, after_seconds=after_seconds)

    def _keep_alive(self) -> None:
        if self.stream is not None:
            self.stream.keep_alive()

    # Following

    def _follow(self) -> Iterator[Event]:
        try:
            yield from self._started()
        except ServerError as error:
            yield from self._started_again(error)
        self._moved = time.monotonic()
        took = 0.0
        while True:
            try:
                assert self.stream is not None
                # What takes long to decode, such as few rows of many tables, is gathered longer.
                gathering = min(max(took, _GATHER_SECONDS), _MOST_GATHER_SECONDS)
                messages = self.stream.received(_WAIT_SECONDS, gathering)
                waits = self._heard_or_waits()
            except ServerError as error:
                yield from self._started_again(error)
                continue
            began = time.monotonic()
            if messages:
                yield from self._taken(messages)
                took = time.monotonic() - began
            elif not self._open_rows:
                self._move_while_idle()
                phase = Phase.STREAM if waits is not None else self._phase(is_idle=True)
                yield from self._renamed_at_end(phase)
                yield self._boundary(phase)
            if waits is not None:  # asking the server for more would only take longer
                yield waits
            elif not self._open_rows:
                yield from self._look_around()

    def _heard_or_waits(self) -> Waits | None:
        """Say that the stream is silent, if it is.

        Raises
        ------
        ServerError
            If the server does not send anything to this connection any more.
        """
        assert self.stream is not None
        assert self._silence is not None
        if self.stream.heard > self._heard:
            self._heard = self.stream.heard
            self._silence.heard()
        try:
            return self._silence.waits("what the server's log has next")
        except SourceError as error:
            raise ServerError(self.settings.name, str(error), None) from error

    def _started(self) -> Iterator[Event]:
        """Let the server send its log, from the position on.

        Raises
        ------
        SourceError
            If it does not, and what to do.
        """
        settings, place = self.settings, self.place
        assert place is not None
        end = time.monotonic() + _ACTIVE_SECONDS
        while True:
            stream = settings.connect(replication=True)
            try:
                stream.start_replication(
                    settings.slot, place.lsn, settings.publication, self.acknowledged
                )
            except ServerError as error:
                stream.close()
                if error.state in _IN_USE:
                    if time.monotonic() < end:
                        self._end_lost()
                        yield self._boundary(Phase.STREAM)
                        time.sleep(0.2)
                        continue
                    with closing(settings.connect()) as server:
                        raise publishing.active(server, settings.slot) from error
                with closing(settings.connect()) as server:
                    found = catalog.slot(server, settings.slot)
                    publishing.check_slot_has(
                        server, settings.slot, found, place.lsn, settings.login.dbname
                    )
                raise
            break
        self.stream, self._lost = stream, None
        self._silence = self._silence_of(stream, after_seconds=_SILENT_SECONDS)

    def _end_lost(self) -> None:
        """End the server's process of a connection that was lost, which it may not know yet."""
        if self._lost is None:
            return
        with suppress(ServerError), closing(self.settings.connect()) as server:
            found = catalog.slot(server, self.settings.slot)
            if found is not None and found.active_pid == str(self._lost):
                server.rows("SELECT pg_terminate_backend($1::int)", str(self._lost))

    def _started_again(self, error: ServerError) -> Iterator[Event]:
        """Connect again after the connection was lost; go on behind what was taken."""
        self._check_may_come_back(error)
        logger.warning("%s", error)
        if self.stream is not None:
            self._lost = self.stream.process
        self.close()
        self._pending, self._pending_bytes = [], 0
        self._relations.forget()
        self._skip, self._open, taken = self._open_rows, (0, 0), self._open_rows
        self._open_rows = 0
        end = time.monotonic() + _PATIENCE_SECONDS
        while True:
            if not taken:
                yield self._boundary(Phase.STREAM)
            try:
                for event in self._started():
                    if not taken:
                        yield event
                self._open_rows = taken
            except ServerError as again:
                if again.state not in _STARTING or time.monotonic() > end:
                    raise
                yield Waits(what=f"the server to come back: {again}", is_lost=True)
                time.sleep(_WAIT_SECONDS)
            else:
                return

    def _check_may_come_back(self, error: ServerError) -> None:
        """Raise what another connection would not mend while the log is followed."""
        if error.state in _GONE:
            raise publishing.missing(self.settings.name, self.settings.publication) from error
        if error.state not in _STARTING:
            raise error

    def _phase(self, *, is_idle: bool = False) -> Phase:
        assert self.place is not None
        came_to = self.place.lsn
        if is_idle and self.stream is not None:
            came_to = max(came_to, self.stream.wal_end)
            quiet = time.monotonic() - self._moved >= _QUIET_SECONDS
            if quiet and self._server_end - came_to <= _PAGE_BYTES:
                return Phase.CAUGHT_UP  # the log may end within a record that is not whole
        return Phase.CAUGHT_UP if came_to >= self._server_end else Phase.STREAM

    def _boundary(self, phase: Phase) -> Boundary:
        position: JsonValue = None
        behind = None
        if self.place is not None:
            position = self.place.to_json()
            came_to = max(self.place.lsn, self.stream.wal_end if self.stream else 0)
            behind = max(self._server_end - came_to, 0)
        return Boundary(
            position=position,
            phase=phase,
            seen_millis=self._seen_millis,
            behind=behind,
            behind_unit="bytes",
        )

    def _move_while_idle(self) -> None:
        """Move on with the server's log while nothing of it is for us: it could not be removed."""
        assert self.place is not None
        assert self.stream is not None
        now = time.monotonic()
        if now - self._moved >= _IDLE_SECONDS and not self._pending:
            self._moved = now
            if self.stream.wal_end > self.place.lsn:
                self.place = self.place.after(self.stream.wal_end)

    def _look(self, server: Connection) -> None:
        ((end,),) = server.rows(
            """
            SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()
                        ELSE pg_current_wal_flush_lsn() END"""
        )
        self._server_end = lsn_of(str(end))
        self._looked = time.monotonic()

    def _look_around(self) -> Iterator[Event]:
        """Ask for the end of the log, and for new tables, now and then."""
        now = time.monotonic()
        is_new = now - self._discovered >= _DISCOVERY_SECONDS
        if now - self._looked < _LOOK_SECONDS and not is_new:
            return
        self._looked = now
        tables: list[ServerTable] = []
        unlike: Mapping[int, str | None] = {}
        # A server that is gone is found out by the stream.
        with suppress(ServerError), closing(self.settings.connect()) as server:
            self._look(server)
            unlike = self._unlike(server)
            if is_new:
                self._discovered = now
                tables = yield from self._new_tables(server)
        yield from self._unpublished(unlike)
        if not tables:
            return
        try:
            yield from self._copy_missing(tables)
        except (ServerError, ConnectionEndedError) as error:
            self._check_lost(error)
            logger.warning("%s", error)  # they are new still when it is looked for some again

    def _new_tables(self, server: Connection) -> Generator[Event, None, list[ServerTable]]:
        """Return tables that were created since, and publish them.

        One that cannot be published does not end the reading; the next one begins with an error.
        """
        place = self.place
        assert place is not None
        chosen = self._chosen(server)
        self._names = {table.oid: table.full_name for table in chosen}
        self._named_at = self._server_end
        new = [table for table in chosen if table.oid not in place.tables]
        found = []
        for table in (yield from self._readable(server, new)) if new else ():
            try:
                published = yield from self._waited(
                    publishing.publish(server, self.settings.publication, [table]),
                    server,
                    f"{table.full_name} to be published",
                )
            except ServerError:
                raise
            except SourceError as error:
                logger.warning("%s", error)
                continue
            self._relations.learn([table], published)
            found.append(table)
        return found

    # Messages

    def _taken(self, messages: list[Any]) -> Iterator[Event]:
        """Yield what messages say, up to the last whole transaction."""
        pending = self._pending
        first_new = len(pending)
        pending += messages
        self._pending_bytes += sum(map(len, messages))
        last = next(
            (
                place
                for place in range(len(pending) - 1, first_new - 1, -1)
                if pending[place][pgoutput.HEAD] == pgoutput.COMMIT
            ),
            None,
        )
        if last is None:
            if self._pending_bytes >= _OPEN_BYTES:
                self._pending, self._pending_bytes = [], 0
                yield from self._answered(pending)
            return
        self._pending = pending[last + 1 :]
        self._pending_bytes = sum(map(len, self._pending))
        yield from self._answered(pending[: last + 1])

    def _answered(self, given: list[Any]) -> Iterator[Event]:
        """Yield what messages say; what is asked of the server meanwhile may be lost.

        Raises
        ------
        TornError
            If it is.
        """
        try:
            yield from self._decoded(given)
        except ServerError as error:
            if error.state not in _STARTING:
                raise
            raise TornError(
                self.settings.name,
                f"the connection was lost while columns were asked for ({error}); what changed "
                "is read again",
            ) from error

    def _decoded(self, given: list[Any]) -> Iterator[Event]:
        """Yield what messages say; boundaries at their end and before relations change.

        Parameters
        ----------
        given
            Whole transactions, or a part of one.
        """
        assert self.place is not None
        messages = pgoutput.messages_of(given, *self._open)
        kinds = messages.kinds
        is_row, is_taken = self._taken_now(messages)
        relations = messages.relations
        commits = np.flatnonzero(kinds == pgoutput.COMMIT)
        stops = np.flatnonzero((kinds == pgoutput.RELATION) | (kinds == pgoutput.TRUNCATE))
        before = np.searchsorted(commits, stops)
        cuts = {*stops.tolist(), *commits[before[before > 0] - 1].tolist(), *commits[-1:].tolist()}
        start = 0
        for stop in sorted({*cuts, len(kinds)}):
            rows = np.flatnonzero(is_row[start:stop]) + start
            for oid in np.unique(relations[rows]).tolist() if len(rows) else ():
                places = rows[relations[rows] == oid]
                yield from self._relations.rows(messages, places, int(oid), self.place)
            start = stop + 1
            if stop == len(kinds):
                self._open_rows += int(is_taken[commits[-1] + 1 if len(commits) else 0 :].sum())
                break
            match kinds[stop]:
                case pgoutput.COMMIT:
                    self._after_commit(messages, stop)
                    yield from self._renamed_at_end(self._phase())
                    yield self._boundary(self._phase())
                case pgoutput.RELATION:
                    relation = pgoutput.relation_of(messages.message(stop))
                    yield from self._described(relation, int(messages.lsns[stop]))
                case pgoutput.TRUNCATE if is_taken[stop]:
                    found = pgoutput.truncation_of(messages.message(stop))
                    lsn = int(messages.lsns[stop])
                    yield from self._relations.truncated(found, lsn, self.place)
        if not len(commits):
            self._open = (int(messages.lsns[-1]), int(messages.millis[-1]))

    def _described(self, relation: pgoutput.Relation, lsn: int) -> Iterator[Event]:
        """Take how a table is written from here on; one with another name lacks rows there."""
        place = self.place
        assert place is not None
        self._relations.describe(relation)
        oid, name = relation.oid, relation.full_name
        if oid not in place.tables or lsn < place.copied_at.get(oid, 0):
            return
        known = place.names.get(oid)
        if known == mark_of(name):
            return
        self.place = place.with_name(oid, name)
        if lsn >= self._named_at:
            self._names.pop(oid, None)  # it has this name since then
        if known is not None and self._relations.is_meant(name):
            yield self._relations.renamed(name, lsn_text(lsn))

    def _renamed_at_end(self, phase: Phase) -> Iterator[Event]:
        """Say of tables that were renamed and did not change since: no message says it."""
        if phase is not Phase.CAUGHT_UP or not self._names:
            return
        assert self.place is not None
        for oid, name in self._names.items():
            known = self.place.names.get(oid)
            if oid not in self.place.tables or known == mark_of(name):
                continue
            self.place = self.place.with_name(oid, name)
            if known is not None:
                yield self._relations.renamed(name, lsn_text(self.place.lsn))
        self._names = {}

    def _taken_now(self, messages: pgoutput.Messages) -> tuple[Flags, Flags]:
        """Return which messages are rows to be yielded, and which are rows or truncations.

        Of a transaction that was partly read before the connection was lost that part is left out.
        """
        is_row = messages.is_row
        is_taken = is_row | (messages.kinds == pgoutput.TRUNCATE)
        if self._skip:
            skipped = np.flatnonzero(is_taken)[: self._skip]
            is_taken[skipped] = is_row[skipped] = False
            self._skip -= len(skipped)
        return is_row, is_taken

    def _after_commit(self, messages: pgoutput.Messages, place: int) -> None:
        """Note that a transaction is whole."""
        assert self.place is not None
        self.place = self.place.after(messages.end_of(place))
        self._moved = time.monotonic()
        self._seen_millis = int(messages.millis[place])
        self._open, self._open_rows, self._skip = (0, 0), 0, 0
