"""A scan that polars and DuckDB ask for what they need."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pytest

import paimonlab
from paimonlab.table.reading.scan import Scan
from paimonlab.table.table import Table


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Make a table whose runs overlap."""
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    columns = {"id": "INT NOT NULL", "v": "STRING", "n": "BIGINT"}
    table = catalog.create_table("db.t", columns, primary_keys=["id"], options={"bucket": "1"})
    for version in range(2):
        table.write([{"id": n, "v": f"v{version}", "n": 10 * n} for n in range(version, 9)])
    return table


def test_a_query_of_polars_gives_what_it_gives_of_a_frame(table: Table) -> None:
    lazy, eager = table.scan().to_polars_lazy(), table.scan().to_polars().lazy()

    def asked(frame: pl.LazyFrame) -> list[pl.DataFrame]:
        return [
            frame.sort("id").collect(),
            frame.filter((pl.col("n") > 20) & pl.col("v").str.starts_with("v"))
            .select("id")
            .sort("id")
            .collect(),
            frame.group_by("v").agg(pl.col("n").sum()).sort("v").collect(),
            frame.select(pl.len()).collect(),
            frame.filter(pl.col("id") == 99).collect(),
        ]

    assert [one.to_dicts() for one in asked(lazy)] == [one.to_dicts() for one in asked(eager)]
    assert lazy.collect_schema() == eager.collect_schema()
    assert lazy.head(3).collect().height == 3


def test_only_the_columns_and_rows_that_polars_needs_are_read(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[tuple[Any, ...]] = []
    to_batches = Scan.to_batches

    def noted(scan: Scan, **options: Any) -> pa.RecordBatchReader:
        read.append((scan.columns, scan.row_limit))
        return to_batches(scan, **options)

    monkeypatch.setattr(Scan, "to_batches", noted)
    lazy = table.scan().to_polars_lazy()

    assert read == []
    lazy.filter(pl.col("n") > 30).select("id").collect()
    lazy.select("v").head(2).collect()
    table.scan(limit=1).to_polars_lazy().select("v").head(2).collect()

    assert [(set(columns), limit) for columns, limit in read] == [
        ({"id", "n"}, None),
        ({"v"}, 2),
        ({"v"}, 1),
    ]


def test_conditions_and_limits_of_the_scan_hold(table: Table) -> None:
    for where in ("id > 5", "length(v) = 2 AND id > 5"):
        scan = table.scan(where=where)
        assert scan.to_polars_lazy().select("n").sort("n").collect()["n"].to_list() == [60, 70, 80]
    assert table.scan(limit=2).to_polars_lazy().select("id").collect().height == 2


def test_whatever_reads_arrow_takes_a_scan(table: Table) -> None:
    scan = table.scan(["id", "v"], "id > 6")

    assert pa.table(scan).sort_by("id").to_pydict() == {"id": [7, 8], "v": ["v1", "v1"]}
    with duckdb.connect() as database:
        assert database.execute("SELECT sum(id), count(*) FROM scan").fetchall() == [(15, 2)]
    assert pl.DataFrame(scan).height == 2
