"""A database that is asked in SQL, through SQLAlchemy: statements, transactions, what failed.

A statement alone commits at once. Several in `Database.transaction` happen all or not at all,
also if the process is killed.
"""

from __future__ import annotations

import contextlib
import logging
import os
import random
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from paimonlab.catalog.jdbc.addresses import Address
from paimonlab.errors import CatalogDatabaseError, UnsupportedError

logger = logging.getLogger(__name__)

T = TypeVar("T")
Row = tuple[Any, ...]
_DRIVERS = {"sqlite": "sqlite", "mysql": "mysql+pymysql", "postgresql": "postgresql+psycopg"}
_BEGIN = {"sqlite": "BEGIN IMMEDIATE", "mysql": "START TRANSACTION", "postgresql": "BEGIN"}
_DEADLOCKS = {"sqlite": (), "mysql": (1213,), "postgresql": ("40P01", "40001")}
"""What a database says when it gave up one of two transactions that waited for each other."""
_DEADLOCK_ATTEMPTS = 20
_EXTRA_CONNECTIONS = 16


class DuplicateError(CatalogDatabaseError):
    """There is a row with this key."""


class DeadlockError(CatalogDatabaseError):
    """The transaction was given up, since it and another one waited for each other."""


class DoubtfulError(CatalogDatabaseError):
    """The connection broke when a transaction was committed: it is unknown whether it was."""


@dataclass(frozen=True, slots=True)
class Statements:
    """Runs statements on one connection."""

    database: Database
    connection: Any = field(repr=False)
    """SQLAlchemy's."""

    def rows(self, statement: str, **values: object) -> list[Row]:
        """Return the rows of a query; ``:name`` in it is a value."""
        with self.database.named():
            found = self.connection.execute(_text(statement), values)
            return [tuple(row) for row in found]

    def change(self, statement: str, **values: object) -> int:
        """Change rows; return how many.

        Raises
        ------
        DuplicateError
            If there is a row with a key of the new ones.
        """
        with self.database.named():
            return int(self.connection.execute(_text(statement), values).rowcount)

    def insert(self, table: str, rows: Sequence[Mapping[str, object]]) -> None:
        """Insert rows with the same columns, in one statement.

        Raises
        ------
        DuplicateError
            If there is a row with a key of the new ones.
        """
        if not rows:
            return
        columns = list(rows[0])
        places = ", ".join(
            "(" + ", ".join(f":{column}_{number}" for column in columns) + ")"
            for number in range(len(rows))
        )
        values = {
            f"{column}_{number}": row[column] for number, row in enumerate(rows) for column in row
        }
        statement = f"INSERT INTO {table} ({', '.join(columns)}) VALUES {places}"
        self.change(statement, **values)


