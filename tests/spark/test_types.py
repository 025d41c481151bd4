from __future__ import annotations

import pytest
from pyspark.sql import types as st

from paimonlab.errors import UnsupportedError
from paimonlab.spark.values.types import fields_from_spark, from_spark, spark_schema, to_spark
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import format_type, parse_type

PAIRS = [
    ("BOOLEAN", st.BooleanType()),
    ("TINYINT", st.ByteType()),
    ("SMALLINT", st.ShortType()),
    ("INT", st.IntegerType()),
    ("BIGINT", st.LongType()),
    ("FLOAT", st.FloatType()),
    ("DOUBLE", st.DoubleType()),
    ("DECIMAL(38, 9)", st.DecimalType(38, 9)),
    ("CHAR(3)", st.CharType(3)),
    ("VARCHAR(7)", st.VarcharType(7)),
    ("STRING", st.StringType()),
    ("BYTES", st.BinaryType()),
    ("DATE", st.DateType()),
    ("TIMESTAMP(6)", st.TimestampNTZType()),
    ("TIMESTAMP(6) WITH LOCAL TIME ZONE", st.TimestampType()),
    ("VARIANT", st.VariantType()),
    ("ARRAY<INT NOT NULL>", st.ArrayType(st.IntegerType(), containsNull=False)),
    ("MAP<STRING NOT NULL, INT>", st.MapType(st.StringType(), st.IntegerType())),
]


@pytest.mark.parametrize(("text", "spark_type"), PAIRS, ids=[text for text, _ in PAIRS])
def test_types_map_one_to_one(text: str, spark_type: st.DataType) -> None:
    assert to_spark(parse_type(text), column="c") == spark_type
    assert format_type(from_spark(spark_type, column="c")) == format_type(parse_type(text))


@pytest.mark.parametrize(
    ("text", "spark_type"),
    [
        ("BINARY(4)", st.BinaryType()),
        ("VARBINARY(4)", st.BinaryType()),
        ("TIMESTAMP(0)", st.TimestampNTZType()),
        ("TIMESTAMP(9)", st.TimestampNTZType()),
        ("TIMESTAMP_LTZ(3)", st.TimestampType()),
        ("TIME(0)", st.TimeType(6)),
        ("TIME(9)", st.TimeType(6)),
        ("MULTISET<DATE>", st.MapType(st.DateType(), st.IntegerType(), valueContainsNull=False)),
    ],
)
def test_lengths_and_precisions_that_spark_does_not_know_are_dropped(
    text: str, spark_type: st.DataType
) -> None:
    assert to_spark(parse_type(text), column="c") == spark_type


@pytest.mark.parametrize("text", ["BLOB", "MULTISET<BLOB>"])
def test_a_type_that_spark_lacks_is_refused_naming_the_column(text: str) -> None:
    fields = [DataField(0, "when", parse_type(text))]

    with pytest.raises(UnsupportedError, match="'when"):
        spark_schema(fields)


def test_a_nested_type_that_spark_lacks_is_refused_naming_the_path() -> None:
    fields = [DataField(0, "r", parse_type("ROW<a ARRAY<BLOB>>"))]

    with pytest.raises(UnsupportedError, match=r"'r\.a\.element'"):
        spark_schema(fields)


@pytest.mark.parametrize(
    "spark_type",
    [
        st.DayTimeIntervalType(),
        st.YearMonthIntervalType(),
        st.StringType("UNICODE_CI"),
        st.NullType(),
    ],
    ids=lambda spark_type: spark_type.simpleString(),
)
def test_a_type_that_paimon_lacks_is_refused_naming_the_column(spark_type: st.DataType) -> None:
    with pytest.raises(UnsupportedError, match="'c'"):
        from_spark(spark_type, column="c")


def test_plain_schemas_have_strings_for_char_and_varchar() -> None:
    fields = [
        DataField(0, "c", parse_type("CHAR(3)")),
        DataField(1, "m", parse_type("ARRAY<VARCHAR(2)>")),
    ]

    assert spark_schema(fields, plain=True).simpleString() == "struct<c:string,m:array<string>>"
    assert spark_schema(fields).simpleString() == "struct<c:char(3),m:array<varchar(2)>>"


def test_nullability_comments_and_declared_lengths_survive() -> None:
    declared = {"comment": "key", "__CHAR_VARCHAR_TYPE_STRING": "varchar(5)"}
    schema = st.StructType(
        [
            st.StructField("id", st.LongType(), nullable=False, metadata={"comment": "key"}),
            st.StructField("v", st.StringType(), metadata=declared),
        ]
    )

    identity, text = fields_from_spark(schema)

    assert (identity.type.nullable, identity.description) == (False, "key")
    assert format_type(text.type) == "VARCHAR(5)"
    assert spark_schema([identity]).fields[0] == schema.fields[0]
