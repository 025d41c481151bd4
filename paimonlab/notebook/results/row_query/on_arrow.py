"""Rows filtered and sorted, as the table of a result shows them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.notebook.display.cells import cells
from paimonlab.notebook.kernel.selection import RowQuery
from paimonlab.notebook.results.column_facts import is_comparable, ordered
from paimonlab.notebook.results.column_kinds import ColumnKind
from paimonlab.notebook.results.row_query.bounds import bound
from paimonlab.notebook.results.row_query.filters import (
    Compares,
    Condition,
    Contains,
    IsNull,
    Operator,
    condition,
    lowered,
)

_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - as the columns it is compared with
_MICROSECOND = dt.timedelta(microseconds=1)
_UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_OPERATORS: Mapping[Operator, Callable[[pa.ChunkedArray, pa.Scalar], pa.ChunkedArray]] = {
    "=": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


class Rows:
    """Rows that are queried repeatedly: what was computed once is kept.

    Parameters
    ----------
    table
        The rows.
    kinds
        Of its columns.
    """

    def __init__(self, table: pa.Table, kinds: Sequence[ColumnKind]) -> None:
        self.table = table
        self.kinds = tuple(kinds)
        self._texts: dict[int, pa.ChunkedArray] = {}
        self._lowered: dict[int, pa.ChunkedArray] = {}

    def places(self, query: RowQuery) -> pa.Array:
        """Return the indexes of the rows that pass, in order, as uint64.

        Equal rows keep their order; NULL is last in both directions.

        Raises
        ------
        IndexError
            If there is no such column.
        """
        masks = [
            self._mask(column, wanted)
            for column, text in query.filters
            if (wanted := condition(text, self.kinds[column])) is not None
        ]
        if query.search.strip(" \t"):
            masks.append(self._search(lowered(query.search.strip(" \t"))))
        indexes = pa.array(np.arange(self.table.num_rows, dtype=np.uint64))
        if masks:
            indexes = indexes.filter(_one(reduce(pc.and_, masks)))
        if query.by is None:
            return indexes
        keys = [key.take(indexes) for key in self._keys(query.by)]
        names = [str(number) for number in range(len(keys))]
        direction = "descending" if query.descending else "ascending"
        order = pc.sort_indices(
            pa.table(keys, names=names),
            sort_keys=[(name, direction) for name in names],
        )
        return indexes.take(order)

    def rows(self, query: RowQuery) -> pa.Table:
        """Return the rows that pass, in order."""
        return self.table.take(self.places(query))

    def _mask(self, number: int, wanted: Condition) -> pa.ChunkedArray:
        column = self.table.column(number)
        match wanted:
            case IsNull(is_null):
                return pc.is_null(column) if is_null else pc.is_valid(column)
            case Contains(piece):
                return self._has(number, piece)
            case Compares():
                return pc.fill_null(_compared(column, self.kinds[number], wanted), fill_value=False)

    def _search(self, piece: str) -> pa.ChunkedArray:
        every = [self._has(number, piece) for number in range(self.table.num_columns)]
        nothing = pa.chunked_array([pa.array(np.zeros(self.table.num_rows, dtype=bool))])
        return reduce(pc.or_, every, nothing)

    def _has(self, number: int, piece: str) -> pa.ChunkedArray:
        if number not in self._lowered:
            self._lowered[number] = _lower(self._text(number))
        return pc.fill_null(pc.match_substring(self._lowered[number], piece), fill_value=False)

    def _text(self, number: int) -> pa.ChunkedArray:
        """Return the text of each value, without the quotes that a cell may have."""
        if number not in self._texts:
            self._texts[number] = _texts(self.table.column(number))
        return self._texts[number]

    def _keys(self, number: int) -> list[pa.Array]:
        column = self.table.column(number)
        if not is_comparable(column.type):
            return [_one(self._text(number))]
        if pa.types.is_floating(column.type):
            return [_one(pc.cast(pc.is_nan(column), pa.int8())), _one(column)]
        return [_one(ordered(column))]


def _one(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    types = pa.types
    if types.is_string(kind) or types.is_large_string(kind):
        return column.cast(pa.large_string())
    if types.is_integer(kind) or types.is_boolean(kind):
        return column.cast(pa.large_string())
    if types.is_binary(kind):
        whole = [None if value is None else "0x" + value.hex() for value in column.to_pylist()]
        return pa.chunked_array([pa.array(whole, pa.large_string())])
    shown = [cell.text if cell.is_value else None for cell in cells(column)]
    return pa.chunked_array([pa.array(shown, pa.large_string())])


def _lower(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    if pc.all(pc.string_is_ascii(texts)).as_py() in {True, None}:
        return pc.ascii_lower(texts)
    # Arrow's own way knows only characters that stay one character.
    lower = [None if text is None else lowered(text) for text in texts.to_pylist()]
    return pa.chunked_array([pa.array(lower, pa.large_string())])


def _compared(column: pa.ChunkedArray, kind: ColumnKind, wanted: Compares) -> pa.ChunkedArray:
    value = wanted.value
    if isinstance(value, float):
        return _floats_compared(column, wanted.operator, value)
    if isinstance(value, Fraction):
        return _numbers_compared(column, wanted.operator, value)
    if isinstance(value, dt.datetime):
        local = pc.local_timestamp(column) if kind == "local timestamp" else column
        moment = Fraction((value - _EPOCH) // _MICROSECOND, 10**6)
        ticks = moment * _UNITS[column.type.unit]
        return _bounded(local.cast(pa.int64()), wanted.operator, ticks, *_ends(64))
    if isinstance(value, dt.date):
        days = Fraction((value - _EPOCH.date()).days)
        return _bounded(
            column.cast(pa.date32()).cast(pa.int32()), wanted.operator, days, *_ends(32)
        )
    return _OPERATORS[wanted.operator](column, pa.scalar(value, column.type))


def _floats_compared(column: pa.ChunkedArray, operator: Operator, value: float) -> pa.ChunkedArray:
    """Compare as SQL does: NaN is equal to itself and above all numbers."""
    is_nan = pc.is_nan(column)
    if np.isnan(value):
        if operator in {"=", ">="}:
            return is_nan
        if operator in {"!=", "<"}:
            return pc.invert(is_nan)
        return pc.and_(pc.is_valid(column), operator == "<=")
    with np.errstate(over="ignore"):
        number = pa.scalar(np.float32(value) if pa.types.is_float32(column.type) else value)
    matches = _OPERATORS[operator](column, number)
    return pc.or_(matches, is_nan) if operator in {">", ">=", "!="} else matches


def _numbers_compared(
    column: pa.ChunkedArray, operator: Operator, value: Fraction
) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_decimal(kind):
        nines = 10**kind.precision - 1
        comparison = bound(operator, value * Fraction(10) ** kind.scale, -nines, nines)
        if isinstance(comparison, bool):
            return _all_or_none(column, is_all=comparison)
        return _OPERATORS[comparison.operator](column, _decimal(comparison.number, kind))
    is_signed = pa.types.is_signed_integer(kind)
    low, high = _ends(kind.bit_width) if is_signed else (0, 2**kind.bit_width - 1)
    return _bounded(column, operator, value, low, high)


def _bounded(
    column: pa.ChunkedArray, operator: Operator, value: Fraction, low: int, high: int
) -> pa.ChunkedArray:
    comparison = bound(operator, value, low, high)
    if isinstance(comparison, bool):
        return _all_or_none(column, is_all=comparison)
    return _OPERATORS[comparison.operator](column, pa.scalar(comparison.number, column.type))


def _decimal(unscaled: int, kind: pa.DataType) -> pa.Scalar:
    with localcontext(prec=kind.precision + 1):
        return pa.scalar(Decimal(unscaled).scaleb(-kind.scale), kind)


def _all_or_none(column: pa.ChunkedArray, *, is_all: bool) -> pa.ChunkedArray:
    return pc.and_(pc.is_valid(column), is_all)


def _ends(bits: int) -> tuple[int, int]:
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
