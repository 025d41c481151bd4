"""Columns as what an axis can show: numbers, times, categories."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.errors import ColumnNotFoundError, UnsupportedError
from paimonlab.notebook.display.cells import cells
from paimonlab.notebook.results.column_facts import is_comparable

LABEL_CHARACTERS = 70
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


class AxisKind(Enum):
    """What is on an axis; the values are plotly's types of axes."""

    NUMBER = "linear"
    TIME = "date"
    CATEGORY = "category"


@dataclass(frozen=True, slots=True)
class Places:
    """Where the values of a column are on an axis."""

    kind: AxisKind
    at: npt.NDArray[np.float64]
    """(n,) the number, seconds since 1970, or the number of the category; NaN: nowhere."""
    labels: tuple[str, ...] = ()
    """Names of the categories, all different, in order of their first rows."""
    texts: tuple[str | None, ...] = ()
    """(n,) of times: each as a text."""

    def shown(self, row: int) -> Any:
        """Return a value as plotly takes it."""
        if self.kind is AxisKind.NUMBER:
            return float(self.at[row])
        if self.kind is AxisKind.TIME:
            return self.texts[row]
        return self.labels[int(self.at[row])]


def column_of(rows: pa.Table, name: str) -> pa.ChunkedArray:
    """Return a column.

    Raises
    ------
    ColumnNotFoundError
        If there is no such column.
    UnsupportedError
        If there is more than one.
    """
    count = rows.column_names.count(name)
    if count == 1:
        return rows.column(name)
    if count:
        raise UnsupportedError(
            f"the column {name!r}, of which the result has {count}", "give them names with AS"
        )
    raise ColumnNotFoundError(name, "the result", list(dict.fromkeys(rows.column_names)))


def is_number(kind: pa.DataType) -> bool:
    """Tell whether values can be added up."""
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def is_time(kind: pa.DataType) -> bool:
    """Tell whether values are points in time."""
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def numbers(name: str, column: pa.ChunkedArray) -> npt.NDArray[np.float64]:
    """Return numbers as floats; NaN for what is missing, or not finite.

    Raises
    ------
    UnsupportedError
        If the column is not one of numbers.
    """
    if not is_number(column.type):
        raise UnsupportedError(
            f"an axis of numbers for {name!r}, which is {column.type}", "choose a column of numbers"
        )
    if pa.types.is_decimal(column.type):  # Arrow's own cast does not find the closest float
        column = column.cast(pa.string())
    return _finite(column.cast(pa.float64(), safe=False))


def places(name: str, column: pa.ChunkedArray) -> Places:
    """Place the values of a column on an axis.

    Raises
    ------
    UnsupportedError
        If values are nested, or have no order.
    """
    kind = column.type
    if is_number(kind):
        return Places(AxisKind.NUMBER, numbers(name, column))
    if is_time(kind):
        width = pa.int32() if pa.types.is_date32(kind) else pa.int64()
        units = _finite(column.cast(width).cast(pa.float64(), safe=False))
        if pa.types.is_date32(kind):
            seconds = units * 86_400
        else:
            seconds = units / _PER_SECOND["ms" if pa.types.is_date64(kind) else kind.unit]
        texts = tuple(cell.text if cell.is_value else None for cell in cells(column))
        return Places(AxisKind.TIME, seconds, texts=texts)
    if not is_comparable(kind):
        raise UnsupportedError(f"an axis for {name!r}, which is {kind}", "choose a plain column")
    codes, labels = categories(column)
    at = codes.astype(np.float64)
    at[codes < 0] = np.nan
    return Places(AxisKind.CATEGORY, at, labels)


def categories(column: pa.ChunkedArray) -> tuple[npt.NDArray[np.int64], tuple[str, ...]]:
    """Give each different value of a column a number, in order of their first rows.

    Returns
    -------
    codes : (n,)
        Of each row; -1 is NULL.
    labels : (k,)
        Texts of the values, truncated, all different.
    """
    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    codes: npt.NDArray[np.int64] = pc.fill_null(encoded.indices, -1).to_numpy().astype(np.int64)
    return codes, _labels(encoded.dictionary)


def _labels(values: pa.Array) -> tuple[str, ...]:
    labels: dict[str, None] = {}
    for cell in cells(pa.chunked_array([values])):
        text = cell.text
        short = text if len(text) <= LABEL_CHARACTERS else text[: LABEL_CHARACTERS - 1] + "…"
        number, label = 1, short
        while label in labels:
            number += 1
            label = f"{short} ({number})"
        labels[label] = None
    return tuple(labels)


def _finite(column: pa.ChunkedArray) -> npt.NDArray[np.float64]:
    numbers = pc.fill_null(column, float("nan")).to_numpy().astype(np.float64)
    numbers[~np.isfinite(numbers)] = np.nan
    return numbers


def usual_columns(schema: pa.Schema, kind: str, by: str | None) -> tuple[str, str | None]:
    """Choose x and y where only the kind of a plot is given.

    Examples
    --------
    >>> made = pa.schema({"city": pa.string(), "street": pa.string(), "n": pa.int64()})
    >>> usual_columns(made, "bar", None), usual_columns(made, "hist", None)
    (('city', 'n'), ('n', None))
    """
    names = [name for name in schema.names if name != by]
    counted = [
        name
        for name in names
        if pa.types.is_integer(schema.field(name).type)
        or pa.types.is_floating(schema.field(name).type)
        or pa.types.is_decimal(schema.field(name).type)
    ]
    if kind == "hist":
        return (counted or names or [""])[0], None
    first = names[0] if names else ""
    return first, next((name for name in counted if name != first), None)
