"""What procedures let go: snapshots, partitions, consumers."""

from __future__ import annotations

from datetime import datetime, timedelta

import pyarrow as pa
import pytest

from paimonlab.errors import ArgumentError, SchemaError, SnapshotNotFoundError, UnsupportedError
from paimonlab.table.table import Table
from tests.procedures.conftest import Lake, rows_of, write

DONE = [{"result": True}]
EXPIRED = "expired_partitions"


def local(moment: datetime) -> str:
    """Write a time as arguments have it."""
    return f"{moment:%Y-%m-%d %H:%M:%S}"


@pytest.fixture
def table(lake: Lake) -> Table:
    """Make a table with the snapshots 1 to 6."""
    table = lake.keyed(write_only="true", snapshot__num_retained__min="1")
    for number in range(6):
        write(table, (number, "v", "a"))
    return table


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, 0),
        ({"retain_max": 2}, 4),
        ({"retain_max": 2, "retain_min": 2}, 4),
        ({"retain_max": 2, "max_deletes": 3}, 3),
        ({"options": "snapshot.num-retained.max=4"}, 2),
        ({"options": "snapshot.num-retained.max=4", "retain_max": 5}, 1),
        ({"options": "snapshot.expire.limit=1", "retain_max": 2}, 1),
        ({"options": "snapshot.time-retained=0 ms, snapshot.num-retained.min=3"}, 3),
        ({"older_than": "2020-01-01 00:00:00"}, 0),
        ({"older_than": " "}, 0),
        ({"older_than": local(datetime.now().astimezone() + timedelta(days=1))}, 5),
        (
            {
                "older_than": local(datetime.now().astimezone() + timedelta(days=1)),
                "retain_min": 4,
            },
            2,
        ),
    ],
)
def test_snapshots_expire_and_are_counted(
    lake: Lake, table: Table, arguments: dict[str, object], expected: int
) -> None:
    found = lake.call("expire_snapshots", table="db.t", **arguments)

    assert found == [{"deleted_snapshots_count": expected}]
    assert [one.id for one in table.snapshots.list()] == list(range(expected + 1, 7))
    assert len(rows_of(table)) == 6


def test_more_to_be_kept_than_may_be_is_refused(lake: Lake, table: Table) -> None:
    with pytest.raises(ArgumentError, match="retain_max is 2, and retain_min is 3"):
        lake.call("expire_snapshots", "db.t", 2, 3)
    with pytest.raises(ArgumentError, match="retain_max is 1, and retain_min is 2"):
        lake.call("expire_snapshots", "db.t", 1, options="snapshot.num-retained.min=2")
    with pytest.raises(SchemaError, match=r"snapshot\.num-retained\.max"):
        lake.call("expire_snapshots", "db.t", options="snapshot.num-retained.max=x")

    assert len(table.snapshots.list()) == 6


def test_what_a_consumer_is_to_read_stays_until_it_is_forgotten(lake: Lake, table: Table) -> None:
    assert lake.call("reset_consumer", "db.t", "c", 3) == DONE
    assert table.consumers.list() == {"c": 3}
    assert lake.call("expire_snapshots", "db.t", 1) == [{"deleted_snapshots_count": 2}]

    assert lake.call("reset_consumer", table="db.t", consumerId="c") == DONE
    assert table.consumers.list() == {}
    assert lake.call("reset_consumer", "db.t", "c") == DONE
    assert lake.call("expire_snapshots", "db.t", 1) == [{"deleted_snapshots_count": 3}]


def test_a_consumer_reads_on_from_a_snapshot_that_is_there(lake: Lake, table: Table) -> None:
    with pytest.raises(SnapshotNotFoundError):
        lake.call("reset_consumer", "db.t", "c", 9)

    assert table.consumers.list() == {}


@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        ({}, ""),
        ({"includingConsumers": ""}, ""),
        ({"includingConsumers": "a.*"}, "b c"),
        ({"includingConsumers": "a"}, "a1 a2 b c"),
        ({"excludingConsumers": "a[0-9]|b"}, "a1 a2 b"),
        ({"includingConsumers": "a.*|c", "excludingConsumers": "a2"}, "a2 b"),
    ],
)
def test_consumers_are_forgotten_by_their_whole_names(
    lake: Lake, table: Table, arguments: dict[str, str], left: str
) -> None:
    for name in ("a1", "a2", "b", "c"):
        table.consumers.reset(name, 1)

    assert lake.call("clear_consumers", "db.t", **arguments) == DONE

    assert " ".join(table.consumers.list()) == left


