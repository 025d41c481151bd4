"""Conditions on keys of merged tables: the rows are those of a full merge, and little is read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import paimonlab
from paimonlab import Predicate, col
from paimonlab.datafile.reader import DataFile
from paimonlab.formats.parquet import options as parquet_options
from paimonlab.read import key_blocks
from paimonlab.read.key_blocks import shared_blocks
from paimonlab.read.mask_cache import shared_masks
from paimonlab.read.value_blocks import shared_values
from tests.repetitions import times

ROWS = 2_000
OPTIONS: dict[str, dict[str, str]] = {
    "newest": {},
    "sequence field": {"sequence.field": "q"},
    "first row": {"merge-engine": "first-row", "ignore-delete": "true"},
    "partial update": {"merge-engine": "partial-update", "ignore-delete": "true"},
    "vectors": {"deletion-vectors.enabled": "true"},
}


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_options, "_PAGE_ROWS_BY_KEY", 64)
    monkeypatch.setattr(key_blocks, "_ONE_BLOCK_ROWS", 64)
    for cache in (shared_blocks, shared_values, shared_masks):
        cache.clear()


def table_of(
    catalog: paimonlab.Catalog, rng: np.random.Generator, options: dict[str, str], runs: int = 6
) -> paimonlab.Table:
    table = catalog.create_table(
        "db.t",
        {"k": "INT", "s": "STRING", "v": "INT", "q": "INT"},
        primary_keys=["k", "s"],
        options={"bucket": "1", "write-only": "true"} | options,
    )
    for run in range(runs):
        keys = rng.choice(ROWS, ROWS // 4, replace=False)
        batch = pa.table(
            {
                "k": pa.array(keys // 2, pa.int32()),
                "s": ["even" if key % 2 else "odd" for key in keys.tolist()],
                "v": pa.array(rng.integers(0, 9, len(keys)), pa.int32()),
                "q": pa.array(rng.integers(0, 9, len(keys)), pa.int32()),
                "kind": rng.choice(["+I", "-D"], len(keys), p=[0.8, 0.2]).tolist(),
            }
        )
        table.write(batch, row_kinds="kind")
        if run == runs // 2 and "write-only" in table.options:
            table.compact()
    if "deletion-vectors.enabled" in options or "first-row" in options.values():
        table.compact()
    return table


def conditions(rng: np.random.Generator) -> list[tuple[Predicate, Any]]:
    """Return conditions, and what they say of a row of numbers and texts."""
    low = int(rng.integers(0, ROWS // 2))
    high = low + int(rng.choice([0, 3, 50, ROWS]))
    some = rng.integers(-5, ROWS // 2 + 5, int(rng.choice([1, 7, 100, 900]))).tolist()
    return [
        ((col("k") >= low) & (col("k") <= high), lambda row: low <= row["k"] <= high),
        (col("k").is_in(some), lambda row: row["k"] in some),
        (
            col("k").is_in(some) & (col("s") == "odd"),
            lambda row: row["k"] in some and row["s"] == "odd",
        ),
        (
            (col("k") == low) & (col("v") > 3),
            lambda row: row["k"] == low and (row["v"] or 0) > 3,
        ),
        (
            (col("k") < low) | (col("s") == "odd"),
            lambda row: row["k"] < low or row["s"] == "odd",
        ),
        (col("k") < -1, lambda _: False),
    ]


@pytest.mark.parametrize("options", OPTIONS)
def test_rows_are_those_of_a_full_merge(
    options: str, catalog: paimonlab.Catalog, rng: np.random.Generator
) -> None:
    table = table_of(catalog, rng, OPTIONS[options])
    everything = table.scan().to_arrow().to_pylist()

    for turn in range(times(3)):
        for number, (where, is_wanted) in enumerate(conditions(rng)):
            if turn % 2:
                shared_masks.clear()
            expected = [row for row in everything if is_wanted(row)]
            found = table.scan(where=where).to_arrow().to_pylist()
            assert sorted(found, key=str) == sorted(expected, key=str), (turn, number)
            assert table.scan(where=where).count() == len(expected)
            values = table.scan(["v"], where=where).to_arrow()["v"].to_pylist()
            assert sorted(values, key=str) == sorted((row["v"] for row in expected), key=str)


def watched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note the file of each read that is not of single blocks."""
    reads: list[str] = []
    positioned, batches = DataFile.positioned, DataFile.batches

    def one(self: DataFile, *arguments: Any, **options: Any) -> Any:
        reads.append(self.meta.file_name)
        return positioned(self, *arguments, **options)

    def other(self: DataFile, *arguments: Any, **options: Any) -> Any:
        reads.append(self.meta.file_name)
        return batches(self, *arguments, **options)

    monkeypatch.setattr(DataFile, "positioned", one)
    monkeypatch.setattr(DataFile, "batches", other)
    return reads


