"""What is in a column of a result: nulls, distinct values, range, distribution.

Computed by Arrow over whole columns; nothing is looked at twice in Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from paimonlab.arrow_values import numpy_values

BINS = 12
TOP = 5
"""How many of the most frequent texts are listed."""


class ColumnFacts(Struct, frozen=True):
    """A summary of a column."""

    null_count: int
    nan_count: int
    """NaN of floating-point columns; they do not count in ``low``, ``high`` and ``bins``."""
    distinct_count: int | None
    """Different values without NULL; None if values cannot be compared."""
    low: pa.Scalar | None
    """The least value; None if there is none, or values have no order."""
    high: pa.Scalar | None
    bins: tuple[int, ...]
    """Rows in each of `BINS` equally wide ranges from ``low`` to ``high``; empty: no numbers."""
    top: tuple[tuple[pa.Scalar, int], ...]
    """The most frequent texts or booleans, more frequent ones first, equals in their order."""


def column_facts(column: pa.ChunkedArray) -> ColumnFacts:
    """Summarise a column; nested columns have nulls only."""
    kind = column.type
    if not is_comparable(kind):
        return ColumnFacts(column.null_count, 0, None, None, None, (), ())
    values = column.drop_null()
    nans = 0
    if pa.types.is_floating(kind):
        is_nan = pc.is_nan(values)
        nans = pc.sum(is_nan).as_py() or 0
        values = values.filter(pc.invert(is_nan)) if nans else values
    low = high = None
    if len(values):
        ends = pc.min_max(ordered(values))
        low, high = (ends[end].cast(kind) for end in ("min", "max"))
    distinct = len(values.unique()) + (nans > 0)
    return ColumnFacts(column.null_count, nans, distinct, low, high, _bins(values), _top(values))


def is_comparable(kind: pa.DataType) -> bool:
    """Tell whether values of a type can be counted and ordered: nested ones are not."""
    types = pa.types
    return (
        types.is_boolean(kind)
        or types.is_integer(kind)
        or (types.is_floating(kind) and not types.is_float16(kind))
        or types.is_decimal(kind)
        or types.is_temporal(kind)
        or types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_binary(kind)
    ) and not types.is_interval(kind)


def ordered(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Give Arrow values that it can order: it has no order for durations."""
    return values.cast(pa.int64()) if pa.types.is_duration(values.type) else values


def _bins(values: pa.ChunkedArray) -> tuple[int, ...]:
    """Count rows in ranges; positions are 64-bit floats, which is exact enough for a picture."""
    numbers = _positions(values)
    if numbers is None:
        return ()
    numbers = numbers[np.isfinite(numbers)]
    if not len(numbers):
        return ()
    with np.errstate(over="ignore", invalid="ignore"):
        width = numbers.max() - numbers.min()
    if not np.isfinite(width) or width == 0:
        return ()
    try:
        counts, _ = np.histogram(numbers, bins=BINS)
    except ValueError:  # too narrow a range for so many bins
        return ()
    return tuple(counts.tolist())


def _positions(values: pa.ChunkedArray) -> npt.NDArray[np.float64] | None:
    kind = values.type
    if pa.types.is_temporal(kind):
        width = pa.int32() if kind.bit_width == 32 else pa.int64()
        values = values.cast(width)
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return None
    numbers: npt.NDArray[np.float64] = numpy_values(values.cast(pa.float64(), safe=False))
    return numbers


def _top(values: pa.ChunkedArray) -> tuple[tuple[pa.Scalar, int], ...]:
    kind = values.type
    if not (
        pa.types.is_boolean(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)
    ):
        return ()
    counted: Any = values.value_counts()
    order = pc.array_sort_indices(pc.negate(counted.field("counts").cast(pa.int64())))[:TOP]
    names, counts = counted.field("values").take(order), counted.field("counts").take(order)
    return tuple(zip(names, counts.to_pylist(), strict=True))


def ranks(column: pa.ChunkedArray) -> tuple[int, ...] | None:
    """Return the rank of each row in the order of a column; equal values have equal ranks.

    None if values have no order; the rank of NULL means nothing.
    """
    if not is_comparable(column.type):
        return None
    dense = pc.rank(ordered(column).combine_chunks(), sort_keys="ascending", tiebreaker="dense")
    return tuple(dense.to_pylist())
