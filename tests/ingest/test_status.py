from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import paimonlab as pm
from paimonlab.ingest import JobStatus, TableStatus, batches, landing, prometheus_text, running
from tests.waiting import until

STATUS = JobStatus(
    name="shop",
    source="script",
    phase="stream",
    epoch=7,
    position={"file": "b.1"},
    rows=1200,
    dead=2,
    pending_rows=3,
    pending_bytes=100,
    lag_millis=1500,
    behind=4,
    behind_unit="files",
    began_millis=0,
    committed_millis=1_700_000_000_000,
    tables=(
        TableStatus(
            name="ods.o",
            sources=("a.o", "b.o"),
            rows=1200,
            rows_per_second=10.0,
            snapshot_id=9,
            stopped=None,
            skipped=0,
        ),
        TableStatus(
            name='ods."x"',
            sources=("a.x",),
            rows=0,
            rows_per_second=0.0,
            snapshot_id=None,
            stopped="the key changed",
            skipped=5,
        ),
    ),
    warnings=("late",),
    error=None,
)


def test_a_status_in_lines_of_text() -> None:
    assert str(STATUS).splitlines() == [
        "shop from script: stream, epoch 7, 1,200 rows, 4 files behind",
        "  last commit 2023-11-14 22:13:20 UTC, lag 1.5 s",
        "  2 rows set aside",
        "  ods.o    1,200 rows",
        '  ods."x"  stopped: the key changed (5 rows skipped)',
        "  warning: late",
    ]


def test_a_status_as_json() -> None:
    told = json.loads(json.dumps(STATUS.to_dict()))

    assert told["position"] == {"file": "b.1"}
    assert told["tables"][1]["stopped"] == "the key changed"


def test_a_status_for_prometheus() -> None:
    lines = prometheus_text(replace(STATUS, lag_millis=None)).splitlines()

    assert 'paimonlab_ingest_rows_total{job_name="shop"} 1200' in lines
    assert 'paimonlab_ingest_table_stopped{job_name="shop",table="ods.\\"x\\""} 1' in lines
    assert not [line for line in lines if "lag_seconds" in line]


def test_a_status_says_what_takes_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_STALLED_SECONDS", 0.05)
    source_goes_on, commit_goes_on = threading.Event(), threading.Event()
    committed = landing._committed

    def slow_commit(*given: Any) -> Any:
        assert commit_goes_on.wait(60)
        return committed(*given)

    def made(read: int) -> Iterator[list[dict[str, int]]]:
        del read
        assert source_goes_on.wait(60)
        yield [{"id": 1}]

    monkeypatch.setattr(landing, "_committed", slow_commit)
    source = batches(made, table="a.t", columns={"id": "BIGINT"})
    job = pm.connect(tmp_path).ingest(source, into="ods", name="job")

    job.start()
    until(lambda: any(one.startswith(f"waits for {source.name}") for one in job.status.warnings))
    source_goes_on.set()
    until(lambda: any(one.startswith("commits epoch 1, for") for one in job.status.warnings))
    commit_goes_on.set()
    until(lambda: not job.is_running)

    assert job.stop().warnings == ()
    assert job.status.rows == 1
