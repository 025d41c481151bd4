"""Measure, print, and write the rows into the table of ``docs/benchmarks.md``."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from importlib import import_module
from typing import cast

from benchmarks.growth import SUBJECTS
from benchmarks.growth.row import HEAD, ROOT, Subject, cells, markdown
from benchmarks.kept_tables import with_kept
from benchmarks.outcomes import keep_growth
from benchmarks.report import replace_part


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth")
    parser.add_argument("--only", nargs="+", default=list(SUBJECTS), choices=SUBJECTS)
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md")
    options = parser.parse_args()
    day = f"{datetime.now(UTC):%Y-%m-%d}"
    found = list[list[str]]()
    for name in options.only:
        subject = cast("Subject", import_module(f"benchmarks.growth.{name}"))
        for row in subject.rows():
            found.append(cells(row, day))
            keep_growth([row])
            print(markdown(found[-1:]).splitlines()[-1], flush=True)
    print("\n" + markdown(found))
    if options.write:
        page = ROOT / "docs" / "benchmarks.md"
        table = with_kept(page, "growth", HEAD, found, key=("work",))
        replace_part(page, "growth", markdown(table))


if __name__ == "__main__":
    main()
