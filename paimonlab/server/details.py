"""What the panel says of the table that is chosen: what it is, and how well it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from paimonlab.analysis.health.report import HealthFinding
from paimonlab.analysis.health.table_health import table_health
from paimonlab.errors import NotFoundError, PaimonError
from paimonlab.notebook.display.numbers import bytes_text, count, many, signed_many
from paimonlab.secrets import redacted
from paimonlab.server.warehouses import Opened, opened
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.view import View
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.table import Table

MOST_TABLES = 5_000
"""Tables whose columns a search looks at."""
MOST_HITS = 200


class Details(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a table is."""

    table: str
    headline: str
    """What its newest commit did."""
    time_millis: int | None
    """When that was; None: there is none."""
    facts: tuple[tuple[str, str], ...]
    """Names and values, in the order in which they are shown."""
    query: str = ""
    """What a view stands for; empty: it is a table."""


class State(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How large a table is, and what could be better about it."""

    facts: tuple[tuple[str, str], ...]
    worst: str
    """Severity of the worst finding; ``ok`` if there is none."""
    findings: tuple[HealthFinding, ...]
    problem: str
    """Why the table could not be looked at; empty: it was."""


class Hit(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A database, a table or a column whose name contains what was searched for."""

    kind: str
    path: tuple[str, ...]
    """Where it is in the tree."""
    label: str


class Hits(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a search found."""

    hits: tuple[Hit, ...]
    is_cut: bool
    """Whether there may be more, which were not looked at."""


def details(root: Path, path: Sequence[str]) -> Details:
    """Say what a table or view is; its schema and newest snapshot are read."""
    _check_depth(path)
    view = opened(root, path[0]).view(path[1], path[2])
    if view is not None:
        return _of_view(f"{path[1]}.{path[2]}", view)
    table = _table(root, path)
    schema, snapshot = table.schema, table.snapshot
    added = None if snapshot is None else snapshot.delta_record_count
    headline = "Nothing was written to it yet."
    if snapshot is not None:
        what = signed_many(added, "row") if added else "no other number of rows"
        headline = f"Snapshot {snapshot.id}, {snapshot.commit_kind.value.lower()}: {what}"
    options = redacted(schema.options)
    facts = {
        "comment": schema.comment or "",
        "primary key": ", ".join(schema.primary_keys),
        "partitioned by": ", ".join(schema.partition_keys),
        "columns": count(len(schema.fields)),
        "user": "" if snapshot is None else snapshot.commit_user[:8],
        "options": ", ".join(f"{key} = {value}" for key, value in options.items()),
    }
    return Details(
        table=table.name,
        headline=headline,
        time_millis=None if snapshot is None else snapshot.time_millis,
        facts=tuple((name, value) for name, value in facts.items() if value),
    )


def _of_view(name: str, view: View) -> Details:
    facts = {
        "comment": view.comment or "",
        "dialects": ", ".join(view.dialects),
        "options": ", ".join(f"{key} = {value}" for key, value in redacted(view.options).items()),
    }
    return Details(
        table=name,
        headline=f"A view of {many(len(view.fields), 'column')}",
        time_millis=None,
        facts=tuple((name, value) for name, value in facts.items() if value),
        query=view.query_in("spark"),
    )


def state(root: Path, path: Sequence[str]) -> State:
    """Say how large a table is and what could be better; the manifests are read."""
    table = _table(root, path)
    found = table_health(definition_of(table), store_of(table))
    merged = bool(table.primary_keys and found.record_count)
    level_0 = f", {count(found.level_0_files)} on level 0" if found.level_0_files else ""
    facts = {
        "size": bytes_text(found.total_bytes),
        "rows": count(found.record_count) + " before merging" * merged,
        "files": count(found.file_count) + level_0 * merged,
        "snapshots": count(found.snapshot_count),
    }
    shown = tuple(facts.items()) if not found.problem else ()
    return State(
        facts=shown, worst=found.worst, findings=found.findings[:20], problem=found.problem
    )


def search(root: Path, keys: Sequence[str], text: str) -> Hits:
    """Find databases, tables and columns whose names contain a text, in upper or lower case.

    Parameters
    ----------
    root
        The folder that Jupyter Server shows.
    keys
        The warehouses to search.
    text
        At least two letters.

    Raises
    ------
    ValueError
        If the text is shorter.
    """
    wanted = text.strip().lower()
    if len(wanted) < 2:
        raise ValueError("search for two letters or more")
    hits: list[Hit] = []
    looked_at = 0
    for key in keys:
        warehouse = opened(root, key)
        for database in warehouse.catalog.databases():
            if wanted in database.lower():
                hits.append(Hit(kind="database", path=(key, database), label=database))
            for name in _tables(warehouse, database):
                looked_at += 1
                if looked_at > MOST_TABLES or len(hits) >= MOST_HITS:
                    return Hits(hits=tuple(hits[:MOST_HITS]), is_cut=True)
                hits += _in_table(warehouse, key, database, name, wanted)
            for name in _views(warehouse, database):
                hits += _in_view(warehouse, key, database, name, wanted)
    return Hits(hits=tuple(hits[:MOST_HITS]), is_cut=len(hits) > MOST_HITS)


def _tables(warehouse: Opened, database: str) -> list[str]:
    """Return the tables of a database; none of one that the tree says cannot be read."""
    try:
        warehouse.check(database)
        return warehouse.catalog.tables(database)
    except PaimonError:
        return []


def _views(warehouse: Opened, database: str) -> list[str]:
    try:
        return warehouse.views(database)
    except PaimonError:
        return []


def _in_view(warehouse: Opened, key: str, database: str, name: str, wanted: str) -> list[Hit]:
    path = (key, database, name)
    hits = []
    if wanted in name.lower():
        hits.append(Hit(kind="view", path=path, label=f"{database}.{name}"))
    view = warehouse.view(database, name)
    return hits + _in_fields(path, () if view is None else view.fields, wanted)


def _in_fields(path: tuple[str, ...], fields: Sequence[DataField], wanted: str) -> list[Hit]:
    full = ".".join(path[1:3])
    return [
        Hit(kind="column", path=(*path, field.name), label=f"{full}.{field.name}")
        for field in fields
        if wanted in field.name.lower()
    ]


def _in_table(warehouse: Opened, key: str, database: str, name: str, wanted: str) -> list[Hit]:
    full = f"{database}.{name}"
    hits = []
    if wanted in name.lower():
        hits.append(Hit(kind="table", path=(key, database, name), label=full))
    try:
        fields = warehouse.table(database, name).schema.fields
    except PaimonError:  # the tree says why
        return hits
    return hits + _in_fields((key, database, name, "columns"), fields, wanted)


def _check_depth(path: Sequence[str]) -> None:
    if len(path) != 3:
        raise NotFoundError(f"{' / '.join(path[1:])} is not a table")


def _table(root: Path, path: Sequence[str]) -> Table:
    _check_depth(path)
    return opened(root, path[0]).table(path[1], path[2])
