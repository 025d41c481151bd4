"""What is known of the columns of tables while their log is read, and how it changes.

The log tells columns with each table's rows. Statements add what it does not tell; what neither
tells (comments, and defaults that were not understood) is looked up when there is nothing more to
read, so that it is known to be of this place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from paimonlab.ingest.changes import JsonValue, SourceSchema, SourceSchemaChange
from paimonlab.ingest.sources.column_names import moved, schema_changes
from paimonlab.ingest.sources.mysql.columns import TableInfo, schema_of
from paimonlab.ingest.sources.mysql.positions import Position
from paimonlab.ingest.sources.mysql.statements import Change, ColumnWords

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
    _words: dict[str, dict[str, ColumnWords]] = field(default_factory=dict)
    _reasons: dict[str, str] = field(default_factory=dict)

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
        if names is not None:
            self.altered[name] = {}  # comments are still to be looked up
        self.current[name] = found, schema
        before = None if known is None else known[1]
        reason = self._reasons.get(name, _FROM_LOG)
        changes = list(schema_changes(name, before, schema, names or {}, here, reason))
        if before is None and len(changes) == 1 and not changes[0].renamed:
            changes = []
        return changes, schema, found

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
        """
        match change.verb:
            case "drop":
                yield from self._dropped(change.table, wants, position, reason)
            case "drop database":
                for table in [name for name in self.names() if name.startswith(change.table)]:
                    yield from self._dropped(table, wants, position, reason)
            case "create":
                declared = {
                    name: words.declared
                    for name, words in change.columns.items()
                    if words.declared is not None
                }
                if change.like is not None:
                    declared = dict(self.declared.get(change.like, {}))
                self.declared[change.table] = declared
                self._note(change.table, wants, reason)
                self._words[change.table] = dict(change.columns)
            case _:
                self._note(change.table, wants, reason)
                self._alter(change)
                if change.rows_go and wants(change.table):
                    yield from self._rows_gone(change.table, position, reason)
                if change.new_name is not None:
                    yield from self._moved(change, wants, position, reason, is_replaced)

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
        return list(dict.fromkeys([*self.current, *self.infos, *self.declared]))

    def _note(self, table: str, wants: Callable[[str], bool], reason: str) -> None:
        if wants(table):
            if self.altered.setdefault(table, {}) and table in self._reasons:
                reason = f"{self._reasons[table]}; {reason}"[:_REASON_LENGTH]
            self._reasons[table] = reason

    def _forget(self, table: str) -> SourceSchema | None:
        for known in (self.declared, self.altered, self.infos, self._words, self._reasons):
            known.pop(table, None)
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
        declared = self.declared.setdefault(change.table, {})
        words = self._words.setdefault(change.table, {})
        for old, new in change.renamed.items():
            if old in declared:
                declared[new] = declared.pop(old)
        for name, said in change.columns.items():
            words[name] = said
            if said.declared is None:
                declared.pop(name, None)
            else:
                declared[name] = said.declared
        if change.table in self.altered:
            self.altered[change.table] = moved(
                self.altered[change.table],
                change.renamed,
                change.dropped,
                change.added,
                self._columns(change.table),
            )

    def _columns(self, table: str) -> list[str]:
        """Return the names of columns, as far as they are known."""
        infos = [self.current[table][0]] if table in self.current else []
        infos += [self.infos[table]] if table in self.infos else []
        return [column.name for info in infos for column in info.columns]

    def _moved(
        self,
        change: Change,
        wants: Callable[[str], bool],
        position: JsonValue,
        reason: str,
        is_replaced: bool,  # noqa: FBT001 - of `changed`
    ) -> Iterator[SourceSchemaChange]:
        """Give a table its new name."""
        table, new_name = change.table, change.new_name
        assert new_name is not None, "it has one"
        declared = self.declared.get(table, {})
        before = self._forget(table) if not is_replaced else None
        if is_replaced:
            self.declared.pop(table, None)
        elif wants(table):
            yield SourceSchemaChange(
                table=table, before=before, after=None, position=position, reason=reason
            )
        self.declared[new_name] = declared
        self._note(new_name, wants, reason)
