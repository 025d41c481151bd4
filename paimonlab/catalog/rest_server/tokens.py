"""Tokens for the files of a table: keys of its store that hold for a while, for its folder alone.

Source: apache/paimon@1.4.2 ``org.apache.paimon.rest.responses.GetTableTokenResponse``.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paimonlab.catalog.catalog import Catalog
from paimonlab.catalog.rest.wire import TokenAnswer
from paimonlab.catalog.rest_server import tables
from paimonlab.catalog.rest_server.exchange import Request
from paimonlab.catalog.served import StoreRole
from paimonlab.clock import now_millis
from paimonlab.storage.schemes import check_has_roles

if TYPE_CHECKING:
    from paimonlab.storage.stores.roles import Role


@dataclass(slots=True)
class _Kept:
    """The token for one folder and right."""

    turn: threading.Lock = field(default_factory=threading.Lock)
    answer: TokenAnswer | None = field(default=None, repr=False)
    renew_at_millis: int = 0


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
        with kept.turn:
            if kept.answer is None or now_millis() >= kept.renew_at_millis:
                kept.answer = self._asked(path, writes=writes)
                left = kept.answer.expires_at_millis - now_millis()
                kept.renew_at_millis = kept.answer.expires_at_millis - left // 4
            return kept.answer

    def _of(self, path: str, *, writes: bool) -> _Kept:
        now = now_millis()
        with self._turn:
            for key, kept in [*self._kept.items()]:
                if kept.answer is not None and kept.answer.expires_at_millis <= now:
                    del self._kept[key]
            return self._kept.setdefault((path, writes), _Kept())

    def _asked(self, path: str, *, writes: bool) -> TokenAnswer:
        made = self._role.assumed(path, writes=writes)
        keys = made.keys
        token = {
            "s3.access-key": keys.access_key,
            "s3.secret-key": keys.secret_key,
            "s3.session-token": str(keys.token),
        }
        return TokenAnswer(token=token, expires_at_millis=made.ends_at_millis)
