"""Spark 3.5 with Paimon 0.9 as a process of its own: one PySpark cannot be two versions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from itertools import count
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.interop.java_build import (
    JavaMissingError,
    JavaTools,
    build_once,
    cache_folder,
    fetch_jars,
)

_HERE = Path(__file__).parent
_PYSPARK = "pyspark==3.5.*"


class Spark35:
    """A session on one warehouse; close it."""

    def __init__(self, tools: JavaTools, warehouse: Path, scratch: Path) -> None:
        jar = next(fetch_jars(tools, _HERE / "pom.xml").glob("paimon-spark-*.jar"))
        python = environment()
        self._scratch, self._numbers = scratch, count()
        self._log = (scratch / "spark35.err").open("wb")
        java_home = os.fspath(Path(tools.java).parents[1])
        command = [python, str(_HERE / "driver.py"), str(warehouse), str(jar)]
        spark_free = {key: value for key, value in os.environ.items() if "SPARK" not in key}
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            encoding="utf-8",
            cwd=scratch,
            env={**spark_free, "JAVA_HOME": java_home, "PYSPARK_PYTHON": python},
        )

    def run(self, sql: str) -> None:
        """Run a statement that has no rows."""
        self._ask(sql, None)

    def rows(self, sql: str) -> pa.Table:
        """Run a query."""
        out = self._scratch / f"rows-{next(self._numbers)}"
        self._ask(sql, str(out))
        return pq.read_table(out)

    def _ask(self, sql: str, out: str | None) -> None:
        commands, answers = self._process.stdin, self._process.stdout
        assert commands is not None, "opened as a pipe"
        assert answers is not None, "opened as a pipe"
        commands.write(json.dumps({"sql": sql, "out": out}) + "\n")
        commands.flush()
        line = answers.readline()
        if not line:
            raise RuntimeError(f"Spark 3.5 ended with {self._process.wait()}; see {self._log.name}")
        if error := json.loads(line).get("error"):
            raise RuntimeError(f"{sql}: {error}")

    def close(self) -> None:
        """End the process."""
        self._process.communicate()
        self._log.close()


def environment() -> str:
    """Return the Python of an environment with PySpark 3.5, made at first (400 MB)."""

    def install(folder: Path) -> None:
        venv.create(folder / "venv", with_pip=True)
        pip = [str(folder / "venv/bin/python"), "-m", "pip", "install", "--quiet", _PYSPARK]
        run = subprocess.run(pip, capture_output=True, text=True, check=False)
        if run.returncode:
            raise JavaMissingError(f"{_PYSPARK} cannot be installed: {run.stderr[-2000:]}")

    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    made = build_once(cache_folder() / f"spark35-python{version}", install)
    return str(made / "venv/bin/python")
