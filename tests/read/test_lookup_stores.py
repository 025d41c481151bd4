"""Lookup stores: what is found in them, and that nothing wrong with them is ever believed."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import paimonlab
from paimonlab.datafile.reader import DataFile
from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.merge.order import sort_keys
from paimonlab.read.lookup_options import LookupStorePlan, default_folder
from paimonlab.read.lookup_stores import kept_stores, stores
from paimonlab.read.lookup_stores.kept_stores import KeptStores, StoredColumns
from paimonlab.read.lookup_stores.key_filter import KeyFilter
from paimonlab.read.lookup_stores.key_search import find_in, find_keys
from paimonlab.read.lookup_stores.store_file import (
    MAGIC,
    StoredBatch,
    StoreFile,
    StoreIdentity,
)
from paimonlab.read.lookup_stores.store_writing import combined, write_store
from paimonlab.spec.types.text import parse_type
from paimonlab.storage.recent import Recent
from tests.outside.disks import mounted
from tests.outside.processes import said

KEYS = pa.schema([pa.field("_KEY_k", pa.int64(), nullable=False)])
VALUES = pa.schema([("v", pa.string()), ("l", pa.list_(pa.int32()))])
IDENTITY = StoreIdentity(
    table_path="/w/t",
    bucket_path="bucket-0",
    file_name="data-1.parquet",
    file_size_bytes=17,
    columns="k v",
    compression="none",
)
ROWS = 3_000
LARGE = 25_000
"""Rows of a file that is large enough for a store."""


def batches(step: int = 700) -> list[pa.Table]:
    rows = pa.table(
        {
            "_KEY_k": np.arange(0, 2 * ROWS, 2),
            "v": [f"text {number}" if number % 5 else None for number in range(ROWS)],
            "l": [list(range(number % 4)) for number in range(ROWS)],
        },
        schema=pa.schema([*KEYS, *VALUES]),
    )
    return [rows.slice(start, step) for start in range(0, ROWS, step)]


def written(path: Path, compression: str = "none", values: pa.Schema | None = VALUES) -> None:
    identity = StoreIdentity(
        **{name: getattr(IDENTITY, name) for name in IDENTITY.__struct_fields__}
        | {"compression": compression}
    )
    write_store(str(path), identity, batches(), keys=KEYS, values=values)


def opened(path: Path, **changes: Any) -> StoreFile | None:
    identity = {name: getattr(IDENTITY, name) for name in IDENTITY.__struct_fields__} | changes
    return StoreFile.open(str(path), StoreIdentity(**identity), keys=KEYS, values=VALUES)


@pytest.mark.parametrize("compression", ["none", "lz4", "zstd"])
def test_rows_are_read_by_their_positions(compression: str, tmp_path: Path) -> None:
    written(tmp_path / "s", compression)
    positions = np.array([0, 699, 700, 1023, 1024, ROWS - 1])

    store = opened(tmp_path / "s", compression=compression)

    assert store is not None
    expected = pa.concat_tables(batches()).take(positions)
    assert store.rows_at(positions).equals(expected)
    assert store.rows_at(positions[:0]).num_rows == 0


@pytest.mark.parametrize("nulls", ["none", "some", "all"])
def test_values_of_every_width_come_back(
    nulls: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    def is_null(count: int) -> np.ndarray[Any, Any]:
        return rng.random(count) < {"none": 0, "some": 0.3, "all": 1}[nulls]

    def column(kind: pa.DataType, count: int) -> pa.Array:
        null = is_null(count)
        if pa.types.is_string(kind):
            return pa.array([f"{at}" for at in range(count)], kind, mask=null)
        if pa.types.is_decimal(kind):
            return pa.array(rng.integers(-999, 999, count), mask=null).cast(pa.int32()).cast(kind)
        width = max(kind.bit_width, 8)
        numbers = rng.integers(0, 100, count).astype(f"int{width}")
        return (
            pa.array(numbers, mask=null).cast(pa.int64()).cast(_UNTIMED.get(kind, kind)).cast(kind)
        )

    kinds = {f"c{number}": kind for number, kind in enumerate(_FIXED_AND_OTHER)}
    schema = pa.schema([*KEYS, *kinds.items()])

    def piece(start: int, count: int) -> pa.Table:
        keys = pa.array(np.arange(start, start + count))
        return pa.table([keys, *(column(kind, count) for kind in kinds.values())], schema=schema)

    # Chunks with an offset, and some that are no multiple of eight rows.
    chunks = [piece(0, 61).slice(3), piece(61, 5_000), piece(5_061, 7)]
    pieces = [pa.concat_tables(chunks[:2]), chunks[2]]
    values = pa.schema(list(kinds.items()))

    write_store(str(tmp_path / "s"), IDENTITY, pieces, keys=KEYS, values=values)

    store = StoreFile.open(str(tmp_path / "s"), IDENTITY, keys=KEYS, values=values)
    assert store is not None
    expected = pa.concat_tables(chunks)
    positions = np.unique(rng.integers(0, expected.num_rows, 400))
    for chosen in (positions, positions[:0], np.arange(expected.num_rows)):
        assert store.rows_at(chosen).equals(expected.take(chosen))
    between = pa.concat_tables(store.rows_between(50, 5_063))
    assert between.equals(expected.slice(50, 5_013))


@pytest.mark.parametrize("precision", [1, 18, 19, 38])
def test_the_largest_decimals_come_back(precision: int, tmp_path: Path) -> None:
    kind = pa.decimal128(precision, 1)
    most = Decimal((0, (9,) * precision, -1))
    rows = [most, most.copy_negate(), None, Decimal("0.0"), Decimal("-0.1")]
    values = pa.schema([("d", kind), ("n", pa.int64())])
    columns = [pa.array([0, *range(1, 6)]), pa.array([most, *rows], kind), pa.array([7] * 6)]
    table = pa.table(columns, schema=pa.schema([*KEYS, *values])).slice(1)

    write_store(str(tmp_path / "s"), IDENTITY, [table], keys=KEYS, values=values)

    store = StoreFile.open(str(tmp_path / "s"), IDENTITY, keys=KEYS, values=values)
    assert store is not None
    assert store.rows_at(np.arange(5))["d"].to_pylist() == rows


_FIXED_AND_OTHER = (
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.bool_()),
    *(pa.string(), pa.date32(), pa.time32("ms"), pa.timestamp("us"), pa.timestamp("ns")),
    *(pa.decimal128(12, 2), pa.decimal128(38, 0)),
)
_UNTIMED = {pa.date32(): pa.int32(), pa.time32("ms"): pa.int32()}


def test_rows_that_are_found_are_in_one_place(tmp_path: Path) -> None:
    values = pa.schema([(f"c{number}", pa.int64()) for number in range(20)])
    rows = pa.table([np.arange(100)] * 21, schema=pa.schema([*KEYS, *values]))

    write_store(str(tmp_path / "s"), IDENTITY, [rows], keys=KEYS, values=values)

    content = (tmp_path / "s").read_bytes()
    row = b"".join(number.to_bytes(8, "little") for number in [77] * 20)
    assert content.count(row) == 1


def test_a_store_of_keys_alone_is_smaller(tmp_path: Path) -> None:
    written(tmp_path / "keys", values=None)
    written(tmp_path / "all")

    store = StoreFile.open(str(tmp_path / "keys"), IDENTITY, keys=KEYS, values=None)

    assert store is not None
    assert store.rows_at(np.array([3])).to_pylist() == [{"_KEY_k": 6}]
    assert (tmp_path / "keys").stat().st_size < (tmp_path / "all").stat().st_size


@pytest.mark.parametrize(
    "change",
    [
        {"table_path": "/w/u"},
        {"bucket_path": "bucket-1"},
        {"file_name": "data-2.parquet"},
        {"file_size_bytes": 18},
        {"columns": "k w"},
        {"compression": "zstd"},
    ],
    ids=str,
)
def test_the_store_of_something_else_is_not_opened(change: dict[str, Any], tmp_path: Path) -> None:
    written(tmp_path / "s")

    assert opened(tmp_path / "s") is not None
    assert opened(tmp_path / "s", **change) is None


def test_no_changed_byte_goes_unnoticed(tmp_path: Path, rng: np.random.Generator) -> None:
    path = tmp_path / "s"
    written(path)
    whole = path.read_bytes()
    ends = [*range(200), *range(len(whole) - 600, len(whole))]

    for place in {*ends, *rng.integers(0, len(whole), 300).tolist()}:
        changed = bytearray(whole)
        changed[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(changed)
        assert opened(path) is None, place


def test_no_truncated_store_is_opened(tmp_path: Path, rng: np.random.Generator) -> None:
    path = tmp_path / "s"
    written(path)
    whole = path.read_bytes()

    for size in {1, 8, len(whole) - 1, *rng.integers(1, len(whole), 100).tolist()}:
        path.write_bytes(whole[:size])
        assert opened(path) is None, size
        path.write_bytes(whole[:size] + bytes(len(whole) - size))
        assert opened(path) is None, size


def test_pages_that_changed_places_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "s"
    written(path)
    whole = path.read_bytes()
    path.write_bytes(whole[8192:16384] + whole[:8192] + whole[16384:])

    assert opened(path) is None


def texts(numbers: np.ndarray[Any, Any]) -> pa.Array:
    return pa.array([f"{'x' * (int(number) % 7)}{number}" for number in numbers.tolist()])


KEY_COLUMNS: dict[str, list[Callable[[np.ndarray[Any, Any]], pa.Array]]] = {
    "int": [lambda numbers: pa.array(numbers.astype(np.int32))],
    "long": [lambda numbers: pa.array(numbers - 1000)],
    "text": [texts],
    "long text": [lambda numbers: pa.array(["y" * 70 + str(one) for one in numbers.tolist()])],
    "binary": [lambda numbers: pa.array([bytes([one % 256, 0]) * 2 for one in numbers.tolist()])],
    "boolean": [lambda numbers: pa.array(numbers % 2 == 0)],
    "double": [lambda numbers: pa.array((numbers - 500) / 7)],
    "decimal": [
        lambda numbers: pa.array([Decimal(one - 500) for one in numbers.tolist()]).cast(
            pa.decimal128(20, 2)
        )
    ],
    "date": [lambda numbers: pa.array([date.fromordinal(700_000 + n) for n in numbers.tolist()])],
    "timestamp": [
        lambda numbers: pa.array([datetime(2026, 1, 1 + n % 28, n % 24) for n in numbers.tolist()])
    ],
    "text, int": [
        lambda numbers: texts(numbers // 10),
        lambda numbers: pa.array((numbers % 10).astype(np.int32)),
    ],
    "int, long, text": [
        lambda numbers: pa.array((numbers // 100).astype(np.int32)),
        lambda numbers: pa.array(numbers // 10 % 10),
        lambda numbers: texts(numbers % 10),
    ],
}


@pytest.mark.parametrize("kind", KEY_COLUMNS)
@pytest.mark.parametrize("most", [40, 1_500])
def test_keys_are_found_as_in_a_dict(kind: str, most: int, rng: np.random.Generator) -> None:
    def keys(numbers: np.ndarray[Any, Any]) -> pa.Table:
        columns = {f"k{at}": make(numbers) for at, make in enumerate(KEY_COLUMNS[kind])}
        distinct = pa.table(columns).group_by(list(columns)).aggregate([])
        return distinct.sort_by([(name, "ascending") for name in columns])

    stored = keys(rng.integers(0, 1_000, most))
    asked = keys(rng.integers(-5, 1_005, 200).clip(0))
    step = int(rng.integers(1, stored.num_rows + 1))
    first, parts = 0, []
    for batch in stored.combine_chunks().to_batches(max_chunksize=step):
        parts.append(StoredBatch(first, batch))
        first += batch.num_rows

    found, positions = find_keys(parts, asked)

    places = {tuple(row.values()): at for at, row in enumerate(stored.to_pylist())}
    wanted = {at: places.get(tuple(row.values())) for at, row in enumerate(asked.to_pylist())}
    assert dict(zip(found.tolist(), positions.tolist(), strict=True)) == {
        at: place for at, place in wanted.items() if place is not None
    }


KEY_TYPES = {
    "int": ["INT"],
    "long": ["BIGINT"],
    "text": ["STRING"],
    "long text": ["STRING"],
    "binary": ["BYTES"],
    "boolean": ["BOOLEAN"],
    "decimal": ["DECIMAL(20, 2)"],
    "date": ["DATE"],
    "timestamp": ["TIMESTAMP(6)"],
    "text, int": ["STRING", "INT"],
    "int, long, text": ["INT", "BIGINT", "STRING"],
}


@pytest.mark.parametrize("kind", KEY_TYPES)
@pytest.mark.parametrize("fpp", [0.5, 0.05, 0.0001])
def test_a_store_with_filters_finds_what_is_there(
    kind: str, fpp: float, tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paimonlab.read.lookup_stores.key_filter._SEGMENT_ROWS", 100)

    def keys(numbers: np.ndarray[Any, Any]) -> pa.Table:
        columns = {f"k{at}": make(numbers) for at, make in enumerate(KEY_COLUMNS[kind])}
        distinct = pa.table(columns).group_by(list(columns)).aggregate([])
        return distinct.sort_by([(name, "ascending") for name in columns])

    stored = keys(rng.integers(0, 1_000, 900))
    asked = keys(rng.integers(-5, 1_005, 300).clip(0))
    key_filter = KeyFilter.of(tuple(map(parse_type, KEY_TYPES[kind])), fpp)
    path = str(tmp_path / "s")
    rows = combined(stored.to_batches(max_chunksize=70), 250, 1 << 30)
    write_store(path, IDENTITY, rows, keys=stored.schema, values=None, key_filter=key_filter)

    store = StoreFile.open(path, IDENTITY, keys=stored.schema, values=None, key_filter=key_filter)

    assert store is not None
    found, positions = find_in(store, asked)
    without = find_keys(store.keys, asked)
    assert found.tolist() == without[0].tolist()
    assert positions.tolist() == without[1].tolist()


@pytest.mark.parametrize("fpp", [0.3, 0.05, 0.01, 0.001])
def test_a_filter_lets_the_share_through_that_is_asked_for(
    fpp: float, tmp_path: Path, rng: np.random.Generator
) -> None:
    numbers = np.unique(rng.integers(0, 1 << 60, 200_000))
    stored = pa.table({"k": 2 * numbers})
    key_filter = KeyFilter.of((parse_type("BIGINT"),), fpp)
    assert key_filter is not None
    path = str(tmp_path / "s")
    write_store(path, IDENTITY, [stored], keys=stored.schema, values=None, key_filter=key_filter)
    store = StoreFile.open(path, IDENTITY, keys=stored.schema, values=None, key_filter=key_filter)
    assert store is not None
    assert store.filters is not None

    missing = 2 * numbers[:-1] + 1
    segments = np.searchsorted(store.filters.last_keys["k"].to_numpy(), missing)
    let_through = key_filter.may_have(store.filters, pa.table({"k": missing}), segments)

    assert 0.1 * fpp < let_through.mean() < 1.1 * fpp


def test_keys_that_filters_rule_out_are_not_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched = []

    def counting(stored: Any, asked: pa.Table) -> Any:
        searched.append(asked.num_rows)
        return find_keys(stored, asked)

    monkeypatch.setattr("paimonlab.read.lookup_stores.key_search.find_keys", counting)
    stored = pa.table({"k": np.arange(0, 100_000, 2)})
    key_filter = KeyFilter.of((parse_type("BIGINT"),), 0.01)
    path = str(tmp_path / "s")
    write_store(path, IDENTITY, [stored], keys=stored.schema, values=None, key_filter=key_filter)
    store = StoreFile.open(path, IDENTITY, keys=stored.schema, values=None, key_filter=key_filter)
    assert store is not None

    find_in(store, pa.table({"k": np.arange(1, 90_000, 90)}))

    assert sum(searched) < 550  # 500 that are there, 1 % of 500 that are not


def test_floating_keys_have_no_filters() -> None:
    assert KeyFilter.of((parse_type("INT"), parse_type("DOUBLE")), 0.05) is None


def test_what_is_compared_grows_with_the_keys_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = []

    def counting(columns: list[pa.Array]) -> Any:
        encoded.append(len(columns[0]))
        return sort_keys(columns)

    monkeypatch.setattr("paimonlab.read.lookup_stores.key_search.sort_keys", counting)
    stored = pa.record_batch({"k": [f"{number:06}" for number in range(60_000)]})

    find_keys([StoredBatch(0, stored)], pa.table({"k": ["000007", "031415"]}))

    assert sum(encoded) < 300


def test_batches_are_put_together_up_to_a_bound() -> None:
    def record_batches(step: int) -> list[pa.RecordBatch]:
        return [one for piece in batches(step) for one in piece.to_batches()]

    pieces = list(combined(record_batches(100), 1_000, 1 << 30))

    assert [piece.num_rows for piece in pieces] == [1_000, 1_000, 1_000]
    assert len(list(combined(record_batches(100), 1_000, 1))) == ROWS // 100


# Whole tables.


class Written:
    """A table with a large file above level 0, and what is in it as a dict."""

    def __init__(self, path: Path, folder: Path, **options: str) -> None:
        self.path = path
        self.folder = folder
        self.catalog = paimonlab.connect(
            {"warehouse": str(path), "lookup.cache-folder": str(folder)}
        )
        self.catalog.create_database("db")
        columns = {"k": "BIGINT NOT NULL", "v": "STRING", "n": "INT"}
        self.table = self.catalog.create_table(
            "db.t",
            columns,
            primary_keys=["k"],
            options={"bucket": "1", "changelog-producer": "lookup"} | options,
        )
        self.state: dict[int, dict[str, Any]] = {}
        self.random = np.random.default_rng(7)
        self.upsert(np.arange(LARGE))
        self.table.compact(full=True)

    def upsert(self, keys: np.ndarray[Any, Any]) -> None:
        """Write rows, and compare what the changelog says with the dict."""
        rows: list[dict[str, Any]] = [
            {"k": int(key), "v": f"v{self.random.integers(1000)}", "n": int(key) % 7}
            for key in keys
        ]
        before = self.table.snapshot
        self.table.write(pa.Table.from_pylist(rows))
        after = self.table.snapshot
        assert after is not None
        if before is not None:
            told = self.table.changes(before.id, after.id).to_arrow().to_pylist()
            expected = [{"rowkind": "-U", **self.state[key]} for key in self.known(rows)]
            expected += [
                {"rowkind": "+U" if row["k"] in self.state else "+I", **row} for row in rows
            ]
            assert sorted(told, key=str) == sorted(expected, key=str)
        for row in rows:
            self.state[row["k"]] = row

    def known(self, rows: list[dict[str, Any]]) -> list[int]:
        """Return the keys of rows that the table has."""
        return [row["k"] for row in rows if row["k"] in self.state]

    def some(self) -> None:
        """Upsert keys at random, some of them new."""
        self.upsert(self.random.choice(LARGE + 50, 100, replace=False))

    def check(self) -> None:
        """Compare the table with the dict."""
        rows = self.table.scan().to_arrow().sort_by("k").to_pylist()
        assert rows == [self.state[key] for key in sorted(self.state)]

    @property
    def latest(self) -> int:
        """The id of the latest snapshot."""
        assert self.table.snapshot is not None
        return self.table.snapshot.id

    @property
    def stores(self) -> list[Path]:
        """The stores there are."""
        return sorted(path for path in self.folder.rglob("*") if path.is_file())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "stores"


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"lookup.cache-spill-compression": "zstd"},
        {"lookup.cache.bloom.filter.enabled": "false"},
        {"lookup.cache.bloom.filter.fpp": "0.3"},
        {"deletion-vectors.enabled": "true"},
        {"merge-engine": "partial-update"},
    ],
    ids=str,
)
def test_keys_are_looked_up_in_a_store(
    options: dict[str, str], tmp_path: Path, folder: Path
) -> None:
    written = Written(tmp_path / "w", folder, **options)

    for _ in range(4):
        written.some()

    assert written.stores
    written.check()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"deletion-vectors.enabled": "true"},
        {"merge-engine": "partial-update"},
        {"merge-engine": "first-row"},
    ],
    ids=str,
)
def test_a_warm_lookup_reads_no_large_file(
    options: dict[str, str], tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = Written(tmp_path / "w", folder, **options)
    written.table.write(pa.table({"k": [3, LARGE + 1], "v": ["c", "d"], "n": [1, 2]}))
    assert len(written.stores) == 1
    read = []
    rows_of = DataFile.batches

    def watched(self: DataFile, *arguments: Any, **options: Any) -> Any:
        read.append(self.meta.row_count)
        return rows_of(self, *arguments, **options)

    monkeypatch.setattr(DataFile, "batches", watched)
    written.table.write(pa.table({"k": [5, 7_000], "v": ["a", "b"], "n": [1, 2]}))

    assert max(read, default=0) < LARGE
    monkeypatch.undo()
    found = written.table.lookup({"k": [5, 7_000]}).to_pylist()
    is_first = options.get("merge-engine") == "first-row"
    values = (
        {key: written.state[key]["v"] for key in (5, 7_000)} if is_first else {5: "a", 7_000: "b"}
    )
    assert {row["k"]: row["v"] for row in found} == values


def test_another_process_uses_the_same_store(tmp_path: Path, folder: Path) -> None:
    written = Written(tmp_path / "w", folder)
    written.some()
    (store,) = written.stores
    before = store.stat()

    program = (
        "import sys, paimonlab, pyarrow as pa\n"
        "options = {'warehouse': sys.argv[1], 'lookup.cache-folder': sys.argv[2]}\n"
        "table = paimonlab.connect(options).table('db.t')\n"
        "table.write(pa.table({'k': [3, 4], 'v': ['a', 'b'], 'n': [1, 1]}))\n"
    )
    said(["-c", program, str(written.path), str(folder)])

    assert store.stat().st_ino == before.st_ino
    written.state |= {key: {"k": key, "v": text, "n": 1} for key, text in ((3, "a"), (4, "b"))}
    written.check()


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def zeroed(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def of_before(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(MAGIC, b"PLLOOK03"))


def another(path: Path) -> None:
    write_store(str(path), IDENTITY, batches(), keys=KEYS, values=VALUES)


@pytest.mark.parametrize("damage", [flipped, truncated, emptied, zeroed, of_before, another])
def test_a_damaged_store_is_made_again(
    damage: Callable[[Path], None], tmp_path: Path, folder: Path
) -> None:
    written = Written(tmp_path / "w", folder)
    written.some()
    (store,) = written.stores
    whole = store.read_bytes()

    damage(store)
    written.some()

    assert store.read_bytes() == whole
    written.some()
    written.check()


def mapped_below(folder: Path) -> list[str]:
    """Return which files of a folder this process has mapped into memory."""
    maps = Path("/proc/self/maps")
    if not maps.exists():
        pytest.skip("this system does not say what is mapped")
    lines = maps.read_text().splitlines()
    return [line.split(maxsplit=5)[5] for line in lines if str(folder) in line]


def test_a_store_stays_mapped_as_long_as_it_is_there(tmp_path: Path, folder: Path) -> None:
    written = Written(tmp_path / "w", folder)
    written.some()
    assert mapped_below(folder) == list(map(str, written.stores))

    written.table.compact(full=True)
    written.some()

    assert mapped_below(folder) == list(map(str, written.stores)), "no byte of others is held"


def test_looking_for_deleted_stores_takes_as_long_with_many_as_with_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_stores, "_open", Recent(10_000))
    monkeypatch.setattr(kept_stores._Looks, "calls_left", 0)
    looks: list[object] = []

    def is_there(key: object) -> bool:
        looks.append(key)
        return True

    monkeypatch.setattr(kept_stores, "_is_there", is_there)
    stores = KeptStores(LookupStorePlan(folder=str(tmp_path)), ("of", "it"), StoredColumns(KEYS))
    for number in range(1000):
        key = kept_stores._State(str(number), 1, 1, 1)
        kept_stores._open.put(key, (None, None), 1)  # type: ignore[arg-type]

    for _ in range(250):
        stores.drop_others([])

    assert 2000 <= len(looks) <= 3000


def test_what_is_mapped_has_a_bound(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_stores, "_open", Recent(1000))
    written = Written(tmp_path / "w", folder)

    written.some()

    assert written.stores
    assert mapped_below(folder) == []


def test_a_store_is_opened_anew_for_other_columns(tmp_path: Path) -> None:
    folder = KeptStores(LookupStorePlan(folder=str(tmp_path)), ("of", "it"), StoredColumns(KEYS))
    store = folder.find(IDENTITY, lambda: (piece.select(KEYS.names) for piece in batches()))
    assert store is not None
    assert folder.opened(IDENTITY) is store

    other = pa.schema([pa.field("_KEY_j", pa.int64(), nullable=False)])
    again = replace(folder, columns=StoredColumns(other)).opened(IDENTITY)

    assert again is not None
    assert again.rows_at(np.array([1])).column_names == ["_KEY_j"]


def test_a_store_goes_with_its_file(tmp_path: Path, folder: Path) -> None:
    written = Written(tmp_path / "w", folder)
    written.some()
    before = written.stores

    written.table.compact(full=True)
    written.some()

    assert len(written.stores) == 1
    assert written.stores != before


def test_a_changed_schema_makes_another_store(tmp_path: Path, folder: Path) -> None:
    written = Written(tmp_path / "w", folder)
    written.some()
    (before,) = written.stores

    written.catalog.alter_table("db.t", paimonlab.RenameColumn("n", "m"))
    again = written.catalog.table("db.t")
    assert isinstance(again, paimonlab.Table)
    written.table = again
    written.state = {
        key: {"k": key, "v": row["v"], "m": row["n"]} for key, row in written.state.items()
    }
    row = {"k": 11, "v": "new", "m": 12}
    first = written.latest
    written.table.write(pa.Table.from_pylist([row]))

    told = written.table.changes(first, written.latest).to_arrow().to_pylist()
    assert told == [{"rowkind": "-U", **written.state[11]}, {"rowkind": "+U", **row}]
    assert set(written.stores) > {before}


def test_the_limit_of_the_disk_is_obeyed(tmp_path: Path, folder: Path) -> None:
    written = Written(tmp_path / "w", folder, **{"lookup.cache-max-disk-size": "100 kb"})

    written.some()
    written.some()

    assert written.stores == []
    written.check()


def test_a_store_that_is_not_used_for_the_time_of_the_option_is_deleted(
    tmp_path: Path, folder: Path
) -> None:
    written = Written(tmp_path / "w", folder, **{"lookup.cache-file-retention": "5 min"})
    written.some()
    (store,) = written.stores
    long_ago = time.time() - 6 * 60
    unused = store.with_name("unused")
    unused.write_bytes(b"")
    os.utime(unused, (long_ago, long_ago))

    written.table.compact(full=True)  # a file without a store: one is added
    written.some()

    assert unused not in written.stores
    written.check()


def test_pieces_of_a_store_fit_into_the_memory_of_the_option(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = Written(tmp_path / "w", folder, **{"lookup.cache-max-memory-size": "100 kb"})
    sizes = []

    def put_together(
        rows: Iterable[pa.RecordBatch], most_rows: int, size_bytes: int
    ) -> Iterator[pa.Table]:
        sizes.append(size_bytes)
        return combined(rows, most_rows, size_bytes)

    monkeypatch.setattr(stores, "combined", put_together)
    written.some()

    # They are in memory twice: as they were read, and put together.
    assert sizes == [50 << 10]
    written.check()


def test_without_a_folder_work_goes_on_with_one_warning(
    tmp_path: Path, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder.write_text("not a folder")
    written = Written(tmp_path / "w", folder)

    with caplog.at_level(logging.WARNING):
        written.some()
        written.some()

    assert len(caplog.records) == 1
    written.check()


def test_a_full_disk_does_not_matter(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    place = tmp_path / "small"
    place.mkdir()
    disk = mounted("tmpfs", place, "512K")
    try:
        written = Written(tmp_path / "w", disk.mount_point / "stores")
        with caplog.at_level(logging.WARNING):
            written.some()
            written.some()

        assert written.stores == []
        assert "No space left" in caplog.text
        assert len(caplog.records) == 1
        written.check()
    finally:
        disk.unmount()


def test_stores_on_a_disk_that_became_read_only_are_used(tmp_path: Path) -> None:
    place = tmp_path / "small"
    place.mkdir()
    disk = mounted("tmpfs", place, "64M")
    try:
        written = Written(tmp_path / "w", disk.mount_point / "stores")
        written.some()
        before = written.stores
        disk.allow_writing(writing=False)

        written.some()
        written.table.compact(full=True)  # its file has no store yet
        written.some()

        assert written.stores == before
        written.check()
    finally:
        disk.unmount()


def test_filters_are_made_as_options_say(tmp_path: Path) -> None:
    def size_bytes(**options: str) -> int:
        folder = tmp_path / f"stores-{len(list(tmp_path.iterdir()))}"
        written = Written(folder.with_suffix(".w"), folder, **options)
        written.some()
        (store,) = written.stores
        return store.stat().st_size

    without = size_bytes(**{"lookup.cache.bloom.filter.enabled": "false"})
    default = size_bytes()
    fine = size_bytes(**{"lookup.cache.bloom.filter.fpp": "0.00001"})

    assert without < default < fine


@pytest.mark.parametrize("share", ["0", "1", "-0.5", "2"])
def test_a_share_that_is_none_is_refused(share: str, tmp_path: Path, folder: Path) -> None:
    with pytest.raises(SchemaError, match=r"lookup\.cache\.bloom\.filter\.fpp"):
        Written(tmp_path / "w", folder, **{"lookup.cache.bloom.filter.fpp": share})


def test_lzo_is_refused_for_writing(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(UnsupportedError, match=r"lookup\.cache-spill-compression = 'lzo'"):
        Written(tmp_path / "w", folder, **{"lookup.cache-spill-compression": "lzo"})


def test_the_folder_is_below_that_of_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    assert Path(default_folder()).parent == tmp_path
