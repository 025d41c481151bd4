"""Actions say first what they would do, and are not done to anything else."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import ArgumentError, ReadOnlyError
from paimonlab.server.actions import StalePlanError, do, plan
from paimonlab.table.table import Table
from tests.server.conftest import KEY, ORDERS


def orders(root: Path) -> Table:
    table = pl.connect(root / "work" / "shop").table("sales.orders")
    assert isinstance(table, Table)
    return table


def planned_and_done(root: Path, path: tuple[str, ...], action: str, **values: str) -> str:
    made = plan(root, path, action, values)
    return do(root, path, action, values, made.state)


def test_a_plan_changes_nothing_and_names_the_statement(root: Path) -> None:
    made = plan(root, ORDERS, "rollback", {"version": "1"})

    assert made.sql == "CALL sys.rollback(table => 'sales.orders', version => '1')"
    assert made.is_destructive
    assert made.changes[0] == "delete snapshot 2 (it is later than snapshot 1)"
    assert orders(root).snapshots.ids() == [1, 2]


def test_a_plan_for_another_snapshot_is_not_done(root: Path) -> None:
    made = plan(root, ORDERS, "rollback", {"version": "1"})
    orders(root).write(pa.table({"id": [9], "day": ["2026-01-03"], "buyer": ["eve"]}))

    with pytest.raises(StalePlanError):
        do(root, ORDERS, "rollback", {"version": "1"}, made.state)

    assert orders(root).snapshots.ids() == [1, 2, 3]


def test_tables_are_created_tagged_compacted_rolled_back_and_dropped(root: Path) -> None:
    new = {"name": "new", "columns": "id BIGINT NOT NULL\nv DECIMAL(10, 2),", "primary_key": "id"}
    planned_and_done(root, (KEY,), "create_database", name="lab")
    planned_and_done(root, (KEY, "lab"), "create_table", **new, options="bucket=2")
    planned_and_done(root, ORDERS, "create_tag", tag="before", snapshot="2")
    said = planned_and_done(root, ORDERS, "compact", compact_strategy="full")
    assert said.startswith("CALL sys.compact(table => 'sales.orders'")
    compacted = orders(root).snapshot
    planned_and_done(root, ORDERS, "rollback", version="before")
    planned_and_done(root, ORDERS, "delete_tag", tag="first")

    catalog = pl.connect(root / "work" / "shop")
    assert compacted is not None
    assert compacted.commit_kind.value == "COMPACT"
    assert orders(root).snapshots.ids() == [1, 2]
    assert list(orders(root).tags.list()) == ["before"]
    assert catalog.table("lab.new").primary_keys == ("id",)
    planned_and_done(root, (KEY, "lab", "new"), "drop_table")
    assert catalog.tables("lab") == []


@pytest.mark.parametrize(
    ("path", "action", "values"),
    [
        ((KEY,), "create_database", {"name": "sales"}),
        ((KEY,), "create_database", {}),
        ((KEY, "sales"), "create_table", {"name": "orders", "columns": "a INT"}),
        ((KEY, "sales"), "create_table", {"name": "x", "columns": "a"}),
        ((KEY, "sales"), "create_table", {"name": "x", "columns": "a INT\na INT"}),
    ],
)
def test_what_cannot_be_done_is_said_by_the_plan(
    root: Path, path: tuple[str, ...], action: str, values: dict[str, str]
) -> None:
    with pytest.raises(ArgumentError):
        plan(root, path, action, values)


def test_nothing_is_planned_in_a_catalog_that_is_only_read(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = root.parent / "config" / "paimonlab" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[lake]\nwarehouse = "{root}/work/shop"\nread-only = "true"\n')

    with pytest.raises(ReadOnlyError):
        plan(root, ("connection:lake", "sales", "orders"), "drop_table", {})
