from __future__ import annotations

import math

import pytest

from paimonlab.compact.simulator import Flush, Replay, SimulatorOptions, merged_size, replay
from paimonlab.compact.simulator import simulated_file as file
from paimonlab.compact.tasks import Rewrite
from paimonlab.compact.units import PickReason
from paimonlab.spec.options.table_options import Options


def hour(options: dict[str, str], rows: int = 100, keys: int = 1000) -> Replay:
    """Replay a flush a minute for an hour, always over the same range of keys."""
    flushes = [Flush(minute * 60_000, rows * 100, rows, 0, keys - 1) for minute in range(60)]
    return replay(flushes, SimulatorOptions.of(Options(options)))


def test_without_compaction_every_flush_stays_a_run() -> None:
    found = hour({"num-sorted-run.compaction-trigger": "100"})

    assert found.compactions == ()
    assert found.write_amplification == 1
    assert found.read_amplification == 30.5
    assert [len(moment.runs) for moment in found.moments] == list(range(1, 61))


def test_the_trigger_bounds_the_runs() -> None:
    found = hour({})

    assert max(len(moment.runs) for moment in found.moments) <= 5
    assert found.write_amplification > 1
    assert found.compactions[0].run_count == 5
    assert found.compactions[0].reason is PickReason.SIZE_AMPLIFICATION


def test_a_greater_trigger_writes_less_and_reads_more() -> None:
    few, many = (hour({"num-sorted-run.compaction-trigger": text}) for text in ("3", "10"))

    assert few.write_amplification > many.write_amplification
    assert few.read_amplification < many.read_amplification


def test_every_byte_is_accounted_for() -> None:
    found = hour({"target-file-size": "20 kb"})

    for compaction in found.compactions:
        rewritten = sum(
            file.file_size_bytes
            for step in compaction.steps
            if isinstance(step, Rewrite)
            for file in step.files
        )
        assert compaction.read_bytes == rewritten
        assert compaction.written_bytes <= compaction.read_bytes
    assert found.flushed_bytes == 60 * 10_000
    assert found.moments[-1].size_bytes < found.flushed_bytes


def test_large_files_that_share_no_key_are_moved_not_written() -> None:
    flushes = [Flush(n * 1000, 1000, 10, n * 100, n * 100 + 99) for n in range(20)]
    small = Options({"target-file-size": "1000 b"})

    found = replay(flushes, SimulatorOptions.of(small))

    assert found.write_amplification == 1
    assert sum(one.upgraded_bytes for one in found.compactions) > 0
    assert found.space_amplification == pytest.approx(1, abs=0.1)


def test_nothing_written_costs_nothing() -> None:
    found = replay([], SimulatorOptions())

    assert found.moments == ()
    assert math.isnan(found.write_amplification)
    assert math.isnan(found.space_amplification)


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        ([(0, 99, 100), (0, 99, 100)], (10, 100)),
        ([(0, 99, 50), (0, 99, 50)], (15, 75)),
        ([(0, 49, 50), (50, 99, 50)], (15, 75)),
        ([(0, 99, 7)], (10, 7)),
    ],
)
def test_what_merging_leaves_follows_from_how_full_the_range_is(
    ranges: list[tuple[int, int, int]], expected: tuple[int, int]
) -> None:
    files = [
        file(
            str(low),
            size_bytes=10,
            row_count=rows,
            level=0,
            keys=(low, high),
            sequence_numbers=(0, 1),
        )
        for low, high, rows in ranges
    ]

    assert merged_size(files) == expected
