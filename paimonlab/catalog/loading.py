"""Files of rows into a table, in one commit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from paimonlab.catalog.catalog import Catalog
from paimonlab.errors import DataError, SchemaError, UnsupportedError
from paimonlab.formats.source_files import SourceFile, SourceFormat, format_of, shaped
from paimonlab.secrets import hides_secrets
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.snapshot import Snapshot
from paimonlab.spec.types.arrow import from_arrow, to_arrow
from paimonlab.spec.types.text import parse_type


@hides_secrets
@dataclass(frozen=True, slots=True, kw_only=True)
class LoadRequest:
    """Which files are loaded into which table."""

    table: str
    paths: Sequence[str]
    format: SourceFormat | None = None
    """None: as the names of the files end."""
    delimiter: str | None = None
    """Of CSV; None: a comma, a tab in ``.tsv`` files."""
    decimal_point: str = "."
    """Of the numbers of CSV: ``,`` for 12,50."""
    creates: bool = False
    """Whether the table is made, with the columns of the first file; so is its database."""
    overwrites: bool = False
    """Whether the rows take the place of those that are there."""
    primary_keys: Sequence[str] = ()
    partition_keys: Sequence[str] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    """Of columns of a table that is made, by name, where the first file does not tell them."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Of a table that is made, as its keys are."""


@dataclass(frozen=True, slots=True)
class LoadResult:
    """What a load did."""

    rows: int
    files: int
    snapshot: Snapshot | None = field(repr=False)
    """None if the files have no rows."""
    numbers_with_commas: Sequence[str] = ()
    """Columns of a new table that are texts, as their numbers have another decimal point."""
    other_texts: Sequence[tuple[str, str, str]] = ()
    """Columns of a new table that are texts though most values look like numbers or days: see
    `SourceFile.other_texts`."""


def load_files(catalog: Catalog, request: LoadRequest) -> LoadResult:
    """Write the rows of files into a table, in one commit: an upsert if it has a primary key.

    Rows are read as they are written, so that files may be larger than memory.

    Raises
    ------
    DataError
        If a file cannot be read, has a column that the table has not, or a value that does not
        fit; names the file. Nothing is loaded then.
    SchemaError
        If a column that is given a type is not in the first file, or there is no such type.
    UnsupportedError
        If only a table that is there can have a type, such as VARCHAR(20), or a delimiter or a
        decimal point is given and no file is CSV.
    AlreadyExistsError, TableNotFoundError
        If a table that is to be made is there, or another one is not.
    """
    files = [_source(path, request) for path in request.paths]
    _check_marks(files, request)
    if request.creates:
        columns = _with_types(files[0], request.types)
    else:
        columns = _columns(catalog, request.table)
    loaded = _Rows(files, request.table, columns)
    reader = pa.RecordBatchReader.from_batches(loaded.schema, loaded.batches())
    if request.creates:
        catalog.create_database(Identifier.parse(request.table).database, exist_ok=True)
    # Before anything is written: it may be that the file cannot be read.
    texts = files[0].numbers_with_commas() if request.creates else ()
    others = files[0].other_texts() if request.creates else ()
    table = catalog.write_table(
        request.table,
        reader,
        primary_keys=request.primary_keys,
        partition_keys=request.partition_keys,
        options=request.options,
        mode="create" if request.creates else "overwrite" if request.overwrites else "append",
    )
    return LoadResult(
        loaded.rows,
        len(files),
        table.snapshot if loaded.rows else None,
        [name for name in texts if name not in request.types],
        [
            (name, what, value)
            for name, what, value in others
            if name not in request.types and name not in texts
        ],
    )


def source_columns(path: str, format: SourceFormat | None = None) -> pa.Schema:
    """Return the columns that a table for a file would have.

    Raises
    ------
    DataError
        If it cannot be read.
    """
    return _source(path, LoadRequest(table="", paths=(path,), format=format)).schema()


def _with_types(file: SourceFile, types: Mapping[str, str]) -> pa.Schema:
    """Return the columns of a file, some with other types than its values look like."""
    columns = file.schema()
    for name, text in types.items():
        position = columns.get_field_index(name)
        if position < 0:
            known = ", ".join(columns.names)
            raise SchemaError(f"{file.path} has no column {name!r} to be {text}, only {known}")
        wanted = parse_type(text)
        arrow = to_arrow(wanted)
        if from_arrow(arrow, nullable=wanted.nullable) != wanted:
            raise UnsupportedError(
                f"{name} as {text} in a table that is made for a file",
                "create the table, then load into it",
            )
        columns = columns.set(position, pa.field(name, arrow, nullable=wanted.nullable))
    return columns


def _source(path: str, request: LoadRequest) -> SourceFile:
    kind = request.format or format_of(path)
    if kind is None:
        raise DataError(f"{path}: the name does not say csv, json or parquet; name the format")
    return SourceFile(path, kind, request.delimiter, decimal_point=request.decimal_point)


def _check_marks(files: Sequence[SourceFile], request: LoadRequest) -> None:
    """Refuse what is said of CSV where no file is."""
    if any(file.format == "csv" for file in files):
        return
    advice = f"leave it out: {files[0].path} is {files[0].format}, no file is CSV"
    if request.delimiter is not None:
        raise UnsupportedError(f"a delimiter of {request.delimiter!r}", advice)
    if request.decimal_point != ".":
        raise UnsupportedError(f"a decimal point of {request.decimal_point!r}", advice)


def _columns(catalog: Catalog, name: str) -> pa.Schema:
    return catalog.table(name).arrow_schema


class _Rows:
    """The rows of some files with the same columns, counted as they are read.

    Raises
    ------
    DataError
        If a file has another column.
    """

    def __init__(self, files: Sequence[SourceFile], table: str, columns: pa.Schema) -> None:
        self._files = files
        names = set()
        for file in files:
            for name in file.schema().names:
                if name not in columns.names:
                    known = ", ".join(columns.names)
                    raise DataError(f"{file.path}: {table} has no column {name!r}, only {known}")
                names.add(name)
        self.schema = pa.schema([column for column in columns if column.name in names])
        self.rows = 0

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Read all rows; columns that a file lacks are null."""
        for file in self._files:
            for batch in file.batches(self.schema):
                self.rows += batch.num_rows
                yield shaped(batch, self.schema, file.path)
