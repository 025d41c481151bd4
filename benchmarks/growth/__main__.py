"""Measure, print, and write the table into ``docs/benchmarks.md``."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import cast

from benchmarks.growth import SUBJECTS
from benchmarks.growth.row import ROOT, GrowthRow, Subject, markdown
from benchmarks.outcomes import keep_growth
from benchmarks.report import replace_part


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth")
    parser.add_argument("--only", nargs="+", default=list(SUBJECTS), choices=SUBJECTS)
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md")
    options = parser.parse_args()
    found = list[GrowthRow]()
    for name in options.only:
        subject = cast("Subject", import_module(f"benchmarks.growth.{name}"))
        for row in subject.rows():
            found.append(row)
            keep_growth([row])
            print(markdown([row]).splitlines()[-1], flush=True)
    print("\n" + markdown(found))
    if options.write:
        replace_part(ROOT / "docs" / "benchmarks.md", "growth", markdown(found))


if __name__ == "__main__":
    main()
