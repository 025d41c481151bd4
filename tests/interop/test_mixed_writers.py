"""Both write one table in turn; Java compacts it; history stays readable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.interop.pair import KIND, SIDES, Pair, Side, random_rows
from tests.java_values import unordered

pytestmark = [pytest.mark.interop, pytest.mark.every_release]

COLUMNS = {"k": "INT NOT NULL", "v": "STRING", "d": "DECIMAL(20, 2)"}
APPEND: list[tuple[list[str], Mapping[str, str]]] = [
    ([], {}),
    ([], {"bucket": "2", "bucket-key": "k"}),
]
KEYED: list[tuple[list[str], Mapping[str, str]]] = [
    (["k"], {"bucket": "2"}),
    (["k"], {"bucket": "2", "write-only": "true"}),
]


@pytest.mark.parametrize("creator", SIDES)
@pytest.mark.parametrize(("pk", "options"), APPEND + KEYED, ids=str)
def test_a_table_written_in_turn(
    pair: Pair, creator: Side, pk: list[str], options: Mapping[str, str], rng: np.random.Generator
) -> None:
    pair.create(creator, "db.t", COLUMNS, pk=pk, options=options)
    states: dict[int, Any] = {}

    for side in (*SIDES, *SIDES, "java"):
        rows = random_rows(COLUMNS, 20, rng)
        keys = pa.array(rng.integers(-5, 5, 20), pa.int32())
        pair.write(side, "db.t", rows.set_column(0, rows.field(0), keys))
        pair.assert_same("db.t")
        states[latest(pair)] = unordered(pair.our_rows("db.t"))
    pair.java("compact", table="db.t")
    pair.assert_same("db.t")
    assert unordered(pair.our_rows("db.t")) == states[max(states)]

    for snapshot, rows in states.items():
        assert unordered(pair.our_rows("db.t", snapshot=snapshot)) == rows
        how = {"scan.snapshot-id": str(snapshot)}
        assert unordered(pair.java_rows("db.t", options=how)) == rows


def latest(pair: Pair) -> int:
    snapshot = pair.open("db.t").snapshot
    assert snapshot is not None
    return snapshot.id


@pytest.mark.parametrize("creator", SIDES)
def test_we_write_on_after_java_compacted(
    pair: Pair, creator: Side, rng: np.random.Generator
) -> None:
    pair.create(creator, "db.t", COLUMNS, pk=["k"], options={"bucket": "2", "write-only": "true"})
    for round_ in range(3):
        for side in SIDES:
            rows = random_rows(COLUMNS, 15, rng)
            keys = pa.array(rng.integers(0, 12, 15), pa.int32())
            kinds = pa.array(rng.choice(["+I", "-D"], 15))
            rows = rows.set_column(0, rows.field(0), keys).append_column(KIND, kinds)
            pair.write(side, "db.t", rows)
        pair.assert_same("db.t")
        pair.java("compact", table="db.t")
        pair.assert_same("db.t")
        levels = {file["file"]["level"] for file in pair.java("files", table="db.t")}
        assert levels <= {5}, round_


def test_sequence_numbers_go_on_whoever_writes(pair: Pair) -> None:
    pair.create("us", "db.t", {"k": "INT NOT NULL", "v": "INT"}, pk=["k"],
                options={"bucket": "1", "write-only": "true"})  # fmt: skip
    for turn, side in enumerate((*SIDES, *SIDES)):
        pair.write(side, "db.t", pa.table({"k": pa.array([1, 2], pa.int32()),
                                           "v": pa.array([turn, turn], pa.int32())}))  # fmt: skip

    files = pair.java("files", table="db.t")

    ranges = sorted((file["file"]["minSeq"], file["file"]["maxSeq"]) for file in files)
    assert ranges == [(0, 1), (2, 3), (4, 5), (6, 7)]


@pytest.mark.parametrize("side", SIDES)
def test_tags_of_either_are_read_by_both(pair: Pair, side: Side) -> None:
    pair.create(side, "db.t", {"a": "INT"})
    for number in range(3):
        pair.write(side, "db.t", pa.table({"a": pa.array([number], pa.int32())}))

    if side == "us":
        table = pair.open("db.t")
        table.tags.create("second", snapshot=2)
    else:
        pair.java("tag", table="db.t", name="second", snapshot=2)

    assert sorted(pair.our_rows("db.t", tag="second")) == [[0], [1]]
    assert sorted(pair.java_rows("db.t", options={"scan.tag-name": "second"})) == [[0], [1]]
    assert pair.java.rows("db.t$tags") == [
        list(row.values()) for row in named(pair, "db.t$tags", {"commit_time"})
    ]


def named(pair: Pair, name: str, times: set[str]) -> list[dict[str, Any]]:
    rows = pair.catalog.relation(name).scan().to_arrow().to_pylist()
    for row in rows:
        for column in times:
            row[column] = row[column].isoformat(timespec="milliseconds")
    return list(rows)


@pytest.mark.parametrize("pk", [[], ["k"]], ids=["append", "keyed"])
def test_java_reads_pages_with_checksums(pair: Pair, pk: list[str]) -> None:
    pair.create("us", "db.t", COLUMNS, pk=pk, options={"bucket": "1"} if pk else {})
    rows = random_rows(COLUMNS, 5000, np.random.default_rng(1))
    rows = rows.set_column(0, rows.field(0), pa.array(range(5000), pa.int32()))
    pair.write("us", "db.t", rows)

    pair.assert_same("db.t", rows)

    files = pair.open("db.t").scan().plan().splits
    for split in files:
        for file in split.files:
            path = f"{pair.open('db.t').path}/{split.bucket_path}/{file.file_name}"
            read = pq.read_table(path, page_checksum_verification=True, partitioning=None)
            assert read.num_rows == file.row_count
            assert pq.ParquetFile(path).metadata.row_group(0).column(0).compression == "ZSTD"
