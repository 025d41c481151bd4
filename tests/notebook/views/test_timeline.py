"""The timeline beside what Java says; older snapshots in groups; other branches."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import paimonlab
from paimonlab.analysis.snapshots import timeline_making
from paimonlab.analysis.snapshots.timeline_making import MOST_BRANCHES
from paimonlab.notebook import commands, views
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.kernel.determinism import VARIABLE
from paimonlab.notebook.views.timeline.drawing import draw
from paimonlab.notebook.views.timeline.picture import picture
from paimonlab.table.inside import store_of
from paimonlab.table.system.live import files_of
from paimonlab.table.table import Table
from tests.analysis.snapshots.made_snapshots import snapshot
from tests.golden.expected import cases, expected, values
from tests.notebook.display.test_drawing import EVIL, KEPT_ATTRIBUTES, KEPT_TAGS, Page

READ = [
    case
    for case in cases()
    if case.refusal is None and case.writer == "java-1.3.1" and case.recorded_at is None
]


def golden_table(case: Any) -> Table:
    answers = expected(case)
    table = paimonlab.connect(answers.warehouse).table(answers.document["table"])
    assert isinstance(table, Table)
    return table


def timeline_of(table: Table, **options: Any) -> views.Timeline:
    value = commands.timeline(table, **options).value
    assert isinstance(value, views.Timeline)
    return value


@pytest.mark.parametrize("case", READ, ids=str)
def test_it_says_what_java_shows(case: Any) -> None:
    system = expected(case).system_tables()
    table = golden_table(case)
    assert "snapshots" in system, "Java was asked for every one of these tables"

    line = timeline_of(table)

    found = [
        [
            *(point.id, point.schema_id, point.commit_user, point.commit_kind),
            *(point.total_record_count, point.delta_record_count, point.changelog_record_count),
        ]
        for point in line.points
    ]
    places = [system["snapshots"]["fields"].index(name) for name in NAMES]
    assert found == [[row[at] for at in places] for row in values(system["snapshots"]["rows"])]
    named = {name: point.id for point in line.points for name in point.tags} | line.other_tags
    assert sorted(named.items()) == sorted(
        (row[0], row[1]) for row in values(system["tags"]["rows"])
    )
    readers = {name: point.id for point in line.points for name in point.consumers}
    assert sorted((readers | line.other_consumers).items()) == sorted(
        (row[0], row[1]) for row in values(system["consumers"]["rows"])
    )
    assert [branch.name for branch in line.branches] == sorted(
        row[0] for row in values(system["branches"]["rows"])
    )


NAMES = (
    *("snapshot_id", "schema_id", "commit_user", "commit_kind"),
    *("total_record_count", "delta_record_count", "changelog_record_count"),
)


@pytest.mark.parametrize("case", READ[::5], ids=str)
def test_files_and_bytes_are_those_of_the_live_files(case: Any) -> None:
    table = golden_table(case)

    for point in timeline_of(table).points:
        files = files_of(
            store_of(table).manifests, table.snapshots.get(point.id), with_postponed=True
        )
        assert point.file_count == files.num_rows
        assert point.file_bytes == (pc.sum(files["file_size_bytes"]).as_py() or 0)


def test_ten_thousand_snapshots_are_few_bytes() -> None:
    snapshots = [snapshot(number, watermark=number) for number in range(1, 10_001)]
    others = {f"b{number}": snapshots[-100:] for number in range(20)}

    line = timeline_making.timeline("t", snapshots, {}, branches=others)
    bundle = draw(line)._repr_mimebundle_()

    assert len(json.dumps(bundle)) < 500_000
    assert len(line.branches) == MOST_BRANCHES
    assert "10 of 20 branches" in bundle["text/plain"]
    assert "the newest 20 of 10000 snapshots" in bundle["text/plain"]


def test_a_branch_shows_the_main_one_beside_it(tmp_path: Any) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", pa.schema([("id", pa.int64())]))
    for number in range(3):
        table.write(pa.table({"id": [number]}))
    table.tags.create("two", snapshot=2)
    table.branches.create("dev", tag="two")
    dev = table.on_branch("dev")
    dev.write(pa.table({"id": [9]}))

    line, main = timeline_of(dev), timeline_of(table)

    assert [point.id for point in line.points] == [2, 3]
    assert [branch.name for branch in line.branches] == ["main"]
    assert line.branches[0].forked_at == main.branches[0].forked_at == 2
    assert "db.t, branch dev: snapshots 2 to 3, has snapshot 2 in common" in repr(draw(main))


def test_hostile_names_are_only_text() -> None:
    line = timeline_making.timeline(
        EVIL, [snapshot(1)], {EVIL: 1, "x" * 10_000: 1}, consumers={EVIL: 1}, branches={EVIL: []}
    )
    line = msgspec.structs.replace(
        line,
        branches=(
            views.TimelineBranch(name=EVIL, points=line.points, older_count=0, forked_at=None),
        ),
    )

    page = Page(draw(line).to_html())

    assert page.tags <= KEPT_TAGS
    assert page.attributes <= KEPT_ATTRIBUTES
    assert "\u202e" not in repr(draw(line))


def test_repeatable_hides_times_files_and_users(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "1")
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    bundles = []
    for name in ("a", "b"):
        table = catalog.create_table(f"db.{name}", pa.schema([("id", pa.int64())]))
        for number in range(3):
            table.write(pa.table({"id": [number]}))
        view = commands.timeline(table)
        assert isinstance(view, Drawn)
        bundles.append(json.dumps({**view.data(), "id": ""}).replace(f"db.{name}", "db.t"))

    assert bundles[0] == bundles[1]
    assert "file" not in bundles[0]


def test_the_picture_fits_into_a_narrow_page_unless_texts_need_more() -> None:
    """Browsers shrink a wider one with all letters."""
    points = timeline_making.timeline("t", [snapshot(281 + id) for id in range(20)], {}).points
    tagged = [msgspec.structs.replace(point, tags=("a",)) for point in points]

    assert 'width="744"' in picture("t", points)
    assert 'width="934"' in picture("t", tagged)
