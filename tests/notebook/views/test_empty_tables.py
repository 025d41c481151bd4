"""Views of a table that nothing was written to, and of one with its first snapshot only."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

import paimonlab
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.table.table import Table

EMPTY: dict[str, Callable[[Table], Any]] = {
    "changes": lambda table: table.show.changes(0, 0),
    "diff": lambda table: table.show.diff(0, 0),
    "profile": lambda table: table.show.profile(),
    "row": lambda table: table.show.row("k = 1"),
    "simulator": lambda table: table.show.simulator(),
    "travel": lambda table: table.show.travel(),
}
"""Each as it is asked for where there is no snapshot."""


def new_table(path: Path) -> Table:
    catalog = paimonlab.connect(path)
    catalog.create_database("db")
    columns = {"k": "INT NOT NULL", "v": "STRING"}
    return catalog.create_table("db.t", columns, primary_keys=["k"], options={"bucket": 1})


@pytest.mark.parametrize("name", EMPTY)
def test_a_view_of_nothing_says_what_to_do(name: str, tmp_path: Path) -> None:
    view = EMPTY[name](new_table(tmp_path))

    assert isinstance(view, Drawn)
    for form in (view.to_text(), view.to_html(), view.to_markdown()):
        assert "Rows are added by INSERT INTO db.t VALUES …" in form.replace("\\", "")
    assert "%paimon" not in view.to_text()
    assert view.data()["kind"] == name


def test_the_first_snapshot_is_compared_with_the_empty_table(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    table.write([{"k": 1}, {"k": 2}])
    files = table.scan().plan_here().files

    forth, back = table.show.diff(0, 1).value, table.show.diff("1", "0").value
    nothing = table.show.diff(0, 0)

    assert (forth.before.snapshot_id, forth.after.snapshot_id) == (0, 1)
    assert forth.before.live.file_count == forth.before.total_record_count == 0
    assert forth.after.live == forth.added == back.removed
    assert [file.name for file in forth.files] == files["file_name"].to_pylist()
    assert forth.added.row_count == 2
    assert forth.schema == back.schema == ()
    assert "up to snapshot 1\n+1 file: +2 rows" in table.show.diff(0, 1).to_text()
    assert "the same files" in nothing.to_text().lower()
    assert "no snapshot yet" not in nothing.to_text()


def test_magics_take_what_there_is(shell: InteractiveShell, tmp_path: Path) -> None:
    table = new_table(tmp_path)
    shell.run_line_magic("paimon_connect", f"{tmp_path} --engine native")
    shown = [shell.run_line_magic(f"paimon_{name}", "db.t") for name in ("diff", "changes")]
    assert all("has no snapshot yet" in view.to_text() for view in shown)

    table.write([{"k": 1}])
    diff, changes = (shell.run_line_magic(f"paimon_{name}", "db.t") for name in ("diff", "changes"))
    assert (diff.value.before.snapshot_id, diff.value.after.snapshot_id) == (0, 1)
    assert changes.value.total.inserts == 1

    table.write([{"k": 2}])
    table.maintenance.expire_snapshots(retain_max=1, retain_min=1)
    with pytest.raises(UsageError, match=r"have expired: db.t 0 2 compares it with"):
        shell.run_line_magic("paimon_diff", "db.t")
    whole = shell.run_line_magic("paimon_diff", "db.t 0 2")
    assert whole.value.added == whole.value.after.live
