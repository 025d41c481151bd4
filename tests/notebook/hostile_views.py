"""Views of a table whose every name and value is replaced by a hostile text.

A real table, with names that occur nowhere else, is shown; then those names are replaced in the
value of the view, which is what all its forms are drawn from.
"""

from __future__ import annotations

import importlib
import inspect
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

import paimonlab as pl
from paimonlab.analysis.snapshots.watching import Watcher
from paimonlab.maintenance.fsck.report import Finding
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.views import (
    Doctor,
    Fsck,
    IngestCommit,
    IngestEntry,
    IngestEvent,
    IngestJobs,
    IngestTable,
    StatementEntry,
    Statements,
    StreamEntry,
    StreamList,
    StreamRows,
    TableEntry,
    TableList,
    Watch,
    WatchedRows,
)
from paimonlab.notebook.views.doctor.drawing import draw as draw_doctor
from paimonlab.notebook.views.fsck.drawing import draw as draw_fsck
from paimonlab.notebook.views.ingest.drawing import draw_ingest
from paimonlab.notebook.views.statements.drawing import draw_statements
from paimonlab.notebook.views.streams.drawing import draw_streams
from paimonlab.notebook.views.tables.drawing import draw_tables
from paimonlab.notebook.views.watch.drawing import draw as draw_watch
from paimonlab.spark.sessions.doctor import Check
from paimonlab.table.table import Table
from tests.notebook.results.test_result import make

MARKS = (
    *("zqdatabase", "zqtable", "zqkey", "zqcolumn", "zqother", "zqpartition", "zqtag"),
    *("zqbranch", "zqconsumer", "zqcomment", "zqvalue", "zquser"),
)
"""Names of the table; each becomes another text."""

Show = Callable[[Table], Any]
VIEWS: dict[str, Show] = {
    "timeline": lambda table: table.show.timeline(),
    "log": lambda table: table.show.log(),
    "schemas": lambda table: table.show.schemas(),
    "manifests": lambda table: table.show.manifests(),
    "heatmap": lambda table: table.show.heatmap(),
    "files": lambda table: table.show.files(),
    "file": lambda table: table.show.file(_newest_file(table)),
    "diff": lambda table: table.show.diff(1, 4),
    "lsm": lambda table: table.show.lsm(),
    "compaction": lambda table: table.show.compaction(),
    "changes": lambda table: table.show.changes(1, "zqtag"),
    "travel": lambda table: table.show.travel(),
    "row": lambda table: table.show.row("zqkey = 'zqvalue0'"),
    "watch": lambda table: draw_watch(_watched(table)),
    "profile": lambda table: table.show.profile(),
    "simulator": lambda table: table.show.simulator(),
    "health": lambda table: table.show.health(),
    "doctor": lambda table: draw_doctor(_checked(table)),
    "fsck": lambda table: draw_fsck(_found(table)),
    "statements": lambda table: draw_statements(_run(table)),
    "tables": lambda table: draw_tables(_listed(table)),
    "streams": lambda table: draw_streams(_streamed(table)),
    "ingest": lambda table: draw_ingest(_ingested(table)),
    "result": lambda table: make(table.scan().to_arrow()).view,
}
"""Every interactive view and how to get one of a table."""


def shown_views(folder: Path) -> dict[str, Drawn[Any]]:
    """Return all views of one table."""
    table = marked_table(folder)
    return {kind: show(table) for kind, show in VIEWS.items()}


def marked_table(folder: Path) -> Table:
    """Make a table with all that has a name."""
    catalog = pl.connect(str(folder))
    catalog.create_database("zqdatabase")
    table = catalog.create_table(
        "zqdatabase.zqtable",
        {"zqpart": "STRING NOT NULL", "zqkey": "STRING NOT NULL", "zqcolumn": "STRING"},
        primary_keys=["zqpart", "zqkey"],
        partition_keys=["zqpart"],
        options={"bucket": "1", "write-only": "true", "changelog-producer": "input"},
        comment="zqcomment",
    )
    for number in range(3):
        _write(table, [f"zqvalue{number}", "zqvalue"])
    table.tags.create("zqtag")
    table.branches.create("zqbranch", tag="zqtag")
    for _ in table.follow("latest-full", until="latest", consumer_id="zqconsumer"):
        pass
    table = catalog.alter_table(
        "zqdatabase.zqtable",
        pl.AddColumn("zqother", "STRING"),
        pl.UpdateColumnComment("zqcolumn", "zqcomment"),
    )
    _write(table, ["zqvalue9"])
    table.compact(full=True)
    return table


def _checked(table: Table) -> Doctor:
    found = Check(name="zqvalue", status="error", found=table.name, fix="zqcomment")
    return Doctor(checks=(found,))


