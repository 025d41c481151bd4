"""What health says of the jobs that tables are from."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

import paimonlab as pm
from paimonlab.analysis.health.catalog_health import catalog_health
from paimonlab.analysis.health.measures import Thresholds
from paimonlab.clock import now_millis
from paimonlab.ingest.changes import Phase
from paimonlab.ingest.epochs import Stopped
from paimonlab.ingest.event_log import JobEvent
from paimonlab.ingest.job import files_of
from paimonlab.ingest.job_health import JobMeasures, findings, measured, with_jobs
from paimonlab.notebook import health
from tests.cli.conftest import Run
from tests.cli.conftest import run as run  # noqa: PLC0414 - a fixture
from tests.ingest.drawing import source
from tests.ingest.scripted import BrokenError, ScriptedSource, change, rows

KEYED = "id BIGINT NOT NULL, v STRING KEY(id)"
DAY = 86_400_000
JOB: dict[str, Any] = {
    "name": "j",
    "tables": ("ods.a", "ods.b"),
    "is_running": True,
    "phase": "stream",
    "made_millis": 10 * DAY,
    "seen_millis": 10 * DAY - 1_000,
    "dead": 0,
    "failed": None,
}
STOPPED = {"ods.a": Stopped(reason="the key changed", position=1, at_millis=0)}


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({}, []),
        ({"seen_millis": 10 * DAY - 301_000}, ["ods.a ingest-lag 301.0", "ods.b ingest-lag 301.0"]),
        ({"seen_millis": None}, []),
        ({"is_running": False}, []),
        (
            {"is_running": False, "made_millis": 8 * DAY},
            ["ods.a ingest-idle 2.5", "ods.b ingest-idle 2.5"],
        ),
        ({"is_running": False, "made_millis": 8 * DAY, "phase": "ended"}, []),
        ({"made_millis": 8 * DAY, "seen_millis": 8 * DAY}, []),
        (
            {"is_running": False, "failed": "no disk"},
            ["ods.a ingest-failed 0.5", "ods.b ingest-failed 0.5"],
        ),
        ({"failed": "no disk"}, []),
        ({"stalled": "since noon"}, ["ods.a ingest-stalled 0.5", "ods.b ingest-stalled 0.5"]),
        ({"stalled": "since noon", "is_running": False}, []),
        ({"stopped": STOPPED, "skipped": {"ods.a": 7}}, ["ods.a ingest-stopped 7"]),
        (
            {"stopped": STOPPED, "is_running": False, "failed": "x"},
            ["ods.a ingest-stopped 0", "ods.b ingest-failed 0.5"],
        ),
        ({"dead": 3}, ["ods.j__dead ingest-dead-letters 3"]),
    ],
)
def test_what_is_said_of_a_job(told: dict[str, Any], expected: list[str]) -> None:
    measures = JobMeasures(**{**JOB, **told})

    found = list(findings(measures, Thresholds(), 10 * DAY + DAY // 2))

    assert [f"{table} {one.code} {one.measured}" for table, one in found] == expected
    assert {one.where for _, one in found} <= {"ingest job j"}
    shells = {one.code: one.shell for _, one in found}
    letters = shells.pop("ingest-dead-letters", "")
    assert letters in ("", 'paimonlab sql "SELECT * FROM ods.j__dead"')
    assert {*shells.values()} <= {"paimonlab ingest status j"}


@pytest.fixture
def catalog(tmp_path: Path) -> pm.Catalog:
    return pm.connect(tmp_path / "warehouse")


def codes(catalog: pm.Catalog, **limits: float) -> dict[str, list[str]]:
    reports = with_jobs(catalog, catalog_health(catalog), Thresholds.of(limits))
    return {
        report.table: [one.code for one in report.findings if one.code.startswith("ingest-")]
        for report in reports
    }


def job(catalog: pm.Catalog, script: list[Any], **told: Any) -> Any:
    made = ScriptedSource(
        script, {"a.t": source(KEYED), "a.u": source(KEYED)}, ends=Phase.CAUGHT_UP
    )
    return catalog.ingest(made, into="ods", name="j", options={"bucket": 1}, **told)


def test_a_table_that_stopped_and_a_job_that_failed(catalog: pm.Catalog, run: Run) -> None:
    other = "id BIGINT NOT NULL, v INT KEY(id)"
    script = [
        rows("a.t", KEYED, "+I 1 a"),
        rows("a.u", KEYED, "+I 1 a"),
        "|",
        change("a.t", KEYED, other),
        "|",
    ]
    job(catalog, script).run()
    assert codes(catalog) == {"ods.t": ["ingest-stopped"], "ods.u": []}
    with pytest.raises(BrokenError):
        job(catalog, [*script, BrokenError("no disk")]).run()
    assert codes(catalog) == {"ods.t": ["ingest-stopped"], "ods.u": ["ingest-failed"]}

    told = run("health", catalog.path, "ods")
    assert told.exit_code == 1
    assert "error ingest-failed: ingest job j: its job failed" in told.output
    command = f"paimonlab ingest {catalog.path} status j"
    assert f"    {command}\n" in told.output
    status = run(*shlex.split(command)[1:])
    assert status.exit_code == 0
    assert "no disk" in status.output
    shown = health(catalog)
    assert "ingest-stopped" in shown.to_text()

    job(catalog, script).run()
    assert codes(catalog) == {"ods.t": ["ingest-stopped"], "ods.u": []}


def test_a_table_that_is_not_made_since_its_source_cannot_be_read(
    catalog: pm.Catalog, run: Run
) -> None:
    refused = replace(source(KEYED), refusal="column 'v' of a.u cannot be read")
    made = ScriptedSource(
        [rows("a.t", KEYED, "+I 1 a"), "|"], {"a.t": source(KEYED), "a.u": refused}
    )
    catalog.ingest(made, into="ods", name="j", options={"bucket": 1}).run()
    told = run("health", catalog.path)
    assert told.exit_code == 1
    assert "ods.u" in told.output
    assert "its source cannot be read: column 'v' of a.u cannot be read" in told.output
    assert "ods.u" not in run("health", catalog.path, "ods.t").output
    assert "ods.u" in health(catalog).to_text()


def test_rows_set_aside_and_times(
    catalog: pm.Catalog, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    narrow = "id BIGINT NOT NULL, v VARCHAR(2) KEY(id)"
    made = ScriptedSource(
        [rows("a.t", narrow, "+I 1 a", "+I 2 toolong"), "|"], {"a.t": source(narrow)}
    )
    catalog.ingest(made, into="ods", name="j", options={"bucket": 1}, max_dead=5).run()

    assert codes(catalog) == {"ods.j__dead": ["ingest-dead-letters"], "ods.t": []}
    assert codes(catalog, ingest_dead_rows=1) == {"ods.j__dead": [], "ods.t": []}
    assert codes(catalog, ingest_idle_days=-1)["ods.t"] == ["ingest-idle"]
    letters = run("sql", catalog.path, "SELECT source_table FROM ods.j__dead", "--format", "json")
    assert '"a.t"' in letters.output
    monkeypatch.setenv("PAIMONLAB_DETERMINISTIC", "1")
    shown = health(catalog, ingest_idle_days=-1)
    messages = [
        one["message"]
        for table in msgspec.to_builtins(shown.value)["tables"]
        for one in table["findings"]
        if one["code"] == "ingest-idle"
    ]
    (message,) = messages
    assert message.startswith("no process runs its job, which committed last … days ago: ")


def test_what_stalls_is_known_until_something_is_committed(catalog: pm.Catalog) -> None:
    job(catalog, [rows("a.t", KEYED, "+I 1 a"), "|"]).run()
    log = files_of(catalog, "j").log
    for seconds, expected in ((3600, "since noon"), (-3600, None)):
        at_millis = now_millis() + seconds * 1000
        event = JobEvent(at_millis=at_millis, kind="stalled", table=None, text="since noon")
        log.write([event], 99, "x")
        found = measured(catalog, "j")
        assert found is not None
        assert found.stalled == expected


def test_a_warehouse_without_jobs_says_nothing(catalog: pm.Catalog) -> None:
    catalog.create_database("db")
    catalog.write_table("db.t", [{"id": 1}])

    assert codes(catalog) == {"db.t": []}
