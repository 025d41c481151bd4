"""Statistics of the rows of a file: minimum, maximum and null count per column.

Source: apache/paimon@1.3.1 ``org.apache.paimon.stats.SimpleStats``,
``org.apache.paimon.statistics``, ``org.apache.paimon.stats.SimpleStatsConverter``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, arrow_scalar, null_filled, numpy_values
from paimonlab.same_objects import MOST_REMEMBERED, SameObjects
from paimonlab.spec.binary_row.rows import encode
from paimonlab.spec.manifests.data_file import EMPTY_ROW, SimpleStats
from paimonlab.spec.statistics.extremes import extremes, extremes_of_slices
from paimonlab.spec.statistics.mode import StatsKind, StatsMode, StatsOptions
from paimonlab.spec.statistics.truncation import truncate_max
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import AtomicType, DataField, TypeRoot

__all__ = [
    "ColumnStats",
    "StatsCollector",
    "StatsKind",
    "StatsMode",
    "StatsOptions",
    "collect_stats",
    "finish_each",
    "stats_of_slices",
]

_WITHOUT_ORDER = (TypeRoot.VARIANT, TypeRoot.BLOB)
_KEPT_ROWS = 4096
"""Rows that a collector keeps at most, to look at them with others."""
_KEPT_BYTES = 256 << 10


@dataclass(frozen=True, slots=True)
class ColumnStats:
    """Statistics of one column."""

    min: pa.Array
    """Of length 1; null: unknown."""
    max: pa.Array
    """Of length 1; null: unknown."""
    null_count: int | None
    """None: unknown."""


class StatsCollector:
    """Collects statistics of rows that come in pieces.

    A few rows are only kept; they are looked at with those of other files by `finish_each`.

    Parameters
    ----------
    fields
        The columns, found by name.
    modes
        What to keep, one per column.
    """

    def __init__(self, fields: Sequence[DataField], modes: Sequence[StatsMode]) -> None:
        self.fields = tuple(fields)
        self.modes = tuple(modes)
        self._pieces: list[pa.RecordBatch | pa.Table] = []
        self._rows = 0
        self._bytes = 0
        self._reduced: list[_Bounds] = []
        self._null_counts = np.zeros(len(self.fields), np.int64)
        self._wanted = _wanted_of(self.fields, self.modes)

    def add(self, rows: pa.RecordBatch | pa.Table) -> None:
        """Take rows into account."""
        self._pieces.append(rows)
        self._rows += rows.num_rows
        if self._rows <= _KEPT_ROWS:
            self._bytes += rows.nbytes
        if self._rows > _KEPT_ROWS or self._bytes > _KEPT_BYTES:
            self.reduce()

    def reduce(self) -> None:
        """Look at the rows that are kept, and let go of them."""
        if self._pieces:
            bounds = _bounds_of([self])
            self._null_counts = self.null_counts()
            self._pieces.clear()
            self._rows = self._bytes = 0
            self._reduced = bounds

    def null_counts(self) -> npt.NDArray[np.int64]:
        """Count the nulls of each column, as far as its mode wants to know."""
        counts = self._null_counts.copy()
        for number, field in enumerate(self.fields):
            if self._wanted.is_counted[number]:
                counts[number] += sum(rows.column(field.name).null_count for rows in self._pieces)
        return counts

    def pieces_of(
        self, block: int, column: int, name: str, arrow_type: pa.DataType
    ) -> list[pa.Array]:
        """Return what decides about the bounds of a column: values, or bounds of some."""
        arrays = list[pa.Array]()
        for bounds in self._reduced[block : block + 1]:
            arrays += (side.slice(column, 1) for side in (bounds.low, bounds.high))
        for rows in self._pieces:
            values = rows.column(name)
            if values.type != arrow_type:
                values = values.cast(arrow_type)
            arrays += values.chunks if isinstance(values, pa.ChunkedArray) else [values]
        return arrays

    def columns(self) -> list[ColumnStats]:
        """Return the statistics so far, one per column."""
        low, high = _kept_bounds(self.fields, self.modes, _bounds_of([self]), 1)
        counts = self.null_counts().tolist()
        return [
            ColumnStats(low[number], high[number], counts[number] if is_counted else None)
            for number, is_counted in enumerate(self._wanted.is_counted)
        ]

    def finish(self, *, dense: bool) -> tuple[SimpleStats, tuple[str, ...] | None]:
        """Return the statistics as metadata stores them.

        Parameters
        ----------
        dense
            Whether columns of which nothing is known are left out.

        Returns
        -------
        stats : SimpleStats
        columns : tuple of str | None
            Names of the columns that ``stats`` covers; None: all of them.
        """
        return finish_each([self], dense=dense)[0]


def finish_each(
    collectors: Sequence[StatsCollector], *, dense: bool
) -> list[tuple[SimpleStats, tuple[str, ...] | None]]:
    """Finish collectors of the same columns and modes, one per file, together.

    Values of all files and of all columns of a type are looked at in one pass, and encoded in
    one: each look at an array has its price, however small the array is.

    Parameters
    ----------
    collectors
        One per file.
    dense
        As of `StatsCollector.finish`.

    Returns
    -------
    list
        One per collector: what `StatsCollector.finish` returns.
    """
    if not collectors:
        return []
    first = collectors[0]
    counts = [collector.null_counts() for collector in collectors]
    return _stored(
        *(first.fields, first.modes),
        lambda: _bounds_of(collectors),
        np.array(counts, np.int64).reshape(len(collectors), len(first.fields)),
        dense=dense,
    )


def stats_of_slices(
    rows: pa.Table,
    lengths: npt.NDArray[np.int64],
    fields: Sequence[DataField],
    modes: Sequence[StatsMode],
    *,
    dense: bool,
    text_bounds: Sequence[Mapping[str, tuple[bytes, bytes]]] = (),
) -> list[tuple[SimpleStats, tuple[str, ...] | None]]:
    """Collect statistics of slices of a table, one after the other, each column in one pass.

    Parameters
    ----------
    rows
        n rows.
    lengths : (s,) int64
        How many rows each slice has; n together.
    fields, modes, dense
        As of `StatsCollector`.
    text_bounds
        By column, the smallest and the largest text or bytes of each slice that are known already.

    Returns
    -------
    list
        One per slice: what `StatsCollector.finish` returns.
    """
    null_counts = np.zeros((len(lengths), len(fields)), np.int64)
    wanted = _wanted_of(fields, modes)
    for number, field in enumerate(fields):
        column = rows.column(field.name)
        if wanted.is_counted[number] and column.null_count:
            seen = np.concatenate([[0], np.cumsum(numpy_values(column.is_null()))])
            ends = np.cumsum(lengths)
            null_counts[:, number] = seen[ends] - seen[ends - lengths]

    def bounds() -> list[_Bounds]:
        found = []
        for columns in wanted.blocks:
            kind = to_arrow(fields[columns[0]].type)
            lows, highs = list[pa.Array](), list[pa.Array]()
            for column in columns:
                name = fields[column].name
                low, high = _known_bounds(name, kind, text_bounds) or extremes_of_slices(
                    _values(rows, name, kind), lengths
                )
                lows.append(low)
                highs.append(high)
            found.append(_Bounds(columns, pa.concat_arrays(lows), pa.concat_arrays(highs)))
        return found

    return _stored(fields, modes, bounds, null_counts, dense=dense)


def _known_bounds(
    name: str, kind: pa.DataType, of_slices: Sequence[Mapping[str, tuple[bytes, bytes]]]
) -> tuple[pa.Array, pa.Array] | None:
    """Return the bounds of a column of texts or bytes if they are known of all slices."""
    found = [known[name] for known in of_slices if name in known]
    if not found or len(found) < len(of_slices):
        return None
    low, high = zip(*found, strict=True)
    return arrow_array(low, pa.binary()).cast(kind), arrow_array(high, pa.binary()).cast(kind)


def _values(rows: pa.Table, name: str, kind: pa.DataType) -> pa.Array:
    column = rows.column(name)
    array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    return array if array.type == kind else array.cast(kind)


def _stored(
    fields: Sequence[DataField],
    modes: Sequence[StatsMode],
    bounds: Callable[[], list[_Bounds]],
    null_counts: npt.NDArray[np.int64],
    *,
    dense: bool,
) -> list[tuple[SimpleStats, tuple[str, ...] | None]]:
    """Encode (files, columns) null counts and bounds, which are asked for if they are needed."""
    count = len(null_counts)
    is_counted = _wanted_of(fields, modes).is_counted
    known = [number for number, is_known in enumerate(is_counted) if is_known or not dense]
    names = None
    if len(known) < len(fields):
        names = tuple(fields[number].name for number in known)
    if not known:
        return [(SimpleStats(EMPTY_ROW, EMPTY_ROW, ()), names)] * count
    low, high = _kept_bounds(fields, modes, bounds(), count)
    types = [fields[number].type for number in known]
    both = [pa.concat_arrays([low[number], high[number]]) for number in known]
    rows = encode(both, types).to_pylist()
    return [
        (
            SimpleStats(
                rows[number],
                rows[count + number],
                tuple(nulls[column] if is_counted[column] else None for column in known),
            ),
            names,
        )
        for number, nulls in enumerate(null_counts.tolist())
    ]


def collect_stats(
    rows: pa.RecordBatch | pa.Table,
    fields: Sequence[DataField],
    modes: Sequence[StatsMode],
    *,
    dense: bool,
) -> tuple[SimpleStats, tuple[str, ...] | None]:
    """Collect statistics of rows at once, as `StatsCollector` does."""
    collector = StatsCollector(fields, modes)
    collector.add(rows)
    return collector.finish(dense=dense)


@dataclass(frozen=True, slots=True)
class _Bounds:
    """Bounds of columns of one type and mode, of f files each: column by column."""

    columns: Sequence[int]
    low: pa.Array
    """Null: no value; NaN: there is a NaN among the values."""
    high: pa.Array


def _bounds_of(collectors: Sequence[StatsCollector]) -> list[_Bounds]:
    """Find the bounds of all columns that have some, those of a type together."""
    first = collectors[0]
    bounds = []
    for block, columns in enumerate(_wanted_of(first.fields, first.modes).blocks):
        pieces, lengths = list[pa.Array](), list[int]()
        arrow_type = to_arrow(first.fields[columns[0]].type)
        for place, column in enumerate(columns):
            name = first.fields[column].name
            for collector in collectors:
                found = collector.pieces_of(block, place, name, arrow_type)
                pieces += found
                lengths.append(len(found))
        groups = np.repeat(np.arange(len(lengths)), lengths)
        if pieces:
            low, high = extremes(pieces, groups, len(lengths))
        else:
            low = high = pa.nulls(len(lengths), arrow_type)
        bounds.append(_Bounds(columns, low, high))
    return bounds


def _kept_bounds(
    fields: Sequence[DataField], modes: Sequence[StatsMode], found: Sequence[_Bounds], count: int
) -> tuple[list[pa.Array], list[pa.Array]]:
    """Return the bounds to store, one array per column with one value per file."""
    low = [pa.nulls(count, to_arrow(field.type)) for field in fields]
    high = list(low)
    for bounds in found:
        least, most = _kept(bounds.low, bounds.high, modes[bounds.columns[0]])
        for place, column in enumerate(bounds.columns):
            low[column] = least.slice(place * count, count)
            high[column] = most.slice(place * count, count)
    return low, high


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is to be found out about columns."""

    is_counted: tuple[bool, ...]
    """Of each column: whether anything is known of it."""
    blocks: tuple[tuple[int, ...], ...]
    """Columns that have bounds; those of one type and mode are together."""


