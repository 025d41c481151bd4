"""The first rows of a mask, and where its last row is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimonlab.datafile import masks
from paimonlab.datafile.masks import end_of, first_of


@given(st.lists(st.booleans(), max_size=40), st.integers(1, 40), st.sampled_from([1, 3, 64]))
def test_they_are_what_counting_says(rows: list[bool], limit: int, block: int) -> None:
    mask = np.array(rows, np.bool_)
    wanted = [number for number, is_kept in enumerate(rows) if is_kept]

    first = first_of(mask, limit)

    assert np.flatnonzero(first).tolist() == wanted[:limit]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(masks, "_BLOCK_ROWS", block)
        assert end_of(mask) == (wanted[-1] + 1 if wanted else 0)
