"""Shredded variants put together: the examples of the specification, types and damage."""

from __future__ import annotations

import datetime as dt
import struct
import uuid
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from paimonlab.errors import DataError, UnsupportedError
from paimonlab.spec.variant.build import metadata_of
from paimonlab.spec.variant.decode import to_json
from paimonlab.spec.variant.encode import parse_json
from paimonlab.spec.variant.shredded import is_shredded, rebuilt

NO_NAMES = metadata_of([])


def pair_of(kind: pa.DataType) -> pa.DataType:
    """Return the type of a field or element that is shredded to a type."""
    return pa.struct([("value", pa.binary()), ("typed_value", kind)])


def row_of(**kinds: pa.DataType) -> pa.DataType:
    fields = [pa.field(name, pair_of(kind), nullable=False) for name, kind in kinds.items()]
    return pa.struct(fields)


def whole_of(kind: pa.DataType) -> pa.DataType:
    metadata = pa.field("metadata", pa.binary(), nullable=False)
    return pa.struct([metadata, *pair_of(kind)])


def in_json(text: str) -> dict[str, bytes]:
    (found,) = parse_json([text]).to_pylist()
    return {"metadata": found["metadata"], "value": found["value"]}


def binary(text: str) -> bytes:
    return in_json(text)["value"]


def texts_of(kind: pa.DataType, rows: list[Any]) -> list[str | None]:
    found: list[str | None] = to_json(rebuilt(pa.array(rows, whole_of(kind)))).to_pylist()
    return found


def test_a_measurement_is_a_number_or_something_else() -> None:
    rows = [
        *({"metadata": NO_NAMES, "typed_value": one} for one in (34, 100)),
        *({"metadata": NO_NAMES, "value": binary(one)} for one in ("null", '"n/a"')),
        None,
    ]

    assert texts_of(pa.int64(), rows) == ["34", "100", "null", '"n/a"', None]


def test_tags_are_a_list_or_something_else() -> None:
    comedy, null = {"typed_value": "comedy"}, {"value": binary("null")}
    rows = [
        {"metadata": NO_NAMES, "typed_value": [comedy, {"typed_value": "drama"}]},
        {"metadata": NO_NAMES, "typed_value": [{"typed_value": "horror"}, null]},
        {"metadata": NO_NAMES, "typed_value": []},
        {"metadata": NO_NAMES, "value": binary('"comedy"')},
        None,
        {"metadata": NO_NAMES, "typed_value": [comedy]},
    ]
    expected = ['["comedy","drama"]', '["horror",null]', "[]", '"comedy"', None, '["comedy"]']
    kind = pa.list_(pair_of(pa.string()))

    assert texts_of(kind, rows) == expected
    cut = pa.array(rows, whole_of(kind)).slice(1, 5)
    assert to_json(rebuilt(cut)).to_pylist() == expected[1:]


EVENTS = [
    (
        '{"event_type": "noop", "event_ts": 1729794114937}',
        {},
        ("noop", None),
        (1729794114937, None),
    ),
    (
        '{"event_type": "login", "event_ts": 1729794146402, "email": "user@example.com"}',
        {"email": "user@example.com"},
        ("login", None),
        (1729794146402, None),
    ),
    ('{"error_msg": "malformed"}', {"error_msg": "malformed"}, (None, None), (None, None)),
    ('{"event_type": null, "event_ts": "x"}', {}, (None, "null"), (None, '"x"')),
    ("{}", {}, (None, None), (None, None)),
]


@pytest.mark.parametrize(("text", "rest", "kind", "at"), EVENTS)
def test_events_have_fields_of_their_own_and_others(
    text: str,
    rest: dict[str, str],
    kind: tuple[str | None, str | None],
    at: tuple[int | None, str | None],
) -> None:
    def field(typed: Any, value: str | None) -> dict[str, Any]:
        return {"typed_value": typed, "value": None if value is None else binary(value)}

    others = in_json(repr(rest).replace("'", '"'))
    row = {
        "metadata": others["metadata"],
        "value": others["value"] if rest else None,
        "typed_value": {"event_type": field(*kind), "event_ts": field(*at)},
    }
    array = pa.array([row], whole_of(row_of(event_type=pa.string(), event_ts=pa.int64())))

    assert rebuilt(array).to_pylist() == parse_json([text]).to_pylist()


def test_an_event_that_is_no_object_is_kept_whole() -> None:
    texts = ['"debug"', "null", '{"a":{"b":[{"c":1}]}}', "[[],{}]"]

    found = texts_of(row_of(a=pa.int8()), [in_json(text) for text in texts])

    assert found == texts


def test_names_are_numbered_as_they_are_met() -> None:
    unused = {"metadata": metadata_of(["x", "b", "y", "a"]), "value": bytes([2, 1, 1, 0, 1, 0])}
    row = {**unused, "typed_value": {"z": {"typed_value": 1}}}

    found = rebuilt(pa.array([row], whole_of(row_of(z=pa.int8()))))

    assert found.to_pylist() == parse_json(['{"z": 1, "b": null}']).to_pylist()


