"""Processes that were forked, as ``multiprocessing`` does on Linux before Python 3.14."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.table.table import Table

_COLUMNS = {"k": "BIGINT NOT NULL", "v": "STRING"}
_SECONDS = 60
"""After which a child hangs for ever; nothing here takes as long."""
_FORK = multiprocessing.get_context("fork")


@pytest.fixture
def catalog(tmp_path: Path) -> pl.Catalog:
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    return catalog


def _rows(*keys: int) -> pa.Table:
    return pa.table({"k": pa.array(keys, pa.int64()), "v": [f"v{key}" for key in keys]})


_inherited: list[Table] = []
"""What children have from their parent."""


def _write(key: int) -> int:
    assert _inherited[0].write(_rows(key)) is not None
    return key


def test_all_that_forked_workers_wrote_is_there(catalog: pl.Catalog) -> None:
    table = catalog.create_table("db.t", _COLUMNS)
    table.write(_rows(0))
    keys = list(range(1, 9))

    with _FORK.Pool(2, _inherited.append, (table,)) as pool:
        acknowledged = pool.map_async(_write, keys, chunksize=1).get(_SECONDS)

    assert acknowledged == keys
    assert sorted(table.scan().to_arrow()["k"].to_pylist()) == [0, *keys]
    assert not table.fsck(deep=True).findings
