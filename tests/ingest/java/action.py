"""Paimon's own CDC actions in a JVM: what they make of a source, ours must make as well."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.interop.java_build import JavaTools, program_class_path

_SOURCE = Path(__file__).with_name("CdcAction.java")
_CONFLUENT = sorted(Path(__file__).with_name("io").rglob("*.java"))
"""In the place of a client of schema registries whose jars are not on Maven Central."""
_OPENS = ("java.base/java.util", "java.base/java.lang")
_MEMORY = "900m"


@contextmanager
def running(
    tools: JavaTools, log: Path, *arguments: str, compiles_all: bool = False
) -> Iterator[subprocess.Popen[bytes]]:
    """Run an action until the block ends; ``compiles_all``: as fast as the JVM can, later."""
    command: Sequence[str] = [
        tools.java,
        f"-Xmx{_MEMORY}",
        "-XX:+UseSerialGC",
        *(() if compiles_all else ("-XX:TieredStopAtLevel=1",)),
        *(f"--add-opens={name}=ALL-UNNAMED" for name in _OPENS),
        "-Duser.timezone=UTC",
        "-cp",
        program_class_path(tools, _SOURCE, *_CONFLUENT),
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
