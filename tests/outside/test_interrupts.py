"""Processes that are interrupted, as by Ctrl-C, at random times."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import paimonlab as pl
from tests.outside import interrupted

_SECONDS = 300
"""After which a process hangs for ever; nothing here takes as long."""


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    columns = {"k": "BIGINT NOT NULL", "v": "STRING"}
    table = catalog.create_table("db.t", columns, primary_keys=["k"], options={"bucket": "3"})
    for _ in range(3):
        table.write(interrupted.rows(*range(20)))
    return tmp_path


def test_a_process_that_was_interrupted_works_on(warehouse: Path, seed: int) -> None:
    program = Path(interrupted.__file__)

    done = subprocess.run(
        [sys.executable, program, warehouse, str(seed), "12", "40"],
        capture_output=True,
        timeout=_SECONDS,
        check=False,
        text=True,
    )

    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert not found["broken"], found
    assert found["outcomes"]["KeyboardInterrupt"] >= 4, found
