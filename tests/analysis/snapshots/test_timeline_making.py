"""Many snapshots in groups, and where branches fork."""

from __future__ import annotations

from paimonlab.analysis.snapshots import timeline_making
from paimonlab.analysis.snapshots.timeline_making import BRANCH_POINTS
from paimonlab.spec.snapshot import CommitKind
from tests.analysis.snapshots.made_snapshots import snapshot

DAY = 24 * 60 * 60 * 1000


def test_older_snapshots_are_in_groups_of_days() -> None:
    snapshots = [snapshot(number, time_millis=number * DAY // 10) for number in range(1, 701)]
    tags = {"in a group": 5, "alone": 650}

    line = timeline_making.timeline("t", snapshots, tags)

    assert line.grouped_by == "day"
    assert len(line.points) == 500
    assert [group.snapshot_count for group in line.groups] == [9, *[10] * 19, 1]
    assert sum(group.delta_record_count or 0 for group in line.groups) == 100 * 200
    assert line.groups[0].tags == {"in a group": 5}
    assert line.points[0].missing_before == 0


def test_groups_are_equal_where_days_say_little_or_are_hidden() -> None:
    snapshots = [snapshot(number) for number in range(1, 10_001)]

    of_one_day = timeline_making.timeline("t", snapshots, {})
    without_days = timeline_making.timeline(
        "t", [snapshot(n, time_millis=n * DAY) for n in range(1, 601)], {}, has_days=False
    )

    assert of_one_day.grouped_by == "number"
    assert {group.snapshot_count for group in of_one_day.groups[:-1]} == {48}
    assert sum(group.snapshot_count for group in of_one_day.groups) == 9_500
    assert without_days.grouped_by == "number"


def test_groups_tell_kinds_schemas_and_what_expired_inside() -> None:
    kinds = {3: CommitKind.COMPACT, 4: CommitKind.COMPACT}
    snapshots = [
        snapshot(number, schema_id=number // 6, commit_kind=kinds.get(number, CommitKind.APPEND))
        for number in (2, 3, 4, 7, 8, 9)
    ]

    line = timeline_making.timeline("t", snapshots, {}, consumers={"c": 7, "gone": 1}, one_by_one=2)

    assert [(group.first_id, group.last_id) for group in line.groups] == [(2, 7)]
    (group,) = line.groups
    assert group.kinds == {"APPEND": 2, "COMPACT": 2}
    assert group.missing_count == 2
    assert group.new_schemas == (1,)
    assert group.consumers == {"c": 7}
    assert line.other_consumers == {"gone": 1}
    assert line.expired_count == 1


def test_branches_fork_at_the_last_snapshot_that_both_have() -> None:
    ours = [snapshot(number) for number in range(1, 60)]
    theirs = [*ours[:50], *(snapshot(number, time_millis=7) for number in range(51, 55))]

    (branch,) = timeline_making.timeline("t", ours, {}, branches={"b": theirs}).branches

    assert branch.forked_at == 50
    assert [len(branch.points), branch.older_count] == [BRANCH_POINTS, 14]
