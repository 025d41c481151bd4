"""Tables, catalogs, snapshots and reads as a card: what they are, in HTML.

Only metadata is read, and little of it: a card is drawn whenever a cell ends with its object.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from paimonlab.analysis.row_words import rows_are
from paimonlab.catalog import Catalog
from paimonlab.notebook.display import html
from paimonlab.notebook.display.grid import Align, Column, Grid, texts
from paimonlab.notebook.display.numbers import count, signed, time_text
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.secrets import redacted
from paimonlab.spec.plurals import many
from paimonlab.spec.rows_said import rows_said
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER, Snapshot
from paimonlab.spec.types.text import format_type
from paimonlab.table.inside import definition_of
from paimonlab.table.table import Table

MOST_ROWS = 50
"""Columns of a table, or tables of a catalog, that a card has."""
_MOST_SNAPSHOTS = 10


def of_table(table: Table) -> str:
    """Draw a table: its columns, options, and what the last commit did."""
    snapshot = table.snapshot
    counted = rows_are(table.primary_keys, definition_of(table).options)
    headline = "No rows yet" if snapshot is None else _commit(snapshot, counted)
    columns = _columns(table.schema, f"Table {table.name}", ".show has its views, .scan() its rows")
    return html.table(replace(columns, headline=headline))


def of_schema(schema: TableSchema) -> str:
    """Draw the columns and options of a schema."""
    return html.table(_columns(schema, f"Schema {schema.id}", ""))


def of_catalog(catalog: Catalog) -> str:
    """Draw the tables of a catalog."""
    rows: list[Sequence[object]] = []
    left = 0
    for database in catalog.databases():
        for name in catalog.tables(database) or [""]:
            if len(rows) < MOST_ROWS:
                rows.append((database, name))
            else:
                left += 1
    body = _once([texts(row) for row in rows])
    columns = (Column("database"), Column("table"))
    return html.table(Grid(columns, body, f"Catalog {catalog.path}", _more(left, "table")))


def of_snapshot(snapshot: Snapshot) -> str:
    """Draw a snapshot or a tag."""
    name = f"{type(snapshot).__name__} {snapshot.id}"
    facts: dict[str, object] = {
        "kind": snapshot.commit_kind.value.lower(),
        "time (UTC)": _time(snapshot),
        "records added": signed(snapshot.delta_record_count),
        "records before merging": count(snapshot.total_record_count),
        "changelog rows": count(snapshot.changelog_record_count or None),
        "schema": snapshot.schema_id,
        "user": "" if is_deterministic() else snapshot.commit_user,
        "identifier": _identifier(snapshot),
        **redacted(snapshot.properties or {}),
    }
    return html.table(_facts(name, facts))


def of_snapshots(snapshots: Any) -> str:
    """Draw the newest snapshots of a table."""
    newest, ids = snapshots.newest(_MOST_SNAPSHOTS)
    return html.table(
        _snapshots(
            "Snapshots",
            [("", snapshot) for snapshot in reversed(newest)],
            _more(len(ids) - len(newest), "older snapshot") if ids else "none yet",
        )
    )


def of_tags(tags: Any) -> str:
    """Draw the tags of a table."""
    there = list(tags.list().items())
    shown = there[:MOST_ROWS]
    footer = _more(len(there) - len(shown), "tag") if there else "none; .create() makes one"
    return html.table(_snapshots("Tags", shown, footer))


def of_line(shown: Any) -> str:
    """Draw what says in a line what it is, and how its rows are had."""
    return html.paragraph(f"{repr(shown)[1:-1]} (.to_arrow(), .to_pandas() read the rows)")


def _columns(schema: TableSchema, caption: str, footer: str) -> Grid:
    rows = []
    for field in schema.fields[:MOST_ROWS]:
        key = ["primary key"] if field.name in schema.primary_keys else []
        key += ["partition"] if field.name in schema.partition_keys else []
        rows.append(
            (
                field.name,
                format_type(field.type),
                ", ".join(key),
                field.default_value,
                field.description,
            )
        )
    heads = ("column", "type", "key", "default", "comment")
    wanted = [place for place in range(len(heads)) if place < 2 or any(row[place] for row in rows)]
    body = [texts([row[place] for place in wanted]) for row in rows]
    options = ", ".join(f"{key} = {value}" for key, value in redacted(schema.options).items())
    notes = [_more(len(schema.fields) - len(rows), "column"), options, footer]
    columns = tuple(Column(heads[place]) for place in wanted)
    return Grid(columns, body, caption, " · ".join(filter(None, notes)))


def _snapshots(caption: str, named: Iterable[tuple[str, Snapshot]], footer: str) -> Grid:
    shown = [*named]
    has_names = any(name for name, _ in shown)
    heads = [
        *([Column("name")] if has_names else []),
        Column("snapshot", align=Align.RIGHT),
        Column("kind"),
        Column("added", align=Align.RIGHT),
        Column("rows before merging", align=Align.RIGHT),
        Column("time (UTC)"),
    ]
    rows = []
    for name, snapshot in shown:
        facts = (
            snapshot.id,
            snapshot.commit_kind.value.lower(),
            signed(snapshot.delta_record_count),
            count(snapshot.total_record_count),
            _time(snapshot),
        )
        rows.append(texts([name, *facts] if has_names else facts))
    return Grid(tuple(heads), rows, caption, footer)


def _facts(caption: str, facts: Mapping[str, object]) -> Grid:
    rows = [texts((name, value)) for name, value in facts.items() if value not in ("", None)]
    return Grid((Column(""), Column("")), rows, caption)


def _commit(snapshot: Snapshot, counted: str) -> str:
    when = _time(snapshot)
    total, added = snapshot.total_record_count, snapshot.delta_record_count
    parts = [
        "" if total is None else f"{total:,} {_rows(total)}{counted.removeprefix('rows')}",
        f"snapshot {snapshot.id}: {snapshot.commit_kind.value.lower()}",
        "" if added is None else rows_said(snapshot.commit_kind.value, added),
        f"at {when} UTC" if when else "",
    ]
    return ", ".join(filter(None, parts))


def _rows(number: int) -> str:
    return "row" if abs(number) == 1 else "rows"


def _identifier(snapshot: Snapshot) -> str:
    """Show what the writer called its commit, if it called it anything."""
    is_any = snapshot.commit_identifier == BATCH_COMMIT_IDENTIFIER
    return "" if is_any or is_deterministic() else str(snapshot.commit_identifier)


def _time(snapshot: Snapshot) -> str:
    return "" if is_deterministic() else time_text(snapshot.time_millis)


def _once(rows: list[Any]) -> list[Any]:
    """Leave out a first cell that repeats the one above."""
    blank = texts([""])[0]
    return [
        row if number == 0 or rows[number - 1][0] != row[0] else (blank, *row[1:])
        for number, row in enumerate(rows)
    ]


def _more(left: int, what: str) -> str:
    return "" if left <= 0 else many(left, f"more {what}")
