from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

import paimonlab as pl
from paimonlab.cli.main import main

Run = Callable[..., Result]


@pytest.fixture
def run() -> Run:
    def invoke(*arguments: str, answer: str | None = None) -> Result:
        return CliRunner().invoke(main, list(arguments), input=answer)

    return invoke


@pytest.fixture
def orders(tmp_path: Path) -> pl.Table:
    """``db.orders`` with two days and three snapshots, in the warehouse ``tmp_path``."""
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table(
        "db.orders",
        {"dt": "DATE", "id": "INT", "amount": "DECIMAL(9, 2)", "note": "STRING"},
        primary_keys=["dt", "id"],
        partition_keys=["dt"],
        options={"bucket": "1", "write-only": "true"},
    )
    for day, ids in (("2026-01-01", [1, 2]), ("2026-01-02", [3]), ("2026-01-01", [2])):
        rows = pa.table({"dt": [day] * len(ids), "id": ids, "amount": ["1.50"] * len(ids)})
        rows = rows.set_column(0, "dt", rows["dt"].cast(pa.date32()))
        table.write(rows.set_column(2, "amount", rows["amount"].cast(pa.decimal128(9, 2))))
    return table
