"""When to compact everything although nothing else asks for it.

Source: apache/paimon@1.3.1 ``org.apache.paimon.mergetree.compact.FullCompactTrigger``;
apache/paimon@5dacde5 ``…EarlyFullCompaction`` for the incremental size.
"""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.compact.levels import LevelSortedRun
from paimonlab.compact.units import PickReason
from paimonlab.spec.options.table_options import OptionSlice, option_field


class EarlyFullOptions(OptionSlice):
    """The table options for compacting everything early."""

    interval_millis: int | None = option_field("compaction.optimization-interval", "duration", None)
    """``compaction.optimization-interval``: time between two full compactions."""
    total_size_bytes: int | None = option_field("compaction.total-size-threshold", "memory", None)
    """``compaction.total-size-threshold``: a bucket smaller than this is always compacted."""
    incremental_size_bytes: int | None = option_field(
        "compaction.incremental-size-threshold", "memory", None
    )
    """``compaction.incremental-size-threshold``: bytes that may be below the highest level."""


def early_full(
    runs: Sequence[LevelSortedRun],
    options: EarlyFullOptions,
    *,
    max_level: int,
    now_millis: int,
    last_full_millis: int | None,
) -> PickReason | None:
    """Return why to compact everything, or None.

    Parameters
    ----------
    runs
        All runs of the bucket; a single run is left alone.
    options
        The thresholds.
    max_level
        The level that holds the oldest data.
    now_millis, last_full_millis
        Milliseconds since the epoch; None: no full compaction is known of, which counts as
        one that was long ago.
    """
    if len(runs) <= 1:
        return None
    interval, total = options.interval_millis, options.total_size_bytes
    if interval is not None and (
        last_full_millis is None or now_millis - last_full_millis > interval
    ):
        return PickReason.INTERVAL
    if total is not None and sum(run.total_size_bytes for run in runs) < total:
        return PickReason.TOTAL_SIZE
    if options.incremental_size_bytes is not None:
        below = sum(run.total_size_bytes for run in runs if run.level != max_level)
        if below > options.incremental_size_bytes:
            return PickReason.INCREMENTAL_SIZE
    return None
