from __future__ import annotations

import errno
import itertools
import os
import random
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pm
from paimonlab.errors import (
    CommitError,
    IngestDataError,
    IngestError,
    IngestRunningError,
    IngestSchemaError,
    IngestStateError,
    PaimonError,
    StorageError,
    UnsupportedError,
)
from paimonlab.ingest import JobStatus, batches, running
from paimonlab.ingest.changes import Boundary, Event, Phase, SourceSchema, Truncated, Unreadable
from paimonlab.ingest.cuts import cut
from paimonlab.ingest.job import Job, noted_jobs
from paimonlab.ingest.leases import take
from paimonlab.ingest.sources.losses import TornError
from tests.ingest.drawing import source
from tests.ingest.scripted import BrokenError, ScriptedSource, change, rows
from tests.waiting import until

KEYED = "id BIGINT NOT NULL, v STRING KEY(id)"
PLAIN = "id BIGINT, v STRING"


@pytest.fixture
def catalog(tmp_path: Path) -> pm.Catalog:
    return pm.connect(tmp_path / "warehouse")


def _job(catalog: pm.Catalog, script: Sequence[Any], schema: str = KEYED, **told: Any) -> Job:
    made = ScriptedSource(script, {"a.t": source(schema)})
    return _of(catalog, made, **told)


def _of(catalog: pm.Catalog, made: ScriptedSource, **told: Any) -> Job:
    given: dict[str, Any] = {"into": "ods", "name": "job", "options": {"bucket": 1}} | told
    if not any(schema.primary_keys for schema in made.schemas.values()):
        given.pop("options", None)
    return catalog.ingest(made, **given)


def _rows(catalog: pm.Catalog, name: str = "ods.t") -> list[tuple[Any, ...]]:
    found = catalog.table(name).scan().to_arrow().to_pylist()
    return sorted((tuple(row.values()) for row in found), key=repr)


def test_rows_become_rows_of_a_table_and_their_snapshot_says_where_from(
    catalog: pm.Catalog,
) -> None:
    script = [
        rows("a.t", KEYED, "+I 1 a", "+I 2 b"),
        "|",
        rows("a.t", KEYED, "-U 1 a", "+U 1 c", "-D 2 -", "+I 3 d"),
        "|",
    ]

    status = _job(catalog, script).run()

    assert _rows(catalog) == [(1, "c"), (3, "d")]
    assert (status.phase, status.epoch, status.rows, status.dead) == ("caught up", 1, 6, 0)
    snapshot = catalog.table("ods.t").snapshot
    assert snapshot is not None
    assert (snapshot.commit_user, snapshot.commit_identifier) == ("ingest-job", 1)
    assert snapshot.properties is not None
    assert snapshot.properties["ingest.position"] == "4"
    assert catalog.table("ods.t").consumers.list() == {"ingest-job": snapshot.id}


def test_a_later_run_goes_on_where_the_first_ended(catalog: pm.Catalog) -> None:
    first = [rows("a.t", PLAIN, "+I 1 a"), "|"]
    _job(catalog, first, PLAIN).run()
    made = ScriptedSource([*first, rows("a.t", PLAIN, "+I 2 b"), "|"], {"a.t": source(PLAIN)})

    status = _of(catalog, made).run()

    assert _rows(catalog) == [(1, "a"), (2, "b")]
    assert (status.epoch, status.rows, status.tables[0].rows) == (2, 2, 1)
    assert made.began_at == [2]
    assert made.acknowledged == [2, 4]


def test_nothing_new_commits_nothing(catalog: pm.Catalog) -> None:
    script = [rows("a.t", PLAIN, "+I 1 a"), "|"]
    _job(catalog, script, PLAIN).run()

    status = _job(catalog, script, PLAIN).run()

    assert status.epoch == 1
    assert len(catalog.table("ods.t").snapshots.list()) == 1


def test_what_fails_drops_the_epoch_and_the_next_run_reads_it_again(catalog: pm.Catalog) -> None:
    script = [rows("a.t", PLAIN, "+I 1 a"), "|", rows("a.t", PLAIN, "+I 2 b"), BrokenError("gone")]
    job = _job(catalog, script, PLAIN, max_rows=1)

    with pytest.raises(BrokenError):
        job.run()

    assert job.status.phase == "failed"
    assert job.status.error == "gone"
    assert _rows(catalog) == [(1, "a")]
    script[-1] = "|"
    assert _job(catalog, script, PLAIN).run().rows == 2
    assert _rows(catalog) == [(1, "a"), (2, "b")]


