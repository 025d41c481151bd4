"""The demonstration has everything that the views can show, the same rows every time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from IPython.core.interactiveshell import InteractiveShell

import paimonlab
from paimonlab import notebook
from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.kernel import determinism
from paimonlab.table.table import Table


@pytest.fixture(scope="module")
def catalog() -> Iterator[paimonlab.Catalog]:
    yield notebook.demo().catalog
    connections.disconnect()


@pytest.fixture
def orders(catalog: paimonlab.Catalog) -> Table:
    return opened(catalog, "demo.orders")


@pytest.fixture
def events(catalog: paimonlab.Catalog) -> Table:
    return opened(catalog, "demo.events")


def opened(catalog: paimonlab.Catalog, name: str) -> Table:
    table = catalog.table(name)
    assert isinstance(table, Table)
    return table


def system(catalog: paimonlab.Catalog, name: str) -> pa.Table:
    return catalog.relation(name).scan().to_arrow()


def test_orders_have_a_history_of_every_kind(orders: Table) -> None:
    kinds = [snapshot.commit_kind.value for snapshot in orders.snapshots.list()]

    assert set(kinds) == {"APPEND", "COMPACT", "OVERWRITE", "ANALYZE"}
    assert kinds[-1] == "APPEND"
    assert sorted(orders.tags.list()) == ["first-day", "second-day"]
    assert orders.branches.list() == ["what_if"]
    assert orders.consumers.list() == {"dashboard": 4}
    assert [schema.id for schema in orders.schemas.list()] == [0, 1]


def test_orders_wait_for_a_compaction_in_several_partitions_and_buckets(
    catalog: paimonlab.Catalog,
) -> None:
    files = system(catalog, "demo.orders$files")

    assert pc.count_distinct(files["partition"]).as_py() == 3
    assert set(files["bucket"].to_pylist()) == {0, 1}
    assert set(files["level"].to_pylist()) == {0, 4}


def test_compactions_told_what_changed(orders: Table) -> None:
    changes = orders.changes(4, 7, mode="changelog").to_arrow()

    assert set(changes["rowkind"].to_pylist()) == {"+I", "-U", "+U", "-D"}


def test_deletes_of_events_are_deletion_vectors(catalog: paimonlab.Catalog, events: Table) -> None:
    indexes = system(catalog, "demo.events$table_indexes")
    assert indexes["index_type"].to_pylist() == ["DELETION_VECTORS"]
    kept = [snapshot.id for snapshot in events.snapshots.list()]
    counts = [events.scan(snapshot=number).count() for number in kept]
    assert counts[3] == 400
    assert counts[3] > counts[4] > counts[5]


def test_the_rows_are_the_same_in_every_warehouse(orders: Table, tmp_path: Path) -> None:
    other = opened(notebook.demo(tmp_path).catalog, "demo.orders")

    for snapshot in orders.snapshots.list():
        mine, its = [
            table.scan(snapshot=snapshot.id).to_arrow().sort_by("order_id")
            for table in (orders, other)
        ]
        assert mine.equals(its)


@pytest.mark.parametrize(
    "draw",
    [
        lambda show: show.changes(4, 7),
        lambda show: show.changes(2, 13, mode="diff"),
        lambda show: show.travel(),
        lambda show: show.health(small_files=1),
    ],
    ids=["changes", "diff", "travel", "health"],
)
def test_views_of_it_can_be_compared_with_their_last_run(
    orders: Table, tmp_path: Path, draw: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = opened(notebook.demo(tmp_path).catalog, "demo.orders")
    monkeypatch.setenv(determinism.VARIABLE, "1")

    assert repr(draw(orders.show)) == repr(draw(other.show))


def test_tables_that_are_there_are_used_as_they_are(tmp_path: Path) -> None:
    notebook.demo(tmp_path)

    again = notebook.demo(tmp_path)

    assert opened(again.catalog, "demo.orders").snapshots.ids() == list(range(1, 14))


def test_views_need_no_spark_and_sql_says_that_it_does(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.run_line_magic("paimon_demo", "")

    drawn = shell.run_line_magic("paimon_timeline", "demo.orders")

    assert "snapshots 1 to 13" in repr(drawn)
    assert "without Spark" in capsys.readouterr().out
    with pytest.raises(QueryError, match="without Spark"):
        notebook.sql("DROP VIEW demo.events")
