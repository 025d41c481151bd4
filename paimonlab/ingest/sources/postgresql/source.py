"""Tables of PostgreSQL as a source; see `PostgresSource`."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from paimonlab.errors import SourceError
from paimonlab.ingest.changes import Event, Held, JsonValue, SourceSchema
from paimonlab.ingest.sources.postgresql import catalog, publishing
from paimonlab.ingest.sources.postgresql.batches import METADATA_TYPES
from paimonlab.ingest.sources.postgresql.catalog import ServerTable, Types
from paimonlab.ingest.sources.postgresql.connections import Connection, ServerError, lsn_text
from paimonlab.ingest.sources.postgresql.logins import Login
from paimonlab.ingest.sources.postgresql.positions import place_of
from paimonlab.ingest.sources.postgresql.publishing import Pattern
from paimonlab.ingest.sources.postgresql.reading import Reading
from paimonlab.ingest.sources.postgresql.relations import layout_of
from paimonlab.ingest.sources.postgresql.settings import Settings
from paimonlab.ingest.sources.postgresql.types import Rules
from paimonlab.ingest.type_words import of_tables
from paimonlab.secrets import hides_secrets
from paimonlab.spec.types.data_types import DataType

logger = logging.getLogger(__name__)

_SLOT = re.compile(r"[a-z0-9_]{1,63}")
_SIZES = """\
SELECT n.nspname || '.' || c.relname, c.reltuples::bigint
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p')"""
"""About how many rows tables have; -1: unknown."""
_SECONDS_TO_ADVANCE = 2.0
_STARTS = ("initial", "latest")


@hides_secrets
@dataclass(frozen=True, kw_only=True)
class Postgres:
    """A database; `tables` makes sources of it. Nothing is asked of it before."""

    login: Login
    slot: str
    publication: str

    def tables(
        self,
        *patterns: str,
        excluding: str | None = None,
        start: str = "initial",
        type_mapping: Sequence[str] = (),
        as_text: Sequence[str] = (),
    ) -> PostgresSource:
        r"""Make a source of tables.

        Parameters
        ----------
        *patterns
            Regular expressions that match the whole of ``schema.table``, or names: ``orders`` is
            ``public.orders``. Tables that are created later and match are read, too.
        excluding
            As patterns; what it matches is left out.
        start
            ``initial``: the rows that tables have, then what changes; ``latest``: only what changes
            from now on.
        type_mapping
            ``to-string``: all columns become STRING; ``char-to-string``: those of limited length
            do; ``special-to-null``: NaN and infinity of numbers, dates and times become null. Else
            such rows are dead letters. ``to-nullable``, ``decimal-no-change``,
            ``allow-non-string-to-string``: as Paimon's actions have it.
        as_text
            Regular expressions that match the whole of ``schema.table.column``: such columns become
            STRING, as PostgreSQL prints their values.

        Raises
        ------
        UnsupportedError, ValueError
            For settings and expressions that there are not.
        """
        if not patterns:
            raise ValueError(r"name the tables: 'public.orders', r'shop\..*'")
        if start not in _STARTS:
            raise ValueError(f"start = {start!r}: it is {' or '.join(_STARTS)}")
        compiled = [re.compile(pattern) for pattern in as_text]
        rules = Rules(
            type_mapping=frozenset(type_mapping),
            as_text=lambda column: any(one.fullmatch(column) for one in compiled),
        )
        return PostgresSource(
            Settings(
                login=self.login,
                slot=self.slot,
                publication=self.publication,
                pattern=Pattern(patterns=patterns, excluding=excluding),
                rules=rules,
                start=start,
            )
        )


