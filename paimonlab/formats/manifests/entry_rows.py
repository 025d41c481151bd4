"""Manifest entries as values and as rows of an Arrow table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.spec.manifests.data_file import DataFileMeta, SimpleStats
from paimonlab.spec.manifests.manifest import ENTRY_SCHEMA, NO_ENTRIES, FileKind, ManifestEntry

_STATS_COLUMNS = tuple(
    f"{which}_{part}"
    for which in ("key_stats", "value_stats")
    for part in ("min_values", "max_values", "null_counts")
)
_ENTRY_COLUMNS = ("kind", "partition", "bucket", "total_buckets")
_FILE_COLUMNS = tuple(
    name for name in ENTRY_SCHEMA.names if name not in (*_ENTRY_COLUMNS, *_STATS_COLUMNS)
)
_LISTS = tuple(
    name for name in _FILE_COLUMNS if pa.types.is_large_list(ENTRY_SCHEMA.field(name).type)
)


def entries_to_table(entries: Sequence[ManifestEntry]) -> pa.Table:
    """Make one row per entry, in order.

    Returns
    -------
    pyarrow.Table
        Of `ENTRY_SCHEMA`.
    """
    if not entries:
        return NO_ENTRIES
    count, column_of = len(entries), dict[int, pa.Array]()
    for kind, columns in _OF_TYPE.items():
        # All columns of a type are made as one array: each array has its price.
        values = [value(entry) for _, value in columns for entry in entries]
        joined = arrow_array(values, kind)
        for place, (number, _) in enumerate(columns):
            column_of[number] = joined.slice(place * count, count)
    arrays = [column_of[number] for number in range(len(ENTRY_SCHEMA))]
    return pa.table(arrays, schema=ENTRY_SCHEMA)


def _path(name: str) -> str:
    """Return where an entry has the value of a column."""
    if name in _ENTRY_COLUMNS:
        return name
    if name in _STATS_COLUMNS:
        which, _, part = name.partition("_stats_")
        return f"file.{which}_stats.{part}"
    return f"file.{name}"


_OF_TYPE = {
    kind: [
        (number, attrgetter(_path(field.name)))
        for number, field in enumerate(ENTRY_SCHEMA)
        if field.type == kind
    ]
    for kind in dict.fromkeys(ENTRY_SCHEMA.types)
}
"""The columns of each type: their place, and what takes the value from an entry."""


def table_to_entries(table: pa.Table) -> list[ManifestEntry]:
    """Make one entry per row of a table of `ENTRY_SCHEMA`, in order."""
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    for name in (*_LISTS, "key_stats_null_counts", "value_stats_null_counts"):
        columns[name] = _as_tuples(columns[name])
    key_stats = map(SimpleStats, *(columns[name] for name in _STATS_COLUMNS[:3]))
    value_stats = map(SimpleStats, *(columns[name] for name in _STATS_COLUMNS[3:]))
    file_values = zip(*(columns[name] for name in _FILE_COLUMNS), strict=True)
    files = (
        DataFileMeta(
            **dict(zip(_FILE_COLUMNS, values, strict=True)), key_stats=keys, value_stats=stats
        )
        for values, keys, stats in zip(file_values, key_stats, value_stats, strict=True)
    )
    entry_values = zip(*(columns[name] for name in _ENTRY_COLUMNS), files, strict=True)
    return [
        ManifestEntry(
            kind=FileKind(kind),
            partition=partition,
            bucket=bucket,
            total_buckets=total_buckets,
            file=file,
        )
        for kind, partition, bucket, total_buckets, file in entry_values
    ]


def _as_tuples(values: Iterable[list[Any] | None]) -> list[tuple[Any, ...] | None]:
    return [None if value is None else tuple(value) for value in values]
