"""What every schema of a table must hold to, whether new or changed.

Source: apache/paimon@1.4.2 ``org.apache.paimon.schema.SchemaValidation``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from paimonlab.errors import SchemaError, close_matches
from paimonlab.spec.buckets.bucket import BucketFunction, takes_mod
from paimonlab.spec.buckets.hive_hash import is_hashable
from paimonlab.spec.external_paths import ExternalPathOptions
from paimonlab.spec.iceberg.options import check_iceberg
from paimonlab.spec.merge_engine import check_merge_engine
from paimonlab.spec.options.table_options import Options, parse_boolean
from paimonlab.spec.partitions.folders import PartitionOptions
from paimonlab.spec.retained import check_retained
from paimonlab.spec.schema.kept_starts import check_kept_start
from paimonlab.spec.schema.row_tracking import check_row_tracking
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.schema.transforms import instead_of
from paimonlab.spec.schema.upsert_keys import UpsertOptions, check_upsert_key
from paimonlab.spec.stream_overwrites import reads_overwrites
from paimonlab.spec.types.data_types import (
    TEXT_ROOTS,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
)
from paimonlab.spec.types.system_fields import KEY_PREFIX, SYSTEM_FIELDS
from paimonlab.spec.types.text import format_type

_SHOWN = 20
"""Columns that an error names."""
_NO_KEY = (TypeRoot.VARIANT, TypeRoot.BLOB)
_FULL_COMPACTION = "full-compaction.delta-commits"
_TIMES = (TypeRoot.INT, TypeRoot.BIGINT, TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ)


def check_schema(schema: TableSchema) -> None:
    """Check names, keys and buckets.

    Raises
    ------
    SchemaError
        If a rule is broken; the message names the column or the option.
    """
    _check_fields(schema.fields)
    types = {field.name: field.type for field in schema.fields}
    _check_keys("primary key", schema.primary_keys, types)
    _check_keys("partition key", schema.partition_keys, types)
    if schema.primary_keys and not schema.trimmed_primary_keys:
        raise SchemaError(
            f"primary key {', '.join(schema.primary_keys)} has only partition keys: every "
            "partition could hold one row; add a column to the primary key"
        )
    upsert_keys = Options(schema.options).slice(UpsertOptions).keys
    _check_keys("upsert-key", upsert_keys, types)
    check_upsert_key(schema)
    _check_bucket_keys(schema, types)
    check_kept_start(schema.options)
    _check_bucket_function(schema, types)
    _check_sequence_fields(schema, types)
    _check_folders(schema)
    _check_kinds(schema, types)
    _check_vectors(schema)
    _check_options_of_fields(schema.options, types)
    reads_overwrites(Options(schema.options), has_key=bool(schema.primary_keys))
    check_retained(schema.options)
    check_row_tracking(schema)
    check_merge_engine(schema.fields, schema.primary_keys, schema.options)
    _check_expiring_field(schema, types)
    check_iceberg(schema.fields, schema.options, has_key=bool(schema.primary_keys))


def _check_fields(fields: Sequence[DataField]) -> None:
    if not fields:
        raise SchemaError("a table needs at least one column")
    for field in fields:
        if field.name in SYSTEM_FIELDS or field.name.startswith(KEY_PREFIX):
            raise SchemaError(f"column name {field.name!r} is reserved for Paimon itself")
    _check_names("column", fields)


def _check_names(what: str, fields: Sequence[DataField]) -> None:
    for field in fields:
        if not field.name.strip():
            raise SchemaError(f"{what} name {field.name!r} is blank")
        _check_nested(f"{what} {field.name!r}: field", field.type)
    if repeated := _repeated(field.name for field in fields):
        raise SchemaError(f"{what} {repeated!r} is defined twice")


def _check_nested(what: str, data_type: DataType) -> None:
    match data_type:
        case RowType(fields):
            if not fields:
                raise SchemaError(f"{what.rpartition(':')[0]}: a ROW needs at least one field")
            _check_names(what, fields)
        case ArrayType(element) | MultisetType(element):
            _check_nested(what, element)
        case MapType(key, value):
            _check_nested(what, key)
            _check_nested(what, value)


def _repeated(names: Iterable[str]) -> str | None:
    return next((name for name, times in Counter(names).items() if times > 1), None)


def _check_keys(what: str, keys: Sequence[str], types: Mapping[str, DataType]) -> None:
    if repeated := _repeated(keys):
        raise SchemaError(f"{what} names {repeated!r} twice")
    for name in keys:
        if name not in types:
            shown = ", ".join(islice(types, _SHOWN)) + ", …" * (len(types) > _SHOWN)
            known = close_matches(name, types) or f" The columns are {shown}."
            if advice := instead_of(name):
                known = f" {advice}"
            raise SchemaError(f"{what} {name!r} is not a column.{known}")
        data_type = types[name]
        if not isinstance(data_type, AtomicType) or data_type.root in _NO_KEY:
            raise SchemaError(f"{what} {name!r} must not be of type {format_type(data_type)}")


def _check_bucket_keys(schema: TableSchema, types: Mapping[str, DataType]) -> None:
    bucket = schema.options.get("bucket", "-1")
    if bucket != bucket.strip():
        raise SchemaError(f"option 'bucket' = {bucket!r}: there must be no blanks around it")
    if bucket == "-2" and not schema.primary_keys:
        raise SchemaError("bucket = '-2': only rows with a primary key can wait for their bucket")
    if bucket == "-1":
        _check_without_buckets(schema)
    if not schema.options.get("bucket-key"):
        if not schema.primary_keys and bucket not in ("-1", "-2"):
            raise SchemaError(
                f"bucket = {bucket!r}: an append table with buckets needs the option 'bucket-key'"
            )
        return
    _check_keys("bucket-key", schema.bucket_keys, types)
    for name in schema.bucket_keys:
        if name in schema.partition_keys:
            raise SchemaError(f"bucket-key {name!r} must not be a partition key")
        if schema.primary_keys and name not in schema.primary_keys:
            raise SchemaError(f"bucket-key {name!r} must be part of the primary key")


def _check_without_buckets(schema: TableSchema) -> None:
    options = Options(schema.options)
    if "bucket-key" in options:
        raise SchemaError(
            "option 'bucket-key' needs a number of buckets: set 'bucket', or remove 'bucket-key'"
        )
    if not schema.primary_keys and _FULL_COMPACTION in options:
        raise SchemaError(
            f"option {_FULL_COMPACTION!r} = {options[_FULL_COMPACTION]!r} is not for append tables "
            "without buckets, which are never compacted in full: remove it, or set 'bucket'"
        )


def _check_bucket_function(schema: TableSchema, types: Mapping[str, DataType]) -> None:
    keys = [types[name] for name in schema.bucket_keys]
    match schema.bucket_function:
        case BucketFunction.MOD if keys and not takes_mod(keys):
            raise SchemaError(
                "option 'bucket-function.type' = 'mod' needs a bucket key of one column of type "
                f"INT or BIGINT, it has {', '.join(map(format_type, keys))}"
            )
        case BucketFunction.HIVE if not all(map(is_hashable, keys)):
            raise SchemaError(
                "option 'bucket-function.type' = 'hive' takes no timestamps in the bucket key, it "
                f"has {', '.join(map(format_type, keys))}"
            )


def _check_vectors(schema: TableSchema) -> None:
    if not parse_boolean(schema.options.get("deletion-vectors.enabled", "false")):
        return
    if schema.options.get("changelog-producer", "none").lower() == "full-compaction":
        raise SchemaError(
            "option 'deletion-vectors.enabled' cannot be combined with 'changelog-producer' = "
            "'full-compaction'; 'lookup' would"
        )
    if schema.options.get("merge-engine", "deduplicate").lower() == "first-row":
        raise SchemaError(
            "option 'deletion-vectors.enabled' cannot be combined with 'merge-engine' = "
            "'first-row', which deletes no rows: remove it"
        )


def _check_options_of_fields(options: Mapping[str, str], types: Mapping[str, DataType]) -> None:
    for key in options:
        prefix, _, rest = key.partition(".")
        if prefix != "fields":
            continue
        for name in rest.partition(".")[0].split(","):
            if name in types or name == "default-aggregate-function":
                continue
            for column in types:
                if rest.startswith(f"{column}."):
                    raise SchemaError(
                        f"option {key!r}: names of columns end at the first '.' and ',' in it, so "
                        f"column {column!r} cannot have options of its own"
                    )
            raise SchemaError(f"option {key!r}: no column {name!r}.{close_matches(name, types)}")


def _check_sequence_fields(schema: TableSchema, types: Mapping[str, DataType]) -> None:
    text = schema.options.get("sequence.field")
    if text is None:
        return
    names = tuple(name.strip() for name in text.split(","))
    if not schema.primary_keys and not Options(schema.options).slice(UpsertOptions).keys:
        raise SchemaError("option 'sequence.field' needs a primary key, or 'upsert-key'")
    _check_keys("sequence.field", names, types)
    if schema.primary_keys and not set(schema.partition_keys) <= set(schema.primary_keys):
        raise SchemaError(
            "option 'sequence.field' needs a primary key that contains all partition keys"
        )


def _check_folders(schema: TableSchema) -> None:
    options = Options(schema.options)
    options.slice(PartitionOptions)
    if "partition.expiration-time" in options and not schema.partition_keys:
        raise SchemaError("option 'partition.expiration-time' needs partition keys")
    _ = options.slice(ExternalPathOptions).write_folders


def _check_expiring_field(schema: TableSchema, types: Mapping[str, DataType]) -> None:
    name = schema.options.get("record-level.time-field")
    if name is None:
        if "record-level.expire-time" in schema.options:
            raise SchemaError("option 'record-level.expire-time' needs 'record-level.time-field'")
        return
    if name not in types:
        raise SchemaError(
            f"record-level.time-field {name!r} is not a column.{close_matches(name, types)}"
        )
    data_type = types[name]
    if not isinstance(data_type, AtomicType) or data_type.root not in _TIMES:
        raise SchemaError(
            f"record-level.time-field {name!r} must be INT, BIGINT or TIMESTAMP, not "
            f"{format_type(data_type)}"
        )


def _check_kinds(schema: TableSchema, types: Mapping[str, DataType]) -> None:
    producer = schema.options.get("changelog-producer", "none").lower()
    if producer != "none" and not schema.primary_keys:
        raise SchemaError(f"option 'changelog-producer' = {producer!r} needs a primary key")
    engine = schema.options.get("merge-engine", "deduplicate").lower()
    if producer in ("input", "full-compaction") and engine == "first-row":
        raise SchemaError(
            f"option 'changelog-producer' = {producer!r} cannot be combined with 'merge-engine' = "
            "'first-row'; 'lookup' would"
        )
    name = schema.options.get("rowkind.field")
    if name is None:
        return
    if name not in types:
        raise SchemaError(f"rowkind.field {name!r} is not a column.{close_matches(name, types)}")
    data_type = types[name]
    if not isinstance(data_type, AtomicType) or data_type.root not in TEXT_ROOTS:
        raise SchemaError(
            f"rowkind.field {name!r} must be a text column, not {format_type(data_type)}"
        )
