"""Tables that are altered, renamed and written to at random are the server's in the end."""

from __future__ import annotations

import random
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import paimonlab as pm
from paimonlab.ingest.job import Job
from tests.ingest.attacked_job import kill_some, postgres_job
from tests.ingest.postgres.server import Database
from tests.repetitions import times

_BEGIN = (
    "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')",
    "CREATE TYPE pair AS (x int, y text)",
    "CREATE DOMAIN small AS numeric(8,2) CHECK (value < 100000)",
    "CREATE TABLE plain (id int PRIMARY KEY, v text, n int)",
    "CREATE TABLE second (id int PRIMARY KEY, v text, n int)",
    "CREATE TABLE big (id int PRIMARY KEY, v text, big text, more text)",
    "ALTER TABLE big ALTER big SET STORAGE EXTERNAL, ALTER more SET STORAGE EXTERNAL",
    (
        "CREATE TABLE typed (id int PRIMARY KEY, m mood, p pair, ps pair[], d small, ms mood[], "
        "b bit(5), vb varbit, g int GENERATED ALWAYS AS (id * 2) STORED, j jsonb)"
    ),
    "CREATE TABLE parts (id int, r int, v text, PRIMARY KEY (id, r)) PARTITION BY RANGE (r)",
    "CREATE TABLE parts_0 PARTITION OF parts FOR VALUES FROM (0) TO (10)",
    "CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (10) TO (20)",
    "CREATE TABLE whole (id int, v text, n int)",
    "ALTER TABLE whole REPLICA IDENTITY FULL",
)
_TABLES = ("plain", "second", "big", "typed", "parts", "whole")
_LONG = "repeat(md5(random()::text), 80)"


