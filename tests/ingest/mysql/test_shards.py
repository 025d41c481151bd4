"""Shards of one table: rows that go from one to another, columns that one has before another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import paimonlab as pm
from paimonlab.ingest.sources.mysql.source import MySql
from tests.ingest import altered_shards
from tests.ingest.altered_tables import Mode
from tests.ingest.mysql.server import Server
from tests.ingest.mysql.writer import rows_of

TABLES = ("t1", "t22", "another")
"""The last two have other columns, and no name in common with the first but for their job."""


def test_rows_go_from_shard_to_shard(
    tmp_path: Path, mysql_server: Server, database: str, shop: MySql, rng: np.random.Generator
) -> None:
    mysql_server.run(
        "CREATE TABLE t1 (id INT PRIMARY KEY, v VARCHAR(20))",
        "CREATE TABLE t22 (id INT PRIMARY KEY, v VARCHAR(20), n INT)",
        "CREATE TABLE another (n INT, id INT PRIMARY KEY, v VARCHAR(20))",
        "INSERT INTO t1 VALUES (0, 'begin')",
        "INSERT INTO t22 VALUES (1, 'begin', 1)",
        "INSERT INTO another VALUES (2, 2, 'begin')",
        database=database,
    )
    catalog = pm.connect(tmp_path)
    job = catalog.ingest(
        shop.tables(rf"{database}\.({'|'.join(TABLES)})"),
        into="ods",
        name="j",
        table_names="whole",
        metadata=["table_name"],
        options={"bucket": 1},
    )
    job.run(until="caught-up")
    model = {key: (TABLES[key], "begin") for key in range(3)}
    statements = []
    for number, key in enumerate(rng.integers(8, size=150).tolist()):
        old = model.pop(key, None)
        if old is not None:
            statements.append(f"DELETE FROM {old[0]} WHERE id = {key}")
        if old is None or rng.random() < 0.8:
            new = TABLES[int(rng.integers(3))]
            statements.append(f"INSERT INTO {new} (id, v) VALUES ({key}, 'v{number}')")
            model[key] = new, f"v{number}"
        if number == 75:
            statements.append("ALTER TABLE t22 ADD late INT")
    mysql_server.run(*statements, database=database)
    job.run(until="caught-up")
    found = catalog.table("ods.whole").scan().to_arrow().to_pylist()
    assert {row["id"]: (row["table_name"], row["v"]) for row in found} == model
    assert len(found) == len(model)


@pytest.mark.parametrize("mode", altered_shards.MODES)
def test_a_shard_is_altered_before_the_other(
    tmp_path: Path, mysql_server: Server, database: str, shop: MySql, mode: Mode
) -> None:
    mysql_server.run(*altered_shards.TABLES, database=database)
    catalog = pm.connect(tmp_path)
    job = catalog.ingest(
        shop.database(database),
        into=mode,
        name=mode,
        table_names="whole",
        evolve=mode,
        interval=0.05,
        options={"bucket": 1},
    )
    altered_shards.check(
        job,
        catalog,
        lambda statement: mysql_server.run(statement, database=database),
        lambda table: rows_of(mysql_server, database, table),
    )
