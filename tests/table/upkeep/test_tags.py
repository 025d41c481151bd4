"""Tags: names, lifetimes, tags made by themselves, and the files that go with a tag."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import (
    AlreadyExistsError,
    CorruptMetadataError,
    PostCommitError,
    SchemaError,
    SnapshotNotFoundError,
    TagNotFoundError,
)
from paimonlab.maintenance.auto_tags import local_time
from paimonlab.spec.tag_periods import TagPeriods, TagPoint, due_tags


def new_table(catalog: pl.Catalog, options: Mapping[str, str] | None = None) -> pl.Table:
    return catalog.create_table(
        "db.t",
        {"id": "INT", "v": "STRING"},
        primary_keys=["id"],
        options={"bucket": "1", "num-sorted-run.compaction-trigger": "99", **(options or {})},
    )


def write(table: pl.Table, key: int, value: str) -> None:
    table.write(pa.table({"id": pa.array([key], pa.int32()), "v": [value]}))


def overwrite(table: pl.Table, key: int, value: str) -> None:
    table.overwrite(pa.table({"id": pa.array([key], pa.int32()), "v": [value]}))


def rows(scan: pl.Scan) -> dict[int, str]:
    found = scan.to_arrow()
    return dict(zip(found["id"].to_pylist(), found["v"].to_pylist(), strict=True))


def local_now() -> datetime:
    return datetime.now().astimezone().replace(tzinfo=None)


def expire_first(table: pl.Table, count: int) -> None:
    """Take the oldest snapshots away, as expiry does, with no file that a tag needs."""
    for snapshot_id in table.snapshots.ids()[:count]:
        (Path(table.path) / "snapshot" / f"snapshot-{snapshot_id}").unlink()
    earliest = Path(table.path) / "snapshot" / "EARLIEST"
    earliest.write_text(str(table.snapshots.ids()[0]))


def data_files(table: pl.Table) -> set[str]:
    return {path.name for path in Path(table.path).rglob("data-*")}


def test_tags_are_replaced_and_renamed(catalog: pl.Catalog) -> None:
    table = new_table(catalog)
    write(table, 1, "a")
    table.tags.create("t")
    write(table, 1, "b")

    table.tags.replace("t")
    table.tags.rename("t", "u")

    assert rows(table.scan(tag="u")) == {1: "b"}
    assert list(table.tags.list()) == ["u"]
    with pytest.raises(TagNotFoundError):
        table.tags.replace("t")
    with pytest.raises(TagNotFoundError):
        table.tags.rename("t", "v")
    table.tags.create("1")
    with pytest.raises(AlreadyExistsError):
        table.tags.rename("u", "1")
    assert rows(table.scan(version="1")) == {1: "b"}, "a tag goes before the id of a snapshot"


def test_a_tag_of_a_time(catalog: pl.Catalog) -> None:
    table = new_table(catalog)
    write(table, 1, "a")
    first = table.snapshot
    assert first
    write(table, 1, "b")

    assert table.tags.create("t", timestamp=first.time_millis).id == 1
    with pytest.raises(ValueError, match="not both"):
        table.tags.create("u", snapshot=1, timestamp=first.time_millis)
    with pytest.raises(SnapshotNotFoundError):
        table.tags.create("u", timestamp=first.time_millis - 1000)


def test_the_default_lifetime_is_an_option(catalog: pl.Catalog) -> None:
    table = new_table(catalog, {"tag.default-time-retained": "2 h"})
    write(table, 1, "a")
    table.tags.create("short", time_retained=timedelta(minutes=1))
    table.tags.create("usual")

    now = local_now()
    assert table.tags.expire(now=now) == []
    assert table.tags.expire(now=now + timedelta(minutes=5)) == ["short"]
    assert table.tags.expire(now=now + timedelta(hours=3)) == ["usual"]


def test_old_tags_go_whatever_they_say(catalog: pl.Catalog) -> None:
    table = new_table(catalog)
    write(table, 1, "a")
    table.tags.create("endless")

    assert table.tags.expire(older_than=local_now() - timedelta(hours=1)) == []
    assert table.tags.expire(older_than=local_now() + timedelta(hours=1)) == ["endless"]


def test_files_that_only_a_tag_kept_go_with_it(catalog: pl.Catalog) -> None:
    table = new_table(catalog)
    write(table, 1, "a")
    table.tags.create("one")
    table.tags.create("same")
    overwrite(table, 2, "b")
    table.tags.create("two")
    overwrite(table, 3, "c")
    before = data_files(table)
    expire_first(table, 2)

    table.tags.delete("same")
    assert data_files(table) == before, "another tag needs them"
    table.tags.delete("one")
    assert len(data_files(table)) == len(before) - 1
    assert rows(table.scan(tag="two")) == {2: "b"}
    assert rows(table.scan()) == {3: "c"}


def test_a_plan_of_a_deletion_deletes_nothing(catalog: pl.Catalog) -> None:
    table = new_table(catalog)
    write(table, 1, "a")
    table.tags.create("one")
    table.tags.create("same")
    overwrite(table, 2, "b")
    expire_first(table, 1)
    before = data_files(table)

    assert table.tags.delete("same", dry_run=True).file_count == 0
    table.tags.delete("same")
    plan = table.tags.delete("one", dry_run=True)

    assert (data_files(table), rows(table.scan(tag="one"))) == (before, {1: "a"})
    assert (plan.tag, plan.snapshot_id, len(plan.files.data)) == ("one", 1, 1)
    assert table.tags.delete("one") == plan
    assert len(data_files(table)) == len(before) - 1
    with pytest.raises(TagNotFoundError):
        table.tags.delete("one", dry_run=True)


def test_files_that_a_branch_needs_stay(catalog: pl.Catalog) -> None:
    table = new_table(catalog)
    write(table, 1, "a")
    table.tags.create("one")
    table.branches.create("dev", tag="one")
    overwrite(table, 2, "b")
    expire_first(table, 1)

    table.tags.delete("one")

    assert rows(table.on_branch("dev").scan()) == {1: "a"}


def test_what_cannot_be_read_may_need_any_file(catalog: pl.Catalog) -> None:
    table = new_table(catalog)
    write(table, 1, "a")
    table.tags.create("one")
    overwrite(table, 2, "b")
    table.tags.create("broken")
    expire_first(table, 1)
    before = data_files(table)
    (Path(table.path) / "tag" / "tag-broken").write_text("{")

    with pytest.raises(CorruptMetadataError):
        table.tags.delete("one")
    assert data_files(table) == before


def test_a_tag_of_a_living_snapshot_costs_no_file(catalog: pl.Catalog) -> None:
    table = new_table(catalog)
    write(table, 1, "a")
    table.tags.create("one")
    before = data_files(table)

    table.tags.delete("one")

    assert (data_files(table), rows(table.scan())) == (before, {1: "a"})


def test_a_batch_write_makes_a_tag(catalog: pl.Catalog) -> None:
    table = new_table(catalog, {"tag.automatic-creation": "batch", "tag.num-retained-max": "2"})
    write(table, 1, "a")
    table.tags.create("mine")
    write(table, 1, "b")
    assert table.snapshot

    (name,) = set(table.tags.list()) - {"mine"}
    assert name == f"batch-write-{local_time(table.snapshot.time_millis, None):%Y-%m-%d}"
    assert rows(table.scan(tag=name)) == {1: "b"}
    named = catalog.alter_table("db.t", pl.SetOption("tag.batch.customized-name", "latest"))
    write(named, 1, "c")
    assert list(named.tags.list()) == [name, "latest"], "the oldest of three went"


def test_commits_make_tags_of_ended_periods(catalog: pl.Catalog) -> None:
    table = new_table(
        catalog,
        {
            "tag.automatic-creation": "watermark",
            "tag.creation-period": "hourly",
            "tag.num-retained-max": "2",
            "tag.create-success-file": "true",
            "tag.default-time-retained": "1 d",
        },
    )
    hour = 3_600_000
    for number, watermark in enumerate((0, 10, hour + 5, 3 * hour, 3 * hour + 1, 4 * hour)):
        writer = table.new_writer("u")
        writer.write(pa.table({"id": pa.array([number], pa.int32()), "v": ["x"]}))
        table.commit(
            writer.prepare_commit(number), identifier=number, user="u", watermark=watermark
        )

    tags = table.tags.list()
    assert {name: tag.id for name, tag in tags.items()} == {
        "1970-01-01 02": 4,
        "1970-01-01 03": 6,
    }
    assert all(float(str(tag.tag_time_retained)) == 86400 for tag in tags.values())
    told = Path(table.path) / "tag" / "tag-success-file"
    assert sorted(path.name for path in told.iterdir()) == [f"{name}_SUCCESS" for name in tags]
    document = json.loads((told / "1970-01-01 03_SUCCESS").read_bytes())
    assert sorted(document) == ["creationTime", "modificationTime"]
    assert table.tags.create_due() == []


def test_a_snapshot_has_one_tag_of_a_period(catalog: pl.Catalog) -> None:
    table = new_table(catalog, {"tag.automatic-creation": "process-time"})
    write(table, 1, "a")

    assert len(table.tags.list()) == 1
    table.tags.create("mine")
    with pytest.raises(ValueError, match="of a period already"):
        table.tags.create("2001-01-01")


def test_a_commit_is_done_when_its_tag_fails(catalog: pl.Catalog) -> None:
    table = new_table(catalog, {"tag.automatic-creation": "batch"})
    (Path(table.path) / "tag").mkdir()
    day = f"{local_now():%Y-%m-%d}"
    (Path(table.path) / "tag" / f"tag-batch-write-{day}").write_text("{")

    with pytest.raises(PostCommitError, match="do not repeat"):
        write(table, 1, "a")
    assert rows(table.scan()) == {1: "a"}


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"tag.creation-delay": "1 d"}, "shorter"),
        ({"sink.process-time-zone": "Nowhere/Land"}, "time zone"),
    ],
)
def test_options_that_make_no_sense(
    catalog: pl.Catalog, options: Mapping[str, str], match: str
) -> None:
    table = new_table(catalog, {"tag.automatic-creation": "process-time", **options})

    with pytest.raises(PostCommitError, match=match) as raised:
        write(table, 1, "a")
    assert isinstance(raised.value.__cause__, SchemaError)


DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("periods", "time", "name", "before"),
    [
        (TagPeriods.named("daily", "with_dashes"), "2026-03-05 07:30", "2026-03-05", "2026-03-04"),
        (TagPeriods.named("daily", "without_dashes"), "2026-03-05", "20260305", "20260304"),
        (
            TagPeriods.named("daily", "without_dashes_and_spaces"),
            "2026-03-05",
            "20260305",
            "20260304",
        ),
        (
            TagPeriods.named("hourly", "with_dashes"),
            "2026-03-05 07:30",
            "2026-03-05 07",
            "2026-03-05 06",
        ),
        (
            TagPeriods.named("hourly", "without_dashes"),
            "2026-03-05 00:30",
            "20260305 00",
            "20260304 23",
        ),
        (
            TagPeriods.named("hourly", "without_dashes_and_spaces"),
            "2026-03-05 07:30",
            "2026030507",
            "2026030506",
        ),
        (
            TagPeriods.named("two-hours", "without_dashes"),
            "2026-03-05 07:30",
            "2026-03-05 07",
            "2026-03-05 04",
        ),
        (
            TagPeriods.lasting(timedelta(minutes=10)),
            "2026-03-05 07:35",
            "202603050735",
            "202603050720",
        ),
    ],
)
def test_names_of_periods(periods: TagPeriods, time: str, name: str, before: str) -> None:
    moment = datetime.fromisoformat(time)

    assert periods.name(moment) == name
    assert periods.name(periods.before(moment)) == before
    assert periods.time(name) is not None
    assert periods.time("v1") is None
    assert periods.time("2026-1-1") is None


def points(*hours: float | None) -> list[TagPoint]:
    start = datetime(2026, 1, 1)
    return [
        TagPoint(number + 1, None if hour is None else start + timedelta(hours=hour))
        for number, hour in enumerate(hours)
    ]


HOURLY = TagPeriods.named("hourly", "with_dashes")


@pytest.mark.parametrize(
    ("hours", "last", "delay", "completes", "expected"),
    [
        ((5.5,), None, 0, False, [("04", 1)]),
        ((5.5, 5.9, 6.0), None, 0, False, [("04", 1), ("05", 3)]),
        ((5.5, 9.5), None, 0, False, [("04", 1), ("08", 2)]),
        ((5.5, 9.5, 9.6), None, 0, True, [("04", 1), ("05", 2), ("06", 3)]),
        ((5.5, 6.1, 6.6), None, 0.5, False, [("04", 1), ("05", 3)]),
        ((None, 5.5), None, 0, False, [("04", 2)]),
        ((5.5,), 4, 0, False, []),
        ((6.5,), 4, 0, False, [("05", 1)]),
        ((), None, 0, False, []),
    ],
)
def test_when_tags_are_due(
    hours: tuple[float | None, ...],
    last: int | None,
    delay: float,
    completes: bool,
    expected: list[tuple[str, int]],
) -> None:
    found = due_tags(
        points(*hours),
        HOURLY,
        last=None if last is None else datetime(2026, 1, 1, last),
        delay=timedelta(hours=delay),
        completes=completes,
    )

    assert found == [(f"2026-01-01 {hour}", snapshot) for hour, snapshot in expected]


@pytest.mark.parametrize(
    ("zone", "hour"), [("UTC", 0), ("GMT+08:00", 8), ("UTC-2", 22), ("Asia/Tokyo", 9), ("+0530", 5)]
)
def test_time_zones_as_java_writes_them(zone: str, hour: int) -> None:
    assert local_time(0, zone).hour == hour
