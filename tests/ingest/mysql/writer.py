"""Sessions that change rows at random, for sources that are read meanwhile."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.ingest.mysql.server import Server

TABLES = ("one", "two", "pair", "log")


def create(server: Server, database: str) -> None:
    """Create tables: two with a number as their key, one with a key of two columns, one without."""
    server.run(
        "CREATE TABLE one (id INT PRIMARY KEY, v VARCHAR(20), n BIGINT UNSIGNED, b BOOL)",
        "CREATE TABLE two (id BIGINT PRIMARY KEY AUTO_INCREMENT, v TEXT)",
        "CREATE TABLE pair (a VARCHAR(9), b INT, v DECIMAL(9,2), PRIMARY KEY (a, b))",
        "CREATE TABLE log (no BIGINT, what VARCHAR(9))",
        database=database,
    )


class Writer:
    """One session, and how many rows of the log it wrote."""

    def __init__(self, server: Server, database: str, rng: np.random.Generator) -> None:
        self._server = server
        self._database = database
        self._rng = rng
        self._connection = server.connect(database, autocommit=False)
        self._no = 0

    def close(self) -> None:
        """End the session."""
        self._connection.close()

    def transactions(self, count: int) -> None:
        """Make some transactions; one in six is rolled back, in whole or to a savepoint."""
        for _ in range(count):
            with self._connection.cursor() as cursor:
                for _ in range(int(self._rng.integers(1, 12))):
                    cursor.execute(self._statement())
                draw = self._rng.random()
                if draw < 0.08:
                    cursor.execute("SAVEPOINT here")
                    cursor.execute(self._statement())
                    cursor.execute("ROLLBACK TO here")
                if draw > 0.92:
                    self._connection.rollback()
                else:
                    self._connection.commit()

    def _statement(self) -> str:  # noqa: PLR0911 - one return a case
        rng = self._rng
        key, number = int(rng.integers(400)), int(rng.integers(2**31))
        match int(rng.integers(9)):
            case 0 | 1:
                return (
                    f"REPLACE INTO one VALUES ({key}, 'v{number}', {number} + 18446744071562067968,"
                    f" {number % 2})"
                )
            case 2:
                return f"UPDATE one SET v = 'ü{number}' WHERE id BETWEEN {key} AND {key + 5}"
            case 3:
                return f"UPDATE IGNORE one SET id = {int(rng.integers(400))} WHERE id = {key}"
            case 4:
                return f"DELETE FROM one WHERE id = {key}"
            case 5:
                return (
                    f"INSERT INTO two (v) VALUES ('{number}'), (NULL), ('{'y' * (number % 300)}')"
                )
            case 6:
                return f"DELETE FROM two WHERE id % 37 = {number % 37}"
            case 7:
                return (
                    f"REPLACE INTO pair VALUES ('K{key % 20}', {key % 7}, {number % 10**6} / 100)"
                )
            case _:
                self._no += 1
                return f"INSERT INTO log VALUES ({self._no}, 'w{number % 100}')"


@contextlib.contextmanager
def writing(
    server: Server, database: str, rng: np.random.Generator, transactions: int
) -> Iterator[None]:
    """Write in a thread meanwhile, and wait for its end."""
    writer = Writer(server, database, rng)
    thread = threading.Thread(target=writer.transactions, args=(transactions,))
    thread.start()
    try:
        yield
    finally:
        thread.join()
        writer.close()


def rows_of(server: Server, database: str, table: str) -> list[tuple[Any, ...]]:
    """Return the rows of a table as the server says them, sorted."""
    return sorted(server.rows(f"SELECT * FROM {table}", database), key=repr)
