"""Java reads, and goes on from, what our commits made of manifests and partitions."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.interop.pair import Pair

pytestmark = pytest.mark.interop

COLUMNS = {"dt": "STRING NOT NULL", "k": "INT NOT NULL", "v": "INT"}
OPTIONS = {
    "bucket": "2",
    "manifest.merge-min-count": "3",
    "manifest.full-compaction-threshold-size": "12 kb",
    "write-only": "true",
}


def _rows(day: str, *keys: int, v: int = 0) -> pa.Table:
    return pa.table(
        {
            "dt": [day] * len(keys),
            "k": pa.array(keys, pa.int32()),
            "v": pa.array([v] * len(keys), pa.int32()),
        }
    )


@pytest.mark.parametrize("pk", [["dt", "k"], []], ids=["keyed", "append"])
def test_java_reads_merged_manifests_overwritten_and_dropped_partitions(
    pair: Pair, pk: list[str]
) -> None:
    options = OPTIONS | ({} if pk else {"bucket-key": "k"})
    pair.create("java", "db.t", COLUMNS, pk=pk, partition=["dt"], options=options)
    table = pair.open("db.t")
    for number in range(8):
        for day in ("a", "b", "c"):
            table.write(_rows(day, number, number + 1, v=number))
        pair.write("java", "db.t", _rows("d", number, v=number))
        pair.assert_same("db.t")
    assert len(table.snapshots.list()) == 32

    table.overwrite(_rows("b", 70, 71))
    pair.assert_same("db.t")
    table.drop_partitions([{"dt": "c"}])
    pair.assert_same("db.t")
    table.overwrite(_rows("x", 1), partition={"dt": "x"})
    pair.assert_same("db.t")
    pair.write("java", "db.t", _rows("c", 5))
    pair.assert_same("db.t")
    table.overwrite(_rows("only", 1, 2), dynamic=False)
    pair.assert_same("db.t")
    assert table.scan().to_arrow().num_rows == 2

    for number in range(1, 38, 5):
        ours = pair.our_rows("db.t", snapshot=number)
        javas = pair.java_rows("db.t", options={"scan.snapshot-id": str(number)})
        assert sorted(map(str, ours)) == sorted(map(str, javas))
