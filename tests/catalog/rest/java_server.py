"""Java Paimon's mock of a REST catalog server, as a process of its own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.interop.java_build import (
    COMPILED_WITH,
    JavaTools,
    build_once,
    cache_folder,
    fetch_jars,
    release_jars,
)
from tools import short_java

_HERE = Path(__file__).parent / "java"


@contextmanager
def java_server(
    folder: Path, *authorisation: str, release: str = COMPILED_WITH, warehouse: str = "my_lake"
) -> Iterator[str]:
    """Run the server and give its address.

    Raises
    ------
    JavaMissingError
        If Java, Maven or a jar cannot be had.
    """
    tools = JavaTools.find()
    jars = fetch_jars(tools, _HERE / "pom.xml", f"-Dpaimon.version={release}")
    path = [f"{jars}/*", f"{release_jars(tools, release)}/*"]
    source = _HERE / "MockServer.java"
    target = cache_folder() / f"rest-server-{release}-{source.stat().st_mtime_ns}"

    def compiled(classes: Path) -> None:
        command = [tools.javac, *short_java.OF_A_TOOL, "-nowarn", "-cp", os.pathsep.join(path)]
        command += ["-d", str(classes), str(source)]
        subprocess.run(command, check=True, capture_output=True)

    path.append(str(build_once(target, compiled)))
    command = [
        *(tools.java, "-Xmx256m", *short_java.OPTIONS, "-Djava.net.preferIPv4Stack=true"),
        *("--add-opens=java.base/java.nio=ALL-UNNAMED", "-cp", os.pathsep.join(path)),
        *("MockServer", str(folder), warehouse, *authorisation),
    ]
    log = folder.parent / "java_server.log"
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
