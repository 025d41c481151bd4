"""Servers with one table, that a program writes rows to and a job reads."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.catalog.jdbc.servers import PASSWORD as POSTGRES_PASSWORD
from tests.catalog.jdbc.servers import USER as POSTGRES_USER
from tests.ingest.kafka.broker import broker
from tests.ingest.mysql.server import PASSWORD, PASSWORD_ENV, USER, server
from tests.ingest.postgres.server import PASSWORD_ENV as POSTGRES_ENV
from tests.ingest.postgres.server import Database, running_server

KINDS = ("kafka", "mysql", "postgres")
_READ_ROWS = 2_000
"""More than a server reads for itself."""
_COLUMNS = "id BIGINT PRIMARY KEY, t DOUBLE PRECISION, v VARCHAR(60)"
Rows = list[tuple[int, float, str]]


@dataclass(frozen=True, slots=True)
class Place:
    """A table ``t`` of a server."""

    kind: str
    address: str
    """What `source_at` takes."""
    write: Callable[[Rows], None]
    """Commits rows, and returns when the server has them."""
    is_read: Callable[[], bool] | None = None
    """Says whether somebody reads the rows that were written; None: the server does not tell."""


@contextmanager
def place(kind: str) -> Iterator[Place]:
    """Start a server with an empty table of id, time (epoch seconds) and text."""
    match kind:
        case "kafka":
            yield from _kafka()
        case "mysql":
            yield from _mysql()
        case _:
            yield from _postgres()


def _kafka() -> Iterator[Place]:
    from confluent_kafka import Producer  # noqa: PLC0415 - an extra

    with broker() as made:
        made.create("t", 2)
        options = {"bootstrap.servers": made.address, "linger.ms": 2, "log_level": 0}
        producer = Producer(options)

        def write(rows: Rows) -> None:
            for id, seconds, text in rows:
                after = {"id": id, "t": seconds, "v": text}
                event = {"before": None, "after": after, "op": "c"}
                event["source"] = {"db": "d", "table": "t"}
                producer.produce("t", json.dumps(event).encode(), partition=id % 2)
                producer.poll(0)

        yield Place("kafka", made.address, write)
        producer.flush(30)


def _mysql() -> Iterator[Place]:
    with server() as made:
        made.run("CREATE DATABASE d", f"CREATE TABLE d.t ({_COLUMNS})")
        with made.connect("d", autocommit=False) as connection, connection.cursor() as cursor:

            def write(rows: Rows) -> None:
                cursor.executemany("INSERT INTO t VALUES (%s, %s, %s)", rows)
                connection.commit()

            def is_read() -> bool:
                ((_, count),) = made.rows("SHOW GLOBAL STATUS LIKE 'Rows_sent'")
                return int(count) > _READ_ROWS

            yield Place("mysql", str(made.port), write, is_read)


def _postgres() -> Iterator[Place]:
    with running_server() as made:
        database = Database(made, "postgres")
        database.run(f"CREATE TABLE t ({_COLUMNS})")
        with made.connect() as connection:

            def write(rows: Rows) -> None:
                text = "COPY t FROM STDIN"
                with connection.transaction(), connection.cursor().copy(text) as copy:
                    for row in rows:
                        copy.write_row(row)

            yield Place("postgres", str(made.port), write)


def source_at(kind: str, address: str) -> Any:
    """Make the source of a job, in any process."""
    import paimonlab as pm  # noqa: PLC0415 - after the process has begun to count

    match kind:
        case "kafka":
            types = {"id": "BIGINT", "t": "DOUBLE"}
            return pm.kafka(address).topic("t", format="debezium-json", columns=types)
        case "mysql":
            os.environ[PASSWORD_ENV] = PASSWORD
            made = pm.mysql("127.0.0.1", port=int(address), user=USER, password_env=PASSWORD_ENV)
            return made.tables(r"d\.t")
        case _:
            os.environ[POSTGRES_ENV] = POSTGRES_PASSWORD
            postgres = pm.postgres(
                port=int(address),
                dbname="postgres",
                user=POSTGRES_USER,
                slot="bench",
                password_env=POSTGRES_ENV,
            )
            return postgres.tables(r"public\.t")
