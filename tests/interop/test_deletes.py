"""Rows deleted by one are gone for the other, whoever deleted before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from paimonlab.formats.deletion_vectors import (
    DeletionVector,
    decode_deletion_vector,
    encode_deletion_vector,
)
from tests.interop.oracle import JavaPaimon
from tests.interop.pair import SIDES, Pair, Side
from tests.java_values import unordered

pytestmark = pytest.mark.interop

VECTORS = {"deletion-vectors.enabled": "true"}
BITMAP64 = {"deletion-vectors.bitmap64": "true"}
BUCKETS = {"bucket": "2", "bucket-key": "k"}
COLUMNS = {"p": "STRING", "k": "INT", "n": "BIGINT"}
KINDS: list[tuple[list[str], Mapping[str, str]]] = [
    ([], VECTORS | {"deletion-vector.index-file.target-size": "30 b"}),
    ([], VECTORS | BITMAP64),
    (["p"], VECTORS),
    ([], VECTORS | BUCKETS),
    (["p"], VECTORS | BUCKETS | BITMAP64 | {"index-file-in-data-file-dir": "true"}),
]


@pytest.mark.parametrize("bitmap64", [False, True])
def test_vectors_have_the_bytes_java_writes(
    bitmap64: bool, java: JavaPaimon, rng: np.random.Generator
) -> None:
    shapes: list[Any] = [
        [],
        [0],
        range(5000),
        range(0, 20_000, 2),
        range(65530, 65550),
        [1, 2, 3, 70_000, 2**31 - 1],
        sorted({*rng.integers(0, 200_000, 9000).tolist()}),
        sorted({*range(100), *range(200, 300), *rng.integers(0, 2**20, 300).tolist()}),
    ]
    if bitmap64:
        shapes += [[2**32], [5, 3 * 2**32 + 7]]
    for positions in shapes:
        listed = list(positions)

        data = bytes.fromhex(java("deletion_vector", positions=listed, bitmap64=bitmap64))

        vector = DeletionVector.of(np.array(listed, np.int64))
        assert encode_deletion_vector(vector, bitmap64=bitmap64) == data
        assert decode_deletion_vector(data, path="").positions().tolist() == listed


def rows(first: int) -> pa.Table:
    keys = list(range(first, first + 10))
    return pa.table(
        {
            "p": ["xyz"[key % 3] for key in keys],
            "k": pa.array(keys, pa.int32()),
            "n": pa.array([key * 10 for key in keys], pa.int64()),
        }
    )


def delete(pair: Pair, side: Side, key: int) -> None:
    if side == "us":
        assert pair.open("db.t").delete(f"k = {key}") is not None
    else:
        assert pair.java("append_delete", table="db.t", filter=["=", "k", key]) == 1


@pytest.mark.parametrize("creator", SIDES)
@pytest.mark.parametrize(("partition", "options"), KINDS, ids=str)
def test_rows_deleted_in_turn(
    pair: Pair, creator: Side, partition: list[str], options: Mapping[str, str]
) -> None:
    pair.create(creator, "db.t", COLUMNS, partition=partition, options=options)
    for side, first in zip(SIDES, (0, 10), strict=True):
        pair.write(side, "db.t", rows(first))
    alive = {*range(20)}

    for number, key in enumerate([3, 13, 4, 14, 5, 15]):
        delete(pair, SIDES[number // 2 % 2], key)
        alive -= {key}
        pair.assert_same("db.t")
        assert {row[1] for row in pair.our_rows("db.t")} == alive
    pair.open("db.t").update({"n": "n + 1"}, where="k < 10")
    pair.assert_same("db.t")
    before = unordered(pair.our_rows("db.t"))
    pair.write("java", "db.t", rows(20))
    pair.write("us", "db.t", rows(30))
    delete(pair, "java", 25)
    delete(pair, "us", 26)
    pair.assert_same("db.t")

    snapshots = pair.open("db.t").snapshots.list()
    for snapshot in snapshots:
        how = {"scan.snapshot-id": str(snapshot.id)}
        ours = unordered(pair.our_rows("db.t", snapshot=snapshot.id))
        assert ours == unordered(pair.java_rows("db.t", options=how))
    assert before == unordered(pair.our_rows("db.t", snapshot=snapshots[-5].id))


@pytest.mark.parametrize("options", [VECTORS, VECTORS | BUCKETS, {}, BUCKETS], ids=str)
def test_java_compacts_and_overwrites_what_we_changed(
    pair: Pair, options: Mapping[str, str]
) -> None:
    pair.create("us", "db.t", COLUMNS, partition=["p"], options=options)
    for first in (0, 10):
        pair.write("us", "db.t", rows(first))
    table = pair.open("db.t")
    table.delete("k IN (1, 2, 11)")
    table.update({"n": "-n"}, where="k > 15")
    pair.assert_same("db.t")
    before = unordered(pair.our_rows("db.t"))

    pair.java("compact", table="db.t")

    pair.assert_same("db.t")
    assert unordered(pair.our_rows("db.t")) == before
    table.delete("k = 18")
    pair.assert_same("db.t")
    pair.java("drop_partition", table="db.t", partition={"p": "x"})
    pair.assert_same("db.t")
    table.truncate()
    pair.assert_same("db.t")


def test_java_reads_what_we_changed_by_key(pair: Pair) -> None:
    pair.create(
        "java", "db.t", {"k": "INT NOT NULL", "n": "INT"}, pk=["k"], options={"bucket": "2"}
    )
    values = pa.array(range(10), pa.int32())
    pair.write("java", "db.t", pa.table({"k": values, "n": values}))
    table = pair.open("db.t")

    table.delete("n > 6")
    table.update({"n": "n * 10"}, where="k < 3")

    pair.assert_same("db.t")
    assert {row[0]: row[1] for row in pair.our_rows("db.t")} == {
        0: 0, 1: 10, 2: 20, 3: 3, 4: 4, 5: 5, 6: 6,
    }  # fmt: skip


def test_java_compacts_what_we_wrote_for_keys_with_vectors(pair: Pair) -> None:
    options = VECTORS | {"bucket": "1", "write-only": "true"}
    pair.create("us", "db.t", {"k": "INT NOT NULL", "n": "INT"}, pk=["k"], options=options)
    merged = {"deletion-vectors.merge-on-read": "true"}
    for number in range(4):
        keys = pa.array(range(number, number + 6), pa.int32())
        pair.write("us", "db.t", pa.table({"k": keys, "n": [number] * 6}))
        waiting = unordered(pair.our_rows("db.t", options=merged))
        pair.assert_same("db.t")

        pair.java("compact", table="db.t")

        pair.assert_same("db.t")
        assert unordered(pair.our_rows("db.t")) == waiting
