from __future__ import annotations

import base64
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from paimonlab.analysis.snapshots import timeline_making
from paimonlab.notebook import views
from paimonlab.notebook.views.timeline.drawing import draw
from paimonlab.notebook.views.timeline.picture import alternative, drawn
from paimonlab.spec.snapshot import CommitKind
from tests.analysis.snapshots.made_snapshots import snapshot


@pytest.fixture
def timeline() -> views.Timeline:
    snapshots = [
        snapshot(4),
        snapshot(7, commit_kind=CommitKind.COMPACT, delta_record_count=-250, commit_user="spark"),
        snapshot(8, schema_id=1, commit_kind=CommitKind.OVERWRITE, delta_record_count=27_004),
        snapshot(9, schema_id=1, commit_kind=CommitKind.ANALYZE, delta_record_count=0),
    ]
    return timeline_making.timeline(
        "air.flights", reversed(snapshots), {"v1": 7, "q1": 7, "old": 1}
    )


def test_points_are_in_order_with_tags_gaps_and_schema_changes(timeline: views.Timeline) -> None:
    assert [point.id for point in timeline.points] == [4, 7, 8, 9]
    assert [point.missing_before for point in timeline.points] == [0, 2, 0, 0]
    assert [point.is_new_schema for point in timeline.points] == [False, False, True, False]
    assert [point.tags for point in timeline.points] == [(), ("q1", "v1"), (), ()]


def test_only_the_newest_are_shown_and_the_rest_is_counted() -> None:
    line = timeline_making.timeline("t", [snapshot(number) for number in range(1, 31)], {})

    drawn = draw(line, last=20)

    assert drawn.to_arrow().column("id").to_pylist() == list(range(11, 31))
    assert "the newest 20 of 30 snapshots" in repr(drawn)


def test_last_must_be_positive() -> None:
    with pytest.raises(ValueError, match="last must be at least 1, got 0"):
        draw(timeline_making.timeline("t", [], {}), last=0)


def test_repeatable_hides_times_and_numbers_users(timeline: views.Timeline) -> None:
    hidden = views.repeatable(timeline)

    assert {point.time_millis for point in hidden.points} == {None}
    assert [point.commit_user for point in hidden.points] == [
        "user#1",
        "user#2",
        "user#1",
        "user#1",
    ]


def test_a_timeline_is_the_same_after_another_run() -> None:
    runs = [
        [snapshot(number, commit_user=user, time_millis=begin + number) for number in (1, 2)]
        for user, begin in (("a", 1_000), ("b", 5_000))
    ]

    first, second = [
        replace(draw(views.repeatable(timeline_making.timeline("t", run, {}))), id="view-1")
        for run in runs
    ]

    assert first._repr_mimebundle_() == second._repr_mimebundle_()


def test_text_says_all_numbers(timeline: views.Timeline) -> None:
    expected = Path(__file__).with_name("timeline.txt").read_text()

    assert repr(draw(views.repeatable(timeline))) + "\n" == expected


def test_times_are_utc(timeline: views.Timeline) -> None:
    assert "2013-01-01 05:00:04" in repr(draw(timeline))


def test_html_and_alternative_text_say_the_numbers_too(timeline: views.Timeline) -> None:
    page = draw(timeline).to_html()

    for number in ("+27,004", "-250", "+100"):
        assert number in alternative(timeline.table, timeline.points)
        assert f">{number}<" in page
    assert alternative(timeline.table, timeline.points) == (
        "Timeline of air.flights: 4 append +100 rows; 2 expired; 7 compact -250 rows, tags q1, v1; "
        "8 overwrite +27,004 rows, schema 1; 9 analyze +0 rows"
    )


def test_the_picture_is_an_image_that_needs_nothing_else(timeline: views.Timeline) -> None:
    match = re.search(
        r'<img src="data:image/svg\+xml;base64,([^"]+)" alt="', draw(timeline).to_html()
    )
    assert match is not None
    picture = ET.fromstring(base64.b64decode(match[1]))

    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    letters = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert {"A", "C", "O", "X", "4", "7", "8", "9", "schema 1", "… 2 …"} <= set(letters)


def test_names_cannot_break_the_picture() -> None:
    line = timeline_making.timeline('a<b>"&', [snapshot(1)], {'<x>"&': 1})

    ET.fromstring(drawn(line.points))
    assert "<x>" not in draw(line).to_html()


def test_rows_are_arrow(timeline: views.Timeline) -> None:
    rows = draw(timeline).to_arrow()

    assert rows.column("id").to_pylist() == [4, 7, 8, 9]
    assert rows.column("delta_record_count").to_pylist() == [100, -250, 27_004, 0]


def test_users_are_left_out_when_none_comes_back() -> None:
    snapshots = [snapshot(number, commit_user=f"u{number}") for number in (1, 2, 3)]

    assert "user" not in repr(draw(timeline_making.timeline("t", snapshots, {})))


def test_a_table_without_snapshots_says_so() -> None:
    empty = draw(timeline_making.timeline("air.flights", [], {}))

    assert "air.flights has no snapshot yet" in repr(empty)
    assert "air.flights has no snapshot yet" in empty.to_html()
