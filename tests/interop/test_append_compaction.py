"""Append tables that we compact Java reads, and the other way round; both pick the same files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import paimonlab
from paimonlab.compact.append_packing import (
    AppendPackingOptions,
    in_order,
    pack,
    pick_bucket,
    pick_neighbours,
)
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.options.table_options import Options
from tests.interop.java_build import COMPILED_WITH
from tests.interop.oracle import JavaPaimon
from tests.interop.pair import SIDES, Pair, Side
from tests.java_values import unordered
from tests.repetitions import times
from tests.small_tables import data_file

pytestmark = pytest.mark.interop

SIZES = {
    "target-file-size": "1000 b",
    "source.split.open-file-cost": "40 b",
    "compaction.min.file-num": "4",
}
OPTIONS = Options(SIZES).slice(AppendPackingOptions)
STATES = times(900)


def random_state(rng: np.random.Generator) -> list[DataFileMeta]:
    """Return files of different sizes: of equal ones any order is right."""
    count = int(rng.integers(0, 30))
    scale = int(rng.choice([60, 300, 1100, 2500]))
    sizes = rng.choice(np.arange(1, scale), count, replace=False)
    return [
        data_file(f"f{number}", file_size_bytes=int(size), min_sequence_number=10 * number)
        for number, size in enumerate(sizes)
    ]


def as_json(files: list[DataFileMeta]) -> list[list[Any]]:
    return [[file.file_name, file.file_size_bytes, file.min_sequence_number] for file in files]


def names(tasks: Any) -> list[list[str]]:
    return [[file.file_name for file in task] for task in tasks]


@pytest.mark.releases(COMPILED_WITH)  # the classes asked are not public, and others in 1.4
def test_java_picks_the_same_files(java: JavaPaimon, rng: np.random.Generator) -> None:
    java("create_table", table="db.t", fields=[["k", "INT"]], pk=[], partition=[], options=SIZES)
    states = [random_state(rng) for _ in range(STATES)]
    given = [as_json(files) for files in states]

    partitions = java("pick_append_partitions", table="db.t", states=given)
    neighbours = java("pick_append_buckets", table="db.t", states=given)
    buckets = java("pick_append_buckets", table="db.t", states=given, full=True)

    for number, files in enumerate(states):
        assert names(pack(files, OPTIONS)) == partitions[number], given[number]
        chosen = pick_bucket(in_order(files), OPTIONS)
        wanted = [task for task in buckets[number] if task]
        assert names([chosen] if chosen else []) == wanted, given[number]
        found = []
        picked, later = pick_neighbours(in_order(files), OPTIONS)
        while picked:
            found.append(picked)
            picked, later = pick_neighbours(later, OPTIONS)
        assert names(found) == neighbours[number], given[number]
    assert sum(map(bool, partitions)) > STATES // 4


VECTORS = {"deletion-vectors.enabled": "true"}
BUCKETS = {"bucket": "2", "bucket-key": "k"}
KINDS: list[tuple[list[str], Mapping[str, str]]] = [
    ([], VECTORS | {"deletion-vector.index-file.target-size": "40 b"}),
    (["p"], {"file.format": "orc"}),
    (["p"], VECTORS | BUCKETS | {"write-only": "true"}),
    ([], BUCKETS | {"write-only": "true", "file.format": "avro"}),
    (["p"], {"row-tracking.enabled": "true"}),
]


def rows(first: int, values: str = "n") -> pa.Table:
    keys = range(first, first + 10)
    return pa.table(
        {
            "p": ["xy"[key % 2] for key in keys],
            "k": pa.array(keys, pa.int32()),
            values: [key * 10 for key in keys],
        }
    )


def compact(pair: Pair, side: Side) -> None:
    if side == "us":
        assert pair.open("db.t").compact(full=True).snapshot is not None
    else:
        pair.java("compact", table="db.t")


@pytest.mark.parametrize("creator", SIDES)
@pytest.mark.parametrize(("partition", "options"), KINDS, ids=str)
def test_compacted_in_turn(
    pair: Pair, creator: Side, partition: list[str], options: Mapping[str, str]
) -> None:
    columns = {"p": "STRING", "k": "INT", "n": "INT"}
    pair.create(creator, "db.t", columns, partition=partition, options=options)
    for number in range(6):
        pair.write(SIDES[number % 2], "db.t", rows(10 * number).cast(schema(pa.int32(), "n")))
    pair.catalog.alter_table(
        "db.t", paimonlab.UpdateColumnType("n", "BIGINT"), paimonlab.RenameColumn("n", "m")
    )
    pair.open("db.t").delete("k IN (3, 13, 14, 35)")
    before = everything(pair)

    compact(pair, "us")
    pair.assert_same("db.t")
    assert everything(pair) == before
    for number in range(6, 12):
        pair.write(SIDES[number % 2], "db.t", rows(10 * number, "m"))
    if "deletion-vectors.enabled" in options:
        pair.java("append_delete", table="db.t", filter=["=", "k", 61])
    pair.open("db.t").delete("k = 33")
    before = everything(pair)
    compact(pair, "java")
    pair.assert_same("db.t")
    assert everything(pair) == before
    for number in range(12, 18):
        pair.write(SIDES[number % 2], "db.t", rows(10 * number, "m"))
    pair.open("db.t").delete("k = 120")
    before = everything(pair)
    compact(pair, "us")
    pair.assert_same("db.t")

    assert everything(pair) == before
    assert pair.open("db.t").fsck(deep=True).is_clean


def schema(number: pa.DataType, name: str) -> pa.Schema:
    return pa.schema([("p", pa.string()), ("k", pa.int32()), (name, number)])


def everything(pair: Pair) -> list[str]:
    """Read all rows, with their ids and when they were written if they have them."""
    table = pair.open("db.t")
    tracked = "row-tracking.enabled" in table.options
    ids = ["_ROW_ID", "_SEQUENCE_NUMBER"] if tracked else []
    ours = table.scan([*table.schema.field_names, *ids]).to_arrow().to_pylist()
    if tracked:
        javas = pair.java.rows("db.t$row_tracking")
        assert unordered([list(row.values()) for row in ours]) == unordered(javas)
    return unordered([list(row.values()) for row in ours])


@pytest.mark.parametrize("vectors", [{}, VECTORS], ids=str)
def test_writers_of_buckets_compact_alike(
    pair: Pair, rng: np.random.Generator, vectors: dict[str, str]
) -> None:
    options = BUCKETS | vectors | {"compaction.min.file-num": "3"}
    columns = {"p": "STRING", "k": "INT", "n": "INT"}
    layouts: dict[Side, Any] = {}
    for side in SIDES:
        pair.create(side, f"db.{side}", columns, partition=["p"], options=options)
    for number in range(10):
        taken = np.sort(rng.choice(10, int(rng.integers(1, 4)), replace=False))
        small = rows(10 * number).cast(schema(pa.int32(), "n")).take(pa.array(taken))
        for side in SIDES:
            pair.write(side, f"db.{side}", small)
            table = pair.open(f"db.{side}")
            files = [
                (
                    split.partition,
                    split.bucket,
                    sorted((one.min_sequence_number, one.row_count) for one in split.files),
                )
                for split in table.scan().plan().splits
            ]
            kinds = [snapshot.commit_kind for snapshot in table.snapshots.list()]
            layouts[side] = sorted(files), kinds
        assert layouts["us"] == layouts["java"], number
    assert "COMPACT" in {kind.value for kind in layouts["us"][1]}
    for side in SIDES:
        pair.assert_same(f"db.{side}")
