"""Times as the beginnings of weeks, months and their like, where there are too many to draw."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

PERIODS = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
_OF_DATES = PERIODS[PERIODS.index("week") :]


def in_periods(
    times: pa.ChunkedArray, rows: npt.NDArray[np.int64], most: int
) -> tuple[pa.ChunkedArray, str]:
    """Put times into the shortest periods of which there are few enough.

    Parameters
    ----------
    times
        Dates or timestamps; NULL stays NULL.
    rows
        Places of those that are counted.
    most
        Periods there may be.

    Returns
    -------
    starts
        When the period of each time begins, of the same type; weeks begin on Monday. Of years
        there may be more than ``most``.
    period
        One of `PERIODS`.
    """
    chosen = pa.array(rows)
    *shorter, longest = _OF_DATES if pa.types.is_date(times.type) else PERIODS
    for period in shorter:
        starts = _starts(times, period)
        if pc.count_distinct(starts.take(chosen)).as_py() <= most:
            return starts, period
    return _starts(times, longest), longest


def _starts(times: pa.ChunkedArray, period: str) -> pa.ChunkedArray:
    """Return when the period of each time begins, or the time if that is before all times.

    Arrow returns the far future for what nanoseconds cannot say: the week of their first instant.
    """
    starts = pc.floor_temporal(times, unit=period)
    return pc.if_else(pc.greater(starts, times), times, starts)
