"""``COPY INTO t FROM 'folder'``: each file once, and an answer of one row a file.

Source: apache/paimon@5dacde5 ``CopyIntoTableExec``, ``CopyIntoResultBuilder``.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import LongType, StringType, StructType

from paimonlab.clock import now_millis
from paimonlab.errors import ColumnNotFoundError, DataError, ReadOnlyError, UnsupportedError
from paimonlab.metadata.load_history import LoadRecord
from paimonlab.spark.catalogs.places import Place, place_of
from paimonlab.spark.copying.formats import check_compression, reader_options
from paimonlab.spark.copying.rows import FileCounts, checked_rows
from paimonlab.spark.copying.source_files import SourceFile, SourceFiles
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.jvm.commands import Row, command
from paimonlab.spark.values.quoting import quoted
from paimonlab.spark.writing.named_writes import writing_as
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.sql_text.copy_syntax import CopyIntoTable, OnError
from paimonlab.spec.types.data_types import DataField
from paimonlab.table.committing.loads import FileLoader
from paimonlab.table.committing.users import new_user
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.table import Table

_ANSWER = (
    StructType()
    .add("file_name", StringType(), nullable=False)
    .add("status", StringType(), nullable=False)
    .add("rows_loaded", LongType(), nullable=False)
    .add("rows_parsed", LongType(), nullable=False)
    .add("errors_seen", LongType(), nullable=False)
    .add("first_error", StringType())
)
_LOADED, _PARTLY = "LOADED", "PARTIALLY_LOADED"
_FAILED, _SKIPPED = "LOAD_FAILED", "SKIPPED"


def load_command(bridge: Bridge, statement: CopyIntoTable) -> Any:
    """Return the command that loads files into a table.

    Raises
    ------
    UnsupportedError
        If an option of the format is unknown.
    """
    name = ".".join(statement.table)
    text = f"COPY INTO {name} FROM '{statement.source}'"
    reader_options(statement.format, statement.options)

    def run(session: Any) -> Sequence[Row]:
        place = place_of(bridge, statement.table, "COPY INTO")
        if place is None:
            raise UnsupportedError(text, "only tables of a Paimon catalog; use INSERT INTO")
        if place.catalog.is_read_only:
            raise ReadOnlyError(text)
        table = place.catalog.relation(place.name)
        if not isinstance(table, Table):
            raise UnsupportedError(text, "a system table is read-only")
        return _Loading(bridge, session, statement, place, table).run()

    return command(bridge, run, text, _ANSWER)


@dataclass(frozen=True, slots=True)
class _Loading:
    """A statement that runs."""

    bridge: Bridge
    session: Any
    """Spark's own session that runs it."""
    statement: CopyIntoTable
    place: Place
    table: Table

    def run(self) -> list[Row]:
        """Load the files that were not loaded before."""
        said = self.statement
        fields = loaded_fields(self.table.schema, said.columns, self.table.name)
        listing = SourceFiles(self.bridge, self.session)
        files = listing.list(said.source, said.pattern)
        check_compression(said.options, [file.name for file in files])
        loader = FileLoader(store_of(self.table))
        before = frozenset[str]()
        if not said.is_forced:
            before = loader.loaded(file.version for file in files)
        wanted = [file for file in files if file.path not in before]
        skipped: list[Row] = [
            (file.name, _SKIPPED, 0, 0, 0, None) for file in files if file.path in before
        ]
        if not wanted:
            return skipped
        options, texts = reader_options(said.format, said.options)
        spark = SparkSession(self.bridge.spark.sparkContext, self.session)
        paths = [file.path for file in wanted]
        rows = checked_rows(spark, paths, fields, said.format, options, texts)
        counts = rows.counts()
        assert counts.keys() <= {file.name for file in wanted}, "rows of files not asked for"
        answer = [_outcome(file.name, counts, said.on_error) for file in wanted]
        failed = [counts[str(name)].spelling for name, status, *_ in answer if status == _FAILED]
        if said.on_error is OnError.ABORT_STATEMENT:
            self._check_clean(answer)

        def check_unchanged() -> None:
            now = {file.path: file for file in listing.list(said.source, said.pattern)}
            for file in wanted:
                if now.get(file.path) != file:
                    raise DataError(f"{self.table.name}: {file.path} changed while it was loaded")

        self._load(loader, spark, wanted, rows.good(failed), answer, check_unchanged)
        return [*answer, *skipped]

    def _check_clean(self, answer: Sequence[Row]) -> None:
        for name, _, _, _, errors, first in answer:
            if errors:
                raise DataError(
                    f"{self.table.name}: {errors} rows of {name} cannot be loaded, the first of "
                    f"them because of {first}; nothing was loaded. ON_ERROR = CONTINUE (or "
                    "SKIP_FILE) loads the others"
                )

    def _load(
        self,
        loader: FileLoader,
        spark: SparkSession,
        files: Sequence[SourceFile],
        rows: DataFrame,
        answer: Sequence[Row],
        check: Callable[[], None],
    ) -> None:
        """Write and commit the good rows, and note down the files that were loaded."""
        began_at = now_millis()
        user = new_user(definition_of(self.table).options)
        records = [
            LoadRecord(
                file_path=file.path,
                file_size=file.size_bytes,
                last_modified=file.modified_millis,
                loaded_at=began_at,
                snapshot_id=0,
                rows_loaded=int(loaded),  # type: ignore[arg-type]  # a count
            )
            for file, (_, status, loaded, *_) in zip(files, answer, strict=True)
            if status != _FAILED
        ]
        if not any(record.rows_loaded for record in records):
            check()
            loader.note_empty(records)
            return
        forced = self.statement.is_forced
        with loader.loading(records, user=user, began_at=began_at, is_forced=forced):
            self._insert(spark, rows, user, check)

    def _insert(
        self, spark: SparkSession, rows: DataFrame, user: str, check: Callable[[], None]
    ) -> None:
        """Let Spark align the rows as it does for any INSERT."""
        view = f"paimonlab_{uuid.uuid4().hex}"
        rows.createTempView(view)
        parts = (self.place.catalog_name, self.place.database, self.place.table)
        target = ".".join(map(quoted, parts))
        names = ", ".join(map(quoted, rows.columns))
        try:
            with writing_as(self.bridge, user, check):
                spark.sql(f"INSERT INTO {target} ({names}) SELECT {names} FROM {view}")  # noqa: S608
        finally:
            spark.catalog.dropTempView(view)


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


def _outcome(name: str, counts: Mapping[str, FileCounts], on_error: OnError) -> Row:
    found = counts.get(name, FileCounts())
    loaded = found.rows - found.errors
    if found.errors and on_error is OnError.SKIP_FILE:
        loaded = 0
    status = _LOADED if not found.errors else _PARTLY if loaded else _FAILED
    return name, status, loaded, found.rows, found.errors, found.first_error
