"""What `paimonlab.Catalog.serve` gives."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType
from typing import Protocol, Self


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRole:
    """A role of the store, out of whose rights clients get tokens for single tables."""

    arn: str
    """``arn:aws:iam::123456789012:role/lake``."""
    sts_endpoint: str | None = None
    """Address of the STS; None: the store's own, on AWS that of the region."""
    duration: timedelta = timedelta(hours=1)
    """How long a token holds: from 15 minutes to 12 hours."""


class ServedCatalog(Protocol):
    """A catalog that is being served; use it with ``with``, or call `stop`."""

    address: str
    """Where clients find it."""
    warehouse: str
    """What clients call the catalog."""
    token: str | None
    """What clients send; None: all of them sign."""

    @property
    def options(self) -> dict[str, str]:
        """Catalog options of a client: ``pm.connect(server.options)``."""
        ...

    def stop(self) -> None:
        """Answer what is being answered, then end."""
        ...

    def wait(self) -> None:
        """Wait until it is stopped."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
