"""What a server says of its tables, publications and slots."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from paimonlab.errors import SourceError
from paimonlab.ingest.changes import SourceColumn, SourceSchema
from paimonlab.ingest.sources.postgresql.connections import Connection, lsn_of, quoted
from paimonlab.ingest.sources.postgresql.types import Kind, Rules, ServerType, kind_of
from paimonlab.ingest.sources.silence import ConnectionEndedError
from paimonlab.spec.types.data_types import with_nullable

_OLDEST = 120_000
"""Server versions from which all that is asked here exists: PostgreSQL 12."""
_COLUMN_LISTS = 150_000
_PARTITION_ROOTS = 130_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerColumn:
    """A column as the server has it."""

    name: str
    oid: int
    """Of its type."""
    modifier: int
    dimensions: int = 0
    """As declared; 0: no array, or unknown."""
    source_type: str | None = None
    comment: str | None = None
    missing: str | None = None
    """The default that rows have which are older than the column."""
    number: int | None = None
    """``attnum``, which no other column of the table ever has; None: unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTable:
    """A table as the server has it."""

    oid: int
    schema: str
    name: str
    kind: str
    """``relkind``: r table, p partitioned."""
    identity: str
    """``relreplident``: d default, f full, i index, n nothing."""
    columns: tuple[ServerColumn, ...]
    primary_keys: tuple[str, ...]
    """Columns of the primary key, in its order."""
    identity_keys: tuple[str, ...]
    """Columns that updates and deletes name a row by; () with FULL and without any."""
    comment: str | None = None

    @property
    def full_name(self) -> str:
        """``schema.table``."""
        return f"{self.schema}.{self.name}"

    @property
    def sql_name(self) -> str:
        """As SQL has it."""
        return f"{quoted(self.schema)}.{quoted(self.name)}"

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns that rows are found by: those that updates and deletes name, or a known key."""
        return self.primary_keys if self.identity == "f" else self.identity_keys

    @property
    def has_identity(self) -> bool:
        """Whether the server lets rows of it be updated and deleted once that is published."""
        return self.identity == "f" or bool(self.identity_keys)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Layout:
    """Columns of a table at one moment, and how their values are read."""

    schema: SourceSchema
    columns: tuple[ServerColumn, ...]
    kinds: tuple[Kind, ...]


@dataclass(slots=True)
class Types:
    """Types of a server, asked for when they are needed."""

    rules: Rules
    known: dict[int, ServerType] = field(default_factory=dict)

    def learn(self, server: Connection, oids: Iterable[int]) -> None:
        """Ask for types, and for those that they are made of."""
        wanted = {oid for oid in oids if oid and oid not in self.known}
        while wanted:
            found = server.rows(_TYPES, _array(wanted))
            for row in found:
                one = _type(row)
                self.known[one.oid] = one
            wanted = {
                oid
                for one in self.known.values()
                for oid in (one.base, one.element)
                if oid and oid not in self.known
            } - wanted

    def layout(
        self,
        table: str,
        columns: Sequence[ServerColumn],
        keys: Sequence[str],
        comment: str | None = None,
    ) -> Layout:
        """Return how rows are read, and what they become.

        Key columns are NOT NULL, all others nullable: pgoutput does not tell.
        """
        kinds, made = [], []
        for column in columns:
            rules = self.rules
            if rules.as_text(f"{table}.{column.name}"):
                rules = Rules(type_mapping=frozenset(("to-string",)))
            kind = kind_of(column.oid, column.modifier, column.dimensions, self.known, rules)
            kinds.append(kind)
            made.append(
                SourceColumn(
                    name=column.name,
                    type=with_nullable(kind.data_type, nullable=column.name not in keys),
                    source_type=column.source_type,
                    comment=column.comment,
                    default_value=column.missing,
                    number=column.number,
                )
            )
        schema = SourceSchema(columns=tuple(made), primary_keys=tuple(keys), comment=comment)
        return Layout(schema=schema, columns=tuple(columns), kinds=tuple(kinds))


_TYPES = """
SELECT t.oid, t.typname, t.typtype, t.typbasetype, t.typtypmod, t.typelem,
       t.typcategory = 'A' AND t.typlen = -1 AND t.typelem <> 0, t.typdelim,
       EXISTS (SELECT FROM pg_cast c
               WHERE c.castsource = t.oid AND c.casttarget = 25 AND c.castmethod IN ('f', 'b'))
