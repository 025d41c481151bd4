"""What Paimon's own action makes of a database is what ours makes of it, with the same arguments.

Its parsers of Kafka's messages are asked as well. It takes a JVM with Flink, so it is part of
``make interop`` alone. What is otherwise on purpose is listed here by column, with what both have.
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

from paimonlab.ingest.type_words import OF_ACTIONS
from tests.ingest.formats.java_samples import samples
from tests.ingest.java.action import running
from tests.ingest.java.comparing import differences, have_row, wait
from tests.ingest.java.messages import said_by_java
from tests.ingest.mysql.server import PASSWORD, PASSWORD_ENV, USER, Server
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
TABLES = ("typed", "moving", "shard")
TYPES: dict[str, tuple[str, ...]] = {
    "TINYINT": ("-128", "127", "NULL"),
    "TINYINT UNSIGNED": ("0", "255", "NULL"),
    "BOOL": ("0", "1", "NULL"),
    "SMALLINT UNSIGNED": ("0", "65535", "NULL"),
    "MEDIUMINT": ("-8388608", "8388607", "NULL"),
    "INT UNSIGNED": ("0", "4294967295", "NULL"),
    "BIGINT": ("-9223372036854775808", "9223372036854775807", "NULL"),
    "BIGINT UNSIGNED": ("0", "18446744073709551615", "NULL"),
    "FLOAT": ("-1.5", "3.25", "NULL"),
    "DOUBLE": ("-1e300", "1e-300", "NULL"),
    "DECIMAL(10,3)": ("-1234567.891", "0.001", "NULL"),
    "DECIMAL(38,0)": ("99999999999999999999999999999999999999", "-1", "NULL"),
    "DATE": ("'1000-01-01'", "'9999-12-31'", "NULL"),
    "TIME": ("'00:00:00'", "'23:59:59'", "NULL"),
    "DATETIME": ("'1970-01-01 00:00:00'", "'2038-01-19 03:14:07'", "NULL"),
    "DATETIME(6)": ("'1970-01-01 00:00:00.000001'", "'2024-02-29 23:59:59.999999'", "NULL"),
    "TIMESTAMP(3) NULL": ("'1971-01-01 00:00:00.001'", "'2037-12-31 23:59:59.999'", "NULL"),
    "YEAR": ("1901", "2155", "NULL"),
    "CHAR(5)": ("''", "'añb'", "NULL"),
    "VARCHAR(20)": ("'😀 x'", "' blank '", "NULL"),
    "TEXT": ("'text'", "''", "NULL"),
    "ENUM('a','b')": ("'a'", "'b'", "NULL"),
    "SET('x','y','z')": ("'x,z'", "''", "NULL"),
    "BIT(1)": ("b'0'", "b'1'", "NULL"),
    "VARBINARY(9)": ("'abc'", "''", "NULL"),
    "BLOB": ("'blob'", "''", "NULL"),
}
DIFFERENT: dict[str, Any] = {"typed c13": ("TIME(0)", "TIME(3)")}
"""What differs on purpose, by table, row and column: theirs, ours; see docs/ingest-mysql.md."""


@pytest.fixture(scope="module")
def tools() -> JavaTools:
    try:
        return JavaTools.find()
    except JavaMissingError as missing:
        pytest.fail(f"live tests are required: {missing}", pytrace=False)


def _create(server: Server, one: str, two: str) -> None:
    columns = ", ".join(f"c{place} {kind}" for place, kind in enumerate(TYPES))
    server.run(
        f"CREATE TABLE typed (id INT PRIMARY KEY, {columns})",
        "CREATE TABLE moving (id INT PRIMARY KEY, v VARCHAR(10), n INT, gone INT)",
        "CREATE TABLE shard (id INT PRIMARY KEY, v VARCHAR(10))",
        "INSERT INTO moving VALUES (1, 'a', 1, 1), (2, 'b', 2, 2), (3, 'c', 3, 3)",
        "INSERT INTO shard VALUES (1, 'one'), (2, 'one')",
        database=one,
    )
    _typed(server, one, 0)
    server.run(
        "CREATE TABLE shard (id INT PRIMARY KEY, v VARCHAR(30), more INT)",
        "INSERT INTO shard VALUES (11, 'two and more letters', 5), (12, NULL, NULL)",
        database=two,
    )


def _typed(server: Server, database: str, first: int) -> None:
    for number in range(3):
        values = ", ".join(values[number] for values in TYPES.values())
        server.run(f"INSERT INTO typed VALUES ({first + number}, {values})", database=database)


def _change(server: Server, one: str, two: str) -> None:
    """Change rows and columns, as they are followed in the log."""
    _typed(server, one, 100)
    server.run(
        "DELETE FROM typed WHERE id = 1",
        "UPDATE typed SET id = 7 WHERE id = 0",
        "UPDATE moving SET v = 'z' WHERE id = 1",
        "UPDATE moving SET id = 22 WHERE id = 2",
        "DELETE FROM moving WHERE id = 3",
        "ALTER TABLE moving ADD m VARCHAR(9)",
        "INSERT INTO moving VALUES (4, 'd', 4, 4, 'new')",
        "ALTER TABLE moving MODIFY v VARCHAR(40)",
        "INSERT INTO moving VALUES (5, 'more than ten letters', 5, 5, NULL)",
        "ALTER TABLE moving MODIFY n BIGINT",
        "INSERT INTO moving VALUES (6, 'f', 5000000000, 6, NULL)",
        "ALTER TABLE moving DROP gone",
        "INSERT INTO moving VALUES (8, 'g', 8, 'x')",
        "ALTER TABLE moving ADD gone INT",
        "INSERT INTO moving VALUES (9, 'h', 9, 'y', 99)",
        "ALTER TABLE moving CHANGE m named VARCHAR(9)",
        "ALTER TABLE moving ADD p DECIMAL(8,2), ADD q DOUBLE",
        "INSERT INTO moving VALUES (10, 'i', 10, 'renamed', 1, 123456.78, 1.5)",
        "ALTER TABLE moving MODIFY p DECIMAL(12,2)",
        "INSERT INTO moving VALUES (11, 'j', 11, NULL, NULL, 1234567890.12, NULL)",
        database=one,
    )
    server.run(
        "UPDATE shard SET v = 'changed' WHERE id = 11",
        "ALTER TABLE shard ADD late INT",
        "INSERT INTO shard VALUES (13, 'l', 1, 2)",
        database=two,
    )
    server.run(
        "INSERT INTO shard VALUES (3, 'narrow')",
        f"INSERT INTO typed (id) VALUES ({LAST})",
        f"INSERT INTO moving (id) VALUES ({LAST})",
        f"INSERT INTO shard (id) VALUES ({LAST})",
        database=one,
    )


def _churn(server: Server, database: str, rng: np.random.Generator, count: int) -> None:
    """Change rows of a table, each in a transaction of its own."""
    statements = [
        f"DELETE FROM shard WHERE id = {key}"
        if rng.random() < 0.3
        else f"INSERT INTO shard (id, v) VALUES ({key}, 'v{number}') "
        "ON DUPLICATE KEY UPDATE v = VALUES(v)"
        for number, key in enumerate(rng.integers(1000, 1040, count).tolist())
    ]
    server.run(*statements, database=database)


def _arguments(warehouse: Path, server: Server, one: str, two: str) -> Iterator[tuple[str, str]]:
    yield "warehouse", str(warehouse)
    yield "database", "ods"
    yield "mode", "combined"
    for setting in (
        "hostname=127.0.0.1",
        f"port={server.port}",
        f"username={USER}",
        f"database-name={one}|{two}",
        "server-time-zone=UTC",
    ):
        yield "mysql_conf", setting
    yield "table_conf", "bucket=1"


def test_an_action_and_ours_make_the_same_tables(
    tmp_path: Path,
    mysql_server: Server,
    tools: JavaTools,
    monkeypatch: pytest.MonkeyPatch,
    rng: np.random.Generator,
) -> None:
    """Ours is killed while it reads; its tables are still those of an action that was not."""
    one, two = "judged1", "judged2"
    mysql_server.run(f"CREATE DATABASE {one}", f"CREATE DATABASE {two}")
    _create(mysql_server, one, two)
    monkeypatch.setenv(PASSWORD_ENV, PASSWORD)
    theirs, ours, log = tmp_path / "theirs", tmp_path / "ours", tmp_path / "log"
    told: dict[str, list[str]] = {}
    for name, value in _arguments(ours, mysql_server, one, two):
        told.setdefault(name, []).append(value)
    told["mysql_conf"].append(f"password_env={PASSWORD_ENV}")
    arguments = json.dumps(told | {"until": ["caught-up"]})
    command = [sys.executable, "-m", "tests.ingest.java.killed_action_job"]
    command += ["mysql_sync_database", arguments]
    kills = sum(not run_and_kill(command, float(rng.uniform(0, 0.5))) for _ in range(KILLS))
    assert run_and_kill(command, None)
    words = [
        text
        for name, value in _arguments(theirs, mysql_server, one, two)
        for text in (f"--{name}", value)
    ]
    with running(
        tools, log, "mysql_sync_database", *words, "--mysql_conf", f"password={PASSWORD}"
    ) as process:
        wait(lambda: have_row(theirs, ["moving"], 3), process, log)
        for _ in range(KILLS):
            _churn(mysql_server, one, rng, 400)
            kills += not run_and_kill(command, float(rng.uniform(0, 0.5)))
        assert kills
        _change(mysql_server, one, two)
        assert run_and_kill(command, None)
        wait(lambda: have_row(theirs, TABLES, LAST), process, log)
    assert differences(theirs, ours, TABLES) == DIFFERENT


@pytest.mark.parametrize(
    "words",
    [
        "to-string,to-nullable",
        ",".join(word for word in OF_ACTIONS if word != "to-string"),
    ],
    ids=["to-string", "others"],
)
def test_an_action_and_ours_map_types_the_same_way(
    tmp_path: Path,
    mysql_server: Server,
    tools: JavaTools,
    monkeypatch: pytest.MonkeyPatch,
    words: str,
) -> None:
    one = f"mapped{len(words)}"
    mysql_server.run(f"CREATE DATABASE {one}")
    types = TYPES | {
        "BIGINT UNSIGNED": ("0", "9223372036854775807", "NULL"),
        "LONGTEXT": ("'l'", "''", "NULL"),
        "VARBINARY(9)": ("'abc'", "'d'", "NULL"),
    }
    columns = ", ".join(f"c{place} {kind}" for place, kind in enumerate(types))
    needed = "n INT NOT NULL, d DECIMAL(8,2) NOT NULL, s VARCHAR(9) NOT NULL"
    mysql_server.run(f"CREATE TABLE typed (id INT PRIMARY KEY, {columns}, {needed})", database=one)

    def write(first: int) -> None:
        for number in range(3):
            values = ", ".join(values[number] for values in types.values())
            mysql_server.run(
                f"INSERT INTO typed VALUES ({first + number}, {values}, 7, 1.25, 'x')",
                database=one,
            )

    write(0)
    monkeypatch.setenv(PASSWORD_ENV, PASSWORD)
    theirs, ours, log = tmp_path / "theirs", tmp_path / "ours", tmp_path / "log"
    mapping = ("type_mapping", words)
    told: dict[str, list[str]] = {}
    for name, value in (*_arguments(ours, mysql_server, one, one), mapping):
        told.setdefault(name, []).append(value)
    told["mysql_conf"].append(f"password_env={PASSWORD_ENV}")
    command = [sys.executable, "-m", "tests.ingest.java.killed_action_job"]
    command += ["mysql_sync_database", json.dumps(told | {"until": ["caught-up"]})]
    assert run_and_kill(command, None)
    given = [
        text
        for name, value in (*_arguments(theirs, mysql_server, one, one), mapping)
        for text in (f"--{name}", value)
    ]
    with running(
        tools, log, "mysql_sync_database", *given, "--mysql_conf", f"password={PASSWORD}"
    ) as process:
        wait(lambda: have_row(theirs, ["typed"], 2), process, log)
        write(100)
        mysql_server.run(
            "ALTER TABLE typed ADD more INT NOT NULL",
            "INSERT INTO typed (id, n, d, s, more) VALUES (200, 1, 2.25, 'y', 3)",
            "ALTER TABLE typed MODIFY d DECIMAL(12,2) NOT NULL",
            "INSERT INTO typed (id, n, d, s, more) VALUES (201, 1, 123456.25, 'y', 3)",
            "ALTER TABLE typed MODIFY n VARCHAR(20) NOT NULL",
            f"INSERT INTO typed (id, n, d, s, more) VALUES ({LAST}, 'text', 3.25, 'z', 3)",
            database=one,
        )
        assert run_and_kill(command, None)
        wait(lambda: have_row(theirs, ["typed"], LAST), process, log)
    doubles = {
        f"typed {key} c9": pair
        for key, pair in zip(
            ("0", "1", "100", "101"),
            2 * (("-1E+300", "-1.0E300"), ("1E-300", "1.0E-300")),
            strict=True,
        )
    }
    assert differences(theirs, ours, ["typed"]) == (
        doubles if words.startswith("to-string") else DIFFERENT
    )


def test_parsers_of_messages_say_what_other_tests_expect(tools: JavaTools) -> None:
    found = samples()
    assert said_by_java(tools, found) == [one.java for one in found]
