"""Compacting more when the machine has less to do.

Source: apache/paimon@1.3.1 ``org.apache.paimon.mergetree.compact.OffPeakHours``.
"""

from __future__ import annotations

from paimonlab.spec.options.table_options import OptionSlice, option_field


class OffPeakOptions(OptionSlice):
    """The table options that say when it is quiet."""

    start_hour: int = option_field("compaction.offpeak.start.hour", "int", -1)
    """``compaction.offpeak.start.hour``: 0 to 23, included; -1: never quiet."""
    end_hour: int = option_field("compaction.offpeak.end.hour", "int", -1)
    """``compaction.offpeak.end.hour``: 0 to 23, not included; -1: never quiet."""
    ratio_percent: int = option_field("compaction.offpeak-ratio", "int", 0)
    """``compaction.offpeak-ratio``: added to ``compaction.size-ratio`` in those hours."""


def off_peak_percent(hour: int, options: OffPeakOptions) -> int:
    """Return the percentage that is added to the size ratio in an hour of the local day.

    Examples
    --------
    >>> night = OffPeakOptions(start_hour=22, end_hour=6, ratio_percent=50)
    >>> [off_peak_percent(hour, night) for hour in (21, 22, 5, 6)]
    [0, 50, 50, 0]
    """
    start, end = options.start_hour, options.end_hour
    if -1 in (start, end) or start == end:
        return 0
    is_quiet = start <= hour < end if start < end else hour < end or start <= hour
    return options.ratio_percent if is_quiet else 0
