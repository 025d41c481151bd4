"""Tokens for the files of a table: keys of its store that hold for a while, for its folder alone.

Source: apache/paimon@1.4.2 ``org.apache.paimon.rest.responses.GetTableTokenResponse``.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from paimonlab.catalog.catalog import Catalog
from paimonlab.catalog.rest.wire import TokenAnswer
from paimonlab.catalog.rest_server import tables
from paimonlab.catalog.rest_server.exchange import Request
from paimonlab.catalog.served import StoreRole
from paimonlab.clock import now_millis
from paimonlab.errors import StorageError
from paimonlab.storage.schemes import check_has_roles

if TYPE_CHECKING:
    from paimonlab.storage.stores.roles import Role


logger = logging.getLogger(__name__)

_PATIENCE_SECONDS = 20.0
"""How long the STS is waited for, where there is no token: clients wait for the server longer."""
_RENEWAL_SECONDS = 5.0
"""The same where one still holds."""
_PAUSE_MILLIS = 30_000
"""After which it is asked again that gave none."""


@dataclass(slots=True)
class _Kept:
    """The token for one folder and right."""

    turn: threading.Lock = field(default_factory=threading.Lock)
    answer: TokenAnswer | None = field(default=None, repr=False)
    renew_at_millis: int = 0
    failures: int = 0
    """Attempts to get one that failed."""
    failure: StorageError | None = None
    """Of the last attempt."""

    def holding(self) -> TokenAnswer | None:
        """Return the token if it holds now."""
        answer = self.answer
        return None if answer is None or answer.expires_at_millis <= now_millis() else answer


def vendor_of(catalog: Catalog, role: StoreRole) -> TokenVendor:
    """Return what hands out tokens for the tables of a catalog.

    Raises
    ------
    UnsupportedError
        If its store does not speak S3's protocol.
    ValueError
        If something is missing, or is not allowed.
    """
    check_has_roles(catalog.path)
    from paimonlab.storage.stores.roles import role_of  # noqa: PLC0415 - obstore

    return TokenVendor(
        role_of(
            catalog.options,
            arn=role.arn,
            sts_endpoint=role.sts_endpoint,
            duration_seconds=round(role.duration.total_seconds()),
        )
    )


class TokenVendor:
    """Hands out tokens, and keeps each until a quarter of its life is left.

    While the STS gives no new one, or stands still, the kept one is handed out to its end.

    Parameters
    ----------
    role
        Whose rights they have a part of.
    """

    def __init__(self, role: Role) -> None:
        self._role = role
        self._kept: dict[tuple[str, bool], _Kept] = {}
        self._turn = threading.Lock()

    def token(self, catalog: Catalog, request: Request, database: str, name: str) -> TokenAnswer:
        """Return a token for a table, for reading alone if who asks may not write.

        Raises
        ------
        UnsupportedError
            If its files are not in a store of S3's protocol.
        StorageError
            If the STS refuses, or cannot be reached.
        """
        found = tables.found(catalog, request, database, name)
        path, writes = found.path.rstrip("/"), request.may_change(database)
        kept = self._of(path, writes=writes)
        holding = kept.holding()
        if holding is None:
            return self._first(kept, path, writes=writes)
        if now_millis() < kept.renew_at_millis or not kept.turn.acquire(blocking=False):
            return holding  # or others are asking for the next one
        try:
            if now_millis() >= kept.renew_at_millis:
                self._renew(kept, path, _RENEWAL_SECONDS, writes=writes)
        except StorageError as error:
            logger.warning("%s: the token is handed out on: %s", path, error)
            kept.renew_at_millis = now_millis() + _PAUSE_MILLIS
        finally:
            kept.turn.release()
        return kept.holding() or holding

    def _first(self, kept: _Kept, path: str, *, writes: bool) -> TokenAnswer:
        """Get a token where there is none; who waited for an attempt that failed makes no other."""
        failures = kept.failures
        with kept.turn:
            holding = kept.holding()
            if holding is not None:
                return holding
            if kept.failures != failures and kept.failure is not None:
                raise StorageError(None, kept.failure.strerror, kept.failure.filename)
            return self._renew(kept, path, _PATIENCE_SECONDS, writes=writes)

    def _renew(self, kept: _Kept, path: str, seconds: float, *, writes: bool) -> TokenAnswer:
        """Ask for a token; its turn is ours."""
        try:
            answer = kept.answer = self._asked(path, seconds, writes=writes)
        except StorageError as error:
            kept.failures, kept.failure = kept.failures + 1, error
            raise
        left = answer.expires_at_millis - now_millis()
        kept.renew_at_millis, kept.failure = answer.expires_at_millis - left // 4, None
        return answer

    def _of(self, path: str, *, writes: bool) -> _Kept:
        now = now_millis()
        with self._turn:
            for key, kept in [*self._kept.items()]:
                if kept.answer is not None and kept.answer.expires_at_millis <= now:
                    del self._kept[key]
            return self._kept.setdefault((path, writes), _Kept())

    def _asked(self, path: str, seconds: float, *, writes: bool) -> TokenAnswer:
        patience = min(self._role.timeout_seconds, seconds)
        made = replace(self._role, timeout_seconds=patience).assumed(path, writes=writes)
        keys = made.keys
        token = {
            "s3.access-key": keys.access_key,
            "s3.secret-key": keys.secret_key,
            "s3.session-token": str(keys.token),
        }
        return TokenAnswer(token=token, expires_at_millis=made.ends_at_millis)
