"""Sums of columns as the values that a profile shows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from msgspec.structs import replace

from paimonlab.arrow_values import arrow_array
from paimonlab.notebook import views
from paimonlab.notebook.display.cells import cells
from paimonlab.notebook.results.profiling import ColumnSketch, has_facts
from paimonlab.notebook.results.profiling.bins import Bins, Scale
from paimonlab.notebook.views.profile.value import SHARES
from paimonlab.spec.visible_text import shortened

TOP = 5


def profile_column(
    name: str, type_text: str, kind: pa.DataType, column: ColumnSketch, row_count: int
) -> views.ProfileColumn:
    """Describe what is in a column.

    Parameters
    ----------
    name, type_text
        The column, and its type as SQL writes it.
    kind
        Its type.
    column
        The sums of its values.
    row_count
        Rows that were profiled.
    """
    low, high = [None, None] if column.ends is None else _texts(column.ends)
    sample, frequent, lengths = column.sample, column.frequent, column.lengths
    quantiles = [] if sample is None else sample.quantiles(SHARES)
    top = [] if frequent is None else frequent.top(TOP)
    value_count = row_count - column.null_count
    longest = [] if lengths is None else _texts(arrow_array([lengths.longest_value]))
    return views.ProfileColumn(
        name=shortened(name, 1_000),
        type=shortened(type_text),
        is_number=_is_number(kind),
        has_facts=has_facts(kind),
        null_count=column.null_count,
        nan_count=column.nan_count,
        infinite_count=column.infinite_count,
        distinct_count=None if column.distinct is None else min(column.distinct.count, value_count),
        is_distinct_exact=column.distinct is not None and column.distinct.is_exact,
        low=low,
        high=high,
        mean=column.moments.known_mean,
        standard_deviation=column.moments.standard_deviation,
        quantiles=tuple(_texts(_of_scalars(quantiles, kind))),
        is_sampled=sample is not None and not sample.is_exact,
        bins=() if column.bins is None else tuple(column.bins.counts.tolist()),
        bin_starts=() if column.bins is None else tuple(_starts(column.bins, kind)),
        top=tuple(
            zip(
                _texts(_of_scalars([value for value, _ in top], kind)),
                [count for _, count in top],
                strict=True,
            )
        ),
        top_error=0 if frequent is None else frequent.error,
        shortest=None if lengths is None else lengths.shortest,
        longest=None if lengths is None else lengths.longest,
        mean_length=None if lengths is None else lengths.total / value_count,
        longest_text=longest[0] if longest else None,
    )


def with_all_rows(
    column: views.ProfileColumn, null_count: int | None, ends: pa.Array | None
) -> views.ProfileColumn:
    """Add what is known of all rows to what is in some of them.

    Parameters
    ----------
    column
        What is in some rows.
    null_count
        NULLs of all rows; None: unknown.
    ends
        The least value of all rows and the largest; None: unknown.
    """
    low, high = [None, None] if ends is None else _texts(ends)
    return replace(column, all_nulls=null_count, all_low=low, all_high=high)


def _is_number(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def _starts(bins: Bins, kind: pa.DataType) -> list[str]:
    if bins.scale is Scale.FLOAT:
        return _texts(arrow_array(np.asarray(bins.starts, np.float64)))
    starts = arrow_array(bins.starts, pa.int64())
    if not pa.types.is_temporal(kind):
        return _texts(starts)
    width = pa.int32() if kind.bit_width == 32 else pa.int64()
    return _texts(starts.cast(width).cast(kind))


def _of_scalars(values: Sequence[pa.Scalar], kind: pa.DataType) -> pa.Array:
    return arrow_array(values) if values else pa.nulls(0, kind)


def _texts(values: pa.Array) -> list[str]:
    return [shortened(cell.text) for cell in cells(pa.chunked_array([values]))]
