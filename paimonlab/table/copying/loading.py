"""``COPY INTO t FROM 'folder'``: each file once, and an answer of one row a file.

Engines differ in how they list and read files and write rows; which files are loaded, what becomes
of wrong rows, the history and the answer are the same.

Source: apache/paimon@5dacde5 ``CopyIntoTableExec``, ``CopyIntoResultBuilder``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from paimonlab.clock import now_millis
from paimonlab.errors import ColumnNotFoundError, DataError
from paimonlab.metadata.load_history import LoadRecord
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.sql_text.copy_syntax import CopyFormat, CopyIntoTable, OnError
from paimonlab.spec.types.data_types import DataField
from paimonlab.table.committing.loads import FileLoader
from paimonlab.table.committing.users import new_user
from paimonlab.table.copying.formats import TextRules, check_compression, reader_options
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.table import Table

LoadedFile: TypeAlias = tuple[str, str, int, int, int, str | None]
"""Name, status, rows loaded, rows parsed, errors seen, and the first error."""
ANSWER = ("file_name", "status", "rows_loaded", "rows_parsed", "errors_seen", "first_error")
"""What the columns of the answer are called."""
_LOADED, _PARTLY = "LOADED", "PARTIALLY_LOADED"
_FAILED, _SKIPPED = "LOAD_FAILED", "SKIPPED"
SHOWN = 100
"""Characters of a wrong value that a message shows."""


@dataclass(frozen=True, slots=True, order=True)
class SourceFile:
    """A file as it was listed."""

    path: str
    """With the scheme of its file system."""
    size_bytes: int
    modified_millis: int
    """Epoch milliseconds."""

    @property
    def name(self) -> str:
        """Its name in the folder."""
        return self.path.rpartition("/")[2]

    @property
    def version(self) -> tuple[str, int, int]:
        """What tells one state of the file from another."""
        return self.path, self.size_bytes, self.modified_millis


@dataclass(frozen=True, slots=True)
class FileCounts:
    """What was found in one file."""

    spelling: str = ""
    """Its name as the engine spells it: Spark has ``%20`` for a blank."""
    rows: int = 0
    errors: int = 0
    """Rows that cannot be loaded."""
    first_error: str | None = None


class CheckedFiles(Protocol):
    """Rows of files, of which it is known what is wrong."""

    def counts(self) -> Mapping[str, FileCounts]:
        """Count rows and errors by the file's name; files without rows may be left out."""
        ...

    def insert(self, but_of: Sequence[str], user: str, check: Callable[[], None]) -> None:
        """Write the good rows in one commit.

        Parameters
        ----------
        but_of
            Files to leave out, as `FileCounts.spelling` has them.
        user
            Who commits.
        check
            Called before the commit; what it raises keeps it from happening.
        """
        ...


class LoadEngine(Protocol):
    """What lists and reads files."""

    def list(self, folder: str, pattern: str | None) -> Sequence[SourceFile]:
        """Return the files of a folder, or a file, ordered by name.

        Parameters
        ----------
        folder
            Files in folders inside of it do not count, nor what begins with ``_`` or ``.``.
        pattern
            A regular expression of Java; matched somewhere in the name. None: all files.

        Raises
        ------
        DataError
            If there is no such folder, or the pattern is not a regular expression.
        """
        ...

    def checked(
        self,
        files: Sequence[SourceFile],
        fields: Sequence[DataField],
        kind: CopyFormat,
        options: Mapping[str, str],
        texts: TextRules,
    ) -> CheckedFiles:
        """Read files.

        Parameters
        ----------
        files
            At least one.
        fields
            The columns of the table that the files have: in their order in CSV, by their names
            else.
        kind
            What the files are.
        options
            Of the reader, from `reader_options`.
        texts
            Of CSV and JSON.
        """
        ...


def no_source(folder: str) -> DataError:
    """Say that there is nothing to load from."""
    return DataError(f"COPY INTO … FROM {folder!r}: there is no such folder or file")