def test_an_expression_that_java_reads_in_another_way_is_refused(lake: Lake, table: Table) -> None:
    table.consumers.reset("a", 1)

    with pytest.raises(UnsupportedError, match="excludingConsumers => "):
        lake.call("clear_consumers", "db.t", excludingConsumers="[a&&b]")

    assert table.consumers.list() == {"a": 1}


PARTITIONS = ("2020-01-01", "2020-01-02", "2020-01-03", "9999-01-01")


@pytest.fixture
def dated(lake: Lake) -> Table:
    """Make a table with old partitions and one of the future."""
    table = lake.append()
    write(table, *((number, "v", day) for number, day in enumerate(PARTITIONS)))
    return table


def test_partitions_expire_by_their_values(lake: Lake, dated: Table) -> None:
    found = lake.call(
        "expire_partitions",
        "db.t",
        "1 d",
        timestamp_formatter="yyyy-MM-dd",
        timestamp_pattern="$dt",
        expire_strategy="values-time",
        max_expires=2,
    )
    assert found == [{EXPIRED: "dt=2020-01-01"}, {EXPIRED: "dt=2020-01-02"}]

    found = lake.call("expire_partitions", "db.t", options="partition.expiration-time=1 d")
    assert found == [{EXPIRED: "dt=2020-01-03"}]

    for age in ("1 d", "99999999 d"):
        found = lake.call("expire_partitions", "db.t", age)
        assert found == [{EXPIRED: "No expired partitions."}]
    assert [row[2] for row in rows_of(dated)] == ["9999-01-01"]


def test_arguments_go_before_options(lake: Lake, dated: Table) -> None:
    found = lake.call(
        "expire_partitions",
        "db.t",
        "1 d",
        max_expires=1,
        options="partition.expiration-max-num=3,partition.expiration-time=999999 d",
    )

    assert found == [{EXPIRED: "dt=2020-01-01"}]
    assert len(rows_of(dated)) == 3


def test_partitions_expire_by_their_newest_file(lake: Lake, dated: Table) -> None:
    found = lake.call("expire_partitions", "db.t", "1 d", expire_strategy="update-time")
    assert found == [{EXPIRED: "No expired partitions."}]

    found = lake.call("expire_partitions", "db.t", "0 ms", expire_strategy="update-time")
    assert [row[EXPIRED] for row in found] == [f"dt={day}" for day in PARTITIONS]
    assert rows_of(dated) == []


def test_several_columns_of_a_partition_are_told_as_java_tells_a_map(lake: Lake) -> None:
    table = lake.catalog.create_table(
        "db.hours", {"k": "INT", "dt": "STRING", "hh": "INT"}, partition_keys=["dt", "hh"]
    )
    columns = {"k": [1, 2], "dt": ["2020-01-01"] * 2, "hh": [2, 1]}
    table.write(pa.table(columns, schema=table.arrow_schema))

    found = lake.call("expire_partitions", "db.hours", "1 d")

    assert found == [{EXPIRED: "dt=2020-01-01, hh=1"}, {EXPIRED: "dt=2020-01-01, hh=2"}]


def test_a_table_without_partitions_or_a_call_without_an_age_is_refused(
    lake: Lake, dated: Table
) -> None:
    lake.catalog.create_table("db.flat", {"k": "INT"})

    with pytest.raises(ArgumentError, match=r"db\.flat has no partitions"):
        lake.call("expire_partitions", "db.flat", "1 d")
    with pytest.raises(ArgumentError, match=r"how old partitions of db\.t may become"):
        lake.call("expire_partitions", "db.t")
    with pytest.raises(SchemaError, match="someday"):
        lake.call("expire_partitions", "db.t", "1 d", expire_strategy="someday")

    assert len(rows_of(dated)) == 4


def test_partitions_are_marked(lake: Lake, dated: Table) -> None:
    lake.call("mark_partition_done", "db.t", "dt=2020-01-01;dt='2020-01-02'")

    folders = [f"{dated.path}/dt={day}/_SUCCESS" for day in PARTITIONS]
    assert [lake.catalog.file_io.exists(path) for path in folders] == [True, True, False, False]
    with pytest.raises(SchemaError):
        lake.call("mark_partition_done", "db.t", "k=1")
