"""A standalone cluster: executors read and write; whoever is killed, each statement is done once.

``PAIMONLAB_CLUSTER_FAULTS`` says how many faults there are; one in seven kills the driver.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.interop.java_build import JavaMissingError
from tests.secret_options import MARK
from tests.spark import hadoop_aws
from tests.spark.cluster import standalone_cluster
from tests.spark.cluster_own_scan import DENIED, KEYS
from tests.storage.stores import hdfs, radosgw, server
from tests.storage.stores.conftest import options_of
from tests.storage.stores.proxy import Fault, proxy_of
from tests.storage.stores.server import ServerMissingError

JOB = Path(__file__).parent / "cluster_job.py"
STORE_JOB = Path(__file__).parent / "cluster_store_job.py"
FAULTS_JOB = Path(__file__).parent / "faults_job.py"
FAULTS = int(os.environ.get("PAIMONLAB_CLUSTER_FAULTS", "3"))
SEED = int(os.environ.get("PAIMONLAB_SEED", "20261123"))
_DRIVER_KILLS = max(FAULTS // 7, 1)

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def cluster_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which masters, workers and executors leave what they say."""
    return tmp_path_factory.mktemp("cluster")


@pytest.fixture(scope="module")
def master(cluster_folder: Path) -> Iterator[str]:
    """Run a cluster for the tests here; return the URL of its master."""
    with standalone_cluster(cluster_folder) as url:
        yield url


@pytest.fixture(scope="module")
def aws_jars() -> str:
    """Return Hadoop's module for S3; empty: it cannot be had."""
    try:
        return hadoop_aws.jars()
    except JavaMissingError:
        return ""


