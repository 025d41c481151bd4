"""Which types a column may be given here: those that can be written."""

from __future__ import annotations

from collections.abc import Iterable

from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.formats.data_output import DataFormats
from paimonlab.formats.file_index.options import FileIndexOptions
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.types.data_types import DataField, TypeRoot, atoms_in
from paimonlab.spec.types.text import format_type

_NOT_WRITTEN = (TypeRoot.BLOB,)


def check_types(fields: Iterable[DataField]) -> None:
    """Check the types of new columns.

    Raises
    ------
    UnsupportedError
        If values of a type cannot be written; names the column.
    """
    for field in fields:
        if any(atom.root in _NOT_WRITTEN for atom in atoms_in(field.type)):
            raise UnsupportedError(
                f"type {format_type(field.type)} of column {field.name!r}",
                "it cannot be written yet; BYTES or STRING would do",
            )


def check_files(schema: TableSchema, before: TableSchema | None = None) -> None:
    """Check that data files of a table, and their indexes, can be written.

    Parameters
    ----------
    schema
        The table's schema.
    before
        What it was before a change, for that may have been another program's: what was wrong
        with it may stay.

    Raises
    ------
    SchemaError
        If an option names a column that does not exist.
    UnsupportedError
        If files of a format that the options choose cannot hold a column.
    """
    try:
        options = Options(schema.options)
        DataFormats.of(options).check(schema.fields)
        FileIndexOptions.of(schema.fields, options)
    except (SchemaError, UnsupportedError):
        if before is None or _has_files(before):
            raise


def _has_files(schema: TableSchema) -> bool:
    try:
        check_files(schema)
    except (SchemaError, UnsupportedError):
        return False
    return True
