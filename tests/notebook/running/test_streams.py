"""Cells that are streams, and the view that lists them."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pyarrow as pa
import pytest
from IPython.core.interactiveshell import InteractiveShell
from pyspark.sql import SparkSession

import paimonlab
from paimonlab.catalog import Catalog
from paimonlab.notebook import running
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.kernel.selection import selections
from paimonlab.notebook.views import StreamList
from paimonlab.notebook.views.streams.drawing import draw_streams
from paimonlab.spark import connect
from paimonlab.table.table import Table
from tests.notebook.magics.test_magics import failure, refusal, run


@pytest.fixture
def catalog(shell: InteractiveShell, spark: SparkSession, tmp_path: Path) -> Catalog:
    """Connect the shell to a warehouse with two tables."""
    made = paimonlab.connect(tmp_path / "w")
    made.create_database("db")
    source = made.create_table("db.s", {"id": "BIGINT", "v": "STRING"})
    source.write(pa.table({"id": [1, 2, 3], "v": ["a", "b", "a"]}))
    made.create_table(
        "db.sums",
        {"v": "STRING NOT NULL", "n": "BIGINT"},
        primary_keys=["v"],
        options={"bucket": "1"},
    )
    connect(tmp_path / "w", spark=spark)
    connections.connect(tmp_path / "w", spark=spark)
    return made


def add(catalog: Catalog, number: int, text: str) -> None:
    """Commit a row."""
    table = catalog.table("db.s")
    assert isinstance(table, Table)
    table.write(pa.table({"id": [number], "v": [text]}))


def test_a_cell_writes_to_a_table_and_goes_on_where_it_ended(
    shell: InteractiveShell, catalog: Catalog, tmp_path: Path
) -> None:
    cell = (
        f"%%paimon --stream update --once --checkpoint {tmp_path / 'c'}\n"
        "INSERT INTO db.sums SELECT v, count(*) AS n FROM STREAM db.s GROUP BY v"
    )

    run(shell, cell)
    add(catalog, 4, "b")
    run(shell, cell)
    (*_, entry) = run(shell, "%paimon_streams").value.streams

    found = catalog.table("db.sums").scan().to_arrow().to_pylist()
    assert {row["v"]: row["n"] for row in found} == {"a": 2, "b": 2}
    assert (entry.source, entry.sink, entry.state) == ("db.s", "db.sums", "ended")
    assert (entry.batch, entry.rows, entry.state_rows, entry.snapshots_behind) == (1, 1, 2, 0)


def test_an_interrupt_ends_a_stream_and_leaves_its_newest_rows(
    shell: InteractiveShell, catalog: Catalog
) -> None:
    session = connections.current().session("a test")
    seen = Event()

    def interrupt() -> None:
        for _ in range(1200):
            known = running.streams.known_streams(session)
            if known and known[-1].state == "running" and known[-1].newest is not None:
                seen.set()
                break
            Event().wait(0.1)
        os.kill(os.getpid(), signal.SIGINT)  # in any case: the cell would wait for ever

    Thread(target=interrupt, daemon=True).start()
    rows = run(shell, "%%paimon --stream --limit 2 kept = <<\nSELECT id FROM STREAM db.s")

    assert seen.is_set()
    assert rows.to_arrow().to_pydict() == {"id": [2, 3]}
    assert shell.user_ns["kept"] is rows
    assert not session.streams.active


def test_a_stream_that_is_listed_while_it_starts_is_one(
    shell: InteractiveShell, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = connections.current().session("a test")
    before = len(running.streams.known_streams(session))

    class Listed(running.streams.Stream):
        def __init__(self, query: Any, sink: str, *rows: Any) -> None:
            if sink:  # of a cell: another thread asks for the streams just now
                running.streams.known_streams(session)
            super().__init__(query, sink, *rows)

    monkeypatch.setattr(running.streams, "Stream", Listed)
    run(shell, "%%paimon --stream --once kept = <<\nSELECT id FROM STREAM db.s")

    (one,) = running.streams.known_streams(session)[before:]
    assert (one.sink, one.state) == ("this notebook", "ended")


def test_a_stream_is_stopped_from_the_view(shell: InteractiveShell, catalog: Catalog) -> None:
    session = connections.current().session("a test")
    frame = session.readStream.table("paimon.db.s")
    query = frame.writeStream.format("noop").queryName("mine").start()
    query.processAllAvailable()

    listed = run(shell, "%paimon_streams")
    (entry,) = [one for one in listed.value.streams if one.name == "mine"]
    reply = selections().hear({"id": listed.id, "number": 1, "request": {"stop": entry.id}})

    assert (entry.state, entry.rows, entry.snapshots_behind) == ("running", 3, 0)
    assert reply is not None
    (told,) = [one for one in reply["reply"]["view"]["streams"] if one["name"] == "mine"]
    assert told["state"] == "ended"
    assert not query.isActive


def test_how_far_a_stream_is_behind(shell: InteractiveShell, catalog: Catalog) -> None:
    for number in range(4, 7):
        add(catalog, number, "a")
    session = connections.current().session("a test")
    frame = session.readStream.options(
        **{"scan.snapshot-id": "2", "read.stream.maxFilesPerTrigger": "1"}
    ).table("paimon.db.s")
    query = frame.writeStream.format("noop").trigger(availableNow=True).start()
    query.awaitTermination(240)

    lags = [dict(one["sources"][0]["metrics"]) for one in query.recentProgress]

    assert [lag["snapshotsBehind"] for lag in lags if lag][:3] == ["2", "1", "0"]
    assert int(lags[0]["millisBehind"]) > 0


def test_what_a_stream_cannot_do_is_said(
    shell: InteractiveShell, catalog: Catalog, capsys: pytest.CaptureFixture[str]
) -> None:
    insert = "INSERT INTO db.sums SELECT v, id AS n FROM STREAM db.s"
    without = failure(shell, capsys, f"%%paimon --stream\n{insert}")
    failed = failure(
        shell, capsys, "%%paimon --stream --once\nSELECT CAST(v AS INT) AS n FROM STREAM db.s"
    )
    (unknown,) = refusal(shell, capsys, "%paimon_streams --stop nope")

    assert without[0].startswith("A stream into a table needs a checkpoint")
    assert "The stream failed: [CAST_INVALID_INPUT]" in " ".join(failed)
    assert "there is no stream 'nope'" in unknown
    assert catalog.table("db.sums").scan().count() == 0


def test_an_empty_list_says_how_to_start_one() -> None:
    assert (
        "no streams yet: %%paimon --stream starts one"
        in draw_streams(StreamList(streams=())).to_text()
    )
