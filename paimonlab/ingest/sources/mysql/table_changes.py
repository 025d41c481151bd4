"""What is known of the columns of tables while their log is read, and how it changes.

The log tells columns with each table's rows. Statements add what it does not tell; what neither
tells (comments, and defaults that were not understood) is looked up when there is nothing more to
read, so that it is known to be of this place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from paimonlab.ingest.changes import JsonValue, SourceSchema, SourceSchemaChange
from paimonlab.ingest.sources.column_names import moved, names_now, schema_changes
from paimonlab.ingest.sources.mysql.columns import TableInfo, schema_of
from paimonlab.ingest.sources.mysql.positions import Position
from paimonlab.ingest.sources.mysql.statements import Change, ColumnWords

PASSED_OVER = re.compile(r"_.+_(gho|ghc|del|new|old)|#.*")
"""Tables that gh-ost, pt-online-schema-change and the server make for a while."""
_FROM_LOG = "the columns of its rows in the log"
_REASON_LENGTH = 500


@dataclass(slots=True)
class TableChanges:
    """Columns of tables at the place that is read."""

    declared: dict[str, dict[str, str]] = field(default_factory=dict)
    """Types that the log does not tell, by table and column."""
    altered: dict[str, dict[str, str]] = field(default_factory=dict)
    """Tables that statements changed, which are to be looked at, with columns they renamed, and
    `DROPPED` as the new name of those they dropped."""
    infos: dict[str, TableInfo] = field(default_factory=dict)
    """As tables were when they were looked at; they may be ahead of the log."""
    current: dict[str, tuple[TableInfo, SourceSchema]] = field(default_factory=dict)
    """Of rows that came."""
    began: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Columns of tables where reading began, as far as they are known."""
    _words: dict[str, dict[str, ColumnWords]] = field(default_factory=dict)
    _reasons: dict[str, str] = field(default_factory=dict)
    _unreadable: set[str] = field(default_factory=set)
    """Tables of which it was said that their rows cannot be read."""

    def noted(self, position: Position) -> Position:
        """Return a position that tells what another process needs to know."""
        return replace(
            position,
            declared={table: dict(columns) for table, columns in self.declared.items() if columns},
            altered={table: dict(renamed) for table, renamed in self.altered.items()},
        )

    def seen(
        self, info: TableInfo, mapping: frozenset[str], here: JsonValue
    ) -> tuple[list[SourceSchemaChange], SourceSchema, TableInfo]:
        """Take columns as the log tells them; return what changed, and what they are."""
        name = info.name
        known = self.current.get(name)
        names = self.altered.get(name)
        if known is not None and known[0].outline == info.outline and not names:
            return [], known[1], known[0]
        looked_up = self.infos.get(name)
        is_same = looked_up is not None and looked_up.outline == info.outline
        found = looked_up if looked_up is not None and is_same else self._with_words(info)
        schema = schema_of(found, mapping)
        if schema.refusal is not None:
            return list(self.refused(name, schema, here)), schema, found
        self._unreadable.discard(name)
        if names is not None:
            self.altered[name] = {}  # comments are still to be looked up
        self.current[name] = found, schema
        before = None if known is None else known[1]
        reason = self._reasons.get(name, _FROM_LOG)
        changes = list(schema_changes(name, before, schema, names or {}, here, reason))
        if before is None and len(changes) == 1 and not changes[0].renamed:
            changes = []
        return changes, schema, found

    def refused(
        self, table: str, schema: SourceSchema, here: JsonValue
    ) -> Iterator[SourceSchemaChange]:
        """Say once that rows of a table cannot be read from here on."""
        known = self.current.pop(table, None)
        if table in self._unreadable:
            return
        self._unreadable.add(table)
        yield SourceSchemaChange(
            table=table,
            before=None if known is None else known[1],
            after=schema,
            position=here,
            reason=self._reasons.get(table, _FROM_LOG),
        )

    def _with_words(self, info: TableInfo) -> TableInfo:
        words = self._words.get(info.name, {})
        columns = tuple(
            replace(column, default=words[column.name].default, comment=words[column.name].comment)
            if column.name in words
            else column
            for column in info.columns
        )
        return replace(info, columns=columns)

    def looked_at(
        self, infos: Mapping[str, TableInfo], mapping: frozenset[str], here: JsonValue
    ) -> Iterator[SourceSchemaChange]:
        """Take what tables that were altered are now, at this place of the log."""
        for name in list(self.altered):
            info = infos.get(name)
            if info is None:
                del self.altered[name]
                continue
            schema = schema_of(info, mapping)
            names = self.altered.pop(name)
            if schema.refusal is not None:
                yield from self.refused(name, schema, here)
                continue
            known = self.current.get(name)
            self.infos[name] = info
            self.declared[name] = info.declared
            self.current[name] = info, schema
            before = None if known is None else known[1]
            reason = self._reasons.pop(name, _FROM_LOG)
            yield from schema_changes(name, before, schema, names, here, reason)

    def changed(
        self,
        change: Change,
        wants: Callable[[str], bool],
        position: JsonValue,
        reason: str,
        *,
        is_replaced: bool = False,
        is_read: bool = False,
    ) -> Iterator[SourceSchemaChange]:
        """Take what a statement says; yield what follows from it at once.

        Parameters
        ----------
        change
            Of one table.
        wants
            Whether a table is read.
        position, reason
            Of the statement, and its text.
        is_replaced
            Whether the same statement gives the table's name to another one.
        is_read
            Whether the rows of a table that is renamed were read later, under its new name.
        """
        match change.verb:
            case "drop":
                yield from self._dropped(change.table, wants, position, reason)
            case "drop database":
                for table in [name for name in self.names() if name.startswith(change.table)]:
                    yield from self._dropped(table, wants, position, reason)
            case "create":
                if change.is_conditional and self._columns_at_place(change.table):
                    return
                if change.replaces and change.table in self.names():
                    yield from self._dropped(change.table, wants, position, reason)
                words = change.column_changes(()).words
                declared = {
                    name: said.declared for name, said in words.items() if said.declared is not None
                }
                if change.like is not None:
                    declared = dict(self.declared.get(change.like, {}))
                    self.began[change.table] = tuple(self._now(change.like))
                else:
                    self.began[change.table] = tuple(words)
                self.declared[change.table] = declared
                self._note(change.table, wants, reason)
                self._words[change.table] = dict(words)
            case _:
                self._note(change.table, wants, reason)
                self._alter(change)
                if change.rows_go and wants(change.table):
                    yield from self._rows_gone(change.table, position, reason)
                if change.new_name is not None:
                    # A copy that was made to alter a table takes its place with the same rows.
                    is_copy = PASSED_OVER.fullmatch(change.table.partition(".")[2]) is not None
                    yield from self._moved(
                        change,
                        wants,
                        position,
                        reason,
                        is_replaced=is_replaced,
                        has_its_rows=is_copy or is_read,
                    )

    def _rows_gone(
        self, table: str, position: JsonValue, reason: str
    ) -> Iterator[SourceSchemaChange]:
        """Say in the log of the job that partitions are gone; their rows are kept."""
        known = self.current.get(table)
        if known is not None:
            yield SourceSchemaChange(
                table=table,
                before=known[1],
                after=known[1],
                position=position,
                reason=f"rows of partitions are gone at the source and kept here: {reason}",
            )

    def names(self) -> list[str]:
        """Return the tables that are known."""
        began = (table for table, columns in self.began.items() if columns)
        return list(dict.fromkeys([*self.current, *self.infos, *self.declared, *began]))

    def _note(self, table: str, wants: Callable[[str], bool], reason: str) -> None:
        if wants(table):
            if self.altered.setdefault(table, {}) and table in self._reasons:
                reason = f"{self._reasons[table]}; {reason}"[:_REASON_LENGTH]
            self._reasons[table] = reason

    def _forget(self, table: str) -> SourceSchema | None:
        for known in (self.declared, self.altered, self.infos, self._words, self._reasons):
            known.pop(table, None)
        self.began[table] = ()
        found = self.current.pop(table, None)
        return None if found is None else found[1]

    def _dropped(
        self, table: str, wants: Callable[[str], bool], position: JsonValue, reason: str
    ) -> Iterator[SourceSchemaChange]:
        before = self._forget(table)
        if wants(table):
            yield SourceSchemaChange(
                table=table, before=before, after=None, position=position, reason=reason
            )

    def _alter(self, change: Change) -> None:
        table = change.table
        known, before = self._columns(table), self.altered.get(table, {})
        found = change.column_changes(self._now(table))
        declared = {
            found.renamed.get(name, name): kind
            for name, kind in self.declared.get(table, {}).items()
            if name not in found.dropped
        }
        for name, said in found.words.items():
            if said.declared is None:
                declared.pop(name, None)
            else:
                declared[name] = said.declared
        self.declared[table] = declared
        self._words.setdefault(table, {}).update(found.words)
        if table in self.altered:
            self.altered[table] = moved(before, found.renamed, found.dropped, found.added, known)

    def _columns(self, table: str) -> Sequence[str]:
        """Return the names that columns had at first, as far as they are known."""
        if found := self._columns_at_place(table):
            return found
        return [column.name for column in self.infos[table].columns] if table in self.infos else []

    def _columns_at_place(self, table: str) -> Sequence[str]:
        if table in self.current:
            return [column.name for column in self.current[table][0].columns]
        return self.began.get(table, ())

    def _now(self, table: str) -> list[str]:
        """Return the names that columns have, as far as they are known."""
        return names_now(self.altered.get(table, {}), self._columns(table))

    def _moved(
        self,
        change: Change,
        wants: Callable[[str], bool],
        position: JsonValue,
        reason: str,
        *,
        is_replaced: bool,
        has_its_rows: bool,
    ) -> Iterator[SourceSchemaChange]:
        """Give a table its new name."""
        table, new_name = change.table, change.new_name
        assert new_name is not None, "it has one"
        declared, names = self.declared.get(table, {}), self._now(table)
        before = self._forget(table) if not is_replaced else None
        if is_replaced:
            self.declared.pop(table, None)
        elif wants(table):
            yield SourceSchemaChange(
                table=table, before=before, after=None, position=position, reason=reason
            )
        self.declared[new_name], self.began[new_name] = declared, tuple(names)
        self._note(new_name, wants, reason)
        if wants(new_name) and not has_its_rows:
            problem = (
                f"{table} was renamed to {new_name} at {_shown(position)}, and the rows that it "
                "had are not in the log: ask for resnapshot, which reads them"
            )
            yield from self.refused(new_name, SourceSchema(columns=(), refusal=problem), position)


def _shown(position: JsonValue) -> str:
    return ":".join(map(str, position.values())) if isinstance(position, dict) else str(position)
