"""``hash`` and ``xxhash64`` without Spark: Spark's numbers, for columns of each type."""

from __future__ import annotations

import os
import random
import struct
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.sql_engine import engine
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.tables import Sources

pytestmark = pytest.mark.usefixtures("interpreted")

SEED = int(os.environ.get("PAIMONLAB_SEED", "20261128"))
COUNT = 3 * 71
"""Rows: texts of each length from 0 to 70, three times."""
COLUMNS = {
    "id": "INT",
    "b": "BOOLEAN",
    "i": "TINYINT",
    "s": "SMALLINT",
    "x": "BIGINT",
    "f": "FLOAT",
    "d": "DOUBLE",
    "m": "DECIMAL(9, 2)",
    "l": "DECIMAL(18, 6)",
    "h": "DECIMAL(19, 0)",
    "w": "DECIMAL(38, 10)",
    "day": "DATE",
    "ts": "TIMESTAMP(6)",
    "at": "TIMESTAMP_LTZ(6)",
    "t": "STRING",
    "z": "BYTES",
    "a": "ARRAY<INT>",
    "u": "ARRAY<STRING>",
    "o": "ROW<p BIGINT, q ROW<r STRING, v DECIMAL(20, 2)>>",
    "n": "ARRAY<ROW<p FLOAT, q ARRAY<TIMESTAMP(3)>>>",
    "k": "MAP<STRING, INT>",
}
HASHED = [name for name in COLUMNS if name != "k"]
_LETTERS = "aZ0 ,\u00e9\u00df\u4e2d\u0301\U0001f600"
_OTHER_NAN = struct.unpack("<d", bytes.fromhex("010000000000fcff"))[0]
_FRACTIONS = [0.0, -0.0, float("nan"), _OTHER_NAN, float("inf"), float("-inf"), 1.5]


def hashed_rows(rng: random.Random) -> pa.Table:
    """Make rows; a fifth of the values is NULL."""

    def some(make: Callable[[int], Any], count: int = COUNT) -> list[Any]:
        return [None if rng.random() < 0.2 else make(number) for number in range(count)]

    def fraction(_: int) -> float:
        return rng.choice(_FRACTIONS) if rng.random() < 0.3 else rng.uniform(-1e9, 1e9)

    def decimal(digits: int, scale: int) -> Decimal:
        length = rng.randint(1, digits)
        return Decimal(f"{rng.choice(('', '-'))}{rng.randrange(10**length)}E-{scale}")

    def moment(_: int) -> datetime:
        return datetime(1970, 1, 1) + timedelta(microseconds=rng.randrange(-(10**15), 10**15))

    def text(number: int) -> str:
        return "".join(rng.choices(_LETTERS, k=number % 71))

    def list_of(make: Callable[[int], Any]) -> list[Any]:
        return some(make, rng.choice((0, 1, 1, 2, 5)))

    nested = pa.struct(
        [("p", pa.int64()), ("q", pa.struct([("r", pa.string()), ("v", pa.decimal128(20, 2))]))]
    )
    element = pa.struct([("p", pa.float32()), ("q", pa.list_(pa.timestamp("ms")))])
    columns: dict[str, tuple[list[Any], pa.DataType]] = {
        "b": (some(lambda _: rng.random() < 0.5), pa.bool_()),
        "i": (some(lambda _: rng.randrange(-128, 128)), pa.int8()),
        "s": (some(lambda _: rng.randrange(-(2**15), 2**15)), pa.int16()),
        "x": (some(lambda _: rng.randrange(-(2**63), 2**63) >> rng.randrange(63)), pa.int64()),
        "f": (some(fraction), pa.float32()),
        "d": (some(fraction), pa.float64()),
        "m": (some(lambda _: decimal(9, 2)), pa.decimal128(9, 2)),
        "l": (some(lambda _: decimal(18, 6)), pa.decimal128(18, 6)),
        "h": (some(lambda _: decimal(19, 0)), pa.decimal128(19, 0)),
        "w": (some(lambda _: decimal(38, 10)), pa.decimal128(38, 10)),
        "day": (some(lambda _: date(1700, 1, 1) + timedelta(rng.randrange(200_000))), pa.date32()),
        "ts": (some(moment), pa.timestamp("us")),
        "at": (some(lambda n: moment(n).replace(tzinfo=UTC)), pa.timestamp("us", "UTC")),
        "t": (some(text), pa.string()),
        "z": (some(lambda number: rng.randbytes(number % 71)), pa.binary()),
        "a": (some(lambda _: list_of(lambda n: n - 2)), pa.list_(pa.int32())),
        "u": (some(lambda _: list_of(lambda n: text(3 * n))), pa.list_(pa.string())),
        "o": (
            some(
                lambda number: {
                    "p": rng.choice((None, number)),
                    "q": rng.choice((None, {"r": text(5), "v": decimal(20, 2)})),
                }
            ),
            nested,
        ),
        "n": (
            some(
                lambda _: list_of(
                    lambda number: {
                        "p": fraction(number),
                        "q": rng.choice((None, [], [datetime(2026, 1, number + 1), None])),
                    }
                )
            ),
            pa.list_(element),
        ),
        "k": (some(lambda n: [("a", n), ("b", None)][: n % 3]), pa.map_(pa.string(), pa.int32())),
    }
    made = {name: pa.array(values, kind) for name, (values, kind) in columns.items()}
    return pa.table({"id": pa.array(range(COUNT), pa.int32()), **made})


