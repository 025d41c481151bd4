"""Which snapshots and changelogs go: `cases/snapshot_bound.txt`."""

from __future__ import annotations

import re

import pytest

from paimonlab.errors import SchemaError
from paimonlab.maintenance.retention import (
    ExpireOptions,
    Retention,
    RetentionRequest,
    changelog_bound,
    snapshot_bound,
)
from paimonlab.spec.options.table_options import Options
from tests.support import cases

NOW = 10**9
MINUTE = 60_000


@pytest.mark.parametrize(("title", "given", "expected"), cases("snapshot_bound"))
def test_case_file(title: str, given: str, expected: str) -> None:
    ages, settings = re.split(r"\s{2,}", given.strip())
    told = {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", settings)}
    times = {
        id: NOW - int(age) * MINUTE for id, age in enumerate(ages.split(), start=1) if age != "-"
    }
    retention = Retention(
        retain_max=told["retain_max"],
        retain_min=told["retain_min"],
        older_than_millis=NOW - told["minutes"] * MINUTE,
        max_deletes=told.get("max_deletes", 50),
    )

    found = snapshot_bound(
        [*times],
        retention,
        time_of=times.__getitem__,
        next_read=("c", told["next"]) if "next" in told else None,
    )

    gone = [id for id in times if id < found.first_kept]
    drawn = f"{gone[0]}..{gone[-1]}" if gone else "none"
    assert f"{drawn}: {found.reason}" == expected, title


def test_of_changelogs_their_own_age_counts_and_the_newest_stays() -> None:
    times = {1: 10, 2: 20, 3: 30}
    retention = Retention(older_than_millis=20)

    def bound(retention: Retention) -> int:
        return changelog_bound([1, 2, 3], 9, retention, time_of=times.__getitem__).first_kept

    assert bound(retention) == 2
    assert bound(Retention(older_than_millis=100)) == 3
    assert bound(Retention(older_than_millis=100, retain_min=8)) == 2
    assert bound(Retention(older_than_millis=0, retain_max=8)) == 2


@pytest.mark.parametrize(("most", "least"), [(2, 3), (0, 0), (5, 0), (5, -1)])
def test_what_contradicts_itself_is_an_error(most: int, least: int) -> None:
    retention = Retention(retain_max=most, retain_min=least, older_than_millis=0)

    with pytest.raises(SchemaError, match="cannot keep"):
        snapshot_bound([1, 2, 3, 4, 5], retention, time_of=lambda _: 0)


def test_what_is_asked_for_goes_before_the_options() -> None:
    options = Options({"snapshot.num-retained.max": "20", "snapshot.time-retained": "1 s"}).slice(
        ExpireOptions
    )
    of_table = options.of_snapshots(5000)

    assert of_table == Retention(
        retain_max=20, retain_min=10, older_than_millis=4000, max_deletes=50
    )
    assert RetentionRequest().over(of_table) == of_table
    few = RetentionRequest(retain_max=3).over(of_table)
    assert (few.retain_max, few.retain_min) == (3, 3)
    many = RetentionRequest(retain_min=30).over(of_table)
    assert (many.retain_max, many.retain_min) == (30, 30)
    all_of_them = {"retain_max": 3, "retain_min": 4, "older_than_millis": 1, "max_deletes": 2}
    assert RetentionRequest(**all_of_them).over(of_table) == Retention(**all_of_them)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, False),
        ({"changelog.time-retained": "1 h"}, False),
        ({"changelog.time-retained": "2 h"}, True),
        ({"changelog.num-retained.min": "11"}, True),
        ({"changelog.num-retained.max": "11"}, False),
        ({"changelog.num-retained.max": "11", "snapshot.num-retained.max": "10"}, True),
    ],
    ids=str,
)
def test_changelogs_outlive_snapshots_if_more_of_them_are_kept(
    options: dict[str, str], expected: bool
) -> None:
    assert Options(options).slice(ExpireOptions).keeps_changelogs is expected
