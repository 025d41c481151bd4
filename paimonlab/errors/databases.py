"""Errors about the database that a catalog is kept in."""

from __future__ import annotations

import errno

from paimonlab.errors.damage import StorageError
from paimonlab.secrets import without_secrets


class CatalogDatabaseError(StorageError):
    """The database of a catalog failed, cannot be reached, or refuses what it was asked.

    ``filename`` says where it is. What was asked for did not happen, unless the message says that
    this is unknown.
    """

    @classmethod
    def told(cls, address: str, problem: str) -> CatalogDatabaseError:
        """Name the database and what is wrong; secrets in the texts are hidden."""
        return cls(errno.EIO, without_secrets(problem), without_secrets(address))

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}"


class CatalogLockError(StorageError):
    """The lock of a table could not be taken, so nothing was done; ``filename`` is its key."""

    @classmethod
    def told(cls, key: str, problem: str) -> CatalogLockError:
        """Name the lock and what is wrong."""
        return cls(errno.EAGAIN, without_secrets(problem), key)

    @property
    def is_refusal(self) -> bool:
        """True: without the lock nothing is published."""
        return True

    def __str__(self) -> str:
        return f"the lock {self.filename}: {self.strerror}"