def test_rows_of_an_unfinished_transaction_are_not_committed(catalog: pm.Catalog) -> None:
    script = [rows("a.t", PLAIN, "+I 1 a"), "|", rows("a.t", PLAIN, "+I 2 b"), KeyboardInterrupt()]
    job = _job(catalog, script, PLAIN, max_rows=1)

    with pytest.raises(KeyboardInterrupt):
        job.run()

    assert job.status.phase == "interrupted"
    assert _rows(catalog) == [(1, "a")]


class _LosesInterrupts(ScriptedSource):
    def acknowledge(self, position: Any) -> None:
        """As a commit that happened although it was interrupted."""
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_an_interrupt_that_others_took_ends_a_run_all_the_same(catalog: pm.Catalog) -> None:
    script: list[Any] = [rows("a.t", PLAIN, "+I 1 a"), "|", rows("a.t", PLAIN, "+I 2 b"), "|"]
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)  # may be ignored
    try:
        with pytest.raises(KeyboardInterrupt):
            _of(catalog, _LosesInterrupts(script, {"a.t": source(PLAIN)}), max_rows=1).run()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, inherited)

    assert _rows(catalog) == [(1, "a")]


def test_many_epochs_by_rows(catalog: pm.Catalog) -> None:
    script: list[Any] = []
    for number in range(12):
        script += [rows("a.t", PLAIN, f"+I {number} x", f"+I {number} y"), "|"]

    status = _job(catalog, script, PLAIN, max_rows=4).run()

    assert (status.epoch, status.rows) == (6, 24)
    assert len(_rows(catalog)) == 24
    assert len([*Path(catalog.path, ".paimonlab/ingest/job").glob("epoch-*")]) <= 8


def test_columns_are_added_before_the_first_row_that_has_them(catalog: pm.Catalog) -> None:
    wide = "id BIGINT NOT NULL, v STRING, n INT KEY(id)"
    script = [
        rows("a.t", KEYED, "+I 1 a"),
        "|",
        change("a.t", KEYED, wide, "ALTER TABLE t ADD n INT"),
        rows("a.t", wide, "+I 2 b 7"),
        "|",
        rows("a.t", KEYED, "+I 3 c"),
        "|",
    ]
    job = _job(catalog, script)

    job.run()

    assert _rows(catalog) == [(1, "a", None), (2, "b", 7), (3, "c", None)]
    told = [(event.kind, event.text, event.after) for event in job.events]
    columns = ("id BIGINT NOT NULL", "v STRING", "n INT")
    assert ("schema", "ALTER TABLE t ADD n INT", columns) in told
    assert ("altered", "ALTER TABLE t ADD n INT", columns) in told


def test_a_schema_without_an_event_is_followed_as_well(catalog: pm.Catalog) -> None:
    wide = "id BIGINT NOT NULL, v STRING, n INT KEY(id)"

    _job(catalog, [rows("a.t", KEYED, "+I 1 a"), rows("a.t", wide, "+I 2 b 7"), "|"]).run()

    assert _rows(catalog) == [(1, "a", None), (2, "b", 7)]


def test_a_column_that_appears_while_a_job_begins_is_followed(catalog: pm.Catalog) -> None:
    wide = "id BIGINT NOT NULL, v STRING, n INT KEY(id)"

    class Widening(ScriptedSource):
        def tables(self) -> Mapping[str, SourceSchema]:
            found, self.schemas = self.schemas, {"a.t": source(wide)}
            return found

    made = Widening([rows("a.t", wide, "+I 2 b 7"), "|"], {"a.t": source(KEYED)})
    _of(catalog, made).run()

    assert _rows(catalog) == [(2, "b", 7)]


def test_an_exact_table_renames_rows_that_wait(catalog: pm.Catalog) -> None:
    new = "id BIGINT NOT NULL, w STRING KEY(id)"
    script = [
        rows("a.t", KEYED, "+I 1 a"),
        "|",
        rows("a.t", KEYED, "+I 2 b"),
        replace(change("a.t", KEYED, new), renamed={"v": "w"}),
        rows("a.t", new, "+I 3 c"),
        "|",
    ]

    _job(catalog, script, evolve="exact").run()

    table = catalog.table("ods.t")
    assert table.schema.field_names == ("id", "w")
    assert _rows(catalog) == [(1, "a"), (2, "b"), (3, "c")]


