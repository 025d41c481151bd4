"""Outcomes -> a table for people."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.works import ENGINES, WORKS

US = "paimonlab"


@dataclass(frozen=True)
class Outcome:
    """What one work of one engine took."""

    seconds: Sequence[float]
    peak_bytes: int
    processor_seconds: Sequence[float] = ()
    """As many; none of Java, and of outcomes kept before they were."""

    @property
    def median(self) -> float:
        """Median of the repetitions, seconds."""
        return statistics.median(self.seconds)

    @property
    def processor_median(self) -> float | None:
        """Median of the seconds of processors; None: they are not known."""
        return statistics.median(self.processor_seconds) if self.processor_seconds else None


Outcomes = Mapping[str, Mapping[str, Outcome]]
"""By work and engine."""


def seconds_table(outcomes: Outcomes) -> str:
    """Medians in seconds, and how many times longer than ours."""
    rows = []
    for title, found in _titled(outcomes):
        ours = found[US].median if US in found else None
        cells = [_cell(found.get(engine), ours, is_us=engine == US) for engine in ENGINES]
        rows.append([title, *cells])
    return markdown_table(["work", *ENGINES], rows)


def memory_table(outcomes: Outcomes) -> str:
    """Peak resident memory of the whole process, MB."""
    rows = [
        [title, *(_memory(found.get(engine)) for engine in ENGINES)]
        for title, found in _titled(outcomes)
        if any(outcome.peak_bytes for outcome in found.values())
    ]
    return markdown_table(["work", *ENGINES], rows)


def machine() -> str:
    """Describe the machine in one line."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    names = [line for line in _cpu_lines() if line.startswith("model name")]
    processor = names[0].split(":", 1)[1].strip() if names else platform.processor()
    return (
        f"{os.cpu_count()} cores ({processor}), {memory:.0f} GiB, {platform.system()} "
        f"{platform.release()}, Python {platform.python_version()}"
    )


def part(page: Path, name: str) -> str:
    """Return the text between the comments that mark a part of a page."""
    text = page.read_text()
    return text.split(f"<!-- {name} -->\n")[1].split(f"<!-- end of {name} -->\n")[0]


def replace_part(page: Path, name: str, text: str) -> None:
    """Put ``text`` between the comments that mark a part of a page.

    Raises
    ------
    ValueError
        If the page has no such part.
    """
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    old = page.read_text()
    if begin not in old or end not in old:
        raise ValueError(f"{page} has no part {name!r}; add the lines {begin!r} and {end!r}")
    before, rest = old.split(begin)
    _, after = rest.split(end)
    page.write_text(f"{before}{begin}{text}\n{end}{after}")


def document(outcomes: Outcomes, versions: Mapping[str, str], rows: int, load: float) -> str:
    """Return machine, versions, rows, and the tables; how to read them stands on the page."""
    named = ", ".join(
        name if name.endswith(version) else f"{name} {version}"
        for name, version in versions.items()
    )
    return f"""Made by `make bench` on {datetime.now(UTC):%Y-%m-%d}: {machine()}; load average {load:.1f} when it began.
Engines: {named}.

{rows:,} rows of an int64 key, an int64, a double, a text of 20 bytes, a timestamp (µs) and a decimal(12, 2); 4 buckets,
`write-only` = `true`.

{seconds_table(outcomes)}

Peak resident memory of these processes, MB (with the rows loaded, where there are any; Java's heap may grow to 6 GB):

{memory_table(outcomes)}"""


def _titled(outcomes: Outcomes) -> list[tuple[str, Mapping[str, Outcome]]]:
    titles = {"import": "import in a new process", **{work.name: work.title for work in WORKS}}
    return [(titles[name], outcomes[name]) for name in titles if outcomes.get(name)]


def _cell(outcome: Outcome | None, ours: float | None, *, is_us: bool) -> str:
    if outcome is None:
        return ""
    text = f"{outcome.median:.3f}" if outcome.median < 1 else f"{outcome.median:.2f}"
    if is_us:
        return f"**{text}**"
    return text if ours is None else f"{text} ({outcome.median / ours:.2f}x)"


def _memory(outcome: Outcome | None) -> str:
    return f"{outcome.peak_bytes / 2**20:.0f}" if outcome and outcome.peak_bytes else ""


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cpu_lines() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []
