"""Paimon in ``spark_catalog`` of a session whose own tables are in Hive's metastore.

It takes a session of its own (`own_hive`), so it is part of ``make interop``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "own_hive.py"


@pytest.mark.interop
def test_paimon_stands_beside_tables_of_sparks_own_hive(tmp_path: Path) -> None:
    if os.environ.get("PAIMONLAB_INTEROP") != "require":
        pytest.skip("it is part of make interop")
    ended = subprocess.run(
        [sys.executable, str(PROGRAM), str(tmp_path)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(PROGRAM.parents[2])},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stderr[-4000:]
    found = json.loads(ended.stdout.splitlines()[-1])

    assert found["joined"] == [["x", 7]]
    assert found["like Hive's"] == [[1, 7]]
    assert sorted(row[1] for row in found["all"]) == ["like_hive", "of_hive", "t1"]
    assert sorted(row[1] for row in found["of Paimon"]) == ["like_hive", "t1"]
    assert sorted(found["databases"]) == [["default"], ["my_db"]]
    assert (found["before"], found["partitions"]) == ([], [["dt=mon"]])
    assert (found["after"], found["dropped"]) == ([[1, "a", "mon"]], [])
    assert "my_db" not in found["left"]
