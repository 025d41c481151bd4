from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from paimonlab.compact.universal import PickOptions, pick, pick_full, pick_level_0
from paimonlab.spec.options.table_options import Options
from tests.compact.bucket_drawings import drawn_runs
from tests.support import cases

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
MAX_LEVEL = 5


def options(text: str) -> tuple[PickOptions, int | None]:
    given = dict(line.split(" = ") for line in map(str.strip, text.splitlines()) if line)
    hours = given.pop("last full", None)
    trigger = {"num-sorted-run.compaction-trigger": "3"}
    last = None if hours is None else NOON - timedelta(hours=int(hours))
    millis = None if last is None else int(last.timestamp() * 1000)
    return PickOptions.of(Options(trigger | given)), millis


@pytest.mark.parametrize(("title", "given", "expected"), cases("universal"))
def test_case_file(title: str, given: str, expected: str) -> None:
    drawing, _, rest = given.strip().partition("\n")
    chosen, last_full_millis = options(rest)
    runs = drawn_runs(drawing)

    unit = pick(runs, chosen, max_level=MAX_LEVEL, now=NOON, last_full_millis=last_full_millis)

    if unit is None:
        assert expected == "nothing", title
        return
    assert f"{len(unit.files)} -> L{unit.output_level} {unit.reason.value}" == expected, title
    assert unit.files == tuple(run.files[0] for run in runs[: len(unit.files)])


@pytest.mark.parametrize(
    ("drawing", "count", "level"),
    [
        ("L0 1 | L5 100", 1, 4),
        ("L0 1 1 | L1 100 | L5 1000", 3, 1),
        ("L0 1 1 | L2 2 | L5 1000", 3, 4),
        ("L0 1 1", 2, MAX_LEVEL),
        ("L0 1 | L1 100", 2, MAX_LEVEL),
    ],
)
def test_level_0_goes_up_when_it_has_to(drawing: str, count: int, level: int) -> None:
    unit = pick_level_0(drawn_runs(drawing), PickOptions(), max_level=MAX_LEVEL, now=NOON)

    assert unit is not None
    assert (len(unit.files), unit.output_level) == (count, level)


def test_without_level_0_nothing_has_to_go_up() -> None:
    runs = drawn_runs("L1 100 | L5 1000")

    assert pick_level_0(runs, PickOptions(), max_level=MAX_LEVEL, now=NOON) is None


def test_a_full_compaction_takes_everything() -> None:
    unit = pick_full(drawn_runs("L0 1 | L5 100"), max_level=MAX_LEVEL)

    assert unit is not None
    assert (len(unit.files), unit.output_level, unit.is_file_by_file) == (2, MAX_LEVEL, False)


def test_a_single_run_below_the_highest_level_goes_there() -> None:
    unit = pick_full(drawn_runs("L3 7"), max_level=MAX_LEVEL)

    assert unit is not None
    assert (len(unit.files), unit.output_level, unit.is_file_by_file) == (1, MAX_LEVEL, False)


def test_of_a_compacted_bucket_only_files_with_lost_rows_are_rewritten() -> None:
    runs = drawn_runs("L5 1 2 3")
    name = runs[0].files[1].file_name

    assert pick_full(runs, max_level=MAX_LEVEL) is None
    unit = pick_full(runs, max_level=MAX_LEVEL, to_rewrite={name})
    assert unit is not None
    assert [file.file_name for file in unit.files] == [name]
    assert unit.is_file_by_file
    everything = pick_full(runs, max_level=MAX_LEVEL, rewrites_all=True)
    assert everything is not None
    assert everything.files == runs[0].files


def test_an_empty_bucket_has_nothing_to_compact() -> None:
    assert pick_full((), max_level=MAX_LEVEL, rewrites_all=True) is None
