"""Run the whole test suite, or what is quick of it, in processes side by side.

The suite is cut into parts, each a pytest of its own. There are more at a time than there are
cores, so that none is idle while a part waits: two more where the memory is enough, else one. Those
that start Spark run two at a time where the memory is enough, else one; the others run beside
them. The longest part goes first where cores are short: alone at the end it would leave some idle.
A part's lines appear as its files are done; at the end come the complete output of every part
that failed, the reasons of skipped tests, and a line for each part.

Some tests watch other processes, stores and clusters at work and wait for what these do, which a
machine that is busy with four parts may delay beyond what they allow. So up to three tests that
failed run again when nothing else does. If all pass, the suite does, and the report says which they
were and shows what they printed at first. More failures, or one again, fail the suite.

Parts share nothing but what locks itself, the Java classes and jars of ``tests/interop`` and the
tables of ``tests/golden``, and hypothesis' examples. Each has a root for temporary folders of its
own, since pytest warns when another one cleans up in its root; it is kept when a part fails.
pytest's own cache is off.

Tests make files by the million, which takes a disk's file system many times the processor time of
one in memory, and servers that tests start wait for each commit to be on the disk. So temporary
files are in memory where there is enough of it; those of tests of disks are not.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NoReturn, TextIO

from tools import failed_tests

_SECONDS_TO_END = 30
_GIVES_WAY = "3"
"""By how much the niceness of parts is higher that run beside the longest: half of its weight."""
_MEMORY_FOR_TWO_SPARKS = 12 << 30
"""Bytes: each takes up to four gibibytes, what runs beside them as much."""
_MEMORY_FOR_TWO_BESIDE = 16 << 30
"""Bytes: of two parts beside them each takes as much."""
_SOME_FAILED = 1
"""How pytest ends if tests failed, and nothing else."""
_MOST_AGAIN = 3
"""Failed tests that run again: more have not failed by chance."""
_IN_MEMORY = Path("/dev/shm")  # noqa: S108 - folders there get names of their own
_MEMORY_FOR_FILES = 20 << 30
"""Bytes: a machine that has as many has room for files beside two Sparks."""
_FREE_FOR_FILES = 10 << 30
"""Bytes that have to be free there."""
_LIMIT_OF_MEMORY = Path("/sys/fs/cgroup/memory.max")
"""Has a limit of this container in bytes, or ``max``."""
_REPORT = re.compile(r"^=+ (?!test session starts)", re.MULTILINE)
"""Where pytest's progress ends and its report of failures or skipped tests begins."""
_SKIPS = re.compile(r"^=+ short test summary info =+\n", re.MULTILINE)

_PREFIX = "paimonlab-tests-"
_NOT_INHERITED = ("PYTHONDONTWRITEBYTECODE",)
"""Would make each of hundreds of processes compile everything anew."""
_PYTEST = (
    *(sys.executable, "-m", "pytest"),
    *("-p", "no:cacheprovider", "-p", "tools.failed_tests"),
)
_NBVAL_RULES = ("-p", "tools.nbval_rules", "-p", "nbval.plugin")  # the order of the imports
_NBVAL = (*_NBVAL_RULES, "--nbval", "--nbval-current-env", "--nbval-cell-timeout=300")


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Tests that run in one process."""

    name: str
    command: Sequence[str]
    starts_spark: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    on_disk: bool = False
    """Whether its temporary files have to be on a disk."""
    is_longest: bool = False
    """Whether all others give way to it where cores are short."""
    again: Sequence[str] = ()
    """What runs tests of it that are named behind this; empty: none of them can run alone."""
    tests: Sequence[str] = ()
    """Those that it runs again; empty: none of another part."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a part ended, and all it printed."""

    part: Part
    code: int
    seconds: float
    output: str
    cpu_seconds: float = 0
    """Of its processes and those they have waited for."""

    @property
    def skips(self) -> str:
        """A line for each reason to skip a test, after a run without failures."""
        header = _SKIPS.search(self.output)
        if header is None:
            return ""
        lines = self.output[header.end() :].rstrip().splitlines()
        return "\n".join(itertools.takewhile(lambda line: not _END.search(line), lines))

    @property
    def counts(self) -> str:
        """How many tests passed and so on, when pytest came to its end."""
        lines = self.output.rstrip().splitlines() or [""]
        ends = [line for line in lines if _END.search(line)]  # libraries may complain after it
        return (ends or lines)[-1].strip("= ")


_END = re.compile(r" in \d+\.\d+s\b.*$")
"""How the last line of pytest ends."""


