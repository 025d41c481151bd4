"""A process that does what Java Paimon does: one JSON command a line, one reply a line.

``java/PaimonOracle.java`` is the other side; it says which commands there are.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from tests.interop.java_build import COMPILED_WITH, JavaTools, class_path
from tools import short_java

_JVM_OPTIONS = (
    "-Xmx1g",
    *short_java.OPTIONS,  # without verification commands may need classes that a release has not
    "-Duser.timezone=UTC",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/java.util=ALL-UNNAMED",
)
_SECONDS_TO_END = 20


class JavaError(Exception):
    """An exception on the Java side."""

    def __init__(self, reply: dict[str, str]) -> None:
        self.error = reply["error"]
        self.cause = reply["cause"]
        self.stack = reply["stack"]
        super().__init__(self.stack)


class Oracle:
    """One JVM with one release of Java Paimon; close it."""

    def __init__(
        self,
        tools: JavaTools,
        scratch: Path,
        release: str = COMPILED_WITH,
        *,
        more_jars: Sequence[Path] = (),
    ) -> None:
        self.release = release
        options = [*_JVM_OPTIONS, f"-Djava.io.tmpdir={scratch}"]
        jars = os.pathsep.join([class_path(tools, release), *map(os.fspath, more_jars)])
        command = [tools.java, *options, "-cp", jars, "PaimonOracle"]
        self._log = (scratch / "java.err").open("wb")
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            encoding="utf-8",
        )

    def ask(self, op: str, **arguments: Any) -> Any:
        """Run a command and return its result.

        Raises
        ------
        JavaError
            If Java throws.
        """
        commands, replies = self._pipes()
        commands.write(json.dumps({"op": op, **arguments}) + "\n")
        commands.flush()
        line = replies.readline()
        if not line:
            raise RuntimeError(f"Java ended with {self._process.wait()}; see {self._log.name}")
        reply = json.loads(line)
        if not reply["ok"]:
            raise JavaError(reply)
        return reply["result"]

    def close(self) -> None:
        """End the process."""
        commands, replies = self._pipes()
        commands.close()
        try:
            self._process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        replies.close()
        self._log.close()

    def _pipes(self) -> tuple[IO[str], IO[str]]:
        commands, replies = self._process.stdin, self._process.stdout
        assert commands is not None, "opened as a pipe"
        assert replies is not None, "opened as a pipe"
        return commands, replies


class JavaPaimon:
    """Java Paimon on one warehouse, a folder, or on a catalog that options name."""

    def __init__(self, oracle: Oracle, warehouse: Path | Mapping[str, str]) -> None:
        self._oracle = oracle
        self.release = oracle.release
        self._where: Mapping[str, Any] = (
            {"warehouse": str(warehouse)}
            if isinstance(warehouse, Path)
            else {"catalog": {**warehouse, "cache-enabled": "false"}}
        )

    def __call__(self, op: str, **arguments: Any) -> Any:
        """Run a command in this warehouse."""
        return self._oracle.ask(op, **self._where, **arguments)

    def rows(self, table: str, **arguments: Any) -> list[list[Any]]:
        """Read a table: values in the order of its columns, one list a row."""
        return [values for _, values in self("read", table=table, **arguments)]

    def write(
        self, table: str, rows: Sequence[Sequence[Any]], kind: str = "+I", **arguments: Any
    ) -> None:
        """Write rows of one kind in one commit."""
        self("write", table=table, rows=[[kind, list(row)] for row in rows], **arguments)
