"""Publications and slots as a source needs them: made if rights allow, else the SQL to run."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress

from paimonlab.errors import SourceError
from paimonlab.ingest.changes import Held
from paimonlab.ingest.sources.postgresql import catalog
from paimonlab.ingest.sources.postgresql.catalog import ServerTable, Slot
from paimonlab.ingest.sources.postgresql.connections import (
    Connection,
    ServerError,
    lsn_text,
    quoted,
    quoted_text,
)

logger = logging.getLogger(__name__)

_NO_RIGHT, _IN_USE, _IS_GONE = "42501", "55006", "42704"
_SECONDS_TO_DROP = 2.0
_BEGIN_ANEW = (
    "what changed since then cannot be read any more: begin a job of another name, which copies "
    "the tables again; rows deleted meanwhile stay in tables that are written to again"
)


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """Which tables are meant."""

    patterns: tuple[str, ...]
    """Regular expressions for the whole of ``schema.table``, or names."""
    excluding: str | None = None

    def __post_init__(self) -> None:
        for pattern in (*self.patterns, *([] if self.excluding is None else [self.excluding])):
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is not a regular expression: {error}") from None

    def __str__(self) -> str:
        return ",".join(self.patterns)

    @property
    def names(self) -> tuple[str, ...]:
        """Tables that are named, ``schema.table``."""
        return tuple(map(_full, filter(_NAME.fullmatch, self.patterns)))

    def matches(self, table: str) -> bool:
        r"""Say whether ``schema.table`` is meant.

        Examples
        --------
        >>> pattern = Pattern(patterns=("orders", r"shop\..*"), excluding=".*_old")
        >>> [name for name in ("public.orders", "shop.a", "shop.a_old") if pattern.matches(name)]
        ['public.orders', 'shop.a']
        """
        if self.excluding is not None and re.fullmatch(self.excluding, table):
            return False
        return any(
            _full(pattern) == table
            if _NAME.fullmatch(pattern)
            else re.fullmatch(pattern, table) is not None
            for pattern in self.patterns
        )


_NAME = re.compile(r"\w+(?:\.\w+)?")


def _full(name: str) -> str:
    return name if "." in name else f"public.{name}"


def chosen(
    server: str, found: Sequence[ServerTable], pattern: Pattern, wanted: Callable[[str], bool]
) -> list[ServerTable]:
    """Return the tables that are meant and wanted.

    Raises
    ------
    SourceError
        If one that is named does not exist.
    """
    names = {table.full_name for table in found}
    missing = [name for name in pattern.names if name not in names and pattern.matches(name)]
    if missing:
        raise SourceError(
            server,
            f"there is no table {missing[0]} that can be published (views, partitions, foreign and "
            "unlogged tables cannot)",
        )
    return [
        table for table in found if pattern.matches(table.full_name) and wanted(table.full_name)
    ]


def looked_at(
    server: Connection, name: str, tables: Sequence[ServerTable]
) -> tuple[catalog.Publication | None, dict[int, str]]:
    """Look at a publication, and find the tables whose changes it cannot give.

    Returns
    -------
    Publication or None
        None: it does not exist yet.
    dict
        By oid of a table that cannot be read: why, and the SQL to run.
    """
    found = catalog.publication(server, name)
    refusals = {table.oid: _refusal(name, found, table) for table in tables}
    return found, {oid: reason for oid, reason in refusals.items() if reason is not None}


def _refusal(name: str, found: catalog.Publication | None, table: ServerTable) -> str | None:
    """Say why changes of a table cannot be had; None: they can."""
    is_published = found is not None and (found.has_all or table.oid in found.tables)
    if not is_published and not table.has_identity:
        return (
            f"{table.full_name}: nothing names a row (no primary key, REPLICA IDENTITY "
            f"{_IDENTITIES.get(table.identity, 'DEFAULT')}), and once published the server would "
            f"refuse to update and delete rows. Run ALTER TABLE {table.sql_name} REPLICA IDENTITY "
            "FULL, leave the table out, or publish its inserts yourself: CREATE PUBLICATION "
            f"{quoted(name)} FOR TABLE … WITH (publish = 'insert')"
        )
    if found is not None and table.kind == "p" and not found.by_root:
        return (
            f"{table.full_name} is partitioned: run ALTER PUBLICATION {quoted(name)} SET "
            "(publish_via_partition_root = true)"
        )
    return None


_IDENTITIES = {"d": "DEFAULT", "n": "NOTHING", "i": "USING INDEX"}


def publish(
    server: Connection, name: str, tables: Sequence[ServerTable]
) -> Generator[None, None, catalog.Publication]:
    """Make sure that tables are published; yield each half second that the server waits for locks.

    Parameters
    ----------
    tables
        Those that can be; see `looked_at`.

    Raises
    ------
    SourceError
        If they are not, and rights are missing: with the SQL to run.
    """
    found = catalog.publication(server, name)
    if found is None:
        shown = ", ".join(table.sql_name for table in tables)
        by_root = any(table.kind == "p" for table in tables) or catalog.version(server) >= 130_000
        more = " WITH (publish_via_partition_root = true)" if by_root else ""
        what = f" FOR TABLE {shown}" if tables else ""
        yield from _made(server, f"CREATE PUBLICATION {quoted(name)}{what}{more}")
    elif missing := [table for table in tables if table.oid not in found.tables]:
        shown = ", ".join(table.sql_name for table in missing)
        yield from _made(server, f"ALTER PUBLICATION {quoted(name)} ADD TABLE {shown}")
    made = catalog.publication(server, name)
    assert made is not None, f"publication {name} was made"
    return made


def _made(server: Connection, statement: str) -> Iterator[None]:
    try:
        yield from server.asked(statement)
    except ServerError as error:
        if error.state != _NO_RIGHT:
            raise
        raise SourceError(
            server.name, f"{error.problem}: let somebody who may do so run {statement}"
        ) from error
    logger.info("%s: %s", server.name, statement)


def check_slot(server: Connection, name: str, found: Slot, database: str) -> None:
    """Refuse a slot that changes cannot be read from.

    Raises
    ------
    SourceError
        Says why, and what to do.
    """
    if not found.is_logical or found.plugin != "pgoutput":
        kind = found.plugin if found.is_logical else "physical replication"
        raise SourceError(server.name, f"slot {name} is of {kind}, not of pgoutput: name another")
    if found.database != database:
        raise SourceError(
            server.name, f"slot {name} is of database {found.database}: name another one"
        )
    if found.is_lost:
        raise SourceError(
            server.name,
            f"slot {name} was invalidated: the server removed the log that it still needed "
            f"(max_slot_wal_keep_size). Run SELECT pg_drop_replication_slot({quoted_text(name)}); "
            f"{_BEGIN_ANEW}",
        )


def check_slot_has(
    server: Connection, name: str, found: Slot | None, lsn: int, database: str
) -> None:
    """Make sure that a slot has all that comes after a place.

    Raises
    ------
    SourceError
        If it does not.
    """
    if found is None:
        raise SourceError(
            server.name,
            f"slot {name} does not exist any more; it was at {lsn_text(lsn)}: {_BEGIN_ANEW}",
        )
    check_slot(server, name, found, database)
    if found.confirmed is not None and found.confirmed > lsn:
        raise SourceError(
            server.name,
            f"slot {name} begins at {lsn_text(found.confirmed)}, and what comes after "
            f"{lsn_text(lsn)} is next to read: it was dropped and created again, or another reader "
            f"used it; {_BEGIN_ANEW}",
        )


def missing(server: str, name: str) -> SourceError:
    """Make the error of a publication that was dropped: the log cannot be read without it."""
    return SourceError(
        server,
        f"publication {name} does not exist any more, and one that is created again does not tell "
        f"what changed before; {_BEGIN_ANEW}",
    )


def active(server: Connection, name: str) -> SourceError:
    """Make the error of a slot that another process reads."""
    found = catalog.slot(server, name)
    pid = None if found is None else found.active_pid
    return SourceError(
        server.name,
        f"slot {name} is read by another process (server process {pid}): give each job a slot of "
        f"its own. If that reader is gone, run SELECT pg_terminate_backend({pid})",
    )


def holds(where: str, slot: str, publication: str) -> list[Held]:
    """Return what a job has at its server: a slot, and a publication of that name.

    A publication of another name is not the job's alone: other slots may be read with it.
    """
    found = [
        Held(
            what=f"replication slot {slot}",
            where=where,
            by_hand=f"SELECT pg_drop_replication_slot({quoted_text(slot)})",
        )
    ]
    if publication == slot:
        found.append(
            Held(
                what=f"publication {publication}",
                where=where,
                by_hand=f"DROP PUBLICATION {quoted(publication)}",
            )
        )
    return found


def held(server: Connection, where: str, slot: str, publication: str) -> list[Held]:
    """Return what of that the server has."""
    is_there = [catalog.slot(server, slot) is not None]
    if publication == slot:
        is_there.append(catalog.publication(server, publication) is not None)
    return list(compress(holds(where, slot, publication), is_there))


def drop(server: Connection, found: Sequence[Held]) -> dict[str, str]:
    """Drop a slot and a publication that are there; return what rights do not suffice for.

    Raises
    ------
    ServerError
        If the slot is being read.
    """
    left = {}
    for one in found:
        try:
            _drop(server, one.by_hand)
        except ServerError as error:
            if error.state != _NO_RIGHT:
                raise
            left[one.what] = error.problem
    return left


def _drop(server: Connection, statement: str) -> None:
    end = time.monotonic() + _SECONDS_TO_DROP
    while True:
        try:
            server.rows(statement)
        except ServerError as error:
            if error.state == _IS_GONE:
                return
            if error.state != _IN_USE or time.monotonic() > end:
                raise
            time.sleep(0.05)  # a reading that ended a moment ago
        else:
            return
