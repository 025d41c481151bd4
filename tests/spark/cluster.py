"""A standalone Spark cluster out of the pip package: a master and two workers on this machine."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark

from paimonlab.spark.java import find_java
from tests.ports import HOST, free_port
from tools import short_java

_START_SECONDS = 120
_NAMES = (HOST, "localhost")
"""Of this machine: Spark starts no second attempt of a task on the host of the first."""


@contextmanager
def standalone_cluster(folder: Path, *, workers: int = 2) -> Iterator[str]:
    """Run a cluster and return the URL of its master; workers know nothing of this package."""
    port = free_port()
    url = f"spark://{HOST}:{port}"
    with ExitStack() as running:
        master = ["master.Master", "--port", str(port)]
        running.enter_context(_daemon(folder / "master", master))
        _wait_for(port)
        for number in range(workers):
            work = folder / f"worker-{number}"
            worker = ["worker.Worker", "--cores", "1", "--memory", "1g", "--work-dir", str(work)]
            name = _NAMES[number % len(_NAMES)]
            running.enter_context(_daemon(work, [*worker, url], host=name))
        yield url


@contextmanager
def _daemon(folder: Path, arguments: list[str], *, host: str = HOST) -> Iterator[None]:
    folder.mkdir(parents=True)
    home = Path(pyspark.__file__).parent
    name, *rest = arguments
    command = [
        str(home / "bin" / "spark-class"),
        f"org.apache.spark.deploy.{name}",
        "--host",
        host,
        "--webui-port",
        "0",
        *rest,
    ]
    kept = {key: os.environ[key] for key in ("HOME", "LANG", "PATH", "TMPDIR") if key in os.environ}
    environment = kept | {
        "JAVA_HOME": str(find_java().home),
        "SPARK_DAEMON_JAVA_OPTS": short_java.spark_options(),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": HOST,
    }
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        with socket.socket() as client:
            if client.connect_ex((HOST, port)) == 0:
                return
        time.sleep(0.2)
    raise TimeoutError(f"the master does not listen on port {port}")
