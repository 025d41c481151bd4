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
    assert len(listed) == {"tpch": 22, "everyday": 143}[name]

    for title, text in listed:
        found = engine.run(engine.plan(text, Sources(catalog)))
        assert found.num_rows > 0, title


def test_what_is_refused_is_named(catalog: Catalog) -> None:
    listed = statements("refused_everyday")
    assert len(listed) == 7

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


@pytest.fixture(scope="module")
def one_text(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    catalog = paimonlab.connect(tmp_path_factory.mktemp("one_text"))
    catalog.create_database("db")
    rows = pa.table({"id": [0, 1], "p": [None, "p1"], "b": [None, b"b1"]})
    catalog.write_table("db.t", rows)
    return catalog


@pytest.mark.parametrize(
    ("condition", "ids"),
    [
        ("p IS NULL", [0]),
        ("p IS NOT NULL", [1]),
        ("isnull(p)", [0]),
        ("p <=> NULL", [0]),
        ("NOT (p <=> 'p1')", [0]),
        ("p IS DISTINCT FROM 'p1'", [0]),
        ("equal_null(p, NULL)", [0]),
        ("coalesce(p, 'x') = 'x'", [0]),
        ("nvl(p, '') <> 'p1'", [0]),
        ("length(ifnull(p, 'x')) = 1", [0]),
        ("nvl2(p, 'a', 'b') = 'b'", [0]),
        ("format_string('%s', p) = 'null'", [0]),
        ("decode(p, NULL, 'n', 'm') = 'n'", [0]),
        ("p = 'p1' OR p IS NULL", [0, 1]),
        ("concat_ws('-', p, 'x') = 'x'", [0]),
        ("b <=> NULL", [0]),
        ("coalesce(b, unhex('00')) = unhex('00')", [0]),
    ],
)
@pytest.mark.parametrize("source", ["db.t", "(SELECT *, coalesce(p, 'y') AS q FROM db.t)"])
def test_nulls_beside_one_text_are_those_that_are_found(
    condition: str, ids: list[int], source: str, one_text: Catalog
) -> None:
    """DuckDB 2.0 takes the text for NULL as well where its Parquet reader tests for NULL."""
    and_q = "" if source == "db.t" else f" AND (q = 'y' OR q = 'p1') AND id IN {(*ids, 9)}"

    text = f"SELECT id, p FROM {source} WHERE ({condition}){and_q} ORDER BY id"
    found = engine.run(engine.plan(text, Sources(one_text)))

    assert found.to_pydict() == {"id": ids, "p": [[None, "p1"][one] for one in ids]}
