"""Parts of the suite, side by side; the parts here are small programs, not pytest."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tools import run_tests
from tools.run_tests import (
    PARTS,
    QUICK,
    Outcome,
    Part,
    Suite,
    failed_by_chance,
    free_memory,
    in_memory,
    is_passed,
    main,
    may_start,
    move,
    report,
)

ROOT = Path(__file__).parents[2]
PASSES = """
print("===== test session starts =====")
print("tests/test_a.py ..s   [100%]")
print("===== short test summary info =====")
print("SKIPPED [1] tests/test_a.py:3: no Java")
print("===== 2 passed, 1 skipped in 0.01s =====")
print("nanobind: leaked 4 functions!")
"""
FAILS = """
print("===== test session starts =====")
print("tests/test_b.py F     [100%]")
print("===== FAILURES =====")
print("assert 1 == 2")
print("===== 1 failed in 0.01s =====")
raise SystemExit(1)
"""
NOTES = """
import os, pathlib, sys, time
notes = pathlib.Path(sys.argv[1])
def note(text):
    with notes.open("a") as out:
        out.write(text + os.linesep)
note("begin")
{wait}
note("end")
"""
WAITS_FOR_ANOTHER = NOTES.format(
    wait="while notes.read_text().count('begin') < 2:\n    time.sleep(0.01)"
)


def program(name: str, code: str, *arguments: str, starts_spark: bool = False) -> Part:
    return Part(name, (sys.executable, "-c", code, *arguments), starts_spark=starts_spark)


def run(folder: Path, *parts: Part, workers: int) -> Suite:
    suite = Suite(parts, folder, io.StringIO())
    suite.run(workers)
    return suite


def given(part: Part) -> list[str]:
    """Return what a part tests."""
    return [word for word in part.command if word.startswith(("tests/", "notebooks"))]


def test_every_part_says_how_a_test_of_it_runs_alone() -> None:
    tests = [part for part in PARTS if "pytest" in part.command]

    assert len(tests) == len(PARTS) - 1
    assert all(part.command[: len(part.again)] == part.again != () for part in tests)


def left_out(part: Part) -> set[str]:
    """Return what a part of all other tests leaves out."""
    prefix = "--ignore="
    return {word.removeprefix(prefix) for word in part.command if word.startswith(prefix)}


def test_every_folder_of_tests_is_in_one_part() -> None:
    folders = [folder for part in PARTS for folder in given(part)]
    (rest,) = (part for part in PARTS if "pytest" in part.command and not given(part))

    assert len(set(folders)) == len(folders)
    assert left_out(rest) == set(folders) - {"notebooks"}  # which pytest alone does not collect
    assert all((ROOT / folder).is_dir() for folder in folders)


def test_what_is_quick_takes_neither_spark_nor_java_nor_a_browser() -> None:
    lint, *tests = QUICK
    (others,) = (part for part in tests if not given(part))
    folders = [folder for part in tests for folder in given(part)]
    skipped = left_out(others) - set(folders)
    assert lint.command[-1] == "lint"
    assert left_out(others) >= set(folders)

    for path in (ROOT / "tests").rglob("test_*.py"):
        if not any(path.is_relative_to(ROOT / one) for one in skipped):
            words = re.findall(r"^(?:from|import) (\S+)", path.read_text("utf-8"), re.MULTILINE)
            heavy = [word for word in words if re.match(r"pyspark|playwright|tests\.interop", word)]
            assert not heavy, path


@pytest.mark.parametrize(("arguments", "expected"), [([], PARTS), (["--quick"], QUICK)])
def test_parts_are_all_or_those_that_are_quick(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], expected: tuple[Part, ...]
) -> None:
    started: list[Part] = []
    monkeypatch.setattr(Suite, "run", lambda suite, workers: started.extend(suite._waiting))

    assert main(arguments) == 0

    assert started == list(expected)


def test_parts_run_side_by_side(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    parts = [program(name, WAITS_FOR_ANOTHER, str(notes)) for name in ("one", "two")]

    suite = run(tmp_path, *parts, workers=2)

    assert [outcome.code for outcome in suite.outcomes] == [0, 0]
    assert notes.read_text().splitlines() == ["begin", "begin", "end", "end"]


@pytest.mark.parametrize(("workers", "starts_spark"), [(1, False), (2, True)])
def test_parts_run_one_after_another(tmp_path: Path, workers: int, starts_spark: bool) -> None:
    notes = tmp_path / "notes"
    parts = [
        program(name, NOTES.format(wait=""), str(notes), starts_spark=starts_spark)
        for name in ("one", "two", "three")
    ]

    suite = run(tmp_path, *parts, workers=workers)

    assert [outcome.part.name for outcome in suite.outcomes] == ["one", "two", "three"]
    assert notes.read_text().splitlines() == ["begin", "end"] * 3


@pytest.mark.parametrize(("gibibytes", "more"), [(15, 1), (16, 2)])
def test_more_parts_run_than_there_are_cores(
    gibibytes: int, more: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_tests, "_memory", lambda: gibibytes << 30)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5}, raising=False)

    assert run_tests.workers() == 2 + more


def test_other_parts_give_way_to_the_longest(tmp_path: Path) -> None:
    command = (sys.executable, "-c", "import os; print(os.nice(0))")
    shown = io.StringIO()
    parts = [Part("long", command, is_longest=True), Part("short", command)]

    Suite(parts, tmp_path, shown).run(1)

    own = os.nice(0)
    assert shown.getvalue().splitlines() == [f"long  | {own}", f"short | {min(own + 3, 19)}"]


TELLS = "import os, tempfile; print(tempfile.gettempdir(), os.environ['PYTEST_DEBUG_TEMPROOT'])"


def test_files_are_in_memory_but_for_tests_of_disks(tmp_path: Path) -> None:
    disk, memory, shown = tmp_path / "disk", tmp_path / "memory", io.StringIO()
    for folder in (disk, memory):
        folder.mkdir()
    on_disk = Part("disks", (sys.executable, "-c", TELLS), on_disk=True)
    fails = program("fails", f"{TELLS}; raise SystemExit(1)")
    parts = [program("plain", TELLS), on_disk, fails]
    suite = Suite(parts, disk, shown, in_memory=memory)

    suite.run(1)

    where = {"plain": memory, "disks": disk, "fails": memory}
    assert shown.getvalue().splitlines() == [
        f"{name} | {folder / name} {folder / name}" for name, folder in where.items()
    ]
    assert [*disk.iterdir()] == []
    assert [*memory.iterdir()] == [memory / "fails"]


def test_what_failed_is_moved_to_the_disk(tmp_path: Path) -> None:
    disk, memory = tmp_path / "disk", tmp_path / "memory"
    for name in ("fails", "golden-tables"):
        (memory / name).mkdir(parents=True)
    (memory / "fails" / "x").write_text("seen")
    disk.mkdir()

    move(memory, disk, ["fails"])

    assert (disk / "fails" / "x").read_text() == "seen"
    assert [*disk.iterdir()] == [disk / "fails"]
    assert not memory.exists()


def test_without_enough_memory_files_are_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_tests, "_FREE_FOR_FILES", 1)
    monkeypatch.setattr(run_tests, "_memory", lambda: run_tests._MEMORY_FOR_FILES)
    made = in_memory(tmp_path)

    assert made is not None
    assert made.parent == tmp_path
    assert in_memory(tmp_path / "none") is None
    monkeypatch.setattr(run_tests, "_FREE_FOR_FILES", 1 << 60)
    assert in_memory(tmp_path) is None
    monkeypatch.setattr(run_tests, "_FREE_FOR_FILES", 1)
    monkeypatch.setattr(run_tests, "_memory", lambda: run_tests._MEMORY_FOR_FILES - 1)
    assert in_memory(tmp_path) is None


def test_what_a_killed_run_had_in_memory_is_deleted(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    names = [f"paimonlab-tests-{number}-x" for number in (ended.pid, os.getpid())]
    for name in (*names, "others-1-x"):
        (tmp_path / name / "part").mkdir(parents=True)

    free_memory(tmp_path)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["others-1-x", names[1]]


def outcome(name: str, code: int, *again: str) -> Outcome:
    return Outcome(Part(name, ("all",), again=again), code, 1.0, "")


GOOD, WORSE, WORST = (
    outcome("good", 0, "pytest"),
    outcome("worse", 1, "p", "-q"),
    outcome("worst", 1),
)


@pytest.mark.parametrize(
    ("outcomes", "failed", "expected"),
    [
        pytest.param([GOOD], {}, {}, id="nothing-failed"),
        pytest.param([GOOD, WORSE], {"worse": ["a", "b", "a"]}, {"worse": ["a", "b"]}, id="two"),
        pytest.param([WORSE], {"worse": ["a", "b", "c", "d"]}, {}, id="more-than-three"),
        pytest.param([WORSE], {}, {}, id="no-test-was-named"),
        pytest.param([WORSE, WORST], {"worse": ["a"], "worst": ["b"]}, {}, id="no-way-to-run-one"),
        pytest.param([WORSE, outcome("x", 2, "p")], {"worse": ["a"], "x": ["b"]}, {}, id="broken"),
    ],
)
def test_a_few_tests_that_failed_run_again(
    outcomes: list[Outcome], failed: dict[str, list[str]], expected: dict[str, list[str]]
) -> None:
    again = failed_by_chance(outcomes, failed)

    assert {part.name: list(part.command) for part in again} == {
        f"{name}-again": ["p", "-q", *tests] for name, tests in expected.items()
    }


FAILS_ONE = """
import os, pathlib
pathlib.Path(os.environ["PAIMONLAB_FAILED_TESTS"]).write_text("a.py::test_a[one two]")
raise SystemExit(1)
"""


@pytest.mark.parametrize("code", [0, 1])
def test_what_fails_again_fails_the_suite(tmp_path: Path, code: int) -> None:
    ends = (sys.executable, "-c", f"import sys; print(sys.argv[1:]); raise SystemExit({code})")
    part = Part("part", (sys.executable, "-c", FAILS_ONE), again=ends)
    suite, shown = Suite([part], tmp_path, io.StringIO()), io.StringIO()

    suite.run(1)
    suite.run_again()
    report(suite.outcomes, shown)

    assert [one.part.name for one in suite.outcomes] == ["part", "part-again"]
    assert suite.outcomes[1].output == "['a.py::test_a[one two]']\n"
    assert is_passed(suite.outcomes) is (code == 0)
    assert ("alone: do not let it be\na.py::test_a[one two]\n" in shown.getvalue()) is (code == 0)
    assert "===== part FAILED" in shown.getvalue()


def test_the_names_of_failed_tests_are_kept(tmp_path: Path) -> None:
    place = tmp_path / "failed"
    (tmp_path / "test_it.py").write_text(
        "import pytest\n"
        "@pytest.fixture\n"
        "def broken(): raise OSError\n"
        "def test_of_it(broken): pass\n"
        "def test_that_passes(): pass\n"
        "@pytest.mark.parametrize('given', ['one two'])\n"
        "def test_that_fails(given): assert not given\n"
    )
    command = (*run_tests._PYTEST, "--rootdir", str(tmp_path), str(tmp_path))
    told = {**os.environ, "PAIMONLAB_FAILED_TESTS": str(place)}

    assert subprocess.run(command, cwd=ROOT, env=told, capture_output=True, check=False).returncode

    names = place.read_text("utf-8").splitlines()
    assert names == ["test_it.py::test_of_it", "test_it.py::test_that_fails[one two]"]


SPARK = Part("spark", (), starts_spark=True)
PLAIN = Part("plain", ())


@pytest.mark.parametrize(
    ("part", "running", "sparks", "may"),
    [
        (PLAIN, [SPARK, SPARK], 1, True),
        (SPARK, [PLAIN], 1, True),
        (SPARK, [PLAIN, SPARK], 1, False),
        (SPARK, [PLAIN, SPARK], 2, True),
        (SPARK, [SPARK, PLAIN, SPARK], 2, False),
    ],
)
def test_so_many_parts_with_spark_run_at_a_time(
    part: Part, running: list[Part], sparks: int, *, may: bool
) -> None:
    assert may_start(part, running, sparks) is may


def test_progress_is_shown_with_the_name_of_the_part_and_without_its_report(
    tmp_path: Path,
) -> None:
    shown = io.StringIO()

    Suite([program("good", PASSES), program("worse", FAILS)], tmp_path, shown).run(1)

    assert shown.getvalue().splitlines() == [
        "good  | ===== test session starts =====",
        "good  | tests/test_a.py ..s   [100%]",
        "worse | ===== test session starts =====",
        "worse | tests/test_b.py F     [100%]",
    ]


def test_the_report_shows_what_was_skipped_and_all_of_what_failed(tmp_path: Path) -> None:
    suite = run(tmp_path, program("good", PASSES), program("worse", FAILS), workers=1)
    shown = io.StringIO()

    report(suite.outcomes, shown)

    lines = [line for line in shown.getvalue().splitlines() if line]
    assert lines[:3] == [
        "===== good: skipped",
        "SKIPPED [1] tests/test_a.py:3: no Java",
        "===== worse FAILED: all of its output",
    ]
    assert lines[3:-2] == [
        line.removeprefix('print("').removesuffix('")')
        for line in FAILS.splitlines()
        if line.startswith("print")
    ]
    assert lines[-2:] == [
        "good: passed after 0 s, 0 s of processors: 2 passed, 1 skipped in 0.01s",
        "worse: FAILED with exit code 1 after 0 s, 0 s of processors: 1 failed in 0.01s",
    ]


def test_the_report_tells_the_processor_time_of_processes_that_a_part_started(
    tmp_path: Path,
) -> None:
    work = "import time\nwhile time.process_time() < 0.3: pass"
    starts = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {work!r}])"

    suite = run(tmp_path, program("busy", starts), workers=1)

    assert suite.outcomes[0].cpu_seconds >= 0.3


def test_an_interrupt_ends_the_processes_and_tells_what_they_printed() -> None:
    waits = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
    code = f"""
import sys
from tools import run_tests
run_tests.PARTS = (
    run_tests.Part("slow", (sys.executable, "-c", {waits!r})),
    run_tests.Part("never", (sys.executable, "-c", "print('started')"), starts_spark=True),
)
run_tests.workers = lambda: 1
sys.exit(run_tests.main())
"""
    running = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert running.stdout is not None
    with running.stdout as stdout:
        pid = int(stdout.readline().removeprefix("slow  | "))
        running.send_signal(signal.SIGTERM)
        rest = stdout.read()

    assert running.wait() == 128 + signal.SIGTERM
    assert "===== slow FAILED: all of its output\n" in rest
    assert "KeyboardInterrupt" in rest
    assert "started" not in rest
    assert not Path(f"/proc/{pid}").exists()