class Attack:
    """Draws statements; columns that are added have names of their own."""

    def __init__(self, database: Database, seed: int) -> None:
        self.run = database.run
        self.draw = random.Random(seed)
        self.said: list[str] = []
        self.count = 0
        self.enums = ["sad", "ok", "happy"]

    def tries(self, statement: str) -> bool:
        """Run a statement, which the server may refuse."""
        import psycopg  # noqa: PLC0415 - an extra

        try:
            self.run(statement)
        except psycopg.Error as error:
            self.said.append(f"-- {statement}: {str(error).splitlines()[0]}")
            return False
        self.said.append(statement)
        return True

    def row(self) -> str:
        """Draw a statement that writes."""
        draw, key = self.draw, self.draw.randrange(30)
        self.count += 1
        what = f"'{self.count}'"
        mood = draw.choice([*self.enums, None])
        text = "NULL" if mood is None else f"'{mood}'"
        return draw.choice(
            (
                (
                    f"INSERT INTO plain (id, v, n) VALUES ({key}, {what}, {self.count}) "
                    f"ON CONFLICT (id) DO UPDATE SET v = {what}"
                ),
                (
                    f"INSERT INTO second (id, v) VALUES ({key}, {what}) ON CONFLICT (id) "
                    f"DO UPDATE SET n = {self.count}"
                ),
                f"UPDATE plain SET id = id + 1000 WHERE id = {key}",
                f"DELETE FROM second WHERE id = {key}",
                (
                    f"INSERT INTO big VALUES ({key}, {what}, {_LONG}, {_LONG}) ON CONFLICT (id) "
                    f"DO UPDATE SET v = {what}"
                ),
                f"UPDATE big SET more = {_LONG}, v = {what} WHERE id = {key}",
                f"UPDATE big SET id = id + 1000 WHERE id = {key}",
                (
                    f"INSERT INTO typed (id, m, p, ps, d, ms, b, vb, j) VALUES ({key}, {text}, "
                    f"({key}, 'a\"b,{key}'), ARRAY[({key}, NULL)::pair, NULL], {key}.5, "
                    f"ARRAY[{text}, NULL]::mood[], B'10{key % 2}01', B'{key:b}', "
                    f"'{{\"a\": {key}.50}}') ON CONFLICT (id) DO UPDATE SET m = NULL, p = NULL"
                ),
                f"DELETE FROM typed WHERE id = {key}",
                (
                    f"INSERT INTO parts (id, r, v) VALUES ({key}, {key % 20}, {what}) "
                    f"ON CONFLICT (id, r) DO UPDATE SET v = {what}"
                ),
                f"UPDATE parts SET r = (r + 10) % 20 WHERE id = {key}",
                f"INSERT INTO whole (id, v, n) VALUES ({key}, {what}, {self.count})",
            )
        )

    def transaction(self) -> str:
        """Draw some rows that are written together, some of which are rolled back."""
        parts = [self.row() for _ in range(self.draw.randint(1, 4))]
        if self.draw.random() < 0.2:
            parts.insert(len(parts) // 2, "SAVEPOINT s")
            parts.append("ROLLBACK TO s")
        return f"BEGIN; {'; '.join(parts)}; COMMIT"

    def alter(self) -> Iterator[str]:  # noqa: C901, PLR0912 - one statement each
        """Draw what becomes of tables."""
        draw = self.draw
        self.count += 1
        new = f"c{self.count}"
        table = draw.choice(("plain", "second", "big", "typed", "parts", "whole"))
        kind = draw.choice(
            ("int", "text", "numeric(10,2)", "mood", "pair[]", "timestamptz", "bit(3)")
        )
        match draw.randrange(14):
            case 0 | 1:
                yield f"ALTER TABLE {table} ADD {new} {kind}"
            case 2:
                yield f"ALTER TABLE {table} DROP n"
            case 3:
                yield f"ALTER TABLE {table} RENAME v TO {new}"
                yield f"ALTER TABLE {table} RENAME {new} TO v"
            case 4:
                yield f"ALTER TABLE {draw.choice(('plain', 'second', 'whole'))} ALTER n TYPE bigint"
            case 5:
                yield f"ALTER TYPE mood ADD VALUE 'm{self.count}'"
                self.enums.append(f"m{self.count}")
            case 6:
                yield "ALTER DOMAIN small DROP CONSTRAINT IF EXISTS small_check"
            case 7:
                yield f"ALTER TABLE {draw.choice(('plain', 'whole'))} ADD {new} pair"
            case 8:
                yield f"TRUNCATE {draw.choice(_TABLES)}"
            case 9:
                yield f"ALTER TABLE {table} REPLICA IDENTITY {draw.choice(('FULL', 'DEFAULT'))}"
            case 10:
                yield "ALTER TABLE plain RENAME TO aside"
                if draw.random() < 0.5:
                    yield "INSERT INTO aside (id, v) VALUES (77, 'aside') ON CONFLICT DO NOTHING"
                yield "ALTER TABLE aside RENAME TO plain"
            case 11:
                yield (
                    "BEGIN; ALTER TABLE plain RENAME TO aside; ALTER TABLE second RENAME TO plain; "
                    "ALTER TABLE aside RENAME TO second; COMMIT"
                )
            case 12:
                yield "ALTER TABLE parts DETACH PARTITION parts_1"
                yield "ALTER TABLE parts ATTACH PARTITION parts_1 FOR VALUES FROM (10) TO (20)"
            case _:
                yield f"ALTER TABLE {table} ALTER v TYPE varchar(4000)"


def test_tables_are_those_of_the_server(  # noqa: C901, PLR0912 - one story
    tmp_path: Path, database: Database, seed: int
) -> None:
    attack = Attack(database, seed)
    database.run(*_BEGIN)
    for _ in range(30):
        attack.tries(attack.transaction())

    words = (database.server.port, database.name)

    def job() -> Job:
        return postgres_job(tmp_path, *map(str, words))

    followed = job()
    followed.run()
    for _ in range(times(2)):
        for _ in range(attack.draw.randint(3, 12)):
            if attack.draw.random() < 0.6:
                attack.tries(attack.transaction())
            else:
                for statement in attack.alter():
                    if not attack.tries(statement):
                        break
        attack.said += kill_some(attack.draw, "postgres", tmp_path, *words)
        attack.said.append("-- the job runs")
        followed = job()
        followed.run()
    for table in followed.status.tables:
        name = table.name.partition(".")[2]
        if table.stopped is not None:
            attack.said.append(f"-- {name}: {table.stopped}")
            followed.resnapshot(table.name)
    followed.run()
    catalog = pm.connect(tmp_path)
    wrong = {}
    for table in followed.status.tables:
        name = table.name.partition(".")[2]
        if table.stopped is not None:
            wrong[name] = f"stopped: {table.stopped}"
        else:
            columns, expected = _there(database, name)
            if (found := _here(catalog, name, columns)) != expected:
                wrong[name] = _first(found, expected)
    assert not wrong, "\n".join([f"seed {seed}", *map(str, wrong.items()), *attack.said])


def _first(found: list[Any], expected: list[Any]) -> str:
    lacks = [row for row in expected if row not in found]
    more = [row for row in found if row not in expected]
    return f"lacks {lacks[:3]} ({len(lacks)}), has {more[:3]} ({len(more)})"


def _here(catalog: pm.Catalog, name: str, columns: list[str]) -> list[str]:
    """Return the rows; the log tells of columns that were added or dropped with the next row."""
    rows = catalog.table(f"ods.{name}").scan().to_arrow().to_pylist()
    return sorted(repr([_plain(row.get(column)) for column in columns]) for row in rows)


def _there(database: Database, name: str) -> tuple[list[str], list[str]]:
    columns = [
        (column, kind)
        for column, kind, generated in database.run(
            "SELECT attname, format_type(atttypid, NULL), attgenerated FROM pg_attribute "
            f"WHERE attrelid = '{name}'::regclass AND attnum > 0 AND NOT attisdropped"
        )
        if generated in ("", b"")
    ]
    parts = ", ".join(
        f"{column}::text[]"
        if kind.endswith("[]")
        else column
        if kind in ("integer", "bigint", "numeric", "small", "timestamp with time zone")
        else f"{column}::text"
        for column, kind in columns
    )
    rows = database.run(f"SELECT {parts} FROM {name}")
    return [column for column, _ in columns], sorted(repr([*map(_plain, row)]) for row in rows)


def _plain(value: Any) -> Any:
    return str(value.normalize()) if isinstance(value, Decimal) else value
