from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from paimonlab.compact.strategy import LevelOptions, PickMemory, StrategyOptions, next_unit
from paimonlab.spec.options.table_options import Options
from tests.compact.bucket_drawings import drawn_runs

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
QUIET = "L0 1 | L5 100"


def picks(options: dict[str, str], *drawings: str) -> list[int]:
    """Pick one bucket after the other, an hour apart; return how many files were picked."""
    memory = PickMemory()
    counts = []
    for hour, drawing in enumerate(drawings):
        unit, memory = next_unit(
            drawn_runs(drawing),
            StrategyOptions.of(Options(options)),
            memory,
            max_level=5,
            now=NOON + timedelta(hours=hour),
        )
        counts.append(0 if unit is None else len(unit.files))
    return counts


def test_level_0_stays_where_nothing_is_looked_up() -> None:
    assert picks({}, *[QUIET] * 3) == [0, 0, 0]


@pytest.mark.parametrize(
    "options",
    [
        {"changelog-producer": "lookup"},
        {"deletion-vectors.enabled": "true"},
        {"merge-engine": "first-row"},
        {"force-lookup": "true"},
        {"compaction.force-up-level-0": "true"},
        {"compaction.force-up-level-0": "true", "lookup-compact": "gentle"},
    ],
    ids=str,
)
def test_level_0_goes_up_at_once_where_older_rows_are_looked_for(options: dict[str, str]) -> None:
    assert picks(options, *[QUIET] * 3) == [1, 1, 1]


def test_gentle_lookups_wait_some_picks() -> None:
    options = {
        "changelog-producer": "lookup",
        "lookup-compact": "GENTLE",
        "lookup-compact.max-interval": "3",
        "num-sorted-run.compaction-trigger": "3",
    }

    assert picks(options, *[QUIET] * 7) == [0, 0, 1, 0, 0, 1, 0]
    busy = "L0 30 30 | L5 1"
    assert picks(options, QUIET, QUIET, busy, QUIET, QUIET) == [0, 0, 3, 1, 0]


def test_the_interval_begins_again_with_every_full_compaction() -> None:
    options = {"compaction.optimization-interval": "90 min"}

    assert picks(options, *[QUIET] * 6) == [2, 0, 2, 0, 2, 0]
    amplified = "L0 9 9 9 9 | L5 1"
    assert picks(options, QUIET, amplified, QUIET, QUIET) == [2, 5, 0, 2]


def test_a_small_bucket_does_not_count_as_fully_compacted() -> None:
    options = {
        "compaction.optimization-interval": "90 min",
        "compaction.total-size-threshold": "50 b",
    }

    assert picks(options, QUIET, "L0 1 | L5 9", QUIET) == [2, 2, 2]


def test_levels_follow_the_trigger() -> None:
    usual = LevelOptions()
    assert (usual.level_count, usual.stop_trigger) == (6, 8)
    other = Options(
        {
            "num-sorted-run.compaction-trigger": "9",
            "num-sorted-run.stop-trigger": "4",
            "num-levels": "3",
        }
    ).slice(LevelOptions)
    assert (other.level_count, other.stop_trigger) == (3, 9)


def test_gentle_lookups_wait_no_shorter_than_the_trigger() -> None:
    gentle = {"force-lookup": "true", "lookup-compact": "gentle"}

    assert Options(gentle).slice(LevelOptions).max_picks_of_level_0 == 10
    short = gentle | {"lookup-compact.max-interval": "2"}
    assert Options(short).slice(LevelOptions).max_picks_of_level_0 == 5
