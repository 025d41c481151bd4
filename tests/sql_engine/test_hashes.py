"""Hashes of rows without Spark; `tests/spark/test_hashes_without_spark.py` compares them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab
from paimonlab.catalog import Catalog
from paimonlab.sql_engine import engine
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.tables import Sources

FRAME = pa.table(
    {
        "id": pa.array([1, 2, None], pa.int32()),
        "v": ["a", None, "é" * 500],
        "k": pa.array([[("a", 1)], [], None], pa.map_(pa.string(), pa.int32())),
    }
)


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    return paimonlab.connect(tmp_path)


def answer(catalog: Catalog, sql: str) -> pa.Table:
    return engine.run(engine.plan(sql, Sources(catalog, frames={"df": FRAME}.get)))


def test_the_examples_of_sparks_documentation(catalog: Catalog) -> None:
    found = answer(catalog, "SELECT hash('Spark', array(123), 2), xxhash64('Spark', array(123), 2)")

    assert found.to_pylist() == [
        {
            "hash(Spark, array(123), 2)": -1321691492,
            "xxhash64(Spark, array(123), 2)": 5602566077635097486,
        }
    ]
    assert found.schema.types == [pa.int32(), pa.int64()]


def test_a_null_leaves_the_hash_of_the_others(catalog: Catalog) -> None:
    found = answer(
        catalog,
        "SELECT hash(NULL) AS n, xxhash64(NULL, NULL) AS m, hash(id, NULL, v) = hash(id, v) AS e, "
        "hash(v) = hash(NULL, v) AND xxhash64(v, id) = xxhash64(v, NULL, id) AS f FROM df",
    )

    assert found.to_pylist() == [{"n": 42, "m": 42, "e": True, "f": True}] * 3


def test_hashes_are_explained_grouped_and_joined_by(catalog: Catalog) -> None:
    plan = answer(catalog, "EXPLAIN SELECT hash(id) FROM df")
    found = answer(
        catalog,
        "SELECT hash(a.id) % 1 AS k, count(*) AS n FROM df a JOIN df b "
        "ON xxhash64(a.id, a.v) = xxhash64(b.id, b.v) GROUP BY hash(a.id) % 1",
    )

    assert plan.num_rows == 1
    assert found.to_pylist() == [{"k": 0, "n": 3}]


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT hash(k) FROM df", "hash of a MAP"),
        ("SELECT xxhash64(struct(id, k)) FROM df", "xxhash64 of a MAP"),
        ("SELECT hash()", r"hash\(\)"),
    ],
)
def test_what_spark_does_not_hash_is_refused(catalog: Catalog, sql: str, message: str) -> None:
    with pytest.raises(NotTranslatedError, match=message):
        answer(catalog, sql)
