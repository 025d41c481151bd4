"""The lock of a table that is a row of `paimon_distributed_locks`, as Java Paimon takes it.

Who can insert the row has the lock; who deletes it gives it back. A row that is older than it says
itself is deleted by whoever wants the lock. A row has no owner: that it is still ours is seen by
the time at which the database says that it was inserted.

The row is inserted in a transaction, and the time read in the same: a connection that breaks
meanwhile leaves no row, and where it breaks at the end the time tells whose row there is.

Source: apache/paimon@1.4.2 and @5dacde5 ``JdbcCatalogLock``, ``AbstractDistributedLockDialect``
and the dialects; the waits are those of ``JdbcCatalogLock.lock``.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from paimonlab.catalog.jdbc.database import Database, DeadlockError, DoubtfulError, DuplicateError
from paimonlab.catalog.jdbc.rows import create_if_missing
from paimonlab.errors import CatalogDatabaseError, CatalogLockError
from paimonlab.spec.identifier import Identifier

logger = logging.getLogger(__name__)

LOCKS = "paimon_distributed_locks"
_FIRST_SLEEP_SECONDS = 0.1
_CREATE = (
    "CREATE TABLE paimon_distributed_locks(lock_id VARCHAR({length}) NOT NULL, "
    "acquired_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL, "
    "expire_time_seconds BIGINT DEFAULT 0 NOT NULL, PRIMARY KEY (lock_id))"
)
_AGE = {
    "sqlite": "strftime('%s', 'now') - strftime('%s', acquired_at)",
    "mysql": "TIMESTAMPDIFF(SECOND, acquired_at, NOW())",
    "postgresql": "EXTRACT(EPOCH FROM AGE(NOW(), acquired_at))",
}
"""How old a row is, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockOptions:
    """How locks are taken."""

    acquire_timeout_millis: int
    """How long they are waited for, and after how long they expire."""
    check_max_sleep_millis: int
    """The longest pause between two attempts."""
    key_max_length: int


@dataclass(frozen=True, slots=True)
class JdbcLock:
    """The locks of the tables of one catalog."""

    database: Database
    catalog_key: str
    options: LockOptions
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)

    def create_table(self) -> None:
        """Create the table of the locks, unless there is one."""
        create_if_missing(self.database, LOCKS, _CREATE.format(length=self.options.key_max_length))

    def key(self, identifier: Identifier) -> str:
        """Return what the lock of a table is called.

        Raises
        ------
        CatalogLockError
            If it is longer than the table of the locks lets it be.
        """
        key = f"{self.catalog_key}.{identifier.full_name}"
        longest = self.options.key_max_length
        if len(key) > longest:
            raise CatalogLockError.told(
                key,
                f"the key has {len(key)} characters, more than lock-key-max-length = {longest}; "
                "give the table a shorter name",
            )
        return key

    @contextlib.contextmanager
    def held(self, identifier: Identifier) -> Iterator[TakenLock]:
        """Take the lock of a table, and give it back at the end.

        Raises
        ------
        CatalogLockError
            If it cannot be taken.
        """
        taken = self._taken(self.key(identifier))
        try:
            yield taken
        finally:
            taken.release()

    def _taken(self, key: str) -> TakenLock:
        timeout = self.options.acquire_timeout_millis / 1000
        longest = self.options.check_max_sleep_millis / 1000
        pause, start = _FIRST_SLEEP_SECONDS, time.monotonic()
        problem = "others hold it"
        while True:
            try:
                acquired_at = self._try(key)
            except CatalogDatabaseError as error:
                problem, acquired_at = str(error), None
            if acquired_at is not None:
                return TakenLock(self.database, key, acquired_at)
            waited = time.monotonic() - start
            if waited > timeout:
                raise CatalogLockError.told(
                    key,
                    f"not taken within {timeout:g} s: {problem}; lock-acquire-timeout says how "
                    "long it is waited for",
                )
            self.sleep(min(pause, longest))
            pause *= 2

    def _try(self, key: str) -> object | None:
        """Take a lock; return the time at which it was taken, None if others hold it."""
        acquired_at: object = None
        try:
            with self.database.transaction() as statements:
                statements.change(
                    f"DELETE FROM paimon_distributed_locks WHERE {self._age()} > "
                    "expire_time_seconds AND lock_id = :key",
                    key=key,
                )
                statements.change(
                    "INSERT INTO paimon_distributed_locks (lock_id, expire_time_seconds) "
                    "VALUES (:key, :seconds)",
                    key=key,
                    seconds=self.options.acquire_timeout_millis // 1000,
                )
                ((acquired_at,),) = statements.rows(_TIME, key=key)
        except (DuplicateError, DeadlockError):
            return None
        except DoubtfulError:
            if acquired_at is not None and self.database.rows(_TIME, key=key) == [(acquired_at,)]:
                return acquired_at
            raise
        return acquired_at

    def _age(self) -> str:
        return _AGE[self.database.address.dialect]


_TIME = "SELECT acquired_at FROM paimon_distributed_locks WHERE lock_id = :key"


@dataclass(frozen=True, slots=True)
class TakenLock:
    """A lock that was taken."""

    database: Database
    key: str
    acquired_at: object
    """As the database says it."""

    def is_held(self) -> bool:
        """Whether it still is.

        Raises
        ------
        CatalogLockError
            If the database does not say so.
        """
        try:
            return self.database.rows(_TIME, key=self.key) == [(self.acquired_at,)]
        except CatalogDatabaseError as error:
            raise CatalogLockError.told(self.key, str(error)) from error

    def release(self) -> None:
        """Give it back, unless others have it by now; else it expires."""
        try:
            count = self.database.change(
                "DELETE FROM paimon_distributed_locks WHERE lock_id = :key AND "
                "acquired_at = :acquired_at",
                key=self.key,
                acquired_at=self.acquired_at,
            )
        except CatalogDatabaseError as error:
            logger.warning("the lock %s was not given back, and expires: %s", self.key, error)
            return
        if not count:
            logger.warning("the lock %s expired while it was held; others may have it", self.key)
