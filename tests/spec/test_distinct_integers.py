"""Different integers, as numpy finds them."""

from __future__ import annotations

import numpy as np
import pytest

from paimonlab.spec.distinct_integers import distinct_integers


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint64])
@pytest.mark.parametrize("values", [[], [5], [7, 0, 7, 3, 0], list(range(9, 0, -1))])
def test_they_are_what_numpy_finds(values: list[int], dtype: type[np.integer]) -> None:
    given = np.array(values, dtype)

    found = distinct_integers(given)

    assert found.dtype == dtype
    assert found.tolist() == np.unique(given).tolist()
    assert given.tolist() == values