def _tests(name: str, *folders: str, starts_spark: bool = False, on_disk: bool = False) -> Part:
    paths = [f"tests/{folder}" for folder in folders or (name,)]
    return Part(name, (*_PYTEST, *paths), starts_spark=starts_spark, on_disk=on_disk, again=_PYTEST)


_SPARK = replace(_tests("spark", starts_spark=True), is_longest=True)


def _all_but(name: str, *paths: str) -> Part:
    """Make a part of the doctests and all tests but those below these paths."""
    ignored = (f"--ignore=tests/{path}" for path in paths)
    return Part(name, (*_PYTEST, *ignored), again=_PYTEST)


_NOTEBOOKS = Part(
    "notebooks",
    (*_PYTEST, *_NBVAL, "notebooks"),
    starts_spark=True,
    environment={"PAIMONLAB_DETERMINISTIC": "1"},
    again=(*_PYTEST, *_NBVAL),
)
_SPARK_CLASSES = Part(
    "classes",
    (sys.executable, "-m", "tools.spark_classes"),
    starts_spark=True,
)
"""Sessions that begin later start faster with what it writes.

The long part does not wait for it: it has one session, and the others are to begin after it."""
_FAULTS = ("concurrency", "crash", "damage", "model")
_SERVICES = ("catalog", "ingest", "storage")
"""Folders whose tests start servers, and wait for them more than they compute."""
_NAMED = ("browser", "interop", "notebook", "outside", "spark", "table", *_FAULTS)
PARTS = (
    _SPARK_CLASSES,
    _SPARK,
    _NOTEBOOKS,
    _tests("notebook", starts_spark=True),
    _all_but("rest", *_NAMED, *_SERVICES),
    _tests("services", *_SERVICES),
    _tests("outside", on_disk=True),
    _tests("interop"),
    _tests("browser"),
    _tests("table"),
    _tests("faults", *_FAULTS),
)
"""The whole suite in the order of the starts: Spark's parts, since few of them run at a time,
then the longest and those that wait, so that it ends with something short that takes all cores.

``rest`` has the doctests and all folders that are not named.
"""

_VALUES = ("datafile", "formats", "merge", "scan", "spec")
_NOT_QUICK = (
    *("golden", "interleaving", "random_changes", "tools", "traps"),
    *("ingest/kafka", "ingest/mysql", "ingest/postgres", "storage/stores"),
    *("test_packaging.py", "test_site.py"),
    *("commit/test_race.py", "maintenance/test_history_crashes.py"),
    *("catalog/test_every_catalog.py", "catalog/jdbc/test_races.py"),
    *("catalog/jdbc/test_jdbc_catalog.py", "catalog/rest/test_java_server.py", "catalog/hive"),
)
QUICK = (
    Part("lint", ("make", "--no-print-directory", "lint")),
    _tests("values", *_VALUES),
    _all_but("others", *_NAMED, *_NOT_QUICK, *_VALUES),
)
"""What takes neither Spark nor Java, a browser or a server, and a few minutes in all."""


def may_start(part: Part, running: Iterable[Part], sparks: int) -> bool:
    """Decide whether a part may start now.

    Parameters
    ----------
    part
        The part.
    running
        Those that run.
    sparks
        How many of them may start Spark.
    """
    return not part.starts_spark or sum(one.starts_spark for one in running) < sparks


def failed_by_chance(
    outcomes: Sequence[Outcome], failed: Mapping[str, Sequence[str]]
) -> list[Part]:
    """Decide which tests run again.

    Parameters
    ----------
    outcomes
        Of all parts.
    failed
        The names of tests that failed, by part.

    Returns
    -------
    list of Part
        Of one part each, named after it; none: nothing failed, or so much that it is no chance.
    """
    parts = [outcome.part for outcome in outcomes if outcome.code]
    names = [list(dict.fromkeys(failed.get(part.name, ()))) for part in parts]
    is_told = all(outcome.code in {0, _SOME_FAILED} for outcome in outcomes)
    can_be = all(part.again and these for part, these in zip(parts, names, strict=True))
    if not is_told or not can_be or sum(map(len, names)) > _MOST_AGAIN:
        return []
    return [
        replace(
            part, name=f"{part.name}-again", command=(*part.again, *these), again=(), tests=these
        )
        for part, these in zip(parts, names, strict=True)
    ]


