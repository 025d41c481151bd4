"""``$files`` and ``$file_key_ranges``: the live data files.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.system.FilesTable``; the columns about row
ids and ``$file_key_ranges`` are those of 2.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.scan.split_paths import bucket_paths
from paimonlab.scan.statistics import column_stats
from paimonlab.spec.manifests.data_file import FileSource
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.partitions.folders import PartitionOptions
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.snapshot import Snapshot
from paimonlab.spec.types.data_types import AtomicType, DataField
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore
from paimonlab.table.system.live import files_of
from paimonlab.table.texts import key_text, map_text, partition_text, value_texts

FILES = pa.schema(
    [
        pa.field("partition", pa.string()),
        pa.field("bucket", pa.int32(), nullable=False),
        pa.field("file_path", pa.string(), nullable=False),
        pa.field("file_format", pa.string(), nullable=False),
        pa.field("schema_id", pa.int64(), nullable=False),
        pa.field("level", pa.int32(), nullable=False),
        pa.field("record_count", pa.int64(), nullable=False),
        pa.field("file_size_in_bytes", pa.int64(), nullable=False),
        pa.field("min_key", pa.string()),
        pa.field("max_key", pa.string()),
        pa.field("null_value_counts", pa.string(), nullable=False),
        pa.field("min_value_stats", pa.string(), nullable=False),
        pa.field("max_value_stats", pa.string(), nullable=False),
        pa.field("min_sequence_number", pa.int64()),
        pa.field("max_sequence_number", pa.int64()),
        pa.field("creation_time", pa.timestamp("ms")),
        pa.field("deleteRowCount", pa.int64()),
        pa.field("file_source", pa.string()),
        pa.field("first_row_id", pa.int64()),
        pa.field("write_cols", pa.list_(pa.string())),
    ]
)
FILE_KEY_RANGES = pa.schema(
    [FILES.field(name) for name in FILES.names[: FILES.get_field_index("max_key") + 1]]
    + [FILES.field("first_row_id")]
)


def files(definition: TableDefinition, store: TableStore, snapshot: Snapshot | None) -> pa.Table:
    """``$files``: one row per live file, in the order of the manifests."""
    entries = files_of(store.manifests, snapshot).combine_chunks()
    schema = definition.schema
    partition_fields = [schema.field(key) for key in schema.partition_keys]
    key_fields = [schema.field(key) for key in schema.trimmed_primary_keys]
    nulls, low, high = _stats_texts(definition.schema, store.schemas, entries)
    columns = [
        partition_text(_array(entries, "partition"), partition_fields),
        entries.column("bucket"),
        _paths(definition.options, store.layout, entries, partition_fields),
        _formats(entries),
        entries.column("schema_id"),
        entries.column("level"),
        entries.column("row_count"),
        entries.column("file_size_bytes"),
        key_text(_array(entries, "min_key"), key_fields),
        key_text(_array(entries, "max_key"), key_fields),
        nulls,
        low,
        high,
        entries.column("min_sequence_number"),
        entries.column("max_sequence_number"),
        pc.cast(entries.column("creation_time_millis"), pa.timestamp("ms")),
        entries.column("delete_row_count"),
        _sources(entries),
        entries.column("first_row_id"),
        pc.cast(entries.column("write_cols"), pa.list_(pa.string())),
    ]
    return pa.Table.from_arrays(columns, schema=FILES)


def file_key_ranges(
    definition: TableDefinition, store: TableStore, snapshot: Snapshot | None
) -> pa.Table:
    """``$file_key_ranges``: where the keys of each live file lie."""
    return files(definition, store, snapshot).select(FILE_KEY_RANGES.names)


def _array(table: pa.Table, name: str) -> pa.Array:
    column = table.column(name)
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _paths(
    options: Options, layout: TableLayout, found: pa.Table, fields: Sequence[DataField]
) -> pa.Array:
    folders = bucket_paths(
        _array(found, "partition"),
        found.column("bucket").to_pylist(),
        fields,
        options.slice(PartitionOptions),
    )
    names = found.column("file_name").to_pylist()
    externals = found.column("external_path").to_pylist()
    rows = zip(folders, names, externals, strict=True)
    root = layout.table_path
    return arrow_array(
        [out or f"{root}/{folder}/{name}" for folder, name, out in rows], pa.string()
    )


def _formats(found: pa.Table) -> pa.Array:
    names = found.column("file_name").to_pylist()
    return arrow_array(
        [PurePosixPath(name).suffix.removeprefix(".") for name in names], pa.string()
    )


def _sources(found: pa.Table) -> pa.Array:
    names = arrow_array([source.name for source in FileSource], pa.string())
    return names.take(_array(found, "file_source"))


def _stats_texts(
    schema: TableSchema, schemas: SchemaManager, found: pa.Table
) -> tuple[pa.Array, pa.Array, pa.Array]:
    """Statistics of all columns of the table, each file's read through its own schema."""
    names = schema.field_names
    stats = column_stats(found, "value_stats", names, schema, schemas)
    nulls, low, high = [], [], []
    for field in schema.fields:
        column = stats[field.name]
        nulls.append(pc.cast(column.null_count, pa.string()))
        low.append(_texts(column.min, field))
        high.append(_texts(column.max, field))
    return map_text(names, nulls), map_text(names, low), map_text(names, high)


def _texts(values: pa.Array, field: DataField) -> pa.Array:
    if isinstance(field.type, AtomicType):
        return value_texts(values, field.type)
    return pa.nulls(len(values), pa.string())
