"""A server of MySQL or MariaDB, and tables of it as a source for jobs.

First all rows, as they were at one moment, then what the binary log says changed since that moment.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from paimonlab.errors import SourceError
from paimonlab.ingest.changes import (
    Boundary,
    Event,
    JsonValue,
    Phase,
    RowChanges,
    SourceSchema,
    SourceSchemaChange,
    Unreadable,
    Waits,
)
from paimonlab.ingest.sources import losses
from paimonlab.ingest.sources.losses import Patience, TornError
from paimonlab.ingest.sources.mysql import snapshot
from paimonlab.ingest.sources.mysql.columns import (
    CASCADES,
    ENGINES,
    MAPPINGS,
    SIZES,
    TABLES,
    TIMESTAMP_AS_LTZ,
    TableInfo,
    TableName,
    schema_of,
    statements,
    table_infos,
    table_names,
)
from paimonlab.ingest.sources.mysql.connection import Connection, Login, ServerError
from paimonlab.ingest.sources.mysql.log_tables import Charsets
from paimonlab.ingest.sources.mysql.losses import is_loss
from paimonlab.ingest.sources.mysql.positions import Place, Position, from_json
from paimonlab.ingest.sources.mysql.snapshot import Moment, TableReading
from paimonlab.ingest.sources.mysql.stream import Stream
from paimonlab.ingest.sources.mysql.table_changes import PASSED_OVER, TableChanges
from paimonlab.ingest.sources.mysql.zones import zone_of
from paimonlab.ingest.type_words import checked_words, of_tables
from paimonlab.spec.types.data_types import DataType
from paimonlab.spec.types.text import parse_type

_OP_TS: Mapping[str, DataType] = {"op_ts": parse_type("TIMESTAMP_LTZ(3)")}
_ALTERED, _LOCKED = 1412, 1205
_STARTS = ("initial", "latest", "snapshot")


@dataclass(frozen=True, kw_only=True)
class MySql:
    """A server; `tables` and `database` make sources of it. Nothing is asked of it before."""

    login: Login
    time_zone: str | None = None

    def tables(
        self,
        *patterns: str,
        excluding: str | None = None,
        start: str | Mapping[str, JsonValue] = "initial",
        type_mapping: Sequence[str] = (),
        cascades: str = "refuse",
    ) -> MySqlSource:
        r"""Make a source of tables.

        Parameters
        ----------
        patterns
            Regular expressions for the whole of ``database.table``: ``shop\.orders``,
            ``shop\d+\.orders``. Tables that appear later are read too.
        excluding
            The same, for tables that are not read; it wins.
        start
            ``initial``: all rows, then changes; ``latest``: what changes from now on; ``snapshot``:
            the rows there are, and the end; or a place of the log,
            ``{"file": "binlog.000007", "pos": 4}``. A job that runs again goes on where it was.
        type_mapping
            As Paimon's actions have it: ``tinyint1-not-bool``, ``to-string``, ``char-to-string``,
            ``longtext-to-bytes``, ``bigint-unsigned-to-bigint``, ``to-nullable``,
            ``decimal-no-change``, ``allow-non-string-to-string``; and ``timestamp-as-ltz``, by
            which TIMESTAMP stays an instant.
        cascades
            Of tables with a foreign key by which the server changes rows, which its log does not
            have (``ON DELETE CASCADE``): ``refuse``; ``ignore``: those changes go unseen.

        Raises
        ------
        UnsupportedError
            For settings that there are not.
        ValueError
            If a pattern is no regular expression.
        """
        if not patterns:
            raise ValueError(r"give the tables: tables(r'shop\.orders')")
        if isinstance(start, str) and start not in _STARTS:
            raise ValueError(f"start = {start!r}: it is {', '.join(_STARTS)} or a place of the log")
        if cascades not in ("refuse", "ignore"):
            raise ValueError(f"cascades = {cascades!r}: it is refuse or ignore")
        return MySqlSource(
            server=self,
            patterns=tuple(map(_pattern, patterns)),
            excluding=None if excluding is None else _pattern(excluding),
            start=start if isinstance(start, str) else dict(start),
            mapping=checked_words(type_mapping, MAPPINGS, "MySQL"),
            cascades=cascades,
        )

    def database(
        self,
        name: str,
        *,
        including: str = ".*",
        excluding: str | None = None,
        start: str | Mapping[str, JsonValue] = "initial",
        type_mapping: Sequence[str] = (),
        cascades: str = "refuse",
    ) -> MySqlSource:
        """Make a source of the tables of a database.

        Parameters
        ----------
        name
            Of the database.
        including, excluding
            Regular expressions for the whole name of a table; excluding wins.
        start, type_mapping, cascades
            As in `tables`.
        """
        prefix = re.escape(f"{name}.")
        return self.tables(
            f"{prefix}(?:{including})",
            excluding=None if excluding is None else f"{prefix}(?:{excluding})",
            start=start,
            type_mapping=type_mapping,
            cascades=cascades,
        )


def mysql(
    host: str = "127.0.0.1",
    *,
    user: str,
    port: int = 3306,
    password_env: str | None = None,
    password_file: str | os.PathLike[str] | None = None,
    tls: bool | str = False,
    certificate: str | None = None,
    time_zone: str | None = None,
) -> MySql:
    r"""Name a server of MySQL or MariaDB.

    Parameters
    ----------
    host, port, user
        Where it is, and who reads: the user needs SELECT, REPLICATION SLAVE, REPLICATION CLIENT
        (MariaDB: BINLOG MONITOR), and in MySQL RELOAD.
    password_env, password_file
        The environment variable, or the file, that has the password; neither: there is none.
    tls
        True: encrypted, and the server's certificate checked; a text: against the authorities in
        that file.
    certificate
        File in PEM with the client's certificate and its key, for servers that ask for one.
    time_zone
        In whose local time values of TIMESTAMP are stored, ``Asia/Shanghai`` or ``+08:00``; None:
        that of the server, unless it has none of its own (SYSTEM).

    Examples
    --------
    >>> mysql(user="cdc", password_env="CDC_PASSWORD").tables(r"shop\.orders")
    <paimonlab mysql 127.0.0.1:3306 shop\.orders>
    """
    if password_env is not None and password_file is not None:
        raise ValueError("give password_env or password_file, not both")
    if certificate is not None and not tls:
        raise ValueError("certificate= is for tls=True, or tls= a file with authorities")
    if time_zone is not None:
        zone_of(time_zone)
    login = Login(
        host=host,
        port=port,
        user=user,
        password_env=password_env,
        password_file=password_file,
        tls=tls,
        certificate=certificate,
    )
    return MySql(login=login, time_zone=time_zone)


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise ValueError(f"{text!r} is not a regular expression: {error}") from None


@dataclass(kw_only=True)
class MySqlSource:
    """Tables of a server, to be read by a job; see `MySql.tables`."""

    server: MySql
    patterns: tuple[re.Pattern[str], ...]
    excluding: re.Pattern[str] | None
    start: str | dict[str, JsonValue]
    mapping: frozenset[str]
    cascades: str = "refuse"
    _schemas: Mapping[str, SourceSchema] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return f"<paimonlab {self.name}>"

    @property
    def name(self) -> str:
        """The server and the tables."""
        shown = "|".join(pattern.pattern for pattern in self.patterns)
        return f"{self.server.login.name} {shown}"

    @property
    def table_mapping(self) -> frozenset[str]:
        """What was told of tables by ``type_mapping``."""
        return of_tables(self.mapping)

    @property
    def metadata_types(self) -> Mapping[str, DataType]:
        """What is known of rows beside their values."""
        return _OP_TS

    def tables(self) -> Mapping[str, SourceSchema]:
        """Return the tables that match, as they are now.

        Raises
        ------
        SourceError
            If the server cannot be reached, refuses, or its log lacks what is needed.
        """
        connection = self.connect()
        try:
            self.check(connection)
            around = _Around(self, self.zone(connection), lambda _: True)
            infos = around.found(connection)
            for info in infos.values():
                self.check_zone(info, around.zone)
            return {name: schema_of(info, self.mapping) for name, info in infos.items()}
        finally:
            connection.close()

    def read(self, position: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        """Yield rows and changes after a position; see `paimonlab.ingest.changes.Source.read`."""
        reading = _Reading(self, wanted)
        yield from reading.events(position)

    def remind(self, schemas: Mapping[str, SourceSchema]) -> None:
        """Take the columns that tables have where reading goes on; see `RemindedSource`."""
        self._schemas = schemas

    def began(self) -> dict[str, tuple[str, ...]]:
        """Return the names of those columns."""
        return {table: schema.names for table, schema in self._schemas.items()}

    def estimated_rows(self, wanted: Callable[[str], bool]) -> int | None:
        """Return about how many rows the wanted tables have, as the server guesses.

        Those that are refused do not count.
        """
        if self.start not in ("initial", "snapshot"):
            return None
        read = {name for name, schema in self.tables().items() if schema.refusal is None}
        connection = self.connect()
        try:
            return sum(
                int(rows or 0)
                for database, table, rows in connection.rows(SIZES)
                if (name := f"{database}.{table}") in read and wanted(name)
            )
        finally:
            connection.close()

    def before_rows(self, position: JsonValue, tables: Collection[str]) -> JsonValue:
        """Return a position from which rows of tables are read anew; see `RereadableSource`.

        The log is read from where it was; changes that the rows have already are passed over.
        """
        at = from_json(position, self.name)
        connection = self.connect()
        try:
            self.check(connection)
            if at.server != connection.server:
                raise SourceError(
                    self.name,
                    "this is another server than the one whose log was read: let the job follow "
                    "it before rows are read anew",
                )
            found = _Around(self, self.zone(connection), lambda _: True).found(connection)
        finally:
            connection.close()
        return at.before_rows(tables, found).to_json()

    def include(self, pattern: str) -> None:
        """Offer tables that match a regular expression, too."""
        compiled = _pattern(pattern)
        if compiled not in self.patterns:
            self.patterns = (*self.patterns, compiled)

    def acknowledge(self, position: JsonValue) -> None:
        """Do nothing: servers keep their logs for a time, whoever reads them."""

    def close(self) -> None:
        """Do nothing: what is open is open while `read` is."""

    def connect(self) -> Connection:
        """Make a connection."""
        return Connection(self.server.login)

    def wants(self, table: str) -> bool:
        """Whether a table matches."""
        if PASSED_OVER.fullmatch(table.partition(".")[2]):
            return False
        if self.excluding is not None and self.excluding.fullmatch(table):
            return False
        return any(pattern.fullmatch(table) for pattern in self.patterns)

    def check(self, connection: Connection) -> None:
        """Make sure that the server's log has what is needed, if the log is read."""
        if self.start != "snapshot":
            connection.check_log()

    def zone(self, connection: Connection) -> str:
        """Return the zone of TIMESTAMP; empty: unknown."""
        if self.server.time_zone is not None:
            return zone_of(self.server.time_zone)
        told = connection.variables("time_zone")["time_zone"]
        try:
            return "" if told == "SYSTEM" else zone_of(told)
        except ValueError:
            return ""

    def check_zone(self, info: TableInfo, zone: str) -> None:
        """Make sure that it is known in whose time TIMESTAMP is stored."""
        if zone or TIMESTAMP_AS_LTZ in self.mapping or info.refusal is not None:
            return
        for column in info.columns:
            if column.type.startswith("timestamp"):
                raise SourceError(
                    self.name,
                    f"{info.name}.{column.name} is TIMESTAMP, an instant, and the server has no "
                    "time zone of its own (SYSTEM): say in whose local time it is stored, "
                    "time_zone='Asia/Shanghai', or keep the instant, "
                    "type_mapping=['timestamp-as-ltz']",
                )


