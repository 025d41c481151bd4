"""Before a data file is read: whether it can be and is whole, and which columns it holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from paimonlab.datafile.layout import file_columns
from paimonlab.datafile.tracking import fields_in_file
from paimonlab.errors import CorruptDataError, UnsupportedError
from paimonlab.formats.data_format import READABLE, DataInput, format_of
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.predicates.predicate import Predicate, columns
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.system_fields import KEY_FIELD_ID_START, KEY_PREFIX, key_column
from paimonlab.storage import FileIO


def fields_of(content: DataInput, schema: TableSchema, meta: DataFileMeta) -> tuple[DataField, ...]:
    """List what a file holds by its schema, under the names the file has.

    Files of tables in thin mode have no key copies: the key columns themselves are them.
    """
    names = set(content.column_names)
    if not schema.primary_keys:
        return fields_in_file(schema.fields, names, meta.write_cols)
    by_id = {field.id: field for field in schema.fields}
    fields = []
    for field in file_columns(schema).physical:
        if field.name.startswith(KEY_PREFIX) and field.name not in names:
            value = by_id[field.id - KEY_FIELD_ID_START]
            fields.append(DataField(field.id, value.name, field.type))
        else:
            fields.append(field)
    return tuple(fields)


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
        raise CorruptDataError(
            path,
            "the data file is missing. If the snapshot has expired while it was read, read the "
            "newest one; if not, something outside Paimon deleted the file: restore it, or roll "
            "the table back",
            table,
        ) from error
    if size_bytes != meta.file_size_bytes:
        raise other_size(path, size_bytes, meta, table)


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
