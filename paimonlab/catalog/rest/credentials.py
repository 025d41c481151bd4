"""Who a client is: a bearer token, or access keys of DLF that are renewed before they expire.

Source: apache/paimon@1.4.2 ``org.apache.paimon.rest.auth.DLFAuthProviderFactory``,
``DLFLocalFileTokenLoader``, ``DLFECSTokenLoader``, ``DLFToken``.
"""

from __future__ import annotations

import re
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, Protocol
from urllib.parse import urlsplit

import msgspec

from paimonlab.catalog.rest.signing import (
    AccessKey,
    SignedRequest,
    dlf_headers,
    open_api_headers,
)
from paimonlab.clock import now_millis
from paimonlab.errors import AccessDeniedError, UnsupportedError
from paimonlab.secrets import hides_secrets
from paimonlab.spec.decoding import ready

PROVIDERS = ("bear", "dlf")
_LOADERS = ("local_file", "ecs")
_ALGORITHMS = ("default", "openapi")
_METADATA = "http://100.100.100.200/latest/meta-data/Ram/security-credentials/"
_REGION = re.compile(r"(?:pre-)?([a-z]+-[a-z]+(?:-\d+)?)")
_SAFE_MILLIS = 3_600_000
"""Keys that have less time left are renewed."""
_READ_ATTEMPTS = 5


class Credentials(Protocol):
    """Makes the headers that say who asks."""

    def headers(self, request: SignedRequest) -> Mapping[str, str]:
        """Return the headers for one request; they are not to be shown."""
        ...


class KeySource(Protocol):
    """Where access keys come from."""

    def load(self) -> AccessKey:
        """Return keys that hold now.

        Raises
        ------
        AccessDeniedError
            If there are none.
        """
        ...


@dataclass(frozen=True, slots=True)
class Bearer:
    """A token that does not change."""

    token: str = field(repr=False)

    def headers(self, request: SignedRequest) -> Mapping[str, str]:
        """Return the token, whatever is asked."""
        del request
        return {"Authorization": f"Bearer {self.token}"}


