"""Layers of keys and the store of the places of all keys, against dicts and fresh reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import DataError
from paimonlab.read import changed_rows, streaming
from paimonlab.spec.buckets.key import BucketKey
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.plans.read import lookup_store_plan
from paimonlab.table.plans.write import write_plan
from paimonlab.table.writing import known_places as known_module
from paimonlab.table.writing.known_places import KnownPlacesOptions, known_places
from paimonlab.write.key_places.kept import KeptPlaces
from paimonlab.write.key_places.layers import NOWHERE, KeyColumns, distinct
from paimonlab.write.key_places.places import (
    KeyPlaces,
    KnownKeys,
    KnownPlaces,
    collected,
    collected_in_memory,
)

COLUMNS = {"p": "STRING", "k": "BIGINT", "v": "BIGINT"}


@pytest.fixture
def catalog(tmp_path: Path) -> pl.Catalog:
    return connected(tmp_path, "stores")


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Keep places of small tables as well, and note of which snapshots all keys are read."""
    monkeypatch.setattr(known_module, "_LEAST_ROWS", 0)
    found: list[int] = []
    read = known_module._keys_of_all

    def watched(definition: Any, store: Any, snapshot: Any) -> Iterator[KnownKeys]:
        found.append(snapshot.id)
        return read(definition, store, snapshot)

    monkeypatch.setattr(known_module, "_keys_of_all", watched)
    return found


def connected(folder: Path, stores: str) -> pl.Catalog:
    """Open the warehouse as a machine does whose stores are in a folder of their own."""
    options = {"warehouse": str(folder / "w"), "lookup.cache-folder": str(folder / stores)}
    catalog = pl.connect(options)
    catalog.create_database("db", exist_ok=True)
    return catalog


def opened(folder: Path, stores: str) -> pl.Table:
    table = connected(folder, stores).table("db.t")
    assert isinstance(table, pl.Table)
    return table


def make(catalog: pl.Catalog, **options: str) -> pl.Table:
    return catalog.create_table(
        "db.t",
        COLUMNS,
        primary_keys=["k"],
        partition_keys=["p"],
        options={"dynamic-bucket.target-row-num": "10", **options},
    )


def contents(table: pl.Table) -> dict[int, tuple[str | None, int]]:
    found = table.scan().to_arrow().to_pylist()
    assert len({row["k"] for row in found}) == len(found), "a key has two rows"
    return {row["k"]: (row["p"], row["v"]) for row in found}


def places_of(known: KnownPlaces, keys: pa.Table) -> dict[int, BucketKey]:
    asked = distinct(known.keys.columns.select(keys)).keys
    numbers = known.keys.find(asked).tolist()
    keyed = zip(asked.column(0).to_pylist(), numbers, strict=True)
    return {key: known.places.buckets[at] for key, at in keyed if at != NOWHERE}


def check_kept(table: pl.Table, most: int) -> None:
    """Compare what is known by commits with what reading all keys says."""
    definition, store = definition_of(table), store_of(table)
    plan, snapshot = write_plan(definition, store.layout), table.snapshot
    assert snapshot is not None
    known = known_places(definition, store, plan, snapshot)
    fresh = collected_in_memory(
        known_module._keys_of_all(definition, store, snapshot), plan.schema, table="db.t"
    )
    keys = pa.table({"k": range(most)})
    assert places_of(known, keys) == places_of(fresh, keys)
    counts = dict(zip(known.places.buckets, known.places.counts, strict=True))
    theirs = dict(zip(fresh.places.buckets, fresh.places.counts, strict=True))
    assert {key: count for key, count in counts.items() if count} == theirs


def random_rows(rng: np.random.Generator, turn: int, count: int = 30) -> pa.Table:
    partitions = [None if one == "" else one for one in rng.choice(["a", "b", ""], count)]
    values = range(turn * 1000, turn * 1000 + count)
    return pa.table(
        {
            "p": pa.array(partitions, pa.string()),
            "k": rng.integers(0, 10 * (turn + 1), count),
            "v": pa.array(values, pa.int64()),
            "kind": rng.choice(["+I", "+U", "-U", "-D"], count, p=[0.6, 0.2, 0.05, 0.15]).tolist(),
        }
    )


