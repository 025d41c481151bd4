from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimonlab.merge.deduplicate import deduplicate, newest, winners
from tests.support import cases, draw, rows


@pytest.mark.parametrize(("title", "given", "expected"), cases("deduplicate"))
def test_case_file(title: str, given: str, expected: str) -> None:
    assert draw(deduplicate(rows(given), ["key"])) == expected, title


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9), st.sampled_from("ID"))))
def test_agrees_with_a_dict(writes: list[tuple[str, int, str]]) -> None:
    """A table is a dict that remembers how it came to be: replaying the writes must agree."""
    newest_of: dict[str, str] = {}
    sequence_of: dict[str, int] = {}
    drawing = []
    for value, (key, sequence, kind) in enumerate(writes):
        row = f"{key}@{sequence}:{'+I' if kind == 'I' else '-D'}={value}"
        drawing.append(row)
        if sequence >= sequence_of.get(key, -1):
            newest_of[key], sequence_of[key] = row, sequence

    merged = deduplicate(rows("  ".join(drawing)), ["key"])

    assert draw(merged) == " ".join(newest_of[key] for key in sorted(newest_of))


def test_without_sequences_the_last_row_of_a_key_wins() -> None:
    assert newest(np.array([3, 1, 3, 2, 1])).tolist() == [4, 3, 2]


def test_sequences_decide_from_the_first_to_the_last() -> None:
    keys = np.array([1, 1, 1, 2])

    positions = newest(keys, [np.array([5, 5, 4, 0]), np.array([1, 0, 9, 0])])

    assert positions.tolist() == [0, 3]


def test_a_reader_sees_no_key_whose_newest_row_takes_it_away() -> None:
    keys = np.array([1, 2, 3, 4, 1, 2, 3, 4])
    kinds = np.array([0, 0, 0, 0, 0, 1, 2, 3], np.int8)

    assert np.flatnonzero(winners(keys, kinds=kinds)).tolist() == [4, 6]


def test_no_rows_no_winners() -> None:
    assert winners(np.array([], np.int64), kinds=np.array([], np.int8)).tolist() == []