def _wanted_of(fields: Sequence[DataField], modes: Sequence[StatsMode]) -> _Wanted:
    if isinstance(fields, tuple) and isinstance(modes, tuple) and len(fields) <= MOST_REMEMBERED:
        return _known_wanted(SameObjects((fields, modes)))
    return _wanted(fields, modes)


@lru_cache(maxsize=256)
def _known_wanted(given: SameObjects[Any]) -> _Wanted:
    return _wanted(*given)


def _wanted(fields: Sequence[DataField], modes: Sequence[StatsMode]) -> _Wanted:
    blocks: dict[tuple[pa.DataType, StatsMode], list[int]] = {}
    is_counted = tuple(map(_is_counted, fields, modes))
    for number, (field, mode) in enumerate(zip(fields, modes, strict=True)):
        if is_counted[number] and mode.kind is not StatsKind.COUNTS:
            blocks.setdefault((to_arrow(field.type), mode), []).append(number)
    return _Wanted(is_counted, tuple(map(tuple, blocks.values())))


def _is_counted(field: DataField, mode: StatsMode) -> bool:
    """Whether anything is known of a column."""
    has_order = isinstance(field.type, AtomicType) and field.type.root not in _WITHOUT_ORDER
    return has_order and mode.kind is not StatsKind.NONE


