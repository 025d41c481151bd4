"""Tables that are altered at random, with conditions, and are the server's in the end."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import paimonlab as pm
from paimonlab.ingest.job import Job
from paimonlab.ingest.sources.mysql.source import MySql
from tests.ingest.mysql.server import Server
from tests.repetitions import times

_NAMES = ("a", "b", "c", "A", "B")
_PARTS = (
    *("ADD {x} {type}{at}", "ADD COLUMN IF NOT EXISTS {x} {type}{at}"),
    "ADD IF NOT EXISTS ({x} {type}, `{y}` INT)",
    *("DROP {x}", "DROP COLUMN IF EXISTS {x}"),
    *("RENAME COLUMN {x} TO {y}", "RENAME COLUMN IF EXISTS `{x}` TO {y}"),
    *("CHANGE {x} {y} {type}{at}", "CHANGE COLUMN IF EXISTS {x} `{y}` BIGINT"),
    *("MODIFY {x} BIGINT", "MODIFY COLUMN IF EXISTS {x} BIGINT"),
)


def test_tables_that_are_altered_at_random_are_those_of_the_server(  # noqa: C901 - one story
    tmp_path: Path, mysql_server: Server, database: str, shop: MySql, seed: int
) -> None:
    chosen = random.Random(seed)
    names = [f"t{number}" for number in range(times(8))]
    said: dict[str, list[str]] = {name: [] for name in names}
    keys = dict.fromkeys(names, 0)

    def job() -> Job:
        return pm.connect(tmp_path).ingest(
            shop.database(database), into="ods", name="j", evolve="exact", options={"bucket": 1}
        )

    with mysql_server.connect(database) as connection, connection.cursor() as cursor:

        def insert(table: str) -> None:
            keys[table] += 1
            cursor.execute(f"DESCRIBE {table}")
            values = (
                keys[table] if row[0] == "id" else keys[table] * 100 + place
                for place, row in enumerate(cursor.fetchall())
            )
            said[table].append(f"INSERT INTO {table} VALUES ({', '.join(map(str, values))})")
            cursor.execute(said[table][-1])

        def alter(table: str) -> None:
            parts = ", ".join(_parts(chosen, chosen.choice((1, 1, 2, 3))))
            with contextlib.suppress(connection.OperationalError, connection.ProgrammingError):
                cursor.execute(f"ALTER TABLE {table} {parts}")
                said[table].append(parts)

        late = names[-2:]  # no job knows them before they were altered
        for table in names:
            if table not in late:
                cursor.execute(f"CREATE TABLE {table} (id INT PRIMARY KEY, a INT, c INT)")
                insert(table)
        followed = job()
        followed.run()
        for table in late:
            for _ in range(2):
                cursor.execute(
                    f"CREATE TABLE IF NOT EXISTS {table} (id INT PRIMARY KEY, a INT, c INT)"
                )
        for has_rows in (False, True):
            for table in names:
                for _ in range(chosen.randint(1, 7)):
                    (insert if chosen.random() < 0.3 else alter)(table)
                if has_rows:
                    insert(table)
                said[table].append("-- the job runs")
            followed = job()
            followed.run()

        stopped = {table.name: table.stopped for table in followed.status.tables}
        assert None in stopped.values()
        for table in names:
            _check(pm.connect(tmp_path), cursor, table, stopped[f"ods.{table}"], said[table])


def _check(
    catalog: pm.Catalog, cursor: Any, table: str, stopped: str | None, said: list[str]
) -> None:
    if stopped is not None:
        assert "which another column had" in stopped, (stopped, said)
        return
    found = catalog.table(f"ods.{table}").scan().to_arrow().sort_by("id")
    assert found.to_pylist() == _rows(cursor, table), said


def _rows(cursor: Any, table: str) -> list[dict[str, Any]]:
    cursor.execute(f"SELECT * FROM {table} ORDER BY id")
    columns = [column[0] for column in cursor.description]
    return [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]


def _parts(chosen: random.Random, count: int) -> Iterator[str]:
    for _ in range(count):
        yield chosen.choice(_PARTS).format(
            x=chosen.choice(_NAMES),
            y=chosen.choice(_NAMES),
            type=chosen.choice(("INT", "BIGINT")),
            at=chosen.choice(("", "", " FIRST", " AFTER id")),
        )
