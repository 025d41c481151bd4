"""The lock of a table that a metastore keeps, as Java Paimon takes it: exclusive, by its name.

A metastore drops locks whose holders were not heard of for ``hive.txn.timeout``, 5 minutes unless
it is set. Asking whether a lock is held is heard as well.

Source: apache/paimon@1.4.2 ``org.apache.paimon.hive.HiveCatalogLock``.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from paimonlab.catalog.hive.client import (
    BrokenConnectionError,
    LockGoneError,
    Metastore,
    Struct,
    current_user,
    protocol,
)
from paimonlab.errors import CatalogLockError, CatalogServerError
from paimonlab.spec.identifier import Identifier

logger = logging.getLogger(__name__)

_FIRST_SLEEP_SECONDS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class LockOptions:
    """How locks are taken."""

    acquire_timeout_millis: int
    """How long they are waited for."""
    check_max_sleep_millis: int
    """The longest pause between two looks."""


@dataclass(frozen=True, slots=True)
class HiveLock:
    """The locks of the tables of one metastore."""

    metastore: Metastore
    options: LockOptions
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)

    @contextlib.contextmanager
    def held(self, identifier: Identifier) -> Iterator[TakenLock]:
        """Take the lock of a table, and give it back at the end.

        Raises
        ------
        CatalogLockError
            If it cannot be taken.
        """
        taken = self._taken(identifier)
        try:
            yield taken
        finally:
            taken.release()

    def _taken(self, identifier: Identifier) -> TakenLock:
        name = identifier.full_name
        start = time.monotonic()
        try:
            answer = self._requested(identifier)
        except CatalogServerError as error:
            raise CatalogLockError.told(
                name,
                f"{error}. Metastores without tables for transactions have no locks: "
                "lock.enabled = false does without",
            ) from error
        taken = TakenLock(self.metastore, name, answer.lockid)
        try:
            self._wait(taken, answer, start)
        except BaseException:
            taken.release()
            raise
        return taken

    def _requested(self, identifier: Identifier) -> Struct:
        new, words = self.metastore.new, protocol()
        component = new(
            "LockComponent",
            type=words.LockType.EXCLUSIVE,
            level=words.LockLevel.TABLE,
            dbname=identifier.database,
            tablename=identifier.table,
        )
        request = new(
            "LockRequest",
            component=[component],
            user=current_user(),
            hostname=socket.gethostname(),
            agentInfo="paimonlab",
        )
        try:
            return self.metastore.once("lock", request)
        except BrokenConnectionError:
            # A request whose answer is lost waits, or holds the lock, until it expires.
            logger.warning("the lock of %s is asked for again: no answer", identifier.full_name)
            return self.metastore.once("lock", request)

    def _wait(self, taken: TakenLock, answer: Struct, start: float) -> None:
        state = protocol().LockState
        pause = _FIRST_SLEEP_SECONDS
        while answer.state == state.WAITING:
            waited = time.monotonic() - start
            timeout = self.options.acquire_timeout_millis / 1000
            if waited >= timeout:
                raise CatalogLockError.told(
                    taken.name,
                    f"not taken within {timeout:g} s: others hold it; lock-acquire-timeout says "
                    "how long it is waited for",
                )
            pause = min(pause * 2, self.options.check_max_sleep_millis / 1000)
            self.sleep(min(pause, timeout - waited))
            try:
                answer = self.metastore.ask(
                    "check_lock", self.metastore.new("CheckLockRequest", lockid=taken.lock_id)
                )
            except CatalogServerError as error:
                raise CatalogLockError.told(taken.name, str(error)) from error
        if answer.state != state.ACQUIRED:
            raise CatalogLockError.told(taken.name, f"the metastore says {answer.state}")


@dataclass(frozen=True, slots=True)
class TakenLock:
    """A lock that was taken."""

    metastore: Metastore
    name: str
    lock_id: int

    def is_held(self) -> bool:
        """Whether it still is; the metastore then keeps it for some time more.

        Raises
        ------
        CatalogLockError
            If the metastore does not say so.
        """
        request = self.metastore.new("HeartbeatRequest", lockid=self.lock_id)
        try:
            self.metastore.ask("heartbeat", request)
        except LockGoneError:
            return False
        except CatalogServerError as error:
            raise CatalogLockError.told(self.name, str(error)) from error
        return True

    def release(self) -> None:
        """Give it back; else it expires."""
        request = self.metastore.new("UnlockRequest", lockid=self.lock_id)
        try:
            self.metastore.ask("unlock", request)
        except LockGoneError:
            logger.warning("the lock of %s expired while it was held", self.name)
        except CatalogServerError as error:
            logger.warning("the lock of %s was not given back, and expires: %s", self.name, error)
