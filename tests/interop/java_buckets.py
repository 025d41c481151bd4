"""Buckets as metadata, for Java's compaction manager and for ours: options, files, events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from paimonlab.compact.simulator import (
    Compaction,
    SimulatedBucket,
    SimulatorOptions,
    simulated_file,
)
from paimonlab.compact.tasks import Rewrite
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.options.table_options import Options

NOON_MILLIS = 1_767_268_800_000
"""A noon in UTC."""
_HOUR_MILLIS = 3_600_000


@dataclass(frozen=True, slots=True)
class Bucket:
    """Files, as lists of values, and what happens to them."""

    options: dict[str, str]
    files: list[list[Any]]
    """Name, bytes, rows, level, keys, sequence numbers, rows that delete (or None)."""
    events: list[Any]
    """A file that is added, or a time in milliseconds to pick at, negative for everything."""

    def for_java(self) -> dict[str, Any]:
        """Return what the oracle is asked."""
        chosen = SimulatorOptions.of(Options(self.options))
        picking, levels, task = chosen.strategy.picking, chosen.strategy.levels, chosen.task
        quiet = picking.off_peak
        return {
            "levels": levels.level_count,
            "trigger": picking.universal.compaction_trigger,
            "amplification": picking.universal.max_size_amplification_percent,
            "ratio": picking.universal.size_ratio_percent,
            "interval": picking.early_full.interval_millis,
            "total_size": picking.early_full.total_size_bytes,
            "off_peak": [quiet.start_hour, quiet.end_hour, quiet.ratio_percent, 12],
            "picks_of_level_0": levels.max_picks_of_level_0 or 0,
            "target": task.target_file_size_bytes,
            "small": task.min_file_size_bytes,
            "rewrites_all": task.rewrites_all,
            "vectors": [] if levels.deletion_vectors else None,
            "files": self.files,
            "events": [
                event if isinstance(event, list) else {"now": abs(event), "full": event < 0}
                for event in self.events
            ],
        }

    def ours(self) -> list[Any]:
        """Return what we pick, in the oracle's notation."""
        options = SimulatorOptions.of(Options(self.options))
        bucket = SimulatedBucket(options, [_file(file) for file in self.files])
        found = []
        for event in self.events:
            if isinstance(event, list):
                bucket.add_file(_file(event))
            else:
                found.append(draw(bucket.compact(abs(event), full=event < 0)))
        return found


def draw(compaction: Compaction | None) -> list[Any]:
    """Draw steps as the oracle does."""
    return [
        [
            step.output_level,
            step.drop_deletes,
            [sorted(file.file_name for file in section) for section in step.sections],
        ]
        if isinstance(step, Rewrite)
        else [step.file.file_name, step.output_level]
        for step in (() if compaction is None else compaction.steps)
    ]


def _file(values: list[Any]) -> DataFileMeta:
    name, size, rows, level, low, high, oldest, newest, deletes = values
    return simulated_file(
        name,
        size_bytes=size,
        row_count=rows,
        level=level,
        keys=(low, high),
        sequence_numbers=(oldest, newest),
        delete_row_count=deletes,
    )


def random_bucket(rng: np.random.Generator) -> Bucket:
    """Make up a bucket in some state, and a few things that happen to it."""
    options = _random_options(rng)
    level_count = SimulatorOptions.of(Options(options)).strategy.levels.level_count
    files: list[list[Any]] = []
    sequence = 1000
    for _ in range(rng.integers(0, 9)):
        sequence += 10
        files.append(_random_file(rng, f"a{len(files)}", 0, sequence))
    # Rarely a level that the options do not know any more.
    for level in range(1, level_count + int(rng.random() < 0.05)):
        if rng.random() < 0.4:
            files += _random_level(rng, level, len(files))
    events: list[Any] = []
    now = NOON_MILLIS
    for count in range(rng.integers(1, 4)):
        if count or not files or rng.random() < 0.3:
            sequence += 10
            events.append(_random_file(rng, f"b{count}", 0, sequence))
        events.append(-now if rng.random() < 0.1 else now)
        now += int(rng.integers(0, 20)) * 60_000
    return Bucket(options, files, events)


def _random_options(rng: np.random.Generator) -> dict[str, str]:
    usual: dict[str, Any] = {
        "num-sorted-run.compaction-trigger": rng.integers(1, 8),
        "compaction.max-size-amplification-percent": rng.choice([50, 200, 1000]),
        "compaction.size-ratio": rng.choice([0, 1, 10, 100]),
        "target-file-size": f"{rng.choice([40, 100, 1000])} b",
        "deletion-vectors.enabled": str(rng.random() < 0.15).lower(),
    }
    rare: dict[str, Any] = {
        "num-levels": rng.integers(2, 9),
        "compaction.optimization-interval": f"{rng.integers(1, 20)} min",
        "compaction.total-size-threshold": f"{rng.integers(10, 2000)} b",
        "compaction.force-rewrite-all-files": "true",
        "compaction.force-up-level-0": "true",
        "force-lookup": "true",
    }
    rare_pairs: list[dict[str, Any]] = [
        {
            "compaction.offpeak.start.hour": rng.integers(-1, 24),
            "compaction.offpeak.end.hour": rng.integers(-1, 24),
            "compaction.offpeak-ratio": rng.choice([20, 300]),
        },
        {
            "force-lookup": "true",
            "lookup-compact": "gentle",
            "lookup-compact.max-interval": rng.integers(1, 3),
        },
    ]
    chosen = usual | {key: value for key, value in rare.items() if rng.random() < 0.12}
    for pair in rare_pairs:
        if rng.random() < 0.2:
            chosen |= pair
    return {key: str(value) for key, value in chosen.items()}


def _random_file(rng: np.random.Generator, name: str, level: int, sequence: int) -> list[Any]:
    low = int(rng.integers(0, 1000))
    high = low + int(rng.integers(0, 300))
    return _values(rng, name, level, (low, high), (sequence, sequence + 9))


def _random_level(rng: np.random.Generator, level: int, count: int) -> list[list[Any]]:
    ends = np.sort(rng.choice(1200, 2 * rng.integers(1, 6), replace=False)).tolist()
    return [
        _values(
            rng,
            f"l{level}-{count + position}",
            level,
            (ends[2 * position], ends[2 * position + 1]),
            (900 - 100 * level, 990 - 100 * level),
        )
        for position in range(len(ends) // 2)
    ]


def _values(
    rng: np.random.Generator,
    name: str,
    level: int,
    keys: tuple[int, int],
    sequence_numbers: tuple[int, int],
) -> list[Any]:
    rows = int(rng.integers(1, keys[1] - keys[0] + 2))
    size = int(10 ** rng.uniform(0, 1.5 + level / 4))
    deletes = [None, 0, 0, 0, 1][rng.integers(5)]
    return [name, max(1, size), rows, level, *keys, *sequence_numbers, deletes]
