"""Tables whose files are all accounted for."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
from msgspec.structs import replace

import paimonlab as pl
from paimonlab.commit.publisher import RenamelessPublisher
from paimonlab.maintenance.references import References, union
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.metadata.tags import TagManager
from paimonlab.storage import FileIO
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.table import Table
from paimonlab.table.upkeep.history import history_of


def new_table(path: Path, **options: str) -> pl.Table:
    """Make a keyed table of one bucket; ``a_b`` in a name stands for ``a-b``, ``a__b`` a dot."""
    catalog = pl.connect(path)
    catalog.create_database("db", exist_ok=True)
    given = {key.replace("__", ".").replace("_", "-"): value for key, value in options.items()}
    return catalog.create_table(
        "db.t",
        {"id": "INT", "v": "STRING"},
        primary_keys=["id"],
        options={"bucket": "1", "write-only": "true", **given},
    )


def opened(path: Path, store: FileIO | None = None) -> Table:
    """Open it, on another store if one is given."""
    table = pl.connect(path).table("db.t")
    assert isinstance(table, Table)
    if store is None:
        return table
    ours = store_of(table)
    publisher = RenamelessPublisher(store, ours.layout)
    ours = replace(ours, file_io=store, publisher=publisher)
    return Table(table.identifier, definition_of(table), ours)


def put(table: pl.Table, rows: Mapping[int, str], *, replaces: bool = True) -> None:
    """Write rows, in the place of all there are."""
    data = pa.table({"id": pa.array(rows, pa.int32()), "v": [*rows.values()]})
    if replaces:
        table.overwrite(data)
    else:
        table.write(data)


def filled(table: pl.Table, count: int) -> pl.Table:
    """Commit so many snapshots; number n holds just key n."""
    for number in range(1, count + 1):
        put(table, {number: "v"})
    return table


def ids(scan: pl.Scan) -> list[int]:
    """Return the keys of rows."""
    return sorted(scan.to_arrow()["id"].to_pylist())


def files(table: pl.Table) -> set[str]:
    """Return all files, relative to the table."""
    root = Path(table.path)
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def unaccounted(table: Table) -> set[str]:
    """Return the data and manifest files that nothing names; none that is named is missing."""
    definition, store, found = definition_of(table), store_of(table), References()
    names = [None, *store.branches.names()]
    for layout in [store.layout.on_branch(name) for name in names]:
        snapshots = SnapshotManager(store.file_io, layout).list()
        tags = [tag.to_snapshot() for _, tag in TagManager(store.file_io, layout).list()]
        reader = history_of(definition, store).reader
        found |= union(reader.of_state(one) | reader.of_commit(one) for one in snapshots)
        found |= union(reader.of_state(one) for one in tags)
    found |= union(
        history_of(definition, store).reader.of_changes(one) for one in store.changelogs.list()
    )
    assert not table.fsck().findings
    root = f"{table.path}/"
    named = {path.removeprefix(root) for path in found.all}
    kinds = ("snapshot", "schema", "tag", "changelog", "consumer", "branch")
    return {path for path in files(table) if path.split("/")[0] not in kinds} - named


def age(path: Path, days: float) -> None:
    """Make a file look as if it had been written days ago."""
    then = time.time() - days * 86_400
    os.utime(path, (then, then))