INSTANT = dt.datetime(2024, 2, 29, 1, 2, 3, 4000)
ID = uuid.UUID(int=7)


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (pa.int32(), 1, bytes([3 << 2, 1])),
        (pa.int8(), -128, bytes([3 << 2, 128])),
        (pa.int64(), 2**40, bytes([6 << 2]) + struct.pack("<q", 2**40)),
        (pa.bool_(), True, bytes([1 << 2])),
        (pa.bool_(), False, bytes([2 << 2])),
        (pa.float32(), 1.5, bytes([14 << 2]) + struct.pack("<f", 1.5)),
        (pa.float64(), -0.0, bytes([7 << 2]) + struct.pack("<d", -0.0)),
        (pa.float32(), float("nan"), bytes([14 << 2, 0, 0, 0xC0, 0x7F])),
        (pa.decimal128(9, 2), Decimal("-1.50"), bytes([8 << 2, 2]) + struct.pack("<i", -150)),
        (pa.decimal128(38, 2), Decimal("0.00"), bytes([8 << 2, 2, 0, 0, 0, 0])),
        (
            pa.decimal128(38, 0),
            Decimal(-(10**38) + 1),
            bytes([10 << 2, 0]) + (-(10**38) + 1).to_bytes(16, "little", signed=True),
        ),
        (pa.date32(), -(2**31), bytes([11 << 2]) + struct.pack("<i", -(2**31))),
        (
            pa.timestamp("us"),
            INSTANT,
            bytes([13 << 2]) + struct.pack("<q", 1_709_168_523_004_000),
        ),
        (pa.timestamp("us", "UTC"), -(2**63), bytes([12 << 2]) + struct.pack("<q", -(2**63))),
        (pa.binary(), b"ab", bytes([15 << 2, 2, 0, 0, 0]) + b"ab"),
        (pa.string(), "é", bytes([2 << 2 | 1]) + "é".encode()),
        (pa.string(), "x" * 64, bytes([16 << 2, 64, 0, 0, 0]) + b"x" * 64),
    ],
)
def test_every_type(kind: pa.DataType, value: Any, expected: bytes) -> None:
    typed = pa.array([value, None], kind)
    metadata = pa.array([NO_NAMES, NO_NAMES])
    values = pa.array([None, bytes([0])])
    names = ["metadata", "value", "typed_value"]

    found = rebuilt(pa.StructArray.from_arrays([metadata, values, typed], names))

    assert found.field("value").to_pylist() == [expected, bytes([0])]
    assert found.field("metadata").to_pylist() == [NO_NAMES, NO_NAMES]


def test_a_uuid_comes_as_a_type_of_its_own() -> None:
    ids = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([ID.bytes], pa.binary(16)))
    parts = [ids, pa.array([NO_NAMES])]

    found = rebuilt(pa.StructArray.from_arrays(parts, ["typed_value", "metadata"]))

    assert to_json(found).to_pylist() == [f'"{ID}"']


@pytest.mark.parametrize(
    "kind", [pa.timestamp("ns"), pa.timestamp("ms"), pa.time64("us"), pa.uint8(), pa.binary(16)]
)
def test_other_types_are_refused(kind: pa.DataType) -> None:
    with pytest.raises(UnsupportedError, match="parts of type"):
        rebuilt(pa.array([{"metadata": NO_NAMES}], whole_of(kind)))


def test_deep_values_are_copied() -> None:
    text = "[" * 200 + '{"a":1}' + "]" * 200

    assert texts_of(row_of(a=pa.int8()), [in_json(text)]) == [text]


TWO = row_of(a=pa.int32(), b=pa.int32())
NOTHING = {"value": None, "typed_value": None}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"metadata": NO_NAMES}, "a value is missing"),
        ({"metadata": None, "value": bytes([0])}, "no dictionary"),
        ({**in_json("1"), "typed_value": {"a": NOTHING, "b": NOTHING}}, "is not an object"),
        ({**in_json('{"a": 1}'), "typed_value": {"a": NOTHING, "b": NOTHING}}, "in two places"),
        ({"metadata": NO_NAMES, "value": b""}, "damaged"),
        ({"metadata": b"", "value": binary('{"a": 1}')}, "damaged"),
        ({"metadata": NO_NAMES, "value": binary('{"a": 1}')}, "damaged"),
        ({"metadata": NO_NAMES, "value": binary('"text"')[:-1]}, "it is cut"),
        ({"metadata": NO_NAMES, "value": bytes([63 << 2])}, "a value of type 63"),
        ({"metadata": NO_NAMES, "value": bytes([3, 1, 0, 255]) * 600 + b"\0"}, "too deep"),
    ],
)
def test_damage_is_an_error(row: dict[str, Any], message: str) -> None:
    fields = [pa.field("metadata", pa.binary()), *pair_of(TWO)]
    with pytest.raises(DataError, match=message):
        rebuilt(pa.array([row], pa.struct(fields)))


def test_a_field_that_is_null_and_an_element_without_a_value_are_errors() -> None:
    null = pa.struct([pa.field("a", pair_of(pa.int8()))])
    with pytest.raises(DataError, match="'a' is null"):
        texts_of(null, [{"metadata": NO_NAMES, "typed_value": {"a": None}}])
    elements = pa.list_(pair_of(pa.int8()))
    for element in (None, NOTHING):
        with pytest.raises(DataError, match="missing"):
            texts_of(elements, [{"metadata": NO_NAMES, "typed_value": [element]}])


@pytest.mark.parametrize(
    "kind",
    [
        pa.struct([("typed_value", pa.int8())]),
        pa.struct([("metadata", pa.binary()), ("typed_value", pa.int8()), ("more", pa.int8())]),
        pa.struct([("metadata", pa.string()), ("typed_value", pa.int8())]),
        whole_of(pa.struct([("a", pa.int8())])),
        whole_of(pa.struct([("a", pa.struct([("x", pa.int8())]))])),
        whole_of(pa.list_(pa.int8())),
        whole_of(pa.list_(whole_of(pa.int8()))),
    ],
)
def test_columns_that_are_no_shredded_variants_are_errors(kind: pa.DataType) -> None:
    assert is_shredded(kind)
    with pytest.raises(DataError, match="shredded VARIANT"):
        rebuilt(pa.nulls(1, kind))
