"""pypaimon's REST client in a process of its own, for it takes other releases of what we use."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.interop.python_environments import required_environment

_DRIVER = Path(__file__).with_name("driver.py")
PACKAGE = "pypaimon==2.1.0"


class PypaimonError(Exception):
    """What pypaimon raised."""


class Pypaimon:
    """One catalog of pypaimon's."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def __call__(self, command: str, **arguments: Any) -> Any:
        """Run a command of ``driver.py``."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([command, arguments]) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise PypaimonError(f"its process ended with {self._process.wait()}")
        told = json.loads(line)
        if "error" in told:
            raise PypaimonError(told["error"])
        return told["answer"]

    def catalog(self, method: str, *arguments: Any) -> Any:
        """Call a method of the catalog; a text that begins with @ is the name of a table."""
        return self("call", method=method, arguments=list(arguments))


@contextmanager
def connected(options: Mapping[str, str], scratch: Path) -> Iterator[Pypaimon]:
    """Start it, and let it open a catalog."""
    python = required_environment("pypaimon", PACKAGE)
    with (
        (scratch / "pypaimon.err").open("wb") as log,
        subprocess.Popen(
            [str(python), str(_DRIVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            cwd=scratch,
        ) as process,
    ):
        client = Pypaimon(process)
        client("connect", options=dict(options))
        yield client
        assert process.stdin is not None
        process.stdin.close()
