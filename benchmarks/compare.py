"""Compare this checkout with another one: ``python -m benchmarks.compare ../paimonlab-before``.

Each work runs in both, in turns, each time in a process of its own; what counts is the time of
processors, which other work on the machine changes least.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median

from benchmarks import rows as rows_module
from benchmarks.run import BUILD, ROOT
from benchmarks.works import LONG, WORKS

SCRIPT = Path("benchmarks/engines/paimonlab_engine.py")
_UNALIKE = frozenset({"hash_int", "hash_text", "assign_keys"})
"""Works on functions, not on tables."""
_CHOSEN = [work.name for work in WORKS if work.name not in LONG | _UNALIKE]


def main() -> None:
    """Parse the command line, measure, print a line for each work."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path, help="folder of the other checkout")
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--works", nargs="+", default=_CHOSEN, choices=_CHOSEN)
    options = parser.parse_args()
    rows, warehouse = BUILD / f"rows-{options.rows}", BUILD / f"warehouse-{options.rows}"
    rows_module.make(rows, options.rows)
    prepare = [sys.executable, "-m", "benchmarks.prepare", str(warehouse), str(rows)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run([*prepare, *options.works], check=True, env=environment)
    sides = {"before": _side(options.before, "before"), "after": _side(ROOT, "after")}
    print("| work | before, CPU s | after, CPU s | after / before |\n| --- | --- | --- | --- |")
    for work in options.works:
        found: dict[str, list[float]] = {"before": [], "after": []}
        for turn in range(options.turns):
            for name in sorted(sides, reverse=turn % 2 == 0):
                found[name].append(_cpu_seconds(sides[name], work, rows, warehouse))
        before, after = median(found["before"]), median(found["after"])
        print(f"| {work} | {before:.3f} | {after:.3f} | {after / before:.2f} |", flush=True)


def _side(checkout: Path, name: str) -> Path:
    """Return a folder with the package of a checkout, and with the works of this one.

    Works on functions of the package stay those of the checkout: they import what it has.
    """
    folder = BUILD / "sides" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "paimonlab").symlink_to((checkout / "paimonlab").resolve())
    (folder / "tests").symlink_to(ROOT / "tests")
    (folder / "benchmarks").mkdir()
    for shared in (ROOT / "benchmarks").iterdir():
        origin = checkout.resolve() if shared.name == "hashing.py" else ROOT
        (folder / "benchmarks" / shared.name).symlink_to(origin / "benchmarks" / shared.name)
    return folder


def _cpu_seconds(side: Path, work: str, rows: Path, warehouse: Path) -> float:
    scratch = BUILD / "scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    done = subprocess.run(
        [sys.executable, str(SCRIPT), work, str(rows), str(scratch), str(warehouse), "3"],
        cwd=side,
        env=os.environ | {"PYTHONPATH": str(side), "BENCH_CLOCK": "cpu"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{work} in {side}: {done.stderr[-2000:]}")
    return median(json.loads(done.stdout.strip().splitlines()[-1])["seconds"])


if __name__ == "__main__":
    main()
