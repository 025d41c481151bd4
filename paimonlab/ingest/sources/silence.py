"""What a server is waited for that says nothing, until it is known that it never will.

A server that is stopped, and one that a network does not reach any more, look like one that has
nothing to say. So after some seconds another connection asks what the first one does. While that is
answered the waiting goes on and says why; when nothing is answered for a minute it is an error.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from paimonlab.errors import SourceError
from paimonlab.ingest.changes import Waits

_AFTER_SECONDS = 5.0
"""Of silence, before it is asked why."""
_LOOK_SECONDS = 5.0
_LISTENED_SECONDS = 2.0
"""Who does not listen for longer did something else meanwhile, such as a commit."""
_PATIENCE_SECONDS = 60.0
"""Without an answer of any kind, before it is an error."""


class Silence:
    """How long a connection has been silent, and what is known of the reason."""

    def __init__(
        self, source: str, look: Callable[[], str | None], *, after_seconds: float = 0.0
    ) -> None:
        """Begin to listen.

        Parameters
        ----------
        source
            Its name, for errors.
        look
            Asks the server, by another connection, what the silent one does; runs in a thread.
            None: it works, or there is nothing to say. Raises `SourceError` if the server does not
            answer, `ConnectionEndedError` if it does not know the connection any more.
        after_seconds
            Of silence that is usual.
        """
        self._source = source
        self._look = look
        self._after = after_seconds
        self._heard = self._answered = self._listened = time.monotonic()
        self._looked = 0.0
        self._thread: threading.Thread | None = None
        self._why: str | None = None
        self._problem: str | None = None
        self._ended: ConnectionEndedError | None = None

    def heard(self) -> None:
        """Note that something came."""
        self._heard = self._answered = self._listened = time.monotonic()
        self._why = self._problem = None

    def waits(self, what: str) -> Waits | None:
        """Say what is waited for; None: the silence is a short one.

        Parameters
        ----------
        what
            The reader waits for, in words: "rows of public.t".

        Raises
        ------
        SourceError
            If the server does not answer anything any more.
        """
        now = time.monotonic()
        if (deaf := now - self._listened) > _LISTENED_SECONDS:
            self._heard += deaf
            self._answered += deaf
        self._listened = now
        silent = now - self._heard
        if silent < _AFTER_SECONDS + self._after:
            return None
        if self._ended is not None:
            raise self._ended
        if self._thread is None and now - self._looked >= _LOOK_SECONDS:
            self._looked = now
            self._thread = threading.Thread(
                target=self._ask, name=f"asking why {self._source} is silent", daemon=True
            )
            self._thread.start()
        if now - self._answered >= _PATIENCE_SECONDS:
            more = "" if self._problem is None else f" ({self._problem})"
            raise SourceError(
                self._source,
                f"{what}: nothing came for {silent:.0f} s, and the server does not answer on "
                f"another connection either{more}. What was not committed is read again by the "
                "next run",
            )
        why = self._problem or self._why
        return Waits(what=f"{what}, for {silent:.0f} s" + (f": {why}" if why else ""))

    def _ask(self) -> None:
        try:
            self._why = self._look()
            self._answered, self._problem = time.monotonic(), None
        except ConnectionEndedError as error:
            self._ended = error
        except SourceError as error:
            self._problem = str(error)
        finally:
            self._thread = None


class ConnectionEndedError(SourceError):
    """The server does not know the connection any more that is read."""
