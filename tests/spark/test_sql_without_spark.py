"""Spark answers what is answered without it: the same names, types and rows."""

from __future__ import annotations

import math
import os
import random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.sql_engine import engine
from paimonlab.sql_engine.refusal import NotTranslatedError, StatementFailedError
from paimonlab.sql_engine.tables import Sources
from tests.sql_engine.generated import Queries, T, U, tables

SEED = int(os.environ.get("PAIMONLAB_SEED", "20261123"))
COUNT = int(os.environ.get("PAIMONLAB_SQL_QUERIES", "40"))
FOUND = (
    "SELECT day FROM {t} WHERE startswith(CASE WHEN b THEN 'a' END, 'a')",
    "SELECT id, x FROM {t} WHERE x NOT IN (SELECT uid FROM {u} WHERE uid > 3)",
    "SELECT sum(m), avg(m), round(avg(d), 2), sum(s / 4) FROM {t}",
    "SELECT x div s, x % s, x / s FROM {t} WHERE x IS NULL",
    "SELECT round(m, 1), round(m, 2), round(m, 3), round(m) FROM {t}",
)
"""Queries that were answered otherwise once, or that are asked for most."""


def test_answers_are_those_of_spark(spark: SparkSession, catalog: Catalog) -> None:
    print(f"PAIMONLAB_SEED={SEED}")  # noqa: T201
    rng = random.Random(SEED)
    t, u = tables(rng)
    catalog.create_table("db.t", T).write(t)
    catalog.create_table("db.u", U).write(u)
    for name, rows in (("plain_t", t), ("plain_u", u)):
        zoned = spark.createDataFrame(rows)
        columns = ["CAST(ts AS TIMESTAMP_NTZ) AS ts" if c == "ts" else c for c in zoned.columns]
        zoned.selectExpr(*columns).createOrReplaceTempView(name)
    made = Queries(rng)
    refused = 0
    for query in [*FOUND, *(made.query() for _ in range(COUNT))]:
        try:
            compare(spark, catalog, query)
        except NotTranslatedError:
            refused += 1

    assert refused <= COUNT / 5, "most of what is made can be answered"


def compare(spark: SparkSession, catalog: Catalog, query: str) -> None:
    try:
        planned = engine.plan(query.format(t="db.t", u="db.u"), Sources(catalog))
        mine = engine.run(planned)
    except StatementFailedError:
        with pytest.raises(PySparkException):
            spark.sql(query.format(t="plain_t", u="plain_u")).toArrow()
        return
    frame = spark.sql(query.format(t="plain_t", u="plain_u"))
    other = frame.toArrow()

    assert mine.schema.names == other.schema.names, query
    assert planned.types == [field.dataType.simpleString() for field in frame.schema], query
    assert are_alike(mine, other), (query, mine.to_pylist(), other.to_pylist())


def are_alike(mine: pa.Table, other: pa.Table) -> bool:
    """Whether two results have the same rows, doubles to nine digits."""
    left, right = _ordered(mine), _ordered(other)
    return len(left) == len(right) and all(
        _is_alike(one, two)
        for ours, theirs in zip(left, right, strict=True)
        for one, two in zip(ours, theirs, strict=True)
    )


def _ordered(table: pa.Table) -> list[tuple[Any, ...]]:
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    return sorted(rows, key=lambda row: ([_text(value, 0) for value in row], [*map(_text, row)]))


def _is_alike(mine: Any, other: Any) -> bool:
    if type(mine) is not type(other):
        return False
    if isinstance(mine, float) and not math.isnan(mine):
        return math.isclose(mine, other, rel_tol=1e-9)
    return _text(mine) == _text(other)


def _text(value: Any, digits: int = 6) -> str:
    """Write a value for the order of rows; digits of a double may differ where sums do."""
    if not isinstance(value, float):
        return str(value)
    return "nan" if math.isnan(value) else f"{value + 0.0:.{digits}g}" if digits else ""
