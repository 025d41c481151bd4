"""Java's compaction manager and ours do the same with buckets that exist only as metadata."""

from __future__ import annotations

import numpy as np
import pytest

from paimonlab.compact.off_peak import OffPeakOptions, off_peak_percent
from paimonlab.compact.simulator import Flush, Replay, SimulatorOptions, replay
from paimonlab.spec.options.table_options import Options
from tests.interop.java_buckets import NOON_MILLIS, Bucket, draw, random_bucket
from tests.interop.java_build import COMPILED_WITH
from tests.interop.oracle import Oracle
from tests.repetitions import times

pytestmark = [
    pytest.mark.interop,
    pytest.mark.releases(COMPILED_WITH),  # the classes asked are not public, and others in 1.4
]

RANDOM_BUCKETS = times(3_000)


def test_random_buckets_are_compacted_alike(oracle: Oracle, rng: np.random.Generator) -> None:
    buckets = [random_bucket(rng) for _ in range(RANDOM_BUCKETS)]

    theirs = oracle.ask("replay_compactions", buckets=[one.for_java() for one in buckets])

    kinds = set()
    for bucket, expected in zip(buckets, theirs, strict=True):
        # Within a section the order of files does not matter.
        assert bucket.ours() == expected, bucket
        kinds |= {len(step) for steps in expected for step in steps} | {len(expected[0]) > 1}
    assert kinds == {2, 3, True, False}


def test_hours_are_as_quiet_as_in_java(oracle: Oracle) -> None:
    hours = [(start, end) for start in range(-1, 24) for end in range(-1, 24)]
    # 100 and 150 are similar only with fifty percent more.
    files = [["a", 100, 1, 0, 0, 0, 5, 5, 0], ["b", 150, 1, 3, 0, 0, 1, 1, 0]]
    usual = {"num-sorted-run.compaction-trigger": "2"}
    buckets = [
        Bucket(
            usual
            | {
                "compaction.offpeak.start.hour": str(start),
                "compaction.offpeak.end.hour": str(end),
                "compaction.offpeak-ratio": "60",
            },
            files,
            [NOON_MILLIS],
        )
        for start, end in hours
    ]

    theirs = oracle.ask("replay_compactions", buckets=[one.for_java() for one in buckets])

    for (start, end), (found,) in zip(hours, theirs, strict=True):
        options = OffPeakOptions(start_hour=start, end_hour=end, ratio_percent=60)
        assert bool(found) == bool(off_peak_percent(12, options)), (start, end)


def hour_of_upserts(rng: np.random.Generator) -> list[Flush]:
    """Return a flush every ten seconds: mostly recent keys, some old ones, in bursts."""
    flushes = []
    for number in range(360):
        rows = int(rng.integers(2_000, 20_000))
        newest = 200_000 + 1_500 * number
        low = 0 if rng.random() < 0.3 else newest - 60_000
        flushes.append(Flush(NOON_MILLIS + number * 10_000, rows * 90, rows, low, newest))
    return flushes


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"num-sorted-run.compaction-trigger": "3", "compaction.size-ratio": "20"},
        {"force-lookup": "true"},
        {"compaction.optimization-interval": "10 min"},
    ],
    ids=str,
)
def test_an_hour_of_upserts_costs_what_it_costs_in_java(
    oracle: Oracle, options: dict[str, str], rng: np.random.Generator
) -> None:
    flushes = hour_of_upserts(rng)
    options = options | {"target-file-size": "16 mb"}
    found = replay(flushes, SimulatorOptions.of(Options(options)))

    theirs = oracle.ask("replay_compactions", buckets=[as_bucket(flushes, options).for_java()])

    assert [draw(moment.compaction) for moment in found.moments] == theirs[0]
    assert_plausible(found)


def as_bucket(flushes: list[Flush], options: dict[str, str]) -> Bucket:
    events: list[object] = []
    sequence = 0
    for number, flush in enumerate(flushes):
        newest = sequence + flush.row_count - 1
        keys = (flush.min_key, flush.max_key)
        size, rows = flush.size_bytes, flush.row_count
        events.append([f"f{number}", size, rows, 0, *keys, sequence, newest, 0])
        events.append(flush.at_millis)
        sequence += flush.row_count
    return Bucket(options, [], events)


def assert_plausible(found: Replay) -> None:
    assert 1.5 < found.write_amplification < 20
    assert 1 <= found.read_amplification < 10
    assert 0.5 < found.space_amplification < 4
