"""Measure what advices bring.

``python -m benchmarks.tuning [--rows N] [--only NAME …] [--write]`` makes tables for each advice below
``build/bench/tuning``, does the same work twice, once against the advice and once following it, three times
each in turns, and prints the medians. ``--write`` puts them into the sections of docs/tuning.md.
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import paimonlab as pm
from benchmarks.tuning.page import PAGE, SECTIONS, WORKS, tables, title, write
from benchmarks.tuning.pair import Workshop, measured

BUILD = Path(__file__).parents[2] / "build" / "bench" / "tuning"


def main() -> None:
    """Parse the command line, measure, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", default=list(SECTIONS), choices=[*SECTIONS, *WORKS]
    )
    parser.add_argument("--write", action="store_true", help=f"put the rows into {PAGE.name}")
    options = parser.parse_args()
    chosen = [
        name
        for wanted in options.only
        for name in (
            [work.__name__ for work in SECTIONS[wanted]] if wanted in SECTIONS else [wanted]
        )
    ]
    found = list(_rows(chosen, options.rows))
    for section, table in tables(found, kept=False).items():
        print(f"\n{section}\n\n{table}")
    if options.write:
        write(found, options.rows)


def _rows(names: list[str], rows: int) -> Iterator[list[str]]:
    for name in names:
        shutil.rmtree(BUILD, ignore_errors=True)
        began = time.perf_counter()
        catalog = pm.connect(BUILD)
        catalog.create_database("db")
        row = [*title(WORKS[name]), *measured(WORKS[name](Workshop(catalog, BUILD, rows)))]
        print(
            f"{name}: {', '.join(row[2:])} ({time.perf_counter() - began:.0f} s in all)", flush=True
        )
        yield row
    shutil.rmtree(BUILD, ignore_errors=True)


if __name__ == "__main__":
    main()
