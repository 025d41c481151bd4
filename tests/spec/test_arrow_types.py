from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given

from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spec.types.arrow import arrow_schema, data_field, from_arrow, to_arrow
from paimonlab.spec.types.data_types import DataField, DataType
from paimonlab.spec.types.text import format_type, parse_type
from tests.spec.test_type_text import types

PAIRS = {
    "BOOLEAN": pa.bool_(),
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "DECIMAL(12, 2)": pa.decimal128(12, 2),
    "STRING": pa.string(),
    "BYTES": pa.binary(),
    "DATE": pa.date32(),
    "TIME(3)": pa.time32("ms"),
    "TIMESTAMP(3)": pa.timestamp("ms"),
    "TIMESTAMP(6)": pa.timestamp("us"),
    "TIMESTAMP(9)": pa.timestamp("ns"),
    "TIMESTAMP(6) WITH LOCAL TIME ZONE": pa.timestamp("us", tz="UTC"),
    "ARRAY<INT NOT NULL>": pa.list_(pa.field("item", pa.int32(), nullable=False)),
    "MAP<STRING, INT>": pa.map_(pa.string(), pa.int32()),
    "ROW<a INT, b STRING NOT NULL>": pa.struct(
        [pa.field("a", pa.int32()), pa.field("b", pa.string(), nullable=False)]
    ),
}


@pytest.mark.parametrize("text", PAIRS)
def test_a_type_goes_to_arrow_and_back(text: str) -> None:
    assert to_arrow(parse_type(text)) == PAIRS[text]
    assert format_type(from_arrow(PAIRS[text])) == text


@pytest.mark.parametrize(
    ("text", "arrow_type"),
    [
        ("CHAR(3)", pa.string()),
        ("VARBINARY(3)", pa.binary()),
        ("TIME(9)", pa.time32("ms")),
        ("TIMESTAMP(0)", pa.timestamp("ms")),
        ("TIMESTAMP(4)", pa.timestamp("us")),
        ("TIMESTAMP(7)", pa.timestamp("ns")),
        ("MULTISET<STRING>", pa.map_(pa.string(), pa.field("value", pa.int32(), nullable=False))),
    ],
)
def test_arrow_has_fewer_types(text: str, arrow_type: pa.DataType) -> None:
    assert to_arrow(parse_type(text)) == arrow_type


@pytest.mark.parametrize(
    ("arrow_type", "text"),
    [
        (pa.uint8(), "SMALLINT"),
        (pa.uint16(), "INT"),
        (pa.uint32(), "BIGINT"),
        (pa.float16(), "FLOAT"),
        (pa.large_string(), "STRING"),
        (pa.string_view(), "STRING"),
        (pa.dictionary(pa.int32(), pa.string()), "STRING"),
        (pa.large_binary(), "BYTES"),
        (pa.binary(16), "BINARY(16)"),
        (pa.date64(), "DATE"),
        (pa.time64("us"), "TIME(6)"),
        (pa.timestamp("s"), "TIMESTAMP(0)"),
        (pa.timestamp("ns", tz="Asia/Tokyo"), "TIMESTAMP(9) WITH LOCAL TIME ZONE"),
        (pa.decimal256(38, 3), "DECIMAL(38, 3)"),
        (pa.large_list(pa.int64()), "ARRAY<BIGINT>"),
        (pa.list_(pa.int8(), 4), "ARRAY<TINYINT>"),
    ],
)
def test_other_arrow_types_find_their_place(arrow_type: pa.DataType, text: str) -> None:
    assert format_type(from_arrow(arrow_type)) == text


@pytest.mark.parametrize(
    "arrow_type",
    [pa.uint64(), pa.null(), pa.duration("s"), pa.decimal256(39, 0), pa.decimal128(5, -2)],
)
def test_what_no_type_can_hold_is_an_error_that_names_the_column(arrow_type: pa.DataType) -> None:
    with pytest.raises(SchemaError, match=r"column 'a': no type of Paimon holds"):
        data_field(0, pa.field("a", arrow_type))


def test_a_column_without_values_is_told_to_have_a_type() -> None:
    """As pyiceberg does; floats that are all NaN, as pandas reads empty columns, are DOUBLE."""
    with pytest.raises(SchemaError, match=r"give it a type, as in frame.astype"):
        data_field(0, pa.field("a", pa.null()))


def test_blobs_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="data type BLOB"):
        to_arrow(parse_type("BLOB"))


@given(types)
def test_every_other_type_has_an_arrow_type(data_type: DataType) -> None:
    if "BLOB" not in format_type(data_type):
        field = arrow_schema([DataField(0, "a", data_type)]).field("a")

        assert field.nullable == data_type.nullable
        assert field.metadata is None
