"""Columns that are renamed, dropped and added again before a row comes."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import example, given, settings
from hypothesis import strategies as st

from paimonlab.ingest import SourceColumn, SourceSchema
from paimonlab.ingest.evolution import Evolve, evolution
from paimonlab.ingest.sources.column_names import moved, steps
from paimonlab.ingest.sources.mysql.columns import TableInfo
from paimonlab.ingest.sources.mysql.events import LogColumn, LogTable, LogType
from paimonlab.ingest.sources.mysql.log_tables import Charsets, table_info
from paimonlab.ingest.sources.mysql.positions import Place, Position, from_json
from paimonlab.ingest.sources.mysql.statements import meaning_of
from paimonlab.ingest.sources.mysql.table_changes import TableChanges
from paimonlab.spec.schema.definition import Schema, new_table_schema
from paimonlab.spec.schema.schema_changes import (
    AddColumn,
    DropColumn,
    RenameColumn,
    SchemaChange,
)
from paimonlab.spec.types.text import parse_type


def _schema(names: Iterable[str]) -> SourceSchema:
    kind = parse_type("INT")
    return SourceSchema(columns=tuple(SourceColumn(name=name, type=kind) for name in names))


_STATEMENTS = st.lists(
    st.tuples(
        st.sampled_from(["drop", "add", "rename"]), st.sampled_from("abcd"), st.sampled_from("abcd")
    )
)


@settings(max_examples=150)
@example([("drop", "b", "a"), ("drop", "c", "a"), ("add", "c", "a"), ("rename", "a", "b")])
@given(_STATEMENTS)
def test_a_column_is_the_one_that_it_was(statements: list[tuple[str, str, str]]) -> None:
    """A table that follows its source has each column's own values, or refuses."""
    source: dict[str, int] = {"id": 0, "a": 1, "b": 2, "c": 3}  # names to which column it is
    before, names = dict(source), dict[str, str]()
    for number, (verb, name, other) in enumerate(statements):
        if verb == "add" and name not in source:
            source[name] = 10 + number
            names = moved(names, {}, [], [name], before)
        elif verb == "drop" and name in source:
            del source[name]
            names = moved(names, {}, [name.upper()], [], before)
        elif verb == "rename" and name in source and other not in source:
            source[other] = source.pop(name)
            names = moved(names, {name: other}, [], [], before)

    table, known = dict(before), _schema(before)
    for schema, renamed in steps(_schema(source), names):
        fields = {name: parse_type("INT") for name in table}
        found = evolution(
            new_table_schema(Schema(fields), time_millis=0),
            known,
            schema,
            mode=Evolve.EXACT,
            renamed=renamed,
        )
        if found.refusal is not None:
            assert "which another column had" in found.refusal
            return
        for change in found.changes:
            _apply(table, change)
        # A process that ended now does it again.
        again = evolution(
            new_table_schema(Schema({name: parse_type("INT") for name in table}), time_millis=0),
            known,
            schema,
            mode=Evolve.EXACT,
            renamed=renamed,
        )
        assert not again.changes
        assert again.refusal is None
        known = schema
    new = {name: -1 if column > 9 else column for name, column in source.items()}
    assert table == new


def _apply(table: dict[str, int], change: SchemaChange) -> None:
    match change:
        case DropColumn(name):
            del table[name]
        case RenameColumn(old, new):
            table[new] = table.pop(old)
        case AddColumn(name):
            table[name] = -1


def test_a_dropped_column_is_known_after_a_restart() -> None:
    def info(columns: str) -> TableInfo:
        log = tuple(
            LogColumn(name=name, type=LogType.LONG, meta=0, is_nullable=True) for name in columns
        )
        return table_info(LogTable(database="d", table="t", columns=log, keys=()), {}, Charsets({}))

    def takes(tables: TableChanges, text: str) -> None:
        for change in meaning_of(f"ALTER TABLE t {text}", "d").changes:
            assert not list(tables.changed(change, lambda _: True, None, text))

    first = TableChanges()
    first.seen(info("ab"), frozenset(), None)
    takes(first, "DROP B")
    noted = first.noted(Position(server="s", place=Place(file="b.1", at=4)))
    later = TableChanges(
        altered={
            name: dict(texts) for name, texts in from_json(noted.to_json(), "m").altered.items()
        }
    )
    reasons = []
    for tables in (first, later):
        takes(tables, "ADD b INT")
        changes, schema, _ = tables.seen(info("ab"), frozenset(), None)
        told = [change.after.names for change in changes if change.after is not None]
        assert told == [("a",), ("a", "b")]
        assert changes[-1].after == schema
        assert tables.seen(info("ab"), frozenset(), None)[0] == []
        reasons.append(changes[0].reason)
    assert reasons == ["DROP B; ADD b INT", "ADD b INT"]
