"""Which points a plot draws: few enough to look at, and never fewer without saying so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.errors import UnsupportedError, close_matches
from paimonlab.notebook.display.numbers import many
from paimonlab.notebook.results.plotting.columns import (
    AxisKind,
    Places,
    categories,
    column_of,
    numbers,
    places,
)
from paimonlab.notebook.results.plotting.periods import in_periods
from paimonlab.notebook.results.plotting.thinning import M4_POINTS, sampled, thinned
from paimonlab.notebook.results.profiling import bins_of

Kind = Literal["line", "bar", "hist", "scatter"]
KINDS: tuple[Kind, ...] = ("line", "bar", "hist", "scatter")
MOST_POINTS = 2_000
MOST_BARS = 60
MOST_TIMES = 366
"""Bars on an axis of time, of all series: those of the days of a year can be told apart."""
MOST_CATEGORIES = 200
"""Categories on the axis of a line or of a scatter plot."""
MOST_SERIES = 8

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """Points that belong together."""

    name: str
    """Empty if there is only one."""
    at: _Floats
    """(n,) where they are on the x axis; of bars of a histogram: where they begin."""
    x: Sequence[Any]
    """(n,) the same as plotly takes it: numbers or texts."""
    y: _Floats
    """(n,) NaN: a gap."""


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """What a plot draws."""

    kind: Kind
    x_name: str
    y_name: str
    by: str
    """Empty: one series."""
    x_kind: AxisKind
    labels: tuple[str, ...]
    """Of an axis of categories, in order."""
    series: tuple[Series, ...]
    notes: tuple[str, ...]
    """What is left out, and what was added up."""
    width: float | None = None
    """Of the bars of a histogram, in numbers or seconds."""

    @property
    def title(self) -> str:
        """Say what is drawn."""
        by = f", by {self.by}" if self.by else ""
        return f"{self.y_name} by {self.x_name}{by}"

    @property
    def count(self) -> int:
        """How many points there are."""
        return sum(len(series.x) for series in self.series)


def points_of(rows: pa.Table, kind: str, x: str, y: str | None, by: str | None) -> Points:
    """Choose the points of a plot.

    Parameters
    ----------
    rows
        All rows there are.
    kind
        One of `KINDS`.
    x, y
        Columns. A histogram has no ``y``; bars without ``y`` count rows.
    by
        A column whose values are series of their own; None: one series.

    Raises
    ------
    ColumnNotFoundError
        If there is no such column.
    UnsupportedError
        If there is no such kind, or a column cannot be drawn.
    """
    if kind not in KINDS:
        hint = close_matches(kind, KINDS).strip() or f"there are {', '.join(KINDS)}"
        raise UnsupportedError(f"a plot of the kind {kind!r}", hint)
    needs_y, takes_y = kind in {"line", "scatter"}, kind != "hist"
    if (needs_y and y is None) or (y is not None and not takes_y):
        wanted = "x and y" if needs_y else "x, and y if it is not to count" if takes_y else "x only"
        raise UnsupportedError(f"a {kind} of these columns", f"give {wanted}")
    group = _Groups.of(rows, by)
    column = column_of(rows, x)
    along = places(x, column)
    y_column = None if y is None else column_of(rows, y)
    values = None if y is None or y_column is None else numbers(y, y_column)
    maker = _Maker(kind, x, y, by or "", column, along, y_column, values, group)
    return {
        "line": maker.line,
        "scatter": maker.scatter,
        "bar": maker.bar,
        "hist": maker.histogram,
    }[kind]()


@dataclass(frozen=True, slots=True, eq=False)
class _Groups:
    """Which series a row belongs to."""

    names: tuple[str, ...]
    codes: npt.NDArray[np.int64]
    """(n,) number of each row's series; -1 if it is not drawn."""
    notes: tuple[str, ...]

    @staticmethod
    def of(rows: pa.Table, by: str | None) -> _Groups:
        """Give each value a number, in the order of the values, NULL last."""
        if by is None:
            return _Groups(("",), np.zeros(rows.num_rows, np.int64), ())
        column = column_of(rows, by)
        along = places(by, column)  # refuses what cannot be drawn
        del along
        codes, labels = categories(column)
        names = (*labels, "NULL") if (codes < 0).any() else labels
        codes = np.where(codes < 0, len(labels), codes)
        order = np.argsort(np.array(_ranks(column, codes, len(names))), kind="stable")
        notes: tuple[str, ...] = ()
        if len(names) > MOST_SERIES:
            many = np.bincount(codes, minlength=len(names))
            largest = set(np.argsort(-many, kind="stable")[:MOST_SERIES].tolist())
            order = np.array([number for number in order.tolist() if number in largest])
            notes = (f"the {MOST_SERIES} of {len(names):,} values of {by} with most rows",)
        renumbered = np.full(len(names), -1, np.int64)
        renumbered[order] = np.arange(len(order))
        return _Groups(tuple(names[number] for number in order), renumbered[codes], notes)