def _found(table: Table) -> Fsck:
    finding = Finding(
        severity="error",
        file="zqpartition",
        referrer="zqtag",
        problem="zqvalue",
        advice="zqcomment",
    )
    return Fsck(table=table.name, summary=f"{table.name}: 1 found", findings=(finding,))


def _streamed(table: Table) -> StreamList:
    entry = StreamEntry(
        id="1",
        name="zqvalue",
        source=table.name,
        sink="zqtag",
        state="failed",
        batch=3,
        rows=10,
        rows_per_second=2.5,
        snapshots_behind=1,
        millis_behind=10,
        state_rows=1,
        state_bytes=10,
        watermark="zqcolumn",
        error="zqcomment",
    )
    return StreamList(
        streams=(entry,), newest=StreamRows(columns=("zqcolumn",), rows=(("zqvalue",),))
    )


def _ingested(table: Table) -> IngestJobs:
    entry = IngestEntry(
        name="zqvalue",
        source="zqtag",
        phase="failed",
        is_running=True,
        epoch=3,
        position="zqbranch",
        rows=10,
        dead=1,
        pending_rows=2,
        pending_bytes=100,
        rows_per_second=2.5,
        lag_millis=10,
        behind=1,
        behind_unit="zqpartition",
        committed_millis=0,
        snapshot_rows=1,
        snapshot_total=2,
        tables=(
            IngestTable(
                name=table.name,
                sources=("zqcolumn",),
                rows=10,
                rows_per_second=1.0,
                snapshot_id=1,
                stopped="zqcomment",
                skipped=1,
            ),
        ),
        commits=tuple(
            IngestCommit(epoch=epoch, rows=1, at_millis=0, lag_millis=1) for epoch in (1, 2)
        ),
        events=(
            IngestEvent(
                at_millis=0, what="zquser", table=table.name, text="zqkey", columns="zqother"
            ),
        ),
        warnings=("zqconsumer",),
        error="zqcomment",
    )
    return IngestJobs(jobs=(entry,), is_one=True)


def _watched(table: Table) -> Watch:
    value = Watcher(table).value("failed", error="zqcomment")
    newest = WatchedRows(snapshot_id=4, columns=("", "zqcolumn"), rows=(("+I", "zqvalue"),))
    return msgspec.structs.replace(value, newest=newest, note="zqother")


def _run(table: Table) -> Statements:
    entry = StatementEntry(
        number=1,
        time_millis=0,
        alias="zquser",
        sql=f"SELECT zqcolumn FROM {table.name}",
        row_count=1,
        snapshots=f"{table.name}@1",
        duration_millis=1,
        status="done",
    )
    return Statements(entries=(entry,), older_count=1)


def _listed(table: Table) -> TableList:
    database, name = table.name.split(".")
    entry = TableEntry(
        database=database,
        table=name,
        primary_keys=("zqkey",),
        partition_keys=("zqpart",),
        column_count=3,
        snapshot_id=1,
    )
    return TableList(databases=(database, "zqvalue"), tables=(entry,))


def _newest_file(table: Table) -> str:
    names: list[str] = table.scan().plan_here().files["file_name"].to_pylist()
    return names[-1]


def _write(table: Table, values: list[str]) -> None:
    rows = [{"zqpart": "zqpartition", "zqkey": f"zqkey-{v}", "zqcolumn": v} for v in values]
    writer = table.new_writer(user="zquser")
    writer.write(pa.Table.from_pylist(rows))
    snapshot = table.snapshot
    identifier = 1 if snapshot is None else snapshot.id + 1
    table.commit(writer.prepare_commit(identifier), identifier=identifier, user="zquser")


def folder_of(kind: str) -> str:
    """Return the package, below the notebook, that draws a kind of view."""
    return "results.table" if kind == "result" else f"views.{kind}"


def hostiles(view: Drawn[Any], strings: list[str]) -> Iterator[Drawn[Any]]:
    """Draw a view again and again, until each of ``strings`` was one of its names."""
    text = msgspec.json.encode(view.value).decode()
    marks = [mark for mark in MARKS if mark in text]
    assert marks, "the names of the table are in the view"
    rounds = math.ceil(len(strings) / len(marks))
    display = importlib.import_module(f"paimonlab.notebook.{folder_of(str(view.kind))}.drawing")
    draw = getattr(display, "draw", None) or getattr(display, f"draw_{view.kind}")
    known = {"rows": view.rows, "answer": dict}
    wanted = list(inspect.signature(draw).parameters.values())[1:]
    others = {one.name: known[one.name] for one in wanted if one.default is one.empty}
    for first in range(rounds):
        changed = text
        for place, mark in enumerate(marks):
            chosen = strings[(first + rounds * place) % len(strings)]
            changed = changed.replace(mark, json.dumps(chosen)[1:-1])
        value = msgspec.json.decode(changed.encode(), type=type(view.value))
        yield draw(value, **others)