@pytest.fixture(scope="module")
def found(master: str, aws_jars: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Run the job; return what it found on a disk and, if there is one, in a store."""
    folder = tmp_path_factory.mktemp("job")
    asked = set[tuple[str, bool]]()
    with ExitStack() as running:
        store = list[str]()
        with suppress(ServerMissingError):
            url = running.enter_context(server.running(folder / "moto-log"))
            proxy = running.enter_context(proxy_of(url))
            proxy.choose = denying
            server.make_bucket(url, "lake")
            store += [json.dumps(options_of(proxy.url, "lake")), aws_jars]
        answer: dict[str, Any] = run(JOB, master, str(folder / "warehouse"), *store, folder=folder)
        if store:
            for agent, signature in zip(proxy.agents, proxy.signatures, strict=True):
                signer = signature.partition("Credential=")[2].partition("/")[0]
                asked.add((signer, "hadoop" in agent.lower()))
    return answer | {"asked": asked}


def denying(method: str, path: str, _: bool) -> Fault | None:
    """Let nobody read the data files of one table."""
    is_read = method in ("GET", "HEAD") and f"/own.db/{DENIED}/bucket-" in path
    return "403" if is_read else None


def run(program: Path, *arguments: str, folder: Path) -> Any:
    """Run a driver; return what it printed last."""
    done = subprocess.run(
        [sys.executable, str(program), *arguments],
        cwd=folder,  # the package is on the driver's path only, not in its folder
        env=os.environ | {"PYTHONPATH": str(JOB.parents[2])},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_executors_read_and_write_and_are_killed_while_changes_come(found: dict[str, Any]) -> None:
    assert found["ingest"] == {
        "killed": True,
        "keyed": True,
        "keys": 40,
        "log": True,
        "epoch": 2,
    }
    on_disk = {key: found[key] for key in ("keyed", "fine", "error", "dynamic")}
    assert on_disk == {
        "keyed": True,
        "fine": [[3, 3], [4, 4]],
        "error": "DataError",
        "dynamic": [650, 100],
    }
    tasks = found["tasks"]
    executors = {name: done for name, done in tasks.items() if name != "driver"}
    assert len(executors) == 2
    assert all(executors.values())
    assert tasks["driver"] == 0


IN_A_STORE = {
    "answers": [True, True],
    "rows": 180,
    "compacted": True,
    "levels": [5],
    "by Python": [True, True],
    "doctor": "and writes by Python",
}
BY_ITS_OWN = {"by Python": [True, False], "doctor": "by its own scan where it can"}
"""Files that overlap are merged by Python in any case."""


def test_executors_read_write_and_compact_in_a_store(found: dict[str, Any], aws_jars: str) -> None:
    if found["store"] is None:
        pytest.skip("there is no server of S3")
    assert found["store"] == IN_A_STORE | (BY_ITS_OWN if aws_jars else {})


def test_sparks_own_scan_reads_a_bucket_with_the_keys_of_each_catalog(
    found: dict[str, Any], aws_jars: str, cluster_folder: Path
) -> None:
    if not aws_jars or found["own scan"] is None:
        pytest.skip("there is no server of S3, or no hadoop-aws")
    own = found["own scan"]
    (missing, gone), (denied, refused) = own.pop("missing"), own.pop("denied")
    assert own == {
        "same": [True] * 6,
        "placed": [[[39, True]], True],
        "why": "the session has fs.s3a.encryption.algorithm = 'SSE-C'",
        "secret": False,
    }
    assert {(key, is_hadoop) for key in KEYS for is_hadoop in (True, False)} <= found["asked"]
    assert missing == "CorruptDataError"
    assert gone.startswith("s3://lake/w/own.db/gone/bucket-0/data-")
    assert denied == "StorageError"
    assert refused.startswith(f"s3://lake/w/own.db/{DENIED}/bucket-0/data-")
    logs = "".join(path.read_text() for path in cluster_folder.rglob("std*"))
    assert "s3a-" not in gone + refused
    assert "FileScanRDD" in logs or "Executor" in logs
    assert MARK not in logs + gone + refused


@pytest.mark.interop
def test_executors_read_write_and_compact_on_ceph_and_hdfs(
    master: str, aws_jars: str, tmp_path: Path
) -> None:
    if os.environ.get("PAIMONLAB_INTEROP") != "require":
        pytest.skip("Ceph's gateway is part of make interop")
    with radosgw.running(tmp_path / "ceph") as url, hdfs.running(tmp_path) as (name_node, _):
        buckets = ("lake", "lake.of-spark")
        for bucket in buckets:
            radosgw.make_bucket(url, bucket)
        in_ceph, by_jar = (options_of(url, bucket) for bucket in buckets)
        stores = [json.dumps(one) for one in (in_ceph, {"warehouse": f"{name_node}/w"})]
        found = run(STORE_JOB, master, "", *stores, folder=tmp_path)
        found += run(STORE_JOB, master, aws_jars, json.dumps(by_jar), folder=tmp_path)
    on_hdfs = {"doctor": "by its own scan where it can", "by Python": [True, False]}
    assert found == [IN_A_STORE, IN_A_STORE | on_hdfs, IN_A_STORE | BY_ITS_OWN]


_MANY_FAULTS = 1_000_000
"""A driver that is to be killed does not end before: a slow machine has more faults a statement."""


def start(master: str, folder: Path, faults: int) -> subprocess.Popen[str]:
    """Start a driver in a process group of its own, which ends after so many faults in all."""
    with (folder / "errors").open("a") as errors:
        return subprocess.Popen(
            [sys.executable, str(FAULTS_JOB), master, str(folder), str(faults)],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(FAULTS_JOB.parents[2])},
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        )


def kill_in_a_statement(
    driver: subprocess.Popen[str], journal: Path, chance: random.Random
) -> None:
    """Kill a driver some time after it began a statement: before, at or after its commit."""
    assert driver.stdout is not None
    for _ in range(chance.randint(1, 4)):
        assert driver.stdout.readline().startswith("statement"), "the driver ended too early"
    expected = json.loads(journal.read_text())["expected"]
    time.sleep(chance.uniform(0.3, 1.1) * expected)
    os.killpg(driver.pid, signal.SIGKILL)
    driver.communicate()


def note_kill(journal: Path) -> None:
    """Count it."""
    noted = json.loads(journal.read_text())
    noted["faults"]["driver"] += 1
    journal.write_text(json.dumps(noted))


def test_no_fault_doubles_or_loses_a_row(master: str, tmp_path: Path) -> None:
    chance = random.Random(SEED)
    print(f"PAIMONLAB_SEED={SEED}")  # noqa: T201 - pytest shows it on failure
    folder = tmp_path / "work"
    folder.mkdir()
    for _ in range(_DRIVER_KILLS):
        driver = start(master, folder, _MANY_FAULTS)
        try:
            kill_in_a_statement(driver, folder / "journal.json", chance)
        finally:
            if driver.poll() is None:
                os.killpg(driver.pid, signal.SIGKILL)
        note_kill(folder / "journal.json")
    driver = start(master, folder, FAULTS)
    try:
        output, _ = driver.communicate(timeout=240 + 60 * FAULTS)
    finally:
        if driver.poll() is None:
            os.killpg(driver.pid, signal.SIGKILL)

    assert driver.returncode == 0, (folder / "errors").read_text()[-4000:]
    found = json.loads(output.splitlines()[-1])
    print(found)  # noqa: T201
    assert sum(found["faults"].values()) >= FAULTS
    assert all(found["seen"].values()) or FAULTS < 60, "a kind of fault did not happen"
