"""Jobs that are asked to read tables anew, or more tables, while they run and between runs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pm
from paimonlab.errors import IngestError, IngestSchemaError, NotFoundError
from paimonlab.ingest import running
from paimonlab.ingest.changes import Phase
from paimonlab.ingest.job import Job
from paimonlab.ingest.job_health import measured
from paimonlab.ingest.steering import ask_of
from paimonlab.spec.schema.schema_changes import AddColumn, UpdateColumnType
from paimonlab.spec.types.text import parse_type
from tests.ingest.drawing import source
from tests.ingest.logged_shop import KEYED, PLAIN, Shop
from tests.ingest.parted_log import RereadableLog
from tests.ingest.scripted import BrokenError, ScriptedSource, change, rows


@pytest.fixture
def catalog(tmp_path: Path) -> pm.Catalog:
    return pm.connect(tmp_path / "warehouse")


@pytest.fixture
def shop() -> Shop:
    made = Shop({"a.keyed": KEYED, "a.log": PLAIN})
    made.insert("a.keyed", (1, "a"), (2, "b"), (3, "c"))
    made.insert("a.log", (1, "x"), (2, "y"))
    return made


def _job(catalog: pm.Catalog, shop: Any, **told: Any) -> Job:
    given: dict[str, Any] = {"into": "ods", "name": "job", "interval": 0.0} | told
    return catalog.ingest(shop, **given)


def _rows(catalog: pm.Catalog, name: str) -> list[tuple[Any, ...]]:
    found = catalog.table(name).scan().to_arrow().to_pylist()
    return sorted((tuple(row.values()) for row in found), key=repr)


def _same(catalog: pm.Catalog, shop: Shop) -> None:
    for table, found in shop.rows_of.items():
        assert _rows(catalog, f"ods.{table.partition('.')[2]}") == sorted(found, key=repr), table


def _wait(check: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end
        time.sleep(0.02)


def _events(job: Job, kind: str) -> list[str]:
    return [one.text for one in job.events if one.kind == kind]


@pytest.mark.parametrize("table", ["keyed", "ods.log", "a.log"])
def test_a_table_that_is_read_anew_has_what_the_source_has(
    catalog: pm.Catalog, shop: Shop, table: str
) -> None:
    job = _job(catalog, shop)
    job.run()
    name = table.rpartition(".")[2]
    shop.delete(f"a.{name}", shop.rows_of[f"a.{name}"][0], logged=False)
    shop.insert("a.keyed", (4, "d"))
    shop.insert("a.log", (3, "z"))

    job.resnapshot(table)  # it does not run: the next run does it
    job.run()

    _same(catalog, shop)
    shop.insert(f"a.{name}", (9, "late"))
    _job(catalog, shop).run()
    _same(catalog, shop)
    assert _events(job, "resnapshot") == ["all rows are read anew", "its rows are replaced"]


def test_the_rows_before_are_seen_until_all_new_ones_were_read(
    catalog: pm.Catalog, shop: Shop
) -> None:
    job = _job(catalog, shop, max_bytes=1)  # all that is read is written to files at once
    job.run()
    before = _rows(catalog, "ods.log")
    shop.delete("a.log", (1, "x"), logged=False)
    for number in range(3, 9):
        shop.insert("a.log", (number, "new"), logged=False)
    seen = []
    shop.during_rows = lambda _: seen.append(_rows(catalog, "ods.log"))

    job.resnapshot("log")
    job.run()

    assert seen == [before] * 4
    _same(catalog, shop)
    last = catalog.table("ods.log").snapshot
    assert last is not None
    assert last.commit_kind is pm.CommitKind.OVERWRITE


def test_an_emptied_table_becomes_empty(catalog: pm.Catalog, shop: Shop) -> None:
    job = _job(catalog, shop)
    job.run()
    shop.rows_of["a.keyed"].clear()
    job.resnapshot("keyed")
    job.run()
    _same(catalog, shop)
    assert _rows(catalog, "ods.keyed") == []


@pytest.mark.parametrize("table", ["keyed", "log"])
def test_reading_anew_that_fails_is_begun_anew_by_the_next_run(
    catalog: pm.Catalog, shop: Shop, table: str
) -> None:
    job = _job(catalog, shop, max_bytes=1)
    job.run()
    before = _rows(catalog, f"ods.{table}")
    shop.delete(f"a.{table}", shop.rows_of[f"a.{table}"][0], logged=False)
    shop.insert(f"a.{table}", (7, "g"), (8, "h"), (9, "i"), logged=False)

    def breaks(number: int) -> None:
        if number == 2:
            raise BrokenError

    shop.during_rows = breaks
    job.resnapshot(table)
    for _ in range(2):
        with pytest.raises(BrokenError):
            job.run()
        assert _rows(catalog, f"ods.{table}") == before
    shop.during_rows = lambda _: None
    _job(catalog, shop).run()
    _same(catalog, shop)


def test_a_running_job_is_asked_and_goes_on(catalog: pm.Catalog, shop: Shop) -> None:
    shop.schemas["a.more"] = KEYED
    shop.insert("a.more", (1, "m"))
    shop.patterns = ["a.keyed", "a.log"]
    job = _job(catalog, shop)
    job.start()
    try:
        _wait(lambda: job.status.phase == "caught up")
        with pytest.raises(NotFoundError, match=r"no table 'keyd'. Did you mean"):
            job.resnapshot("keyd")
        with pytest.raises(NotFoundError, match=r"no table that 'a\.mare' matches"):
            job.add("a.mare")
        with pytest.raises(NotFoundError, match=r"no table that 'a\.log' matches"):
            job.add("a.log")
        shop.delete("a.keyed", (1, "a"), logged=False)
        job.resnapshot("keyed")
        _wait(lambda: _rows(catalog, "ods.keyed") == [(2, "b"), (3, "c")])
        job.add(r"a\.more")
        shop.insert("a.more", (2, "n"))
        _wait(lambda: catalog.has_table("ods.more") and len(_rows(catalog, "ods.more")) == 2)
        shop.insert("a.keyed", (5, "e"))
    finally:
        job.stop(30)
    job.run()
    _same(catalog, shop)
    assert len(_events(job, "refused")) == 3

    shop.insert("a.more", (3, "o"))
    shop.patterns = ["a.keyed", "a.log"]  # another process, told what the first was told
    later = _job(catalog, shop)
    assert [table.name for table in later.plan().tables] == ["ods.keyed", "ods.log", "ods.more"]
    later.run()
    _same(catalog, shop)


def test_other_processes_ask_by_notes(
    catalog: pm.Catalog, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_ASKED_SECONDS", 0.02)
    monkeypatch.setattr(running, "_PAUSE_SECONDS", 0.02)
    job = _job(catalog, shop)
    asked = job._files.asked
    asked.add(ask_of("stop", of="a process that ended before it looked"))
    job.start()
    try:
        asked.add(ask_of("resume"))  # nothing to resume: it is forgotten
        _wait(lambda: not asked.read())
        asked.add(ask_of("pause"))
        _wait(lambda: job.status.phase == "paused")
        shop.insert("a.log", (3, "z"))
        shop.delete("a.keyed", (2, "b"), logged=False)
        asked.add(ask_of("resnapshot", "keyed"))
        asked.add(ask_of("resnapshot", "nowhere"))
        _wait(lambda: not asked.read())
        assert job.status.phase == "paused"
        asked.add(ask_of("resume"))
        _wait(lambda: job.status.phase == "caught up")
        _same(catalog, shop)
        asked.add(ask_of("stop"))
        _wait(lambda: job.status.phase == "stopped")
    finally:
        job.stop(30)
    assert "nowhere" in job.status.warnings[0]


def test_a_table_that_stopped_goes_on_after_it_was_read_anew(catalog: pm.Catalog) -> None:
    wide = "id BIGINT NOT NULL, v INT KEY(id)"
    made = ScriptedSource(
        [
            rows("a.t", KEYED, "+I 1 a"),
            rows("a.u", KEYED, "+I 1 a"),
            "|",
            change("a.t", KEYED, wide),
            rows("a.t", wide, "+I 2 5"),
            "|",
        ],
        {"a.t": source(KEYED), "a.u": source(KEYED)},
    )
    _job(catalog, made).run()
    shop = Shop({"a.t": wide, "a.u": KEYED})
    shop.insert("a.t", (1, 4), (2, 5), logged=False)
    shop.insert("a.u", (1, "a"), logged=False)

    class _Follows(Shop):
        def before_rows(self, position: Any, tables: Any) -> Any:
            return {"at": 0, "unread": sorted(tables), "read": {}}

    follows = _Follows(shop.schemas, rows_of=shop.rows_of)
    job = _job(catalog, follows)
    job.resnapshot("t")
    job.run(until=0.0)
    assert "cannot be read anew" in _events(job, "refused")[0]
    assert _rows(catalog, "ods.t") == [(1, "a")]

    catalog.drop_table("ods.t")
    job.resnapshot("t")
    job.run()
    _same(catalog, follows)
    follows.insert("a.t", (3, 6))
    job.run()
    _same(catalog, follows)


@pytest.mark.parametrize("mode", ["lenient", "exact"])
def test_columns_that_went_while_a_table_stopped_follow_its_mode(
    catalog: pm.Catalog, mode: str
) -> None:
    """Once all rows are read anew; a column that was added here by hand is nobody's but ours."""
    wide, other = "id BIGINT NOT NULL, v STRING, n INT, m INT NOT NULL KEY(id)", KEYED
    stops = "id BIGINT NOT NULL, v BOOLEAN, n INT, m INT NOT NULL KEY(id)"
    made = ScriptedSource(
        [
            rows("a.t", wide, "+I 1 a 7 8"),
            rows("a.u", other, "+I 1 a"),
            "|",
            change("a.t", wide, stops),
            rows("a.t", stops, "+I 2 true 7 8"),
            "|",
        ],
        {"a.t": source(wide), "a.u": source(other)},
    )
    _job(catalog, made, evolve=mode).run()
    catalog.alter_table("ods.t", AddColumn("mine", parse_type("INT")))
    shop = Shop({"a.t": KEYED, "a.u": other})
    shop.insert("a.t", (1, "b"), (2, "c"), logged=False)
    shop.insert("a.u", (1, "a"), logged=False)

    class _Follows(Shop):
        def before_rows(self, position: Any, tables: Any) -> Any:
            return {"at": 0, "unread": sorted(tables), "read": {}}

    job = _job(catalog, _Follows(shop.schemas, rows_of=shop.rows_of), evolve=mode)
    job.resnapshot("t")
    job.run()

    found = catalog.table("ods.t").scan().to_arrow().sort_by("id").to_pylist()
    kept = {} if mode == "exact" else {"n": None, "m": None}
    assert found == [
        {"id": 1, "v": "b", **kept, "mine": None},
        {"id": 2, "v": "c", **kept, "mine": None},
    ]
    said = _events(job, "resnapshot")[0]
    assert said.endswith("the source has it no more: n, m") == (mode == "lenient"), said


