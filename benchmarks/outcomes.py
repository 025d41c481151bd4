"""What the last runs of `benchmarks.run` and `benchmarks.growth` measured, kept as JSON.

A run of some works replaces their outcomes and leaves those of others, each with its date.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.growth.row import ROOT, GrowthRow
from benchmarks.report import Outcome, Outcomes

FOLDER = ROOT / "build" / "bench" / "outcomes"


def keep_works(outcomes: Outcomes, folder: Path = FOLDER) -> None:
    """Keep the seconds of works by engine."""
    new = {
        work: {engine: asdict(outcome) for engine, outcome in found.items()}
        for work, found in outcomes.items()
        if found
    }
    _keep(folder / "works.json", new)


def keep_growth(rows: Sequence[GrowthRow], folder: Path = FOLDER) -> None:
    """Keep rows of growth by their work."""
    _keep(folder / "growth.json", {row.work: asdict(row) for row in rows})


def works(folder: Path = FOLDER) -> dict[str, dict[str, Outcome]]:
    """Return the outcomes by work and engine."""
    return {
        work: {engine: Outcome(**outcome) for engine, outcome in found["found"].items()}
        for work, found in _known(folder / "works.json").items()
    }


def growth(folder: Path = FOLDER) -> list[GrowthRow]:
    """Return the rows, in the order in which they were first measured."""
    rows = [entry["found"] for entry in _known(folder / "growth.json").values()]
    return [
        GrowthRow(**row | {"sizes": tuple(row["sizes"]), "costs": tuple(row["costs"])})
        for row in rows
    ]


def days(folder: Path = FOLDER) -> dict[str, str]:
    """Return the days on which works were measured, by their name."""
    known = _known(folder / "works.json") | _known(folder / "growth.json")
    return {work: entry["day"] for work, entry in known.items()}


def _keep(path: Path, new: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    day = f"{datetime.now(UTC):%Y-%m-%d}"
    known = _known(path) | {name: {"day": day, "found": found} for name, found in new.items()}
    path.write_text(json.dumps(known, indent=1))


def _known(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text())) if path.exists() else {}
