from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import types as st

from paimonlab.catalog import Catalog
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


def test_fields_of_variants_are_read_alone(spark: SparkSession, catalog: Catalog) -> None:
    """By files that overlap and files of two schemas; Spark's own setting switches it off."""
    spark.sql(
        "CREATE TABLE paimon.db.v (id INT NOT NULL, s STRUCT<v: VARIANT, k: INT>, v VARIANT) "
        "TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '1', 'write-only' = 'true')"
    )
    made = "named_struct('v', parse_json('{\"x\":1}'), 'k', id), parse_json(j)"
    spark.sql(
        f"INSERT INTO paimon.db.v SELECT id, {made} "
        """FROM VALUES (1, '{"a":"b","n":7}'), (2, '{"a":"c"}') AS t(id, j)"""
    )
    spark.sql("ALTER TABLE paimon.db.v ADD COLUMN (z INT)")
    spark.sql(
        f"INSERT INTO paimon.db.v SELECT id, {made}, 9 "
        """FROM VALUES (2, '{"a":"d","n":"no"}'), (3, 'null') AS t(id, j)"""
    )
    queries = {
        "variant_get(v, '$.a', 'string'), try_variant_get(v, '$.n', 'int')": (
            [("b", 7), ("d", None), (None, None)],
            "v:struct<0:string,1:int>",
        ),
        "variant_get(s.v, '$.x', 'int'), s.k": (
            [(1, 1), (1, 2), (1, 3)],
            "s:struct<v:struct<0:int>,k:int>",
        ),
        "to_json(v), variant_get(v, '$.a', 'string')": (
            [('{"a":"b","n":7}', "b"), ('{"a":"d","n":"no"}', "d"), ("null", None)],
            "v:struct<0:variant,1:string>",
        ),
        "z": ([(None,), (9,), (9,)], "struct<id:int,z:int,"),
    }
    try:
        for pushes in ("true", "false"):
            spark.conf.set("spark.sql.variant.pushVariantIntoScan", pushes)
            for columns, (expected, schema) in list(queries.items())[
                : 4 if pushes == "true" else 1
            ]:
                read = spark.sql(f"SELECT {columns} FROM paimon.db.v ORDER BY id")
                assert read.collect() == expected, columns
                plan = read._jdf.queryExecution().executedPlan().toString()
                assert (schema in plan) is (pushes == "true"), plan
        chosen = "SELECT id FROM paimon.db.v WHERE try_variant_get(v, '$.n', 'int') = 7"
        assert spark.sql(chosen).collect() == [(1,)]
    finally:
        spark.conf.unset("spark.sql.variant.pushVariantIntoScan")