class DlfKeys:
    """Signs requests with access keys, which are loaded again before they expire.

    Parameters
    ----------
    source
        Where keys come from.
    region
        Of DLF.
    host
        Of the server, with its port if the address has one.
    algorithm
        ``default``, or ``openapi`` for the public address of DLF.
    now
        The clock.
    """

    def __init__(
        self,
        source: KeySource,
        *,
        region: str,
        host: str,
        algorithm: Literal["default", "openapi"],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._source = source
        self._region = region
        self._host = host
        self._algorithm = algorithm
        self._now = now
        self._key: AccessKey | None = None
        self._turn = threading.Lock()

    def headers(self, request: SignedRequest) -> Mapping[str, str]:
        """Return the signature of a request, and what belongs to it."""
        key, now = self._fresh_key(), self._now()
        if self._algorithm == "openapi":
            nonce = f"{uuid.uuid4()}{now_millis()}"
            return open_api_headers(request, key, self._host, now, nonce)
        return dlf_headers(request, key, self._region, now)

    def _fresh_key(self) -> AccessKey:
        with self._turn:
            key = self._key
            if key is None or self._is_old(key):
                key = self._key = self._source.load()
            return key

    def _is_old(self, key: AccessKey) -> bool:
        left = key.expires_at_millis
        return left is not None and left - self._now().timestamp() * 1000 < _SAFE_MILLIS


@dataclass(frozen=True, slots=True)
class GivenKey:
    """Keys from options, which hold for ever."""

    key: AccessKey

    def load(self) -> AccessKey:
        """Return the keys."""
        return self.key


@dataclass(frozen=True, slots=True)
class KeyFile:
    """Keys in a file that others renew: ``dlf.token-path``."""

    path: str
    sleep: Callable[[float], None] = time.sleep

    def load(self) -> AccessKey:
        """Read the file; others may be writing it, so it is tried some times."""
        for attempt in range(1, _READ_ATTEMPTS + 1):
            try:
                return key_from_json(Path(self.path).read_bytes())
            except (OSError, ValueError) as error:
                if attempt == _READ_ATTEMPTS:
                    what = (
                        error.strerror if isinstance(error, OSError) else "there are no keys in it"
                    )
                    raise AccessDeniedError(self.path, f"dlf.token-path: {what}") from None
            self.sleep(float(attempt))
        raise AssertionError("the last attempt returns or raises")


@dataclass(frozen=True, slots=True)
class MachineRole:
    """Keys that a machine of Alibaba Cloud gets by its role."""

    address: str
    role: str | None
    read: Callable[[str], bytes]
    """Gets what is at an address."""

    def load(self) -> AccessKey:
        """Ask the machine's metadata."""
        try:
            role = self.role or self.read(self.address).decode().strip()
            return key_from_json(self.read(self.address + role))
        except ValueError:
            raise AccessDeniedError(self.address, "it does not tell the keys of a role") from None


@hides_secrets
class _Document(msgspec.Struct, rename="pascal"):
    access_key_id: str
    access_key_secret: str
    security_token: str | None = None
    expiration: str | None = None


def key_from_json(data: bytes) -> AccessKey:
    """Read keys as DLF hands them out.

    Raises
    ------
    ValueError
        If the document does not follow the format; its text is not in the message.
    """
    try:
        document = msgspec.json.decode(data, type=ready(_Document))
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise ValueError("not the keys of DLF") from None
    expires = document.expiration
    millis = None
    if expires is not None:
        moment = datetime.strptime(expires, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
        millis = int(moment.timestamp() * 1000)
    return AccessKey(
        document.access_key_id, document.access_key_secret, document.security_token, millis
    )


def credentials_of(
    options: Mapping[str, str], address: str, read: Callable[[str], bytes]
) -> Credentials:
    """Make the credentials that the options of a catalog describe.

    Parameters
    ----------
    options
        Those of the user alone: what a server configures does not count.
    address
        Of the server.
    read
        Gets what is at an address, for roles of machines.

    Raises
    ------
    UnsupportedError
        If a provider, loader or algorithm is not implemented.
    ValueError
        If an option is missing.
    """
    provider = options.get("token.provider")
    if provider == "bear":
        return Bearer(_needed(options, "token", "token.provider = 'bear'"))
    if provider == "dlf":
        return _dlf_keys(options, address, read)
    if provider is None:
        raise ValueError(
            "the catalog option 'token.provider' is missing: it is bear, with the option 'token', "
            "or dlf"
        )
    raise UnsupportedError(f"token.provider = '{provider}'", "it is bear or dlf")


def _dlf_keys(
    options: Mapping[str, str], address: str, read: Callable[[str], bytes]
) -> Credentials:
    algorithm = options.get("dlf.signing-algorithm") or (
        "openapi" if "dlfnext" in address.lower() else "default"
    )
    if algorithm not in _ALGORITHMS:
        raise UnsupportedError(
            f"dlf.signing-algorithm = '{algorithm}'", f"it is {' or '.join(_ALGORITHMS)}"
        )
    return DlfKeys(
        _source(options, read),
        region=options.get("dlf.region") or _region_in(address),
        host=urlsplit(address).netloc,
        algorithm="openapi" if algorithm == "openapi" else "default",
    )


def _source(options: Mapping[str, str], read: Callable[[str], bytes]) -> KeySource:
    loader = options.get("dlf.token-loader")
    if loader not in (None, *_LOADERS):
        raise UnsupportedError(f"dlf.token-loader = '{loader}'", f"it is {' or '.join(_LOADERS)}")
    if loader == "ecs":
        base = options.get("dlf.token-ecs-metadata-url", _METADATA)
        return MachineRole(base, options.get("dlf.token-ecs-role-name"), read)
    if loader == "local_file":
        return KeyFile(_needed(options, "dlf.token-path", "dlf.token-loader = 'local_file'"))
    if "dlf.token-path" in options:
        return KeyFile(options["dlf.token-path"])
    asks = "token.provider = 'dlf' without dlf.token-path and dlf.token-loader"
    return GivenKey(
        AccessKey(
            _needed(options, "dlf.access-key-id", asks),
            _needed(options, "dlf.access-key-secret", asks),
            options.get("dlf.security-token"),
        )
    )


def _needed(options: Mapping[str, str], key: str, asks: str) -> str:
    value = options.get(key)
    if not value:
        raise ValueError(f"{asks} needs the catalog option {key!r}")
    return value


def _region_in(address: str) -> str:
    found = _REGION.search(address)
    if found is None:
        raise ValueError(
            "the catalog option 'dlf.region' is missing, and the uri does not name a region"
        )
    return found[1]
