"""Records and rows of manifest lists -> the manifests that they describe.

Fields that older versions do not write are None.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pyarrow as pa

from paimonlab.errors import CorruptMetadataError, UnsupportedError
from paimonlab.formats.avro.columns import ColumnSource, check_version, conform
from paimonlab.spec.manifests.data_file import SimpleStats
from paimonlab.spec.manifests.manifest import LIST_VERSION, ManifestFileMeta

_STATS_PATH = "_PARTITION_STATS"
_SOURCES = [
    ColumnSource(pa.field(name, type_), avro_path, is_required)
    for name, type_, avro_path, is_required in (
        ("file_name", pa.large_string(), ("_FILE_NAME",), True),
        ("file_size_bytes", pa.int64(), ("_FILE_SIZE",), True),
        ("num_added_files", pa.int64(), ("_NUM_ADDED_FILES",), True),
        ("num_deleted_files", pa.int64(), ("_NUM_DELETED_FILES",), True),
        ("min_values", pa.large_binary(), (_STATS_PATH, "_MIN_VALUES"), True),
        ("max_values", pa.large_binary(), (_STATS_PATH, "_MAX_VALUES"), True),
        ("null_counts", pa.large_list(pa.int64()), (_STATS_PATH, "_NULL_COUNTS"), False),
        ("schema_id", pa.int64(), ("_SCHEMA_ID",), True),
        ("min_bucket", pa.int32(), ("_MIN_BUCKET",), False),
        ("max_bucket", pa.int32(), ("_MAX_BUCKET",), False),
        ("min_level", pa.int32(), ("_MIN_LEVEL",), False),
        ("max_level", pa.int32(), ("_MAX_LEVEL",), False),
        ("min_row_id", pa.int64(), ("_MIN_ROW_ID",), False),
        ("max_row_id", pa.int64(), ("_MAX_ROW_ID",), False),
    )
]


class _Stats(msgspec.Struct, rename=lambda name: f"_{name.upper()}"):
    min_values: bytes
    max_values: bytes
    null_counts: tuple[int | None, ...] | None = None


class _Record(
    msgspec.Struct,
    rename=lambda name: {"file_size_bytes": "_FILE_SIZE"}.get(name, f"_{name.upper()}"),
):
    """A record whose fields are as they should be; `_SOURCES` tell what is wrong with others."""

    version: int
    file_name: str
    file_size_bytes: int
    num_added_files: int
    num_deleted_files: int
    partition_stats: _Stats
    schema_id: int
    min_bucket: int | None = None
    max_bucket: int | None = None
    min_level: int | None = None
    max_level: int | None = None
    min_row_id: int | None = None
    max_row_id: int | None = None


def manifests_of_table(records: pa.Table, path: str) -> list[ManifestFileMeta]:
    """Return the manifests that records describe, given as columns.

    Raises
    ------
    CorruptMetadataError
        If a field that every version writes is missing; ``path`` is for the message.
    UnsupportedError
        If the records are of another version.
    """
    check_version(records, LIST_VERSION, "manifest list entry", path=path)
    return [_of_row(row, path) for row in conform(records, _SOURCES, path=path).to_pylist()]


def manifest_of_record(record: dict[str, Any], path: str) -> ManifestFileMeta:
    """Return the manifest that a record describes; errors are those of `manifests_of_table`."""
    try:
        known = msgspec.convert(record, _Record)
    except msgspec.ValidationError:
        return _of_row(_row(record, path), path)
    _check_version(known.version, path)
    stats = known.partition_stats
    return ManifestFileMeta(
        file_name=known.file_name,
        file_size_bytes=known.file_size_bytes,
        num_added_files=known.num_added_files,
        num_deleted_files=known.num_deleted_files,
        partition_stats=SimpleStats(stats.min_values, stats.max_values, stats.null_counts),
        schema_id=known.schema_id,
        min_bucket=known.min_bucket,
        max_bucket=known.max_bucket,
        min_level=known.min_level,
        max_level=known.max_level,
        min_row_id=known.min_row_id,
        max_row_id=known.max_row_id,
    )


def _check_version(version: object, path: str) -> None:
    if version != LIST_VERSION:
        raise UnsupportedError(
            f"manifest list entry of version {version}",
            f"{path} has it; version {LIST_VERSION} is supported",
        )


def _row(record: dict[str, Any], path: str) -> dict[str, Any]:
    """Make of a record what `conform` makes of columns."""
    version = record.get("_VERSION")
    if version is None:
        raise CorruptMetadataError(path, "field _VERSION is missing")
    _check_version(version, path)
    row = dict[str, Any]()
    for source in _SOURCES:
        *outer, last = source.avro_path
        holder = record.get(outer[0]) if outer else record
        value = holder.get(last) if isinstance(holder, dict) else None
        if value is None and source.is_required:
            raise CorruptMetadataError(path, f"field {'.'.join(source.avro_path)} is missing")
        row[source.field.name] = value
    return row


def _of_row(row: dict[str, Any], path: str) -> ManifestFileMeta:
    # The statistics are fields of their own in a row.
    stats = (row.pop("min_values"), row.pop("max_values"), row.pop("null_counts"))
    try:
        return msgspec.convert(row | {"partition_stats": stats}, ManifestFileMeta)
    except msgspec.ValidationError as error:
        raise CorruptMetadataError(path, str(error)) from error
