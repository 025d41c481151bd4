"""What is waited for is said, and a server that is gone without a word ends the waiting."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import paimonlab as pm
from paimonlab.errors import SourceError
from paimonlab.ingest.changes import Event, Phase, RowChanges, Waits
from paimonlab.ingest.sources import silence
from paimonlab.ingest.sources.postgresql import connections, copying, reading
from tests.ingest.postgres.server import Database
from tests.ingest.relay import relay


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(silence, "_AFTER_SECONDS", 0.4)
    monkeypatch.setattr(silence, "_LOOK_SECONDS", 0.2)
    monkeypatch.setattr(connections, "_TICK_SECONDS", 0.1)
    monkeypatch.setattr(connections, "_STATUS_SECONDS", 0.2)
    monkeypatch.setattr(reading, "_SILENT_SECONDS", 0.4)
    monkeypatch.setattr(copying, "_BATCH_BYTES", 10_000)


@pytest.mark.parametrize("while_it", ["copies", "follows"])
def test_a_server_that_is_gone_without_a_word_is_an_error(
    database: Database, while_it: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = 20_000 if while_it == "copies" else 1
    database.run(
        "CREATE TABLE t (id int PRIMARY KEY, v text)",
        f"INSERT INTO t SELECT i, repeat('x', 1000) FROM generate_series(1, {rows}) i",
    )
    options = {"sslmode": "disable", "connect_timeout": "2"}
    with relay(database.server.port) as between:
        source = database.source(options=options, port=between.port).tables("t")
        events = source.read(None, lambda _: True)
        waits: list[str] = []

        def be_gone() -> None:
            monkeypatch.setattr(silence, "_PATIENCE_SECONDS", 1.5)
            monkeypatch.setattr(reading, "_PATIENCE_SECONDS", 0.5)
            between.swallows.set()

        def read() -> None:
            for event in events:
                if while_it == "copies" and isinstance(event, RowChanges):
                    be_gone()
                if getattr(event, "phase", None) is Phase.CAUGHT_UP:
                    be_gone()
                if isinstance(event, Waits) and between.swallows.is_set():
                    waits.append(event.what)

        with pytest.raises(SourceError, match=r"does not answer|did not answer"):
            read()
    what = "rows of public.t" if while_it == "copies" else "what the server's log has next"
    assert waits
    assert waits[0].startswith(what)


def test_a_connection_that_is_lost_in_the_midst_of_a_table_is_read_anew(
    tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part of the rows is in files already, and none of the table may come twice."""
    # More than the sockets between hold, or the rest would have been sent already.
    database.run(
        "CREATE TABLE t AS SELECT n, repeat('x', 1000) AS v FROM generate_series(1, 40000) n",
        "ALTER TABLE t REPLICA IDENTITY FULL",
    )
    catalog = pm.connect(tmp_path)
    rows, cuts = copying.Copy.rows, [1]

    with relay(database.server.port) as between:

        def cut(self: copying.Copy, *given: Any) -> Iterator[Event | None]:
            size = 0
            for event in rows(self, *given):
                yield event
                size += event.size_bytes if isinstance(event, RowChanges) else 0
                if size > 3 << 20 and cuts:
                    cuts.clear()
                    database.run("DELETE FROM t WHERE n < 9", "INSERT INTO t VALUES (0, 'new')")
                    between.forget_clients()

        monkeypatch.setattr(copying.Copy, "rows", cut)
        source = database.source(options={"sslmode": "disable"}, port=between.port).tables("t")
        job = catalog.ingest(source, into="ods", name="j", max_bytes="2 MB")
        job.run()
    assert not cuts
    found = catalog.table("ods.t").scan(columns=["n"]).to_arrow()["n"].to_pylist()
    assert sorted(found) == [0, *range(9, 40_001)]
    assert [event.kind for event in job.events if event.kind in ("lost", "failed")] == ["lost"]


def test_a_stream_that_only_the_server_still_knows_is_connected_again(database: Database) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY)", "INSERT INTO t VALUES (1)")
    found: list[int] = []
    with relay(database.server.port) as between:
        options = {"sslmode": "disable"}
        source = database.source(options=options, port=between.port).tables("t")
        for event in source.read(None, lambda _: True):
            if isinstance(event, RowChanges):
                found += event.rows["id"].to_pylist()
                if 2 in found:
                    break
            elif getattr(event, "phase", None) is Phase.CAUGHT_UP and found == [1]:
                between.forget_clients()
                database.run("INSERT INTO t VALUES (2) ON CONFLICT DO NOTHING")
    assert found == [1, 2]


@pytest.mark.parametrize(
    "statement", ["LOCK TABLE t IN EXCLUSIVE MODE", "INSERT INTO o VALUES (7)"]
)
def test_a_job_says_whose_transaction_it_waits_for(
    tmp_path: Path, database: Database, statement: str
) -> None:
    database.run(
        "CREATE TABLE t (id int PRIMARY KEY)", "INSERT INTO t VALUES (1)", "CREATE TABLE o (n int)"
    )
    catalog = pm.connect(tmp_path)
    job = catalog.ingest(database.source().tables("t"), into="ods", name="waits")
    with contextlib.ExitStack() as stack:
        other = stack.enter_context(database.server.connect(database.name))
        with other.transaction():
            other.execute(statement)
            process = other.info.backend_pid
            job.start("caught-up")
            end = time.monotonic() + 60
            while not any(
                f"it waits for process {process} of" in one for one in job.status.warnings
            ):
                assert time.monotonic() < end, job.status
                time.sleep(0.05)
    while job.is_running:
        assert time.monotonic() < end, job.status
        time.sleep(0.05)
    assert job.stop().warnings == ()
    assert catalog.table("ods.t").scan().to_arrow()["id"].to_pylist() == [1]
