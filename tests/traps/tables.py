"""Small real tables for the traps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

import paimonlab as pl
from paimonlab.scan.live_files import live_entries
from paimonlab.table.inside import store_of


def new_table(
    path: Path,
    columns: Mapping[str, str],
    *,
    keys: Sequence[str] = (),
    partitions: Sequence[str] = (),
    **options: str,
) -> pl.Table:
    """Make ``db.t``; of the names of options ``_`` is ``.`` and ``__`` is ``-``."""
    catalog = pl.connect(path)
    catalog.create_database("db", exist_ok=True)
    named = {name.replace("__", "-").replace("_", "."): text for name, text in options.items()}
    return catalog.create_table(
        "db.t", columns, primary_keys=keys, partition_keys=partitions, options=named
    )


def opened(path: Path) -> pl.Table:
    """Open ``db.t`` anew."""
    table = pl.connect(path).table("db.t")
    assert isinstance(table, pl.Table)
    return table


def ints(**columns: Sequence[int | None]) -> pa.Table:
    """Make rows of INT columns."""
    return pa.table({name: pa.array(values, pa.int32()) for name, values in columns.items()})


def entries(table: pl.Table) -> list[dict[str, Any]]:
    """Return the live manifest entries, those that were written first first."""
    assert table.snapshot is not None
    found = live_entries(table.snapshot, store_of(table).manifests).to_pylist()
    return sorted(found, key=lambda entry: entry["creation_time_millis"])


def rows(table: pl.Table, **scan: Any) -> list[tuple[Any, ...]]:
    """Return the rows, sorted as texts."""
    found = table.scan(**scan).to_arrow().to_pylist()
    return sorted((tuple(row.values()) for row in found), key=repr)
