"""Which engine runs a job, and what Spark's does not do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import paimonlab as pm
from paimonlab.errors import UnsupportedError
from paimonlab.ingest import batches
from paimonlab.ingest.actions import action_job


def test_sources_that_have_no_parts_are_refused(tmp_path: Path) -> None:
    catalog = pm.connect(tmp_path)
    source = batches([], table="a.b")
    with pytest.raises(UnsupportedError, match=r"engine = 'spark' from .*it reads Kafka"):
        catalog.ingest(source, into="a", name="b", engine="spark")
    with pytest.raises(UnsupportedError, match=r"max_stall = 60.0 without engine = 'spark'"):
        catalog.ingest(source, into="a", name="b", max_stall="1 min")
    with pytest.raises(ValueError, match=r"engine = 'flink'.*native, spark"):
        catalog.ingest(source, into="a", name="b", engine="flink")  # type: ignore[arg-type]


def test_actions_take_an_engine() -> None:
    told = {
        "warehouse": ["./w"],
        "database": ["ods"],
        "engine": ["spark"],
        "kafka_conf": [
            "properties.bootstrap.servers=127.0.0.1:1",
            "topic=t",
            "value.format=canal-json",
            "scan.startup.mode=earliest-offset",
        ],
    }
    assert action_job("kafka_sync_database", told).words["engine"] == "spark"


def test_no_spark_is_loaded_before_a_job_runs_there(tmp_path: Path) -> None:
    program = (
        "import sys, paimonlab as pm\n"
        "import paimonlab.ingest\n"
        "from paimonlab.ingest import job\n"
        "from tests.ingest.parted_log import PartedLog\n"
        "from pathlib import Path\n"
        f"log = PartedLog(Path({str(tmp_path / 'log')!r}))\n"
        f"made = pm.connect({str(tmp_path / 'w')!r}).ingest(log, into='a', name='b',\n"
        "    engine='spark')\n"
        "print(made.plan())\n"
        "found = {'pyspark', 'py4j', 'IPython', 'pandas'} & {*sys.modules}\n"
        "assert not found, found\n"
    )
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
