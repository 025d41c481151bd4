"""What is below an entry of the catalog tree: a page of entries at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from paimonlab.errors import NotFoundError
from paimonlab.notebook.display.numbers import bytes_text, count, many, signed_many
from paimonlab.server.warehouses import Opened, opened
from paimonlab.spec.identifier import MAIN_BRANCH
from paimonlab.spec.snapshot import Snapshot
from paimonlab.spec.sql_text.call_text import quoted
from paimonlab.spec.types.data_types import DataField, with_nullable
from paimonlab.spec.types.text import format_type
from paimonlab.table.table import Table

MOST_ENTRIES = 1_000
"""Entries of a page at most."""
Kind: TypeAlias = Literal[
    "database", "table", "view", "group", "column", "snapshot", "tag", "branch", "partition"
]


class Entry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One entry of the tree."""

    kind: Kind
    name: str
    """What requests name it by, below the entry above it."""
    label: str
    detail: str = ""
    """What is shown in grey behind the label."""
    time_millis: int | None = None
    """When it was committed."""
    has_children: bool = False
    insert: str = ""
    """What is put into a cell for it."""


class Entries(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A page of entries."""

    entries: tuple[Entry, ...]
    total: int
    """How many there are on all pages."""


def children(root: Path, path: Sequence[str], *, offset: int = 0, limit: int = 200) -> Entries:
    """Return entries below one.

    Parameters
    ----------
    root
        The folder that Jupyter Server shows.
    path
        Key of the warehouse, then names: a database, a table or view, one of `GROUPS`.
    offset, limit
        Which of the entries; ``limit`` is at most `MOST_ENTRIES`.

    Raises
    ------
    NotFoundError
        If there is no such entry, or nothing can be below it.
    """
    if offset < 0 or not 1 <= limit <= MOST_ENTRIES:
        raise ValueError(f"offset is at least 0, limit 1 to {MOST_ENTRIES}: {offset}, {limit}")
    warehouse = opened(root, path[0])
    page = slice(offset, offset + limit)
    match list(path[1:]):
        case []:
            return _page(warehouse.catalog.databases(), page, _database)
        case [database]:
            warehouse.check(database)
            entries = [_table(database, name) for name in warehouse.catalog.tables(database)]
            entries += [_view(database, name) for name in warehouse.views(database)]
            entries += [_files(database, name) for name in warehouse.format_tables(database)]
            shown = sorted(entries, key=lambda entry: entry.name)
            return Entries(entries=tuple(shown[page]), total=len(shown))
        case [database, name]:
            view = warehouse.view(database, name)
            if view is not None:
                return _columns(view.fields, (), (), page)
            files = warehouse.format_table(database, name)
            if files is not None:
                return _columns(files.schema.fields, (), files.partition_keys, page)
            return _groups(warehouse.table(database, name))
        case [database, table, group] if group in GROUPS:
            return GROUPS[group](warehouse, warehouse.table(database, table), page)
    raise NotFoundError(f"nothing is below {' / '.join(path[1:])}")


def _page(names: Sequence[str], page: slice, entry: Callable[[str], Entry]) -> Entries:
    return Entries(entries=tuple(map(entry, names[page])), total=len(names))


def _database(name: str) -> Entry:
    return Entry(kind="database", name=name, label=name, has_children=True, insert=quoted(name))


def _table(database: str, name: str) -> Entry:
    full = f"{quoted(database)}.{quoted(name)}"
    return Entry(kind="table", name=name, label=name, has_children=True, insert=full)


def _view(database: str, name: str) -> Entry:
    full = f"{quoted(database)}.{quoted(name)}"
    return Entry(kind="view", name=name, label=name, detail="view", has_children=True, insert=full)


def _files(database: str, name: str) -> Entry:
    """Return the entry of a format table: its columns are all that is below it."""
    full = f"{quoted(database)}.{quoted(name)}"
    detail = "format table"
    return Entry(kind="view", name=name, label=name, detail=detail, has_children=True, insert=full)


def _groups(table: Table) -> Entries:
    counts = {
        "columns": len(table.schema.fields),
        "snapshots": len(table.snapshots.ids()),
        "tags": len(table.tags.list()),
        "branches": len(table.branches.list()),
    }
    shown = [
        Entry(kind="group", name=name, label=name, detail=count(number), has_children=number > 0)
        for name, number in counts.items()
    ]
    if table.partition_keys:
        by = f"by {', '.join(table.partition_keys)}"
        has_rows = table.snapshot is not None
        shown.append(
            Entry(
                kind="group",
                name="partitions",
                label="partitions",
                detail=by,
                has_children=has_rows,
            )
        )
    return Entries(entries=tuple(shown), total=len(shown))


def _columns_of(_warehouse: Opened, table: Table, page: slice) -> Entries:
    schema = table.schema
    return _columns(schema.fields, schema.primary_keys, schema.partition_keys, page)


def _columns(
    fields: Sequence[DataField],
    primary_keys: Sequence[str],
    partition_keys: Sequence[str],
    page: slice,
) -> Entries:
    shown = []
    for field in fields[page]:
        is_key = field.name in primary_keys  # and so NOT NULL, which would take the room of that
        facts = [format_type(with_nullable(field.type, nullable=True) if is_key else field.type)]
        facts += ["primary key"] if is_key else []
        facts += ["partition"] if field.name in partition_keys else []
        facts += [field.description] if field.description else []
        shown.append(
            Entry(
                kind="column",
                name=field.name,
                label=field.name,
                detail=" · ".join(facts),
                insert=quoted(field.name),
            )
        )
    return Entries(entries=tuple(shown), total=len(fields))


def _snapshots(_warehouse: Opened, table: Table, page: slice) -> Entries:
    ids = list(reversed(table.snapshots.ids()))
    shown = []
    for number in ids[page]:
        try:
            shown.append(_snapshot("snapshot", str(number), table.snapshots.get(number)))
        except NotFoundError:  # it has expired meanwhile
            continue
    return Entries(entries=tuple(shown), total=len(ids))


def _tags(_warehouse: Opened, table: Table, page: slice) -> Entries:
    tags = list(table.tags.list().items())
    shown = tuple(_snapshot("tag", name, tag) for name, tag in tags[page])
    return Entries(entries=shown, total=len(tags))


def _snapshot(kind: Literal["snapshot", "tag"], name: str, snapshot: Snapshot) -> Entry:
    version = name if kind == "snapshot" else "'" + name.replace("'", "''") + "'"
    parts = [f"snapshot {snapshot.id}"] if kind == "tag" else []
    added = snapshot.delta_record_count
    parts += [signed_many(added, "row")] if added else []
    parts += [snapshot.commit_kind.value.lower()]
    return Entry(
        kind=kind,
        name=name,
        label=name,
        detail=" · ".join(parts),
        time_millis=snapshot.time_millis,
        insert=f"VERSION AS OF {version}",
    )


def _branches(_warehouse: Opened, table: Table, page: slice) -> Entries:
    def entry(name: str) -> Entry:
        on = f"{quoted(table.identifier.database)}.`{table.identifier.table}$branch_{name}`"
        return Entry(kind="branch", name=name, label=name, insert=on)

    others = [name for name in table.branches.list() if name != MAIN_BRANCH]
    return _page(others, page, entry)


def _partitions(warehouse: Opened, table: Table, page: slice) -> Entries:
    listed = warehouse.catalog.system_table(f"{table.name}$partitions")
    wanted = ["partition", "record_count", "file_size_in_bytes"]
    rows = listed.scan(wanted).to_arrow().sort_by("partition")
    shown = tuple(
        Entry(
            kind="partition",
            name=row["partition"],
            label=row["partition"],
            detail=f"{many(row['record_count'], 'row')} · {bytes_text(row['file_size_in_bytes'])}",
            insert=row["partition"],
        )
        for row in rows.slice(page.start, page.stop - page.start).to_pylist()
    )
    return Entries(entries=shown, total=rows.num_rows)


GROUPS: dict[str, Callable[[Opened, Table, slice], Entries]] = {
    "columns": _columns_of,
    "snapshots": _snapshots,
    "tags": _tags,
    "branches": _branches,
    "partitions": _partitions,
}
"""What is listed below a table."""
