from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest

from paimonlab.notebook import commands, views
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.kernel import determinism
from paimonlab.table.table import Table
from tests.analysis.levels.test_levels import catalog, golden
from tests.golden.expected import Case
from tests.notebook.display.test_drawing import EVIL, KEPT_ATTRIBUTES, KEPT_TAGS, Page


def drawn(table: Table, *arguments: Any, **options: Any) -> Drawn[views.Compaction]:
    view = commands.compaction(table, *arguments, **options)
    assert isinstance(view, Drawn)
    return view


def test_an_older_compaction_can_be_asked_for() -> None:
    table = golden(Case("java-1.3.1", "lsm"))

    view = drawn(table, 7)

    assert view.value.chosen_id == 7
    assert view.value.last_id == 7
    assert "snapshot 7" in view.others[0].caption


def test_what_is_no_compaction_is_refused() -> None:
    with pytest.raises(ValueError, match=r"snapshot 5 of db\.lsm is of kind APPEND"):
        commands.compaction(golden(Case("java-1.3.1", "lsm")), 5)


def test_repeatable_hides_times_bytes_and_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(determinism.VARIABLE, "1")

    view = drawn(golden(Case("java-1.3.1", "lsm")))

    text = msgspec.json.encode(view.value).decode()
    assert '"bytes":null' in text
    assert '"timeMillis":1' not in text
    assert {run.commit_user for run in view.value.runs} == {"user#1"}
    assert " kB" not in view.to_text()
    assert "amplification" not in view.to_text()


def test_html_is_what_sanitisers_leave_alone(tmp_path: Path) -> None:
    table = catalog(tmp_path).create_table(
        "db.t",
        {"p": "STRING NOT NULL", "k": "INT NOT NULL"},
        primary_keys=["p", "k"],
        partition_keys=["p"],
        options={"bucket": "1"},
    )
    for _ in range(6):
        table.write(pa.table({"p": [EVIL], "k": pa.array([1], pa.int32())}))

    view = drawn(table)

    page = Page(view.to_html())
    assert page.tags <= KEPT_TAGS
    assert page.attributes <= KEPT_ATTRIBUTES
    assert "\u202e" not in view.to_html() + view.to_text()
    assert "rows dropped" in view.picture
    assert len(json.dumps(view.data())) < 20_000
    assert view.save(tmp_path / "view.html").read_text().count("</script>") == 2


def test_a_table_without_rows_says_so(tmp_path: Path) -> None:
    view = drawn(catalog(tmp_path).create_table("db.t", {"k": "INT"}))

    assert "db.t has no snapshot yet\nRows are added by INSERT INTO db.t VALUES …" in repr(view)
    assert view.value.bucket_count == 0


def test_without_a_compaction_the_statements_are_there_one_a_row(tmp_path: Path) -> None:
    table = catalog(tmp_path).create_table("db.t", {"k": "INT"})
    table.write(pa.table({"k": pa.array([1], pa.int32())}))

    view = drawn(table)

    (calls,) = (grid for grid in view.others if grid.caption == "to copy")
    assert view.grid.headline == "No compaction in snapshots 1 to 1"
    assert [[cell.text for cell in row] for row in calls.rows[:2]] == [
        ["what the options ask for", "SQL", view.value.calls[0].sql],
        ["", "Python", view.value.calls[0].python],
    ]