def test_a_table_that_cannot_follow_stops_and_others_go_on(catalog: pm.Catalog) -> None:
    other = "id BIGINT NOT NULL, v INT KEY(id)"
    script = [
        rows("a.t", KEYED, "+I 1 a"),
        rows("a.u", KEYED, "+I 1 x"),
        "|",
        change("a.t", KEYED, other, "ALTER TABLE t MODIFY v INT"),
        rows("a.t", other, "+I 2 5"),
        rows("a.u", KEYED, "+I 2 y"),
        "|",
    ]
    made = ScriptedSource(script, {"a.t": source(KEYED), "a.u": source(KEYED)})

    status = _of(catalog, made).run()

    assert _rows(catalog, "ods.t") == [(1, "a")]
    assert _rows(catalog, "ods.u") == [(1, "x"), (2, "y")]
    t = status.tables[0]
    assert t.stopped is not None
    assert "column 'v' is STRING, which cannot become INT" in t.stopped
    assert "ALTER TABLE t MODIFY v INT" in t.stopped
    assert t.skipped == 1
    script += [rows("a.t", other, "+I 3 6"), rows("a.u", KEYED, "+I 3 z"), "|"]
    again = _of(catalog, made).run()
    assert again.tables[0].stopped == t.stopped
    assert again.tables[0].skipped == 2
    assert _rows(catalog, "ods.u") == [(1, "x"), (2, "y"), (3, "z")]


def test_on_error_stop_ends_the_job(catalog: pm.Catalog) -> None:
    other = "id BIGINT NOT NULL, v INT KEY(id)"
    script = [rows("a.t", KEYED, "+I 1 a"), "|", rows("a.t", other, "+I 2 5"), "|"]
    job = _job(catalog, script, on_error="stop", max_rows=1)

    with pytest.raises(IngestSchemaError, match="cannot become INT"):
        job.run()

    assert _rows(catalog) == [(1, "a")]
    assert [event.kind for event in job.events][-2:] == ["stopped", "failed"]


def test_a_job_of_one_table_that_stopped_says_so(catalog: pm.Catalog) -> None:
    script = [rows("a.t", PLAIN, "+I 1 a"), "|", rows("a.t", PLAIN, "-D 1 a"), "|"]

    with pytest.raises(IngestSchemaError, match="has no primary key to find them by"):
        _job(catalog, script, PLAIN).run()

    assert _rows(catalog) == [(1, "a")]


def test_refused_tables_are_named_before_anything_is_done(catalog: pm.Catalog) -> None:
    job = _job(catalog, [], primary_keys=["no"])

    assert "'no' is not in the source" in str(job.plan())
    with pytest.raises(IngestSchemaError, match="'no' is not in the source"):
        job.run()

    assert catalog.databases() == []


def test_a_plan_changes_nothing(catalog: pm.Catalog, tmp_path: Path) -> None:
    plan = _job(catalog, [rows("a.t", KEYED, "+I 1 a"), "|"]).plan()

    assert [table.name for table in plan.tables] == ["ods.t"]
    assert catalog.databases() == []
    assert not Path(catalog.path, ".paimonlab").exists()


def test_a_table_that_appears_is_created(catalog: pm.Catalog) -> None:
    script = [
        rows("a.t", KEYED, "+I 1 a"),
        "|",
        rows("b.new", "n INT", "+I 5"),
        rows("b.left", "n INT", "+I 5"),
        "|",
    ]
    made = ScriptedSource(script, {"a.t": source(KEYED)})

    _of(catalog, made, excluding=r"b\.left", options={}).run()

    assert catalog.tables("ods") == ["new", "t"]
    assert _rows(catalog, "ods.new") == [(5,)]


def test_shards_become_one_table(catalog: pm.Catalog) -> None:
    wide = "id BIGINT NOT NULL, v STRING, n INT KEY(id)"
    script = [
        rows("a.t", KEYED, "+I 1 a"),
        rows("b.t", wide, "+I 2 b 7"),
        "|",
        rows("a.t", wide, "+I 3 c 8"),
        "|",
    ]
    made = ScriptedSource(script, {"a.t": source(KEYED), "b.t": source(wide)})

    _of(catalog, made).run()

    assert _rows(catalog) == [(1, "a", None), (2, "b", 7), (3, "c", 8)]


