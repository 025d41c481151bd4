"""``COPY INTO t FROM 'folder'`` by Spark: its file systems, its readers, its INSERT."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.types import LongType, StringType, StructType

from paimonlab.errors import ReadOnlyError, UnsupportedError
from paimonlab.spark.catalogs.places import Place, place_of
from paimonlab.spark.copying.rows import CheckedRows, checked_rows
from paimonlab.spark.copying.source_files import SourceFiles
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.jvm.commands import Row, command
from paimonlab.spark.values.quoting import quoted
from paimonlab.spark.writing.named_writes import writing_as
from paimonlab.spec.sql_text.copy_syntax import CopyFormat, CopyIntoTable
from paimonlab.spec.types.data_types import DataField
from paimonlab.table.copying.formats import TextRules, reader_options
from paimonlab.table.copying.loading import ANSWER, FileCounts, SourceFile, load
from paimonlab.table.table import Table

_COUNT, _TEXT = LongType(), StringType()
_ANSWER = StructType()
for _name, _type in zip(ANSWER, (_TEXT, _TEXT, _COUNT, _COUNT, _COUNT, _TEXT), strict=True):
    _ANSWER = _ANSWER.add(_name, _type, nullable=_name == ANSWER[-1])


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
        return load(statement, table, _Spark(bridge, session, place))

    return command(bridge, run, text, _ANSWER)


@dataclass(frozen=True, slots=True)
class _Spark:
    """Lists and reads files in one session."""

    bridge: Bridge
    session: Any
    """Spark's own session that runs the statement."""
    place: Place

    def list(self, folder: str, pattern: str | None) -> Sequence[SourceFile]:
        """List the files of a folder."""
        return SourceFiles(self.bridge, self.session).list(folder, pattern)

    def checked(
        self,
        files: Sequence[SourceFile],
        fields: Sequence[DataField],
        kind: CopyFormat,
        options: Mapping[str, str],
        texts: TextRules,
    ) -> _Files:
        """Read files."""
        spark = SparkSession(self.bridge.spark.sparkContext, self.session)
        paths = [file.path for file in files]
        rows = checked_rows(spark, paths, fields, kind, options, texts)
        return _Files(self.bridge, spark, self.place, rows)


@dataclass(frozen=True, slots=True)
class _Files:
    """Rows of files."""

    bridge: Bridge
    spark: SparkSession
    place: Place
    rows: CheckedRows

    def counts(self) -> Mapping[str, FileCounts]:
        """Count rows and errors."""
        return self.rows.counts()

    def insert(self, but_of: Sequence[str], user: str, check: Callable[[], None]) -> None:
        """Let Spark align the rows as it does for any INSERT."""
        rows = self.rows.good(but_of)
        view = f"paimonlab_{uuid.uuid4().hex}"
        rows.createTempView(view)
        parts = (self.place.catalog_name, self.place.database, self.place.table)
        target = ".".join(map(quoted, parts))
        names = ", ".join(map(quoted, rows.columns))
        try:
            with writing_as(self.bridge, user, check):
                self.spark.sql(f"INSERT INTO {target} ({names}) SELECT {names} FROM {view}")  # noqa: S608
        finally:
            self.spark.catalog.dropTempView(view)