def _lines(table: str, ids: range, kind: str = "int32") -> list[str]:
    """Write inserted rows as Debezium does, with the type of a column."""
    types = {"id": "int32", "v": kind}
    columns = [{"field": name, "type": of, "optional": True} for name, of in types.items()]
    schema = {"type": "struct", "fields": [{"field": "after", "type": "struct", "fields": columns}]}
    source_of = {"db": "d", "table": table}
    found = []
    for number in ids:
        row = {"id": number, "v": number if kind == "int32" else True}
        payload = {"op": "c", "before": None, "after": row, "source": source_of}
        found.append(json.dumps({"schema": schema, "payload": payload}))
    return found


def test_rows_of_an_added_table_come_once_wherever_a_run_ends(
    catalog: pm.Catalog, tmp_path: Path
) -> None:
    log = RereadableLog(tmp_path / "log")
    for table in ("one", "two"):
        log.add(0, _lines(table, range(200)))
    job = _job(catalog, log, including=r"d\.one", max_rows=50)
    job.run()
    job.add(r"d\.two")
    job.run(rows=60)
    log.add(0, _lines("two", range(200, 210)))
    job.run()
    assert sorted(row[0] for row in _rows(catalog, "ods.one")) == [*range(200)]
    assert sorted(row[0] for row in _rows(catalog, "ods.two")) == [*range(210)]