def test_a_delete_needs_the_key_alone(catalog: pm.Catalog) -> None:
    schema = (
        "id BIGINT NOT NULL, a STRING NOT NULL, b DECIMAL(5, 2) NOT NULL, c DATE NOT NULL, "
        "d BOOLEAN NOT NULL, e TIMESTAMP(6) NOT NULL KEY(id)"
    )
    script = [
        rows("a.t", schema, "+I 1 x 1.00 2026-01-01 true 2026-01-01T00:00:00"),
        rows("a.t", schema, "+I 2 x 1.00 2026-01-01 true 2026-01-01T00:00:00"),
        rows("a.t", schema, "-D 1 - - - - -"),
        "|",
    ]

    _job(catalog, script, schema).run()

    assert [row[0] for row in _rows(catalog)] == [2]


def test_the_first_row_that_cannot_be_stored_ends_the_job(catalog: pm.Catalog) -> None:
    schema = "id BIGINT NOT NULL, v VARCHAR(3) KEY(id)"
    script = [rows("a.t", schema, "+I 1 abc", "+I 2 abcd"), "|"]

    with pytest.raises(IngestDataError, match="max_dead = 1 or more rows"):
        _job(catalog, script, schema).run()

    assert catalog.table("ods.t").snapshot is None


def test_rows_that_cannot_be_stored_are_set_aside(catalog: pm.Catalog) -> None:
    schema = "id BIGINT NOT NULL, v VARCHAR(3) KEY(id)"
    broken = Unreadable(table="a.t", errors=pa.array(["no JSON"]), raw=pa.array([b"{"]))
    script = [
        rows("a.t", schema, "+I 1 abc", "+I 2 abcd", "+I 3 x", "+U 1 longer"),
        broken,
        "|",
        rows("a.t", schema, "+I 4 y"),
        "|",
    ]
    job = _job(catalog, script, schema, max_dead=3)

    status = job.run()

    assert _rows(catalog) == [(1, "abc"), (3, "x"), (4, "y")]
    assert status.dead == 3
    dead = catalog.table("ods.job__dead").scan().to_arrow().to_pylist()
    told = sorted((row["source_table"], row["kind"] or "", row["row"] or "") for row in dead)
    assert told == [
        ("a.t", "", ""),
        ("a.t", "+I", '{"id": 2, "v": "abcd"}'),
        ("a.t", "+U", '{"id": 1, "v": "longer"}'),
    ]
    assert {row["position"] for row in dead} == {None, '"row 1"', '"row 3"'}
    assert [row["raw"] for row in dead if row["raw"]] == [b"{"]
    script += [rows("a.t", schema, "+I 5 longer"), "|"]
    with pytest.raises(IngestDataError, match="max_dead = 4"):
        _job(catalog, script, schema, max_dead=3).run()


def test_values_of_a_row_that_was_set_aside_are_not_taken_from_the_row_before(
    catalog: pm.Catalog,
) -> None:
    """The update leaves out ``big``, which the row that was set aside had changed."""
    schema = "id BIGINT NOT NULL, v VARCHAR(3), big STRING KEY(id)"

    def partly(drawn: str) -> Any:
        return replace(rows("a.t", schema, drawn), unchanged={"big": pa.array([True])})

    script = [
        rows("a.t", schema, "+I 1 abc old"),
        "|",
        rows("a.t", schema, "+U 1 longer new"),
        "|",
        partly("+U 1 x -"),
        "|",
    ]
    job = _job(catalog, script, schema, max_dead=2, max_rows=1)
    assert job.run().dead == 2
    assert _rows(catalog) == [(1, "abc", "old")]
    letters = catalog.table("ods.job__dead").scan().to_arrow()["error"].to_pylist()
    assert any("no row that has it" in one for one in letters), letters

    script += [rows("a.t", schema, "+U 1 y whole"), "|", partly("+U 1 z -"), "|"]
    assert _job(catalog, script, schema, max_dead=2, max_rows=1).run().dead == 2
    assert _rows(catalog) == [(1, "z", "whole")]


