"""Verbs that are killed at each of their changes, watches that are ended while others commit.

``PAIMONLAB_KILL_POINTS`` says at how many changes of each verb it is killed.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pm
from tests.outside import killed_verb, watching_table
from tests.outside.processes import ROOT, said

POINTS = int(os.environ.get("PAIMONLAB_KILL_POINTS", "3"))
INTERRUPTS = 6
_SECONDS = 600
"""After which a program hangs for ever."""
EMPTY = [0, []]
"""No findings of fsck, no rows."""


def killed(folder: Path, name: str, seed: int) -> Any:
    arguments = [killed_verb.__file__, str(folder), name, str(seed), str(POINTS)]
    return json.loads(said(arguments, timeout_seconds=_SECONDS))


def works() -> list[Any]:
    """Name the works; those that take long are killed by ``make soak``, or if points are given."""
    often = pytest.mark.skipif(
        "PAIMONLAB_KILL_POINTS" not in os.environ, reason="part of make soak"
    )
    return [
        pytest.param(name, marks=often if work.takes_long else ())
        for name, work in killed_verb.WORKS.items()
    ]


@pytest.mark.parametrize("name", works())
def test_a_killed_verb_did_all_or_nothing_and_can_be_run_again(
    name: str, tmp_path: Path, seed: int
) -> None:
    found, work = killed(tmp_path, name, seed), killed_verb.WORKS[name]

    before, after = found["before"], found["after"]
    allowed = [before, after]
    if work.makes_table:
        allowed.append(EMPTY)
    assert before != after
    assert not work.table or any("link snapshot-" in one["change"] for one in found["found"])
    for one in found["found"]:
        assert one["ended"] == -signal.SIGKILL, one
        if work.is_allowed is None:
            assert one["left"] in allowed, one
        else:
            assert work.is_allowed(before, one["left"], after), one
        assert one["again"] is None, one
        assert one["last"] == after, one


def test_watches_can_be_ended_at_any_time_and_disturb_nobody(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    catalog = pm.connect(tmp_path)
    catalog.create_database("db")
    options = {"bucket": "1", "write-only": "true"}
    columns = {"id": "BIGINT NOT NULL"}
    table = catalog.create_table("db.t", columns, primary_keys=["id"], options=options)
    table.write(pa.table({"id": [0]}))
    stopped = threading.Event()
    written = [1]

    def write() -> None:
        while not stopped.wait(0.005):
            table.write(pa.table({"id": [written[0]]}))
            written[0] += 1

    writer = threading.Thread(target=write)
    writer.start()
    program = subprocess.Popen(
        [sys.executable, watching_table.__file__, str(tmp_path), str(INTERRUPTS)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert program.stdout is not None
        for _ in range(INTERRUPTS):
            assert program.stdout.readline() == "drawn\n"
            time.sleep(chance.uniform(0, 0.1))
            program.send_signal(signal.SIGINT)
            check_view(json.loads(program.stdout.readline()))
        assert any("drawn" in line for line in iter(program.stdout.readline, ""))
    finally:
        program.kill()
        program.communicate()
        stopped.set()
        writer.join()

    assert program.returncode == -signal.SIGKILL
    assert sorted(table.scan().to_arrow()["id"].to_pylist()) == list(range(written[0]))
    assert not table.consumers.list()
    assert not table.fsck(deep=True).findings
    kept = {"bucket-0", "manifest", "schema", "snapshot"}
    assert {path.name for path in Path(table.path).iterdir()} == kept


def check_view(view: Any) -> None:
    """Check that what a watch shows at its end are whole commits, each once."""
    ids = view["ids"]
    assert view["state"] == "stopped", view
    assert ids == list(range(ids[0], view["newest"] + 1)), view
    assert view["in levels"] == view["rows"] == view["newest"], view
