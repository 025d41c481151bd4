"""Processes that are killed while the server is written to: no row is lost, and none comes twice.

``PAIMONLAB_INGEST_KILLS=100`` kills as often; one is part of every run.
"""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path
from typing import Any

import pytest

import paimonlab as pm
from paimonlab.ingest.job import files_of
from paimonlab.ingest.steering import ask_of
from tests.catalog.jdbc.servers import USER
from tests.ingest.postgres.server import Database
from tests.ingest.postgres.writing import TABLES, Writer, create, said_by_server
from tests.ingest.run_and_kill import run_and_kill

KILLS = int(os.environ.get("PAIMONLAB_INGEST_KILLS", "1"))
_AT_ONCE = 5
"""Kills of one job, before it comes to its end."""


@pytest.mark.parametrize("first", range(0, KILLS, _AT_ONCE))
def test_kills_at_random_moments_lose_and_double_nothing(
    tmp_path: Path, database: Database, first: int
) -> None:
    seed = int(os.environ.get("PAIMONLAB_SEED", "0")) or random.randrange(10**6)
    print(f"PAIMONLAB_SEED={seed}")  # noqa: T201 - shown when it fails
    draw = random.Random(seed)
    create(database)
    database.run(
        "INSERT INTO log (what) SELECT 'old' FROM generate_series(1, 20000)",
        "INSERT INTO keyed SELECT id, 0, 'old', 'x' FROM generate_series(1000, 9999) AS t(id)",
    )
    database.source()  # names the password
    writer = Writer(database, seed)
    writer.start()
    asked = files_of(pm.connect(tmp_path), "job").asked
    command = _command(tmp_path, database)
    for kill in range(min(_AT_ONCE, KILLS - first)):
        run_and_kill(command, draw.uniform(0.0, 2.0))
        if kill % 2 == 0:
            asked.add(ask_of("resnapshot", draw.choice(TABLES)))
    writer.end()
    run_and_kill(command, None)

    catalog = pm.connect(tmp_path)
    for table in TABLES:
        assert _rows(catalog.table(f"ods.{table}")) == said_by_server(database, table)


def _command(warehouse: Path, database: Database) -> list[str]:
    module = "tests.ingest.postgres.killed_postgres_job"
    address = [str(database.server.port), database.name, USER]
    return [sys.executable, "-m", module, str(warehouse), *address]


def _rows(table: pm.Table) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in table.scan().to_arrow().to_pylist())
