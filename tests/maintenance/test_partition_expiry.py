"""Partitions that are too old are dropped; what is written meanwhile is not lost."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.commit.scope import OverwriteScope
from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.maintenance import partition_expiry
from paimonlab.maintenance.partition_expiry import (
    PartitionExpireOptions,
    PartitionExpiryRequest,
    is_check_due,
)
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.upkeep.partition_expiring import expire_partitions

NOW = datetime(2026, 1, 10)
YEARS = timedelta(days=365 * 40)


def new_table(path: Path, **options: str) -> pl.Table:
    catalog = pl.connect(path)
    catalog.create_database("db", exist_ok=True)
    given = {key.replace("__", ".").replace("_", "-"): value for key, value in options.items()}
    return catalog.create_table(
        "db.t",
        {"id": "INT", "dt": "STRING", "h": "INT"},
        partition_keys=["dt", "h"],
        options=given,
    )


def put(table: pl.Table, *partitions: tuple[str | None, int | None]) -> None:
    days, hours = zip(*partitions, strict=True)
    table.write(
        pa.table(
            {
                "id": pa.array(range(len(days)), pa.int32()),
                "dt": pa.array(days, pa.string()),
                "h": pa.array(hours, pa.int32()),
            }
        )
    )


def there(table: pl.Table) -> Sequence[tuple[str, int]]:
    found = table.scan().to_arrow()
    return sorted(zip(found["dt"].to_pylist(), found["h"].to_pylist(), strict=True), key=str)


def days(count: int, **asked: Any) -> PartitionExpiryRequest:
    return PartitionExpiryRequest(expiration_time=timedelta(days=count), **asked)


def test_old_partitions_are_dropped(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    table = new_table(tmp_path)
    put(table, ("2026-01-01", 1), ("2026-01-02", 1), ("2026-01-03", 1), ("x", 1), (None, 1))

    plan = expire_partitions(
        definition_of(table),
        store_of(table),
        days(7, dry_run=True),
        user="u",
        now=NOW + timedelta(hours=1),
    )
    assert len(there(table)) == 5
    assert (
        str(plan).splitlines()[1].startswith("  {'dt': '2026-01-01', 'h': '1'}: of 2026-01-01 00")
    )
    done = expire_partitions(
        definition_of(table), store_of(table), days(7), user="u", now=NOW + timedelta(hours=1)
    )

    assert done == plan
    assert [one["dt"] for one in done.values] == ["2026-01-01", "2026-01-02", "2026-01-03"]
    assert there(table) == [("x", 1), (None, 1)]
    assert {one.values["dt"] for one in done.undated} == {"x", None}
    assert "never expires" in caplog.text


def test_a_partition_of_just_that_age_stays(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    put(table, ("2026-01-03", 1), ("2026-01-02", 1))

    expire_partitions(definition_of(table), store_of(table), days(7), user="u", now=NOW)

    assert there(table) == [("2026-01-03", 1)]


def test_pattern_and_formatter_make_the_time(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    put(table, ("20260109", 1), ("20260109", 20), ("20260110", 3))
    request = days(1, timestamp_pattern="$dt $h", timestamp_formatter="yyyyMMdd H")

    expire_partitions(
        definition_of(table), store_of(table), request, user="u", now=NOW + timedelta(hours=5)
    )

    assert there(table) == [("20260109", 20), ("20260110", 3)]


def test_no_more_go_than_may_in_commits_of_a_size(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    put(table, *((f"2026-01-0{day}", 1) for day in range(1, 8)))

    definition = definition_of(table).with_options({"partition.expiration-batch-size": "2"})
    expire_partitions(definition, store_of(table), days(1, max_expires=5), user="u", now=NOW)

    assert [day for day, _ in there(table)] == ["2026-01-06", "2026-01-07"]
    assert table.snapshots.latest_id() == 4


def test_by_the_last_update_what_is_written_meanwhile_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = new_table(tmp_path)
    put(table, ("a", 1), ("b", 1))
    # Files say when they were made to the millisecond, this is after that.
    later = datetime.now() + timedelta(days=3)  # noqa: DTZ005
    drop = partition_expiry._drop
    written: list[int] = []

    def dropped_late(*arguments: object) -> None:
        if not written:
            written.append(1)
            put(table, ("b", 1))
        drop(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(partition_expiry, "_drop", dropped_late)
    request = days(1, expire_strategy="update-time")
    done = expire_partitions(definition_of(table), store_of(table), request, user="u", now=later)

    # It was looked at again: all are old by this clock, so that the new row was seen first.
    assert done.snapshot_id == 2
    assert [one["dt"] for one in done.values] == ["a", "b"]
    assert there(table) == []


def test_what_a_conflict_left_is_dropped_by_the_next_attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = new_table(tmp_path)
    put(table, ("a", 1), ("b", 1), ("c", 1))
    later = datetime.now() + timedelta(days=3)  # noqa: DTZ005
    exactly = OverwriteScope.exactly
    batches = []

    def disturbed(rows: list[bytes]) -> OverwriteScope:
        batches.append(rows)
        if len(batches) == 2:
            put(table, ("b", 1))
        return exactly(rows)

    monkeypatch.setattr(OverwriteScope, "exactly", staticmethod(disturbed))
    definition = definition_of(table).with_options({"partition.expiration-batch-size": "1"})
    request = days(1, expire_strategy="update-time")
    expire_partitions(definition, store_of(table), request, user="u", now=later)

    assert len(batches) == 4, "a, b in vain, then b and c"
    assert there(table) == []


def test_by_the_last_update_young_partitions_stay(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    put(table, ("2000-01-01", 1))

    assert not table.maintenance.expire_partitions(
        timedelta(days=1), expire_strategy="update-time"
    ).partitions
    done = table.maintenance.expire_partitions(timedelta(days=1), dry_run=True)
    assert [one["dt"] for one in done.values] == ["2000-01-01"]


def test_options_say_it_to_the_verb(tmp_path: Path) -> None:
    table = new_table(tmp_path, partition__expiration_time="1 d")
    put(table, ("19700102", 1), ("19700103", 1))

    assert not table.maintenance.expire_partitions().partitions
    for how in ({"dry_run": True}, {"max_expires": 1}):
        done = table.maintenance.expire_partitions(timestamp_formatter="yyyyMMdd", **how)
        assert len(done.partitions) == len(how) + ("dry_run" in how)
    assert there(table) == [("19700103", 1)]
    for strategy, error in (("custom", UnsupportedError), ("x", SchemaError)):
        with pytest.raises(error):
            table.maintenance.expire_partitions(expire_strategy=strategy)
    other = new_table(tmp_path / "other")
    with pytest.raises(ValueError, match="expiration_time"):
        other.maintenance.expire_partitions()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"partition__expiration_check_interval": "0 s"}, []),
        ({"end_input__check_partition_expire": "true"}, []),
        ({}, [("1970-01-02", 1)]),
        (
            {"partition__expiration_check_interval": "0 s", "write_only": "true"},
            [("1970-01-02", 1)],
        ),
    ],
    ids=str,
)
def test_commits_drop_them_by_themselves(
    tmp_path: Path, options: dict[str, str], expected: list[tuple[str, int]]
) -> None:
    table = new_table(tmp_path, partition__expiration_time="1 d", **options)
    put(table, ("1970-01-02", 1))

    assert there(table) == expected


def test_a_request_says_what_options_say() -> None:
    request = PartitionExpiryRequest(
        expiration_time=timedelta(days=1), expire_strategy="update-time", max_expires=3
    )

    assert request.options == {
        "partition.expiration-time": "86400000 ms",
        "partition.expiration-strategy": "update-time",
        "partition.expiration-max-num": "3",
    }
    assert PartitionExpiryRequest(expiration_time="7 d").options == {
        "partition.expiration-time": "7 d"
    }
    assert PartitionExpiryRequest().options == {}


def test_a_committer_looks_once_in_a_while() -> None:
    options = PartitionExpireOptions(check_interval_millis=1000)
    snapshot = Snapshot(
        id=1,
        schema_id=0,
        base_manifest_list="b",
        delta_manifest_list="d",
        commit_user="u",
        commit_identifier=7,
        commit_kind="APPEND",  # type: ignore[arg-type]
        time_millis=0,
    )

    assert not is_check_due(options, snapshot, last=NOW, now=NOW + timedelta(seconds=1))
    assert is_check_due(options, snapshot, last=NOW, now=NOW + timedelta(seconds=2))


def test_a_table_without_partitions_has_none_to_drop(tmp_path: Path) -> None:
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"id": "INT"})
    table.write(pa.table({"id": pa.array([1], pa.int32())}))

    assert not table.maintenance.expire_partitions(timedelta(days=1)).partitions
