"""The interactive table of a result, and in Python what was chosen in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa

from paimonlab.errors import UnsupportedError
from paimonlab.notebook import kernel, results
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.grid import Grid
from paimonlab.notebook.kernel.progress import ProgressDisplay
from paimonlab.notebook.kernel.selection import RowQuery
from paimonlab.notebook.results import row_query
from paimonlab.notebook.results.table.drawing import ROWS_ASKED, cell_texts
from paimonlab.notebook.results.table.value import ResultRows
from paimonlab.spark.values.quoting import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ResultView(Drawn[ResultRows]):
    """The table of a result: it knows how the interactive form is sorted and filtered."""

    statement: str = ""
    """The SQL that returned the rows."""
    frame: DataFrame | None = None
    """All rows of the statement, not run yet; None if it ran without Spark."""

    @property
    def query(self) -> RowQuery:
        """What was last chosen in the interactive form; empty if nothing was."""
        return self.selection.rows or RowQuery()

    @property
    def sql(self) -> str:
        """The statement, sorted and filtered as the interactive form is now.

        It is about all rows, not only those that were fetched, with the options and parameters that
        the statement was run with. Rows that are equal in the column they are sorted by come in any
        order.

        Raises
        ------
        UnsupportedError
            If SQL cannot express it: a piece of text in a nested or floating-point column, columns
            of the same name, a statement that is not a query.
        """
        return row_query.query_sql(self.statement, self._columns, self.query)

    def to_arrow(self, *, all_rows: bool = False) -> pa.Table:
        """Return the rows, sorted and filtered as the interactive form is now.

        Parameters
        ----------
        all_rows
            False: those that were fetched, computed here. True: all rows of the statement; if not
            all were fetched, Spark runs it again.

        Raises
        ------
        UnsupportedError
            If Spark has to run it again and SQL cannot express it.
        """
        if not (all_rows and self.value.has_more_rows):
            return (
                row_query.Rows(self.all_rows, self._kinds).rows(self.query)
                if self.query
                else self.all_rows
            )
        if self.frame is None:
            raise UnsupportedError(
                "all rows of a result that was read without Spark", "run it with --limit 0"
            )
        return _fetched(self.frame, self._columns, self.query)

    @property
    def _kinds(self) -> list[Any]:
        return [column.value for column in self.value.columns]

    @property
    def _columns(self) -> list[row_query.SqlColumn]:
        return [
            row_query.SqlColumn(field.name, field.type, kind)
            for field, kind in zip(self.all_rows.schema, self._kinds, strict=True)
        ]


class _Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the interactive form asks for."""

    rows: RowQuery
    start: int
    count: int
    whole: bool = False
    """Whether long cells are wanted whole."""


def result_view(
    value: ResultRows, *, grid: Grid, table: pa.Table, statement: str, frame: DataFrame | None
) -> ResultView:
    """Draw a result whose table can be asked for the rows that it does not contain.

    Parameters
    ----------
    value
        What the interactive form has.
    grid
        The static form.
    table
        All rows that were fetched.
    statement
        The SQL that returned them.
    frame
        All rows of it; None if it ran without Spark.
    """
    is_all_there = len(value.rows) == table.num_rows and not any(
        column.cells.cut for column in value.columns
    )
    return ResultView(
        value,
        grid,
        table,
        statement=statement,
        frame=frame,
        answer=None if is_all_there else _answer(table, value),
    )


def _answer(table: pa.Table, value: ResultRows) -> Callable[[Mapping[str, Any]], Mapping[str, Any]]:
    rows = row_query.Rows(table, [column.value for column in value.columns])
    last: list[tuple[RowQuery, pa.Array]] = []

    def answer(request: Mapping[str, Any]) -> Mapping[str, Any]:
        wanted = msgspec.convert(dict(request), _Request)
        if not last or last[0][0] != wanted.rows:
            last[:] = [(wanted.rows, rows.places(wanted.rows))]
        indexes = last[0][1]
        chosen = indexes.slice(wanted.start, min(wanted.count, ROWS_ASKED))
        texts = cell_texts(table.take(chosen), is_whole=wanted.whole)
        return {
            "count": len(indexes),
            "places": chosen.to_pylist(),
            "rows": texts.rows,
            "columns": msgspec.to_builtins(texts.columns),
        }

    return answer


def _fetched(frame: DataFrame, columns: list[row_query.SqlColumn], query: RowQuery) -> pa.Table:
    from pyspark.sql import functions as sf  # noqa: PLC0415 - PySpark is optional

    for wanted in row_query.conditions(columns, query):
        frame = frame.where(wanted)
    if query.by is not None:
        row_query.order(columns, query)  # refuses what has no order
        column = sf.col(quoted(columns[query.by].name))
        frame = frame.orderBy(
            column.desc_nulls_last() if query.descending else column.asc_nulls_last()
        )
    return kernel.spark_work.run_on_spark(
        frame.sparkSession,
        lambda: results.spark_fetch.fetch(frame, limit=None).table,
        description="the rows of a table as it is sorted and filtered",
        display=ProgressDisplay(is_shown=False),
    )
