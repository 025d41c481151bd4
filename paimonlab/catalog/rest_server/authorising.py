"""Who may ask, and for what: bearer tokens, signatures of DLF, rights by database."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatchcase

from paimonlab.catalog.rest.signing import AccessKey, SignedRequest, dlf_authorization
from paimonlab.catalog.rest_server.exchange import Request
from paimonlab.secrets import hides_secrets

_SKEW_SECONDS = 15 * 60
"""How far the clock of a client may be off."""
_CREDENTIAL = re.compile(
    r"DLF4-HMAC-SHA256 Credential=(?P<id>[^/,]+)/(?P<date>\d{8})/(?P<region>[^/,]+)/.*"
)


@hides_secrets
@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """Somebody who may ask."""

    name: str
    """For the log."""
    token: str | None = field(default=None, repr=False)
    """What they send; None: they sign."""
    key: AccessKey | None = None
    """What they sign with; None: they send a token."""
    reads: Sequence[str] = ("*",)
    """Databases that they may read, as patterns: ``sales_*``."""
    writes: Sequence[str] = ("*",)
    """Databases that they may also change."""

    def may(self, databases: Sequence[str], *, changes: bool) -> bool:
        """Whether they may ask about databases; () stands for none, or for a list of all."""
        patterns = self.writes if changes else (*self.reads, *self.writes)
        if not databases:
            return not changes or "*" in self.writes
        return all(any(fnmatchcase(one, pattern) for pattern in patterns) for one in databases)

    @property
    def sees_all(self) -> bool:
        """Whether lists need not be cut."""
        return "*" in (*self.reads, *self.writes)


class Doorkeeper:
    """Finds out who asks.

    Parameters
    ----------
    users
        All who may, at least one.
    now
        The clock.
    """

    def __init__(
        self, users: Sequence[User], *, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._users = tuple(users)
        self._now = now

    def user_of(self, request: Request) -> User | None:
        """Return who asks; None if it is nobody who may."""
        told = request.headers.get("authorization", "")
        if told.startswith("DLF4-HMAC-SHA256 "):
            return self._signer(request, told)
        scheme, _, token = told.partition(" ")
        found = None
        for user in self._users:  # all of them: the time must not tell how far it got
            if user.token is not None and hmac.compare_digest(user.token.encode(), token.encode()):
                found = user
        return found if scheme.lower() == "bearer" else None

    def _signer(self, request: Request, told: str) -> User | None:
        credential = _CREDENTIAL.fullmatch(told)
        user = None if credential is None else self._user_with(credential["id"])
        if credential is None or user is None or user.key is None:
            return None
        if not self._is_of_now(request) or not _has_its_body(request):
            return None
        signed = SignedRequest(request.method, request.path, request.query, request.body)
        try:
            wanted = dlf_authorization(signed, request.headers, user.key, credential["region"])
        except KeyError:
            return None
        return user if hmac.compare_digest(wanted.encode(), told.encode()) else None

    def _user_with(self, key_id: str) -> User | None:
        return next(
            (user for user in self._users if user.key is not None and user.key.id == key_id), None
        )

    def _is_of_now(self, request: Request) -> bool:
        text = request.headers.get("x-dlf-date", "")
        try:
            moment = datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        except ValueError:
            return False
        return abs((self._now() - moment).total_seconds()) <= _SKEW_SECONDS


def _has_its_body(request: Request) -> bool:
    """Whether the body is the one that was signed: its hash is among the signed headers."""
    if not request.body:
        return True
    md5 = hashlib.md5(request.body, usedforsecurity=False).digest()
    return request.headers.get("content-md5", "") == base64.b64encode(md5).decode()


def users_from(document: Mapping[str, object]) -> list[User]:
    """Read users from a table of TOML: a name, then ``token`` or ``access-key-id`` and others.

    Raises
    ------
    TypeError, ValueError
        If an entry does not say who somebody is, or says something unknown.
    """
    return [_user_from(name, entry) for name, entry in document.items()]


def _user_from(name: str, entry: object) -> User:
    if not isinstance(entry, Mapping):
        raise TypeError(f"the user {name} must be a table: [{name}]")
    if unknown := set(entry) - {"token", "access-key-id", "access-key-secret", "read", "write"}:
        raise ValueError(f"the user {name}: {', '.join(sorted(unknown))} is unknown")
    token, key_id = entry.get("token"), entry.get("access-key-id")
    secret = entry.get("access-key-secret")
    key = None
    if isinstance(key_id, str) and isinstance(secret, str) and key_id and secret:
        key = AccessKey(key_id, secret)
    if not (isinstance(token, str) and token) and key is None:
        raise ValueError(
            f"the user {name} has neither a token nor access-key-id and access-key-secret"
        )
    return User(
        name=name,
        token=token if isinstance(token, str) else None,
        key=key,
        reads=_patterns(name, entry.get("read", [])),
        writes=_patterns(name, entry.get("write", [])),
    )


def _patterns(name: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError(f"the user {name}: read and write are lists of names of databases")
    return tuple(value)
