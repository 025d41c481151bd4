"""Flink with Paimon's connector in a JVM, asked in SQL."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from tests.interop.java_build import JavaTools, program_class_path

_SOURCE = Path(__file__).with_name("FlinkSql.java")
_OPENS = ("java.base/java.util", "java.base/java.lang", "java.base/java.nio")
_MEMORY = "1g"
_ALL_ROWS = 1_000_000


class FlinkError(Exception):
    """A statement that Flink refused, or that failed."""


class Flink:
    """A session; it ends with the block.

    Parameters
    ----------
    tools
        The JDK, and Maven to fetch Flink at first.
    folder
        For what it logs and writes for a while.
    more_jars
        For its class path, beside its own.
    """

    def __init__(self, tools: JavaTools, folder: Path, more_jars: Sequence[Path] = ()) -> None:
        self._scratch = folder / "tmp"
        self._scratch.mkdir(parents=True)
        self._log = (folder / "flink.log").open("wb")
        command = [
            tools.java,
            f"-Xmx{_MEMORY}",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            *(f"--add-opens={name}=ALL-UNNAMED" for name in _OPENS),
            "-Duser.timezone=UTC",
            f"-Djava.io.tmpdir={self._scratch}",
            "-cp",
            os.pathsep.join([program_class_path(tools, _SOURCE), *map(str, more_jars)]),
            "FlinkSql",
        ]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            encoding="utf-8",
        )
        self._answer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()
        self._log.close()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def sql(self, *statements: str) -> list[list[Any]]:
        """Run statements in batch mode; returns the values of the last one's rows."""
        rows: list[list[Any]] = []
        for statement in statements:
            rows = [row[1:] for row in self._run(statement, streams=False, most=_ALL_ROWS)]
        return rows

    def stream(self, query: str, rows: int) -> list[list[Any]]:
        """Follow an endless query until it gave so many rows, each with its kind before it."""
        return self._run(query, streams=True, most=rows)

    def _run(self, statement: str, *, streams: bool, most: int) -> list[list[Any]]:
        assert self._process.stdin is not None, "a pipe"
        asked = json.dumps({"sql": statement, "streams": streams, "rows": most})
        self._process.stdin.write(f"{asked}\n")
        self._process.stdin.flush()
        answer = self._answer()
        if "error" in answer:
            raise FlinkError(f"{statement}: {answer['error']}")
        found: list[list[Any]] = answer["rows"]
        return found

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None, "a pipe"
        line = self._process.stdout.readline()
        if not line:
            raise FlinkError(f"Flink ended; see {self._log.name}")
        found: dict[str, Any] = json.loads(line)
        return found