FROM pg_type t WHERE t.oid = ANY ($1::oid[])"""


def _type(row: Sequence[str | None]) -> ServerType:
    oid, name, kind, base, modifier, element, is_array, delimiter, has_cast = map(str, row)
    return ServerType(
        oid=int(oid),
        name=name,
        kind=kind,
        base=int(base),
        base_modifier=int(modifier),
        element=int(element),
        is_array=is_array == "t",
        delimiter=delimiter,
        has_text_cast=has_cast == "t",
    )


def version(server: Connection) -> int:
    """Return the version of a server, as 150018.

    Raises
    ------
    SourceError
        If it is too old.
    """
    ((found,),) = server.rows("SELECT current_setting('server_version_num')")
    number = int(str(found))
    if number < _OLDEST:
        raise SourceError(server.name, f"PostgreSQL 12 is the oldest that is read, this is {found}")
    return number


def check_server(server: Connection) -> None:
    """Make sure that a server can be read at all.

    Raises
    ------
    SourceError
        Says which setting or right is missing, and how it is given.
    """
    number = version(server)
    ((level, encoding, role, may_replicate, is_standby),) = server.rows(
        """
        SELECT current_setting('wal_level'), getdatabaseencoding(), current_user,
               rolreplication OR rolsuper, pg_is_in_recovery()
        FROM pg_roles WHERE rolname = current_user"""
    )
    if level != "logical":
        raise SourceError(
            server.name,
            f"wal_level is {level}: run ALTER SYSTEM SET wal_level = logical, and restart the "
            "server",
        )
    if encoding == "SQL_ASCII":
        raise SourceError(
            server.name, "the database has encoding SQL_ASCII, so nobody knows what its texts say"
        )
    if may_replicate != "t":
        raise SourceError(
            server.name,
            f"{role} may not read the log: run ALTER ROLE {quoted(str(role))} REPLICATION",
        )
    if is_standby == "t" and number < 160_000:
        raise SourceError(server.name, "a standby can be read from PostgreSQL 16 on")


def tables(server: Connection, types: Types) -> list[ServerTable]:
    """Return all tables that can be published: no partitions, no views, none of the system."""
    found = server.rows(_TABLES)
    oids = [int(str(row[0])) for row in found]
    columns = _columns(server, types, oids)
    keys = _keys(server, oids)
    made = []
    for row in found:
        oid, schema, name, kind, identity = map(str, row[:5])
        own = keys.get(int(oid), {})
        primary, index = own.get("p", ()), own.get("i", ())
        made.append(
            ServerTable(
                oid=int(oid),
                schema=schema,
                name=name,
                kind=kind,
                identity=identity,
                columns=columns.get(int(oid), ()),
                primary_keys=primary,
                identity_keys={"d": primary, "i": index}.get(identity, ()),
                comment=row[5],
            )
        )
    return made


_TABLES = """
SELECT c.oid, n.nspname, c.relname, c.relkind, c.relreplident, obj_description(c.oid, 'pg_class')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relpersistence = 'p'
  AND c.oid >= 16384 AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
ORDER BY n.nspname, c.relname"""


def _columns(
    server: Connection, types: Types, oids: Sequence[int]
) -> dict[int, tuple[ServerColumn, ...]]:
    if not oids:
        return {}
    found: dict[int, list[ServerColumn]] = {}
    for row in server.rows(_COLUMNS, _array(oids)):
        table, name, oid, modifier, dimensions, shown, number = map(str, row[:7])
        column = ServerColumn(
            name=name,
            oid=int(oid),
            modifier=int(modifier),
            dimensions=int(dimensions),
            source_type=shown,
            comment=row[7],
            number=int(number),
        )
        found.setdefault(int(table), []).append(column)
    types.learn(server, {column.oid for columns in found.values() for column in columns})
    return {table: tuple(columns) for table, columns in found.items()}


_COLUMNS = """
SELECT a.attrelid, a.attname, a.atttypid, a.atttypmod, a.attndims,
       format_type(a.atttypid, a.atttypmod), a.attnum, col_description(a.attrelid, a.attnum)
