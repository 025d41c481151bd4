"""HDFS of Maven Central for tests: a name node and a data node in one JVM, on 127.0.0.1."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
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


class Addresses(NamedTuple):
    """Of one name node."""

    url: str
    web_url: str


@contextmanager
def running(folder: Path) -> Iterator[Addresses]:
    """Start it; yield the addresses of the name node. Its files are in the folder."""
    try:
        tools = JavaTools.find()
        jars = fetch_jars(tools, _HERE / "hdfs.pom.xml")
    except JavaMissingError as missing:
        raise ServerMissingError(f"no HDFS: {missing}") from None
    port, http = free_ports(2)
    settings = [part for key, value in _SETTINGS.items() for part in ("-D", f"{key}={value}")]
    command = [
        tools.java,
        *_OPTIONS,
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
