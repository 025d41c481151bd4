"""Paimon's own CDC actions in a JVM: what they make of a source, ours must make as well."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.interop.java_build import JavaTools, build_once, cache_folder, fetch_jars

_HERE = Path(__file__).parent
_OPENS = ("java.base/java.util", "java.base/java.lang")
_MEMORY = "900m"


def class_path(tools: JavaTools) -> str:
    """Fetch the jars, and compile what starts an action; raises `JavaMissingError`."""
    jars = fetch_jars(tools, _HERE / "pom.xml")
    source = _HERE / "CdcAction.java"

    def build(folder: Path) -> None:
        command = [tools.javac, "-nowarn", "-cp", f"{jars}/*", "-d", str(folder), str(source)]
        subprocess.run(command, check=True, capture_output=True)

    stamp = int(source.stat().st_mtime)
    classes = build_once(cache_folder() / f"cdc-action-{jars.name}-{stamp}", build)
    return os.pathsep.join([str(classes), f"{jars}/*"])


@contextmanager
def running(tools: JavaTools, log: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run an action until the block ends."""
    command: Sequence[str] = [
        tools.java,
        f"-Xmx{_MEMORY}",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        *(f"--add-opens={name}=ALL-UNNAMED" for name in _OPENS),
        "-Duser.timezone=UTC",
        "-cp",
        class_path(tools),
        "CdcAction",
        *arguments,
    ]
    scratch = log.with_suffix(".tmp")
    scratch.mkdir()
    with log.open("wb") as output:
        process = subprocess.Popen(
            [command[0], f"-Djava.io.tmpdir={scratch}", *command[1:]], stdout=output, stderr=output
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()
            shutil.rmtree(scratch, ignore_errors=True)
