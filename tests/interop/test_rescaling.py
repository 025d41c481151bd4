"""Partitions that we gave other buckets Java reads, writes to and compacts."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.interop.pair import SIDES, Pair
from tests.java_values import unordered

pytestmark = pytest.mark.interop


@pytest.mark.parametrize("is_keyed", [False, True])
def test_java_goes_on_in_new_buckets(pair: Pair, is_keyed: bool) -> None:
    options = {"bucket": "2"} if is_keyed else {"bucket": "2", "bucket-key": "k"}
    columns = {"p": "STRING NOT NULL", "k": "INT NOT NULL", "n": "BIGINT"}
    keys = ["p", "k"] if is_keyed else []
    pair.create("java", "db.t", columns, pk=keys, partition=["p"], options=options)
    for number in range(4):
        pair.write(SIDES[number % 2], "db.t", rows(5 * number))
    before = unordered(pair.our_rows("db.t"))

    pair.open("db.t").maintenance.rescale(buckets=3)

    pair.assert_same("db.t")
    assert unordered(pair.our_rows("db.t")) == before
    for number in range(2, 6):
        pair.write(SIDES[number % 2], "db.t", rows(5 * number))
        pair.assert_same("db.t")
    pair.java("compact", table="db.t")
    pair.assert_same("db.t")
    pair.open("db.t").maintenance.rescale(buckets=1)
    pair.assert_same("db.t")
    assert pair.open("db.t").fsck(deep=True).is_clean


def rows(first: int) -> pa.Table:
    keys = range(first, first + 10)
    return pa.table(
        {
            "p": ["xy"[key % 2] for key in keys],
            "k": pa.array(keys, pa.int32()),
            "n": [key * 10 + first for key in keys],
        }
    )
