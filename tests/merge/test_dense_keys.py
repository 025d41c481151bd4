from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimonlab.merge import deduplicate
from paimonlab.merge.deduplicate import winners
from paimonlab.merge.dense_keys import in_key_order, in_last_run
from paimonlab.spec.merge_engine import EngineKind, MergeEngine

RUNS = st.lists(st.sets(st.integers(0, 40)), min_size=1, max_size=6)
ENDS = [("int8", -20), ("int32", 2**31 - 41), ("int64", -(2**63)), ("uint64", 2**64 - 41)]


@pytest.mark.parametrize(("dtype", "lowest"), ENDS)
@pytest.mark.parametrize("is_first", [False, True])
@given(runs=RUNS)
def test_agrees_with_a_dict(
    runs: list[set[int]], dtype: str, lowest: int, *, is_first: bool
) -> None:
    sorted_runs = [sorted(run) for run in runs]
    last = dict[int, int]()
    for number, run in enumerate(sorted_runs):
        for key in run:
            last[key] = min(last.get(key, number), number) if is_first else number
    keys = [lowest + key for run in sorted_runs for key in run]

    mask = in_last_run(np.array(keys, dtype), [len(run) for run in runs], is_first=is_first)

    if keys and max(keys) - min(keys) < 16 * len(keys):
        assert mask is not None
        expected = [last[key] == number for number, run in enumerate(sorted_runs) for key in run]
        assert mask.tolist() == expected
    else:
        assert mask is None


def test_more_runs_than_a_byte_counts() -> None:
    keys = np.zeros(300, np.int64)

    mask = in_last_run(keys, [1] * 300)

    assert mask is not None
    assert np.flatnonzero(mask).tolist() == [299]


def test_texts_and_numbers_far_apart_are_left_to_sorting() -> None:
    assert in_last_run(np.array([b"a", b"b"]), [2]) is None
    assert in_last_run(np.array([0, 32]), [2]) is None
    assert in_last_run(np.array([-(2**63), 2**63 - 1]), [2]) is None


@pytest.mark.parametrize(("kind", "winner"), [("DEDUPLICATE", 2), ("FIRST_ROW", 0)])
def test_close_numbers_are_not_sorted(
    kind: str, winner: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(deduplicate, "by_age")
    engine = MergeEngine(kind=EngineKind[kind])

    mask = winners(np.array([1, 2, 1]), engine=engine, run_lengths=[2, 1])

    assert np.flatnonzero(mask).tolist() == sorted([1, winner])


@pytest.mark.parametrize(("dtype", "lowest"), ENDS)
@pytest.mark.parametrize("is_first", [False, True])
@given(numbers=st.lists(st.integers(0, 40), max_size=60))
def test_positions_in_the_order_of_keys_agree_with_a_dict(
    numbers: list[int], dtype: str, lowest: int, *, is_first: bool
) -> None:
    row_of = dict[int, int]()
    for row, number in enumerate(numbers):
        row_of[number] = row_of.get(number, row) if is_first else row

    positions = in_key_order(np.array([lowest + key for key in numbers], dtype), is_first=is_first)

    if numbers and max(numbers) - min(numbers) < 8 * len(numbers):
        assert positions is not None
        assert positions.dtype == np.int64
        assert positions.tolist() == [row_of[number] for number in sorted(row_of)]
    else:
        assert positions is None


def test_positions_of_close_numbers_are_found_without_sorting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(deduplicate, "by_age")
    keys = np.array([9, 7, 9, 8], np.int64)

    assert deduplicate.newest(keys).tolist() == [1, 3, 2]
    assert deduplicate.oldest(keys).tolist() == [1, 3, 0]


def test_texts_and_numbers_far_apart_have_no_places_of_positions() -> None:
    assert in_key_order(np.array([b"a", b"b"])) is None
    assert in_key_order(np.array([0, 16])) is None
    assert in_key_order(np.array([-(2**63), 2**63 - 1])) is None
