"""The rows of one SQL statement."""

from __future__ import annotations

import warnings
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from paimonlab.errors import UnsupportedError, habits
from paimonlab.interrupts import interrupts_held_back
from paimonlab.notebook.display import html, plain
from paimonlab.notebook.display.cells import cells
from paimonlab.notebook.display.drawn import MIME
from paimonlab.notebook.display.grid import Align, Column, Grid
from paimonlab.notebook.display.numbers import bytes_text
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.notebook.results import plotting
from paimonlab.notebook.results.row_files import export
from paimonlab.notebook.results.table.drawing import result_rows
from paimonlab.notebook.results.table.result_view import ResultView, result_view
from paimonlab.spec.visible_text import visible

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from pyspark.sql import DataFrame

    from paimonlab.notebook.results.plotting.plot import Plot

CELLS_SHOWN = 4_000
"""A larger result is shown truncated; all of its rows are available as Arrow."""
TEXT_CELL_COLUMNS = 48
"""As text, a cell takes at most this many columns of the terminal."""
_DOCUMENTS = frozenset({"createtab_stmt", "plan"})
"""What Spark calls the text that SHOW CREATE TABLE and EXPLAIN return."""
_BEYOND = "more exist, beyond --max-bytes"


class PartialResultWarning(UserWarning):
    """Rows are taken from a result that does not have all rows of its query."""


class Stats(Struct, frozen=True):
    """What a statement cost."""

    row_count: int
    """Rows fetched."""
    has_more_rows: bool
    """Whether there are more rows than were fetched; a limit stopped it."""
    fetched_bytes: int
    """Bytes of the rows in Arrow."""
    duration_seconds: float
    snapshots: Sequence[str] = ()
    """Tables that were read, each ``table@snapshot`` where that is known."""
    is_cut: bool = False
    """Whether rows that were fetched are left out, because they take too many bytes."""
    engine: str = ""
    """Who computed them, and why; empty: who always does on this connection."""


