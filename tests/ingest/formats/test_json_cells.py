"""Values cut out of JSON in columns, against Python's own reader of JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paimonlab.ingest.formats.json_cells import NotObjectsError, columns_of

_TEXTS = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(
    ['"', "\\", '\\"', '{"a":1}', "a,b:c", "null", "}", "\n", "\x7f", "ä😀"]
)
_SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _TEXTS
_VALUES = st.recursive(
    _SCALARS.filter(lambda value: value not in (float("inf"), float("-inf"))),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=6,
)
_OBJECTS = st.dictionaries(_TEXTS | st.sampled_from("abcd"), _VALUES, max_size=5)


def _expected(value: Any) -> str | None:
    """What a cell says of a value."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _same(found: str | None, value: Any) -> bool:
    """Whether a cell says a value: inside objects escapes may be written otherwise."""
    if found is None or not isinstance(value, dict | list):
        return found == _expected(value)
    return bool(json.loads(found) == value)


@settings(max_examples=25)
@given(
    st.lists(_OBJECTS, max_size=8),
    st.booleans(),
    st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", "\t: ")]),
)
def test_cells_are_the_values_of_json(
    objects: list[dict[str, Any]], ascii_only: bool, separators: tuple[str, str]
) -> None:
    texts = [
        json.dumps(row, ensure_ascii=ascii_only, separators=separators).encode() for row in objects
    ]

    columns = columns_of(texts)

    assert set(columns) == {name for row in objects for name in row}
    for name, column in columns.items():
        given_at = [name in row for row in objects]
        assert given_at == (
            [True] * len(objects) if column.is_given is None else column.is_given.tolist()
        )
        for row, found, quoted in zip(
            objects, column.texts.to_pylist(), column.is_string.tolist(), strict=True
        ):
            assert _same(found, row.get(name)), (name, row, found)
            assert quoted == isinstance(row.get(name), str)


@settings(max_examples=10)
@given(st.lists(st.tuples(st.integers(), st.floats(-1e9, 1e9), _TEXTS), min_size=1, max_size=20))
def test_rows_of_one_shape_are_the_same_as_rows_of_many(rows: list[tuple[int, float, str]]) -> None:
    """Objects with the same keys take a shorter way than others."""
    texts = [json.dumps({"a": a, "b": b, "c": c}).encode() for a, b, c in rows]

    alone = columns_of(texts)
    mixed = columns_of([*texts, b'{"c":1,"x":2}'])

    for name in "abc":
        assert mixed[name].texts.slice(0, len(texts)).equals(alone[name].texts)
        assert alone[name].is_given is None


def test_of_a_key_that_is_twice_the_last_value_counts() -> None:
    columns = columns_of([b'{"a":1,"a":2}', b'{"\\u0061":3,"a":4}', b'{"a":5,"\\u0061":6}'])

    assert columns["a"].texts.to_pylist() == ["2", "4", "6"]


@pytest.mark.parametrize("value", [b"[1]", b"1", b'"x"', b"null", b"true"])
def test_values_that_are_no_objects_are_named(value: bytes) -> None:
    with pytest.raises(NotObjectsError) as raised:
        columns_of([b'{"a":1}', value, b'{"a":2}'])

    assert raised.value.rows == [1]


def test_text_that_is_not_utf8_is_named() -> None:
    with pytest.raises(NotObjectsError) as raised:
        columns_of([b'{"a":"x"}', b'{"a":"\xff"}'])

    assert raised.value.rows == [1]
    assert str(raised.value) == "text that is not UTF-8"