def _ranks(column: pa.ChunkedArray, codes: npt.NDArray[np.int64], count: int) -> list[int]:
    """Return for each value its rank in the order of the column."""
    _, first = np.unique(codes, return_index=True)
    values = column.take(pa.array(first))
    if pa.types.is_duration(values.type):
        values = values.cast(pa.int64())
    ordered = pc.rank(values.combine_chunks(), sort_keys="ascending", tiebreaker="first")
    ranks: list[int] = ordered.to_pylist()
    assert len(ranks) == count
    return ranks


@dataclass(frozen=True, slots=True, eq=False)
class _Maker:
    """The columns of one plot."""

    kind: Kind
    x: str
    y: str | None
    by: str
    column: pa.ChunkedArray
    along: Places
    numbers: pa.ChunkedArray | None
    """What `values` are computed from."""
    values: _Floats | None
    groups: _Groups
    period: str = ""
    """What the times of x are the beginnings of; empty: they are those of the rows."""

    def line(self) -> Points:
        """Put the points of each series in order of x; of too many keep the outline."""
        assert self.values is not None
        notes = [*self._left_out(), *self._gaps()]
        each = max(
            MOST_POINTS // max(len(self.groups.names), 1) // M4_POINTS * M4_POINTS, M4_POINTS
        )
        series, drawn_count, all_points = [], 0, 0
        for number, name in enumerate(self.groups.names):
            rows = self._rows(number)
            rows = rows[np.argsort(self.along.at[rows], kind="stable")]
            chosen = rows[thinned(self.along.at[rows], self.values[rows], each)]
            drawn_count, all_points = drawn_count + len(chosen), all_points + len(rows)
            series.append(self._series(name, chosen))
        if drawn_count < all_points:
            notes.append(
                f"{drawn_count:,} of {all_points:,} points: first, last, least and largest of each "
                "of many ranges of x"
            )
        return self._points(series, notes, self.y or "")

    def scatter(self) -> Points:
        """Take all points, or evenly chosen ones."""
        assert self.values is not None
        notes = [*self._left_out()]
        is_there = ~np.isnan(self.along.at) & ~np.isnan(self.values) & (self.groups.codes >= 0)
        missing = int(np.isnan(self.values).sum())
        if missing:
            verb = "is" if missing == 1 else "are"
            notes.append(f"{many(missing, 'row')} without a finite {self.y} {verb} left out")
        rows = np.flatnonzero(is_there & self._in_view())
        chosen = sampled(rows, MOST_POINTS)
        if len(chosen) < len(rows):
            notes.append(f"{len(chosen):,} of {len(rows):,} points, chosen evenly")
        codes = self.groups.codes[chosen]
        series = [
            self._series(name, chosen[codes == number])
            for number, name in enumerate(self.groups.names)
        ]
        return self._points(series, notes, self.y or "")

    def bar(self) -> Points:
        """Add up ``y``, or count rows, for each x and series; of too many times, for periods."""
        rows = np.flatnonzero(~np.isnan(self.along.at) & (self.groups.codes >= 0))
        at, first, code = np.unique(self.along.at[rows], return_index=True, return_inverse=True)
        is_time = self.along.kind is AxisKind.TIME
        most = (
            max(MOST_TIMES // max(len(self.groups.names), 1), MOST_BARS) if is_time else MOST_BARS
        )
        if is_time and len(at) > most and not self.period:
            return self._by_period(rows, most).bar()
        notes = [*self._left_out()]
        if self.period:
            monday = ", from Monday" if self.period == "week" else ""
            notes.append(f"{self.x}: a bar for each {self.period}{monday}")
        if not pa.types.is_floating(self.column.type):
            different = len(pc.unique(self.column.take(pa.array(rows))))
            if different > len(at):
                notes.append(f"values of {self.x} that differ after the 15th digit are one bar")
        shape = (len(self.groups.names), len(at))
        counts = np.zeros(shape, np.int64)
        group = self.groups.codes[rows]
        is_there = np.ones(len(rows), bool) if self.values is None else ~np.isnan(self.values[rows])
        slots = np.ravel_multi_index((group[is_there], code[is_there]), shape)
        np.add.at(counts.reshape(-1), slots, 1)
        sums = counts.astype(np.float64) if self.numbers is None else np.zeros(shape)
        if self.numbers is not None:
            _add_up(sums.reshape(-1), slots, self.numbers.take(pa.array(rows[is_there])))
        name = "rows" if self.y is None else self.y
        if self.y is not None and (counts > 1).any():
            name = f"sum of {self.y}"
            notes.append(f"{self.y} of rows with the same {self._x_name} is added up")
        if self.y is not None:
            notes += self._gaps()
            sums[counts == 0] = np.nan
        chosen, said = self._most(sums, most, name)
        notes += said
        series = []
        for number, label in enumerate(self.groups.names):
            indexes = chosen if self.y is not None else chosen[counts[number, chosen] > 0]
            shown = [self.along.shown(int(rows[first[index]])) for index in indexes]
            series.append(Series(label, at[indexes], shown, sums[number, indexes]))
        return self._points(series, notes, name)

    def histogram(self) -> Points:
        """Count rows in ranges of x, the same for all series; categories are counted as bars."""
        if self.along.kind is AxisKind.CATEGORY:
            return self.bar()
        notes = [*self._left_out()]
        parts = []
        for number, name in enumerate(self.groups.names):
            rows = self._rows(number)
            bins = bins_of(_array(self.column.take(pa.array(rows))))
            parts += [(name, bins)] if bins is not None else []
        if not parts:
            return self._points([], notes, "rows")
        total = parts[0][1]
        for _, bins in parts[1:]:
            total += bins
        while len(total.counts) == 1 and total.width < max(abs(total.starts[0]) / 16, 1e-3):
            total = total.at(total.step + 1)  # one value: a bar that can be seen
        starts = total.starts
        edges = places(self.x, pa.chunked_array([_values(starts, self.column.type)]))
        series = []
        for name, bins in parts:
            wide = bins.at(total.step)
            counts = np.zeros(len(starts))
            counts[wide.first - total.first :][: len(wide.counts)] = wide.counts
            shown = [edges.shown(number) for number in range(len(starts))]
            series.append(Series(name, edges.at, shown, counts))
        width = float(total.width)
        if self.along.kind is AxisKind.TIME:
            width = _seconds(width, self.column.type)
        return self._points(series, notes, "rows", width)

    def _most(self, sums: _Floats, most: int, name: str) -> tuple[npt.NDArray[np.int64], list[str]]:
        """Choose bars, those of all series together: the newest times, else the largest."""
        count = sums.shape[1]
        if count <= most:
            return np.arange(count), []
        if self.period:
            return np.arange(count)[-most:], [f"the newest {most} of {count:,} {self.period}s"]
        size = np.nan_to_num(np.abs(sums)).sum(axis=0)
        chosen = np.sort(np.argsort(-size, kind="stable")[:most])
        return chosen, [f"the {most} of {count:,} values of {self.x} with most {name}"]

    @property
    def _x_name(self) -> str:
        return f"{self.period} of {self.x}" if self.period else self.x

    def _by_period(self, rows: npt.NDArray[np.int64], most: int) -> _Maker:
        """Put the times into the shortest periods of which the rows have at most so many."""
        starts, period = in_periods(self.column, rows, most)
        return replace(self, column=starts, along=places(self.x, starts), period=period)

    def _rows(self, number: int) -> npt.NDArray[np.int64]:
        is_shown = (self.groups.codes == number) & ~np.isnan(self.along.at) & self._in_view()
        return np.flatnonzero(is_shown)

    def _in_view(self) -> npt.NDArray[np.bool_]:
        """Tell which rows are on an axis that has only the first categories."""
        with np.errstate(invalid="ignore"):
            is_first = self.along.at < MOST_CATEGORIES
        return is_first if self.along.kind is AxisKind.CATEGORY else np.ones(len(is_first), bool)

    def _left_out(self) -> list[str]:
        """Say which rows are left out."""
        missing = int(np.isnan(self.along.at).sum())
        plain = f"{many(missing, 'row')} without a finite {self.x}"
        notes = [*self.groups.notes, *([f"{plain} left out"] if missing else [])]
        count = len(self.along.labels)
        if self.kind in {"line", "scatter"} and count > MOST_CATEGORIES:
            notes.append(f"the first {MOST_CATEGORIES} of {count:,} values of {self.x}")
        return notes

    def _gaps(self) -> list[str]:
        assert self.values is not None
        gaps = int(np.isnan(self.values).sum())
        return [f"{many(gaps, 'row')} without a finite {self.y}: gaps"] if gaps else []

    def _series(self, name: str, rows: npt.NDArray[np.int64]) -> Series:
        assert self.values is not None
        shown = [self.along.shown(int(row)) for row in rows]
        return Series(name, self.along.at[rows], shown, self.values[rows])

    def _points(
        self, series: Sequence[Series], notes: Sequence[str], y: str, width: float | None = None
    ) -> Points:
        x_kind = self.along.kind
        drawn = tuple(line for line in series if len(line.x))
        labels = self.along.labels
        if x_kind is AxisKind.CATEGORY:
            used = {label for line in drawn for label in line.x}
            labels = tuple(label for label in labels if label in used)
            order = {label: float(number) for number, label in enumerate(labels)}
            drawn = tuple(
                Series(line.name, np.array([order[label] for label in line.x]), line.x, line.y)
                for line in drawn
            )
        return Points(
            self.kind, self._x_name, y, self.by, x_kind, labels, drawn, tuple(notes), width
        )


def _add_up(sums: _Floats, slots: npt.NDArray[np.int64], numbers: pa.ChunkedArray) -> None:
    """Add numbers to their places; whole numbers and decimals without rounding on the way."""
    if pa.types.is_floating(numbers.type):
        np.add.at(sums, slots, numbers.to_numpy().astype(np.float64))
        return
    scale = numbers.type.scale if pa.types.is_decimal(numbers.type) else 0
    exact = numbers.cast(pa.decimal256(76, scale))
    added = pa.table({"place": slots, "number": exact}).group_by("place")
    summed = added.aggregate([("number", "sum")])
    totals = summed["number_sum"].cast(pa.string()).cast(pa.float64())
    sums[summed["place"].to_numpy()] = totals.to_numpy()


def _array(column: pa.ChunkedArray) -> pa.Array:
    array = column.combine_chunks()
    return pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array


def _values(starts: Sequence[float], kind: pa.DataType) -> pa.Array:
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return pa.array(starts, pa.float64())
    values = pa.array(starts, pa.int64())
    if not pa.types.is_temporal(kind):
        return values
    return values.cast(pa.int32() if kind.bit_width == 32 else pa.int64()).cast(kind)


def _seconds(width: float, kind: pa.DataType) -> float:
    if pa.types.is_date32(kind):
        return width * 86_400
    return width / {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[getattr(kind, "unit", "ms")]
