"""Lost connections to servers: how long another one is waited for."""

from __future__ import annotations

import logging
import time

from paimonlab.errors import SourceError
from paimonlab.ingest.changes import Waits

logger = logging.getLogger(__name__)

WAIT_SECONDS = 0.5
"""Before it is tried again."""
_PATIENCE_SECONDS = 60.0
"""Without a server, before it is an error: it may start again meanwhile."""


class TornError(SourceError):
    """A connection was lost after rows without a boundary, which cannot be read on.

    A job drops them and reads on from the last boundary.
    """


class Patience:
    """How long a server has been gone."""

    def __init__(self, source: str) -> None:
        """Begin.

        Parameters
        ----------
        source
            Its name, for errors.
        """
        self._source = source
        self._since: float | None = None

    def waits(self, error: Exception, *, has_heard: bool) -> Waits:
        """Say what is waited for.

        Parameters
        ----------
        error
            By which the connection was lost, or could not be made.
        has_heard
            Whether the server said something since the connection was lost the time before.

        Raises
        ------
        SourceError
            If it is waited for too long.
        """
        now = time.monotonic()
        if self._since is None or has_heard:
            self._since = now
        if now - self._since > _PATIENCE_SECONDS:
            raise SourceError(self._source, f"the server is gone: {error}") from error
        logger.warning("%s: connecting again: %s", self._source, error)
        return Waits(what=f"the server to come back: {error}", is_lost=True)
