"""All that compactions ever reported adds up to the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import paimonlab

PRODUCERS: dict[str, dict[str, str]] = {
    "lookup": {"changelog-producer": "lookup"},
    "lookup, vectors": {"changelog-producer": "lookup", "deletion-vectors.enabled": "true"},
    "full-compaction": {"changelog-producer": "full-compaction"},
}
ENGINES: dict[str, dict[str, str]] = {
    "deduplicate": {},
    "deduplicate, sequence field": {"sequence.field": "g"},
    "partial-update": {
        "merge-engine": "partial-update",
        "partial-update.remove-record-on-delete": "true",
    },
    "sequence groups": {
        "merge-engine": "partial-update",
        "fields.g.sequence-group": "v",
        "fields.v.aggregate-function": "sum",
    },
    "aggregation": {
        "merge-engine": "aggregation",
        "fields.v.aggregate-function": "sum",
        "fields.g.aggregate-function": "last_value",
    },
    "first-row": {"merge-engine": "first-row", "ignore-delete": "true"},
}
ALLOWED = [
    (producer, engine)
    for producer in PRODUCERS
    for engine in ENGINES
    if engine != "first-row" or producer == "lookup"
]
TURNS = 12


@pytest.mark.parametrize(("producer", "engine"), ALLOWED)
def test_the_changelog_adds_up_to_the_table(
    producer: str, engine: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    options = {
        "bucket": "2",
        "write-only": "true",
        "num-sorted-run.compaction-trigger": "3",
        "target-file-size": "4 kb",
    }
    table = catalog.create_table(
        "db.t",
        {"k": "INT NOT NULL", "g": "INT", "v": "INT"},
        primary_keys=["k"],
        options=options | PRODUCERS[producer] | ENGINES[engine],
    )
    state: dict[int, dict[str, Any]] = {}
    seen = 0
    retracts = engine != "partial-update"

    for turn in range(TURNS):
        table.write(random_rows(rng, turn, retracts=retracts), row_kinds="kind")
        table.compact(full=producer == "full-compaction" or turn % 5 == 4)

        assert table.snapshot is not None
        latest = table.snapshot.id
        add_up(state, table.changes(seen, latest, mode="changelog").to_arrow().to_pylist())
        seen = latest
        rows = {row["k"]: row for row in table.scan().to_arrow().to_pylist()}
        assert state == rows, turn


def random_rows(rng: np.random.Generator, turn: int, *, retracts: bool) -> pa.Table:
    """Return many rows of most keys first, then few of some keys."""
    count = 400 if turn == 0 else int(rng.integers(1, 60))
    low = int(rng.integers(0, 300))
    chances = [0.6, 0.2, 0.05 if retracts else 0, 0.15 if retracts else 0.2]
    return pa.table(
        {
            "k": pa.array(rng.integers(low, low + 200, count), pa.int32()),
            "g": pa.array(rng.integers(0, 9, count), pa.int32()),
            "v": pa.array([None if n == 0 else n for n in rng.integers(0, 9, count)], pa.int32()),
            "kind": rng.choice(["+I", "+U", "-U", "-D"], count, p=chances).tolist(),
        }
    )


def add_up(state: dict[int, dict[str, Any]], changes: list[dict[str, Any]]) -> None:
    """Apply changes; each must fit what is known of its key."""
    for change in changes:
        kind, row = change["rowkind"], {name: change[name] for name in ("k", "g", "v")}
        if kind in ("-U", "-D"):
            assert state.pop(row["k"]) == row, change
        else:
            assert row["k"] not in state, change
            state[row["k"]] = row
