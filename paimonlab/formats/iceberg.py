"""Manifests and manifest lists of Iceberg: values <-> bytes.

Records have the names and ids that Iceberg's readers ask for; the rest is as Java Paimon writes it.

Source: https://iceberg.apache.org/spec/#manifests, https://iceberg.apache.org/spec/#avro and
apache/paimon@1.4.2 ``org.apache.paimon.iceberg.manifest``.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from paimonlab.errors import CorruptMetadataError
from paimonlab.formats.avro import records_of, write_records
from paimonlab.formats.avro.container import open_container
from paimonlab.spec.iceberg.manifests import (
    Content,
    IcebergEntry,
    IcebergFile,
    IcebergManifest,
    PartitionSummary,
    Status,
)
from paimonlab.spec.iceberg.single_values import Plain, decimal_length, signed_bytes
from paimonlab.spec.iceberg.table_metadata import FIRST_PARTITION_ID
from paimonlab.spec.types.data_types import TEXT_ROOTS, AtomicType, DataField, TypeRoot

_COUNTS = ("added", "existing", "deleted")
_BYTES = (TypeRoot.BINARY, TypeRoot.VARBINARY)
_INTS = (TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT)
_NO_LETTER = re.compile(r"[^A-Za-z0-9_]")


def write_manifest(
    entries: Sequence[IcebergEntry],
    fields: Sequence[DataField],
    *,
    content: Content,
    schema: Mapping[str, Any],
    partition_fields: Sequence[Mapping[str, Any]],
    version: int,
    compression: str,
) -> bytes:
    """Encode a manifest.

    Parameters
    ----------
    entries
        Their order is kept.
    fields
        The partition columns.
    content
        What the files are.
    schema, partition_fields
        The current schema and how the table is partitioned, as the metadata file has them.
    version
        Of Iceberg's format.
    compression
        ``snappy``, ``zstd`` or ``null``.
    """
    about = {
        "schema": json.dumps(schema).encode(),
        "schema-id": str(schema["schema-id"]).encode(),
        "partition-spec": json.dumps(list(partition_fields)).encode(),
        "partition-spec-id": b"0",
        "format-version": str(version).encode(),
        "content": b"deletes" if content is Content.DELETES else b"data",
    }
    avro = _entry_schema(fields, version)
    names = [field["name"] for field in _partition_avro(fields)]
    types = [_atomic(field) for field in fields]
    records = (_entry_record(entry, names, types, version) for entry in entries)
    return write_records(avro, records, compression=compression, checksum=False, about=about)


def _entry_record(
    entry: IcebergEntry, names: Sequence[str], types: Sequence[AtomicType], version: int
) -> dict[str, Any]:
    file = entry.file
    is_delete = file.content is Content.DELETES
    record = {
        "content": int(file.content),
        "file_path": file.path,
        "file_format": file.file_format,
        "partition": {
            name: _avro_value(value, kind)
            for name, value, kind in zip(names, file.partition, types, strict=True)
        },
        "record_count": file.record_count,
        "file_size_in_bytes": file.size_bytes,
        "null_value_counts": _pairs(file.null_counts),
        "lower_bounds": _pairs(file.lower_bounds),
        "upper_bounds": _pairs(file.upper_bounds),
        "referenced_data_file": file.data_file,
        "content_offset": file.content_offset,
        "content_size_in_bytes": file.content_bytes,
    }
    if version >= 3:
        record["first_row_id"] = None if is_delete else file.first_row_id
    return {
        "status": int(entry.status),
        "snapshot_id": entry.snapshot_id,
        "sequence_number": entry.sequence_number,
        "file_sequence_number": entry.file_sequence_number,
        "data_file": record,
    }


def _pairs(values: Mapping[int, Any] | None) -> list[dict[str, Any]] | None:
    if values is None:
        return None
    return [{"key": key, "value": value} for key, value in values.items()]


def _avro_value(value: Plain | None, data_type: AtomicType) -> Plain | None:
    if value is None or data_type.root is not TypeRoot.DECIMAL:
        return value
    return signed_bytes(int(value), decimal_length(data_type.precision or 0))


def read_manifest(
    data: bytes, fields: Sequence[DataField], manifest: IcebergManifest, *, path: str
) -> list[IcebergEntry]:
    """Decode a manifest.

    Parameters
    ----------
    data
        The whole file.
    fields
        The partition columns.
    manifest
        As the manifest list describes it.
    path
        Only for messages.

    Raises
    ------
    CorruptMetadataError
        If it is damaged, or a field is missing.
    """
    types = [_atomic(field) for field in fields]
    try:
        return [_entry(record, manifest, types) for record in _records(data, path)]
    except (KeyError, ValueError, TypeError) as error:
        raise CorruptMetadataError(path, f"not a manifest of Iceberg: {error!r}") from error


def _entry(
    record: Mapping[str, Any], manifest: IcebergManifest, types: Sequence[AtomicType]
) -> IcebergEntry:
    status = Status(record["status"])
    snapshot_id = record["snapshot_id"]
    numbers = [
        manifest.sequence_number if number is None else number
        for number in (record["sequence_number"], record["file_sequence_number"])
    ]
    file = record["data_file"]
    values = list(file["partition"].values())
    return IcebergEntry(
        status=status,
        snapshot_id=manifest.snapshot_id if snapshot_id is None else snapshot_id,
        sequence_number=numbers[0],
        file_sequence_number=numbers[1],
        file=IcebergFile(
            content=Content.DELETES if file.get("content", 0) else Content.DATA,
            path=file["file_path"],
            file_format=file["file_format"],
            partition=tuple(_plain(value, kind) for value, kind in zip(values, types, strict=True)),
            record_count=file["record_count"],
            size_bytes=file["file_size_in_bytes"],
            null_counts=_mapping(file.get("null_value_counts")),
            lower_bounds=_mapping(file.get("lower_bounds")),
            upper_bounds=_mapping(file.get("upper_bounds")),
            data_file=file.get("referenced_data_file"),
            content_offset=file.get("content_offset"),
            content_bytes=file.get("content_size_in_bytes"),
            first_row_id=file.get("first_row_id"),
        ),
    )


def _mapping(pairs: Sequence[Mapping[str, Any]] | None) -> dict[int, Any] | None:
    return None if pairs is None else {pair["key"]: pair["value"] for pair in pairs}


def _plain(value: Any, data_type: AtomicType) -> Plain | None:
    if value is None or data_type.root is not TypeRoot.DECIMAL:
        return value
    return int.from_bytes(value, "big", signed=True)


def write_manifest_list(
    manifests: Sequence[IcebergManifest],
    *,
    version: int,
    has_former_names: bool,
    compression: str,
) -> bytes:
    """Encode the list of the manifests of a snapshot.

    Parameters
    ----------
    manifests
        Their order is kept.
    version
        Of Iceberg's format.
    has_former_names
        Whether counts of files are named as Iceberg 1.4 named them, for readers such as Athena.
    compression
        ``snappy``, ``zstd`` or ``null``.
    """
    records = (_manifest_record(one, version, has_former_names) for one in manifests)
    avro = _list_schema(version, has_former_names)
    about = {"format-version": str(version).encode()}
    return write_records(avro, records, compression=compression, checksum=False, about=about)


def _count_names(has_former_names: bool) -> list[str]:  # noqa: FBT001 - of one option
    middle = "data_files" if has_former_names else "files"
    return [f"{kind}_{middle}_count" for kind in _COUNTS]


def _manifest_record(
    one: IcebergManifest,
    version: int,
    has_former_names: bool,  # noqa: FBT001 - of one option
) -> dict[str, Any]:
    files = (one.added_files, one.existing_files, one.deleted_files)
    record = {
        "manifest_path": one.path,
        "manifest_length": one.length_bytes,
        "partition_spec_id": one.spec_id,
        "content": int(one.content),
        "sequence_number": one.sequence_number,
        "min_sequence_number": one.min_sequence_number,
        "added_snapshot_id": one.snapshot_id,
        **dict(zip(_count_names(has_former_names), files, strict=True)),
        "added_rows_count": one.added_rows,
        "existing_rows_count": one.existing_rows,
        "deleted_rows_count": one.deleted_rows,
        "partitions": None
        if one.partitions is None
        else [
            {
                "contains_null": summary.has_null,
                "contains_nan": summary.has_nan,
                "lower_bound": summary.lower,
                "upper_bound": summary.upper,
            }
            for summary in one.partitions
        ],
    }
    return {**record, "first_row_id": one.first_row_id} if version >= 3 else record


def read_manifest_list(data: bytes, *, path: str) -> list[IcebergManifest]:
    """Decode a manifest list; errors are those of `read_manifest`."""
    try:
        return [_manifest(record) for record in _records(data, path)]
    except (KeyError, ValueError, TypeError) as error:
        raise CorruptMetadataError(path, f"not a manifest list of Iceberg: {error!r}") from error


def _manifest(record: Mapping[str, Any]) -> IcebergManifest:
    names = _count_names("added_files_count" not in record)
    partitions = record["partitions"]
    return IcebergManifest(
        path=record["manifest_path"],
        length_bytes=record["manifest_length"],
        spec_id=record["partition_spec_id"],
        content=Content(record["content"]),
        sequence_number=record["sequence_number"],
        min_sequence_number=record["min_sequence_number"],
        snapshot_id=record["added_snapshot_id"],
        added_files=record[names[0]],
        existing_files=record[names[1]],
        deleted_files=record[names[2]],
        added_rows=record["added_rows_count"],
        existing_rows=record["existing_rows_count"],
        deleted_rows=record["deleted_rows_count"],
        partitions=None
        if partitions is None
        else tuple(
            PartitionSummary(
                has_null=summary["contains_null"],
                has_nan=summary["contains_nan"],
                lower=summary["lower_bound"],
                upper=summary["upper_bound"],
            )
            for summary in partitions
        ),
        first_row_id=record.get("first_row_id"),
    )


def _records(data: bytes, path: str) -> list[dict[str, Any]]:
    container = open_container(data, path)
    return records_of(_without_logical_types(container.schema), container.blocks, path)


@functools.lru_cache(maxsize=16)
def _without_logical_types(schema: bytes) -> bytes:
    """Return a schema whose values are plain: fastavro makes others of what types mean."""
    return json.dumps(_bare(json.loads(schema))).encode()


def _bare(avro: Any) -> Any:
    if isinstance(avro, list):
        return [_bare(branch) for branch in avro]
    if isinstance(avro, dict):
        return {key: _bare(value) for key, value in avro.items() if key != "logicalType"}
    return avro


def _atomic(field: DataField) -> AtomicType:
    assert isinstance(field.type, AtomicType)  # partition columns are
    return field.type


def _field(name: str, field_id: int, avro: Any, *, is_required: bool = True) -> dict[str, Any]:
    if is_required:
        return {"name": name, "type": avro, "field-id": field_id}
    return {"name": name, "type": ["null", avro], "default": None, "field-id": field_id}


def _map(key_id: int, value_id: int, value: str) -> dict[str, Any]:
    """Describe a map whose keys are no texts: Avro has none, so it is an array of pairs."""
    pair = {
        "type": "record",
        "name": f"k{key_id}_v{value_id}",
        "fields": [_field("key", key_id, "int"), _field("value", value_id, value)],
    }
    return {"type": "array", "items": pair, "logicalType": "map"}


def _entry_schema(fields: Sequence[DataField], version: int) -> dict[str, Any]:
    partition = {"type": "record", "name": "r102", "fields": _partition_avro(fields)}
    file_fields = [
        _field("content", 134, "int"),
        _field("file_path", 100, "string"),
        _field("file_format", 101, "string"),
        _field("partition", 102, partition),
        _field("record_count", 103, "long"),
        _field("file_size_in_bytes", 104, "long"),
        _field("null_value_counts", 110, _map(121, 122, "long"), is_required=False),
        _field("lower_bounds", 125, _map(126, 127, "bytes"), is_required=False),
        _field("upper_bounds", 128, _map(129, 130, "bytes"), is_required=False),
        _field("referenced_data_file", 143, "string", is_required=False),
        _field("content_offset", 144, "long", is_required=False),
        _field("content_size_in_bytes", 145, "long", is_required=False),
    ]
    if version >= 3:
        file_fields.append(_field("first_row_id", 142, "long", is_required=False))
    return {
        "type": "record",
        "name": "manifest_entry",
        "fields": [
            _field("status", 0, "int"),
            _field("snapshot_id", 1, "long", is_required=False),
            _field("sequence_number", 3, "long", is_required=False),
            _field("file_sequence_number", 4, "long", is_required=False),
            _field("data_file", 2, {"type": "record", "name": "r2", "fields": file_fields}),
        ],
    }


def _partition_avro(fields: Sequence[DataField]) -> list[dict[str, Any]]:
    return [
        _field(
            _avro_name(field.name),
            FIRST_PARTITION_ID + number,
            _avro_type(_atomic(field), number),
            is_required=False,
        )
        for number, field in enumerate(fields)
    ]


def _avro_name(name: str) -> str:
    r"""Return a name that Avro takes, as Iceberg makes it.

    Source: apache/iceberg ``org.apache.iceberg.avro.AvroSchemaUtil.sanitize``.

    >>> _avro_name("a-b"), _avro_name("1st"), _avro_name("dt")
    ('a_x2Db', '_1st', 'dt')
    """
    plain = _NO_LETTER.sub(lambda match: f"_x{ord(match[0]):X}", name)
    return f"_{plain}" if plain[0].isdigit() else plain


def _avro_type(data_type: AtomicType, number: int) -> Any:  # noqa: PLR0911 - one per type
    """Return the Avro type of a partition column; names of types are unique in a schema."""
    root = data_type.root
    if root is TypeRoot.BOOLEAN:
        return "boolean"
    if root in _INTS:
        return "int"
    if root is TypeRoot.DATE:
        return {"type": "int", "logicalType": "date"}
    if root in TEXT_ROOTS:
        return "string"
    if root in _BYTES:
        return "bytes"
    if root in (TypeRoot.FLOAT, TypeRoot.DOUBLE):
        return root.value.lower()
    if root is TypeRoot.DECIMAL:
        precision = data_type.precision or 0
        return {
            "type": "fixed",
            "name": f"decimal_{precision}_{data_type.scale}_{number}",
            "size": decimal_length(precision),
            "logicalType": "decimal",
            "precision": precision,
            "scale": data_type.scale,
        }
    if root is TypeRoot.TIME:
        return {"type": "long", "logicalType": "time-micros"}
    if root in (TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ):
        unit = "nanos" if (data_type.precision or 0) > 6 else "micros"
        is_instant = root is TypeRoot.TIMESTAMP_LTZ
        return {
            "type": "long",
            "logicalType": f"timestamp-{unit}",
            "adjust-to-utc": is_instant,
        }
    return "long"


def _list_schema(version: int, has_former_names: bool) -> dict[str, Any]:  # noqa: FBT001
    summary = {
        "type": "record",
        "name": "r508",
        "fields": [
            _field("contains_null", 509, "boolean"),
            _field("contains_nan", 518, "boolean", is_required=False),
            _field("lower_bound", 510, "bytes", is_required=False),
            _field("upper_bound", 511, "bytes", is_required=False),
        ],
    }
    summaries = {"type": "array", "items": summary, "element-id": 508}
    counts = zip(_count_names(has_former_names), (504, 505, 506), strict=True)
    fields = [
        _field("manifest_path", 500, "string"),
        _field("manifest_length", 501, "long"),
        _field("partition_spec_id", 502, "int"),
        _field("content", 517, "int"),
        _field("sequence_number", 515, "long"),
        _field("min_sequence_number", 516, "long"),
        _field("added_snapshot_id", 503, "long", is_required=False),
        *(_field(name, number, "int") for name, number in counts),
        _field("added_rows_count", 512, "long"),
        _field("existing_rows_count", 513, "long"),
        _field("deleted_rows_count", 514, "long"),
        _field("partitions", 507, summaries, is_required=False),
    ]
    if version >= 3:
        fields.append(_field("first_row_id", 520, "long", is_required=False))
    return {"type": "record", "name": "manifest_file", "fields": fields}
