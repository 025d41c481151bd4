"""Errors about the server of a catalog."""

from __future__ import annotations

import errno

from paimonlab.errors.base import PaimonError
from paimonlab.errors.damage import StorageError
from paimonlab.secrets import without_secrets


class CatalogServerError(StorageError):
    """The server of a catalog failed, cannot be reached, or answers what nobody understands.

    What was asked for may have happened nevertheless: look before you ask again.
    """

    @classmethod
    def told(cls, address: str, request: str, problem: str) -> CatalogServerError:
        """Name the server, the request and what is wrong; secrets in the texts are hidden."""
        told = without_secrets(f"{request}: {problem}")
        return cls(errno.EIO, told, without_secrets(address))

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}"


class AccessDeniedError(PaimonError):
    """The server of a catalog does not know these credentials, or does not let them do that."""

    def __init__(self, address: str, problem: str) -> None:
        self.address = without_secrets(address)
        self.problem = without_secrets(problem)
        super().__init__(self.address, self.problem)

    def __str__(self) -> str:
        return f"{self.address}: {self.problem}"
