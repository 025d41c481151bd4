"""Processes that are killed while documents change: no change is lost, and none comes twice.

``PAIMONLAB_INGEST_KILLS=100`` kills as often; one is part of every run.
"""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

import pytest

import paimonlab as pm
from paimonlab.ingest.job import files_of
from paimonlab.ingest.steering import ask_of
from tests.ingest.mongodb.server import MongoServer
from tests.ingest.mongodb.writing import TABLES, Writer, said_by_server
from tests.ingest.run_and_kill import run_and_kill

KILLS = int(os.environ.get("PAIMONLAB_INGEST_KILLS", "1"))
_AT_ONCE = 5
"""Kills of one job, before it comes to its end."""


@pytest.mark.parametrize("first", range(0, KILLS, _AT_ONCE))
def test_kills_at_random_moments_lose_and_double_nothing(
    tmp_path: Path, mongo: MongoServer, seed: int, first: int
) -> None:
    draw = random.Random(seed + first)
    mongo.batch = 40
    writer = Writer(mongo, draw)
    writer.change(300)
    catalog = pm.connect(tmp_path)
    asked = files_of(catalog, "job").asked
    command = [sys.executable, "-m", "tests.ingest.mongodb.killed_mongodb_job"]
    command += [str(tmp_path), mongo.hosts]
    for kill in range(min(_AT_ONCE, KILLS - first)):
        times = iter(range(25))
        mongo.before = lambda _, times=times: writer.change(next(times, None) is not None)  # type: ignore[misc]
        run_and_kill(command, draw.uniform(0.0, 1.5))
        mongo.before = lambda _: None
        writer.change(60)
        if kill % 2:
            asked.add(ask_of("resnapshot", f"ods.{draw.choice('ab')}"))
    assert run_and_kill(command, None)

    for table in TABLES:
        made = catalog.table(table.replace("shop", "ods"))
        found = made.scan().to_arrow().to_pylist()
        rows = {row["_id"]: {key: v for key, v in row.items() if v is not None} for row in found}
        assert len(rows) == len(found)
        assert rows == said_by_server(mongo, table)
        identifiers = [
            one.commit_identifier
            for one in made.snapshots.list()
            if one.commit_kind is pm.CommitKind.APPEND
        ]
        assert identifiers == sorted(set(identifiers)), "no epoch is committed twice"
