"""Universal compaction: which runs of a bucket to merge next.

Fewer runs make reading cheaper, merging costs writing. A bucket is left alone until it has some
runs; then everything is merged if the newer runs outweigh the oldest one, else the newest ones
that are similar in size.

Source: apache/paimon@1.3.1 ``org.apache.paimon.mergetree.compact.UniversalCompaction``,
``…CompactStrategy#pickFullCompaction``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from paimonlab.compact.early_full import EarlyFullOptions, early_full
from paimonlab.compact.levels import LevelSortedRun
from paimonlab.compact.off_peak import OffPeakOptions, off_peak_percent
from paimonlab.compact.units import CompactUnit, PickReason
from paimonlab.spec.options.table_options import Options, OptionSlice, option_field


class UniversalOptions(OptionSlice):
    """The table options that steer `pick`."""

    compaction_trigger: int = option_field("num-sorted-run.compaction-trigger", "int", 5)
    """``num-sorted-run.compaction-trigger``: runs a bucket may have at rest."""
    max_size_amplification_percent: int = option_field(
        "compaction.max-size-amplification-percent", "int", 200
    )
    """``compaction.max-size-amplification-percent``: newer bytes per byte of the oldest run."""
    size_ratio_percent: int = option_field("compaction.size-ratio", "int", 1)
    """``compaction.size-ratio``: a run this much larger than those before it still joins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PickOptions:
    """All that `pick` obeys."""

    universal: UniversalOptions = field(default_factory=UniversalOptions)
    early_full: EarlyFullOptions = field(default_factory=EarlyFullOptions)
    off_peak: OffPeakOptions = field(default_factory=OffPeakOptions)

    @classmethod
    def of(cls, options: Options) -> PickOptions:
        """Read them from the options of a table."""
        return cls(
            universal=options.slice(UniversalOptions),
            early_full=options.slice(EarlyFullOptions),
            off_peak=options.slice(OffPeakOptions),
        )


def pick(
    runs: Sequence[LevelSortedRun],
    options: PickOptions,
    *,
    max_level: int,
    now: datetime,
    last_full_millis: int | None = None,
) -> CompactUnit | None:
    """Choose what to compact.

    Parameters
    ----------
    runs
        All runs of the bucket, newest first, so level 0 comes before level 1.
    options
        When to compact.
    max_level
        The level that holds the oldest data, at least 1.
    now
        The time, aware or local; its hour is that of the off-peak hours.
    last_full_millis
        When the last full compaction of this bucket was picked, in milliseconds since the
        epoch; None: not known.

    Returns
    -------
    CompactUnit or None
        None when the bucket is fine as it is. It never outputs to level 0.
    """
    reason = early_full(
        runs,
        options.early_full,
        max_level=max_level,
        now_millis=int(now.timestamp() * 1000),
        last_full_millis=last_full_millis,
    )
    trigger = options.universal.compaction_trigger
    if reason is None and len(runs) >= trigger and _is_amplified(runs, options.universal):
        reason = PickReason.SIZE_AMPLIFICATION
    if reason is not None:
        return CompactUnit.of_runs(max_level, runs, reason)
    percent = _ratio_percent(options, now)
    if len(runs) >= trigger:
        count = _similar_in_size(runs, percent, at_least=1)
        if count > 1:
            return _unit(runs, count, max_level, PickReason.SIZE_RATIO)
    if len(runs) > trigger:
        surplus = len(runs) - trigger
        count = _similar_in_size(runs, percent, at_least=surplus + 1)
        return _unit(runs, count, max_level, PickReason.RUN_COUNT)
    return None


def pick_level_0(
    runs: Sequence[LevelSortedRun], options: PickOptions, *, max_level: int, now: datetime
) -> CompactUnit | None:
    """Choose all of level 0 and the runs after it that are similar in size.

    Parameters and result are those of `pick`; None when level 0 is empty.
    """
    newest = sum(run.level == 0 for run in runs)
    if newest == 0:
        return None
    count = _similar_in_size(runs, _ratio_percent(options, now), at_least=newest)
    return _unit(runs, count, max_level, PickReason.LEVEL_0)


def pick_full(
    runs: Sequence[LevelSortedRun],
    *,
    max_level: int,
    to_rewrite: Collection[str] = (),
    rewrites_all: bool = False,
) -> CompactUnit | None:
    """Choose everything; of a bucket that is compacted already only what must be rewritten.

    Parameters
    ----------
    runs
        All runs of the bucket.
    max_level
        The level that holds the oldest data.
    to_rewrite
        Names of files that hold rows which do not count any more: deleted by a vector, or
        expired.
    rewrites_all
        Whether every file is rewritten (``compaction.force-rewrite-all-files``).

    Returns
    -------
    CompactUnit or None
        None when there is nothing to do.
    """
    if not runs:
        return None
    if len(runs) > 1 or runs[0].level != max_level:
        return CompactUnit.of_runs(max_level, runs, PickReason.FULL)
    chosen = tuple(file for file in runs[0].files if rewrites_all or file.file_name in to_rewrite)
    return CompactUnit(max_level, chosen, is_file_by_file=True) if chosen else None


def _is_amplified(runs: Sequence[LevelSortedRun], options: UniversalOptions) -> bool:
    *newer, oldest = (run.total_size_bytes for run in runs)
    return 100 * sum(newer) > options.max_size_amplification_percent * oldest


def _ratio_percent(options: PickOptions, now: datetime) -> int:
    return options.universal.size_ratio_percent + off_peak_percent(now.hour, options.off_peak)


def _similar_in_size(runs: Sequence[LevelSortedRun], percent: int, *, at_least: int) -> int:
    """Count the newest runs of which each is about as large as all before it together."""
    size = sum(run.total_size_bytes for run in runs[:at_least])
    count = at_least
    for run in runs[at_least:]:
        # In floating point, as the rule is stated: close calls must come out alike.
        if size * (100.0 + percent) / 100.0 < float(run.total_size_bytes):
            break
        size += run.total_size_bytes
        count += 1
    return count


def _unit(
    runs: Sequence[LevelSortedRun], count: int, max_level: int, reason: PickReason
) -> CompactUnit:
    """Take the newest runs, to the level below the next run or to the highest one.

    Level 0 is no output: runs are added up to the first one of another level, to go there.
    """
    output_level = max_level if count == len(runs) else max(0, runs[count].level - 1)
    while output_level == 0 and count < len(runs):
        output_level = runs[count].level
        count += 1
    return CompactUnit.of_runs(
        max_level if count == len(runs) else output_level, runs[:count], reason
    )
