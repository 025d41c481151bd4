"""INSERT INTO and INSERT OVERWRITE of format tables: executors write files, the driver names them.

Where a task is tried again the files of all its attempts have hidden names, and those of the one
that Spark counts become visible; what the others left beside them is deleted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame

from paimonlab.errors import UnsupportedError
from paimonlab.spark.format_tables.tasks import OUTCOME_COLUMN, WriteFiles, outcomes_of
from paimonlab.spark.jvm.bridge import CONNECTOR, Bridge, Proxy
from paimonlab.spark.jvm.metrics import Unmeasured
from paimonlab.spark.jvm.predicates import predicates_text
from paimonlab.spark.reading.filters import equal_values, is_float
from paimonlab.spark.shipping import ship
from paimonlab.spark.values.in_arrow import map_in_arrow
from paimonlab.table.format_tables.folders import texts_of_given
from paimonlab.table.format_tables.format_table import FormatTable
from paimonlab.table.format_tables.writing import (
    StagedFile,
    discard,
    remove_attempts,
    remove_hidden,
)

_PREDICATE_UTILS = "org.apache.spark.sql.internal.connector.PredicateUtils"


class FormatWriteBuilder(Proxy):
    """Learns from Spark what kind of write a statement is."""

    class Java:
        """py4j's list of interfaces."""

        implements = [CONNECTOR + "write.SupportsOverwriteV2"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, table: FormatTable) -> None:
        super().__init__(bridge)
        self._table = table
        self._replaced: list[str | None] | None = None

    def truncate(self) -> Proxy:
        """Replace all rows of the table."""
        self._replaced = []
        return self

    def canOverwrite(self, predicates: Sequence[Any]) -> bool:
        """Say that predicates choose partitions by values of the first partition columns.

        Raises
        ------
        UnsupportedError
            If they do not.
        """
        self._texts(predicates)
        return True

    def overwrite(self, predicates: Sequence[Any]) -> Proxy:
        """Replace the partitions that predicates choose."""
        self._replaced = self._texts(predicates)
        return self

    def build(self) -> Proxy:
        """Finish."""
        return _FormatWrite(self._bridge, self._table, self._replaced)

    def _texts(self, predicates: Sequence[Any]) -> list[str | None]:
        utilities = self._bridge.module(_PREDICATE_UTILS)
        translated = [utilities.toV1(predicate) for predicate in predicates]
        keys = self._table.partitioning.keys
        values = None
        if all(value.isDefined() for value in translated):
            floats = [key.name for key in keys if is_float(key.type)]
            names = [key.name for key in keys]
            values = equal_values([value.get() for value in translated], names, floats)
        if values is None:
            said = predicates_text(self._bridge, predicates)
            raise UnsupportedError(
                f"overwriting rows of {self._table.name} where {said}",
                "rows to replace are chosen by values of partition columns here",
            )
        return texts_of_given(self._table.partitioning, self._table.partition_scalars(values))


class _FormatWrite(Unmeasured):
    """A write that gets its rows as a DataFrame."""

    class Java:
        """py4j's list of interfaces."""

        implements = [CONNECTOR + "write.V1Write"]  # noqa: RUF012

    def __init__(
        self, bridge: Bridge, table: FormatTable, replaced: list[str | None] | None
    ) -> None:
        super().__init__(bridge)
        self._table = table
        self._replaced = replaced

    def description(self) -> str:
        """Say what is written, for plans."""
        return f"Paimon({self._table.name}), {self._table.format} files"

    def toInsertableRelation(self) -> Proxy:
        """Return what takes the rows."""
        return _FormatInsert(self._bridge, self._table, self._replaced)


class _FormatInsert(Proxy):
    """Takes the rows, writes and publishes them."""

    class Java:
        """py4j's list of interfaces."""

        implements = ["org.apache.spark.sql.sources.InsertableRelation"]  # noqa: RUF012

    def __init__(
        self, bridge: Bridge, table: FormatTable, replaced: list[str | None] | None
    ) -> None:
        super().__init__(bridge)
        self._table = table
        self._replaced = replaced

    def insert(self, rows: Any, overwrite: bool) -> None:  # noqa: FBT001 - Spark's signature
        """Write rows; whether they replace others was said before."""
        del overwrite
        frame = DataFrame(rows, self._bridge.spark)
        staged = written(self._bridge, frame, self._table)
        if self._replaced is None:
            self._table.publish(staged)
        else:
            self._table.replace(staged, self._replaced, dynamic=False)
        remove_attempts(self._table.file_io, staged)


def replace_dynamically(bridge: Bridge, rows: DataFrame, table: FormatTable) -> None:
    """Write rows in place of those of the partitions that they are of."""
    staged = written(bridge, rows, table)
    table.replace(staged, dynamic=True)
    remove_attempts(table.file_io, staged)


def written(bridge: Bridge, rows: DataFrame, table: FormatTable) -> list[StagedFile]:
    """Write rows to hidden files on the executors.

    Raises
    ------
    PaimonError
        The first error of a task; the files of all tasks are deleted.
    """
    ship(bridge.spark.sparkContext)
    writer = table.writer()
    task = WriteFiles(writer)
    try:
        found = map_in_arrow(rows, task, f"{OUTCOME_COLUMN} binary").collect()
    except BaseException:
        remove_hidden(table.file_io, table.path, writer.job)
        raise
    staged, error = outcomes_of([bytes(row[OUTCOME_COLUMN]) for row in found])
    if error is not None:
        folders = {one.folder for one in staged}
        discard(table.file_io, [one.hidden for one in staged], folders, table.path)
        raise error
    return staged
