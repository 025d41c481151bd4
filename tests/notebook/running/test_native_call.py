"""CALL in cells without Spark."""

from __future__ import annotations

import _thread
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Timer
from typing import Any

import pyarrow as pa
import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

import paimonlab
from paimonlab.notebook import commands, views
from paimonlab.notebook.cell.history import history
from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.kernel import determinism
from paimonlab.notebook.kernel.interruptible import Cancelled, run_interruptibly
from paimonlab.notebook.kernel.progress import ProgressDisplay
from paimonlab.notebook.views.planned.call_drawing import draw_planned_call
from paimonlab.table.table import Table
from tests.notebook.display.test_drawing import KEPT_ATTRIBUTES, KEPT_TAGS, Page
from tests.notebook.hostile import strings


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    """Connect natively to a table of three snapshots."""
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    made = catalog.create_table(
        "db.t",
        {"k": "INT NOT NULL", "v": "STRING"},
        primary_keys=["k"],
        options={"bucket": "1", "write-only": "true"},
    )
    for value in ("one", "two", "three"):
        made.write(pa.table({"k": pa.array([1], pa.int32()), "v": [value]}))
    connections.connect(tmp_path, engine="native")
    yield made
    connections.disconnect()


def failure(text: str, **args: Any) -> tuple[str, str]:
    """Return what is wrong with a call, and what the carets are under."""
    with pytest.raises(QueryError) as caught:
        commands.sql(text, args=args)
    error = caught.value
    assert error.statement is not None
    assert error.span is not None
    return error.message, error.statement.cell[error.span.start : error.span.end]


def test_a_call_runs_and_shows_its_rows(table: Table) -> None:
    result = commands.sql("CALL sys.rollback(table => 'db.t', snapshot => 2)")

    assert result.to_arrow().to_pylist() == [{"previous_snapshot_id": 3, "current_snapshot_id": 2}]
    assert "bigint" in result.to_text()
    assert table.snapshot is not None
    assert table.snapshot.id == 2
    assert commands.sql("SELECT v FROM db.t").to_arrow()["v"].to_pylist() == ["two"]


def test_arguments_come_by_place_by_name_and_from_variables(table: Table) -> None:
    args = {"t": "paimon.db.t", "tag": "it's"}
    commands.sql("call paimon.SYS.create_tag(:t, :tag, snapshot => 2)", args=args)

    assert {name: tag.id for name, tag in table.tags.list().items()} == {"it's": 2}


def test_statements_run_in_order_and_none_is_limited(table: Table) -> None:
    for number in range(3):
        table.tags.create(f"t{number}")
    result = commands.sql(
        "CALL sys.expire_tags('db.t', '2100-01-01 00:00:00'); SELECT count(*) FROM db.t;"
        "CALL sys.create_tag('db.t', 'a'); CALL sys.delete_tag('db.t', 'a')",
        limit=1,
    )

    assert result.to_arrow().to_pylist() == [{"result": True}]
    assert not table.tags.list()
    expired, *_ = reversed(history().list(last=4).entries)
    assert expired.sql.startswith("CALL sys.expire_tags")
    assert expired.row_count == 3


@pytest.mark.parametrize(
    ("text", "said", "pointed_at"),
    [
        ("CALL sys.create_tags('db.t', 'x')", "Did you mean 'create_tag'", "sys.create_tags"),
        ("CALL db.create_tag('db.t', 'x')", "in sys", "db.create_tag"),
        ("CALL other.sys.create_tag('db.t')", "in sys", "other.sys.create_tag"),
        ("CALL sys.create_tag('db.t')", "needs tag", "sys.create_tag"),
        ("CALL sys.create_tag('t', 'x')", "no database", "'t'"),
        ("CALL sys.create_tag('db.nix', tag => 'x')", "db.nix", "'db.nix'"),
        (
            "CALL sys.create_tag('db.t', 'x', snapshot => '1')",
            "not a valid BIGINT",
            "snapshot => '1'",
        ),
        ("CALL sys.create_tag('db.t', 'x', snapshot => 99)", "no snapshot 99", "snapshot => 99"),
        ("CALL sys.create_tag('db.t', 'x', nix => 1)", "no parameter 'nix'", "nix => 1"),
        ("CALL sys.create_tag(tag => 'x', 'db.t')", "has no name", "'db.t'"),
        ("CALL sys.create_tag('db.t', 'x', tag => 'y')", "given twice", "tag => 'y'"),
        ("CALL sys.create_tag('db.t', concat('a'))", "literal", "concat"),
        (
            "CALL sys.migrate_table('hive', 'db.t', target_table => 'db.x')",
            "in no Hive metastore",
            "'db.t'",
        ),
    ],
)
def test_errors_point_at_what_is_wrong(table: Table, text: str, said: str, pointed_at: str) -> None:
    message, span = failure(text)

    assert said in message
    assert span == pointed_at
    assert not table.tags.list()
    assert table.snapshot is not None
    assert table.snapshot.id == 3


def test_an_interrupt_ends_work_where_it_next_tells_how_far_it_is() -> None:
    begun, ends = Event(), []

    def work(progress: Any) -> None:
        try:
            for number in range(1_000_000):
                progress(number, 1_000_000, "files")
                begun.set()
        finally:
            ends.append(True)

    def interrupt() -> None:
        begun.wait()
        _thread.interrupt_main()

    Timer(0, interrupt).start()
    with pytest.raises(Cancelled, match=r"cancelled after .* files\)$"):
        run_interruptibly(work, display=ProgressDisplay(is_shown=False))

    assert ends == [True]


def test_what_work_raises_is_raised_here() -> None:
    def work(_progress: Any) -> None:
        raise QueryError("no", topic="call")

    with pytest.raises(QueryError, match="no"):
        run_interruptibly(work, display=ProgressDisplay(is_shown=False))


