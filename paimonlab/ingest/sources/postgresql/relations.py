"""Tables as the log describes them: messages of their rows become events.

A relation message says what the columns of a table are from there on, by name and type. What it
does not tell (comments, the order of the key, defaults) is as the server had it before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

import pyarrow as pa

from paimonlab.errors import SourceError
from paimonlab.ingest.changes import Event, SourceSchema, SourceSchemaChange, Truncated
from paimonlab.ingest.sources.postgresql import catalog, pgoutput
from paimonlab.ingest.sources.postgresql.batches import Decoded
from paimonlab.ingest.sources.postgresql.catalog import (
    Layout,
    Publication,
    ServerColumn,
    ServerTable,
    Types,
)
from paimonlab.ingest.sources.postgresql.cells import Places
from paimonlab.ingest.sources.postgresql.connections import lsn_text
from paimonlab.ingest.sources.postgresql.positions import Place, mark_of
from paimonlab.ingest.sources.postgresql.settings import Settings
from paimonlab.ingest.sources.postgresql.values import of_text

DROPPED = "dropped"
"""In place of how a table is published that the server does not have any more."""


@dataclass(slots=True, eq=False)
class _Followed:
    """A relation as its messages are written from here on."""

    relation: pgoutput.Relation
    table: str
    is_meant: bool
    layout: Layout | None = None
    """None: no row of it was read yet."""


@dataclass(kw_only=True, eq=False)
class Relations:
    """What is known of the tables that are read."""

    settings: Settings
    wanted: Callable[[str], bool]
    types: Types
    reminded: Mapping[str, SourceSchema] = field(default_factory=dict)
    """What tables were where reading goes on; empty: it is not known."""
    _layouts: dict[int, Layout] = field(default_factory=dict)
    """By oid of the table: as it was described last, or as the server has it."""
    _yielded: dict[int, Layout] = field(default_factory=dict)
    """Of the rows that were yielded last."""
    _tables: dict[int, ServerTable] = field(default_factory=dict)
    _followed: dict[int, _Followed] = field(default_factory=dict)
    _described: set[int] = field(default_factory=set)
    """Oids of tables that a message described since `learn`."""
    _doubted: dict[int, tuple[int, frozenset[str]]] = field(default_factory=dict)
    """By oid: names of columns whose numbers may be those of others that came before that place of
    the log, since the server was ahead of it when it was asked."""

    def learn(self, tables: Sequence[ServerTable], published: Publication) -> None:
        """Take note of tables as the server has them."""
        for table in tables:
            self._tables[table.oid] = table
            self._layouts.setdefault(table.oid, layout_of(table, self.types, published))

    def copied(self, table: ServerTable, layout: Layout) -> None:
        """Take note that rows of a table are yielded as they were copied."""
        self._tables[table.oid] = table
        self._layouts[table.oid] = self._yielded[table.oid] = layout

    def forget(self) -> None:
        """Forget how messages are written: the server describes tables again."""
        self._followed.clear()

    def describe(self, relation: pgoutput.Relation) -> None:
        """Take note of how the messages of a table are written from here on."""
        table = relation.full_name
        is_meant = self.is_meant(table)
        self._followed[relation.oid] = _Followed(relation, table, is_meant)

    def is_meant(self, table: str) -> bool:
        """Whether a table is read."""
        return self.settings.pattern.matches(table) and self.wanted(table)

    def renamed(self, table: str, lsn: str) -> Event:
        """Say that a table has a name, from a place on, under which its rows were not read."""
        problem = (
            f"another table was renamed to {table} before {lsn}, and the rows that it had are not "
            "in the log: ask for resnapshot, which reads them"
        )
        return SourceSchemaChange(
            table=table,
            before=None,
            after=SourceSchema(columns=(), refusal=problem),
            position=lsn,
            reason="as the server calls the table",
        )

    def name_of(self, oid: int, place: Place) -> str | None:
        """Return the name of a table that is read, and may be gone; None: it is not known."""
        if (known := self._tables.get(oid)) is not None:
            return known.full_name
        mark = place.names.get(oid)
        return next((name for name in self.reminded if mark_of(name) == mark), None)

    def unpublished(self, table: str, how: str | None, lsn: str) -> Event:
        """Say that the server did not tell all changes of a table before a place.

        Parameters
        ----------
        table
            One that is read.
        how
            It is published now, or `DROPPED`; None: it is not.
        """
        if how == DROPPED:
            return SourceSchemaChange(
                table=table, before=None, after=None, position=lsn, reason="the table was dropped"
            )
        publication = self.settings.publication
        now = "does not have it" if how is None else "was altered, or was without it for some time"
        problem = (
            f"publication {publication} {now}, so not all that changed in {table} before {lsn} is "
            "in the log: let it have all changes of the table again, and ask for resnapshot, which "
            "reads its rows"
        )
        return SourceSchemaChange(
            table=table,
            before=None,
            after=SourceSchema(columns=(), refusal=problem),
            position=lsn,
            reason="as the server publishes the table",
        )

    def gone(self, table: str, lsn: str) -> Event:
        """Say that a table of a name is not the one any more whose rows were read."""
        return SourceSchemaChange(
            table=table,
            before=None,
            after=None,
            position=lsn,
            reason="another table has its name; all rows of that one are read",
        )

    def _is_read(self, oid: int, place: Place) -> bool:
        """Say whether rows of a relation are yielded: those of tables that were copied.

        Raises
        ------
        SourceError
            If the server did not describe it.
        """
        followed = self._followed.get(oid)
        if followed is None:
            raise SourceError(
                self.settings.name, f"rows of relation {oid}, which was not described"
            )
        return followed.is_meant and oid in place.tables

    def _numbered(
        self, oid: int, columns: Sequence[ServerColumn], old: Mapping[str, int | None], lsn: int
    ) -> list[ServerColumn]:
        """Give columns the numbers that they have from a place of the log on.

        The server is asked, which may be ahead of the log. So a column of another type there says
        nothing of the one here, and one that is new here, and may have been dropped and added
        again further on, is taken for another one if the table is described once more before the
        place at which the server was asked.

        Parameters
        ----------
        oid, columns
            Of the table, as it is described.
        old
            Columns that it had before that, and their numbers.
        lsn
            The place.
        """
        with closing(self.settings.connect()) as server:
            found = catalog.numbers(server, oid)
        asked, names = self._doubted.pop(oid, (0, frozenset[str]()))
        doubted = names if lsn < asked else ()
        last = max((number or 0 for number in old.values()), default=0)
        unsure = {
            name
            for name in (one.name for one in columns if one.name not in old)
            if any(last < number for number in found.dropped)
        }
        if unsure:
            self._doubted[oid] = found.lsn, frozenset(unsure)

        def number(one: ServerColumn) -> int | None:
            before = old.get(one.name)
            if one.name in doubted:
                return -asked
            if before is not None and found.types.get(one.name) != (one.oid, one.modifier):
                return before
            return found.live.get(one.name, before)

        return [replace(one, number=number(one)) for one in columns]

    def _layout(self, relation: pgoutput.Relation, table: str, lsn: int) -> Layout:
        """Return how rows are from a place on; what messages do not tell is as it was."""
        known = self._layouts.get(relation.oid)
        before = {} if known is None else {column.name: column for column in known.columns}
        columns = []
        new = []
        for column in relation.columns:
            old = before.get(column.name)
            if old is not None and (old.oid, old.modifier) == (column.oid, column.modifier):
                columns.append(old)
            else:
                new.append(column.name)
                columns.append(
                    ServerColumn(name=column.name, oid=column.oid, modifier=column.modifier)
                )
        if new:
            with closing(self.settings.connect()) as server:
                self.types.learn(server, {column.oid for column in columns})
                columns = catalog.described(server, relation.oid, columns, new, set(before))
        old_numbers = {name: one.number for name, one in before.items()}
        reminded = self.reminded.get(table)
        if relation.oid not in self._described and reminded is not None:
            old_numbers = {one.name: one.number for one in reminded.columns}
        columns = self._numbered(relation.oid, columns, old_numbers, lsn)
        self._described.add(relation.oid)
        keys = tuple(column.name for column in relation.columns if column.is_key)
        there = self._tables.get(relation.oid)
        if relation.identity == "f":
            primary = () if there is None else there.primary_keys
            keys = primary if all(name in keys for name in primary) else ()
        elif there is not None and set(there.keys) == set(keys):
            keys = there.keys
        is_known = known is not None and known.columns == tuple(columns)
        if known is not None and is_known and known.schema.primary_keys == keys:
            return known
        comment = None if known is None else known.schema.comment
        layout = self.types.layout(table, columns, keys, comment)
        self._layouts[relation.oid] = layout
        return layout

    def rows(
        self, messages: pgoutput.Messages, places: Places, oid: int, place: Place
    ) -> Iterator[Event]:
        """Yield changes of rows of one table.

        Parameters
        ----------
        messages
            All.
        places
            Those of the table.
        oid
            Of its relation.
        place
            Says which tables are read, and what their copies have.
        """
        if not self._is_read(oid, place):
            return
        followed = self._followed[oid]
        copied_at = place.copied_at.get(oid)
        if copied_at is not None:
            places = places[messages.lsns[places] >= copied_at]
        if not len(places):
            return
        layout, lsn = followed.layout, int(messages.lsns[places[0]])
        if layout is None:
            layout = self._layout(followed.relation, followed.table, lsn)
            followed.layout = layout
        yield from self._changed(oid, followed.table, layout, lsn)
        found = pgoutput.rows_of(messages, places, len(layout.columns))
        arrays, problems, unchanged = [], [], {}
        for cells, column, kind in zip(found.cells, layout.columns, layout.kinds, strict=True):
            texts = cells.texts(pa.string())
            array, wrong = of_text(texts, kind, drops_specials=self.settings.drops_specials)
            arrays.append(array)
            problems.append((column.name, wrong))
            if cells.unchanged is not None:
                unchanged[column.name] = cells.unchanged
        at = places[found.messages]
        is_insert_only = not found.kinds.any()
        yield from Decoded(
            table=followed.table,
            database=self.settings.login.dbname,
            layout=layout,
            columns=arrays,
            problems=problems,
            kinds=None if is_insert_only else found.kinds,
            follows=None if is_insert_only else found.follows,
            lsns=messages.lsns[at],
            millis=messages.millis[at],
            unchanged=unchanged,
        ).events()

    def _changed(self, oid: int, table: str, layout: Layout, lsn: int) -> Iterator[Event]:
        """Say that rows have another schema than those that were yielded before them."""
        before = self._yielded.get(oid)
        self._yielded[oid] = layout
        if before is not None and before.schema != layout.schema:
            yield SourceSchemaChange(
                table=table,
                before=before.schema,
                after=layout.schema,
                position=lsn_text(lsn),
                reason="relation message",
            )

    def truncated(self, found: pgoutput.Truncation, lsn: int, place: Place) -> Iterator[Event]:
        """Yield that tables were emptied."""
        for oid in found.oids:
            if self._is_read(oid, place) and lsn >= place.copied_at.get(oid, 0):
                table = self._followed[oid].table
                yield Truncated(table=table, position=lsn_text(lsn), reason=found.statement)


def layout_of(table: ServerTable, types: Types, published: Publication | None) -> Layout:
    """Return how rows of a table are read: columns that are published."""
    part = None if published is None else published.tables.get(table.oid)
    columns = table.columns
    if part is not None and part.columns is not None:
        columns = tuple(column for column in columns if column.name in part.columns)
    return types.layout(table.full_name, columns, table.keys, table.comment)
