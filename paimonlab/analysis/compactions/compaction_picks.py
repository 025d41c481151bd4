"""Why the picker takes files of a bucket or takes none, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import pyarrow as pa

from paimonlab.arrow_values import numpy_values
from paimonlab.compact.strategy import StrategyOptions
from paimonlab.compact.units import PickReason
from paimonlab.spec.distinct_integers import distinct_integers
from paimonlab.spec.plurals import many


class Pick(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What would be compacted of a bucket now."""

    partition: str
    bucket: int
    rule: str
    """Which rule fired; "" if none did."""
    why: str
    """The rule in words."""
    numbers: str
    """What it compared; "" when sizes are hidden, or if there is nothing to compare."""
    output_level: int | None
    files: int
    """Files that would be taken."""
    bytes: int | None
    rows: int
    of_files: int
    """Files of the bucket."""


@dataclass(frozen=True, slots=True)
class Runs:
    """The sorted runs of a bucket, newest first."""

    bytes: Sequence[int]
    level_0: int
    """How many of them are files of level 0."""


def runs_of(files: pa.Table) -> Runs:
    """Weigh the sorted runs of one bucket.

    Parameters
    ----------
    files
        Its live files (`ENTRY_SCHEMA`).
    """
    level, size = numpy_values(files["level"]), numpy_values(files["file_size_bytes"])
    newest = numpy_values(files["max_sequence_number"])
    first = np.flatnonzero(level == 0)
    first = first[np.argsort(-newest[first], kind="stable")]
    upper = [
        int(size[level == upper_level].sum()) for upper_level in distinct_integers(level[level > 0])
    ]
    return Runs([*size[first].tolist(), *upper], int(first.size))


def explained(reason: str, runs: Runs, options: StrategyOptions) -> tuple[str, str]:
    """Say in words why the picker took runs, and which numbers it compared.

    Parameters
    ----------
    reason
        Value of a `PickReason`; "" if it took none.
    runs
        All runs of the bucket.
    options
        The table's options.
    """
    rule = _RULES.get(reason)
    return (reason, "") if rule is None else rule(runs, options)


def _amplified(runs: Runs, options: StrategyOptions) -> tuple[str, str]:
    most = options.picking.universal.max_size_amplification_percent
    newer, oldest = sum(runs.bytes[:-1]), runs.bytes[-1]
    return (
        (
            "the newer runs outweigh the oldest by more than "
            f"compaction.max-size-amplification-percent = {most}: everything is merged"
        ),
        f"{newer:,} bytes on {oldest:,} bytes: {100 * newer // max(oldest, 1):,} %",
    )


def _alike(runs: Runs, options: StrategyOptions) -> tuple[str, str]:
    ratio = options.picking.universal.size_ratio_percent
    quiet = options.picking.off_peak.ratio_percent
    more = f", {quiet} more in off-peak hours" if quiet else ""
    sizes = ", ".join(f"{size:,}" for size in runs.bytes[:6])
    return (
        (
            "the newest runs are each about as large as those before them together, up to "
            f"compaction.size-ratio = {ratio} %{more}: they are merged"
        ),
        f"bytes, newest first: {sizes}{', …' if len(runs.bytes) > 6 else ''}",
    )


def _too_many(runs: Runs, options: StrategyOptions) -> tuple[str, str]:
    trigger = options.picking.universal.compaction_trigger
    return (
        (
            f"{len(runs.bytes):,} sorted runs are more than num-sorted-run.compaction-trigger = "
            f"{trigger}: the surplus and one more are merged"
        ),
        "",
    )


def _level_0(runs: Runs, options: StrategyOptions) -> tuple[str, str]:
    levels = options.levels
    cause = (
        "compaction looks for older rows of the same keys (lookup changelog, deletion vectors, "
        "first-row or force-lookup)"
        if levels.needs_lookup
        else "compaction.force-up-level-0 = true"
    )
    return f"{many(runs.level_0, 'file')} of level 0 must go up: {cause}", ""


def _nothing(runs: Runs, options: StrategyOptions) -> tuple[str, str]:
    trigger = options.picking.universal.compaction_trigger
    count = len(runs.bytes)
    if count < trigger:
        return (
            (
                f"{count:,} sorted {'run is' if count == 1 else 'runs are'} fewer than "
                f"num-sorted-run.compaction-trigger = {trigger}"
            ),
            "",
        )
    return "no two neighbouring runs are alike in size, and none is surplus", ""


def _set_by(option: str, text: str) -> Callable[[Runs, StrategyOptions], tuple[str, str]]:
    return lambda runs, _: (f"{text} ({option})", f"{sum(runs.bytes):,} bytes in all")


_RULES: Mapping[str, Callable[[Runs, StrategyOptions], tuple[str, str]]] = {
    "": _nothing,
    PickReason.SIZE_AMPLIFICATION.value: _amplified,
    PickReason.SIZE_RATIO.value: _alike,
    PickReason.RUN_COUNT.value: _too_many,
    PickReason.LEVEL_0.value: _level_0,
    PickReason.INTERVAL.value: _set_by(
        "compaction.optimization-interval", "the last full compaction is too long ago"
    ),
    PickReason.TOTAL_SIZE.value: _set_by(
        "compaction.total-size-threshold", "the whole bucket is small"
    ),
    PickReason.INCREMENTAL_SIZE.value: _set_by(
        "compaction.incremental-size-threshold", "enough lies below the highest level"
    ),
}