FROM pg_attribute a
WHERE a.attrelid = ANY ($1::oid[]) AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
ORDER BY a.attrelid, a.attnum"""


def _keys(server: Connection, oids: Sequence[int]) -> dict[int, dict[str, tuple[str, ...]]]:
    """Return the columns of primary keys (p) and of indexes that name rows (i)."""
    found: dict[int, dict[str, tuple[str, ...]]] = {}
    if not oids:
        return found
    for row in server.rows(_KEYS, _array(oids)):
        table, is_primary, is_identity, name = map(str, row)
        own = found.setdefault(int(table), {})
        for word, is_it in (("p", is_primary), ("i", is_identity)):
            if is_it == "t":
                own[word] = (*own.get(word, ()), name)
    return found


_KEYS = """
SELECT i.indrelid, i.indisprimary, i.indisreplident, a.attname
FROM pg_index i, unnest(i.indkey::int2[]) WITH ORDINALITY AS k(number, place), pg_attribute a
WHERE i.indrelid = ANY ($1::oid[]) AND (i.indisprimary OR i.indisreplident)
  AND k.place <= i.indnkeyatts AND a.attrelid = i.indrelid AND a.attnum = k.number
ORDER BY i.indrelid, k.place"""


def described(
    server: Connection,
    table: int,
    columns: Sequence[ServerColumn],
    new: Sequence[str],
    before: Collection[str],
) -> list[ServerColumn]:
    """Add to columns how the server writes their types, and which value older rows have.

    Parameters
    ----------
    table
        Its oid.
    columns
        All.
    new
        Names of those that are asked for.
    before
        Names of columns that there were before: older rows have values of theirs.
    """
    parts = [(one.name, str(one.oid), str(one.modifier)) for one in columns]
    texts = server.rows(
        "SELECT name, format_type(oid::oid, modifier::int) FROM unnest($1::text[], $2::text[], "
        "$3::text[]) AS t(name, oid, modifier)",
        *(_texts(values) for values in zip(*parts, strict=True)),
    )
    shown = {name: text for name, text in texts}  # noqa: C416 - rows of two values
    defaults = server.rows(
        """
        SELECT attname, (attmissingval::text::text[])[1] FROM pg_attribute
        WHERE attrelid = $1::oid AND atthasmissing AND NOT attisdropped AND attnum > 0""",
        str(table),
    )
    missing = {name: text for name, text in defaults}  # noqa: C416 - rows of two values
    return [
        replace(
            column,
            source_type=shown.get(column.name),
            missing=None if column.name in before else missing.get(column.name),
        )
        if column.name in new
        else column
        for column in columns
    ]


@dataclass(frozen=True, slots=True)
class Numbers:
    """Numbers of the columns of a table at one moment."""

    live: Mapping[str, int]
    """By name."""
    types: Mapping[str, tuple[int, int]]
    """By name: type and modifier."""
    dropped: tuple[int, ...]
    """Of columns that there were."""
    lsn: int
    """A place of the log: what was committed after it is not in here."""


def numbers(server: Connection, table: int) -> Numbers:
    """Return the numbers of the columns of a table as they are now."""
    found = server.rows(_NUMBERS, str(table))
    return Numbers(
        live={str(name): int(str(number)) for name, number, gone, *_ in found if gone == "f"},
        types={
            str(name): (int(str(oid)), int(str(modifier)))
            for name, _, gone, oid, modifier, _ in found
            if gone == "f"
        },
        dropped=tuple(int(str(number)) for _, number, gone, *_ in found if gone == "t"),
        lsn=max((lsn_of(str(lsn)) for *_, lsn in found), default=0),
    )


_NUMBERS = """
SELECT attname, attnum, attisdropped, atttypid, atttypmod,
       CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END
