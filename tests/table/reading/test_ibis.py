"""Tables of Ibis give the rows of a scan, read as few files, and say how Ibis is installed."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab
from paimonlab.errors import UnsupportedError
from paimonlab.table.table import Table

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")
_CITIES = ["Oslo", "Rome", None, "Oslo", "Zürich", "Rome", "Oslo", "Bonn"]


@pytest.fixture
def orders(tmp_path: Path) -> Table:
    """Make a table of four files, of which the last overwrites two keys."""
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table(
        "db.orders",
        {"id": "INT NOT NULL", "city": "STRING", "n": "BIGINT"},
        primary_keys=["id"],
        options={"bucket": "1", "write-only": "true"},
    )
    for begin in range(0, 8, 2):
        ids = [begin, begin + 1]
        table.write([{"id": n, "city": _CITIES[n], "n": 10 * n} for n in ids])
    table.write([{"id": 0, "city": "Rome", "n": 1}, {"id": 5, "city": None, "n": 2}])
    return table


@pytest.fixture
def library() -> Any:
    return pytest.importorskip(
        "ibis", reason="Ibis is not installed: pip install 'paimonlab[ibis]'"
    )


def test_expressions_are_computed_of_the_rows_of_the_scan(orders: Table, library: Any) -> None:
    cities = ["Rome", *_CITIES[1:5], None, *_CITIES[6:]]
    table = orders.scan().to_ibis()

    found = table.group_by("city").agg(count=table.count(), most=table.n.max()).to_pyarrow()

    assert table.get_name() == "orders"
    assert {row["city"]: row["count"] for row in found.to_pylist()} == dict(Counter(cities))
    chosen = table.filter(table.city.upper() == "OSLO").select("id").to_pyarrow()
    assert sorted(chosen["id"].to_pylist()) == [3, 6]
    assert table.order_by(library.desc("n")).limit(1).to_pyarrow()["id"].to_pylist() == [7]


@pytest.mark.usefixtures("library")
def test_tables_of_one_backend_are_joined_and_keep_their_own_rows(orders: Table) -> None:
    first = orders.scan(where="id < 4").to_ibis()
    backend = first.get_backend()
    second = orders.scan(where="id >= 2").to_ibis(backend)
    named = orders.scan(["id"]).to_ibis(backend, name="ids")

    both = first.join(second, "id").select("id").to_pyarrow()

    assert sorted(both["id"].to_pylist()) == [2, 3]
    assert [one.get_name() for one in (first, second, named)] == ["orders", "orders_2", "ids"]
    assert named.count().to_pyarrow().as_py() == 8
    assert first.count().to_pyarrow().as_py() == 4


@pytest.mark.usefixtures("library")
def test_a_backend_that_is_not_duckdb_is_refused(orders: Table) -> None:
    class Other:
        name = "postgres"

    with pytest.raises(UnsupportedError, match="postgres"):
        orders.scan().to_ibis(Other())


def test_who_has_no_ibis_is_told_how_to_install_it(
    orders: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ibis", None)

    with pytest.raises(ModuleNotFoundError, match=r"pip install 'paimonlab\[ibis\]'"):
        orders.scan().to_ibis()


@pytest.mark.usefixtures("library")
def test_types_are_those_of_the_table(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    types = {"a": "DECIMAL(10, 2)", "b": "TIMESTAMP(6)", "c": "ARRAY<INT>", "d": "DATE"}
    table = catalog.create_table("db.t", types)
    table.write(pa.table({name: pa.nulls(1, t.type) for name, t in _fields(table)}))

    shown = {name: str(kind) for name, kind in table.scan().to_ibis().schema().items()}

    wanted = {"a": "decimal(10, 2)", "b": "timestamp(6)", "c": "array<int32>", "d": "date"}
    assert shown == wanted


def _fields(table: Table) -> list[tuple[str, pa.Field]]:
    return [(field.name, field) for field in table.arrow_schema]