def is_hidden(name: str) -> bool:
    """Tell whether a file is left out: Spark's readers take none of these names."""
    return name.startswith(("_", "."))


def load(statement: CopyIntoTable, table: Table, engine: LoadEngine) -> list[LoadedFile]:
    """Load the files that were not loaded before, in one commit.

    Raises
    ------
    UnsupportedError
        If an option of the format is unknown, or files are not compressed as it says.
    DataError
        If a row cannot be loaded and the statement ends then, if a file changes meanwhile, or
        others load one of the files.
    """
    options, texts = reader_options(statement.format, statement.options)
    fields = loaded_fields(table.schema, statement.columns, table.name)
    files = engine.list(statement.source, statement.pattern)
    check_compression(statement.options, [file.name for file in files])
    loader = FileLoader(store_of(table))
    before = frozenset[str]()
    if not statement.is_forced:
        before = loader.loaded(file.version for file in files)
    wanted = [file for file in files if file.path not in before]
    skipped: list[LoadedFile] = [
        (file.name, _SKIPPED, 0, 0, 0, None) for file in files if file.path in before
    ]
    if not wanted:
        return skipped
    rows = engine.checked(wanted, fields, statement.format, options, texts)
    counts = rows.counts()
    assert counts.keys() <= {file.name for file in wanted}, "rows of files not asked for"
    answer = [_outcome(file.name, counts, statement.on_error) for file in wanted]
    if statement.on_error is OnError.ABORT_STATEMENT:
        _check_clean(answer, table.name)

    def check_unchanged() -> None:
        now = {file.path: file for file in engine.list(statement.source, statement.pattern)}
        for file in wanted:
            if now.get(file.path) != file:
                raise DataError(f"{table.name}: {file.path} changed while it was loaded")

    began_at = now_millis()
    user = new_user(definition_of(table).options)
    records = [
        LoadRecord(
            file_path=file.path,
            file_size=file.size_bytes,
            last_modified=file.modified_millis,
            loaded_at=began_at,
            snapshot_id=0,
            rows_loaded=loaded,
        )
        for file, (_, status, loaded, *_) in zip(wanted, answer, strict=True)
        if status != _FAILED
    ]
    if not any(record.rows_loaded for record in records):
        check_unchanged()
        loader.note_empty(records)
        return [*answer, *skipped]
    failed = [counts[name].spelling for name, status, *_ in answer if status == _FAILED]
    with loader.loading(records, user=user, began_at=began_at, is_forced=statement.is_forced):
        rows.insert(failed, user, check_unchanged)
    return [*answer, *skipped]


def loaded_fields(
    schema: TableSchema, columns: Sequence[str] | None, table: str
) -> list[DataField]:
    """Return the columns of a table that a statement names, in its order; None: all.

    Raises
    ------
    ColumnNotFoundError
        If there is no such column.
    DataError
        If one is named twice.
    """
    if columns is None:
        return list(schema.fields)
    by_name = {field.name.lower(): field for field in schema.fields}
    found: list[DataField] = []
    for column in columns:
        field = by_name.get(column.lower())
        if field is None:
            raise ColumnNotFoundError(column, table, schema.field_names)
        if field in found:
            raise DataError(f"{table}: COPY INTO names the column {column!r} twice")
        found.append(field)
    return found


def _check_clean(answer: Sequence[LoadedFile], table: str) -> None:
    for name, _, _, _, errors, first in answer:
        if errors:
            raise DataError(
                f"{table}: {errors} rows of {name} cannot be loaded, the first of "
                f"them because of {first}; nothing was loaded. ON_ERROR = CONTINUE (or "
                "SKIP_FILE) loads the others"
            )


def _outcome(name: str, counts: Mapping[str, FileCounts], on_error: OnError) -> LoadedFile:
    found = counts.get(name, FileCounts())
    loaded = found.rows - found.errors
    if found.errors and on_error is OnError.SKIP_FILE:
        loaded = 0
    status = _LOADED if not found.errors else _PARTLY if loaded else _FAILED
    return name, status, loaded, found.rows, found.errors, found.first_error
