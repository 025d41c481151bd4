"""A folder that a server shows, with a warehouse in it and one beside it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl

KEY = "folder:work/shop"
ORDERS = (KEY, "sales", "orders")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the folder; no connection of the user's is configured."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "root"
    make_shop(folder / "work" / "shop")
    make_shop(tmp_path / "elsewhere")
    return folder


def make_shop(path: Path) -> None:
    """Make a table of two snapshots, one with a tag."""
    catalog = pl.connect(path)
    catalog.create_database("sales")
    columns = {"id": "BIGINT NOT NULL", "day": "STRING NOT NULL", "buyer": "STRING"}
    orders = catalog.create_table(
        "sales.orders",
        columns,
        primary_keys=["id", "day"],
        partition_keys=["day"],
        options={"bucket": "1"},
        comment="What was bought",
    )
    for number in range(2):
        days = [f"2026-01-0{number + 1}"] * 3
        rows = {"id": range(3), "day": days, "buyer": ["ann", None, "<b>"]}
        orders.write(pa.table(rows))
    orders.tags.create("first", snapshot=1)