def test_a_dry_run_shows_what_would_go_and_does_nothing(table: Table) -> None:
    view = commands.planned("CALL sys.rollback('db.t', snapshot => :back)", args={"back": 1})

    text = view.to_markdown()
    found = view.to_arrow().to_pylist()
    assert [(one["what"], one["name"]) for one in found[:2]] == [
        ("snapshot", "3"),
        ("snapshot", "2"),
    ]
    assert {one["what"] for one in found[2:]} == {"file"}
    assert all(one["name"].startswith("db.db/t/") for one in found[2:])
    assert "later than snapshot 1" in text
    assert "nothing was done" in text
    assert table.snapshot is not None
    assert table.snapshot.id == 3


def test_a_dry_run_of_a_compaction_tells_files_bytes_and_why(table: Table) -> None:
    (found,) = commands.planned("CALL sys.compact('db.t')").to_arrow().to_pylist()

    sizes = commands.sql("SELECT file_size_in_bytes FROM db.t$files").to_arrow()
    assert found["action"] == "rewrite"
    assert found["name"] == "bucket 0"
    assert found["file_count"] == 3
    assert found["size_bytes"] == sum(sizes["file_size_in_bytes"].to_pylist())
    assert found["reason"].endswith("to level 5")
    assert table.snapshot is not None
    assert table.snapshot.id == 3


def test_a_dry_run_is_the_same_from_run_to_run(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(determinism.VARIABLE, "1")

    text = commands.planned("CALL sys.rollback('db.t', snapshot => 2)").to_markdown()

    assert "size" not in text
    assert "file#1" in text
    assert ".parquet" not in text
    assert table.snapshot is not None
    assert table.snapshot.id == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("CALL sys.create_tag('db.t', 'x')", "a dry run of sys.create_tag"),
        ("CALL sys.nix('db.t')", "no procedure"),
        ("CALL sys.compact('db.nix')", "db.nix"),
        ("CALL sys.compact('db.t'); CALL sys.compact('db.t')", "One statement at a time"),
    ],
)
def test_what_has_no_dry_run_is_refused(table: Table, text: str, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        commands.planned(text)

    assert not table.tags.list()


def test_hostile_names_stay_text_in_a_dry_run() -> None:
    for text in strings():
        change = views.PlannedChange(action="delete", what="tag", name=text, reason=text)
        call = views.PlannedCall(
            sql=text,
            procedure="delete_tag",
            changes=(change,),
            change_count=1,
            file_count=0,
            size_bytes=0,
            has_unknown_sizes=False,
        )
        drawn = draw_planned_call(call, is_repeatable=False)
        page = Page(drawn.to_html())
        assert page.tags <= KEPT_TAGS
        assert page.attributes <= {*KEPT_ATTRIBUTES, "open"}
        assert drawn.to_markdown()


@pytest.mark.parametrize(
    ("first", "second"),
    [("CALL sys.compact('db.t')", "CALL sys.compact('db.t')"), ("OPTIMIZE db.t", "OPTIMIZE db.t")],
)
@pytest.mark.usefixtures("table")
def test_a_compaction_says_what_it_did(first: str, second: str) -> None:
    assert "db.t: compacted 1 bucket, 3 files" in commands.sql(first).to_text()
    again = commands.sql(second)

    assert again.to_arrow().to_pylist() == [{"result": True}]
    assert "db.t: nothing to compact" in again.to_text()


@pytest.mark.parametrize(
    "text", ["VACUUM db.t RETAIN 5 HOURS", "RESTORE TABLE db.t TO VERSION AS OF 1"]
)
@pytest.mark.usefixtures("table")
def test_a_statement_of_another_format_is_answered_with_whole_calls(text: str) -> None:
    with pytest.raises(QueryError) as caught:
        commands.sql(text)
    lines = str(caught.value).splitlines()
    calls = [line for line in lines if line.startswith("CALL sys.")]

    assert "…" not in "".join(lines)
    assert calls
    assert calls[-1].endswith(")")


@pytest.mark.usefixtures("table")
def test_a_compaction_is_planned_first() -> None:
    plan = commands.compact("db.t", full=True)

    assert "would compact 1 bucket" in repr(plan)
    assert "nothing was done; add --yes (dry_run=False) to do it" in repr(plan)
    assert connections.current().catalog["db.t"].snapshots.ids() == [1, 2, 3]

    done = commands.compact("db.t", full=True, dry_run=False)

    assert "db.t: compacted 1 bucket" in repr(done)
    assert "; done" in repr(done)
    assert "nothing to compact" in repr(commands.compact("db.t", full=True))
    assert connections.current().catalog["db.t"].snapshots.ids() == [1, 2, 3, 4]


def test_snapshots_to_expire_are_planned_first(shell: InteractiveShell, table: Table) -> None:
    plan = shell.run_cell("%paimon_expire db.t --retain-max 1").result

    assert "2 snapshots expire, 1 to 2; 3 stays" in plan.to_text()
    assert "nothing was done" in plan.to_html()
    assert table.snapshots.ids() == [1, 2, 3]

    with pytest.raises(UsageError, match="exclude each other"):
        shell.run_cell("%paimon_expire db.t --dry-run --yes").raise_error()
    with pytest.raises(UsageError, match="nonsense"):
        shell.run_cell("%paimon_expire db.t --older-than nonsense").raise_error()
    done = shell.run_cell("%paimon_expire db.t --retain-max 1 --yes").result

    assert "delete" in done.to_text()
    assert table.snapshots.ids() == [3]
    found = shell.run_cell("%paimon_compact db.t -p dt=1").error_in_exec
    assert "dt" in str(found)
