"""Before a data file is read: whether it can be and is whole, and which columns it holds."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa
from msgspec import Struct

from paimonlab.arrow_values import arrow_array
from paimonlab.datafile.layout import file_columns
from paimonlab.datafile.tracking import fields_in_file
from paimonlab.errors import CorruptDataError, UnsupportedError
from paimonlab.formats.data_format import READABLE, DataInput, format_of
from paimonlab.spec.binary_row.rows import decode
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.predicates.predicate import Predicate, columns
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.system_fields import KEY_FIELD_ID_START, KEY_PREFIX, key_column
from paimonlab.storage import FileIO


class PartitionValues(Struct, frozen=True):
    """Columns that a data file has not, because all its rows have the partition's values."""

    fields: tuple[DataField, ...]
    """By the schema the file was written with."""
    values: pa.RecordBatch
    """One row of ``fields``."""


def fields_of(content: DataInput, schema: TableSchema, meta: DataFileMeta) -> tuple[DataField, ...]:
    """List what a file holds by its schema, under the names the file has.

    Files of tables in thin mode have no key copies: the key columns themselves are them. Files
    that came from Hive have no partition columns: `partition_fields` lists those.
    """
    names = set(content.column_names)
    if not schema.primary_keys:
        held = fields_in_file(schema.fields, names, meta.write_cols)
        lacking = names_lacking(names, schema)
        return tuple(one for one in held if one.name not in lacking) if lacking else held
    by_id = {field.id: field for field in schema.fields}
    fields = []
    for field in file_columns(schema).physical:
        if field.name.startswith(KEY_PREFIX) and field.name not in names:
            value = by_id[field.id - KEY_FIELD_ID_START]
            fields.append(DataField(field.id, value.name, field.type))
        else:
            fields.append(field)
    return tuple(fields)


def names_lacking(names: Collection[str], schema: TableSchema) -> frozenset[str]:
    """Find the partition columns that a file has not: all its rows have the partition's values."""
    if schema.primary_keys:
        return frozenset()
    return frozenset(schema.partition_keys).difference(names)


def partition_values(
    content: DataInput, schema: TableSchema, partition: bytes
) -> PartitionValues | None:
    """Decode the values of the partition columns that a file has not.

    Parameters
    ----------
    content
        An open file.
    schema
        The schema it was written with.
    partition
        Serialised BinaryRow of its partition.

    Returns
    -------
    PartitionValues or None
        None: it has all columns, as those that Paimon wrote.

    Notes
    -----
    Java takes partition columns from the partition always; only files that were migrated from
    Hive show the difference. Source: apache/paimon@1.4.2
    ``org.apache.paimon.partition.PartitionUtils``, ``org.apache.paimon.migrate.FileMetaUtils``.
    """
    lacking = names_lacking(content.column_names, schema)
    if not lacking:
        return None
    fields = [schema.field(name) for name in schema.partition_keys]
    arrays = decode(arrow_array([partition], pa.large_binary()), [one.type for one in fields])
    row = {one.name: array for one, array in zip(fields, arrays, strict=True)}
    kept = tuple(one for one in fields if one.name in lacking)
    values = pa.RecordBatch.from_arrays([row[one.name] for one in kept], schema=arrow_schema(kept))
    return PartitionValues(kept, values)


def is_planned(content: DataInput, fields: Sequence[DataField], predicate: Predicate) -> bool:
    """Whether the range of keys of a file, which plans look at, says as much as its row groups."""
    names = {field.name for field in fields}
    is_one = len(content.row_groups) == 1
    return is_one and all(key_column(name) in names for name in columns(predicate))


def require_supported(path: str, meta: DataFileMeta, table: str) -> None:
    """Refuse a file of a format that is not read."""
    if format_of(meta.file_name) not in READABLE:
        raise UnsupportedError(
            f"file.format = '{format_of(meta.file_name)}'",
            f"{table} has the data file {path}; {', '.join(READABLE)} are read",
        )


def require_size(file_io: FileIO, path: str, meta: DataFileMeta, table: str) -> None:
    """Refuse a file that is missing, or of another size than metadata says."""
    try:
        size_bytes = file_io.size_bytes(path)
    except FileNotFoundError as error:
        raise missing(path, table) from error
    if size_bytes != meta.file_size_bytes:
        raise other_size(path, size_bytes, meta, table)


def missing(path: str, table: str) -> CorruptDataError:
    """Make the error for a file that is not there."""
    return CorruptDataError(
        path,
        "the data file is missing. If the snapshot has expired while it was read, read the "
        "newest one; if not, something outside Paimon deleted the file: restore it, or roll "
        "the table back",
        table,
    )


def other_size(path: str, size_bytes: int, meta: DataFileMeta, table: str) -> CorruptDataError:
    """Make the error for a file of another size than metadata says."""
    return CorruptDataError(
        path,
        f"the file has {size_bytes:,} bytes, metadata says {meta.file_size_bytes:,}: it was "
        "cut or overwritten. Restore it from a copy, or roll the table back",
        table,
    )


@contextmanager
def referred_to_by(table: str) -> Iterator[None]:
    """Name the table in errors that know only the file."""
    try:
        yield
    except CorruptDataError as error:
        if error.referrer:
            raise
        # Who asks for the cause wants to know whether the file was there.
        raise CorruptDataError(error.path, error.problem, table) from (error.__cause__ or error)
