"""Java reads, and goes on from, what our commits made of manifests and partitions."""

from __future__ import annotations

import msgspec
import pyarrow as pa
import pytest

from paimonlab.formats.manifests.entry_rows import table_to_entries
from paimonlab.scan.live_files import live_entries
from paimonlab.spec.statistics.table import ColumnStatistics, Statistics
from paimonlab.table.inside import store_of
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


def test_java_goes_on_from_our_compactions_changelogs_and_statistics(pair: Pair) -> None:
    """Two snapshots of one commit, a changelog manifest, then an ANALYZE snapshot."""
    columns = {"k": "INT NOT NULL", "v": "INT"}
    options = {"bucket": "1", "write-only": "true"}
    pair.create("java", "db.t", columns, pk=["k"], options=options)
    table = pair.open("db.t")

    def rows(*keys: int, v: int) -> pa.Table:
        values = pa.array([v] * len(keys), pa.int32())
        return pa.table({"k": pa.array(keys, pa.int32()), "v": values})

    table.write(rows(1, 2, 3, v=1))
    writer = table.new_writer(user="u")
    writer.write(rows(2, 3, 4, v=2))
    (written,) = writer.prepare_commit(1)
    merged = pa.concat_tables([rows(1, v=1), rows(2, 3, 4, v=2)])
    writer.write(merged)
    (after,) = writer.prepare_commit(1)
    first = table.snapshots.get(1)
    before = table_to_entries(live_entries(first, store_of(table).manifests))
    message = msgspec.structs.replace(
        written,
        changelog_files=(),
        compact_before=(*(entry.file for entry in before), *written.new_files),
        compact_after=tuple(
            msgspec.structs.replace(file, level=5, file_source=1) for file in after.new_files
        ),
    )
    snapshot = table.commit([message], identifier=1, user="u")

    assert [one.commit_kind.value for one in table.snapshots.list()] == [
        "APPEND",
        "APPEND",
        "COMPACT",
    ]
    pair.assert_same("db.t")
    assert snapshot is not None
    statistics = Statistics(
        snapshot_id=snapshot.id,
        schema_id=0,
        merged_record_count=4,
        merged_record_size=100,
        columns={"k": ColumnStatistics(id=0, distinct_count=4, min="1", max="4", null_count=0)},
    )
    analyzed = table.commit([], statistics=statistics)
    assert analyzed is not None
    pair.assert_same("db.t")
    pair.write("java", "db.t", rows(5, v=3))
    pair.assert_same("db.t")
    latest = table.snapshot
    assert latest is not None
    assert latest.statistics == analyzed.statistics
    assert table.compact_manifests() is not None
    pair.assert_same("db.t")
    pair.write("java", "db.t", rows(1, 6, v=4))
    pair.assert_same("db.t")
    assert table.fsck(deep=True).is_clean


@pytest.mark.parametrize("producer", ["input", "lookup"])
def test_overwrites_have_no_changelog_here_and_in_java(pair: Pair, producer: str) -> None:
    columns = {"k": "INT NOT NULL", "v": "INT"}
    options = {"bucket": "1", "changelog-producer": producer}
    found = []
    for side, name in (("us", "db.ours"), ("java", "db.javas")):
        pair.create("java", name, columns, pk=["k"], options=options)
        pair.write("java", name, pa.table({"k": pa.array([1, 2], pa.int32()), "v": [1, 1]}))
        rows = pa.table({"k": pa.array([2, 3], pa.int32()), "v": pa.array([7, 8], pa.int32())})
        first = len(pair.open(name).snapshots.list())
        if side == "us":
            pair.open(name).overwrite(rows)
        else:
            pair.java.write(name, [[2, 7], [3, 8]], overwrite={})
        pair.assert_same(name)
        after = pair.open(name).snapshots.list()[first:]
        found.append([(one.commit_kind, one.changelog_manifest_list) for one in after])
    ours, javas = found

    assert ours[0] == javas[0]
    assert {changelog for _, changelog in (*ours, *javas)} == {None}