def _kept(low: pa.Array, high: pa.Array, mode: StatsMode) -> tuple[pa.Array, pa.Array]:
    """Cut texts and bytes; make sure that both zeros lie between bounds that are zero."""
    kind = low.type
    if pa.types.is_floating(kind):
        # NaN is larger than any number to some engines and smaller to none.
        is_unknown = numpy_values(pc.or_(null_filled(pc.is_nan(low), False), low.is_null()))
        return _with_zero(low, -0.0, is_unknown), _with_zero(high, 0.0, is_unknown)
    is_text = pa.types.is_string(kind)
    if not (is_text or pa.types.is_binary(kind)) or mode.kind is StatsKind.FULL:
        return low, high
    if is_text:
        cut = pc.utf8_slice_codeunits(low, 0, mode.length)
    else:
        cut = pc.binary_slice(low, 0, mode.length)
    lengths = pc.utf8_length(high) if is_text else pc.binary_length(high)
    if (pc.max(lengths).as_py() or 0) <= mode.length:
        return cut, high
    largest = arrow_array(
        [None if value is None else truncate_max(value, mode.length) for value in high.to_pylist()],
        kind,
    )
    return pc.if_else(largest.is_valid(), cut, arrow_scalar(None, kind)), largest


def _with_zero(bounds: pa.Array, zero: float, is_unknown: npt.NDArray[np.bool_]) -> pa.Array:
    values = numpy_values(null_filled(bounds, 0.0))
    return arrow_array(np.where(values == 0, values.dtype.type(zero), values), mask=is_unknown)
