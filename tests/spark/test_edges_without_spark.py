"""Spark answers what is answered without it over values at the edges of their types."""

from __future__ import annotations

import math
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.errors import SchemaError
from paimonlab.sql_engine import engine
from paimonlab.sql_engine.refusal import NotTranslatedError, StatementFailedError
from paimonlab.sql_engine.tables import Sources
from tests.sql_engine.edges import E, EdgeQueries, edges

pytestmark = pytest.mark.usefixtures("interpreted")

SEED = int(os.environ.get("PAIMONLAB_SEED", "20261128"))
COUNT = int(os.environ.get("PAIMONLAB_EDGES", "12"))
FOUND = (
    "SELECT x, f, CAST(x AS STRING), count(*) FROM {e} GROUP BY x, f",
    "SELECT x AS z, y, count(*), sum(n) FROM {e} GROUP BY ALL",
    "SELECT o, x, grouping(x), count(*) FROM {e} GROUP BY ROLLUP (o, x)",
    "SELECT DISTINCT y, f FROM {e} ORDER BY y",
    "SELECT x FROM {e} UNION SELECT y FROM {e} INTERSECT ALL SELECT f FROM {e} EXCEPT SELECT 1.5D",
    "SELECT x FROM {e} UNION ALL SELECT y FROM {e}",
    "SELECT id, sign(x), signum(y), sign(n) FROM {e}",
    "SELECT x, rank() OVER (ORDER BY x), x + 1 FROM {e} GROUP BY x HAVING x < 5",
)
"""Queries that were answered otherwise once."""


def test_answers_at_the_edges_are_those_of_spark(
    spark: SparkSession, catalog: Catalog, tmp_path: Path
) -> None:
    print(f"PAIMONLAB_SEED={SEED}")  # noqa: T201
    rng = random.Random(SEED)
    rows = edges(rng)
    catalog.create_table("db.e", E).write(rows)
    pq.write_table(rows, tmp_path / "e.parquet")
    spark.read.parquet(str(tmp_path / "e.parquet")).createOrReplaceTempView("plain_e")
    made = EdgeQueries(rng)
    outcomes: Counter[str] = Counter()
    differences = []
    for query in [*FOUND, *(made.query() for _ in range(COUNT))]:
        outcome = difference(spark, catalog, query)
        outcomes[outcome if outcome in {"same", "refused", "both fail"} else "different"] += 1
        if outcome not in {"same", "refused", "both fail"}:
            differences.append(f"{query}\n{outcome}")
            print(differences[-1], flush=True)  # noqa: T201
    print(dict(outcomes))  # noqa: T201

    assert not differences, "\n\n".join(differences)
    assert outcomes["same"] >= COUNT / 3, "much of what is made can be answered"


def difference(spark: SparkSession, catalog: Catalog, query: str) -> str:
    """Compare an answer; say what differs, or ``same``, ``refused``, ``both fail``."""
    mine: pa.Table | None = None
    failed, kinds = "", list[str]()
    try:
        planned = engine.plan(query.format(e="db.e"), Sources(catalog))
        mine, kinds = engine.run(planned), planned.types
    except NotTranslatedError:
        return "refused"
    except (StatementFailedError, SchemaError) as error:
        failed = f"{type(error).__name__}: {error}"
    except Exception as error:  # noqa: BLE001 - a bug, whatever it is
        return f"{type(error).__name__}: {error}"
    try:
        frame = spark.sql(query.format(e="plain_e"))
        other = frame.toArrow()
    except (PySparkException, Py4JJavaError) as error:
        return "both fail" if failed else f"Spark fails: {str(error).splitlines()[0]}"
    if mine is None:
        return f"{failed}; Spark answers"
    types = [field.dataType.simpleString() for field in frame.schema]
    for ours, theirs in ((mine.schema.names, other.schema.names), (kinds, types)):
        if ours != theirs:
            return f"{ours}, of Spark {theirs}"
    return _rows_differ(mine, other, is_any_zero="min(" in query or "max(" in query)


def _rows_differ(mine: pa.Table, other: pa.Table, *, is_any_zero: bool) -> str:
    """Say how rows differ; of two zeros the least may be either."""
    left, right = (sorted(map(_row, _rows(table))) for table in (mine, other))
    if is_any_zero:
        left, right = (
            sorted(tuple("0.0" if text == "-0.0" else text for text in row) for row in side)
            for side in (left, right)
        )
    if left == right:
        return "same"
    more = [row for row in left if row not in right][:3]
    less = [row for row in right if row not in left][:3]
    return f"{len(left)} rows, of Spark {len(right)}; only here {more}, only of Spark {less}"


def _rows(table: pa.Table) -> list[tuple[Any, ...]]:
    columns = []
    for column in table.columns:
        kind = column.type
        plain = (
            pa.int64() if pa.types.is_timestamp(kind) or pa.types.is_duration(kind) else pa.int32()
        )
        if pa.types.is_list(kind) and pa.types.is_date(kind.value_type):
            column = column.cast(pa.list_(plain))  # noqa: PLW2901 - Python has not all days
        is_time = pa.types.is_temporal(kind)
        columns.append((column.cast(plain) if is_time else column).to_pylist())
    return list(zip(*columns, strict=True)) if columns else []


def _row(row: tuple[Any, ...]) -> tuple[str, ...]:
    return tuple(map(_text, row))


def _text(value: Any) -> str:
    if isinstance(value, float):
        if math.isnan(value) or math.isinf(value) or value == 0:
            return repr(value)  # also -0.0
        return f"{value:.9g}"
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    return repr(value)
