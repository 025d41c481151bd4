"""The tables of a warehouse, as rows."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

from paimonlab.catalog import Catalog
from paimonlab.catalog.format_tables import FormatTableCatalog, format_tables_of

TABLES = pa.schema(
    [
        ("table", pa.string()),
        ("primary_key", pa.string()),
        ("partition_by", pa.string()),
        ("bucket", pa.string()),
        ("snapshot", pa.int64()),
        ("rows", pa.int64()),
    ]
)


class Names(NamedTuple):
    """What a database has, as DATABASE.NAME."""

    tables: list[str]
    format_tables: list[str]


def names_in(catalog: Catalog, database: str | None) -> Names:
    """List the tables of a database; None: of all."""
    databases = catalog.databases() if database is None else [database]
    return Names(
        [f"{name}.{table}" for name in databases for table in catalog.tables(name)],
        [f"{name}.{table}" for name in databases for table in format_tables_of(catalog, name)],
    )


def rows_of(catalog: Catalog, names: Names) -> pa.Table:
    """Return a row of `TABLES` for each table, those of format tables last."""
    rows = [_table_row(catalog, name) for name in names.tables]
    rows += [_files_row(catalog, name) for name in names.format_tables]
    return pa.Table.from_pylist(rows, schema=TABLES)


def _table_row(catalog: Catalog, name: str) -> dict[str, object]:
    table = catalog.table(name)
    snapshot = table.snapshot
    return {
        "table": name,
        "primary_key": ",".join(table.primary_keys),
        "partition_by": ",".join(table.partition_keys),
        "bucket": table.options.get("bucket", "-1"),
        "snapshot": snapshot and snapshot.id,
        "rows": snapshot and snapshot.total_record_count,
    }


def _files_row(catalog: Catalog, name: str) -> dict[str, object]:
    assert isinstance(catalog, FormatTableCatalog)
    table = catalog.format_table(name)
    return {"table": name, "partition_by": ",".join(table.partition_keys), "primary_key": ""}
