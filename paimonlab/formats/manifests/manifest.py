"""Manifests and manifest lists: Avro files on disk, Arrow tables and values in memory.

Fields that older versions do not write are filled with nulls, fields of newer versions are
left alone.

Source: apache/paimon@1.3.1 ``org.apache.paimon.manifest``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from paimonlab.errors import CorruptMetadataError, UnsupportedError
from paimonlab.formats import avro, manifests
from paimonlab.formats.avro.columns import ColumnSource, check_version, conform
from paimonlab.formats.manifests.columns import is_avro, read_table, read_together, write_rows
from paimonlab.formats.manifests.entry_rows import table_to_entries
from paimonlab.formats.manifests.former_lists import FormerLists
from paimonlab.formats.manifests.list_records import manifest_of_record, manifests_of_table
from paimonlab.formats.manifests.records import ENTRY, LIST_ENTRY, LIST_ENTRY_WITH_ROW_IDS
from paimonlab.interrupts import interrupts_held_back
from paimonlab.spec.manifests.data_file import DataFileMeta, SimpleStats
from paimonlab.spec.manifests.manifest import (
    ENTRY_SCHEMA,
    ENTRY_VERSION,
    LIST_VERSION,
    NO_ENTRIES,
    FileKind,
    ManifestEntry,
    ManifestFileMeta,
)
from paimonlab.storage.recent import Recent

_RENAMED = {
    "file_size_bytes": "_FILE_SIZE",
    "creation_time_millis": "_CREATION_TIME",
}
_OPTIONAL_FILE_COLUMNS = frozenset(
    {
        "creation_time_millis",
        "delete_row_count",
        "embedded_file_index",
        "file_source",
        "value_stats_cols",
        "external_path",
        "first_row_id",
        "write_cols",
    }
)
_NULLABLE = _OPTIONAL_FILE_COLUMNS | {"key_stats_null_counts", "value_stats_null_counts"}
_MANY = 200
"""Entries that are encoded faster column by column than one by one."""
_ENTRY_COLUMNS = ("kind", "partition", "bucket", "total_buckets")


def _avro_path(column: str) -> tuple[str, ...]:
    if column in _ENTRY_COLUMNS:
        return (f"_{column.upper()}",)
    for stats in ("key_stats", "value_stats"):
        part = column.removeprefix(f"{stats}_")
        if part in ("min_values", "max_values", "null_counts"):
            return ("_FILE", f"_{stats.upper()}", f"_{part.upper()}")
    return ("_FILE", _RENAMED.get(column, f"_{column.upper()}"))


_ENTRY_SOURCES = [
    ColumnSource(
        field,
        _avro_path(field.name),
        is_required=field.name not in _NULLABLE,
    )
    for field in ENTRY_SCHEMA
]


def read_entries(data: bytes, *, path: str) -> pa.Table:
    """Read a manifest.

    Parameters
    ----------
    data
        The whole file.
    path
        Only for messages.

    Returns
    -------
    pyarrow.Table
        Of `ENTRY_SCHEMA`, one row per entry, in the order of the file.

    Raises
    ------
    CorruptMetadataError
        If the file is cut, damaged, or a field that every version writes is missing.
    UnsupportedError
        If the entries are of another version, or the manifest is not an Avro file.
    """
    return _as_entries(read_table(data, path=path), path)


def read_many_entries(files: Sequence[tuple[str, bytes]]) -> tuple[pa.Table, list[int]]:
    """Read many manifests, as `read_entries` does, at a fraction of its price per file.

    Parameters
    ----------
    files
        Path and bytes of each.

    Returns
    -------
    tuple
        All entries in the order of the files (`ENTRY_SCHEMA`), and how many each file has.
    """
    if not files:
        return NO_ENTRIES, []
    try:
        return read_together(files, _as_entries)
    except (CorruptMetadataError, UnsupportedError):
        # One of them is to blame; read alone, it is named.
        tables = [read_entries(data, path=path) for path, data in files]
        return pa.concat_tables(tables), [table.num_rows for table in tables]


def _as_entries(records: pa.Table, path: str) -> pa.Table:
    check_version(records, ENTRY_VERSION, "manifest entry", path=path)
    table = conform(records, _ENTRY_SOURCES, path=path)
    for kind in table.column("kind").unique().to_pylist():
        if kind not in (FileKind.ADD, FileKind.DELETE):
            raise CorruptMetadataError(path, f"a file kind is {kind}, known are 0 and 1")
    return table


def write_entries(
    entries: Sequence[ManifestEntry] | pa.Table,
    *,
    compression: str = "zstd",
    checksum: bool = True,
    file_format: str = "avro",
) -> bytes:
    """Encode a manifest.

    Parameters
    ----------
    entries
        Values, or a table of `ENTRY_SCHEMA`; their order is kept.
    compression
        ``manifest.compression``: ``zstd`` or ``null``.
    checksum
        Whether compressed blocks carry a checksum.
    file_format
        ``manifest.format``: ``avro``, ``orc`` or ``parquet``.

    Raises
    ------
    UnsupportedError
        If ``compression`` is not known.
    """
    is_many = isinstance(entries, pa.Table) and entries.num_rows >= _MANY
    if is_many and file_format == "avro":
        blocks = manifests.entry_blocks(entries, _NULLABLE)
        return avro.write_blocks(ENTRY, blocks, compression=compression, checksum=checksum)
    values = table_to_entries(entries) if isinstance(entries, pa.Table) else entries
    records = (_entry_record(entry) for entry in values)
    return write_rows(
        ENTRY, records, file_format=file_format, compression=compression, checksum=checksum
    )


def read_manifest_list(
    data: bytes, *, path: str, former: FormerLists | None = None
) -> list[ManifestFileMeta]:
    """Read a manifest list: its manifests, in order.

    Parameters
    ----------
    data
        The whole file.
    path
        Only for messages.
    former
        The lists read before, whose records need not be decoded again.

    Raises
    ------
    CorruptMetadataError
        If the file is cut, damaged, or a field that every version writes is missing.
    UnsupportedError
        If the entries are of another version, or the list is not an Avro file.
    """
    if len(data) > _FEW_BYTES or not is_avro(data):
        return manifests_of_table(read_table(data, path=path), path)
    lists = FormerLists() if former is None else former
    return lists.read(data, manifest_of_record, path=path)


def read_manifest_lists(
    files: Iterable[tuple[str, bytes]], *, former: FormerLists
) -> list[list[ManifestFileMeta]]:
    """Read manifest lists, as `read_manifest_list` does; those that begin alike in a row.

    Parameters
    ----------
    files
        Path and bytes of each.
    former
        The lists read before.
    """
    with interrupts_held_back():  # once for all of them: it takes as long as to decode one
        return [read_manifest_list(data, path=path, former=former) for path, data in files]


_FEW_BYTES = 1 << 14
"""Of a list of this size: columns start threads, which is dear for a few records."""


def write_manifest_list(
    manifests: Iterable[ManifestFileMeta],
    *,
    compression: str = "zstd",
    checksum: bool = True,
    file_format: str = "avro",
) -> bytes:
    """Encode a manifest list; no manifests give a valid file without records.

    Parameters are those of `write_entries`.
    """
    listed = list(manifests)
    has_row_ids = any(manifest.min_row_id is not None for manifest in listed)
    schema = LIST_ENTRY_WITH_ROW_IDS if has_row_ids else LIST_ENTRY
    if file_format == "avro":
        records = _encoded_list_records(listed, schema, has_row_ids=has_row_ids)
        return avro.write_encoded(schema, records, compression=compression, checksum=checksum)
    return write_rows(
        schema,
        (_list_record(manifest, has_row_ids=has_row_ids) for manifest in listed),
        file_format=file_format,
        compression=compression,
        checksum=checksum,
    )


_LIST_RECORDS: Recent[tuple[ManifestFileMeta, bool], bytes] = Recent(4 << 20)
"""Manifests as they are in lists: each base list repeats most of the one before."""
_LIST_RECORD_BYTES = 1000
"""Of memory, roughly, for one of them."""


def _encoded_list_records(
    manifests: Sequence[ManifestFileMeta], schema: dict[str, Any], *, has_row_ids: bool
) -> list[bytes]:
    keys = [(manifest, has_row_ids) for manifest in manifests]
    known = [_LIST_RECORDS.get(key) for key in keys]
    missing = [key for key, record in zip(keys, known, strict=True) if record is None]
    if missing:
        records = (_list_record(key[0], has_row_ids=has_row_ids) for key in missing)
        encoded = avro.encoded_records(schema, records)
        for key, record in zip(missing, encoded, strict=True):
            _LIST_RECORDS.put(key, record, _LIST_RECORD_BYTES)
        rest = iter(encoded)
        return [next(rest) if record is None else record for record in known]
    return [record for record in known if record is not None]


def _stats_record(stats: SimpleStats) -> dict[str, Any]:
    return {
        "_MIN_VALUES": stats.min_values,
        "_MAX_VALUES": stats.max_values,
        "_NULL_COUNTS": stats.null_counts,
    }


def _entry_record(entry: ManifestEntry) -> dict[str, Any]:
    return {
        "_VERSION": ENTRY_VERSION,
        "_KIND": int(entry.kind),
        "_PARTITION": entry.partition,
        "_BUCKET": entry.bucket,
        "_TOTAL_BUCKETS": entry.total_buckets,
        "_FILE": _file_record(entry.file),
    }


def _file_record(file: DataFileMeta) -> dict[str, Any]:
    return {
        "_FILE_NAME": file.file_name,
        "_FILE_SIZE": file.file_size_bytes,
        "_ROW_COUNT": file.row_count,
        "_MIN_KEY": file.min_key,
        "_MAX_KEY": file.max_key,
        "_KEY_STATS": _stats_record(file.key_stats),
        "_VALUE_STATS": _stats_record(file.value_stats),
        "_MIN_SEQUENCE_NUMBER": file.min_sequence_number,
        "_MAX_SEQUENCE_NUMBER": file.max_sequence_number,
        "_SCHEMA_ID": file.schema_id,
        "_LEVEL": file.level,
        "_EXTRA_FILES": file.extra_files,
        "_CREATION_TIME": file.creation_time_millis,
        "_DELETE_ROW_COUNT": file.delete_row_count,
        "_EMBEDDED_FILE_INDEX": file.embedded_file_index,
        "_FILE_SOURCE": file.file_source,
        "_VALUE_STATS_COLS": file.value_stats_cols,
        "_EXTERNAL_PATH": file.external_path,
        "_FIRST_ROW_ID": file.first_row_id,
        "_WRITE_COLS": file.write_cols,
    }


def _list_record(manifest: ManifestFileMeta, *, has_row_ids: bool) -> dict[str, Any]:
    row_ids = {"_MIN_ROW_ID": manifest.min_row_id, "_MAX_ROW_ID": manifest.max_row_id}
    return {
        "_VERSION": LIST_VERSION,
        "_FILE_NAME": manifest.file_name,
        "_FILE_SIZE": manifest.file_size_bytes,
        "_NUM_ADDED_FILES": manifest.num_added_files,
        "_NUM_DELETED_FILES": manifest.num_deleted_files,
        "_PARTITION_STATS": _stats_record(manifest.partition_stats),
        "_SCHEMA_ID": manifest.schema_id,
        "_MIN_BUCKET": manifest.min_bucket,
        "_MAX_BUCKET": manifest.max_bucket,
        "_MIN_LEVEL": manifest.min_level,
        "_MAX_LEVEL": manifest.max_level,
        **(row_ids if has_row_ids else {}),
    }