FROM pg_attribute WHERE attrelid = $1::oid AND attnum > 0"""


def _texts(values: Sequence[str]) -> str:
    """Write an array of texts."""
    quotes = (value.replace("\\", "\\\\").replace('"', '\\"') for value in values)
    return "{" + ",".join(f'"{value}"' for value in quotes) + "}"


# Publications


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """What is published of tables."""

    name: str
    has_all: bool
    by_root: bool
    """Whether changes of partitions are those of the partitioned table."""
    tables: Mapping[int, Published]
    """By oid."""


@dataclass(frozen=True, slots=True)
class Published:
    """What is published of a table."""

    columns: tuple[str, ...] | None
    """None: all."""
    row_filter: str | None


def publication(server: Connection, name: str) -> Publication | None:
    """Return a publication; None if there is none of that name."""
    number = version(server)
    by_root = "pubviaroot" if number >= _PARTITION_ROOTS else "false"
    found = server.rows(
        f"SELECT puballtables, {by_root} FROM pg_publication WHERE pubname = $1",  # noqa: S608
        name,
    )
    if not found:
        return None
    more = "p.attnames::text[], p.rowfilter" if number >= _COLUMN_LISTS else "NULL, NULL"
    rows = server.rows(
        f"""
        SELECT c.oid, {more.replace("p.attnames::text[]", "to_json(p.attnames)")}
        FROM pg_publication_tables p JOIN pg_namespace n ON n.nspname = p.schemaname
        JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = p.tablename
        WHERE p.pubname = $1""",  # noqa: S608 - two texts of this function
        name,
    )
    return Publication(
        name=name,
        has_all=found[0][0] == "t",
        by_root=found[0][1] == "t",
        tables={int(str(row[0])): Published(_names(row[1]), row[2]) for row in rows},
    )


def how_published(server: Connection, name: str, oids: Iterable[int]) -> dict[int, str | None]:
    """Say how a publication has tables, in words that are others once it was altered.

    Returns
    -------
    dict
        By oid of those that exist; None: the publication does not have it.
    """
    number = version(server)
    row_filter = "pg_get_expr(r.prqual, r.prrelid)" if number >= _COLUMN_LISTS else "NULL"
    of_schema = "false"
    if number >= _COLUMN_LISTS:
        of_schema = """EXISTS (SELECT FROM pg_publication_namespace n
            WHERE n.pnpubid = p.oid AND n.pnnspid = c.relnamespace)"""
    rows = server.rows(
        f"""
        SELECT c.oid, p.puballtables OR r.oid IS NOT NULL OR {of_schema},
            concat_ws(' ', r.oid, CASE WHEN p.pubinsert THEN 'insert' END,
                CASE WHEN p.pubupdate THEN 'update' END, CASE WHEN p.pubdelete THEN 'delete' END,
                CASE WHEN p.pubtruncate THEN 'truncate' END, {row_filter})
        FROM pg_class c LEFT JOIN pg_publication p ON p.pubname = $1
        LEFT JOIN pg_publication_rel r ON r.prpubid = p.oid AND r.prrelid = c.oid
        WHERE c.oid = ANY ($2::oid[])""",  # noqa: S608 - texts of this function
        name,
        _array(oids),
    )
    return {int(str(oid)): how if is_there == "t" else None for oid, is_there, how in rows}


def _names(listed: str | None) -> tuple[str, ...] | None:
    import json  # noqa: PLC0415 - a list of names that the server wrote

    return None if listed is None else tuple(json.loads(listed))


# Slots


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A replication slot."""

    name: str
    plugin: str | None
    database: str | None
    is_logical: bool
    active_pid: str | None
    confirmed: int | None
    """What lies before it in the log was read by all who asked."""
    is_lost: bool


_DOING = """
SELECT a.wait_event_type, a.wait_event, (
    SELECT string_agg(format('process %s of %s (%s)', b.pid, b.usename, b.application_name), ', ')
    FROM pg_stat_activity b WHERE b.pid = ANY (pg_blocking_pids(a.pid)))
FROM pg_stat_activity a WHERE a.pid = $1::int"""


def doing(server: Connection, process: int) -> str | None:
    """Say what another process of the server waits for; None: it does not wait.

    Raises
    ------
    ConnectionEndedError
        If there is no such process any more.
    """
    found = server.rows(_DOING, str(process))
    if not found:
        raise ConnectionEndedError(
            server.name, f"server process {process}, which read for the job, has ended"
        )
    ((kind, event, blocking),) = found
    if blocking:
        return f"it waits for {blocking}"
    return None if kind in (None, "Client") else f"it waits for {event}"


def slot(server: Connection, name: str) -> Slot | None:
    """Return a slot; None if there is none of that name."""
    status = "wal_status" if version(server) >= _PARTITION_ROOTS else "NULL"
    found = server.rows(
        f"""
        SELECT plugin, database, slot_type, active_pid, confirmed_flush_lsn, {status}
        FROM pg_replication_slots WHERE slot_name = $1""",  # noqa: S608 - a name of this function
        name,
    )
    if not found:
        return None
    plugin, database, kind, pid, confirmed, wal_status = found[0]
    return Slot(
        name=name,
        plugin=plugin,
        database=database,
        is_logical=kind == "logical",
        active_pid=pid,
        confirmed=None if confirmed is None else lsn_of(confirmed),
        is_lost=wal_status == "lost",
    )


def _array(oids: Iterable[int]) -> str:
    return "{" + ",".join(map(str, sorted(oids))) + "}"
