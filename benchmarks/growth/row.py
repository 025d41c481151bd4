"""One row of the table, and how its costs are measured."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class GrowthRow:
    """What a work costs at each of some sizes.

    ``costs`` are ours, one for each of ``sizes``; ``peers`` has those of others at the same sizes,
    None where they were not asked.
    """

    work: str
    sizes: tuple[str, ...]
    costs: tuple[float, ...]
    goal: str
    """What is wanted, in words."""
    holds: bool
    """Is it so?"""
    unit: str = "CPU s"
    peers: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    limit: str = ""
    """What keeps it from being less, in words."""

    @property
    def ratio(self) -> float:
        """Cost at the last size, as a multiple of that at the first."""
        return self.costs[-1] / self.costs[0]

    def beside(self, peer: str) -> float:
        """Return our cost at the last size as a multiple of a peer's."""
        theirs = self.peers[peer][-1]
        assert theirs is not None, f"{peer} was not asked for {self.sizes[-1]}"
        return self.costs[-1] / theirs


class Subject(Protocol):
    """A module of this package."""

    def rows(self) -> Iterator[GrowthRow]:
        """Measure; yield each row as soon as it is known."""


def in_new_process(module: str, *arguments: object) -> float:
    """Run ``python -m module arguments``; return the number at its end.

    Nothing is cached in the process, and its memory and processor time are its own.
    """
    return numbers_of_new_process(module, *arguments)[-1]


def fastest_in_turns(module: str, *works: Sequence[object], turns: int = 3) -> list[float]:
    """Run works in new processes, one after the other, and again; return the least of each.

    What is compared is measured within the same seconds so: the machine's speed wavers.
    """
    found = [[in_new_process(module, *work) for work in works] for _ in range(turns)]
    return list(map(min, *found))


def numbers_of_new_process(module: str, *arguments: object) -> tuple[float, ...]:
    """Run ``python -m module arguments``; return the numbers on its last line."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment
    )
    return tuple(float(number) for number in done.stdout.splitlines()[-1].split())


def peak_resident() -> int:
    """Return the most memory this process had resident, bytes."""
    status = Path("/proc/self/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(peak.split()[1]) * 1024


HEAD = ("work", "sizes", "cost", "ratio", "others", "day", "goal", "holds", "what limits it")


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Return the cells of rows as a table for people."""
    lines = [HEAD, ["---"] * len(HEAD), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def cells(row: GrowthRow, day: str) -> list[str]:
    """Return what the table says of a row that was measured on a day."""
    others = "; ".join(f"{name} {_numbers(costs)}" for name, costs in row.peers.items())
    ratio = f"{row.ratio:.2f}" if len(row.costs) > 1 else ""
    cost = f"**{_numbers(row.costs)}** {row.unit}"
    holds = "yes" if row.holds else "no"
    sizes = ", ".join(row.sizes)
    return [row.work, sizes, cost, ratio, others, day, row.goal, holds, row.limit]


def _numbers(costs: Sequence[float | None]) -> str:
    return ", ".join("-" if cost is None else f"{cost:.3g}" for cost in costs)
