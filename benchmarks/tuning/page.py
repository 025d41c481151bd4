"""The advices of docs/tuning.md, and the tables in its sections that say what each brings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from benchmarks.report import machine, markdown_table, part, replace_part
from benchmarks.tuning import memory, reads, spark, writes
from benchmarks.tuning.pair import TURNS, Pair, Workshop

PAGE = Path(__file__).parents[2] / "docs" / "tuning.md"
HEAD = ["advice", "work that shows it", "before", "after", "times"]
_ALIGNED = "| --- | --- | ---: | ---: | ---: |"
Work = Callable[[Workshop], Pair]
SECTIONS: dict[str, tuple[Work, ...]] = {
    "Reads": reads.ADVICE,
    "Writes": writes.ADVICE,
    "Memory": memory.ADVICE,
    "Spark": spark.ADVICE,
}
"""By heading of the page."""
WORKS = {work.__name__: work for works in SECTIONS.values() for work in works}


def title(work: Work) -> tuple[str, str]:
    """Return the advice, in the words of the page, and what is done against it and as it says."""
    advice, _, done = (work.__doc__ or "").strip().partition(": ")
    return advice, done.removesuffix(".")


def rows_of(section: str) -> list[list[str]]:
    """Return the cells of each row that a section has."""
    lines = part(PAGE, f"measured: {section}").splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:] if line]


def tables(found: Iterable[Sequence[str]], *, kept: bool) -> dict[str, str]:
    """Return the table of each section; ``kept`` rows of the page are those not measured now."""
    measured = {(row[0], row[1]): list(row) for row in found}
    made = {}
    for section, works in SECTIONS.items():
        old = {(row[0], row[1]): row for row in rows_of(section)} if kept else {}
        known = old | measured
        rows = [known[title(work)] for work in works if title(work) in known]
        if rows:
            head, _, *lines = markdown_table(HEAD, rows).splitlines()
            made[section] = "\n".join([head, _ALIGNED, *lines])
    return made


def write(found: Iterable[Sequence[str]], rows: int) -> None:
    """Put rows into the page, in place of those of the same works."""
    for section, table in tables(found, kept=True).items():
        replace_part(PAGE, f"measured: {section}", table)
    replace_part(
        PAGE,
        "measured on",
        f"Made by `python -m benchmarks.tuning` with {rows:,} rows of about 50 bytes: {machine()}; medians of {TURNS}.",
    )