def test_a_table_that_stops_while_it_is_read_anew_keeps_its_rows(
    catalog: pm.Catalog, tmp_path: Path
) -> None:
    log = RereadableLog(tmp_path / "log")
    log.add(0, _lines("one", range(100)))
    log.add(1, _lines("two", range(3)))
    job = _job(catalog, log)
    job.run()
    log.add(0, _lines("one", range(100, 110), "boolean"))
    job.run()
    catalog.table("ods.one").write(pa.table({"id": [777], "v": [1]}))
    before = _rows(catalog, "ods.one")
    job.resnapshot("one")
    job.run()
    assert "cannot" in (job.status.tables[0].stopped or ""), job.status
    assert _rows(catalog, "ods.one") == before
    assert (777, 1) in before


def test_sources_without_rows_refuse_by_name(catalog: pm.Catalog) -> None:
    script = [rows("a.t", KEYED, "+I 1 a"), "|"]
    made = ScriptedSource(script, {"a.t": source(KEYED)}, ends=Phase.ENDED)
    job = _job(catalog, made)
    job.start()
    try:
        _wait(lambda: job.status.rows == 1 or not job.is_running)
    finally:
        job.stop(30)
    job.resnapshot("t")
    status = job.run()
    assert "resnapshot of ods.t" in status.warnings[0]
    assert "another name" in status.warnings[0]
    assert status.rows == 1