def test_an_emptied_table_is_kept_or_emptied(catalog: pm.Catalog) -> None:
    script = [
        rows("a.t", KEYED, "+I 1 a"),
        "|",
        Truncated(table="a.t", position=None, reason="TRUNCATE t"),
        rows("a.t", KEYED, "+I 2 b"),
        "|",
    ]
    kept = _job(catalog, script)
    kept.run()
    _job(catalog, script, into="other", name="applies", on_truncate="apply").run()

    assert _rows(catalog) == [(1, "a"), (2, "b")]
    assert "truncated" in [event.kind for event in kept.events]
    assert _rows(catalog, "other.t") == [(2, "b")]


def test_a_large_transaction_waits_in_files(catalog: pm.Catalog) -> None:
    script: list[Any] = [rows("a.t", KEYED, "+I 0 first"), "|"]
    tens = [range(number * 10, number * 10 + 10) for number in range(1, 40)]
    script += [rows("a.t", KEYED, *(f"+I {number} v" for number in ten)) for ten in tens]
    script.append("|")
    job = _job(catalog, script, max_bytes=2_000)

    status = job.run()

    assert len(_rows(catalog)) == 391
    assert status.epoch == 2
    assert status.rows == 391


@pytest.mark.parametrize("max_bytes", ["1 GB", 40])
def test_rows_that_a_lost_connection_tore_are_read_again(
    catalog: pm.Catalog, max_bytes: Any
) -> None:
    """Whether they wait in memory or in files; a table whose rows are torn each time ends it."""

    @dataclass
    class Tearing(ScriptedSource):
        tears: int = 0

        def read(self, position: Any, wanted: Callable[[str], bool]) -> Iterator[Event]:
            end = len(self.script) - 3
            for event in super().read(position, wanted):
                yield event
                if self.tears and event is self.script[end]:
                    self.tears -= 1
                    raise TornError("script", "lost")

    lines = [rows("a.t", PLAIN, f"+I {number} {'v' * 30}") for number in range(6)]
    bad = Unreadable(table="a.t", errors=pa.array(["bad"]), raw=pa.array([b"x"]))
    script = [lines[0], bad, "|", lines[1], "|", bad, *lines[2:4], lines[4], lines[5], "|"]
    made = Tearing(script, {"a.t": source(PLAIN)}, tears=3)
    job = _of(catalog, made, max_bytes=max_bytes, max_dead=2)

    status = job.run()

    assert [number for number, _ in _rows(catalog)] == list(range(6))
    assert len(_rows(catalog, "ods.job__dead")) == status.dead == 2
    assert [event.kind for event in job.events].count("lost") == 3
    assert (status.rows, made.began_at) == (6, [None, 5, 5, 5])

    made.script, made.tears = [*script, *lines[:3], "|"], 4
    with pytest.raises(TornError):
        _of(catalog, made, max_bytes=max_bytes, max_dead=2).run()
    assert len(_rows(catalog)) == 6


def test_an_interrupted_large_transaction_leaves_no_row(catalog: pm.Catalog) -> None:
    script: list[Any] = [rows("a.t", PLAIN, *(f"+I {number} v" for number in range(100)))]
    script = [*script * 5, KeyboardInterrupt()]

    with pytest.raises(KeyboardInterrupt):
        _job(catalog, script, PLAIN, max_bytes=2_000).run()

    table = catalog.table("ods.t")
    assert table.snapshot is None
    assert list(Path(table.path).rglob("*.parquet")) == []


def test_a_job_without_its_notes_does_not_begin_anew(catalog: pm.Catalog) -> None:
    script = [rows("a.t", PLAIN, "+I 1 a"), "|"]
    _job(catalog, script, PLAIN).run()
    folder = Path(catalog.path, ".paimonlab/ingest/job")
    for path in folder.iterdir():
        path.unlink()

    with pytest.raises(IngestStateError, match="notes are gone"):
        _job(catalog, script, PLAIN).run()

    script += [rows("a.t", PLAIN, "+I 2 b"), "|"]
    job = _job(catalog, script, PLAIN)
    assert job.recover() == 1
    job.run()
    assert _rows(catalog) == [(1, "a"), (2, "b")]


