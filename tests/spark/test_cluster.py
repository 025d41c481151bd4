from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.spark.cluster import standalone_cluster

JOB = Path(__file__).parent / "cluster_job.py"


@pytest.mark.cluster
def test_executors_of_a_standalone_cluster_read_and_write(tmp_path: Path) -> None:
    with standalone_cluster(tmp_path / "cluster") as master:
        run = subprocess.run(
            [sys.executable, str(JOB), master, str(tmp_path / "warehouse")],
            cwd=tmp_path,  # the package is on the driver's path only, not in its folder
            env=os.environ | {"PYTHONPATH": str(JOB.parents[2])},
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )

    assert run.returncode == 0, run.stderr[-4000:]
    found = json.loads(run.stdout.splitlines()[-1])
    tasks = found.pop("tasks")
    assert found == {
        "keyed": True,
        "fine": [[3, 3], [4, 4]],
        "error": "DataError",
        "dynamic": [800, 100],
    }
    executors = {name: done for name, done in tasks.items() if name != "driver"}
    assert len(executors) == 2
    assert all(executors.values())
    assert tasks["driver"] == 0
