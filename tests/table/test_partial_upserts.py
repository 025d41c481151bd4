"""Upserts that lack columns say what they lose."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import polars  # noqa: ICN001 - pl is paimonlab here
import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import PartialUpsertWarning
from paimonlab.sql_engine import changes
from paimonlab.sql_engine.tables import Sources

LACKING: tuple[Any, ...] = (
    [{"id": 1, "a": "new"}],
    {"id": [1], "a": ["new"]},
    pa.table({"id": [1], "a": ["new"]}),
    pa.table({"id": [1], "a": ["new"]}).to_reader(),
    pd.DataFrame({"id": [1], "a": ["new"]}),
    polars.DataFrame({"id": [1], "a": ["new"]}).lazy(),
)


def _table(folder: Path, **options: str) -> pl.Table:
    catalog = pl.connect(folder)
    catalog.create_database("db")
    return catalog.create_table(
        "db.t",
        {"id": "BIGINT", "a": "STRING", "b": "STRING"},
        primary_keys=["id"],
        options={"bucket": "1", **options},
    )


@pytest.mark.parametrize("rows", LACKING, ids=lambda rows: type(rows).__name__)
def test_values_that_are_lost_are_named_where_write_was_called(rows: Any, tmp_path: Path) -> None:
    table = _table(tmp_path)
    table.write([{"id": 1, "a": "x", "b": "y"}])

    with pytest.warns(PartialUpsertWarning, match=r"db\.t: the rows have no 'b'") as found:
        table.write(rows)

    assert found[0].filename == __file__
    assert table.scan().to_arrow().to_pylist() == [{"id": 1, "a": "new", "b": None}]


def test_what_loses_nothing_warns_of_nothing(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = _table(tmp_path / "first")
        table.write([{"id": 1, "a": "x"}])  # there was no row before
        table.write([{"id": 1, "a": "x", "b": None}])
        table.write(pa.table({"id": [1], "kind": ["-D"]}), row_kinds="kind")
        partial = _table(tmp_path / "partial", **{"merge-engine": "partial-update"})
        partial.write([{"id": 1, "b": "y"}])
        partial.write([{"id": 1, "a": "x"}])
    assert partial.scan().to_arrow().to_pylist() == [{"id": 1, "a": "x", "b": "y"}]


def test_a_statement_that_leaves_columns_out_says_what_is_lost(tmp_path: Path) -> None:
    table = _table(tmp_path)
    sources = Sources(pl.connect(tmp_path))

    first = changes.run("INSERT INTO db.t (id, a) VALUES (1, 'x')", sources)
    whole = changes.run("INSERT INTO db.t VALUES (1, 'x', 'y')", sources)
    lost = changes.run("INSERT INTO db.t (a, id) VALUES ('new', 1)", sources)

    assert first.said == "db.t: 1 row written, snapshot 1"
    assert whole.said == "db.t: 1 row written, snapshot 2"
    assert lost.said == (
        "db.t: 1 row written, snapshot 3. The rows have no 'b'; rows of the same key lose this "
        "value, since merge-engine = deduplicate replaces whole rows; UPDATE and MERGE keep them"
    )
    assert table.scan().to_arrow().to_pylist() == [{"id": 1, "a": "new", "b": None}]