def test_notes_that_are_older_than_the_tables_are_found_out(catalog: pm.Catalog) -> None:
    script = [rows("a.t", PLAIN, "+I 1 a"), "|"]
    _job(catalog, script, PLAIN).run()
    folder = Path(catalog.path, ".paimonlab/ingest/job")
    kept = {path.name: path.read_bytes() for path in folder.iterdir()}
    script += [rows("a.t", PLAIN, "+I 2 b"), "|"]
    _job(catalog, script, PLAIN).run()
    for path in folder.iterdir():
        path.unlink()
    for name, data in kept.items():
        (folder / name).write_bytes(data)

    with pytest.raises(IngestStateError, match="older than the table"):
        _job(catalog, script, PLAIN).run()

    assert _rows(catalog) == [(1, "a"), (2, "b")]


def test_a_job_that_went_elsewhere_is_refused(catalog: pm.Catalog) -> None:
    script = [rows("a.t", PLAIN, "+I 1 a"), "|"]
    _job(catalog, script, PLAIN).run()

    with pytest.raises(IngestStateError, match=r"a\.t went to ods\.t so far, not to other\.t"):
        _job(catalog, script, PLAIN, into="other").run()
    made = ScriptedSource(script, {"a.t": source(PLAIN), "a.u": source(PLAIN)})
    status = _of(catalog, made).run()

    assert status.warnings == ("a.u was not read before: ods.u gets what comes from here on",)


def test_a_second_process_is_refused(catalog: pm.Catalog) -> None:
    job = _job(catalog, [])
    lease = take("job", catalog.file_io, str(Path(catalog.path, ".paimonlab/ingest/job")))

    with pytest.raises(IngestRunningError, match="runs it"):
        job.run()

    lease.release()
    job.run()


def test_a_job_runs_in_a_thread_and_is_paused_and_stopped(catalog: pm.Catalog) -> None:
    asked = threading.Semaphore(0)
    numbers = iter(range(1_000_000))

    def made(count: int) -> Any:
        while True:
            if asked.acquire(timeout=0.05):
                yield [{"id": next(numbers)}]
            else:
                yield None

    job = catalog.ingest(
        batches(made, table="app.t", columns={"id": "BIGINT"}), into="ods", name="job", interval=0
    )
    job.start()
    asked.release(3)
    until(lambda: job.status.rows == 3)
    with pytest.raises(RuntimeError, match="running in this process already"):
        job.run()
    job.pause()
    until(lambda: job.status.phase == "paused")
    asked.release(2)
    job.resume()
    until(lambda: job.status.rows == 5)

    assert job.stop().phase == "stopped"
    assert len(_rows(catalog)) == 5


def test_a_run_in_another_thread_is_stopped(catalog: pm.Catalog) -> None:
    made = batches(lambda _: iter(lambda: None, 1), table="app.t", columns={"id": "BIGINT"})
    job = catalog.ingest(made, into="ods", name="job")
    thread = threading.Thread(target=job.run, kwargs={"until": None}, daemon=True)
    thread.start()
    until(lambda: job.status.phase != "idle")

    assert job.stop(30).phase == "stopped"
    assert not job.is_running


