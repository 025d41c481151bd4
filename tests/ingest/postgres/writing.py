"""Random transactions on tables with and without a key; the server is its own model."""

from __future__ import annotations

import random
import threading
from typing import Any

from tests.ingest.postgres.server import Database

TABLES = ("keyed", "log")
KEYS = 60


def create(database: Database) -> None:
    """Make the tables: ``keyed`` has values out of line, ``log`` has no key."""
    database.run(
        "CREATE TABLE keyed (id int PRIMARY KEY, n int, v text, big text)",
        "ALTER TABLE keyed ALTER big SET STORAGE EXTERNAL",
        "CREATE TABLE log (no serial, what text)",
        "ALTER TABLE log REPLICA IDENTITY FULL",
    )


def transaction(connection: Any, draw: random.Random, number: int) -> None:
    """Do something to both tables; some transactions and some of their parts are rolled back."""
    big = "repeat(md5(random()::text), 100)"
    with connection.transaction(force_rollback=draw.random() < 0.1):
        for step in range(draw.randrange(1, 8)):
            key, what = draw.randrange(KEYS), f"{number}.{step}"
            match draw.randrange(7):
                case 0:
                    text = f"DELETE FROM keyed WHERE id = {key}"
                case 1:
                    text = (
                        f"UPDATE keyed SET id = {KEYS + key} WHERE id = {key} "
                        f"AND NOT EXISTS (SELECT FROM keyed WHERE id = {KEYS + key})"
                    )
                case 2 | 3:
                    text = f"UPDATE keyed SET n = {number}, v = '{what}' WHERE id = {key}"
                case _:
                    text = (
                        f"INSERT INTO keyed VALUES ({key}, {number}, '{what}', {big}) "
                        f"ON CONFLICT (id) DO UPDATE SET v = '{what}'"
                    )
            with connection.transaction(force_rollback=draw.random() < 0.1):
                connection.execute(text)
                connection.execute(f"INSERT INTO log (what) VALUES ('{what}')")


class Writer(threading.Thread):
    """Writes until it is told to end."""

    def __init__(self, database: Database, seed: int) -> None:
        super().__init__(daemon=True)
        self._database = database
        self._draw = random.Random(seed)
        self._end = threading.Event()
        self.count = 0
        self.problem: BaseException | None = None

    def run(self) -> None:
        try:
            with self._database.server.connect(self._database.name) as connection:
                while not self._end.is_set():
                    transaction(connection, self._draw, self.count)
                    self.count += 1
                    self._end.wait(0.002)
        except BaseException as error:  # noqa: BLE001 - `end` raises it
            self.problem = error

    def end(self) -> None:
        self._end.set()
        self.join(30)
        assert not self.is_alive()
        if self.problem is not None:
            raise self.problem


def said_by_server(database: Database, table: str) -> list[tuple[Any, ...]]:
    """Return the rows of a table, sorted."""
    return sorted(database.run(f"SELECT * FROM {table}"))
