from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimonlab.merge.order import sort_keys

_INT64 = st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(-3, 3))
_DECIMALS = st.one_of(
    st.decimals(-(10**30), 10**30, allow_nan=False, places=2),
    st.sampled_from([-(2**64), 2**64, -1, 0]),
)
_BYTES = st.one_of(st.binary(max_size=3), st.binary(max_size=12), st.just(b"x" * 70))
COLUMN_TYPES: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.bool_(), st.booleans()),
    (pa.int8(), st.integers(-128, 127)),
    (pa.int16(), st.integers(-(2**15), 2**15 - 1)),
    (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    (pa.int64(), _INT64),
    (pa.float32(), st.floats(width=32)),
    (pa.float64(), st.one_of(st.floats(), st.sampled_from([0.0, -0.0, math.nan]))),
    (pa.decimal128(12, 2), st.decimals(-(10**9), 10**9, allow_nan=False, places=2)),
    (pa.decimal128(38, 2), _DECIMALS),
    (pa.date32(), st.integers(-(10**6), 10**6)),
    (pa.time32("ms"), st.integers(0, 86_399_999)),
    (pa.timestamp("ms"), _INT64),
    (pa.timestamp("us", tz="UTC"), _INT64),
    (pa.timestamp("ns"), _INT64),
    (pa.string(), st.text(max_size=4)),
    (pa.string(), st.sampled_from(["a", "a\0", "a\0\0", "a\0b", "", "é", "z" * 65])),
    (pa.binary(), _BYTES),
    (pa.binary(), st.binary(min_size=16, max_size=16)),
    (pa.large_string(), st.text(max_size=10)),
]


def _column(kind: pa.DataType, values: list[Any]) -> pa.Array:
    if pa.types.is_temporal(kind):
        storage = pa.int64() if kind.bit_width == 64 else pa.int32()
        return pa.array(values, storage).view(kind)
    return pa.array(values, kind)


def _comparable(value: Any) -> Any:
    """Return what Python compares as Paimon compares ``value``."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, float):
        return (True,) if math.isnan(value) else (False, value)
    return value


def _compare(left: Any, right: Any, direction: int) -> int:
    if left is None or right is None:
        return (left is not None) - (right is not None)
    left, right = _comparable(left), _comparable(right)
    return direction * ((left > right) - (left < right))


def _row_order(direction: int) -> Callable[[Any], Any]:
    def compare(left: tuple[Any, ...], right: tuple[Any, ...]) -> int:
        for one, other in zip(left, right, strict=True):
            if result := _compare(one, other, direction):
                return result
        return 0

    return functools.cmp_to_key(compare)


@given(st.data(), st.booleans())
def test_codes_compare_as_the_rows(data: st.DataObject, is_descending: bool) -> None:
    row_count = data.draw(st.integers(0, 8))
    chosen = data.draw(st.lists(st.sampled_from(COLUMN_TYPES), min_size=1, max_size=3))
    columns = []
    for kind, values in chosen:
        element = st.none() | values if data.draw(st.booleans()) else values
        drawn = data.draw(st.lists(element, min_size=row_count, max_size=row_count))
        column = _column(kind, [None, *drawn]).slice(1)
        split = data.draw(st.integers(0, row_count))
        columns.append(pa.chunked_array([column.slice(0, split), column.slice(split)]))
    order = _row_order(-1 if is_descending else 1)
    values = [_values(column) for column in columns]
    expected = [order(tuple(column[row] for column in values)) for row in range(row_count)]

    codes = sort_keys(columns, is_descending=is_descending)

    assert len(codes) == row_count
    for i in range(row_count):
        for j in range(row_count):
            assert (codes[i] < codes[j]) == (expected[i] < expected[j])
            assert (codes[i] == codes[j]) == (expected[i] == expected[j])


def _values(column: pa.ChunkedArray) -> list[Any]:
    if pa.types.is_temporal(column.type):
        storage = pa.int64() if column.type.bit_width == 64 else pa.int32()
        return pa.chunked_array([chunk.view(storage) for chunk in column.chunks]).to_pylist()
    return column.to_pylist()


def test_one_integer_column_is_not_copied() -> None:
    column = pa.array([1, 2, 3])

    assert np.shares_memory(sort_keys([column]), column.to_numpy())


def test_a_nested_column_has_no_order() -> None:
    with pytest.raises(TypeError, match="has no order"):
        sort_keys([pa.array([[1]])])