class Result(habits.FamiliarNames, what="a result", instead=habits.RESULT):
    """What one SQL statement returned: Arrow inside, a table to look at.

    Anything that reads Arrow takes it as it is (``polars.DataFrame(result)``,
    ``pyarrow.table(result)``, ``duckdb.sql("FROM result")``).

    Parameters
    ----------
    table
        The fetched rows.
    types
        Spark's name of each column's type.
    sql
        The statement as it was written.
    title
        Its first words, shown when it returned no columns.
    stats
        What it cost.
    spark
        The lazy DataFrame, without a limit; None if there is none.
    without_frame
        Why there is no DataFrame.
    said
        What a statement did, beside the rows that it returned.
    """

    def __init__(
        self,
        table: pa.Table,
        *,
        types: Sequence[str],
        sql: str,
        title: str,
        stats: Stats,
        spark: DataFrame | None,
        without_frame: str = "it was read without Spark",
        said: str = "",
    ) -> None:
        self._table = table
        self._types = tuple(types)
        self._title = title
        self.sql = sql
        self.stats = stats
        self._spark = spark
        self._without_frame = without_frame
        self._said = said
        self._has_warned = not stats.has_more_rows

    @property
    def spark(self) -> DataFrame:
        """The lazy DataFrame, without a limit.

        Raises
        ------
        UnsupportedError
            If the statement ran without Spark, or with ``--as-of`` on a Spark Connect server, where
            a DataFrame that is run again reads tables as they are now.
        """
        if self._spark is None:
            raise UnsupportedError("the DataFrame of a result", self._without_frame)
        return self._spark

    def within(self, max_bytes: int | None) -> Result:
        """Return the first rows that together take at most ``max_bytes``; None: all."""
        table = self._table
        if max_bytes is None or table.nbytes <= max_bytes:
            return self
        counts = range(1, table.num_rows + 1)
        count = bisect_right(counts, max_bytes, key=lambda count: table.slice(0, count).nbytes)
        first_rows = table.slice(0, count)
        stats = replace(
            self.stats,
            row_count=first_rows.num_rows,
            has_more_rows=True,
            fetched_bytes=first_rows.nbytes,
            is_cut=True,
        )
        return Result(
            first_rows,
            types=self._types,
            sql=self.sql,
            title=self._title,
            stats=stats,
            spark=self._spark,
            without_frame=self._without_frame,
            said=self._said,
        )

    def to_arrow(self) -> pa.Table:
        """Return the fetched rows.

        This and all other ways to the rows warn with `PartialResultWarning`, once, when the
        query has more of them.
        """
        return self._fetched()

    def to_pandas(self) -> pd.DataFrame:
        """Return the fetched rows as pandas.

        Integers and booleans keep their nulls and their digits (``Int64``, ``boolean``);
        NULL and NaN of a floating-point column become one, as pandas has it.
        """
        return self._fetched().to_pandas(types_mapper=_pandas_types().get)

    def to_polars(self) -> pl.DataFrame:
        """Return the fetched rows as polars."""
        with interrupts_held_back():
            import polars as pl  # noqa: PLC0415 - slow to import

        return pl.DataFrame(self._fetched())

    def plot(
        self,
        kind: str,
        x: str | None = None,
        y: str | None = None,
        *,
        by: str | None = None,
        source: str = "result",
    ) -> Plot:
        """Draw columns of the fetched rows.

        NULL, NaN and infinite numbers are gaps; what is left out or added up is listed below.

        Parameters
        ----------
        kind
            ``line``, ``bar``, ``hist`` or ``scatter``.
        x, y
            Columns. ``y`` are numbers; a histogram has none, and bars without it count rows. If
            ``x`` is None it is the first column, and ``y`` the first one of numbers after it.
        by
            Column whose values are series; the eight with most rows are drawn.
        source
            What the result is called in the plot's ``code``.

        Raises
        ------
        ColumnNotFoundError
            If there is no such column.
        UnsupportedError
            If there is no such kind, or a column cannot be drawn.
        """
        if x is None:
            x, y = plotting.columns.usual_columns(self._table.schema, kind, by)
        notes = []
        if self.stats.has_more_rows:
            notes.append(f"of the first {self._table.num_rows:,} rows; {self._way_to_all}")
        return plotting.plot.plot_of(self._table, kind, x, y, by=by, source=source, notes=notes)

    def export(self, path: str | Path) -> int:
        """Write the fetched rows; return the bytes.

        The name ends with ``.csv``, ``.parquet``, ``.arrow``, ``.json`` (a line for each row) or
        ``.md``.

        Raises
        ------
        UnsupportedError
            If the name ends otherwise, or such a file has no form for a column.
        """
        return export(self._fetched(), path).byte_count

    def to_markdown(self) -> str:
        """Return the rows that are shown as a Markdown table."""
        return plain.markdown(self._grid) if self._types else f"{self._done}\n"

    def to_html(self) -> str:
        """Return the rows that are shown as an HTML table."""
        if self._document is not None:
            return html.lines(self._document) + html.paragraph(self._footer)
        return html.table(self._grid) if self._types else html.paragraph(self._done)

    def to_text(self) -> str:
        """Return the rows that are shown as aligned text."""
        if not self._types:
            return self._done
        if self._document is not None:
            return "\n".join([*map(visible, self._document), self._footer])
        return plain.text(self._grid, cell_columns=TEXT_CELL_COLUMNS)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Give the rows to any reader of Arrow, without a copy."""
        return self._fetched().__arrow_c_stream__(requested_schema)

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> object:  # noqa: FBT001, FBT002 - the protocol's
        """Give the rows to readers of the dataframe interchange protocol."""
        return self._fetched().__dataframe__(nan_as_null=nan_as_null, allow_copy=allow_copy)

    def __len__(self) -> int:
        return self._table.num_rows

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_mimebundle_(self, **_kwargs: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = {"text/html": self.to_html(), "text/plain": self.to_text()}
        is_table = bool(self._types) and self._document is None
        return {MIME: self.view.data(), **bundle} if is_table else bundle

    @cached_property
    def view(self) -> ResultView:
        """The rows as an interactive table: ``save``, ``widget``; ``sql`` of what it shows."""
        grid = self._grid
        has_more = self.stats.has_more_rows
        value = result_rows(self._table, grid, has_more_rows=has_more, footer=self._all_footer)
        return result_view(
            value, grid=grid, table=self._table, statement=self.sql, frame=self._spark
        )

    def _fetched(self) -> pa.Table:
        """Return the rows to a caller who may take them for all."""
        if not self._has_warned:
            self._has_warned = True
            warnings.warn(
                f"these are {self.stats.row_count:,} rows, and the query has more: "
                f"{self._way_to_all}",
                PartialResultWarning,
                stacklevel=3,
            )
        return self._table

    @cached_property
    def _document(self) -> Sequence[str] | None:
        """The lines of a result that is one text to read; None: it is a table."""
        if self._table.num_rows != 1 or not _DOCUMENTS.issuperset(self._table.schema.names):
            return None
        text = self._table.column(0)[0].as_py() if self._table.num_columns == 1 else None
        return text.rstrip("\n").split("\n") if isinstance(text, str) else None

    @cached_property
    def _shown(self) -> pa.Table:
        return self._table.slice(0, max(CELLS_SHOWN // max(self._table.num_columns, 1), 1))

    @cached_property
    def _grid(self) -> Grid:
        columns = [
            Column(
                field.name,
                type_text,
                Align.RIGHT if _is_number(field.type) else Align.LEFT,
                is_float=pa.types.is_floating(field.type),
                is_grouped=_is_number(field.type),
            )
            for field, type_text in zip(self._table.schema, self._types, strict=True)
        ]
        rows = list(zip(*map(cells, self._shown.columns), strict=True))
        return Grid(tuple(columns), rows, footer=self._footer)

    @property
    def _footer(self) -> str:
        count, shown = self.stats.row_count, self._shown.num_rows
        if self.stats.is_cut and shown < count:
            return self._timed(f"showing {shown:,} of {count:,} rows", _BEYOND)
        if self.stats.has_more_rows and not self.stats.is_cut:
            return self._timed(f"showing {shown:,} of >{count:,} rows", self._way_to_all)
        if shown < count:
            return self._timed(f"showing {shown:,} of {count:,} rows", "to_arrow() has all")
        return self._all_footer

    @property
    def _all_footer(self) -> str:
        """The footer if all rows that were fetched are shown."""
        count = self.stats.row_count
        if self.stats.is_cut:
            return self._timed(_counted(count), _BEYOND)
        if self.stats.has_more_rows:
            return self._timed(f"{_counted(count)} of more", self._way_to_all)
        return self._timed(_counted(count))

    @property
    def _way_to_all(self) -> str:
        """How to get all rows of a query that has more."""
        return "--to FILE writes all" if self.stats.is_cut else "--limit 0 for all"

    def _timed(self, *parts: str) -> str:
        parts = (*filter(None, [self._said]), *parts, *filter(None, [self.stats.engine]))
        if is_deterministic():
            return "; ".join(parts)
        size = bytes_text(self.stats.fetched_bytes)
        took = f"fetched {size} in {_seconds(self.stats.duration_seconds)}"
        return "; ".join([*parts, took])

    @property
    def _done(self) -> str:
        took = "" if is_deterministic() else f" in {_seconds(self.stats.duration_seconds)}"
        return f"{self._title}: done{took}{f'; {self._said}' if self._said else ''}"


def _counted(count: int) -> str:
    return f"{count:,} row" if count == 1 else f"{count:,} rows"


def _seconds(duration: float) -> str:
    return f"{duration:.1f} s" if duration < 100 else f"{duration:,.0f} s"


def _is_number(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def _pandas_types() -> dict[pa.DataType, Any]:
    with interrupts_held_back():
        import pandas as pd  # noqa: PLC0415 - optional

    return {
        pa.bool_(): pd.BooleanDtype(),
        pa.int8(): pd.Int8Dtype(),
        pa.int16(): pd.Int16Dtype(),
        pa.int32(): pd.Int32Dtype(),
        pa.int64(): pd.Int64Dtype(),
    }
