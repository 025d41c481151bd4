"""What analysts write is answered without Spark, or refused by name."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab
from paimonlab.catalog import Catalog
from paimonlab.sql_engine import engine
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.tables import Sources
from tests.sql_engine.market import market
from tests.sql_engine.statements import statements


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """Write the tables of the market."""
    return filled(tmp_path_factory.mktemp("market"))


def filled(folder: Path) -> Catalog:
    catalog = paimonlab.connect(folder)
    catalog.create_database("db")
    for name, rows in market().items():
        catalog.write_table(f"db.{name}", rows)
    return catalog


@pytest.mark.parametrize("name", ["tpch", "everyday"])
def test_each_statement_is_answered_with_rows(catalog: Catalog, name: str) -> None:
    listed = statements(name)
    assert len(listed) == {"tpch": 22, "everyday": 142}[name]

    for title, text in listed:
        found = engine.run(engine.plan(text, Sources(catalog)))
        assert found.num_rows > 0, title


def test_what_is_refused_is_named(catalog: Catalog) -> None:
    listed = statements("refused_everyday")
    assert len(listed) == 8

    answered = [title for title, text in listed if not _is_refused(catalog, text)]

    assert answered == []


def _is_refused(catalog: Catalog, text: str) -> bool:
    try:
        engine.run(engine.plan(text, Sources(catalog)))
    except NotTranslatedError as error:
        return "without Spark" in str(error)
    return False


def test_numbers_that_are_none_are_written_as_in_java(catalog: Catalog) -> None:
    text = "SELECT CAST(x AS STRING) AS s FROM df"
    frame = pa.table({"x": [float("nan"), float("inf"), float("-inf"), None, 1.5]})

    found = engine.run(engine.plan(text, Sources(catalog, frames={"df": frame}.get)))

    assert found["s"].to_pylist() == ["NaN", "Infinity", "-Infinity", None, "1.5"]


def test_nulls_beside_one_text_are_those_that_are_found(tmp_path: Path) -> None:
    """DuckDB 2.0 takes the text for NULL as well where its Parquet reader tests for NULL."""
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    catalog.write_table("db.t", pa.table({"id": [0, 1], "p": [None, "p1"]}))

    found = [
        engine.run(engine.plan(f"SELECT id FROM db.t WHERE p IS {word}", Sources(catalog)))
        for word in ("NULL", "NOT NULL")
    ]

    assert [rows["id"].to_pylist() for rows in found] == [[0], [1]]