@dataclass
class _Around:
    """What a reading asks of its source."""

    source: MySqlSource
    zone: str
    wanted: Callable[[str], bool]
    mapping: frozenset[str] = field(init=False)
    name: str = field(init=False)

    def __post_init__(self) -> None:
        self.mapping = self.source.mapping
        self.name = self.source.name

    def connect(self) -> Connection:
        """Make another connection."""
        return self.source.connect()

    def wants(self, table: str) -> bool:
        """Whether a table is read."""
        return self.source.wants(table) and self.wanted(table)

    def found(self, connection: Connection) -> dict[str, TableInfo]:
        """Look at all tables that are read, as they are now, and whether they can be read."""
        listed = [table for table in table_names(connection.rows(TABLES)) if self.wants(table.full)]
        refused = self._cascades(connection)
        refused |= {
            table.full: reason for table in listed if (reason := _kind_problem(table)) is not None
        }
        infos = self._infos(connection, listed)
        return {name: replace(info, refusal=refused.get(name)) for name, info in infos.items()}

    def _cascades(self, connection: Connection) -> dict[str, str]:
        """Say which tables have rows that the server changes without its log."""
        if self.source.cascades == "ignore":
            return {}
        return {
            f"{database}.{table}": (
                f"{database}.{table} has the foreign key {constraint}, by which the server changes "
                "its rows, and the log does not have such changes (ON DELETE CASCADE, SET NULL …): "
                "leave the table out with excluding=, or let them go unseen, cascades='ignore'"
            )
            for database, table, constraint in connection.rows(CASCADES)
        }

    def infos(self, connection: Connection, tables: list[str]) -> dict[str, TableInfo]:
        """Look at some tables."""
        listed = table_names(connection.rows(TABLES))
        return self._infos(connection, [table for table in listed if table.full in tables])

    def _infos(self, connection: Connection, tables: list[TableName]) -> dict[str, TableInfo]:
        if not tables:
            return {}
        pairs = ", ".join(
            f"({connection.text(table.database)}, {connection.text(table.table)})"
            for table in tables
        )
        columns, keys = statements(f"(table_schema, table_name) IN ({pairs})")
        found = table_infos(
            connection.rows(columns),
            connection.rows(keys),
            {table.full: table.comment for table in tables},
            is_mariadb=connection.is_mariadb,
        )
        return {table.full: found[table.full] for table in tables if table.full in found}


