from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.values.bucket_expression import bucket_of, has_expression
from paimonlab.spec.buckets.bucket import bucket_ids
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import parse_type

ROWS = 500
BUCKETS = 1_000_003


def integers(bits: int, rng: np.random.Generator) -> Sequence[Any]:
    return rng.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1, ROWS, endpoint=True).tolist()


def days(rng: np.random.Generator) -> Sequence[Any]:
    return [EPOCH + dt.timedelta(days=day) for day in rng.integers(-30000, 60000, ROWS).tolist()]


def texts(rng: np.random.Generator) -> Sequence[Any]:
    letters = np.array(list("ab0é漢😀"))
    return ["".join(rng.choice(letters, length)) for length in rng.integers(0, 14, ROWS)]


def instants(rng: np.random.Generator) -> Sequence[Any]:
    micros = rng.integers(-(2**48), 2**48, ROWS)
    return [dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=int(one)) for one in micros]


EPOCH = dt.date(1970, 1, 1)
VALUES: dict[str, Callable[[np.random.Generator], Sequence[Any]]] = {
    "tiny": lambda rng: integers(8, rng),
    "small": lambda rng: integers(16, rng),
    "whole": lambda rng: integers(32, rng),
    "big": lambda rng: integers(64, rng),
    "flag": lambda rng: (rng.random(ROWS) < 0.5).tolist(),
    "day": days,
    "instant": instants,
    "zoned": instants,
    "price": lambda rng: [Decimal(number).scaleb(-4) for number in integers(57, rng)],
    "single": lambda rng: rng.normal(0, 1e5, ROWS).astype(np.float32).tolist(),
    "double": lambda rng: rng.normal(0, 1e200, ROWS).tolist(),
    "text": texts,
    "short text": texts,
    "raw": lambda rng: [rng.bytes(length) for length in rng.integers(0, 30, ROWS)],
}
TYPES = {
    "tiny": "TINYINT",
    "small": "SMALLINT",
    "whole": "INT",
    "big": "BIGINT",
    "flag": "BOOLEAN",
    "day": "DATE",
    "instant": "TIMESTAMP",
    "zoned": "TIMESTAMP WITH LOCAL TIME ZONE",
    "price": "DECIMAL(18, 4)",
    "single": "FLOAT",
    "double": "DOUBLE",
    "text": "STRING",
    "short text": "VARCHAR(20)",
    "raw": "BYTES",
}
FIELDS = {
    name: DataField(index, name, parse_type(text))
    for index, (name, text) in enumerate(TYPES.items())
}


def test_spark_and_python_put_rows_into_the_same_buckets(
    spark: SparkSession, rng: np.random.Generator
) -> None:
    schema = arrow_schema(list(FIELDS.values()))
    columns = [
        pa.array(
            [
                None if is_null else value
                for value, is_null in zip(VALUES[name](rng), rng.random(ROWS) < 0.1, strict=True)
            ],
            schema.field(name).type,
        )
        for name in TYPES
    ]
    rows = pa.table(columns, schema=schema)
    names = list(TYPES)
    keys = [[name] for name in names]
    keys += [list(rng.choice(names, 4, replace=False)) for _ in range(3)]
    frame = spark.createDataFrame(rows)  # all timestamps are zoned; the session's zone is UTC
    frame = frame.withColumn("instant", frame["instant"].cast("timestamp_ntz"))
    bridge = Bridge(spark)

    found = frame.select(
        *(
            bucket_of(bridge, [FIELDS[name] for name in key], BUCKETS).alias(str(index))
            for index, key in enumerate(keys)
        )
    ).toArrow()

    for index, key in enumerate(keys):
        expected = bucket_ids(rows, [FIELDS[name] for name in key], BUCKETS)
        assert found.column(index).to_pylist() == expected.tolist(), key


@pytest.mark.parametrize(
    ("type_text", "known"),
    [
        ("BIGINT", True),
        ("DECIMAL(18, 0)", True),
        ("DECIMAL(19, 0)", False),
        ("TIMESTAMP(3)", False),
    ],
)
def test_other_types_are_left_to_python(type_text: str, known: bool) -> None:
    assert has_expression([DataField(0, "k", parse_type(type_text))]) is known
