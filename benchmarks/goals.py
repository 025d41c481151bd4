"""The table of goals: what each is, what was measured last, and what limits it.

``python -m benchmarks.goals [--write]`` measures nothing: it reads what `benchmarks.run` and
`benchmarks.growth` have kept (`benchmarks.outcomes`). Rows of the page that neither has measured
stay, with their day.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import kept_tables, outcomes
from benchmarks.growth.row import ROOT, GrowthRow
from benchmarks.report import US, Outcome, Outcomes, markdown_table, replace_part

PAGE = ROOT / "docs" / "benchmarks.md"
HEAD = ("work", "goal", "measured", kept_tables.DAY, "holds", "what limits it")
_HOLDS = HEAD.index("holds")
FORMATS = (
    *("pypaimon", "pypaimon native", "Java 1.3.1", "Java 1.4.2"),
    *("deltalake", "pyiceberg"),
)
"""Engines of table formats; pyarrow and polars read and write plain files."""


@dataclass(frozen=True)
class Goal:
    """How many times as long as the fastest of some engines a work may take."""

    work: str
    most: float
    engines: tuple[str, ...]
    beside: str
    """What they are, in words."""
    limit: str = ""
    of_processors: bool = False
    """Whether it is about their seconds: those of the clock tell more of the disk."""

    def seconds(self, outcome: Outcome | None) -> float | None:
        """Return what an engine took; None: that was not measured."""
        if outcome is None:
            return None
        return outcome.processor_median if self.of_processors else outcome.median


_ENCODING = "encoding with zstd, checksums of pages, and syncing"
_DECODING = "Arrow decodes: zstd takes half of the processor time, checksums 12 %"
GOALS = (
    Goal("append_write", 0.9, FORMATS, "the best table format", _ENCODING),
    Goal("append_write", 1.2, ("pyarrow",), "pyarrow", _ENCODING),
    Goal("partition_write", 0.9, FORMATS, "the best table format", _ENCODING),
    Goal("partition_write", 1.2, ("pyarrow",), "pyarrow", _ENCODING),
    Goal(
        *("partition_write_many", 1.0, ("deltalake",), "deltalake", "a folder and a file each"),
        of_processors=True,
    ),
    Goal("append_scan", 0.9, FORMATS, "the best table format", _DECODING),
    Goal("append_scan", 1.2, ("pyarrow",), "pyarrow", _DECODING),
    Goal("java_scan", 0.9, FORMATS, "the best table format", _DECODING),
    Goal("java_scan", 1.2, ("pyarrow",), "pyarrow", _DECODING),
    Goal("merge_scan", 1.5, ("pyarrow",), "pyarrow on the same files", _DECODING),
    Goal("merge_first", 1.5, ("pyarrow",), "pyarrow on the same files", "keys are merged first"),
    Goal(
        *("limit", 1.0, ("polars",), "polars", "a page of each column is decoded as a whole"),
        of_processors=True,
    ),
    Goal("few_upserts", 0.5, ("Java 1.4.2",), "Java 1.4.2"),
    Goal("few_upserts_medium", 0.5, ("Java 1.4.2",), "Java 1.4.2"),
    Goal("few_upserts_large", 0.5, ("Java 1.4.2",), "Java 1.4.2"),
    Goal("few_upserts_huge", 0.5, ("Java 1.4.2",), "Java 1.4.2"),
)
_TITLES = {
    "append_write": "append write",
    "partition_write": "append write into 32 partitions",
    "partition_write_many": "append write into 512 partitions",
    "append_scan": "append scan to Arrow",
    "java_scan": "append scan of one row group of 2 M rows, written by Java",
    "merge_scan": "merge-on-read scan of 8 runs",
    "merge_first": "merge-on-read scan of 8 runs, nothing merged before",
    "limit": "10 of 2 M rows",
    "few_upserts": "commit of 1,000 keys of 0.4 M, changelog by lookup",
    "few_upserts_medium": "commit of 1,000 keys of 1.6 M, changelog by lookup",
    "few_upserts_large": "commit of 1,000 keys of 6.4 M, changelog by lookup",
    "few_upserts_huge": "commit of 1,000 keys of 16 M, changelog by lookup",
}
"""What the works are, where their neighbours in the other table do not say it."""


def main() -> None:
    """Print the table; write it into ``docs/benchmarks.md`` if asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.goals")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md")
    parser.add_argument("--from", dest="folder", type=Path, default=outcomes.FOLDER)
    options = parser.parse_args()
    days = outcomes.days(options.folder)
    lines = [
        *of_works(outcomes.works(options.folder), days),
        *of_growth(outcomes.growth(options.folder), days),
    ]
    text = document(kept_tables.with_kept(PAGE, "goals", HEAD, lines, key=("work", "goal")))
    print(text)
    if options.write:
        replace_part(PAGE, "goals", text)


def of_works(found: Outcomes, days: Mapping[str, str]) -> Iterator[list[str]]:
    """Make a line of each goal of works that were measured beside what it compares with."""
    for goal in GOALS:
        of_work = found.get(goal.work, {})
        took = {name: goal.seconds(of_work.get(name)) for name in (US, *goal.engines)}
        known = {name: seconds for name, seconds in took.items() if seconds is not None}
        ours = known.pop(US, None)
        if ours is None or not known:
            continue
        best = min(known, key=known.__getitem__)
        ratio = ours / known[best]
        holds = ratio <= goal.most
        yield [
            _TITLES[goal.work],
            f"at most {'' if goal.most == 1 else f'{goal.most:g} times '}{goal.beside}",
            f"{ours:.3g} {'CPU s' if goal.of_processors else 's'}, {ratio:.2f} times {best} ({known[best]:.3g} s)",
            days.get(goal.work, ""),
            _yes(holds=holds),
            "" if holds else goal.limit,
        ]


def of_growth(rows: Iterable[GrowthRow], days: Mapping[str, str]) -> Iterator[list[str]]:
    """Make a line of each row of growth."""
    for row in rows:
        costs = ", ".join(
            f"{cost:.3g} ({size})" for cost, size in zip(row.costs, row.sizes, strict=True)
        )
        limit = "" if row.holds else row.limit
        day = days.get(row.work, "")
        yield [row.work, row.goal, f"{costs} {row.unit}", day, _yes(holds=row.holds), limit]


def document(lines: Sequence[Sequence[str]]) -> str:
    """Return the table, those first that do not hold, and how many there are of each."""
    missed = [line for line in lines if line[_HOLDS] != _yes(holds=True)]
    held = [line for line in lines if line[_HOLDS] == _yes(holds=True)]
    days = kept_tables.days(lines, HEAD)
    measured = " to ".join(dict.fromkeys((days[0], days[-1]))) if days else "never"
    return (
        f"Measured {measured}: {len(held)} of {len(lines)} hold. What limits a goal that holds is "
        f"in the tables below.\n\n{markdown_table(HEAD, [*missed, *held])}"
    )


def _yes(*, holds: bool) -> str:
    return "yes" if holds else "**no**"


if __name__ == "__main__":
    main()
