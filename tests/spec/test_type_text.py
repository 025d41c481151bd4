from __future__ import annotations

from contextlib import suppress

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spec.types.data_types import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
)
from paimonlab.spec.types.json import fields_from_json, type_from_json, type_to_json
from paimonlab.spec.types.text import UNASSIGNED_ID, format_type, parse_type
from tests.support import cases

_LENGTH = {TypeRoot.CHAR, TypeRoot.VARCHAR, TypeRoot.BINARY, TypeRoot.VARBINARY}
_DIGITS = {TypeRoot.TIME, TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ}


@st.composite
def atomic_types(draw: st.DrawFn) -> AtomicType:
    root, nullable = draw(st.sampled_from(TypeRoot)), draw(st.booleans())
    if root in _LENGTH:
        return AtomicType(root, nullable, length=draw(st.sampled_from([1, 20, 2**31 - 1])))
    if root in _DIGITS:
        return AtomicType(root, nullable, precision=draw(st.integers(0, 9)))
    if root is TypeRoot.DECIMAL:
        precision = draw(st.integers(1, 38))
        scale = draw(st.integers(0, precision))
        return AtomicType(root, nullable, precision=precision, scale=scale)
    return AtomicType(root, nullable)


@st.composite
def rows(draw: st.DrawFn, parts: st.SearchStrategy[DataType]) -> RowType:
    names = draw(st.lists(st.text(min_size=1).filter(str.strip), max_size=3, unique=True))
    texts = st.none() | st.text(max_size=5)
    fields = [DataField(UNASSIGNED_ID, name, draw(parts), draw(texts)) for name in names]
    return RowType(tuple(fields), draw(st.booleans()))


types: st.SearchStrategy[DataType] = st.recursive(
    atomic_types(),
    lambda parts: st.one_of(
        st.builds(ArrayType, parts, st.booleans()),
        st.builds(MultisetType, parts, st.booleans()),
        st.builds(MapType, parts, parts, st.booleans()),
        rows(parts),
    ),
    max_leaves=5,
)


@pytest.mark.parametrize(("title", "given", "expected"), cases("types"))
def test_case_file(title: str, given: str, expected: str) -> None:
    found = [format_type(parse_type(text.strip())) for text in given.split(";")]

    assert found == [text.strip() for text in expected.split(";")], title


@pytest.mark.parametrize(("title", "given", "expected"), cases("bad_types"))
def test_an_error_shows_the_place(title: str, given: str, expected: str) -> None:
    with pytest.raises(SchemaError) as caught:
        parse_type(given.strip())

    assert str(caught.value) == expected, title


@given(types)
def test_what_is_written_is_read_again(data_type: DataType) -> None:
    assert parse_type(format_type(data_type)) == data_type


@given(types)
def test_json_keeps_every_type(data_type: DataType) -> None:
    document = msgspec.json.decode(msgspec.json.encode(type_to_json(data_type)))

    assert type_from_json(document) == data_type


@given(st.text(max_size=30))
def test_any_text_is_a_type_or_a_typed_error(text: str) -> None:
    with suppress(SchemaError, UnsupportedError):
        parse_type(text)


def test_json_of_other_writers_is_read() -> None:
    document = {
        "type": "ROW NOT NULL",
        "nullable": False,
        "fields": [{"id": 3, "name": "a", "type": "TIMESTAMP_LTZ(3)", "comment": None}],
    }

    field = DataField(3, "a", AtomicType(TypeRoot.TIMESTAMP_LTZ, precision=3))
    assert type_from_json(document) == RowType((field,), nullable=False)


@pytest.mark.parametrize("text", ["VECTOR", "GEOMETRY(OGC)", {"type": "VECTOR", "element": "INT"}])
def test_types_that_are_not_built_are_refused(text: object) -> None:
    with pytest.raises(UnsupportedError, match=r"data type (VECTOR|GEOMETRY)"):
        type_from_json(text)


@pytest.mark.parametrize(
    "document",
    [1, {}, {"type": "ARRAY"}, {"type": "MAP", "key": "INT"}, {"type": "TREE"}, {"type": 1}],
)
def test_json_that_is_no_type_is_an_error(document: object) -> None:
    with pytest.raises(SchemaError):
        type_from_json(document)


@pytest.mark.parametrize("field", [1, {"id": 1}, {"id": "1", "name": "a", "type": "INT"}])
def test_json_that_is_no_field_is_an_error(field: object) -> None:
    with pytest.raises(SchemaError, match="not a field"):
        fields_from_json([field])
