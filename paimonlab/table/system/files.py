"""``$files`` and ``$file_key_ranges``: the live data files.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.system.FilesTable``; the columns about row
ids and ``$file_key_ranges`` are those of 2.0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
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
from paimonlab.spec.predicates.predicate import ColumnStats
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.snapshot import Snapshot
from paimonlab.spec.types.data_types import AtomicType, DataField
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore
from paimonlab.table.system.by_column import ByColumn, Make
from paimonlab.table.system.live import LiveFiles
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


def files(definition: TableDefinition, store: TableStore, snapshot: Snapshot | None) -> ByColumn:
    """``$files``: one row per live file, in the order of the manifests."""
    schema = definition.schema
    partition_fields = [schema.field(key) for key in schema.partition_keys]
    key_fields = [schema.field(key) for key in schema.trimmed_primary_keys]
    options, layout = definition.options, store.layout

    stats = _Stats(schema, store.schemas)
    make: dict[str, Make] = {name: itemgetter(own) for name, own in _STORED.items()}
    make |= {
        "partition": lambda found: partition_text(_array(found, "partition"), partition_fields),
        "file_path": lambda found: _paths(options, layout, found, partition_fields),
        "file_format": _formats,
        "min_key": lambda found: key_text(_array(found, "min_key"), key_fields),
        "max_key": lambda found: key_text(_array(found, "max_key"), key_fields),
        "null_value_counts": lambda found: stats.texts(found, _null_count),
        "min_value_stats": lambda found: stats.texts(found, _least),
        "max_value_stats": lambda found: stats.texts(found, _greatest),
        "creation_time": lambda found: pc.cast(found["creation_time_millis"], pa.timestamp("ms")),
        "file_source": _sources,
        "write_cols": lambda found: pc.cast(found["write_cols"], pa.list_(pa.string())),
    }
    return ByColumn(LiveFiles(store.manifests, snapshot), FILES, make, _OF_BOTH)


def file_key_ranges(
    definition: TableDefinition, store: TableStore, snapshot: Snapshot | None
) -> ByColumn:
    """``$file_key_ranges``: where the keys of each live file lie."""
    return files(definition, store, snapshot).only(FILE_KEY_RANGES.names)


_STORED = {
    "bucket": "bucket",
    "schema_id": "schema_id",
    "level": "level",
    "record_count": "row_count",
    "file_size_in_bytes": "file_size_bytes",
    "min_sequence_number": "min_sequence_number",
    "max_sequence_number": "max_sequence_number",
    "deleteRowCount": "delete_row_count",
    "first_row_id": "first_row_id",
}
"""Columns that are in the entries of files as they are, by name here."""


_OF_BOTH = frozenset({"partition", "bucket", "level", "file_format"})
"""Columns in which the entries that add and delete a file are the same."""


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


class _Stats:
    """Statistics of files, each file's read through its own schema; those asked for last kept."""

    def __init__(self, schema: TableSchema, schemas: SchemaManager) -> None:
        self._schema = schema
        self._schemas = schemas
        self._last: tuple[pa.Table, dict[str, ColumnStats]] | None = None

    def texts(self, found: pa.Table, of: Callable[[ColumnStats, DataField], pa.Array]) -> pa.Array:
        """One statistic of all columns of the table, for each file."""
        schema = self._schema
        if self._last is None or self._last[0] is not found:
            names = schema.field_names
            self._last = found, column_stats(found, "value_stats", names, schema, self._schemas)
        stats = self._last[1]
        values = [of(stats[field.name], field) for field in schema.fields]
        return map_text(schema.field_names, values)


def _null_count(stats: ColumnStats, _field: DataField) -> pa.Array:
    return pc.cast(stats.null_count, pa.string())


def _least(stats: ColumnStats, field: DataField) -> pa.Array:
    return _texts(stats.min, field)


def _greatest(stats: ColumnStats, field: DataField) -> pa.Array:
    return _texts(stats.max, field)


def _texts(values: pa.Array, field: DataField) -> pa.Array:
    if isinstance(field.type, AtomicType):
        return value_texts(values, field.type)
    return pa.nulls(len(values), pa.string())
