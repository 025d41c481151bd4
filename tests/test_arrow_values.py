from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimonlab.arrow_values import (
    arrow_array,
    arrow_scalar,
    empty_table,
    null_filled,
    numpy_values,
)

INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8()]
TEXTS = st.text(max_size=4)
OF_TYPE: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    (pa.int8(), st.integers(-128, 127)),
    (pa.bool_(), st.booleans()),
    (pa.string(), TEXTS),
    (pa.large_string(), TEXTS),
    (pa.binary(), st.binary(max_size=4)),
    (pa.large_binary(), st.binary(max_size=4)),
    (pa.list_(pa.int32()), st.lists(st.integers(-9, 9) | st.none(), max_size=3)),
    (pa.large_list(pa.large_string()), st.lists(TEXTS | st.none(), max_size=3)),
    (pa.timestamp("ms"), st.datetimes().map(lambda moment: moment.replace(microsecond=7000))),
    (pa.date32(), st.dates()),
    (pa.float64(), st.floats(allow_nan=False)),
]


@pytest.mark.parametrize(("arrow_type", "values"), OF_TYPE, ids=[str(kind) for kind, _ in OF_TYPE])
def test_python_values_become_what_pyarrow_makes_of_them(
    arrow_type: pa.DataType, values: st.SearchStrategy[Any]
) -> None:
    @given(st.lists(values | st.none(), max_size=12))
    def agree(given_values: list[Any]) -> None:
        made = arrow_array(given_values, arrow_type)
        made.validate(full=True)
        assert made.equals(pa.array(given_values, arrow_type))

    agree()


@pytest.mark.parametrize(
    ("value", "arrow_type"),
    [
        (300, pa.int8()),
        (2**63, pa.int64()),
        ("a", pa.int64()),
        (True, pa.int64()),
        (1, pa.string()),
        ("\ud800", pa.string()),
    ],
)
def test_what_pyarrow_refuses_is_refused(value: object, arrow_type: pa.DataType) -> None:
    with pytest.raises(Exception) as theirs:  # noqa: PT011 - whatever pyarrow raises
        pa.array([value], arrow_type)

    with pytest.raises(theirs.type):
        arrow_array([value], arrow_type)


@pytest.mark.parametrize(
    "dtype", ["int8", "int32", "int64", "uint16", "float32", "float64", "bool"]
)
@pytest.mark.parametrize("has_nulls", [False, True])
def test_numbers_of_numpy_go_there_and_back(dtype: str, has_nulls: bool) -> None:
    values = (np.arange(23) % 2).astype(dtype)[::-1]
    mask = np.arange(23) % 3 == 0 if has_nulls else None

    made = arrow_array(values, mask=mask)

    made.validate(full=True)
    assert made.equals(pa.array(values, mask=mask))
    for part in (made, made.slice(3, 9), made.slice(23), pa.chunked_array([made, made.slice(9)])):
        expected = part.to_numpy(zero_copy_only=False)
        found = numpy_values(part, zero_copy_only=False)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5), st.sampled_from(INTEGERS))
def test_integers_are_narrowed_as_pyarrow_does(numbers: list[int], arrow_type: pa.DataType) -> None:
    values = np.array(numbers, np.int64)
    try:
        expected = pa.array(values, arrow_type)
    except pa.ArrowInvalid:
        with pytest.raises(pa.ArrowInvalid):
            arrow_array(values, arrow_type)
    else:
        assert arrow_array(values, arrow_type).equals(expected)


@pytest.mark.parametrize("value", [1, True, 1.5, "a", b"a", None, dt.date(2026, 1, 1), [1, 2]])
def test_scalars_are_those_of_pyarrow(value: object) -> None:
    assert arrow_scalar(value).equals(pa.scalar(value))


def test_scalars_make_an_array_of_their_type() -> None:
    scalars = [pa.scalar(3, pa.int16()), pa.scalar(None, pa.int16())]

    assert arrow_array(scalars).equals(pa.array([3, None], pa.int16()))


def test_nulls_are_filled_with_a_value_of_the_column_s_type() -> None:
    column = pa.chunked_array([pa.array([1, None], pa.int16())])

    assert null_filled(column, 0).equals(pa.chunked_array([pa.array([1, 0], pa.int16())]))


def test_an_empty_table_has_the_schema() -> None:
    schema = pa.schema([pa.field("a", pa.int64(), nullable=False), ("b", pa.list_(pa.string()))])

    assert empty_table(schema).equals(schema.empty_table())