def test_a_source_that_lost_a_table_does_not_lose_its_rows(catalog: pm.Catalog, shop: Shop) -> None:
    job = _job(catalog, shop)
    job.run()
    del shop.schemas["a.log"]
    job.resnapshot("log")
    status = job.run()
    assert "a.log is not in the source any more" in status.warnings[0]
    assert _rows(catalog, "ods.log") == [(1, "x"), (2, "y")]


def test_a_pattern_that_is_none_is_refused_at_once(catalog: pm.Catalog, shop: Shop) -> None:
    with pytest.raises(ValueError, match="not a regular expression"):
        _job(catalog, shop).add("a.(")


def test_a_table_that_changes_within_a_large_transaction_ends_no_epoch(
    catalog: pm.Catalog,
) -> None:
    """Rows of an open transaction that were written already wait until it is whole."""
    wide = "id BIGINT, v STRING, n INT"
    made = ScriptedSource(
        [
            rows("a.t", PLAIN, "+I 1 a"),
            "|",
            rows("a.t", PLAIN, "+I 2 b"),
            change("a.u", PLAIN, wide),
            rows("a.u", wide, "+I 1 a 1"),
            "|",
        ],
        {"a.t": source(PLAIN), "a.u": source(PLAIN)},
    )
    with pytest.raises(IngestError, match="larger than max_bytes"):
        _job(catalog, made, max_bytes=1).run()
    assert _rows(catalog, "ods.t") == [(1, "a")]
    made.began_at.clear()
    _job(catalog, made).run()
    assert _rows(catalog, "ods.t") == [(1, "a"), (2, "b")]


def test_a_table_that_the_source_cannot_read_leaves_the_others_alone(
    catalog: pm.Catalog, shop: Shop
) -> None:
    shop.schemas["a.odd"] = KEYED
    shop.insert("a.odd", (1, "o"))
    shop.refused["a.odd"] = "column 'v' (inet6) of a.odd cannot be read"
    job = _job(catalog, shop)

    plan = job.plan()
    assert [table.name for table in plan.tables] == ["ods.keyed", "ods.log"]
    assert "refused ods.odd from a.odd: column 'v' (inet6) of a.odd cannot be read" in str(plan)
    for number in (3, 4):
        job = _job(catalog, shop)
        job.run()
        assert {one.name: one.stopped for one in job.status.tables} == {
            "ods.keyed": None,
            "ods.log": None,
            "ods.odd": shop.refused["a.odd"],
        }
        assert not catalog.has_table("ods.odd")
        shop.insert("a.log", (number, "z"))
    assert len(_events(job, "stopped")) == 1

    with pytest.raises(IngestSchemaError, match=r"ods\.odd: column 'v' \(inet6\)"):
        _job(catalog, shop, on_error="stop").run()

    # What can be read again is read only as a whole.
    del shop.refused["a.odd"]
    shop.insert("a.odd", (2, "p"))
    job = _job(catalog, shop)
    job.run()
    assert _rows(catalog, "ods.odd") == []
    (odd,) = [one for one in job.status.tables if one.name == "ods.odd"]
    assert (odd.stopped, odd.skipped) == ("column 'v' (inet6) of a.odd cannot be read", 2)
    job.resnapshot("a.odd")
    job.run()
    _same(catalog, shop)
    assert not job.status.warnings, "it has all rows"


