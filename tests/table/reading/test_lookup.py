from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from msgspec.structs import replace

import paimonlab
from paimonlab.formats.parquet import options as parquet_options
from paimonlab.read import value_blocks
from paimonlab.read.key_blocks import shared_blocks
from paimonlab.read.splits import read_splits
from paimonlab.read.value_blocks import shared_values
from paimonlab.table.inside import store_of

KEYS: dict[str, tuple[str, Any]] = {
    "bigint": ("BIGINT", lambda number: number * 10**12 - 5),
    "string": ("STRING", lambda number: f"{'é' * (number % 3)}{number}"),
    "decimal": ("DECIMAL(20, 2)", lambda number: Decimal(number).scaleb(-2)),
    "date": ("DATE", lambda number: date.fromordinal(9**6 + number)),
    "double": ("DOUBLE", lambda number: number / 7),
    "bytes": ("VARBINARY(9)", lambda number: number.to_bytes(2, "big")),
}
ROWS = 300


@pytest.fixture
def catalog(tmp_path: Path) -> paimonlab.Catalog:
    made = paimonlab.connect(tmp_path)
    made.create_database("db")
    return made


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_options, "_PAGE_ROWS_BY_KEY", 16)
    shared_blocks.clear()
    shared_values.clear()


def _as_dict(rows: pa.Table, key: tuple[str, ...]) -> dict[Any, Any]:
    found = {tuple(row[name] for name in key): row for row in rows.to_pylist()}
    assert len(found) == rows.num_rows
    return found


@pytest.mark.parametrize("options", [{}, {"sequence.field": "q"}], ids=["plain", "sequence"])
@pytest.mark.parametrize("key_type", KEYS)
def test_lookups_agree_with_a_scan_after_every_commit(
    key_type: str, options: dict[str, str], catalog: paimonlab.Catalog, rng: np.random.Generator
) -> None:
    text, convert = KEYS[key_type]
    types = {"p": "INT", "k": text, "j": "INT", "v": "BIGINT", "q": "INT", "s": "STRING"}
    table = catalog.create_table(
        "db.t",
        types,
        primary_keys=["p", "k", "j"],
        partition_keys=["p"],
        options={"bucket": "2", **options},
    )
    schema = table.arrow_schema

    def batch(count: int) -> pa.Table:
        numbers = rng.integers(0, ROWS, count)
        columns = {
            "p": rng.integers(0, 2, count),
            "k": pa.array([convert(int(one)) for one in numbers], schema.field("k").type),
            "j": numbers % 2,
            "v": rng.integers(0, 10**6, count),
            "q": rng.integers(0, 50, count),
            "s": [f"text {one}" for one in numbers],
        }
        return pa.table(columns).cast(schema)

    for commit in range(3):
        count = int(rng.integers(1, 2 * ROWS))
        kinds = rng.choice(["+I", "+U", "-D"], count, p=[0.5, 0.3, 0.2])
        rows = batch(count)
        if commit % 2:
            table.write(rows)
        else:
            table.write(rows.append_column("kind", pa.array(kinds)), row_kinds="kind")
        expected = _as_dict(table.scan().to_arrow(), ("p", "k", "j"))
        for size in (1, 8, 100):
            keys = batch(size).select(["p", "k", "j"])
            found = _as_dict(table.lookup(keys), ("p", "k", "j"))
            asked = {tuple(row.values()) for row in keys.to_pylist()}
            assert found == {key: expected[key] for key in asked if key in expected}
            only = table.lookup(keys, columns=["s"])
            assert only.schema.names == ["s"]
            assert sorted(only["s"].to_pylist()) == sorted(row["s"] for row in found.values())


def test_a_warm_table_decodes_only_the_pages_of_the_rows(catalog: paimonlab.Catalog) -> None:
    table = catalog.create_table(
        "db.t", {"k": "BIGINT", "v": "BIGINT"}, primary_keys=["k"], options={"bucket": "1"}
    )
    table.write(pa.table({"k": np.arange(1000), "v": np.arange(1000)}))
    table.write(pa.table({"k": np.arange(500, 1500), "v": np.arange(1000) * 10}))
    assert table.lookup({"k": [499]}).to_pylist() == [{"k": 499, "v": 499}]
    assert table.lookup({"k": [500, 1499]}, columns=["v"]).to_pydict() == {"v": [0, 9990]}
    assert table.lookup({"k": [1500, -1]}).num_rows == 0
    table.write(pa.table({"k": [499], "v": [7]}))
    assert table.lookup({"k": [499]}).to_pylist() == [{"k": 499, "v": 7}]