class Suite:
    """Parts that wait, processes of those that run, outcomes of those that are done."""

    def __init__(
        self,
        parts: Sequence[Part],
        folder: Path,
        out: TextIO,
        sparks: int = 1,
        in_memory: Path | None = None,
    ) -> None:
        self.outcomes: list[Outcome] = []
        self._in_memory = in_memory
        self._sparks = sparks
        self._waiting = list(parts)
        self._has_longest = any(part.is_longest for part in parts)
        self._running: dict[Part, subprocess.Popen[str]] = {}
        self._lock = threading.Lock()
        self._folder = folder
        self._out = out
        self._width = max(len(part.name) for part in parts)

    def run(self, workers: int) -> None:
        """Run all parts, at most ``workers`` at a time.

        Raises
        ------
        BaseException
            What interrupts it, after the processes have ended.
        """
        with ThreadPoolExecutor(workers) as pool:
            try:
                done = [pool.submit(self._work) for _ in range(workers)]
                for future in done:
                    future.result()
            except BaseException:
                self._end()
                raise

    def run_again(self) -> None:
        """Run tests again that may have failed by chance, one part after the other."""
        if not (again := failed_by_chance(self.outcomes, self._failed())):
            return
        self._width = max([self._width, *(len(part.name) for part in again)])
        self._waiting += again
        self.run(1)

    def _failed(self) -> dict[str, list[str]]:
        """Return the names of the tests that failed, by part."""
        places = {one.part.name: _failed_place(self._folder, one.part) for one in self.outcomes}
        return {
            name: place.read_text("utf-8").splitlines()
            for name, place in places.items()
            if place.exists()
        }

    def _work(self) -> None:
        while started := self._start():
            self._follow(*started)

    def _start(self) -> tuple[Part, subprocess.Popen[str]] | None:
        """Start the first part that may run; None: another worker takes what is left."""
        with self._lock:
            for part in self._waiting:
                if may_start(part, self._running, self._sparks):
                    self._waiting.remove(part)
                    gives_way = self._has_longest and not part.is_longest
                    before = ("nice", "-n", _GIVES_WAY) if gives_way else ()
                    self._running[part] = _process(
                        part, self._root(part), before, _failed_place(self._folder, part)
                    )
                    return part, self._running[part]
        return None

    def _root(self, part: Part) -> Path:
        """Return where a part has its temporary files."""
        if part.on_disk or self._in_memory is None:
            return self._folder / part.name
        return self._in_memory / part.name

    def _follow(self, part: Part, process: subprocess.Popen[str]) -> None:
        """Show the progress of a part until it ends."""
        started = time.monotonic()
        lines: list[str] = []
        is_report = False
        assert process.stdout is not None, "opened as a pipe"
        with process.stdout as stdout:
            for line in stdout:
                lines.append(line)
                is_report = is_report or _REPORT.match(line) is not None
                if line.strip() and not is_report:
                    self._out.write(f"{part.name:<{self._width}} | {line}")
                    self._out.flush()
        code, cpu_seconds = _ended(process)
        if code == 0:
            shutil.rmtree(self._root(part), ignore_errors=True)
        with self._lock:
            del self._running[part]
            seconds = time.monotonic() - started
            self.outcomes.append(Outcome(part, code, seconds, "".join(lines), cpu_seconds))

    def _end(self) -> None:
        """Interrupt what runs, so that tests clean up; end what does not listen."""
        with self._lock:
            self._waiting.clear()
            running = list(self._running.values())
        for process in running:
            process.send_signal(signal.SIGINT)
        for process in running:
            try:
                process.wait(_SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                process.kill()


def _ended(process: subprocess.Popen[str]) -> tuple[int, float]:
    """Wait for the end of a process; return its exit code and the CPU seconds it took."""
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except ChildProcessError:  # whoever interrupts the run has waited for it
        return process.wait(), 0
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime


def _failed_place(folder: Path, part: Part) -> Path:
    return folder / f"{part.name}.failed"


def _process(
    part: Part, folder: Path, before: Sequence[str], failed: Path
) -> subprocess.Popen[str]:
    folder.mkdir()
    for one in (folder, folder.parent):
        one.chmod(0o711)  # servers that tests start as other users have folders in it
    return subprocess.Popen(
        (*before, *part.command),
        cwd=Path(__file__).parents[1],
        env={
            **{key: value for key, value in os.environ.items() if key not in _NOT_INHERITED},
            "PYTEST_DEBUG_TEMPROOT": os.fspath(folder),
            "TMPDIR": os.fspath(folder),
            "SPARK_LOCAL_DIRS": os.fspath(folder),
            "PAIMONLAB_GOLDEN": os.fspath(folder.with_name("golden-tables")),
            failed_tests.PLACE: os.fspath(failed),
            "PYTHONUNBUFFERED": "1",  # lines are shown when they are complete
            **part.environment,
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    )


def workers() -> int:
    """Return how many parts run at a time: one or two more than cores that may be used."""
    more = 2 if _memory() >= _MEMORY_FOR_TWO_BESIDE else 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) + more
    return (os.cpu_count() or 1) + more


def sparks() -> int:
    """Return how many parts that start Spark the memory is enough for."""
    return 2 if _memory() >= _MEMORY_FOR_TWO_SPARKS else 1


def in_memory(place: Path = _IN_MEMORY) -> Path | None:
    """Make a folder whose files are in memory; None: there is not enough, or no such place."""
    try:
        found = os.statvfs(place)
    except OSError:
        return None
    is_usable = not found.f_flag & (os.ST_RDONLY | os.ST_NOEXEC) and os.access(place, os.W_OK)
    is_free = found.f_bavail * found.f_frsize >= _FREE_FOR_FILES
    if not (is_usable and is_free and _memory() >= _MEMORY_FOR_FILES):
        return None
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=place))


