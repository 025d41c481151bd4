"""Index manifests: which index files there are, among them the deletion vectors.

Source: apache/paimon@1.3.1 ``org.apache.paimon.manifest.IndexManifestEntrySerializer``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from paimonlab.errors import CorruptMetadataError
from paimonlab.formats.avro.columns import ColumnSource, check_version, conform
from paimonlab.formats.manifests.columns import read_table, write_rows
from paimonlab.formats.manifests.records import INDEX_ENTRY, INDEX_ENTRY_WITH_GLOBAL
from paimonlab.spec.manifests.index_manifest import (
    INDEX_VERSION,
    DeletionVectorRange,
    GlobalIndexRange,
    IndexManifestEntry,
)
from paimonlab.spec.manifests.manifest import FileKind

_SOURCES = [
    ColumnSource(pa.field(name, type_), (avro_name,), is_required)
    for name, type_, avro_name, is_required in (
        ("kind", pa.int32(), "_KIND", True),
        ("partition", pa.large_binary(), "_PARTITION", True),
        ("bucket", pa.int32(), "_BUCKET", True),
        ("index_type", pa.large_string(), "_INDEX_TYPE", True),
        ("file_name", pa.large_string(), "_FILE_NAME", True),
        ("file_size_bytes", pa.int64(), "_FILE_SIZE", True),
        ("row_count", pa.int64(), "_ROW_COUNT", True),
        ("external_path", pa.large_string(), "_EXTERNAL_PATH", False),
    )
]
_RANGES = "_DELETIONS_VECTORS_RANGES"
_GLOBAL = "_GLOBAL_INDEX"


def read_index_manifest(data: bytes, *, path: str) -> list[IndexManifestEntry]:
    """Read an index manifest, the complete list of a snapshot's index files.

    Parameters
    ----------
    data
        The whole file.
    path
        Only for messages.

    Raises
    ------
    CorruptMetadataError
        If the file is cut, damaged, or a field that every version writes is missing.
    UnsupportedError
        If the entries are of another version, or the file is not Avro.
    """
    records = read_table(data, path=path)
    check_version(records, INDEX_VERSION, "index manifest entry", path=path)
    rows = conform(records, _SOURCES, path=path).to_pylist()
    ranges = [None] * len(rows)
    if _RANGES in records.column_names:
        ranges = records.column(_RANGES).to_pylist()
    globals_ = [None] * len(rows)
    if _GLOBAL in records.column_names:
        globals_ = records.column(_GLOBAL).to_pylist()
    for row in rows:
        if row.pop("kind") != FileKind.ADD:
            raise CorruptMetadataError(path, "an index manifest lists what is there, not deletes")
    return [
        IndexManifestEntry(
            deletion_vectors=_ranges(vectors, path), global_index=_global(about, path), **row
        )
        for row, vectors, about in zip(rows, ranges, globals_, strict=True)
    ]


def _ranges(
    vectors: list[dict[str, Any] | None] | None, path: str
) -> tuple[DeletionVectorRange, ...] | None:
    if vectors is None:
        return None
    try:
        return tuple(
            DeletionVectorRange(v["f0"], v["f1"], v["f2"], v.get("_CARDINALITY"))
            for v in vectors
            if v is not None
        )
    except KeyError as error:
        problem = f"field {_RANGES}.{error.args[0]} is missing"
        raise CorruptMetadataError(path, problem) from error


def _global(about: dict[str, Any] | None, path: str) -> GlobalIndexRange | None:
    if about is None:
        return None
    extra = about.get("_EXTRA_FIELD_IDS")
    try:
        return GlobalIndexRange(
            row_range_start=about["_ROW_RANGE_START"],
            row_range_end=about["_ROW_RANGE_END"],
            index_field_id=about["_INDEX_FIELD_ID"],
            extra_field_ids=None if extra is None else tuple(extra),
            index_meta=about.get("_INDEX_META"),
            source_meta=about.get("_SOURCE_META"),
        )
    except KeyError as error:
        problem = f"field {_GLOBAL}.{error.args[0]} is missing"
        raise CorruptMetadataError(path, problem) from error


def write_index_manifest(
    entries: Iterable[IndexManifestEntry],
    *,
    compression: str = "zstd",
    checksum: bool = True,
    file_format: str = "avro",
) -> bytes:
    """Encode an index manifest: the complete list of a snapshot's index files.

    Parameters
    ----------
    entries
        Their order is kept; none give a valid file without records.
    compression, checksum, file_format
        As in `paimonlab.formats.manifests.manifest.write_entries`.
    """
    listed = list(entries)
    has_global = any(entry.global_index is not None for entry in listed)
    return write_rows(
        INDEX_ENTRY_WITH_GLOBAL if has_global else INDEX_ENTRY,
        (_record(entry, has_global=has_global) for entry in listed),
        file_format=file_format,
        compression=compression,
        checksum=checksum,
    )


def _record(entry: IndexManifestEntry, *, has_global: bool) -> dict[str, Any]:
    vectors = entry.deletion_vectors
    record = {
        "_VERSION": INDEX_VERSION,
        "_KIND": int(FileKind.ADD),
        "_PARTITION": entry.partition,
        "_BUCKET": entry.bucket,
        "_INDEX_TYPE": entry.index_type,
        "_FILE_NAME": entry.file_name,
        "_FILE_SIZE": entry.file_size_bytes,
        "_ROW_COUNT": entry.row_count,
        "_DELETIONS_VECTORS_RANGES": None
        if vectors is None
        else [_range(vector) for vector in vectors],
        "_EXTERNAL_PATH": entry.external_path,
    }
    if has_global:
        about = entry.global_index
        record[_GLOBAL] = None if about is None else _global_record(about)
    return record


def _global_record(about: GlobalIndexRange) -> dict[str, Any]:
    extra = about.extra_field_ids
    return {
        "_ROW_RANGE_START": about.row_range_start,
        "_ROW_RANGE_END": about.row_range_end,
        "_INDEX_FIELD_ID": about.index_field_id,
        "_EXTRA_FIELD_IDS": None if extra is None else list(extra),
        "_INDEX_META": about.index_meta,
        "_SOURCE_META": about.source_meta,
    }


def _range(vector: DeletionVectorRange) -> dict[str, Any]:
    return {
        "f0": vector.data_file_name,
        "f1": vector.offset,
        "f2": vector.length_bytes,
        "_CARDINALITY": vector.cardinality,
    }