def test_a_lookup_of_rows_read_before_opens_no_file(catalog: paimonlab.Catalog) -> None:
    table = catalog.create_table(
        "db.t", {"k": "BIGINT", "v": "BIGINT"}, primary_keys=["k"], options={"bucket": "1"}
    )
    table.write(pa.table({"k": np.arange(100), "v": np.arange(100)}))
    table.write(pa.table({"k": [7, 8], "v": [70, 80]}))
    for key, value in ((7, 70), (9, 9)):
        assert table.lookup({"k": [key]}).to_pylist() == [{"k": key, "v": value}]
    for data_file in Path(table.path.removeprefix("file:")).glob("bucket-0/*"):
        data_file.unlink()
    for key, value in ((8, 80), (10, 10)):  # of the same pages
        assert table.lookup({"k": [key]}).to_pylist() == [{"k": key, "v": value}]


def test_of_wide_rows_only_those_wanted_are_read(
    catalog: paimonlab.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(value_blocks, "_MOST_BLOCK_BYTES", 10_000)
    table = catalog.create_table(
        "db.t", {"k": "INT", "v": "STRING"}, primary_keys=["k"], options={"bucket": "1"}
    )
    table.write(pa.table({"k": range(64), "v": [f"{number:01000}" for number in range(64)]}))
    found = table.lookup({"k": [3, 4, 40]})
    assert sorted(map(int, found["v"].to_pylist())) == [3, 4, 40]
    assert not shared_values.size_bytes
    assert table.lookup({"k": [5]}, columns=["k"]).to_pylist() == [{"k": 5}]
    assert shared_values.size_bytes


def test_a_renamed_key_is_found_in_old_files(catalog: paimonlab.Catalog) -> None:
    table = catalog.create_table(
        "db.t", {"k": "INT", "v": "INT"}, primary_keys=["k"], options={"bucket": "1"}
    )
    table.write(pa.table({"k": [1, 2], "v": [1, 2]}))
    catalog.alter_table("db.t", paimonlab.RenameColumn("k", "key"))
    renamed = catalog.table("db.t")
    assert isinstance(renamed, paimonlab.Table)
    assert renamed.lookup({"key": [2]}).to_pylist() == [{"key": 2, "v": 2}]


@pytest.mark.parametrize(
    "options",
    [
        {"merge-engine": "partial-update"},
        {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum"},
        {"merge-engine": "first-row"},
        {"ignore-delete": "true"},
        {"deletion-vectors.enabled": "true", "write-only": "true"},
    ],
    ids=str,
)
def test_lookups_go_through_the_merge_of_every_engine(
    options: dict[str, str], catalog: paimonlab.Catalog, rng: np.random.Generator
) -> None:
    types = {"k": "INT", "v": "BIGINT", "s": "STRING"}
    table = catalog.create_table(
        "db.t", types, primary_keys=["k"], options={"bucket": "1", **options}
    )
    for _ in range(3):
        keys = rng.permutation(60)[:40]
        values = pa.array(rng.integers(0, 9, 40), mask=rng.random(40) < 0.3)
        rows = pa.table({"k": keys, "v": values, "s": [f"{one}" for one in keys]})
        if "ignore-delete" in options:
            kinds = rng.choice(["+I", "-D"], 40)
            rows = rows.append_column("kind", pa.array(kinds))
            table.write(rows, row_kinds="kind")
        else:
            table.write(rows)
    expected = {row["k"]: row for row in table.scan().to_arrow().to_pylist()}
    for key in range(-1, 60, 7):
        found = table.lookup({"k": [key]}).to_pylist()
        assert found == ([expected[key]] if key in expected else [])


def test_reads_that_keep_deletes_share_no_masks_with_others(catalog: paimonlab.Catalog) -> None:
    table = catalog.create_table(
        "db.t", {"k": "INT", "v": "INT"}, primary_keys=["k"], options={"bucket": "1"}
    )
    table.write(pa.table({"k": [1, 2], "v": [1, 1]}))
    table.write(pa.table({"k": [1], "v": [2], "kind": ["-D"]}), row_kinds="kind")
    scan = table.scan()
    splits = scan.plan().splits
    for keeps, expected in ((False, {2}), (True, {1, 2}), (False, {2})):
        plan = replace(scan.read_plan(), keeps_deletes=keeps)
        rows = read_splits(splits, plan, store_of(table).file_io).read_all()
        assert set(rows["k"].to_pylist()) == expected
