"""Tables of many types that are altered, renamed and swapped at random are the server's in the end.

What the log made of them is compared with what reading all their rows makes of them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import paimonlab as pm
from paimonlab.ingest.job import Job
from tests.ingest.attacked_job import kill_some, mysql_job
from tests.ingest.mysql.server import PASSWORD, PASSWORD_ENV, Server
from tests.repetitions import times

_BEGIN = (
    "CREATE TABLE plain (id INT PRIMARY KEY, v VARCHAR(40), n INT)",
    "CREATE TABLE second (id INT PRIMARY KEY, v VARCHAR(40), n INT)",
    (
        "CREATE TABLE numbers (id INT UNSIGNED ZEROFILL PRIMARY KEY, a TINYINT UNSIGNED, "
        "b SMALLINT, c MEDIUMINT UNSIGNED ZEROFILL, d DECIMAL(8,2) UNSIGNED, e FLOAT, f BIT(7), "
        "y YEAR)"
    ),
    (
        "CREATE TABLE words (id INT PRIMARY KEY, e ENUM('a','b'), s SET('x','y','z'), j JSON, "
        "t TINYTEXT CHARACTER SET latin1, c CHAR(8), b VARBINARY(9), p POINT)"
    ),
    (
        "CREATE TABLE made (id INT PRIMARY KEY, a INT, v INT AS (a * 2) VIRTUAL, "
        "s INT AS (a + 1) STORED, w VARCHAR(9))"
    ),
    (
        "CREATE TABLE parts (id INT, r INT, v VARCHAR(40), PRIMARY KEY (id, r)) "
        "PARTITION BY RANGE (r) (PARTITION p0 VALUES LESS THAN (10), "
        "PARTITION p1 VALUES LESS THAN (20))"
    ),
    "CREATE TABLE times (id INT PRIMARY KEY, d DATE, t TIME(2), s DATETIME(3), z TIMESTAMP NULL)",
)
_ALTERS = (
    "ALTER TABLE numbers MODIFY a {signed}",
    "ALTER TABLE numbers MODIFY b INT ZEROFILL",
    "ALTER TABLE numbers MODIFY c {signed}",
    "ALTER TABLE numbers MODIFY d DECIMAL(12,4)",
    "ALTER TABLE numbers MODIFY e DOUBLE",
    "ALTER TABLE numbers MODIFY f BIT(8)",
    "ALTER TABLE numbers MODIFY f BIT({bits})",
    "ALTER TABLE numbers MODIFY y INT",
    "ALTER TABLE words MODIFY e ENUM('a','b','{new}')",
    "ALTER TABLE words MODIFY e ENUM('{new}','b','a')",
    "ALTER TABLE words MODIFY s SET('z','x','y','{new}')",
    "ALTER TABLE words MODIFY t TEXT CHARACTER SET utf8mb4",
    "ALTER TABLE words CONVERT TO CHARACTER SET {charset}",
    "ALTER TABLE words MODIFY c VARCHAR({length})",
    "ALTER TABLE words MODIFY b BLOB",
    "ALTER TABLE words MODIFY b VARBINARY(20)",
    "ALTER TABLE words ADD {new} POLYGON",
    "ALTER TABLE words ADD {new} BINARY(3)",
    "ALTER TABLE numbers ADD {new} INT UNSIGNED ZEROFILL",
    "ALTER TABLE made MODIFY s INT",
    "ALTER TABLE made MODIFY v BIGINT AS (a * 2) VIRTUAL",
    "ALTER TABLE made MODIFY a BIGINT",
    "ALTER TABLE parts ADD PARTITION (PARTITION {new} VALUES LESS THAN MAXVALUE)",
    (
        "ALTER TABLE parts REORGANIZE PARTITION p0, p1 INTO (PARTITION p0 VALUES LESS THAN (5), "
        "PARTITION p1 VALUES LESS THAN (20))"
    ),
    "ALTER TABLE parts REMOVE PARTITIONING",
    "ALTER TABLE times MODIFY s DATETIME(6)",
    "ALTER TABLE times MODIFY t TIME(3)",
    "ALTER TABLE times MODIFY z DATETIME",
    "ALTER TABLE {table} ADD {new} {kind} FIRST",
    "ALTER TABLE {table} ADD {new} {kind} NULL",
    "ALTER TABLE {table} ENGINE = InnoDB",
    "OPTIMIZE TABLE {table}",
    "TRUNCATE TABLE {table}",
    "ALTER TABLE plain DROP PRIMARY KEY, ADD PRIMARY KEY (id, v)",
    "ALTER TABLE plain CHANGE n {new} BIGINT",
    "RENAME TABLE plain TO aside, second TO plain, aside TO second",
    "ALTER TABLE second RENAME TO third; ALTER TABLE third RENAME second",
    "CREATE TABLE {new} LIKE words; INSERT INTO {new} SELECT * FROM words",
    "CREATE TABLE {new} (PRIMARY KEY (id)) AS SELECT * FROM numbers",
)
_TABLES = ("plain", "second", "numbers", "words", "made", "parts", "times")


class Attack:
    """Draws statements; columns and tables that are added have names of their own."""

    def __init__(self, cursor: Any, seed: int) -> None:
        self.cursor = cursor
        self.draw = random.Random(seed)
        self.said: list[str] = []
        self.count = 0

    def tries(self, statement: str) -> bool:
        """Run a statement, which the server may refuse."""
        import pymysql  # noqa: PLC0415 - an extra

        try:
            self.cursor.execute(statement)
        except pymysql.MySQLError as error:
            self.said.append(f"-- {statement}: {error.args[-1]}")
            return False
        self.said.append(statement)
        return True

    def row(self) -> str:
        """Draw a statement that writes."""
        draw, key = self.draw, self.draw.randrange(20)
        self.count += 1
        what = f"'{self.count}'"
        return draw.choice(
            (
                f"REPLACE INTO plain (id, v) VALUES ({key}, {what})",
                (
                    f"INSERT INTO second (id, v) VALUES ({key}, {what}) ON DUPLICATE KEY UPDATE "
                    f"v = {what}"
                ),
                f"UPDATE plain SET id = id + 1000 WHERE id = {key}",
                f"DELETE FROM second WHERE id = {key}",
                (
                    f"REPLACE INTO numbers (id, a, b, c, d, e, f, y) VALUES ({key}, {key * 12}, "
                    f"{key}, {key * 9}, {key}.25, {key}.1, b'1{key % 2}01', {2000 + key})"
                ),
                f"DELETE FROM numbers WHERE id = {key}",
                (
                    f"REPLACE INTO words (id, e, s, j, t, c, b, p) VALUES ({key}, "
                    f"{draw.choice(('1', '2', 'NULL'))}, {key % 8}, '{{\"k\": [{key}, 1.50]}}', "
                    f"'é{key}', 'c{key}  ', X'0{key % 8}00', POINT({key}, 1))"
                ),
                f"UPDATE words SET j = JSON_SET(j, '$.n', {key}), c = 'x' WHERE id = {key}",
                f"REPLACE INTO made (id, a, w) VALUES ({key}, {key}, {what})",
                f"UPDATE made SET a = a + 1 WHERE id = {key}",
                f"REPLACE INTO parts (id, r, v) VALUES ({key}, {key % 20}, {what})",
                f"UPDATE parts SET r = (r + 10) % 20 WHERE id = {key}",
                (
                    f"REPLACE INTO times VALUES ({key}, '2024-02-{key % 28 + 1:02}', "
                    f"'11:{key:02}:01.5', '2024-01-01 00:00:{key:02}.123', '2024-01-01 00:00:07')"
                ),
            )
        )

    def alter(self) -> Iterator[str]:
        """Draw what becomes of tables."""
        draw = self.draw
        self.count += 1
        yield from (
            draw.choice(_ALTERS)
            .format(
                new=f"c{self.count}",
                table=draw.choice(_TABLES),
                kind=draw.choice(
                    ("INT", "VARCHAR(9)", "DECIMAL(5,1)", "BIT(3)", "JSON", "SET('q','r')", "TIME")
                ),
                signed=draw.choice(("INT", "INT UNSIGNED", "BIGINT UNSIGNED", "BIGINT")),
                bits=draw.randint(7, 17),
                charset=draw.choice(("utf8mb4", "utf16", "latin1")),
                length=draw.randint(8, 30),
            )
            .split("; ")
        )


def test_tables_are_those_of_the_server(  # noqa: C901 - one story
    tmp_path: Path, mysql_server: Server, database: str, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setenv(PASSWORD_ENV, PASSWORD)
    catalog = pm.connect(tmp_path)

    def job(name: str) -> Job:
        return mysql_job(tmp_path, str(mysql_server.port), database, name)

    with mysql_server.connect(database) as connection, connection.cursor() as cursor:
        attack = Attack(cursor, seed)
        for statement in _BEGIN:
            cursor.execute(statement)
        for _ in range(40):
            attack.tries(attack.row())
        followed = job("ods")
        followed.run()
        for _ in range(times(2)):
            for _ in range(attack.draw.randint(4, 14)):
                if attack.draw.random() < 0.6:
                    attack.tries(attack.row())
                else:
                    for statement in attack.alter():
                        attack.tries(statement)
            words = (mysql_server.port, database, "ods")
            attack.said += kill_some(attack.draw, "mysql", tmp_path, *words)
            attack.said.append("-- the job runs")
            followed = job("ods")
            followed.run()
    for table in followed.status.tables:
        if table.stopped is not None:
            attack.said.append(f"-- {table.name}: {table.stopped}")
            followed.resnapshot(table.name)
    followed.run()
    fresh = job("fresh")
    fresh.run()
    wrong = {}
    for table in fresh.status.tables:
        name = table.name.partition(".")[2]
        columns = catalog.table(f"fresh.{name}").schema.field_names
        expected = _rows(catalog, f"fresh.{name}", columns)
        if not catalog.has_table(f"ods.{name}"):
            wrong[name] = "is missing"
        elif (found := _rows(catalog, f"ods.{name}", columns)) != expected:
            wrong[name] = _first(found, expected)
    stopped = {one.name: one.stopped for one in followed.status.tables if one.stopped is not None}
    assert not wrong, "\n".join(
        [f"seed {seed}", *map(str, wrong.items()), *map(str, stopped.items()), *attack.said]
    )


def _first(found: list[str], expected: list[str]) -> str:
    lacks = [row for row in expected if row not in found]
    more = [row for row in found if row not in expected]
    return f"lacks {lacks[:2]} ({len(lacks)}), has {more[:2]} ({len(more)})"


def _rows(catalog: pm.Catalog, name: str, columns: Sequence[str]) -> list[str]:
    """Return the rows; a table that was read anew has what its source dropped as nulls."""
    rows = catalog.table(name).scan().to_arrow().to_pylist()
    return sorted(
        repr({column: _plain(row.get(column)) for column in sorted(columns)}) for row in rows
    )


def _plain(value: Any) -> Any:
    """Values are compared, not how many digits their type has, nor the order of sets."""
    if isinstance(value, list):
        return sorted(value)
    if isinstance(value, Decimal | int | float) and not isinstance(value, bool):
        return str(Decimal(str(value)).normalize())
    return value
