"""What procedures do with tags and branches."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from paimonlab import SetOption
from paimonlab.errors import (
    AlreadyExistsError,
    ArgumentError,
    BranchNotFoundError,
    SnapshotNotFoundError,
    TableNotFoundError,
    TagNotFoundError,
)
from tests.procedures.conftest import Lake, rows_of, write

DONE = [{"result": True}]


@pytest.fixture
def lake(lake: Lake) -> Lake:
    """Add a table with the snapshots 1 to 3, one row more in each."""
    table = lake.keyed(write_only="true")
    for number in (1, 2, 3):
        write(table, (number, f"v{number}", "a"))
    return lake


def test_a_tag_names_the_latest_snapshot_or_the_one_that_is_given(lake: Lake) -> None:
    assert lake.call("create_tag", "db.t", "now") == DONE
    assert lake.call("create_tag", table="t", tag="first", snapshot=1) == DONE

    tags = lake.table().tags.list()
    assert {name: tag.id for name, tag in tags.items()} == {"first": 1, "now": 3}
    assert [tag.tag_time_retained for tag in tags.values()] == [None, None]


def test_a_tag_can_be_of_a_snapshot_that_only_tags_keep(lake: Lake) -> None:
    lake.call("create_tag", "db.t", "first", 1)
    lake.call("expire_snapshots", "db.t", retain_max=1, retain_min=1)

    lake.call("create_tag", "db.t", "again", 1)

    assert lake.table().tags.get("again").id == 1


def test_a_tag_lives_as_long_as_the_call_says_whatever_the_default_of_the_table(lake: Lake) -> None:
    table = lake.keyed("db.short", tag__default_time_retained="1 h")
    write(table, (1, "v", "a"))

    lake.call("create_tag", "db.short", "a", time_retained="2 d")
    lake.call("create_tag", "db.short", "b")

    tags = table.tags.list()
    assert tags["a"].tag_time_retained == 2 * 86_400
    assert tags["b"].tag_time_retained is None


def test_a_name_that_is_taken_is_refused(lake: Lake) -> None:
    lake.call("create_tag", "db.t", "x")

    with pytest.raises(AlreadyExistsError):
        lake.call("create_tag", "db.t", "x")


def test_a_tag_is_replaced_and_renamed(lake: Lake) -> None:
    lake.call("create_tag", "db.t", "x", time_retained="1 d")

    assert lake.call("replace_tag", "db.t", "x", 2) == DONE
    assert lake.call("rename_tag", "db.t", "x", "y") == DONE

    (name, tag), *others = lake.table().tags.list().items()
    assert (name, tag.id, tag.tag_time_retained, others) == ("y", 2, None, [])
    with pytest.raises(TagNotFoundError):
        lake.call("replace_tag", "db.t", "x")


def test_tags_are_deleted_and_names_that_are_not_there_are_passed_over(lake: Lake) -> None:
    for name in "abc":
        lake.call("create_tag", "db.t", name)

    assert lake.call("delete_tag", "db.t", "a, no,c,a") == DONE

    assert list(lake.table().tags.list()) == ["b"]


@pytest.mark.parametrize("before", [0, 1, 2, 3])
def test_a_tag_from_a_time_is_of_the_first_snapshot_then_or_later(lake: Lake, before: int) -> None:
    times = {one.id: one.time_millis for one in lake.table().snapshots.list()}
    millis = times[before] if before else min(times.values()) - 10_000
    first = min(id for id, time in times.items() if time >= millis)

    found = lake.call("create_tag_from_timestamp", "db.t", "x", millis)

    assert found == [
        {"tagName": "x", "snapshot": first, "commit_time": times[first], "watermark": "null"}
    ]
    assert lake.table().tags.get("x").id == first


def test_a_tag_from_a_time_is_of_a_snapshot_that_only_tags_keep(lake: Lake) -> None:
    lake.call("create_tag", "db.t", "first", 1)
    lake.call("expire_snapshots", "db.t", retain_max=1, retain_min=1)

    assert lake.call("create_tag_from_timestamp", "db.t", "x", 0)[0]["snapshot"] == 1


def test_a_tag_from_a_time_after_all_snapshots_is_refused(lake: Lake) -> None:
    with pytest.raises(SnapshotNotFoundError, match="committed at 99999999999999 or later"):
        lake.call("create_tag_from_timestamp", "db.t", "x", 99_999_999_999_999)
    with pytest.raises(ArgumentError, match="needs timestamp"):
        lake.call("create_tag_from_timestamp", "db.t", "x")


def test_tags_expire_by_their_life_and_by_a_time(lake: Lake) -> None:
    lake.call("create_tag", "db.t", "brief", time_retained="1 ms")
    lake.call("create_tag", "db.t", "long", time_retained="1 d")
    lake.call("create_tag", "db.t", "ever")

    end = datetime.now().astimezone() + timedelta(milliseconds=2)
    while datetime.now().astimezone() < end:
        pass

    assert lake.call("expire_tags", "db.t") == [{"expired_tags": "brief"}]
    assert lake.call("expire_tags", "db.t") == [{"expired_tags": "No expired tags."}]
    yesterday = datetime.now().astimezone() - timedelta(days=1)
    tomorrow = datetime.now().astimezone() + timedelta(days=1)
    assert lake.call("expire_tags", "db.t", f"{yesterday:%Y-%m-%d}") == [
        {"expired_tags": "No expired tags."}
    ]
    assert lake.call("expire_tags", "db.t", f"{tomorrow:%Y-%m-%d %H:%M:%S}") == [
        {"expired_tags": "ever"},
        {"expired_tags": "long"},
    ]


def test_what_the_library_does_not_take_is_refused_in_the_name_of_the_procedure(
    lake: Lake,
) -> None:
    with pytest.raises(ArgumentError, match=r"sys\.create_tag: time_retained must be positive"):
        lake.call("create_tag", "db.t", "x", time_retained="0 s")


def test_tags_that_are_due_are_made(lake: Lake) -> None:
    table = lake.keyed("db.auto")
    write(table, (1, "v", "a"))
    lake.catalog.alter_table("db.auto", SetOption("tag.automatic-creation", "batch"))

    assert lake.call("trigger_tag_automatic_creation", "db.t") == DONE
    assert lake.call("trigger_tag_automatic_creation", "db.auto") == DONE

    assert not lake.table().tags.list()
    assert [name[:11] for name in table.tags.list()] == ["batch-write"]


def test_branches_are_made_forwarded_and_deleted(lake: Lake) -> None:
    lake.call("create_tag", "db.t", "two", 2)

    assert lake.call("create_branch", "db.t", "empty") == DONE
    assert lake.call("create_branch", "db.t", "b", "two") == DONE
    assert lake.call("create_branch", "paimon.db.t", "c", tag="two") == DONE
    write(lake.table("db.t$branch_b"), (9, "nine", "b"))
    assert lake.call("fast_forward", "db.t", "b") == DONE

    assert rows_of(lake.table()) == [(1, "v1", "a"), (2, "v2", "a"), (9, "nine", "b")]
    with pytest.raises(BranchNotFoundError, match="no"):
        lake.call("delete_branch", "db.t", "b,no,c")
    assert lake.table().branches.list() == ["b", "c", "empty"]
    assert lake.call("delete_branch", "db.t", "b,c") == DONE
    assert lake.table().branches.list() == ["empty"]
    with pytest.raises(BranchNotFoundError):
        lake.call("delete_branch", "db.t", "b")


def test_a_branch_that_exists_is_kept_if_asked_for(lake: Lake) -> None:
    lake.call("create_tag", "db.t", "two", 2)
    lake.call("create_branch", "db.t", "b", "two")
    write(lake.table("db.t$branch_b"), (9, "nine", "b"))

    for ignores in (None, "FALSE"):
        with pytest.raises(AlreadyExistsError):
            lake.call("create_branch", "db.t", "b", ignoreIfExists=ignores)
    assert lake.call("create_branch", "db.t", "b", "two", True) == DONE
    with pytest.raises(ArgumentError, match="not true or false"):
        lake.call("create_branch", "db.t", "b", ignoreIfExists="yes")
    assert len(rows_of(lake.table("db.t$branch_b"))) == 3


def test_a_procedure_works_on_a_branch(lake: Lake) -> None:
    lake.call("create_tag", "db.t", "two", 2)
    lake.call("create_branch", "db.t", "b", "two")

    lake.call("create_tag", "db.`t$branch_b`", "of_branch")

    assert list(lake.table("db.t$branch_b").tags.list()) == ["of_branch", "two"]
    assert list(lake.table().tags.list()) == ["two"]


def test_tables_that_are_not_there_or_are_none_are_refused(lake: Lake) -> None:
    with pytest.raises(TableNotFoundError, match=r"db\.tt not found\. Did you mean 'db\.t'"):
        lake.call("create_tag", "tt", "x")
    with pytest.raises(ArgumentError, match=r"db.t\$snapshots is a system table"):
        lake.call("create_tag", "db.`t$snapshots`", "x")
    with pytest.raises(ArgumentError, match="table must not be empty"):
        lake.call("create_tag", " ", "x")


def test_a_branch_is_renamed(lake: Lake) -> None:
    table = lake.append("db.r")
    write(table, (1, "a", "2026-01-01"))
    lake.call("create_branch", "db.r", "a")

    assert lake.call("rename_branch", "db.r", "a", to_branch="b") == DONE

    assert table.branches.list() == ["b"]
    with pytest.raises(BranchNotFoundError, match="'a'"):
        lake.call("rename_branch", "db.r", "a", "c")