@pytest.mark.parametrize("damage", ["none", "reversed", "cut", "state"])
def test_places_that_are_kept_follow_all_commits(
    tmp_path: Path, reads: list[int], rng: np.random.Generator, damage: str
) -> None:
    """Writers on two machines take turns; each follows the commits of the other."""
    make(connected(tmp_path, "here"))
    tables = [opened(tmp_path, stores) for stores in ("here", "there")]
    model: dict[int, tuple[str | None, int]] = {}

    for turn in range(6):
        table = tables[turn % 2 if turn != 4 else 1]
        data = random_rows(rng, turn)
        table.write(data, row_kinds="kind")
        for row in data.to_pylist():
            model.pop(row["k"], None)
            if row["kind"] in ("+I", "+U"):
                model[row["k"]] = (row["p"], row["v"])
        if turn % 3 == 2:
            table.compact(full=turn % 2 == 0)
        assert contents(table) == model
        check_kept(table, 100)
        spoil(tmp_path / "here", damage)

    assert len(model) > 10
    if damage == "none":
        assert len(set(reads)) > 3  # by the checks
        reads.clear()
        tables[0].write(pa.table({"p": ["a"], "k": [1], "v": [1]}))
        assert reads == []


def spoil(folder: Path, damage: str) -> None:
    for file in [path for path in folder.rglob("*") if path.is_file()]:
        content, is_state = file.read_bytes(), file.stat().st_size < 8192
        if damage == "reversed" and not is_state:
            file.write_bytes(content[::-1])
        elif damage == "cut":
            file.write_bytes(content[: len(content) // 2])
        elif damage == "state" and is_state:
            file.write_bytes(content[:-1] + b"]")


def test_a_commit_reads_no_other_keys_than_those_of_the_last_one(
    catalog: pl.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = make(catalog, **{"dynamic-bucket.target-row-num": "100000", "write-only": "true"})
    keys = np.arange(30_000)
    parts = pa.array(np.where(keys % 2, "a", "b"))
    table.write(pa.table({"p": parts, "k": keys, "v": keys}))
    table.write(pa.table({"p": ["a"], "k": [0], "v": [1]}))  # makes the store
    opened: list[str] = []
    read = changed_rows.read_change_split

    def watched(split: Any, *arguments: Any) -> Iterator[pa.RecordBatch]:
        opened.extend(file.file_name for file in split.after.files)
        return read(split, *arguments)

    monkeypatch.setattr(known_module, "read_change_split", watched)
    monkeypatch.setattr(known_module, "_keys_of_all", None)

    for turn in range(3):
        opened.clear()
        table.write(pa.table({"p": ["b", "b"], "k": [turn, 40_000 + turn], "v": [7, 7]}))
        assert 0 < len(opened) <= 2

    assert contents(table)[0] == ("b", 7)
    assert table.scan().count() == 30_003


@pytest.mark.parametrize("how", ["overwrite", "rollback", "options"])
def test_what_commits_do_not_tell_is_read_again(
    catalog: pl.Catalog, reads: list[int], how: str
) -> None:
    options = {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum"}
    table = make(catalog, **(options if how == "options" else {}))
    table.write(pa.table({"p": ["a", "a"], "k": [1, 2], "v": [1, 2]}))
    table.write(pa.table({"p": ["b"], "k": [3], "v": [3]}))
    table.write(pa.table({"p": ["b"], "k": [4], "v": [3]}))
    assert reads == [1]

    if how == "overwrite":
        table.drop_partitions([{"p": "b"}])
        table.write(pa.table({"p": ["c", "c"], "k": [3, 1], "v": [5, 6]}))
        assert contents(table) == {1: ("c", 6), 2: ("a", 2), 3: ("c", 5)}
    elif how == "rollback":
        table.write(pa.table({"p": ["e"], "k": [9], "v": [3]}))
        table.maintenance.rollback_to(snapshot=2)
        table.write(pa.table({"p": ["c"], "k": [4], "v": [4]}))
        table.write(pa.table({"p": ["d"], "k": [4], "v": [5]}))
        assert contents(table) == {1: ("a", 1), 2: ("a", 2), 3: ("b", 3), 4: ("d", 5)}
    else:
        table.write(pa.table({"p": ["b"], "k": [1], "v": [1], "kind": ["-D"]}), row_kinds="kind")
        table.write(pa.table({"p": ["c"], "k": [1], "v": [5]}))
        assert contents(table)[1] == ("a", 5)
    assert len(reads) == 2
    check_kept(table, 10)


def test_a_key_that_two_writers_put_in_two_partitions_is_an_error(
    catalog: pl.Catalog, reads: list[int]
) -> None:
    table = make(catalog)
    table.write(pa.table({"p": ["a"], "k": [0], "v": [0]}))
    table.write(pa.table({"p": ["a"], "k": [5], "v": [0]}))
    first, second = table.new_writer("me"), table.new_writer("me")
    for number, (writer, partition) in enumerate([(first, "a"), (second, "b")]):
        writer.write(pa.table({"p": [partition], "k": [1], "v": [1]}))
        table.commit(writer.prepare_commit(number), identifier=number, user="me")

    for _ in range(2):
        with pytest.raises(DataError, match="several partitions"):
            table.write(pa.table({"p": ["a"], "k": [2], "v": [1]}))
    assert reads == [1]


def test_places_are_found_where_nothing_can_be_kept(
    tmp_path: Path, reads: list[int], rng: np.random.Generator
) -> None:
    (tmp_path / "stores").write_text("not a folder")
    table = make(connected(tmp_path, "stores"))
    model: dict[int, str] = {}
    for turn in range(4):
        keys = rng.integers(0, 30, 20).tolist()
        parts = rng.choice(["a", "b"], 20).tolist()
        table.write(pa.table({"p": parts, "k": keys, "v": [turn] * 20}))
        model |= dict(zip(keys, parts, strict=True))
    assert {key: part for key, (part, _) in contents(table).items()} == model
    assert reads == [1, 2, 3]


def test_a_writer_with_little_memory_writes_what_it_learns_to_files(
    catalog: pl.Catalog, reads: list[int], rng: np.random.Generator
) -> None:
    """Layers in memory stay below the option; keys are found in those on disk."""
    options = {"lookup.cache-max-memory-size": "4 kb", "write-buffer-size": "1 kb"}
    table = make(catalog, **options, **{"dynamic-bucket.target-row-num": "500"})
    model: dict[int, str] = {}
    for _ in range(3):
        keys, parts = rng.integers(0, 3_000, 2_000), rng.choice(["a", "b"], 2_000)
        data = pa.table({"p": parts.tolist(), "k": keys, "v": keys})
        table.write(pa.Table.from_batches(data.to_batches(max_chunksize=200)))
        model |= dict(zip(keys.tolist(), parts.tolist(), strict=True))
    assert {key: part for key, (part, _) in contents(table).items()} == model
    definition, store = definition_of(table), store_of(table)
    plan = write_plan(definition, store.layout)
    assert table.snapshot is not None
    known = known_places(definition, store, plan, table.snapshot)
    check_kept(table, 3_000)
    assert len(known.keys.layers) < 8
    kept = KeptPlaces.of(plan, lookup_store_plan(definition, store))
    runs: list[int] = []

    def keep(rows: Any) -> Any:
        stored = kept.keep(rows)
        assert stored is not None
        runs.append(stored.row_count)
        return stored

    some = known_module._keys_of_all(definition, store, table.snapshot)
    collected(some, kept.columns, table="db.t", most_bytes=20_000, keep=keep)
    assert len(runs) > 3
    assert max(runs[:-1]) < len(model) / 2
    assert runs[-1] == len(model)


TYPES: dict[str, Callable[[np.random.Generator, int], list[Any]]] = {
    "BIGINT": lambda rng, n: rng.integers(-50, 50, n).tolist(),
    "STRING": lambda rng, n: [f"{'x' * int(m)}{m}" for m in rng.integers(0, 90, n)],
    "DOUBLE": lambda rng, n: rng.choice([0.5, -1.5, 3.0, 0.0, float("nan"), 1e300], n).tolist(),
    "DECIMAL(20, 2)": lambda rng, n: [Decimal(int(m)) / 4 for m in rng.integers(-90, 90, n)],
    "BOOLEAN": lambda rng, n: rng.choice([True, False], n).tolist(),
}


KEYS = ["BIGINT", "STRING", "DOUBLE", "DECIMAL(20, 2)", "STRING BIGINT", "BOOLEAN DOUBLE"]


@pytest.mark.parametrize("types", KEYS)
def test_layers_are_a_dict(catalog: pl.Catalog, types: str, rng: np.random.Generator) -> None:
    """Whatever the type of the key, in memory or on disk, however often layers are merged."""
    names = ["DECIMAL(20, 2)"] if types.startswith("DECIMAL") else types.split()
    table = catalog.create_table(
        "db.t",
        {"p": "STRING", **{f"k{i}": name for i, name in enumerate(names)}},
        primary_keys=[f"k{i}" for i in range(len(names))],
        partition_keys=["p"],
    )
    definition, store = definition_of(table), store_of(table)
    kept = KeptPlaces.of(write_plan(definition, store.layout), lookup_store_plan(definition, store))
    columns = KeyColumns.of(table.schema)
    keys = KeyPlaces(columns, 100, kept.keep)
    model: dict[str, int] = {}
    for _ in range(40):
        count = int(rng.integers(1, 25))
        values = [TYPES[name](rng, count) for name in names]
        arrays = {
            field.name: pa.array(value, to_arrow(field.type))
            for field, value in zip(columns.fields, values, strict=True)
        }
        found = distinct(columns.select(pa.table(arrays)))
        texts = [repr(row) for row in zip(*values, strict=True)]
        named = [texts[row] for row in found.first_rows]
        assert keys.find(found.keys).tolist() == [model.get(one, NOWHERE) for one in named]
        places = rng.integers(NOWHERE, 5, len(named))
        keys.put(found.keys, places)
        model |= dict(zip(named, places.tolist(), strict=True))
    assert any(type(layer).__name__ == "StoredLayer" for layer in keys.layers)


def test_layers_whose_keys_are_all_gone_are_dropped(catalog: pl.Catalog) -> None:
    table = make(catalog)
    definition, store = definition_of(table), store_of(table)
    kept = KeptPlaces.of(write_plan(definition, store.layout), lookup_store_plan(definition, store))
    columns = KeyColumns.of(table.schema)
    keys = KeyPlaces(columns, 100, kept.keep)
    some = distinct(columns.select(pa.table({"k": range(50)}))).keys

    for place in (NOWHERE, 3, NOWHERE, NOWHERE):
        keys.put(some, np.full(50, place))
        assert keys.find(some).tolist() == [place] * 50
        keys.settle()
        assert all(layer.row_count for layer in keys.layers)

    assert not keys.layers


def test_minus_zero_is_the_key_zero(catalog: pl.Catalog) -> None:
    columns = KeyColumns.of(
        catalog.create_table(
            "db.d", {"p": "INT", "k": "DOUBLE"}, primary_keys=["k"], partition_keys=["p"]
        ).schema
    )
    keys = distinct(columns.select(pa.table({"k": [0.0, -0.0, 1.0]}))).keys
    assert keys.num_rows == 2


def test_the_option_says_how_many_buckets_are_read_at_once(
    catalog: pl.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Options({}).slice(KnownPlacesOptions).threads == 10
    asked: list[int] = []
    run = streaming.in_threads

    def watched(sources: Any, *, threads: int, **others: Any) -> Any:
        asked.append(threads)
        return run(sources, threads=threads, **others)

    monkeypatch.setattr(known_module, "in_threads", watched)
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    table = make(catalog, **{"cross-partition-upsert.bootstrap-parallelism": "3"})
    for _ in range(2):
        table.write(pa.table({"p": ["a", "b"], "k": [1, 2], "v": [1, 2]}))
    assert asked == [3]


def test_a_writer_into_a_small_table_is_bounded_as_well(
    catalog: pl.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"lookup.cache-max-memory-size": "4 kb", "write-buffer-size": "1 kb"}
    table = make(catalog, **options, **{"dynamic-bucket.target-row-num": "5000"})
    table.write(pa.table({"p": ["a"], "k": [0], "v": [0]}))
    kept: list[int] = []
    keep = KeptPlaces.keep

    def watched(self: KeptPlaces, rows: Any) -> Any:
        layer = keep(self, rows)
        assert layer is not None
        kept.append(layer.row_count)
        return layer

    monkeypatch.setattr(KeptPlaces, "keep", watched)
    data = pa.table({"p": ["b"] * 2_000, "k": range(2_000), "v": range(2_000)})
    table.write(pa.Table.from_batches(data.to_batches(max_chunksize=100)))

    assert max(kept) > 1_000
    assert contents(table) == {key: ("b", key) for key in range(2_000)}
