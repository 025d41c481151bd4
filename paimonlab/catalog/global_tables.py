"""The database ``sys``: tables about all tables of a catalog.

Source: apache/paimon@1.3.1 ``org.apache.paimon.catalog.CatalogUtils.createGlobalSystemTable``
(``all_table_options``, ``catalog_options``); ``tables`` and ``partitions`` are those of 2.0. What
only a metastore knows is null.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, empty_table
from paimonlab.catalog.names import SYSTEM_DATABASE
from paimonlab.errors import TableNotFoundError
from paimonlab.scan.file_times import local_to_epoch
from paimonlab.scan.file_totals import totals
from paimonlab.scan.live_files import live_entries
from paimonlab.secrets import redacted
from paimonlab.spec.binary_row.rows import decode
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.partitions.folders import PartitionOptions, partition_paths
from paimonlab.table.inside import store_of
from paimonlab.table.system import CatalogTable
from paimonlab.table.table import Table

_TABLE = [pa.field("database_name", pa.string()), pa.field("table_name", pa.string())]
_FILES = [
    pa.field("record_count", pa.int64()),
    pa.field("file_size_in_bytes", pa.int64()),
    pa.field("file_count", pa.int64()),
    pa.field("last_file_creation_time", pa.int64()),
]
ALL_TABLE_OPTIONS = pa.schema(
    [*_TABLE, pa.field("key", pa.string()), pa.field("value", pa.string())]
)
CATALOG_OPTIONS = pa.schema(
    [
        pa.field("key", pa.string(), nullable=False),
        pa.field("value", pa.string(), nullable=False),
    ]
)
TABLES = pa.schema(
    [
        *_TABLE,
        pa.field("table_type", pa.string()),
        pa.field("partitioned", pa.bool_()),
        pa.field("primary_key", pa.bool_()),
        pa.field("owner", pa.string()),
        pa.field("created_at", pa.int64()),
        pa.field("created_by", pa.string()),
        pa.field("updated_at", pa.int64()),
        pa.field("updated_by", pa.string()),
        *_FILES,
    ]
)
PARTITIONS = pa.schema(
    [*_TABLE, pa.field("partition_name", pa.string()), *_FILES, pa.field("done", pa.bool_())]
)


class Listing(Protocol):
    """What the tables of ``sys`` ask of a catalog."""

    @property
    def options(self) -> Mapping[str, str]:
        """The options that it was opened with."""
        ...

    def databases(self) -> list[str]:
        """Names of the databases, sorted."""
        ...

    def tables(self, database: str) -> list[str]:
        """Names of the tables of a database, sorted."""
        ...

    def relation(self, name: str) -> object:
        """Open a table, ``database.table``."""
        ...


def global_table_names() -> list[str]:
    """Return the names of the tables of ``sys``, sorted."""
    return sorted(_GLOBAL_TABLES)


def global_table(catalog: Listing, identifier: Identifier) -> CatalogTable:
    """Open a table of ``sys``.

    Raises
    ------
    TableNotFoundError
        If no such table exists.
    """
    global_rows = _GLOBAL_TABLES.get(identifier.table)
    if global_rows is None or identifier.branch or identifier.system_table:
        known = [f"{SYSTEM_DATABASE}.{name}" for name in global_table_names()]
        raise TableNotFoundError(str(identifier), known)
    schema, rows = global_rows
    return CatalogTable(identifier, schema, lambda: rows(catalog))


def _all_table_options(catalog: Listing) -> pa.Table:
    rows = [
        (table.identifier.database, table.identifier.table, key, value)
        for table in _tables_of(catalog)
        for key, value in sorted({**table.options, "path": table.path}.items())
    ]
    return _table(ALL_TABLE_OPTIONS, rows)


def _catalog_options(catalog: Listing) -> pa.Table:
    return _table(CATALOG_OPTIONS, sorted(redacted(catalog.options).items()))


def _tables(catalog: Listing) -> pa.Table:
    rows = [
        (
            table.identifier.database,
            table.identifier.table,
            table.options.get("type", "table"),
            bool(table.partition_keys),
            bool(table.primary_keys),
            table.options.get("owner"),
            *(None for _ in range(8)),
        )
        for table in _tables_of(catalog)
    ]
    return _table(TABLES, rows)


def _partitions(catalog: Listing) -> pa.Table:
    tables = [_partitions_of(table) for table in _tables_of(catalog) if table.partition_keys]
    return pa.concat_tables([empty_table(PARTITIONS), *tables])


def _partitions_of(table: Table) -> pa.Table:
    snapshot = table.snapshot
    if snapshot is None:
        return empty_table(PARTITIONS)
    sums = totals(live_entries(snapshot, store_of(table).manifests), ["partition"])
    types = [table.schema.field(key).type for key in table.partition_keys]
    values = decode(sums["partition"], types)
    options = Options(table.options).slice(PartitionOptions)
    count = sums.num_rows
    columns: dict[str, Any] = {
        "database_name": pa.repeat(table.identifier.database, count),
        "table_name": pa.repeat(table.identifier.table, count),
        "partition_name": arrow_array(
            [
                path.rstrip("/")
                for path in partition_paths(table.partition_keys, values, types, options)
            ],
            pa.string(),
        ),
        "record_count": sums["row_count"],
        "file_size_in_bytes": sums["file_size_bytes"],
        "file_count": sums["file_count"],
        "last_file_creation_time": _to_utc(sums["creation_time_millis"]),
        "done": arrow_array(np.zeros(count, np.bool_)),
    }
    return pa.table(columns).select(PARTITIONS.names).cast(PARTITIONS)


def _to_utc(local_millis: pa.ChunkedArray) -> pa.ChunkedArray:
    """Turn the wall clock of this process's zone into epoch milliseconds."""
    return pa.chunked_array(
        [arrow_array([local_to_epoch(millis) for millis in local_millis.to_pylist()], pa.int64())]
    )


def _tables_of(catalog: Listing) -> Iterator[Table]:
    for database in catalog.databases():
        for name in catalog.tables(database):
            table = catalog.relation(f"{database}.{name}")
            if isinstance(table, Table):
                yield table


def _table(schema: pa.Schema, rows: list[tuple[Any, ...]]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else (() for _ in schema)
    arrays = [
        arrow_array(list(column), field.type) for column, field in zip(columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


_GLOBAL_TABLES: Mapping[str, tuple[pa.Schema, Callable[[Listing], pa.Table]]] = {
    "all_table_options": (ALL_TABLE_OPTIONS, _all_table_options),
    "catalog_options": (CATALOG_OPTIONS, _catalog_options),
    "tables": (TABLES, _tables),
    "partitions": (PARTITIONS, _partitions),
}
