"""What `paimonlab.Catalog.serve` gives."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self


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
