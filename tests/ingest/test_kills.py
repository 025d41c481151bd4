"""Processes that are killed: the tables have each row of the source, and none twice.

``PAIMONLAB_INGEST_KILLS=100`` kills as often; one is part of every run.
"""

from __future__ import annotations

import itertools
import os
import random
import sys
from pathlib import Path
from typing import Any

import pytest

import paimonlab as pm
from paimonlab.ingest import noted_jobs
from tests.ingest.killed_job import TRANSACTIONS, transaction
from tests.ingest.run_and_kill import run_and_kill

KILLS = int(os.environ.get("PAIMONLAB_INGEST_KILLS", "1"))
_AT_ONCE = 4
"""Kills of one job, before it comes to its end."""


@pytest.mark.parametrize("first", range(0, KILLS, _AT_ONCE))
def test_kills_at_random_moments_lose_and_double_nothing(tmp_path: Path, first: int) -> None:
    seed = int(os.environ.get("PAIMONLAB_SEED", "0")) or random.randrange(10**6)
    print(f"PAIMONLAB_SEED={seed}")  # noqa: T201 - shown when it fails
    draw = random.Random(seed)
    keyed, log = _expected()
    kills, before, warehouse = 0, -1, tmp_path / "w"
    most = min(_AT_ONCE, KILLS - first)
    command = [sys.executable, "-m", "tests.ingest.killed_job", str(warehouse), "job"]
    while not run_and_kill(command, draw.uniform(0.0, 1.2) if kills < most else None):
        kills += 1
        epoch = _epoch(warehouse)
        assert epoch >= before, "epochs never go back"
        before = epoch
    catalog = pm.connect(warehouse)
    assert _rows(catalog, "ods.keyed") == keyed
    assert _rows(catalog, "ods.log") == log
    for name in ("ods.keyed", "ods.log"):
        _check_identifiers(catalog.table(name))


@pytest.mark.parametrize("first", range(0, KILLS, _AT_ONCE))
@pytest.mark.parametrize("kind", ["files", "table"])
def test_files_and_tables_are_read_once_by_jobs_that_are_killed(
    tmp_path: Path, seed: int, first: int, kind: str
) -> None:
    """Files are deleted when their rows are committed; rows of the table change."""
    draw = random.Random(seed + first)
    warehouse, folder = tmp_path / "w", tmp_path / "in"
    folder.mkdir()
    catalog = pm.connect(warehouse)
    catalog.create_database("src")
    keyed = catalog.create_table(
        "src.keyed", {"id": "BIGINT", "v": "STRING"}, primary_keys=["id"], options={"bucket": 1}
    )
    numbers = itertools.count()

    def change() -> None:
        for _ in range(4):
            made = [next(numbers) for _ in range(12)]
            new = folder / f".{made[0]}"
            new.write_text("no,what\n" + "".join(f"{number},x\n" for number in made))
            new.rename(folder / f"{made[0]}.csv")
            rows = [
                {"id": number % 40, "v": f"v{number}", "kind": draw.choice(("+I", "+U", "-D"))}
                for number in made
            ]
            keyed.write(rows, row_kinds="kind")

    change()
    command = [sys.executable, "-m", "tests.ingest.killed_job", str(warehouse), kind, str(folder)]
    for _ in range(min(_AT_ONCE, KILLS - first)):
        run_and_kill(command, draw.uniform(0.0, 1.2))
        change()
    assert run_and_kill(command, None)

    if kind == "table":
        assert _rows(catalog, "ods.keyed") == _rows(catalog, "src.keyed")
    else:
        assert _rows(catalog, "ods.log") == [(number, "x") for number in range(next(numbers))]
        assert not [*folder.glob("*.csv")]


def _epoch(warehouse: Path) -> int:
    job = noted_jobs(pm.connect(warehouse))
    return job[0].epoch if job else 0


def _check_identifiers(table: pm.Table) -> None:
    """Identifiers of a user rise; an epoch is one snapshot of rows, and one of its compaction."""
    appended = [
        snapshot.commit_identifier
        for snapshot in table.snapshots.list()
        if snapshot.commit_kind is pm.CommitKind.APPEND
    ]
    assert appended == sorted(set(appended))


def _expected() -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    state: dict[int, tuple[Any, ...]] = {}
    log: list[tuple[Any, ...]] = []
    for number in range(TRANSACTIONS):
        _, logged = transaction(number, state)
        log += [tuple(row.values()) for row in logged.rows.to_pylist()]
    return sorted((*row, None)[:3] for row in state.values()), sorted(log)


def _rows(catalog: pm.Catalog, name: str) -> list[tuple[Any, ...]]:
    found = catalog.table(name).scan().to_arrow().to_pylist()
    return sorted(tuple(row.values()) for row in found)