@pytest.mark.parametrize("where", ["k IN (7, 400, 800)", "k BETWEEN 100 AND 103"])
def test_few_keys_are_read_block_by_block(
    where: str,
    catalog: paimonlab.Catalog,
    rng: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = table_of(catalog, rng, {})
    reads = watched(monkeypatch)

    table.scan(where=where).to_arrow()

    assert reads == []


def test_a_file_is_opened_once_for_its_keys(
    catalog: paimonlab.Catalog, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = table_of(catalog, rng, {}, runs=12)
    where = "k BETWEEN 100 AND 101"
    table.scan(where=where).to_arrow()
    opened = []
    open_file = DataFile.open

    def noted(*arguments: Any, **options: Any) -> DataFile:
        opened.append(arguments[1])
        return open_file(*arguments, **options)

    monkeypatch.setattr(DataFile, "open", noted)
    table.scan(where=where).to_arrow()

    assert opened == []


@pytest.mark.parametrize("keys", [[1], [1, 2, 3], [1, 2, 12]])
def test_no_older_file_is_opened_when_all_keys_are_found(
    keys: list[int], catalog: paimonlab.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = catalog.create_table(
        "db.t",
        {"k": "INT", "v": "INT"},
        primary_keys=["k"],
        options={"bucket": "1", "write-only": "true"},
    )
    for run in range(20):  # a key in 0 … 9 is in each, one in 10 … in one alone
        table.write(pa.table({"k": [*range(10), 10 + run], "v": [run] * 11}))
    table.write(pa.table({"k": [3], "v": [0], "kind": ["-D"]}), row_kinds="kind")
    opened = []
    open_file = DataFile.open

    def noted(*arguments: Any, **options: Any) -> DataFile:
        opened.append(arguments[1])
        return open_file(*arguments, **options)

    monkeypatch.setattr(DataFile, "open", noted)
    found = table.lookup({"k": keys}).to_pydict()

    there = {key: 19 if key < 10 else key - 10 for key in keys if key != 3}
    assert dict(zip(found["k"], found["v"], strict=True)) == there
    assert len(set(opened)) <= (19 if 12 in keys else 2)


def test_pages_of_small_files_are_not_looked_for(
    catalog: paimonlab.Catalog, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_blocks, "_ONE_BLOCK_ROWS", 1 << 13)
    table = table_of(catalog, rng, {})
    row = table.scan().to_arrow().slice(0, 1)

    found = table.lookup({"k": row["k"].to_pylist(), "s": row["s"].to_pylist()})

    assert found.equals(row)
    assert shared_blocks._files.size_bytes == 0


def test_masks_of_all_keys_are_kept_where_a_condition_leaves_most(
    catalog: paimonlab.Catalog, rng: np.random.Generator
) -> None:
    table = table_of(catalog, rng, {"sequence.field": "q"})

    table.scan(where="k >= 0").to_arrow()

    assert shared_masks._kept.size_bytes > 0


def test_masks_of_some_keys_are_not_kept(
    catalog: paimonlab.Catalog, rng: np.random.Generator
) -> None:
    table = table_of(catalog, rng, {"sequence.field": "q"})

    table.scan(where="k = 10").to_arrow()

    assert shared_masks._kept.size_bytes == 0
