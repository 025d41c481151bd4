"""What Paimon's own action makes of a table of PostgreSQL is what ours makes of it.

It takes a JVM with Flink, so it is part of ``make interop`` alone. What is otherwise on purpose
(docs/ingest-postgres.md) is in no column here, or listed by column with what both have.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paimonlab as pm
from tests.catalog.jdbc.servers import PASSWORD, USER
from tests.ingest.java.action import running
from tests.ingest.java.comparing import differences, have_row, rows_of, wait
from tests.ingest.postgres.server import PASSWORD_ENV, Database
from tests.ingest.run_and_kill import run_and_kill
from tests.interop.java_build import JavaMissingError, JavaTools

pytestmark = [
    pytest.mark.interop,
    pytest.mark.skipif(
        os.environ.get("PAIMONLAB_INTEROP") != "require", reason="part of make interop"
    ),
]
LAST = 999_999
KILLS = int(os.environ.get("PAIMONLAB_INGEST_KILLS", "3"))
"""Attempts to kill ours while it copies, and while it follows."""
TYPES: dict[str, tuple[str, ...]] = {
    "BOOL": ("false", "true", "NULL"),
    "SMALLINT": ("-32768", "32767", "NULL"),
    "INT": ("-2147483648", "2147483647", "NULL"),
    "BIGINT": ("-9223372036854775808", "9223372036854775807", "NULL"),
    "REAL": ("-1.5", "3.25", "NULL"),
    "FLOAT8": ("-1e300", "1e-300", "NULL"),
    "NUMERIC(10,3)": ("-1234567.891", "0.001", "NULL"),
    "NUMERIC(38,0)": ("99999999999999999999999999999999999999", "-1", "NULL"),
    "DATE": ("'0001-01-01'", "'9999-12-31'", "NULL"),
    "TIMESTAMP": ("'1970-01-01 00:00:00.000001'", "'2024-02-29 23:59:59.999999'", "NULL"),
    "TIME": ("'00:00:00'", "'23:59:59'", "NULL"),
    "CHAR(5)": ("'a    '", "'añb'", "NULL"),
    "VARCHAR(20)": ("'😀 x'", "' blank '", "NULL"),
    "TEXT": ("repeat('t', 70000)", "''", "NULL"),
    "JSON": ("'{}'", "'[1,{\"a\":null}]'", "NULL"),
    "TEXT[]": ("'{a,\"b c\"}'", "'{}'", "NULL"),
}
DIFFERENT: dict[str, Any] = {
    "typed c10": ("TIME(6)", "TIME(3)"),
    "typed c11": ("STRING", "CHAR(5)"),
    "typed c12": ("STRING", "VARCHAR(20)"),
}
"""What differs on purpose, by table, row and column: theirs, ours; see docs/ingest-postgres.md."""


@pytest.fixture(scope="module")
def tools() -> JavaTools:
    try:
        return JavaTools.find()
    except JavaMissingError as missing:
        pytest.fail(f"live tests are required: {missing}", pytrace=False)


def _typed(database: Database, first: int) -> None:
    for number in range(3):
        values = ", ".join(values[number] for values in TYPES.values())
        database.run(f"INSERT INTO typed VALUES ({first + number}, {values})")


def _churn(database: Database, rng: np.random.Generator, count: int) -> None:
    """Change rows of the table, each in a transaction of its own."""
    database.run(
        *(
            f"DELETE FROM typed WHERE id = {key}"
            if rng.random() < 0.3
            else f"INSERT INTO typed (id, c1) VALUES ({key}, {number}) "
            f"ON CONFLICT (id) DO UPDATE SET c1 = {number}"
            for number, key in enumerate(rng.integers(1000, 1040, count).tolist())
        )
    )


def _arguments(warehouse: Path, database: Database, slot: str) -> Iterator[tuple[str, str]]:
    yield "warehouse", str(warehouse)
    yield "database", "ods"
    yield "table", "typed"
    yield "primary_keys", "id"
    for setting in (
        "hostname=127.0.0.1",
        f"port={database.server.port}",
        f"username={USER}",
        f"database-name={database.name}",
        "schema-name=public",
        "table-name=typed",
        f"slot.name={slot}",
        "decoding.plugin.name=pgoutput",
    ):
        yield "postgres_conf", setting
    yield "table_conf", "bucket=1"


def test_an_action_and_ours_make_the_same_table(
    tmp_path: Path,
    database: Database,
    tools: JavaTools,
    monkeypatch: pytest.MonkeyPatch,
    rng: np.random.Generator,
) -> None:
    """Ours is killed while it reads; its table is still that of an action that was not."""
    columns = ", ".join(f"c{place} {kind}" for place, kind in enumerate(TYPES))
    database.run(
        f"CREATE TABLE typed (id INT PRIMARY KEY, {columns})",
        "ALTER TABLE typed REPLICA IDENTITY FULL",
    )
    _typed(database, 0)
    monkeypatch.setenv(PASSWORD_ENV, PASSWORD)
    theirs, ours, log = tmp_path / "theirs", tmp_path / "ours", tmp_path / "log"
    told: dict[str, list[str]] = {"until": ["caught-up"]}
    for name, value in _arguments(ours, database, "ours"):
        told.setdefault(name, []).append(value)
    told["postgres_conf"].append(f"password_env={PASSWORD_ENV}")
    command = [sys.executable, "-m", "tests.ingest.java.killed_action_job"]
    command += ["postgres_sync_table", json.dumps(told)]
    kills = sum(not run_and_kill(command, float(rng.uniform(0, 0.5))) for _ in range(KILLS))
    assert run_and_kill(command, None)
    words = [
        text
        for name, value in _arguments(theirs, database, "theirs")
        for text in (f"--{name}", value)
    ]
    with running(
        tools, log, "postgres_sync_table", *words, "--postgres_conf", f"password={PASSWORD}"
    ) as process:
        wait(lambda: have_row(theirs, ["typed"], 2), process, log)
        for _ in range(KILLS):
            _churn(database, rng, 300)
            kills += not run_and_kill(command, float(rng.uniform(0, 0.5)))
        assert kills
        _typed(database, 100)
        database.run(
            "DELETE FROM typed WHERE id = 1",
            "UPDATE typed SET id = 7 WHERE id = 0",
            "ALTER TABLE typed ADD more TEXT",
            "INSERT INTO typed (id, c1, more) VALUES (200, 1, 'new')",
            "ALTER TABLE typed ALTER c1 TYPE INT",
            "INSERT INTO typed (id, c1, more) VALUES (201, 70000, 'wide')",
            "ALTER TABLE typed DROP more",
            "INSERT INTO typed (id, c1) VALUES (202, 2)",
            "ALTER TABLE typed ADD other BIGINT",
            f"INSERT INTO typed (id, other) VALUES ({LAST}, 9)",
        )
        assert run_and_kill(command, None)
        wait(lambda: have_row(theirs, ["typed"], LAST), process, log)
    assert differences(theirs, ours, ["typed"]) == DIFFERENT
    with database.server.connect(database.name) as connection:
        wanted = connection.execute("SELECT id, c1, other FROM typed ORDER BY id").fetchall()
    found = rows_of(pm.connect(ours).table("ods.typed"))
    assert [(row["id"], row["c1"], row["other"]) for row in found] == wanted