def postgres(
    *,
    host: str = "127.0.0.1",
    port: int = 5432,
    dbname: str,
    user: str,
    slot: str,
    publication: str | None = None,
    password_env: str | None = None,
    password_file: str | None = None,
    options: Mapping[str, str] | None = None,
) -> Postgres:
    """Name a database of PostgreSQL whose log is decoded.

    Parameters
    ----------
    host, port, dbname, user
        Where it is, and who reads it: somebody with the attribute REPLICATION who may SELECT from
        the tables.
    slot
        Name of the replication slot, which is created; each job needs its own.
    publication
        Name of the publication. It is created if it does not exist and rights allow, and gets
        tables that it lacks. None: that of the slot.
    password_env
        Environment variable that has the password.
    password_file
        Local file that has it in its first line.
    options
        Of libpq, such as ``{"sslmode": "verify-full"}``.

    Examples
    --------
    >>> shop = postgres(dbname="shop", user="cdc", slot="lake", password_env="CDC_PASSWORD")
    >>> shop.tables("public.orders", "public.items")
    <paimonlab postgres 127.0.0.1:5432/shop public.orders,public.items>
    """
    if _SLOT.fullmatch(slot) is None:
        raise ValueError(
            f"slot = {slot!r}: names of slots have small letters, digits and _, at most 63"
        )
    login = Login(
        host=host,
        port=port,
        dbname=dbname,
        user=user,
        password_env=password_env,
        password_file=password_file,
        options=dict(options or {}),
    )
    return Postgres(login=login, slot=slot, publication=publication or slot)


