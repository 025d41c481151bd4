"""The columns of the table that a folder of Parquet or ORC files becomes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pyarrow as pa

from paimonlab.catalog.folder_files import Folder, FolderFile
from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spec.types.arrow import from_arrow
from paimonlab.spec.types.data_types import (
    MAX_LENGTH,
    AtomicType,
    DataType,
    TypeRoot,
    with_nullable,
)
from paimonlab.spec.types.text import parse_type

_INTEGER = re.compile(r"0|-?[1-9]\d{0,17}")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_INT_DIGITS = 9


def partition_types_of(
    keys: Sequence[str], files: Sequence[FolderFile], given: Mapping[str, str]
) -> dict[str, DataType]:
    """Return the types of partition columns: as given, or as the names of folders look.

    Raises
    ------
    SchemaError
        If a type is given of something else.
    """
    if unknown := sorted({*given} - {*keys}):
        known = ", ".join(keys) or "none"
        raise SchemaError(
            f"partition_types has {unknown[0]!r}; the folders have the partition columns: {known}"
        )
    return {
        key: parse_type(given[key])
        if key in given
        else _guessed({file.partition[number] for file in files} - {None})  # type: ignore[arg-type]
        for number, key in enumerate(keys)
    }


def _guessed(texts: set[str]) -> AtomicType:
    """Return the type that values are written as.

    >>> _guessed({"7", "12"}).root.name, _guessed({"07"}).root.name
    ('INT', 'VARCHAR')
    """
    if texts and all(map(_INTEGER.fullmatch, texts)):
        is_long = any(len(text.lstrip("-")) > _INT_DIGITS for text in texts)
        return AtomicType(TypeRoot.BIGINT if is_long else TypeRoot.INT)
    if texts and all(map(_DATE.fullmatch, texts)):
        return AtomicType(TypeRoot.DATE)
    return AtomicType(TypeRoot.VARCHAR, length=MAX_LENGTH)


def columns_of(
    found: Folder,
    folder: str,
    partition_fields: Mapping[str, DataType],
    columns_if_empty: Mapping[str, DataType] | None,
) -> dict[str, DataType]:
    """Return the types of columns by name, those of partitions last, also of no files."""
    if found.files:
        return _definition(found.schema, found.origin, partition_fields)
    if columns_if_empty is None:
        raise SchemaError(f"{folder} has no Parquet or ORC files")
    return {**columns_if_empty, **partition_fields}


def _definition(
    schema: pa.Schema,
    origin: str,
    partition_fields: Mapping[str, DataType],
) -> dict[str, DataType]:
    """Return the types of columns by name, those of partitions last."""
    columns = dict[str, DataType]()
    for field in schema:
        try:
            data_type = from_arrow(field.type)
        except (SchemaError, UnsupportedError) as error:
            raise UnsupportedError(
                f"column {field.name!r} of type {field.type} in {origin}",
                "write its rows into a table with a type of Paimon",
            ) from error
        if field.name in partition_fields:
            raise UnsupportedError(
                f"column {field.name!r} in files and in names of folders, as in {origin}",
                "write the rows into a table instead",
            )
        columns[field.name] = with_nullable(data_type, nullable=True)
    return {**columns, **partition_fields}


def check_files(found: Folder, file_format: str | None, *, is_rewritten: bool) -> None:
    """Check that a table can have the files, or their rows if they are written anew.

    Raises
    ------
    SchemaError
        If one is not of the format asked for; None: any will do.
    UnsupportedError
        If it has values as Paimon does not read them.
    """
    for file in found.files:
        if file_format not in (None, file.file_format):
            raise SchemaError(f"{file.path} is {file.file_format}, not {file_format}")
        if file.plain_nanos and not is_rewritten:
            raise UnsupportedError(
                f"column {file.plain_nanos[0]!r} of nanoseconds as INT64 in {file.path}",
                "Paimon has them as INT96; write the rows into a table: catalog.write_table",
            )
