"""HDFS of Maven Central for tests: a name node and a data node in one JVM, on 127.0.0.1."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.request import urlopen

from tests.interop.java_build import JavaMissingError, JavaTools, fetch_jars
from tests.ports import free_ports
from tests.storage.stores.server import ServerMissingError
from tools import short_java

_HERE = Path(__file__).parent
_START_SECONDS = 120
_OPENED = ("java.lang", "java.nio", "sun.nio.ch", "java.util", "java.net")
_OPTIONS = (
    *("-Xmx400m", "-Djava.net.preferIPv4Stack=true", *short_java.OPTIONS),
    *(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in _OPENED),
)
_SETTINGS = {
    "dfs.ls.limit": "20",
    "dfs.permissions.enabled": "false",
    "dfs.replication": "1",
    "dfs.namenode.fs-limits.min-block-size": "0",
    "dfs.datanode.hostname": "127.0.0.1",
    "dfs.namenode.safemode.min.datanodes": "0",
}
_PROVIDER = "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider"


class Addresses(NamedTuple):
    """Of one name node."""

    url: str
    web_url: str


@contextmanager
def running(
    folder: Path, more: Mapping[str, str] | None = None, java: Sequence[str] = ()
) -> Iterator[Addresses]:
    """Start it; yield the addresses of the name node. Its files are in the folder.

    Parameters
    ----------
    folder
        An empty one.
    more
        Settings of Hadoop beside our own.
    java
        Options of the JVM.
    """
    try:
        tools = JavaTools.find()
        jars = fetch_jars(tools, _HERE / "hdfs.pom.xml")
    except JavaMissingError as missing:
        raise ServerMissingError(f"no HDFS: {missing}") from None
    port, http = free_ports(2)
    told = {**_SETTINGS, **(more or {})}
    settings = [part for key, value in told.items() for part in ("-D", f"{key}={value}")]
    command = [
        tools.java,
        *_OPTIONS,
        *java,
        f"-Dtest.build.data={folder}/data",
        f"-Dhadoop.log.dir={folder}",
        *("-cp", f"{jars}/*", "org.apache.hadoop.test.MiniDFSClusterManager"),
        *("-format", "-datanodes", "1", "-nnport", str(port), "-httpport", str(http)),
        *settings,
    ]
    log = folder / "log"
    with log.open("w") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=folder
        )
        try:
            _wait(http, process, log)
            yield Addresses(f"hdfs://127.0.0.1:{port}", f"webhdfs://127.0.0.1:{http}")
        finally:
            process.kill()
            process.wait()


def _wait(http: int, process: subprocess.Popen[bytes], log: Path) -> None:
    name = "Hadoop:service=NameNode,name=FSNamesystemState"
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            with urlopen(f"http://127.0.0.1:{http}/jmx?qry={name}") as answer:
                if b'"NumLiveDataNodes" : 1' in answer.read():
                    return
        except OSError:
            pass
        time.sleep(0.1)
    raise ServerMissingError(f"HDFS did not start: {log.read_text()[-2000:]}")


def limit(url: str, path: str, names: int) -> None:
    """Let a folder have so many files and folders in it, itself included; -1: any number."""
    tools = JavaTools.find()
    jars = fetch_jars(tools, _HERE / "hdfs.pom.xml")
    quota = ("-setQuota", str(names)) if names >= 0 else ("-clrQuota",)
    command = [tools.java, *_OPTIONS, "-cp", f"{jars}/*", "org.apache.hadoop.hdfs.tools.DFSAdmin"]
    subprocess.run([*command, "-fs", url, *quota, path], check=True, capture_output=True)


class Service:
    """Two name nodes, as their parent sees them."""

    def __init__(self, process: subprocess.Popen[str], settings: Mapping[str, str]) -> None:
        self._process = process
        self._settings = settings

    def tell(self, line: str) -> None:
        """Let it do something, and wait until it is done."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        assert _line_of(self._process, "done") == ["done", *line.split()]

    @property
    def options(self) -> Mapping[str, str]:
        """Options of a catalog."""
        told = {f"hadoop.{key}": value for key, value in self._settings.items()}
        return {"warehouse": "hdfs://lake/w", **told}


@contextmanager
def two_name_nodes(folder: Path) -> Iterator[Service]:
    """Run a service of two name nodes that share a folder of edits."""
    try:
        tools = JavaTools.find()
        jars = fetch_jars(tools, _HERE / "hdfs.pom.xml")
    except JavaMissingError as missing:
        raise ServerMissingError(f"no HDFS: {missing}") from None
    numbers = iter(free_ports(4))
    service = {
        f"dfs.namenode.{kind}-address.lake.nn{number}": f"127.0.0.1:{next(numbers)}"
        for kind in ("rpc", "http")
        for number in range(2)
    } | {
        "dfs.nameservices": "lake",
        "dfs.ha.namenodes.lake": "nn0,nn1",
        "dfs.client.failover.proxy.provider.lake": _PROVIDER,
    }
    quick = {"dfs.ha.tail-edits.period": "1", "ipc.client.connect.max.retries": "0"}
    told = {**service, **_SETTINGS, **quick}
    command = [tools.java, *_OPTIONS, f"-Dtest.build.data={folder}/data"]
    command += [f"-Dhadoop.log.dir={folder}", "-cp", f"{jars}/*", str(_HERE / "TwoNameNodes.java")]
    with (folder / "log").open("w") as errors:
        process = subprocess.Popen(
            [*command, *(f"{key}={value}" for key, value in told.items())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=folder,
        )
        with process:
            try:
                _line_of(process, "ready")
                yield Service(process, service)
            finally:
                process.kill()


def _line_of(process: subprocess.Popen[str], word: str) -> list[str]:
    """Return the words of the next line that begins with one: Hadoop's messages are between."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(f"{word} "):
            return line.split()
    raise ServerMissingError("HDFS did not start, or ended")
