from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from paimonlab.spark.bridge import Bridge
from paimonlab.spark.bucket_expression import bucket_of, has_expression
from paimonlab.spec.arrow_types import arrow_schema
from paimonlab.spec.bucket import bucket_ids
from paimonlab.spec.type_text import parse_type
from paimonlab.spec.types import DataField

ROWS = 500
BUCKETS = 1_000_003


def values(type_text: str, rng: np.random.Generator) -> Sequence[Any]:
    match type_text.split("(", maxsplit=1)[0]:
        case "TINYINT":
            return rng.integers(-128, 128, ROWS).tolist()
        case "SMALLINT":
            return rng.integers(-(2**15), 2**15, ROWS).tolist()
        case "INT":
            return rng.integers(-(2**31), 2**31, ROWS).tolist()
        case "BIGINT":
            return rng.integers(-(2**63), 2**63 - 1, ROWS, endpoint=True).tolist()
        case "BOOLEAN":
            return (rng.random(ROWS) < 0.5).tolist()
        case "DATE":
            days = rng.integers(-30000, 60000, ROWS).tolist()
            return [dt.date(1970, 1, 1) + dt.timedelta(days=day) for day in days]
        case "DECIMAL":
            digits = rng.integers(-(10**17), 10**17, ROWS).tolist()
            return [Decimal(number).scaleb(-4) for number in digits]
        case "FLOAT":
            return rng.normal(0, 1e5, ROWS).astype(np.float32).tolist()
        case "DOUBLE":
            return rng.normal(0, 1e200, ROWS).tolist()
        case "BYTES":
            return [rng.bytes(length) for length in rng.integers(0, 30, ROWS)]
    letters = np.array(list("ab0é漢😀"))
    return ["".join(rng.choice(letters, length)) for length in rng.integers(0, 14, ROWS)]


TYPES = {
    "tiny": "TINYINT",
    "small": "SMALLINT",
    "whole": "INT",
    "big": "BIGINT",
    "flag": "BOOLEAN",
    "day": "DATE",
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
    nulls = [pa.array(rng.random(ROWS) < 0.1) for _ in TYPES]
    rows = pa.table(
        [
            pa.array(values(text, rng), schema.field(name).type).filter(pa.array([True] * ROWS))
            for name, text in TYPES.items()
        ],
        schema=schema,
    )
    rows = pa.table(
        [
            pa.compute.if_else(null, pa.scalar(None, column.type), column)
            for null, column in zip(nulls, rows.columns, strict=True)
        ],
        schema=schema,
    )
    names = list(TYPES)
    keys = [[name] for name in names]
    keys += [list(rng.choice(names, 4, replace=False)) for _ in range(3)]
    frame = spark.createDataFrame(rows)
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
    [("BIGINT", True), ("DECIMAL(18, 0)", True), ("DECIMAL(19, 0)", False), ("TIMESTAMP", False)],
)
def test_other_types_are_left_to_python(type_text: str, known: bool) -> None:
    assert has_expression([DataField(0, "k", parse_type(type_text))]) is known