class PostgresSource:
    """Tables of a database, to be read by a job; see `Postgres.tables`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._reading: Reading | None = None
        self._acknowledged = 0
        self._schemas: Mapping[str, SourceSchema] = {}
        self._was_read = False

    def __repr__(self) -> str:
        return f"<paimonlab {self.name}>"

    @property
    def name(self) -> str:
        """The server, the database and the tables."""
        return self._settings.name

    @property
    def table_mapping(self) -> frozenset[str]:
        """What was told of tables by ``type_mapping``."""
        return of_tables(self._settings.rules.type_mapping)

    @property
    def metadata_types(self) -> Mapping[str, DataType]:
        """What is known of rows beside their values."""
        return METADATA_TYPES

    def tables(self) -> Mapping[str, SourceSchema]:
        """Return the tables that are meant, by ``schema.table``; changes nothing.

        Those whose changes the server would not tell are refused.

        Raises
        ------
        SourceError
            If the server cannot be reached, or a setting, a right or a table is missing.
        """
        settings = self._settings
        types = Types(settings.rules)
        with closing(settings.connect()) as server:
            catalog.check_server(server)
            found = self._found(server, types)
            published, refusals = publishing.looked_at(server, settings.publication, found)
            slot = catalog.slot(server, settings.slot)
            if slot is not None:
                publishing.check_slot(server, settings.slot, slot, settings.login.dbname)
        return {
            table.full_name: replace(
                layout_of(table, types, published).schema, refusal=refusals.get(table.oid)
            )
            for table in found
        }

    def read(self, position: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        """Yield rows and events after a position; see `paimonlab.ingest.changes.Source.read`."""
        place = None if position is None else place_of(self.name, position)
        reading = Reading(
            settings=self._settings,
            wanted=wanted,
            place=place,
            acknowledged=self._acknowledged,
            schemas=self._schemas,
        )
        self._reading, self._was_read = reading, True
        try:
            yield from reading.events()
        finally:
            self._reading = None
            reading.close()

    def remind(self, schemas: Mapping[str, SourceSchema]) -> None:
        """Take the columns that tables have where reading goes on; see `RemindedSource`."""
        self._schemas = schemas

    def estimated_rows(self, wanted: Callable[[str], bool]) -> int | None:
        """Return about how many rows the wanted tables have; None: some were never analyzed.

        Those that are refused do not count.
        """
        settings = self._settings
        if settings.start != "initial":
            return None
        with closing(settings.connect()) as server:
            found = [
                one for one in self._found(server, Types(settings.rules)) if wanted(one.full_name)
            ]
            _, refusals = publishing.looked_at(server, settings.publication, found)
            read = {one.full_name for one in found if one.oid not in refusals}
            sizes = [int(rows or -1) for name, rows in server.rows(_SIZES) if name in read]
        return None if any(rows < 0 for rows in sizes) else sum(sizes)

    def _found(self, server: Connection, types: Types) -> list[ServerTable]:
        """Return the tables that are meant; their types are known then."""
        return publishing.chosen(
            server.name, catalog.tables(server, types), self._settings.pattern, lambda _: True
        )

    def before_rows(self, position: JsonValue, tables: Collection[str]) -> JsonValue:
        """Return a position from which tables are copied anew; see `RereadableSource`.

        The log is read from where it was; changes that the copies have already are passed over.
        """
        place = place_of(self.name, position)
        with closing(self._settings.connect()) as server:
            found = catalog.tables(server, Types(self._settings.rules))
        return place.without({one.oid for one in found if one.full_name in tables}).to_json()

    def include(self, pattern: str) -> None:
        """Offer tables that match a regular expression, too."""
        known = self._settings.pattern
        if pattern not in known.patterns:
            wider = replace(known, patterns=(*known.patterns, pattern))
            self._settings = replace(self._settings, pattern=wider)

    def acknowledge(self, position: JsonValue) -> None:
        """Let the server forget its log up to a position."""
        if position is None:
            return
        lsn = place_of(self.name, position).lsn
        self._acknowledged = max(self._acknowledged, lsn)
        reading = self._reading
        if reading is not None:
            reading.acknowledged = self._acknowledged
            if reading.stream is not None:
                try:
                    reading.stream.flush_to(lsn)
                except ServerError as error:  # the reading finds it out, too
                    logger.info("%s", error)
        elif self._was_read:
            self._advance(lsn)

    def _advance(self, lsn: int) -> None:
        """Tell the server without a stream. It may fail: the next reading begins with it."""
        slot = self._settings.slot
        end = time.monotonic() + _SECONDS_TO_ADVANCE
        while True:
            try:
                with closing(self._settings.connect()) as server:
                    found = catalog.slot(server, slot)
                    if found is not None and (found.confirmed or 0) < lsn:
                        server.rows(
                            "SELECT pg_replication_slot_advance($1, $2::pg_lsn)",
                            slot,
                            lsn_text(lsn),
                        )
            except SourceError as error:
                if time.monotonic() > end:
                    logger.info("slot %s is not at %s yet: %s", slot, lsn_text(lsn), error)
                    return
                time.sleep(0.05)
            else:
                return

    @property
    def address(self) -> Mapping[str, JsonValue]:
        """The words of the source in a file of a job; see `HoldingSource`."""
        settings, login = self._settings, self._settings.login
        told: dict[str, JsonValue] = {
            "type": "postgres",
            "host": login.host,
            "port": login.port,
            "dbname": login.dbname,
            "user": login.user,
            "slot": settings.slot,
            "publication": settings.publication,
            "tables": list(settings.pattern.patterns),
        }
        for name in ("password_env", "password_file"):
            if (named := getattr(login, name)) is not None:
                told[name] = named
        if login.options:
            told["options"] = dict(login.options)
        return told

    def holds(self) -> Sequence[Held]:
        """Return the slot, and the publication that has its name."""
        settings = self._settings
        return publishing.holds(self._place, settings.slot, settings.publication)

    def held(self) -> Sequence[Held]:
        """Return what of these the server has.

        Raises
        ------
        SourceError
            If it cannot be reached.
        """
        with closing(self._settings.connect()) as server:
            return self._held(server)

    def drop(self) -> Mapping[str, str]:
        """Drop the slot and the publication: the server keeps no log for the job any more.

        A publication that was given another name than the slot stays: others may read with it.

        Returns
        -------
        Mapping
            What rights do not suffice for, and what the server says.

        Raises
        ------
        SourceError
            If the slot is being read, or the server cannot be reached.
        """
        with closing(self._settings.connect()) as server:
            return publishing.drop(server, self._held(server))

    def _held(self, server: Connection) -> list[Held]:
        settings = self._settings
        return publishing.held(server, self._place, settings.slot, settings.publication)

    @property
    def _place(self) -> str:
        return f"postgres {self._settings.login.place}"

    def close(self) -> None:
        """Do nothing: what is open is open while `read` is."""
