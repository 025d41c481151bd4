"""The history of a schema as tables, as text and as a diff in Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from paimonlab.analysis.schema_history import (
    SchemaDifference,
    SchemaHistory,
    SchemaVersion,
    column_text,
)
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid, texts
from paimonlab.notebook.display.headlines import when
from paimonlab.notebook.display.numbers import count, many, time_text
from paimonlab.notebook.display.view import rows
from paimonlab.spec.visible_text import visible

_WORDS = {"name": "renamed", "column": "added", "option": "option"}


def draw(history: SchemaHistory) -> Drawn[SchemaHistory]:
    """Draw the schemas, newest first, and the columns of the newest."""
    newest = history.versions[-1]
    return Drawn(
        history,
        _versions(history),
        rows(history.versions),
        others=[_columns(newest)],
        markdown=markdown(history),
        link=history.table,
    )


def _versions(history: SchemaHistory) -> Grid:
    has_times = any(version.time_millis is not None for version in history.versions)
    columns = [
        Column("schema", align=Align.RIGHT),
        *([Column("time (UTC)")] if has_times else []),
        Column("snapshots", rank=1),
        Column("what"),
        Column("name", is_optional=True),
        Column("before", is_optional=True),
        Column("after", is_optional=True),
    ]
    body = []
    for version in reversed(history.versions):
        head = [version.id, *([time_text(version.time_millis)] if has_times else []), _use(version)]
        for difference in difference_cells(version.differences) or [[_first(version), "", "", ""]]:
            body.append(texts([*head, *difference]))
            head = [""] * len(head)
    title, headline = f"{history.table}: schemas", _headline(history)
    return Grid(tuple(columns), body, title, headline=headline).without_empty()


def _headline(history: SchemaHistory) -> str:
    newest = history.versions[-1]
    if len(history.versions) == 1:
        return f"{many(len(newest.columns), 'column')}, never changed"
    found = Counter(map(_what, newest.differences))
    what = ", ".join(f"{number} {word}" for word, number in found.items())
    number = f"{len(history.versions):,} schemas"
    return f"{number}, the newest{when(newest.time_millis)}: {what or 'nothing else'}"


def _first(version: SchemaVersion) -> str:
    """Describe a schema without differences."""
    return many(len(version.columns), "column") if version.id == 0 else "nothing else"


def _use(version: SchemaVersion) -> str:
    use = version.used_by
    if use is None:
        return "none"
    if use.snapshot_count == 1:
        return str(use.first_snapshot)
    return f"{use.first_snapshot} to {use.last_snapshot} ({count(use.snapshot_count)})"


def difference_cells(differences: Iterable[SchemaDifference]) -> list[list[str]]:
    """Write what differs: what, name, before, after."""
    return [
        [_what(difference), difference.name, difference.before or "", difference.after or ""]
        for difference in differences
    ]


def _what(difference: SchemaDifference) -> str:
    if difference.aspect == "column" and difference.after is None:
        return "dropped"
    return _WORDS.get(difference.aspect, difference.aspect)


def _columns(version: SchemaVersion) -> Grid:
    columns = (
        Column("id", align=Align.RIGHT),
        Column("column"),
        Column("type"),
        Column("key", is_optional=True),
        Column("default", is_optional=True),
        Column("comment", is_optional=True),
    )
    body = [
        texts(
            [
                column.field_id,
                column.name,
                column.type_text + ("" if column.is_nullable else " NOT NULL"),
                ", ".join(_keys(version, column.name)),
                column.default,
                column.comment,
            ]
        )
        for column in version.columns
    ]
    options = ", ".join(f"{key} = {value}" for key, value in version.options.items())
    comment = "" if version.comment is None else f"{version.comment}; "
    footer = visible(f"{comment}{options}")
    return Grid(columns, body, f"columns of schema {version.id}", footer).without_empty()


def _keys(version: SchemaVersion, name: str) -> Iterator[str]:
    if name in version.primary_keys:
        yield "primary"
    if name in version.partition_keys:
        yield "partition"


def markdown(history: SchemaHistory) -> str:
    """Write the history as Markdown: under each schema a diff from the previous one."""
    return "\n".join(_markdown_lines(history)) + "\n"


def _markdown_lines(history: SchemaHistory) -> Iterator[str]:
    for version in reversed(history.versions):
        time = "" if version.time_millis is None else f", {time_text(version.time_millis)} UTC"
        yield f"**schema {version.id}**{time}, snapshots: {_use(version)}"
        yield ""
        yield "```diff"
        if version.differences:
            for difference in version.differences:
                yield from map(visible, _diff_lines(difference))
        else:
            for column in version.columns:
                yield visible(f"+ {column.name} {column_text(column)}")
        yield "```"
        yield ""


def _diff_lines(difference: SchemaDifference) -> Iterator[str]:
    what = "" if difference.aspect == "column" else f"{difference.aspect} "
    name = f"{difference.name} " if difference.name else ""
    if difference.aspect == "name":
        above, dot, _ = difference.name.rpartition(".")
        what, name = "column ", f"{above}{dot}"
    sign = " = " if difference.aspect == "option" else ""
    if difference.before is not None:
        yield f"- {what}{name.rstrip() if sign else name}{sign}{difference.before}"
    if difference.after is not None:
        yield f"+ {what}{name.rstrip() if sign else name}{sign}{difference.after}"
