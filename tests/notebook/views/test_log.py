"""The history of a table beside what Java shows."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import paimonlab
from paimonlab.analysis.snapshots import commit_log
from paimonlab.analysis.snapshots.watching import Watcher
from paimonlab.notebook import commands, views
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.views.log.drawing import draw
from paimonlab.notebook.views.watch.drawing import draw as draw_watch
from paimonlab.scan.live_files import delta_manifests_of, read_entries
from paimonlab.spec.manifests.manifest import FileKind
from paimonlab.table.inside import store_of
from paimonlab.table.table import Table
from tests.analysis.snapshots.made_snapshots import snapshot
from tests.golden.expected import expected, values
from tests.notebook.display.test_drawing import EVIL, KEPT_ATTRIBUTES, KEPT_TAGS, Page
from tests.notebook.views.test_timeline import READ, golden_table


def log_of(table: Table, **options: Any) -> views.Log:
    value = commands.log(table, **options).value
    assert isinstance(value, views.Log)
    return value


@pytest.mark.parametrize("case", READ[::4], ids=str)
def test_commits_are_those_that_java_shows(case: Any) -> None:
    system = expected(case).system_tables()
    assert "snapshots" in system, "Java was asked for every one of these tables"
    fields = system["snapshots"]["fields"]
    rows = [dict(zip(fields, row, strict=True)) for row in values(system["snapshots"]["rows"])]

    entries = log_of(golden_table(case), last=1000).entries

    assert [
        (one.version, one.user, one.operation, one.schema_id, one.metrics.get("totalRows", 0))
        for one in entries
    ] == [
        (
            *(row["snapshot_id"], row["commit_user"], row["commit_kind"], row["schema_id"]),
            row["total_record_count"],
        )
        for row in reversed(rows)
    ]
    for entry, row in zip(entries, reversed(rows), strict=True):
        metrics = entry.metrics
        difference = metrics.get("addedRows", 0) - metrics.get("deletedRows", 0)
        assert difference == row["delta_record_count"]


@pytest.mark.parametrize("case", READ[1::8], ids=str)
def test_metrics_are_those_of_the_manifests(case: Any) -> None:
    table = golden_table(case)

    for entry in log_of(table).entries:
        found = table.snapshots.get(entry.version)
        manifests = store_of(table).manifests
        rows = [
            row
            for entries in read_entries(found, delta_manifests_of(found, manifests), manifests)
            for row in entries.select(["kind", "row_count", "file_size_bytes"]).to_pylist()
        ]
        for word, kind in (("added", FileKind.ADD), ("deleted", FileKind.DELETE)):
            of_kind = [row for row in rows if row["kind"] == kind]
            assert entry.metrics.get(f"{word}Files", 0) == len(of_kind)
            assert entry.metrics.get(f"{word}Rows", 0) == sum(r["row_count"] for r in of_kind)
            assert entry.metrics.get(f"{word}Bytes", 0) == sum(
                r["file_size_bytes"] for r in of_kind
            )


@pytest.fixture
def deletes(tmp_path: Any) -> Table:
    """Ten rows, then five of them deleted, then three others updated and one deleted."""
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.write_table("db.t", {"id": range(10), "v": [0] * 10}, primary_keys="id")
    table.delete("id < 5")
    changes = {"id": [5, 6, 7, 8], "v": [1] * 4, "kind": ["+U", "+U", "+U", "-D"]}
    table.write(pa.table(changes), row_kinds="kind")
    return table


@pytest.mark.parametrize("name", ["log", "watch", "timeline"])
def test_deletes_have_no_plus_sign(deletes: Table, name: str) -> None:
    """Though each is a row more in the files of the table, as Java's record counts say."""
    last = deletes.snapshots.ids()[-1]
    for undone, said in enumerate(["+3 -1 rows", "-5 rows", "+10 rows"]):
        if undone:
            deletes.maintenance.rollback_to(snapshot=last - undone)
        view = deletes.show.log() if name == "log" else deletes.show.timeline()
        if name == "watch":
            view = draw_watch(Watcher(deletes).value("stopped"))
        assert isinstance(view, Drawn)
        assert f"{said}, " in view.grid.headline
        assert "+5" not in repr(view)


def test_the_newest_come_first_and_the_rest_is_counted() -> None:
    history = commit_log.log("t", [snapshot(1), snapshot(2)], {}, {"b": 2, "a": 2}, older_count=3)

    text = repr(draw(history))

    assert [entry.version for entry in history.entries] == [2, 1]
    assert history.entries[0].tags == ("a", "b")
    assert "the newest 2 of 5 commits; -n N for more" in text
    assert "total rows" in text
    assert "  200  " in text


def test_secrets_and_hostile_properties_are_not_shown() -> None:
    written = {"jdbc.password": "hunter2", EVIL: EVIL}
    history = commit_log.log(EVIL, [snapshot(1, properties=written, operation=EVIL)], {}, {EVIL: 1})

    drawn = draw(history)
    page = Page(drawn.to_html())

    assert page.tags <= KEPT_TAGS
    assert page.attributes <= KEPT_ATTRIBUTES
    assert "hunter2" not in str(drawn._repr_mimebundle_())


def test_repeatable_hides_times_files_and_users() -> None:
    totals = views.FileTotals(
        manifest_count=1, file_count=3, added_file_count=2, deleted_file_count=0
    )
    history = commit_log.log("t", [snapshot(1), snapshot(2)], {1: totals}, {})

    hidden = views.repeatable_log(history)

    assert [entry.user for entry in hidden.entries] == ["user#1", "user#1"]
    assert {entry.time_millis for entry in hidden.entries} == {None}
    assert hidden.entries[1].metrics == {"totalRows": 100}


def test_a_table_without_snapshots_says_so() -> None:
    assert "t has no snapshot yet" in repr(draw(commit_log.log("t", [], {}, {})))
