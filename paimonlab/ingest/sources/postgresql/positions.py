"""How far reading of a server came, as jobs note it."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from paimonlab.errors import SourceError
from paimonlab.ingest.changes import JsonValue
from paimonlab.ingest.sources.postgresql.connections import lsn_of, lsn_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where reading goes on."""

    system: str
    """Identifier of the server's data: of another server there is nothing to go on with."""
    lsn: int
    """All transactions that were committed before it were read."""
    tables: tuple[int, ...] = ()
    """Oids of tables whose rows were copied, sorted: only their changes are read."""
    copied_at: Mapping[int, int] = field(default_factory=dict)
    """By oid: changes that were committed before that place are in the copied rows already. Tables
    that are not in it were copied at `lsn` or before."""
    names: Mapping[int, int] = field(default_factory=dict)
    """By oid: `mark_of` the name that the table had at `lsn`. Positions of earlier releases have
    none."""
    published: Mapping[int, int] = field(default_factory=dict)
    """By oid: `mark_of` how the table was published then; the same holds."""

    def after(self, lsn: int) -> Place:
        """Return the place after the transactions before another one."""
        ahead = {oid: at for oid, at in self.copied_at.items() if at > lsn}
        return replace(self, lsn=lsn, copied_at=ahead)

    def with_copied(self, oid: int, lsn: int, name: str) -> Place:
        """Return the place after the rows of one more table."""
        ahead = {**self.copied_at, oid: lsn} if lsn > self.lsn else dict(self.copied_at)
        there = replace(self, tables=tuple(sorted({*self.tables, oid})), copied_at=ahead)
        return there.with_name(oid, name)

    def with_published(self, found: Mapping[int, str | None]) -> Place:
        """Return the place with tables that are published so; None: not at all."""
        marks = {oid: mark_of(how or "") for oid, how in found.items() if oid in self.tables}
        return replace(self, published={**self.published, **marks})

    def with_name(self, oid: int, name: str) -> Place:
        """Return the place with a table of that name."""
        return replace(self, names={**self.names, oid: mark_of(name)})

    def others_named(self, oid: int, name: str) -> tuple[int, ...]:
        """Return the other tables that had a name: it was dropped, or renamed, before `oid`."""
        mark = mark_of(name)
        return tuple(other for other, one in self.names.items() if one == mark and other != oid)

    def without(self, oids: Collection[int]) -> Place:
        """Return the place before the rows of some tables are copied, again or first."""
        return replace(
            self,
            tables=tuple(oid for oid in self.tables if oid not in oids),
            copied_at={oid: at for oid, at in self.copied_at.items() if oid not in oids},
            names={oid: mark for oid, mark in self.names.items() if oid not in oids},
            published={oid: mark for oid, mark in self.published.items() if oid not in oids},
        )

    def to_json(self) -> JsonValue:
        """Return what jobs note.

        Examples
        --------
        >>> Place(system="7", lsn=16, tables=(1, 2), copied_at={2: 32}).to_json()
        {'system': '7', 'lsn': '0/10', 'tables': [1, 2], 'copied_at': {'2': '0/20'}}
        """
        found: dict[str, JsonValue] = {
            "system": self.system,
            "lsn": lsn_text(self.lsn),
            "tables": [*self.tables],
        }
        if self.copied_at:
            found["copied_at"] = {
                str(oid): lsn_text(at) for oid, at in sorted(self.copied_at.items())
            }
        if self.names:
            found["names"] = [self.names.get(oid, -1) for oid in self.tables]
        if self.published:
            found["published"] = [self.published.get(oid, -1) for oid in self.tables]
        return found


def mark_of(name: str) -> int:
    """Return a small number that tells a name of a table from others: positions stay short."""
    return zlib.crc32(name.encode()) % 1_000_000


def place_of(source: str, position: JsonValue) -> Place:
    """Read what a job noted.

    Raises
    ------
    SourceError
        If it is not a position of this source.
    """
    try:
        assert isinstance(position, dict)
        copied = position.get("copied_at", {})
        tables = position["tables"]
        assert isinstance(copied, dict)
        assert isinstance(tables, list)
        oids = tuple(int(str(oid)) for oid in tables)
        return Place(
            system=str(position["system"]),
            lsn=lsn_of(str(position["lsn"])),
            tables=oids,
            copied_at={int(oid): lsn_of(str(at)) for oid, at in copied.items()},
            names=_marks(position, "names", oids),
            published=_marks(position, "published", oids),
        )
    except (AssertionError, KeyError, ValueError):
        raise SourceError(
            source, f"{position!r} is not a position of it: whose job is it?"
        ) from None


def _marks(position: Mapping[str, JsonValue], key: str, oids: tuple[int, ...]) -> dict[int, int]:
    marks = position.get(key, [])
    assert isinstance(marks, list)
    return {
        oid: mark
        for oid, mark in zip(oids, marks, strict=bool(marks))
        if isinstance(mark, int) and mark >= 0
    }