def test_a_stopped_table_that_was_altered_by_hand_is_read_anew(catalog: pm.Catalog) -> None:
    """It is as the source has it now; what the job knows of the source is older."""
    shop = Shop({"a.t": KEYED})
    shop.insert("a.t", (1, "x"))
    job = _job(catalog, shop, options={"bucket": 1})
    job.run()
    shop.schemas["a.t"] = "id BIGINT NOT NULL, v BYTES KEY(id)"
    shop.insert("a.t", (2, "y"))
    with pytest.raises(IngestSchemaError, match=r"BYTES.*resnapshot of ods\.t reads it anew"):
        job.run()
    catalog.alter_table("ods.t", UpdateColumnType("v", parse_type("BYTES")))

    with pytest.raises(IngestSchemaError, match="cannot become STRING"):
        _job(catalog, shop).run()
    job = _job(catalog, shop)
    job.resnapshot("t")
    job.run()
    assert _rows(catalog, "ods.t") == [(1, b"x"), (2, b"y")]
    shop.insert("a.t", (3, "z"))
    _job(catalog, shop).run()
    assert _rows(catalog, "ods.t") == [(1, b"x"), (2, b"y"), (3, b"z")]


def test_a_table_that_can_be_read_again_is_asked_for(catalog: pm.Catalog, shop: Shop) -> None:
    shop.schemas["a.odd"] = KEYED
    shop.insert("a.odd", (1, "o"))
    shop.refused["a.odd"] = "it is odd"
    job = _job(catalog, shop)
    job.start()
    try:
        _wait(lambda: job.status.phase == "caught up")
        with pytest.raises(IngestSchemaError, match=r"ods\.odd: it is odd"):
            job.resnapshot("odd")
        del shop.refused["a.odd"]
        job.resnapshot("odd")
        _wait(lambda: catalog.has_table("ods.odd") and bool(_rows(catalog, "ods.odd")))
        shop.insert("a.odd", (2, "p"))
    finally:
        job.stop(30)
    job.run()
    _same(catalog, shop)
    assert not any(one.stopped for one in job.status.tables)


def test_a_followed_table_that_cannot_be_read_any_more_stops(
    catalog: pm.Catalog, shop: Shop
) -> None:
    _job(catalog, shop).run()
    shop.refused["a.keyed"] = "it is odd"
    shop.insert("a.log", (3, "z"))
    job = _job(catalog, shop)
    job.run()
    assert _rows(catalog, "ods.log")[-1] == (3, "z")
    assert {one.name: one.stopped for one in job.status.tables} == {
        "ods.keyed": "it is odd. Rows before are committed",
        "ods.log": None,
    }
    job.start()
    try:
        with pytest.raises(IngestSchemaError, match="cannot be read anew: it is odd"):
            job.resnapshot("keyed")
    finally:
        job.stop(30)


def test_a_job_without_a_table_that_can_be_read_says_so(catalog: pm.Catalog, shop: Shop) -> None:
    shop.refused = {"a.keyed": "it is odd", "a.log": "so is this"}
    with pytest.raises(IngestSchemaError, match=r"ods\.keyed: it is odd; ods\.log: so is this"):
        _job(catalog, shop).run()
    # A table that is left out is spoken of no more.
    del shop.refused["a.log"]
    _job(catalog, shop).run()
    job = _job(catalog, shop, excluding=r"a\.keyed")
    job.run()
    assert [one.name for one in job.status.tables] == ["ods.log"]
    found = measured(catalog, "job")
    assert found is not None
    assert not found.stopped
