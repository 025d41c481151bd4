"""Measure paimonlab beside its peers: ``make bench``.

Everything is kept below ``build/bench``; the tables go to ``docs/benchmarks.md`` with ``--write``.
"""

from __future__ import annotations

import argparse
import atexit
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

from benchmarks import rows as rows_module
from benchmarks.outcomes import keep_works
from benchmarks.peers import Engine, engine
from benchmarks.report import Outcome, document, memory_table, replace_part, seconds_table
from benchmarks.settling import wait_until_settled
from benchmarks.works import ENGINES, LONG, MODULES, WORKS, Work

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "bench"
ASIDE = BUILD / "aside"
"""What is deleted at the end."""
_FEW_FILES = 200
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}


def main() -> None:
    """Parse the command line, measure, print."""
    options = _options()
    atexit.register(shutil.rmtree, ASIDE, ignore_errors=True)
    load = os.getloadavg()[0]
    rows = BUILD / f"rows-{options.rows}"
    warehouse = BUILD / f"warehouse-{options.rows}"
    print("making rows and tables …", flush=True)
    rows_module.make(rows, options.rows)
    prepare = [sys.executable, "-m", "benchmarks.prepare", str(warehouse), str(rows)]
    prepare += options.works
    subprocess.run(prepare, check=True, env=ENVIRONMENT)
    found = {name: engine(name, BUILD / "engines") for name in options.engines}
    engines = {name: one for name, one in found.items() if one is not None}
    if "java_scan" in options.works:
        _file_of_java(engines, rows, warehouse, options.rows)
    outcomes: dict[str, dict[str, Outcome]] = {"import": _imports(engines)}
    for work in WORKS:
        if work.name in options.works:
            outcomes[work.name] = _measure(work, engines, rows, warehouse, options)
    keep_works(outcomes)
    print("\n" + seconds_table(outcomes) + "\n\n" + memory_table(outcomes))
    if options.write:
        versions = {name: one.version() for name, one in engines.items()}
        text = document(outcomes, versions, options.rows, load)
        replace_part(ROOT / "docs" / "benchmarks.md", "works", text)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    names = [work.name for work in WORKS]
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--repeat", type=int, default=5, help="repetitions of each work")
    parser.add_argument("--works", nargs="+", default=names, choices=names)
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=ENGINES)
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md")
    return parser.parse_args()


def _measure(
    work: Work, engines: dict[str, Engine], rows: Path, warehouse: Path, options: argparse.Namespace
) -> dict[str, Outcome]:
    outcomes = {}
    for name, one in engines.items():
        is_long = name in work.slow or work.name in LONG
        repeat = 1 if is_long else options.repeat
        if name == "pypaimon" and work.name == "stream":
            continue  # would take minutes and say nothing new
        scratch = BUILD / "scratch"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        if work.makes_folders:
            wait_until_settled(scratch)
        arguments = [work.name, str(rows), str(scratch), str(warehouse), str(repeat)]
        outcome = _run(one, one.start(arguments, options.rows))
        _put_aside(scratch)
        if outcome is not None:
            outcomes[name] = outcome
            shown = " ".join(f"{seconds:.3f}" for seconds in outcome.seconds)
            peak = outcome.peak_bytes / 2**20
            print(f"{work.name:15} {name:16} {shown}  ({peak:.0f} MB)", flush=True)
    return outcomes


def _put_aside(scratch: Path) -> None:
    """Clear the scratch folder, without slowing what is measured next.

    For minutes after files were deleted ext4 does not use their inodes again, and looks at each
    of them whenever it makes a file: 512 folders then take 3 to 8 times as long. So many files
    are deleted when everything is measured.
    """
    if sum(1 for _ in scratch.rglob("*")) < _FEW_FILES:
        shutil.rmtree(scratch)
        return
    ASIDE.mkdir(exist_ok=True)
    scratch.rename(ASIDE / f"{len([*ASIDE.iterdir()])}")


def _run(one: Engine, command: list[str]) -> Outcome | None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=False)
    if done.returncode:
        problem = (done.stderr.strip().splitlines() or ["no message"])[-1]
        print(f"{one.name} failed: {problem}", flush=True)
        return None
    reply = json.loads(done.stdout.strip().splitlines()[-1])
    if reply.get("missing"):
        return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    peak = reply.get("peak_bytes") or (after * 1024 if after > before else 0)
    return Outcome(reply["seconds"], peak, reply.get("processor_seconds", ()))


def _file_of_java(engines: dict[str, Engine], rows: Path, warehouse: Path, count: int) -> None:
    """Have Java write the table that ``java_scan`` reads, unless it is there."""
    java = next((one for one in engines.values() if one.python is None), None)
    table = warehouse / "db.db" / "java"
    if table.exists() or java is None:
        return
    scratch = BUILD / "scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    _run(java, java.start(["append_write", str(rows), str(scratch), str(warehouse), "1"], count))
    shutil.move(scratch / "db.db" / "t0", table)


def _imports(engines: dict[str, Engine]) -> dict[str, Outcome]:
    """Time a new interpreter that imports an engine, beyond one that imports nothing."""
    outcomes = {}
    for name, one in engines.items():
        if one.python is not None:
            bare = min(_process_seconds(one.python, "pass") for _ in range(3))
            times = [_process_seconds(one.python, f"import {MODULES[name]}") for _ in range(5)]
            outcomes[name] = Outcome([seconds - bare for seconds in times], 0)
            print(f"{'import':15} {name:16} {outcomes[name].median:.3f}", flush=True)
    return outcomes


def _process_seconds(python: str, code: str) -> float:
    start = time.perf_counter()
    subprocess.run([python, "-c", code], check=True, env=ENVIRONMENT)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
