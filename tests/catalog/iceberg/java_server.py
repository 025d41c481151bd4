"""A REST catalog of Iceberg's, made of the handlers of Iceberg's own library, as a process."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from tests.interop.java_build import JavaTools, build_once, cache_folder, fetch_jars
from tools import short_java

_HERE = Path(__file__).parent / "java"
_WITH_IT = (
    *("hadoop-client-api-", "hadoop-client-runtime-", "slf4j-api-", "jcl-over-slf4j-"),
    *("snappy-java-", "zstd-jni-"),
)
"""Jars of PySpark's that it needs, too."""
TOKEN = "a-token-of-tests"


@contextmanager
def iceberg_server(folder: Path) -> Iterator[str]:
    """Run the server and give its address.

    Raises
    ------
    JavaMissingError
        If Java, Maven or a jar cannot be had.
    """
    tools = JavaTools.find()
    jars = fetch_jars(tools, _HERE / "pom.xml")
    sparks = Path(next(iter(pyspark.__path__)), "jars")
    path = [f"{jars}/*"]
    path += [str(one) for one in sparks.glob("*.jar") if one.name.startswith(_WITH_IT)]
    source = _HERE / "IcebergServer.java"
    target = cache_folder() / f"iceberg-server-{source.stat().st_mtime_ns}"

    def compiled(classes: Path) -> None:
        command = [tools.javac, *short_java.OF_A_TOOL, "-nowarn", "-cp", os.pathsep.join(path)]
        command += ["-d", str(classes), str(source)]
        subprocess.run(command, check=True, capture_output=True)

    path.append(str(build_once(target, compiled)))
    command = [
        *(tools.java, "-Xmx384m", *short_java.OPTIONS, "-Djava.net.preferIPv4Stack=true"),
        *("-Duser.timezone=UTC", "-cp", os.pathsep.join(path)),
        *("org.apache.iceberg.rest.IcebergServer", str(folder), TOKEN),
    ]
    log = folder / "server.log"
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        assert process.stdout is not None
        assert process.stdin is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://"), log.read_text()
        try:
            yield address
        finally:
            process.stdin.close()
            process.wait(20)
