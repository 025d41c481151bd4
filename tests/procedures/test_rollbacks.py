"""What procedures go back to."""

from __future__ import annotations

import msgspec
import pyarrow as pa
import pytest

from paimonlab.errors import ArgumentError, SnapshotNotFoundError, TagNotFoundError
from paimonlab.procedures.rollbacks import up_to_watermark
from paimonlab.table.table import Table
from tests.procedures.conftest import Lake, rows_of, write


@pytest.fixture
def table(lake: Lake) -> Table:
    """Make a table with the snapshots 1 to 4, one row more in each."""
    table = lake.keyed(write_only="true")
    for number in (1, 2, 3, 4):
        write(table, (number, "v", "a"))
    return table


@pytest.mark.parametrize(
    "how",
    [
        {"version": "2"},
        {"version": 2},
        {"version": "two"},
        {"snapshot": 2},
        {"tag": "two"},
        {"version": " ", "tag": "two"},
    ],
)
def test_a_table_goes_back_to_a_snapshot_or_tag(
    lake: Lake, table: Table, how: dict[str, object]
) -> None:
    lake.call("create_tag", "db.t", "two", 2)
    lake.call("create_tag", "db.t", "four")

    found = lake.call("rollback", "db.t", **how)

    assert found == [{"previous_snapshot_id": 4, "current_snapshot_id": 2}]
    assert [one.id for one in table.snapshots.list()] == [1, 2]
    assert list(table.tags.list()) == ["two"]
    assert rows_of(table) == [(1, "v", "a"), (2, "v", "a")]


@pytest.mark.parametrize("how", [{"version": "1"}, {"snapshot": 1}, {"tag": "one"}])
def test_a_table_goes_back_to_a_snapshot_that_only_a_tag_keeps(
    lake: Lake, table: Table, how: dict[str, object]
) -> None:
    lake.call("create_tag", "db.t", "one", 1)
    lake.call("expire_snapshots", "db.t", retain_max=2, retain_min=1)

    found = lake.call("rollback", "db.t", **how)

    assert found == [{"previous_snapshot_id": 4, "current_snapshot_id": 1}]
    assert rows_of(table) == [(1, "v", "a")]


def test_what_is_not_there_is_refused_and_nothing_changes(lake: Lake, table: Table) -> None:
    with pytest.raises(SnapshotNotFoundError):
        lake.call("rollback", "db.t", snapshot=9)
    with pytest.raises(TagNotFoundError):
        lake.call("rollback", "db.t", "no")
    with pytest.raises(ArgumentError, match="give one of version, snapshot and tag"):
        lake.call("rollback", "db.t")
    with pytest.raises(SnapshotNotFoundError):
        lake.call("rollback_to_timestamp", "db.t", 0)
    with pytest.raises(SnapshotNotFoundError, match="with a watermark of 5 or earlier"):
        lake.call("rollback_to_watermark", "db.t", 5)

    assert len(table.snapshots.list()) == 4


@pytest.mark.parametrize(
    "procedure", ["rollback", "rollback_to_timestamp", "rollback_to_watermark"]
)
def test_a_table_without_snapshots_is_refused(lake: Lake, procedure: str) -> None:
    lake.keyed()
    value = "1" if procedure == "rollback" else 1

    with pytest.raises(SnapshotNotFoundError, match="Nothing was committed yet"):
        lake.call(procedure, "db.t", value)


def test_a_table_goes_back_to_a_time(lake: Lake, table: Table) -> None:
    millis = table.snapshots.get(2).time_millis
    last = max(one.id for one in table.snapshots.list() if one.time_millis <= millis)

    found = lake.call("rollback_to_timestamp", "db.t", millis)

    assert found == [{"previous_snapshot_id": 4, "current_snapshot_id": last}]
    assert len(rows_of(table)) == last


def test_a_table_goes_back_to_a_watermark(lake: Lake) -> None:
    table = lake.keyed(write_only="true")
    for number, watermark in enumerate([None, 10, 20, 30]):
        writer = table.new_writer()
        writer.write(pa.record_batch([[number], ["v"], ["a"]], schema=table.arrow_schema))
        table.commit(writer.prepare_commit(number), identifier=number, watermark=watermark)

    found = lake.call("rollback_to_watermark", "db.t", 25)

    assert found == [{"previous_snapshot_id": 4, "current_snapshot_id": 3}]
    assert [row[0] for row in rows_of(table)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("watermarks", "asked", "expected"),
    [
        ([10, 20, 30], 20, 2),
        ([10, 20, 30], 29, 2),
        ([10, 20, 30], 9, None),
        ([10, 20, 30], 99, 3),
        ([None, 10, None, 30], 15, 3),
        ([None, None], 15, None),
        ([None, 10], 5, None),
        ([10, 20, 20, 30], 20, 3),
        ([-(2**63), 10], 5, 1),
        ([10, -(2**63)], 50, None),
        ([], 5, None),
    ],
)
def test_a_snapshot_without_a_watermark_has_that_of_the_one_before(
    table: Table, watermarks: list[int | None], asked: int, expected: int | None
) -> None:
    first = table.snapshots.get(1)
    snapshots = [
        msgspec.structs.replace(first, id=number, watermark=watermark)
        for number, watermark in enumerate(watermarks, start=1)
    ]

    found = up_to_watermark(snapshots, asked)

    assert (found and found.id) == expected