class Database:
    """One database; connections are made when they are used, in each process its own."""

    def __init__(self, address: Address, *, pool_size: int) -> None:
        self.address = address
        self._pool_size = pool_size
        self._engine: Any = None
        self._process = 0
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<Database {self.address.shown}>"

    def __getstate__(self) -> tuple[Address, int]:
        return self.address, self._pool_size

    def __setstate__(self, state: tuple[Address, int]) -> None:
        self.__init__(state[0], pool_size=state[1])  # type: ignore[misc]

    def rows(self, statement: str, **values: object) -> list[Row]:
        """Return the rows of a query."""
        with self._statements() as statements:
            return statements.rows(statement, **values)

    def change(self, statement: str, **values: object) -> int:
        """Change rows, at once; return how many."""
        with self._statements() as statements:
            return statements.change(statement, **values)

    def has_table(self, name: str) -> bool:
        """Whether there is a table of that name, in the schema that statements mean."""
        with self._statements() as statements, self.named():
            from sqlalchemy import inspect  # noqa: PLC0415 - optional

            return bool(inspect(statements.connection).has_table(name))

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Statements]:
        """Run statements that happen all or not at all; an error undoes them.

        Raises
        ------
        DeadlockError
            If it was given up for another transaction; `retried` does it again.
        DoubtfulError
            If it is unknown whether it was committed.
        """
        with self._statements() as statements:
            connection = statements.connection
            with self.named():
                connection.exec_driver_sql(_BEGIN[self.address.dialect])
            try:
                yield statements
            except BaseException:
                self._roll_back(connection)
                raise
            try:
                with self.named():
                    connection.exec_driver_sql("COMMIT")
            except DeadlockError:
                self._roll_back(connection)
                raise
            except CatalogDatabaseError as error:
                if self._roll_back(connection):
                    raise
                raise DoubtfulError.told(
                    self.address.shown, f"{error.strerror}; it is unknown whether it was committed"
                ) from error

    def retried(self, work: Callable[[], T]) -> T:
        """Run a transaction, again where it was given up for another one."""
        for attempt in range(_DEADLOCK_ATTEMPTS):
            try:
                return work()
            except DeadlockError:
                if attempt == _DEADLOCK_ATTEMPTS - 1:
                    raise
            time.sleep(random.uniform(0, 0.01 * 2 ** min(attempt, 6)))  # noqa: S311
        raise AssertionError("the last attempt returns or raises")

    @contextlib.contextmanager
    def named(self) -> Iterator[None]:
        """Turn errors of the driver into ours."""
        try:
            import sqlalchemy.exc as problems  # noqa: PLC0415 - optional
        except ModuleNotFoundError as error:
            raise self._without(error) from None
        try:
            yield
        except problems.IntegrityError as error:
            raise DuplicateError.told(self.address.shown, str(error.orig)) from None
        except problems.DBAPIError as error:
            problem = str(error.orig).strip()
            if _code(error.orig) in _DEADLOCKS[self.address.dialect]:
                raise DeadlockError.told(self.address.shown, problem) from None
            raise CatalogDatabaseError.told(self.address.shown, problem) from None
        except problems.SQLAlchemyError as error:
            raise CatalogDatabaseError.told(self.address.shown, str(error)) from None

    @contextlib.contextmanager
    def _statements(self) -> Iterator[Statements]:
        with self.named():
            connection = self._connected().connect()
        with connection:
            yield Statements(self, connection)

    def _roll_back(self, connection: Any) -> bool:
        """Undo a transaction; False if the connection is broken."""
        try:
            connection.exec_driver_sql("ROLLBACK")
        except Exception as error:  # noqa: BLE001 - whatever it is, the connection is given up
            logger.debug("%s: a connection is given up: %s", self.address.shown, error)
            connection.invalidate()
            return False
        return True

    def _connected(self) -> Any:
        """Return the engine of this process: connections of a parent process are not ours."""
        with self._lock:
            if self._engine is None or self._process != os.getpid():
                if self._engine is not None:
                    self._engine.dispose(close=False)
                self._engine = self._new_engine()
                self._process = os.getpid()
                weakref.finalize(self, _close, self._engine, self._process)
            return self._engine

    def _without(self, missing: ModuleNotFoundError) -> UnsupportedError:
        what = f"uri = '{self.address.shown}' without {missing.name}"
        return UnsupportedError(what, "pip install 'paimonlab[jdbc]'")

    def _new_engine(self) -> Any:
        try:
            import sqlalchemy  # noqa: PLC0415 - optional

            url = sqlalchemy.URL.create(
                _DRIVERS[self.address.dialect], database=self.address.database
            )
            engine = sqlalchemy.create_engine(
                url,
                connect_args=dict(self.address.arguments),
                isolation_level="AUTOCOMMIT",
                hide_parameters=True,
                poolclass=sqlalchemy.QueuePool,
                pool_size=self._pool_size,
                max_overflow=_EXTRA_CONNECTIONS,
                pool_pre_ping=True,
            )
        except ModuleNotFoundError as error:
            raise self._without(error) from None
        if self.address.dialect == "mysql":
            sqlalchemy.event.listen(engine, "connect", _read_committed)
        return engine


def _close(engine: Any, process: int) -> None:
    """Close connections, unless they are those of the process that this one was forked from."""
    engine.dispose(close=os.getpid() == process)


def _read_committed(connection: Any, _: object) -> None:
    """Let transactions lock rows, not the gaps between them."""
    with connection.cursor() as cursor:
        cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")


def _text(statement: str) -> Any:
    from sqlalchemy import text  # noqa: PLC0415 - optional

    return text(statement)


def _code(error: Any) -> object:
    """Return MySQL's number or PostgreSQL's state of an error."""
    state = getattr(error, "sqlstate", None)
    return state or (error.args[0] if error is not None and error.args else None)