def test_a_full_disk_is_told_at_once(catalog: pm.Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    job = _job(catalog, [rows("a.t", KEYED, "+I 1 a"), "|"])
    attempts = []

    def commit(*_: Any, **__: Any) -> None:
        attempts.append(1)
        raise CommitError("ods.t", "it did not happen") from StorageError(
            errno.ENOSPC, "No space left on device", "snapshot-1"
        )

    with monkeypatch.context() as patch:
        patch.setattr(pm.Table, "commit", commit)
        with pytest.raises(CommitError, match="it did not happen"):
            job.run()

    assert len(attempts) == 1
    job.run()
    assert _rows(catalog) == [(1, "a")]


def test_what_ends_a_thread_is_raised_by_stop(
    catalog: pm.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where not even a note of it can be written."""

    def refuse(*_given: Any) -> None:
        raise PaimonError("no room")

    monkeypatch.setattr("paimonlab.ingest.event_log.EventLog.write", refuse)
    job = _job(catalog, [BrokenError("gone")])
    job.start()

    until(lambda: job.status.phase == "failed")
    with pytest.raises(BrokenError, match="gone"):
        job.stop()


class _DyingSource(ScriptedSource):
    """Its reader ends in the midst of rows, without a word."""

    def read(self, position: Any, wanted: Any) -> Any:
        events = super().read(position, wanted)
        return itertools.islice(events, 3)


def test_a_reader_that_ends_ends_the_job_with_a_reason(catalog: pm.Catalog) -> None:
    script = [rows("a.t", PLAIN, "+I 1 a"), "|", rows("a.t", PLAIN, "+I 2 b"), "|"]
    job = _of(catalog, _DyingSource(script, {"a.t": source(PLAIN)}))
    with pytest.raises(IngestError, match="script ended without saying so"):
        job.run(None)
    job.start()
    until(lambda: not job.is_running)
    assert job.status.phase == "failed"
    with pytest.raises(IngestError, match="script ended without saying so"):
        job.stop()
    lease = take("job", catalog.file_io, str(Path(catalog.path, ".paimonlab/ingest/job")))
    job.start()
    until(lambda: not job.is_running)
    lease.release()

    assert (job.status.phase, "runs it" in (job.status.error or "")) == ("failed", True)
    script = [rows("a.t", PLAIN, "+I 1 a"), "|", rows("a.t", PLAIN, "+I 2 b"), "|"]
    assert _job(catalog, script, PLAIN).run().rows == 2
    assert _rows(catalog) == [(1, "a"), (2, "b")]


def test_jobs_are_listed_and_forgotten(catalog: pm.Catalog) -> None:
    script = [rows("a.t", KEYED, "+I 1 a"), "|"]
    job = _job(catalog, script)
    job.run()

    assert [(noted.name, noted.epoch, noted.rows) for noted in noted_jobs(catalog)] == [
        ("job", 1, 1)
    ]
    assert _job(catalog, script).status.rows == 1

    job.forget()

    assert noted_jobs(catalog) == []
    assert catalog.table("ods.t").consumers.list() == {}
    assert _rows(catalog) == [(1, "a")]


@pytest.mark.parametrize(
    ("told", "error"),
    [
        ({"computed": {"d": "soon()"}}, UnsupportedError),
        ({"metadata": ["topic"]}, UnsupportedError),
        ({"on_delete": "mark"}, ValueError),
        ({"evolve": "loose"}, ValueError),
        ({"max_dead": -1}, ValueError),
        ({"tags": -1}, ValueError),
        ({"max_bytes": "much"}, ValueError),
        ({"interval": -1}, ValueError),
        ({"colour": "red"}, TypeError),
        ({"name": "a/b"}, pm.errors.SchemaError),
    ],
)
def test_what_a_job_cannot_be_told(
    catalog: pm.Catalog, told: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        _job(catalog, [], **told)


class _Crash(BaseException):
    """A process that dies: nothing catches it."""


@pytest.mark.parametrize("keyed", [True, False])
def test_a_crash_at_any_step_loses_and_doubles_nothing(
    catalog: pm.Catalog, monkeypatch: pytest.MonkeyPatch, *, keyed: bool
) -> None:
    """The n-th call of the store, for every n, is the last one of a process."""
    schema = KEYED if keyed else PLAIN
    script: list[Any] = []
    for number in range(3):
        script += [
            rows("a.t", schema, f"+I {number} a"),
            rows("a.u", schema, f"+I {number} a"),
            "|",
        ]
    if keyed:
        script += [rows("a.t", schema, "-U 0 a", "+U 0 b", "-D 1 -"), "|"]
    expected = [(0, "b"), (2, "a")] if keyed else [(0, "a"), (1, "a"), (2, "a")]
    calls, last = 0, -1

    def counted(name: str) -> Any:
        before = getattr(type(catalog.file_io), name)

        def call(*given: Any, **named: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == last:
                raise _Crash
            return before(*given, **named)

        return call

    for name in ("publish", "replace", "create", "open_output", "delete", "list_names"):
        monkeypatch.setattr(type(catalog.file_io), name, counted(name))
    seed = int(os.environ.get("PAIMONLAB_SEED", str(random.randrange(1000))))
    print(f"PAIMONLAB_SEED={seed}")  # noqa: T201 - shown when it fails
    stride = int(os.environ.get("PAIMONLAB_CRASH_STRIDE", "5"))
    step = 0
    for step in range(1 + seed % stride, 400, stride):
        made = ScriptedSource(script, {"a.t": source(schema), "a.u": source(schema)})
        told = {"into": f"db{step}", "name": f"job{step}", "max_rows": 2}
        calls, last = 0, step
        try:
            _of(catalog, made, **told).run()
        except _Crash:
            last = -1
            _drop_lease(catalog, f"job{step}")
            _of(catalog, made, **told).run()
        else:
            break
        assert _rows(catalog, f"db{step}.t") == expected, step
        assert len(_rows(catalog, f"db{step}.u")) == 3, step
        identifiers = [
            snapshot.commit_identifier for snapshot in catalog.table(f"db{step}.u").snapshots.list()
        ]
        assert identifiers == sorted(identifiers)
    assert 15 < step < 390, "the job has some twenty steps, and all were tried"


def test_tags_are_cuts_through_all_tables(
    catalog: pm.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest of them are kept, also if the process dies before it tags the last epoch."""
    script: list[Any] = [rows("a.t", KEYED, "+I 1 a"), rows("a.u", KEYED, "+I 1 a"), "|"]
    script += [rows("a.t", KEYED, "+U 1 b"), "|", rows("a.u", KEYED, "+I 2 b"), "|"]
    made = ScriptedSource(script, {"a.t": source(KEYED), "a.u": source(KEYED)})
    told: dict[str, Any] = {"tags": 2, "max_rows": 1}
    cuts = iter(range(3))

    def dying(*given: Any, **named: Any) -> None:
        if next(cuts) == 2:
            raise _Crash
        cut(*given, **named)

    with monkeypatch.context() as patch:
        patch.setattr(running, "cut", dying)
        with pytest.raises(_Crash):
            _of(catalog, made, **told).run()
    job = _of(catalog, made, **told)
    job.run()

    found = {}
    for name in ("t", "u"):
        table = catalog.table(f"ods.{name}")
        for tag in table.tags.list():
            rows_then = table.scan(tag=tag).to_arrow().to_pylist()
            found[name, tag] = sorted((row["id"], row["v"]) for row in rows_then)
    assert found == {
        ("t", "ingest-job-2"): [(1, "b")],
        ("u", "ingest-job-2"): [(1, "a")],
        ("t", "ingest-job-3"): [(1, "b")],
        ("u", "ingest-job-3"): [(1, "a"), (2, "b")],
    }
    job.forget()
    assert not any(catalog.table(f"ods.{name}").tags.list() for name in ("t", "u"))


def _drop_lease(catalog: pm.Catalog, name: str) -> None:
    """Let a process count as dead that a test let crash within this one."""
    folder = Path(catalog.path, ".paimonlab/ingest", name)
    for path in folder.glob("owner-*"):
        path.unlink()


@pytest.mark.parametrize(
    ("engine", "is_taken"),
    [("deduplicate", True), ("partial-update", True), ("first-row", False)],
)
def test_rows_that_may_come_twice_go_only_where_the_later_one_counts(
    catalog: pm.Catalog, engine: str, *, is_taken: bool
) -> None:
    class Repeating(ScriptedSource):
        may_repeat = True

    made = Repeating([rows("a.t", KEYED, "+I 1 a", "+I 1 a")], {"a.t": source(KEYED)})
    job = _of(catalog, made, options={"bucket": 1, "merge-engine": engine})

    if is_taken:
        job.run()
    else:
        with pytest.raises(IngestSchemaError, match="come twice"):
            job.run()

    assert len(_rows(catalog)) == is_taken


def test_progress_tells_rows_of_tables_that_are_large(catalog: pm.Catalog) -> None:
    """Also where no boundary comes for a long time; and no more once they are all read."""

    class Sized(ScriptedSource):
        def estimated_rows(self, wanted: Callable[[str], bool]) -> int | None:
            return 4 if wanted("a.t") else None

    script = [
        rows("a.t", KEYED, "+I 1 a", "+I 2 b"),
        rows("a.t", KEYED, "+I 3 c"),
        Boundary(position=3, phase=Phase.SNAPSHOT),
        rows("a.t", KEYED, "+I 4 d"),
    ]
    made = Sized(script, {"a.t": source(KEYED)})
    job = _of(catalog, made)
    told: list[JobStatus] = []
    report = job._report

    def noted(status: JobStatus) -> None:
        told.append(status)
        report(status)

    job._report = noted  # type: ignore[method-assign]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "_TOLD_SECONDS", 0.0)
        job.run()

    seen = [(one.phase, one.snapshot_rows, one.snapshot_total, one.pending_rows) for one in told]
    assert ("snapshot", 2, 4, 2) in seen
    assert ("snapshot", 3, 4, 3) in seen
    assert seen[-1] == ("caught up", None, None, 0)
    assert "3 of about 4 rows of the snapshot read" in str(
        next(one for one in told if one.snapshot_rows == 3)
    )
