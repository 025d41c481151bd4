"""Watches of tables beside what `table.files` and `table.changes` say once they are still."""

from __future__ import annotations

import random
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from IPython.core.interactiveshell import InteractiveShell

import paimonlab as pl
from paimonlab.analysis.snapshots.watched import WatchedCommit, rates
from paimonlab.analysis.snapshots.watching import Watcher
from paimonlab.errors import SnapshotNotFoundError
from paimonlab.notebook import commands, views
from paimonlab.notebook.kernel.selection import selections
from paimonlab.notebook.views.watch.command import Watching
from paimonlab.notebook.views.watch.drawing import draw
from paimonlab.table.table import Table
from tests.waiting import until


@pytest.fixture
def table(tmp_path: Path) -> Table:
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    columns = {"id": "BIGINT NOT NULL", "v": "STRING"}
    options = {"bucket": "2", "write-only": "true"}
    return catalog.create_table("db.t", columns, primary_keys=["id"], options=options)


def write(table: Table, *ids: int) -> None:
    table.write(pa.table({"id": pa.array(ids, "int64"), "v": ["x"] * len(ids)}))


def newest(table: Table) -> int:
    snapshot = table.refresh().snapshot
    return 0 if snapshot is None else snapshot.id


def test_levels_and_commits_are_those_of_the_files_after_every_kind_of_commit(
    table: Table, tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    watcher = Watcher(table, last=100)
    for _ in range(20):
        kind = chance.choice(["write", "write", "delete", "compact", "overwrite", "two"])
        for _ in range(2 if kind == "two" else 1):
            write(table, *chance.sample(range(50), 5))
        if kind == "delete":
            table.delete(f"id = {chance.randrange(50)}")
        elif kind == "compact":
            table.compact(full=True)
        elif kind == "overwrite":
            table.overwrite(pa.table({"id": pa.array([1, 2], "int64"), "v": ["a", "b"]}))
        assert watcher.look()

        value = watcher.value()

        files = pl.connect(tmp_path).system_table("db.t$files").scan().to_arrow()
        expected = files.group_by("level").aggregate(
            [("record_count", "sum"), ("file_size_in_bytes", "sum"), ("level", "count")]
        )
        found = {
            level.level: (level.row_count, level.file_bytes, level.file_count)
            for level in value.levels
        }
        assert found == {
            row["level"]: (
                row["record_count_sum"],
                row["file_size_in_bytes_sum"],
                row["level_count"],
            )
            for row in expected.to_pylist()
        }
        assert [commit.snapshot_id for commit in value.commits] == list(range(1, newest(table) + 1))
        assert not watcher.look(), "each commit is seen once"
    assert watcher.seen_count == newest(table)


def test_rows_that_were_written_and_deleted_are_counted(table: Table) -> None:
    write(table, 1, 2, 3)
    table.delete("id = 2")
    table.compact(full=True)

    commits = Watcher(table).value().commits

    facts = [(one.commit_kind, one.written_rows, one.deleted_rows) for one in commits]
    assert facts == [("APPEND", 3, 0), ("APPEND", 0, 1), ("COMPACT", 0, 0)]


def test_a_table_that_is_rolled_back_is_read_again(table: Table) -> None:
    for id in range(3):
        write(table, id)
    watcher = Watcher(table)
    table.maintenance.rollback_to(snapshot=1)
    write(table, 9)
    write(table, 10)

    assert watcher.has_news() or watcher.look()
    watcher.look()

    value = watcher.value()
    assert [commit.snapshot_id for commit in value.commits] == [1, 2, 3]
    assert "rolled back" in value.note
    assert sum(level.row_count for level in value.levels) == 3


def test_a_table_that_is_dropped_ends_it(table: Table, tmp_path: Path) -> None:
    write(table, 1)
    watcher = Watcher(table)
    pl.connect(tmp_path).drop_table("db.t")

    assert watcher.has_news()
    with pytest.raises(SnapshotNotFoundError, match="dropped"):
        watcher.look()


def test_commits_that_expired_before_they_were_seen_are_left_out(table: Table) -> None:
    write(table, 0)
    watcher = Watcher(table)
    for id in range(1, 6):
        write(table, id)
    table.maintenance.expire_snapshots(retain_max=1, retain_min=1, older_than="0 s")

    assert watcher.look()

    value = watcher.value()
    assert [commit.snapshot_id for commit in value.commits] == [6]
    assert (value.seen_count, sum(one.row_count for one in value.levels)) == (5, 6)


def test_a_look_opens_the_files_of_the_commit_and_no_others(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many files the table has: manifests of its base are not opened."""
    for id in range(12):
        write(table, id)
    watcher = Watcher(table)
    write(table, 99)
    opened: list[str] = []
    manifests = watcher._store.manifests
    read, read_list = type(manifests).read, type(manifests).read_list

    def counted(self: Any, metas: Any, **named: Any) -> Any:
        metas = list(metas)
        opened.extend(meta.file_name for meta in metas)
        return read(self, metas, **named)

    def listed(self: Any, name: str, *others: Any, **named: Any) -> Any:
        opened.append(name)
        return read_list(self, name, *others, **named)

    monkeypatch.setattr(type(manifests), "read", counted)
    monkeypatch.setattr(type(manifests), "read_list", listed)

    assert watcher.look()

    assert len(opened) == 2, "a list and its manifest"


def test_an_idle_watch_looks_and_reads_nothing(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(table, 1)
    watcher = Watcher(table)
    looks: list[int] = []
    has_news = Watcher.has_news

    def counted(self: Watcher) -> bool:
        looks.append(1)
        return has_news(self)

    monkeypatch.setattr(Watcher, "has_news", counted)
    monkeypatch.setattr(Watcher, "look", lambda _: pytest.fail("there is nothing to read"))

    watcher.wait(threading.Event(), 500)

    assert 1 <= len(looks) <= 3, "five times a second at most"


def test_a_watch_in_the_background_draws_what_is_written_and_is_stopped_by_its_button(
    table: Table, capsys: pytest.CaptureFixture[str]
) -> None:
    watching = commands.watch(table, background=True)
    write(table, 1, 2)
    until(lambda: watching.view.value.seen_count == 1)
    view_id = watching.view.id

    reply = selections().hear({"id": view_id, "number": 1, "request": {"stop": True}})
    until(lambda: watching.view.value.state == "stopped")

    assert reply == {"number": 1, "reply": {"state": "stopped"}}
    assert watching.view.id == view_id
    assert not watching.is_running
    value = watching.view.value
    assert value.newest is not None
    assert value.newest.columns == ("", "id", "v")
    assert sorted(value.newest.rows) == [("+I", "1", "x"), ("+I", "2", "x")]
    assert "snapshot 1: +2 rows" in capsys.readouterr().out


def test_an_interrupt_ends_a_watch_and_leaves_the_view(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(table, 1)
    watcher = Watcher(table)
    monkeypatch.setattr(watcher, "wait", interrupted)
    watching = Watching(
        watcher, lambda _view, *, is_update: None, rows=5, seconds=None, commits=None
    )

    watching.run()

    assert repr(watching) == "<watch of db.t: stopped>"
    assert watching.view.value.state == "stopped"


def interrupted(_woken: threading.Event, _millis: int | None = None) -> None:
    raise KeyboardInterrupt


def test_it_ends_after_some_commits_or_seconds(table: Table) -> None:
    started = threading.Timer(0.05, lambda: write(table, 1))
    started.start()

    by_commits = commands.watch(table, commits=1)
    by_seconds = commands.watch(table, seconds=0.01)
    started.join()

    assert by_commits.view.value.seen_count == 1
    assert by_seconds.view.value.state == "stopped"


def test_all_watches_are_stopped_together(table: Table) -> None:
    watches = [commands.watch(table, background=True) for _ in range(2)]
    until(lambda: all(one.is_running for one in watches))

    assert commands.stop_watches() == 2
    assert commands.stop_watches() == 0
    assert {one.view.value.state for one in watches} == {"stopped"}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"last": 0}, "last must be 1 to 500"),
        ({"rows": 51}, "rows must be 0 to 50"),
        ({"seconds": 0}, "seconds must be positive"),
        ({"commits": 0}, "commits must be at least 1"),
    ],
)
def test_numbers_out_of_range_are_refused(
    table: Table, options: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        commands.watch(table, **options)


def commit(id: int, millis: int | None, rows: int = 10) -> WatchedCommit:
    return WatchedCommit(
        snapshot_id=id,
        time_millis=millis,
        commit_kind="APPEND",
        user="spark",
        written_rows=rows,
        deleted_rows=0,
        changelog_rows=None,
        added_files=1,
        deleted_files=0,
        added_bytes=5_000,
    )


def test_rates_are_those_of_the_last_minute() -> None:
    commits = [commit(1, 0, 1_000_000), commit(2, 50_000), commit(3, 80_000)]

    found = rates(commits, 100_000)

    assert found is not None
    assert (found.commits_per_minute, found.rows_per_second) == (2, 20 / 60)
    assert rates([commit(1, None)], 0) is None


def test_a_view_of_five_hundred_commits_and_wide_rows_keeps_its_budget() -> None:
    row = tuple("x" * 120 for _ in range(20))
    value = views.Watch(
        table="db.t",
        state="watching",
        has_levels=True,
        commits=tuple(commit(id, id * 1000) for id in range(500)),
        seen_count=500,
        levels=(views.WatchedLevel(level=0, file_count=1, row_count=1, file_bytes=1),),
        row_count=1,
        newest=views.WatchedRows(snapshot_id=499, columns=row, rows=(row,) * 50),
    )

    drawn = draw(value)

    assert sum(len(str(part)) for part in drawn._repr_mimebundle_().values()) < 1_000_000
    assert len(str(drawn.data())) < 500_000


def test_the_magic_names_what_is_wrong_and_stops(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], table: Table
) -> None:
    for line, problem in {
        "": "give DB.TABLE, or --stop",
        "db.t -n 0": "-n must be 1 to 500, got 0",
        "db.t --seconds 0": "--seconds must be positive, got 0",
    }.items():
        shell.run_line_magic("load_ext", "paimonlab")
        shell.run_cell(f"%paimon_watch {line}")
        assert problem in "".join(capsys.readouterr())
    watching = commands.watch(table, background=True)

    shell.run_cell("%paimon_watch --stop")

    assert not watching.is_running
