from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from paimonlab.datafile.row_sizes import sizes_of_slices

COLUMNS = {
    "i": pa.array([1, None, 3] * 100, pa.int32()),
    "b": pa.array([True, None, False] * 100),
    "s": pa.array(["", "é", None] * 100),
    "y": pa.array([b"a" * 300, b"", b"xyz"] * 100, pa.large_binary()),
    "m": pa.array([Decimal("1.25"), None, Decimal(3)] * 100, pa.decimal128(20, 2)),
    "t": pa.array([1, 2, None] * 100, pa.timestamp("us")),
    "n": pa.nulls(300),
    "f": pa.array([b"ab", None, b"cd"] * 100, pa.binary(2)),
    "l": pa.array([[1, 2], None, []] * 100, pa.list_(pa.int64())),
    "c": pa.chunked_array([pa.array([1] * 7), pa.array([2] * 293)]),
}


@pytest.mark.parametrize("names", ["i", "b", "s", "y", "m", "t", "ibsymt", "n", "f", "il", "c"])
def test_slices_have_the_bytes_that_arrow_counts(names: str, rng: np.random.Generator) -> None:
    rows = pa.table({name: COLUMNS[name] for name in names})
    cuts = np.sort(rng.integers(0, 250, 5))
    start, stop = int(cuts[0]), 290
    lengths = np.diff([*cuts, stop]).tolist()

    sizes = sizes_of_slices(rows.slice(start, stop - start), lengths)

    firsts = (np.cumsum(lengths) - lengths + start).tolist()
    counted = [rows.slice(*one).nbytes for one in zip(firsts, lengths, strict=True)]
    # Bits of a byte that a slice shares with its neighbours count or do not, two a column.
    assert np.abs(np.subtract(sizes, counted)).max() <= 2 * 2 * len(names)
    assert len(sizes) == len(lengths)
