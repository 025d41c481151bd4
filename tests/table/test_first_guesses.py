"""What a newcomer types first: it works, or the answer has the words that do."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pm


@pytest.fixture
def catalog(tmp_path: Path) -> pm.Catalog:
    catalog = pm.connect(tmp_path)
    catalog.create_database("shop")
    return catalog


@pytest.fixture
def orders(catalog: pm.Catalog) -> pm.Table:
    orders = catalog.create_table("shop.orders", {"id": int, "v": str}, primary_keys="id")
    for number in (1, 2, 3):
        orders.write({"id": [number], "v": ["a"]})
    return orders


def test_changes_up_to_now_and_since_a_day(orders: pm.Table) -> None:
    def ids(*moments: object) -> list[int]:
        return sorted(orders.changes(*moments).to_arrow()["id"].to_pylist())  # type: ignore[arg-type]

    assert ids(1) == ids(1, 3) == [2, 3]
    assert ids("yesterday") == [1, 2, 3]
    orders.write({"id": [3], "v": ["b"]})
    whole = orders.changes("yesterday", mode="diff").to_arrow()  # there was no row yet
    assert sorted(zip(whole["rowkind"].to_pylist(), whole["id"].to_pylist(), strict=True)) == [
        ("+I", 1),
        ("+I", 2),
        ("+I", 3),
    ]
    orders.maintenance.rollback_to(snapshot=3)
    midnight = datetime.combine(datetime.now().date(), datetime.min.time())  # noqa: DTZ005
    assert ids("yesterday") == ids(midnight - timedelta(days=1))
    assert ids("Today") == ids(midnight)
    orders.tags.create("v1", snapshot=2)
    assert ids("v1") == [3]
    with pytest.raises(ValueError, match="from 4 to snapshot 3, the latest, they do not"):
        orders.changes(4)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("orders.changes()", r"changes\(\) is written changes\('yesterday'\)"),
        ("orders.changes(since='yesterday')", "no argument 'since'; it is 'start'"),
        ("orders.lookup(id=5)", r"lookup\(\) is written lookup\({'id': 5}\)"),
        ("orders.maintenance.rollback_to(2)", "takes 2 by name only: snapshot=…"),
        ("orders.scan(order_by='id')", r"'order_by'; it is to_pandas\(\).sort_values"),
        ("orders.undo()", r"it is maintenance.rollback_to\(snapshot=…\)"),
        ("orders.diff()", r"it is changes\('yesterday'\)"),
        ("orders.to_excel('a.xlsx')", "needs pip install openpyxl"),
        ("orders.scan().to_excel('a.xlsx')", r"it is to_pandas\(\).to_excel\(path, index=False\)"),
        ("catalog.create_table('shop.orders', {'id': int})", r"catalog\['shop.orders'\] opens it"),
        ("catalog.create_table('lager.a', {'id': int})", r"create_database\('lager'\) makes it"),
        ("catalog.create_table('shop.r', {'c': ['EUR']})", r"catalog.write_table\(name, rows\)"),
    ],
)
def test_an_answer_has_the_words_that_work(
    catalog: pm.Catalog, orders: pm.Table, written: str, said: str
) -> None:
    with pytest.raises((pm.errors.PaimonError, TypeError, AttributeError), match=said):
        eval(written, {"catalog": catalog, "orders": orders})


def test_what_is_written_so_works(orders: pm.Table) -> None:
    assert orders.changes(start=1, end=2).to_arrow().num_rows == 1
    assert orders.lookup(keys={"id": 2}, columns=["v"]).to_pylist() == [{"v": "a"}]
    assert orders.maintenance.rollback_to(snapshot=2, dry_run=True).snapshot_id == 2


def test_rows_are_ordered_by_a_column_given_as_text(catalog: pm.Catalog) -> None:
    events = catalog.create_table("shop.events", {"id": int})
    for ids in ([3, 1], [2, 0]):
        events.write({"id": pa.array(ids)})
    events.compact(full=True, order_by="id")
    assert events.scan().to_arrow()["id"].to_pylist() == [0, 1, 2, 3]


def test_without_pyspark_a_connection_needs_no_engine(tmp_path: Path) -> None:
    """Also that of a notebook whose warehouse is configured."""
    program = (
        "import importlib.machinery, os, sys\n"
        "found = importlib.machinery.PathFinder.find_spec\n"
        "def hidden(name, path=None, target=None):\n"
        "    is_spark = name.partition('.')[0] in {'pyspark', 'py4j'}\n"
        "    return None if is_spark else found(name, path, target)\n"
        "importlib.machinery.PathFinder.find_spec = hidden\n"
        "import paimonlab.notebook as notebook\n"
        "from paimonlab.catalog import settings\n"
        f"print(notebook.connect({str(tmp_path)!r}))\n"
        f"os.environ['PAIMONLAB_WAREHOUSE'] = {str(tmp_path)!r}\n"
        "print(settings.read()['default'].engine)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert b"without Spark" in done.stdout
    assert done.stdout.splitlines()[-1] == b"native"


def test_a_difference_from_what_has_expired_is_refused(orders: pm.Table) -> None:
    orders.maintenance.expire_snapshots(retain_max=2, retain_min=2)
    with pytest.raises(pm.errors.SnapshotExpiredError):
        orders.changes("yesterday", mode="diff")


def test_a_difference_over_a_replaced_table_is_refused(
    catalog: pm.Catalog, orders: pm.Table
) -> None:
    rows = {"id": [3], "v": ["b"]}
    again = catalog.write_table("shop.orders", rows, primary_keys="id", mode="replace")

    with pytest.raises(
        pm.errors.UnsupportedError, match=r"snapshot 1.* had other key columns then"
    ):
        again.changes(1, mode="diff").to_arrow()
    assert again.changes("yesterday", mode="diff").to_arrow()["id"].to_pylist() == [3]