def test_hashes_are_those_of_spark(spark: SparkSession, catalog: Catalog, tmp_path: Path) -> None:
    print(f"PAIMONLAB_SEED={SEED}")  # noqa: T201
    rows = hashed_rows(random.Random(SEED))
    catalog.create_table("db.t", COLUMNS).write(rows)
    pq.write_table(rows, tmp_path / "t.parquet")
    spark.read.parquet(str(tmp_path / "t.parquet")).createOrReplaceTempView("plain_t")
    each = ", ".join(f"hash({name}), xxhash64({name})" for name in HASHED)
    every = ", ".join(HASHED)

    for query in (
        f"SELECT id, {each} FROM {{t}} ORDER BY id",
        f"SELECT id, hash({every}), xxhash64({every}) FROM {{t}} ORDER BY id",
        (
            "SELECT id, hash(year(day), length(t), size(a), id + 1, s * 2, m / 3, 'a', 1.50), "
            "hash(split(t, ','), get(a, 0), o.q.v, coalesce(x, i), CASE WHEN b THEN 1 END, NULL), "
            "xxhash64(array(s, i), struct(id, f), upper('a'), date_add(day, s), sqrt(id), "
            "cast(i AS BIGINT), map_entries(k), map_keys(k)) FROM {t} ORDER BY id"
        ),
        (
            "SELECT hash(x) % 3 AS k, count(*), sum(xxhash64(t) % 1000), max(hash(z)) FROM {t} "
            "WHERE xxhash64(id) > 0 GROUP BY hash(x) % 3 HAVING hash(max(id)) <> 0 ORDER BY 1, 2"
        ),
    ):
        compare(spark, catalog, query)
    for name in ("hash", "xxhash64"):
        with pytest.raises(NotTranslatedError, match=f"{name} of a MAP"):
            engine.plan(f"SELECT {name}(id, k) FROM db.t", Sources(catalog))
        with pytest.raises(PySparkException, match="HASH_MAP_TYPE"):
            spark.sql(f"SELECT {name}(id, k) FROM plain_t")


def compare(spark: SparkSession, catalog: Catalog, query: str) -> None:
    planned = engine.plan(query.format(t="db.t"), Sources(catalog))
    mine = engine.run(planned)
    frame = spark.sql(query.format(t="plain_t"))
    other = frame.toArrow()

    assert mine.schema.names == other.schema.names
    assert planned.types == [field.dataType.simpleString() for field in frame.schema]
    for number, name in enumerate(mine.schema.names):
        different = [
            (row, ours, theirs)
            for row, (ours, theirs) in enumerate(
                zip(mine[number].to_pylist(), other[number].to_pylist(), strict=True)
            )
            if ours != theirs
        ]
        assert not different, (name, different[:5])