def free_memory(place: Path = _IN_MEMORY) -> None:
    """Delete the files in memory of runs that were killed."""
    for folder in place.glob(f"{_PREFIX}*-*"):
        number = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if number.isdigit() and not Path("/proc", number).exists():
            shutil.rmtree(folder, ignore_errors=True)


def move(memory: Path, folder: Path, names: Iterable[str]) -> None:
    """Move folders from memory to the disk, and free the memory of all others."""
    for name in names:
        try:
            shutil.copytree(memory / name, folder / name, symlinks=True, dirs_exist_ok=True)
        except (OSError, shutil.Error) as error:  # sockets are not copied
            print(f"not all files of {name} are kept: {str(error)[:200]}")
    shutil.rmtree(memory, ignore_errors=True)


def _memory() -> int:
    """Return how many bytes this machine, or this container, has."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if _LIMIT_OF_MEMORY.exists() and (limit := _LIMIT_OF_MEMORY.read_text().strip()) != "max":
        memory = min(memory, int(limit))
    return memory


def _passed_again(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return the outcomes of tests that failed at first and passed alone."""
    return [one for one in outcomes if one.part.tests and one.code == 0]


def is_passed(outcomes: Sequence[Outcome]) -> bool:
    """Whether every part passed, or every test that failed did so alone."""
    return sum(one.code != 0 for one in outcomes) == len(_passed_again(outcomes))


def report(outcomes: Sequence[Outcome], out: TextIO) -> None:
    """Print skipped tests, then everything of the parts that failed, then a line for each part."""
    for outcome in outcomes:
        if outcome.code == 0 and outcome.skips:
            out.write(f"\n===== {outcome.part.name}: skipped\n{outcome.skips}\n")
    for outcome in outcomes:
        if outcome.code != 0:
            out.write(f"\n===== {outcome.part.name} FAILED: all of its output\n{outcome.output}\n")
    if again := _passed_again(outcomes):
        out.write("\n===== these tests failed beside others and passed alone: do not let it be\n")
        out.writelines(f"{test}\n" for one in again for test in one.part.tests)
    out.write("\n")
    for outcome in outcomes:
        verdict = "passed" if outcome.code == 0 else f"FAILED with exit code {outcome.code}"
        out.write(
            f"{outcome.part.name}: {verdict} after {outcome.seconds:.0f} s, "
            f"{outcome.cpu_seconds:.0f} s of processors: {outcome.counts}\n"
        )
    out.flush()


def main(arguments: Sequence[str] = ()) -> int:
    """Run everything, or with ``--quick`` what is; return 0 if every part passed, else 1."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--quick", action="store_true")
    parts = QUICK if parser.parse_args(arguments).quick else PARTS
    signal.signal(signal.SIGTERM, _be_ended)
    free_memory()
    folder, memory = Path(tempfile.mkdtemp(prefix=_PREFIX)), in_memory()
    suite = Suite(parts, folder, sys.stdout, sparks(), memory)
    try:
        suite.run(workers())
        suite.run_again()
    finally:
        report(suite.outcomes, sys.stdout)
        if memory is not None:
            failed = [one.part.name for one in suite.outcomes if one.code]
            move(memory, folder, failed)
    if not is_passed(suite.outcomes):
        print(f"folders of the tests: {folder}")
        return 1
    shutil.rmtree(folder)
    return 0


def _be_ended(number: int, _frame: object) -> NoReturn:
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
