"""Positions in the order of keys, against Python's own sort."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimonlab.merge.sorting import sorted_positions

LIMITS = [(name, np.iinfo(name).min, np.iinfo(name).max) for name in ("int8", "int32", "int64")]
LIMITS += [("uint8", 0, 255), ("uint64", 0, 2**64 - 1), ("int64", -50, 50), ("uint64", 7, 2**40)]
FEW = st.lists(st.integers(0, 40), min_size=1, max_size=9).map(sorted)


def _check(keys: list[int], dtype: str) -> None:
    order, is_last = sorted_positions(np.array(keys, dtype))

    assert order.tolist() == sorted(range(len(keys)), key=keys.__getitem__)
    ordered = sorted(keys)
    assert is_last.tolist() == [ordered[i + 1 : i + 2] != [key] for i, key in enumerate(ordered)]
    assert order.dtype == np.int64


@pytest.mark.parametrize(("dtype", "lowest", "highest"), LIMITS)
@given(data=st.data())
def test_keys_in_no_order(dtype: str, lowest: int, highest: int, data: st.DataObject) -> None:
    _check(data.draw(st.lists(st.integers(lowest, highest), max_size=200)), dtype)


@given(runs=st.lists(FEW, max_size=40))
def test_runs_of_keys(runs: list[list[int]]) -> None:
    _check([key for run in runs for key in run], "int64")


@pytest.mark.parametrize("width", [52, 53, 54, 55, 63])
def test_keys_that_leave_no_room_for_positions(width: int) -> None:
    numbers = np.random.default_rng(1).integers(0, 1 << width, 1000).tolist()
    _check([0, (1 << width) - 1, *numbers, *numbers[::-1]], "int64")


def test_keys_in_no_order_are_sorted_as_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> object:
        raise AssertionError("positions are sorted by the keys they refer to, one by one")

    keys = np.random.default_rng(1).permutation(1000)
    monkeypatch.setattr(np, "argsort", refused)
    assert sorted_positions(keys)[0].tolist() == sorted(range(1000), key=keys.tolist().__getitem__)


def test_texts_are_sorted_as_well() -> None:
    order, is_last = sorted_positions(np.array([b"b", b"a", b"b"] * 20))

    assert order.tolist() == [*range(1, 60, 3), *(i for i in range(60) if i % 3 != 1)]
    assert np.flatnonzero(is_last).tolist() == [19, 59]