def _kind_problem(table: TableName) -> str | None:
    """Say why rows of a table cannot be read as they were at one moment."""
    if table.kind != "BASE TABLE":
        return f"{table.full} is a {table.kind}, which is not read: leave it out with excluding="
    if table.engine not in ENGINES:
        return (
            f"{table.full} is of engine {table.engine}, its rows cannot be read as they were at "
            "one moment: ALTER TABLE … ENGINE = InnoDB, or leave it out with excluding="
        )
    return None


class _Reading:
    """One reading: rows, then the log."""

    def __init__(self, source: MySqlSource, wanted: Callable[[str], bool]) -> None:
        self._source = source
        self._wanted = wanted
        self._tables = TableChanges(began=source.began())
        self._around: _Around
        self._is_mariadb = True
        self._charsets = Charsets({})
        self._reached: Boundary | None = None
        """The place from which rows are read on if the connection is lost."""
        self._torn = ""
        """The table of which rows were yielded after that place."""
        self._has_heard = False
        """Whether something came since the connection was lost the time before."""

    def events(self, position: JsonValue) -> Iterator[Event]:
        if position is not None:
            is_snapshot = from_json(position, self._source.name).is_snapshot
            phase = Phase.SNAPSHOT if is_snapshot else Phase.STREAM
            self._reached = Boundary(position=position, phase=phase)
        place = yield from self._until_log()
        if self._source.start == "snapshot":
            yield Boundary(position=place.to_json(), phase=Phase.ENDED)
            return
        stream = Stream(
            self._around,
            place,
            self._charsets,
            is_mariadb=self._is_mariadb,
            tables=self._tables,
        )
        yield from stream.events()

    def _until_log(self) -> Generator[Event, None, Position]:
        """Yield rows, by another connection where one is lost; return where the log is read from.

        Raises
        ------
        SourceError
            If the server is gone for long, or the connection was lost in the midst of a table that
            is only read as a whole.
        """
        patience = Patience(self._source.name)
        while True:
            self._has_heard = False
            try:
                with closing(self._source.connect()) as connection:
                    return (yield from self._noted(self._before_log(connection)))
            except (OSError, SourceError) as error:
                if not is_loss(error):
                    raise
                if self._torn:
                    raise TornError(
                        self._source.name,
                        f"the connection was lost while {self._torn} was read ({error}); it is "
                        "read again",
                    ) from error
                waits = patience.waits(error, has_heard=self._has_heard)
            if self._reached is not None:
                yield self._reached
            yield waits
            time.sleep(losses.WAIT_SECONDS)

    def _noted(self, events: Generator[Event, None, Position]) -> Generator[Event, None, Position]:
        """Yield events, and note how far they came."""
        with closing(events):
            while True:
                try:
                    event = next(events)
                except StopIteration as end:
                    place: Position = end.value
                    return place
                if isinstance(event, Boundary):
                    self._reached, self._torn, self._has_heard = event, "", True
                elif isinstance(event, Unreadable) or (
                    isinstance(event, RowChanges) and event.rows.num_rows
                ):
                    self._torn = event.table or "a table"
                yield event

    def _before_log(self, connection: Connection) -> Generator[Event, None, Position]:
        """Yield rows from where they were read to; return where the log is read from."""
        given = None if self._reached is None else self._reached.position
        source = self._source
        source.check(connection)
        self._around = _Around(source, source.zone(connection), self._wanted)
        self._is_mariadb = connection.is_mariadb
        self._charsets = Charsets(_collations(connection))
        position = None if given is None else from_json(given, source.name)
        if position is None and source.start not in ("initial", "snapshot"):
            position = yield from self._first(connection)
            self._reached = Boundary(position=position.to_json(), phase=Phase.STREAM)
        if position is None or position.is_snapshot:
            position = yield from self._rows(connection, position)
        self._tables.infos.update(self._around.found(connection))
        for table, columns in position.declared.items():
            self._tables.declared[table] = dict(columns)
        for table, renamed in position.altered.items():
            self._tables.altered[table] = dict(renamed)
        for info in self._tables.infos.values():
            source.check_zone(info, self._around.zone)
        return position

    def _first(self, connection: Connection) -> Generator[Event, None, Position]:
        """Return where reading begins without rows."""
        start = self._source.start
        place = connection.place()
        gtids = connection.gtids_at(place)
        if start == "latest":
            yield from self._until_ended(connection)
        if isinstance(start, dict):
            file, at = start.get("file"), start.get("pos")
            if not isinstance(file, str) or not isinstance(at, int) or len(start) != 2:
                raise ValueError(f"start = {start!r}: a place is {{'file': …, 'pos': …}}")
            place = Place(file=file, at=at)
            gtids = connection.gtids_at(place) if connection.is_mariadb else ""
        infos = self._around.found(connection)
        declared = {name: info.declared for name, info in infos.items() if info.declared}
        return Position(server=connection.server, place=place, gtids=gtids, declared=declared)

    def _rows(
        self, connection: Connection, position: Position | None
    ) -> Generator[Event, None, Position]:
        """Yield the rows of tables that were not read yet."""
        if position is not None and position.server != connection.server:
            raise SourceError(
                self._source.name,
                "this is another server than the one whose rows were read in part: begin a job of "
                "another name",
            )
        before = None
        if self._source.start != "snapshot":
            place = connection.place()
            before = Moment(place=place, gtids=connection.gtids_at(place))
            yield from self._until_ended(connection)
        connection.run("SET SESSION lock_wait_timeout = 1")
        began = time.monotonic()
        while True:
            try:
                moment = snapshot.begin(connection)
                if position is None:
                    # What is prepared between both is in the log that is read.
                    first = before or moment
                    position = Position(
                        server=connection.server,
                        place=first.place,
                        gtids=first.gtids,
                        is_snapshot=True,
                    )
                infos = self._around.found(connection)
                partly_read = position.read
                open_tables = [name for name in infos if not _is_read(position, name)]
                refused = _refused([infos[name] for name in open_tables], self._around, position)
                yield from refused.values()
                open_tables = [name for name in open_tables if name not in refused]
                # One that was read in part comes first: of one alone the position knows the
                # columns.
                open_tables.sort(key=lambda name: not partly_read.get(name))
                for name in open_tables:
                    began = time.monotonic()
                    position = yield from self._table(connection, name, moment, position)
            except ServerError as error:
                if error.code not in (_ALTERED, _LOCKED):
                    raise
                connection.run("ROLLBACK")
                if error.code == _LOCKED:
                    yield self._locked(began)
                continue  # it was altered after this moment: another one
            connection.run("COMMIT")
            break
        done = replace(position.moved(position.place, position.gtids), is_snapshot=False)
        yield Boundary(position=done.to_json(), phase=Phase.STREAM)
        return done

    def _until_ended(self, connection: Connection) -> Iterator[Event]:
        """Wait for XA transactions that are prepared: the log has their rows before its end."""
        waits_for = connection.prepared()
        began = time.monotonic()
        while waits_for:
            names = ", ".join(sorted(waits_for)[:3]) + (", …" if len(waits_for) > 3 else "")
            yield Waits(
                what=f"XA transactions that are prepared, for {time.monotonic() - began:.0f} s: "
                f"XA COMMIT or XA ROLLBACK ends {names}"
            )
            time.sleep(losses.WAIT_SECONDS)
            waits_for &= connection.prepared()

    def _locked(self, since: float) -> Waits:
        return Waits(
            what=f"tables that others lock, for {time.monotonic() - since:.0f} s: SHOW FULL "
            "PROCESSLIST tells who"
        )

    def _table(
        self, connection: Connection, name: str, moment: Moment, position: Position
    ) -> Generator[Event, None, Position]:
        """Yield the rows of a table; return the position after them."""
        database, _, table = name.partition(".")
        # Reading it once keeps others from altering it until the transaction ends.
        quoted = f"{snapshot.quoted(database)}.{snapshot.quoted(table)}"
        connection.run(f"SELECT 1 FROM {quoted} LIMIT 1")  # noqa: S608 - names are quoted
        info = self._around.infos(connection, [name])[name]
        self._source.check_zone(info, self._around.zone)
        schema = schema_of(info, self._source.mapping)
        if schema.refusal is not None:  # it was altered meanwhile
            yield from _refused([info], self._around, position).values()
            return position
        if position.read.get(name) and position.outline != info.digest:
            raise SourceError(
                self._source.name,
                f"{name} was altered after a part of its rows was read: begin a job of another "
                "name",
            )
        reading = TableReading(
            connection=connection,
            info=info,
            schema=schema,
            zone=self._around.zone,
            moment=moment,
            connect=self._around.connect,
            position=position,
        )
        yield from reading.events()
        found = reading.position
        if info.declared:
            found = replace(found, declared={**found.declared, name: info.declared})
        self._tables.current[name] = info, schema
        yield Boundary(position=found.to_json(), phase=Phase.SNAPSHOT)
        return found


def _refused(
    infos: Sequence[TableInfo], around: _Around, position: Position
) -> dict[str, SourceSchemaChange]:
    """Say of which tables rows cannot be read, by name."""
    schemas = {info.name: schema_of(info, around.mapping) for info in infos}
    return {
        name: SourceSchemaChange(
            table=name,
            before=None,
            after=schema,
            position=position.to_json(),
            reason="as the server has the table",
        )
        for name, schema in schemas.items()
        if schema.refusal is not None
    }


def _is_read(position: Position, table: str) -> bool:
    parts = position.read.get(table, ())
    return bool(parts) and parts[-1].up_to is None


def _collations(connection: Connection) -> dict[int, str]:
    """Ask for the charsets of collations by number."""
    table = "collations"
    if connection.is_mariadb and _has_numbers(connection):
        table = "collation_character_set_applicability"  # the newer ones have many names
    rows = connection.rows(f"SELECT id, character_set_name FROM information_schema.{table}")  # noqa: S608
    return {int(number): str(name) for number, name in rows if number and name}


def _has_numbers(connection: Connection) -> bool:
    """Whether MariaDB lists numbers of collations with their charsets, as since 10.10."""
    found = connection.rows(
        "SELECT 1 FROM information_schema.columns WHERE table_schema = 'information_schema' AND "
        "table_name = 'COLLATION_CHARACTER_SET_APPLICABILITY' AND column_name = 'ID'"
    )
    return bool(found)
