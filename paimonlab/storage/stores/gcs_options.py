"""Options of Google Cloud Storage, as Paimon and Hadoop's connector call them.

Sources: apache/paimon@1.3.1 ``org.apache.paimon.gs.GSFileIO`` (``gs.`` and ``fs.gs.`` mean the
same); GoogleCloudDataproc/hadoop-connectors, ``gcs/CONFIGURATION.md``. Neither has an option for an
access token, which is called as Iceberg's catalogs call it: apache/iceberg ``GCPProperties``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from paimonlab.errors import UnsupportedError
from paimonlab.storage.schemes import GCS, named_options, refuse_unknown
from paimonlab.storage.stores.keys import BearerToken
from paimonlab.storage.stores.option_values import OptionValues

_KEYFILE = "auth.service.account.json.keyfile"
_INLINE = (
    "auth.service.account.email",
    "auth.service.account.private.key",
    "auth.service.account.private.key.id",
)
_ANONYMOUS = "UNAUTHENTICATED"
_LOOKED_UP = frozenset(("APPLICATION_DEFAULT", "COMPUTE_ENGINE"))
"""What obstore does anyway if it is given no key."""
_ACCESS = "oauth2.token"
_OF_KEYS = "SERVICE_ACCOUNT_JSON_KEYFILE"


@dataclass(frozen=True, slots=True)
class GcsOptions:
    """How Google Cloud Storage is reached. Picklable: executors need the keys."""

    endpoint: str | None = None
    """None: Google's, or what the environment says."""
    keyfile: str | None = None
    """Path of the JSON file of a service account."""
    key: str | None = field(default=None, repr=False)
    """The same document, as text."""
    token: str | None = field(default=None, repr=False)
    """An access token of OAuth 2.0."""
    renewal: Callable[[], BearerToken] | None = field(default=None, repr=False)
    """Gives tokens that hold for a while, and is asked for them again and again; None: it stays."""
    is_anonymous: bool = False
    max_retries: int = 10
    timeout_millis: int = 60_000
    connect_timeout_millis: int = 10_000

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be in any message."""
        of_token = () if self.token is None else (self.token,)
        if self.key is None:
            return of_token
        return (*of_token, self.key, json.loads(self.key)["private_key"])


def gcs_options(options: Mapping[str, str]) -> GcsOptions:
    """Read the options of Google Cloud Storage among those of a catalog.

    Raises
    ------
    UnsupportedError
        If an option is not implemented.
    ValueError
        If two names of one option have different values, or a value is not allowed.
    """
    values, keys = named_options(GCS, options)
    refuse_unknown(values, keys, _KNOWN)
    given = OptionValues(values, keys)
    kind = values.get("auth.type", "").upper()
    if kind and kind not in (_ANONYMOUS, _OF_KEYS, *_LOOKED_UP):
        raise UnsupportedError(
            f"{keys['auth.type']} = '{values['auth.type']}'",
            "use SERVICE_ACCOUNT_JSON_KEYFILE, or log in by gcloud and use APPLICATION_DEFAULT",
        )
    keyfile, key = given.text(_KEYFILE), _inline(given)
    if keyfile and key:
        raise ValueError(f"{keys[_KEYFILE]!r} and a private key are given: which of them?")
    if (keyfile or key) and kind and kind != _OF_KEYS:
        raise ValueError(f"{keys['auth.type']} = {kind!r}, and the key of an account is given")
    if kind == _OF_KEYS and not (keyfile or key):
        raise ValueError(f"{keys['auth.type']} = {kind!r} without 'fs.gs.{_KEYFILE}'")
    token = given.text(_ACCESS)
    if token and (keyfile or key or kind):
        raise ValueError(f"{keys[_ACCESS]!r} is given, and another way to log in: which of them?")
    return GcsOptions(
        endpoint=given.address("storage.root.url"),
        keyfile=keyfile,
        key=key,
        token=token,
        is_anonymous=kind == _ANONYMOUS,
        max_retries=given.number("http.max.retry", 10),
        timeout_millis=given.number("http.read.timeout", 60_000),
        connect_timeout_millis=given.number("http.connect.timeout", 10_000),
    )


def _inline(given: OptionValues) -> str | None:
    """Return the key of an account that stands in three options, as the file would have it."""
    email, key, key_id = map(given.text, _INLINE)
    if not (email or key or key_id):
        return None
    if not (email and key):
        raise ValueError(f"of {', '.join('fs.gs.' + name for name in _INLINE)} some are missing")
    account = {"type": "service_account", "client_email": email, "private_key_id": key_id or ""}
    return json.dumps({**account, "private_key": key.replace("\\n", "\n")})


_KNOWN = frozenset(
    (
        "auth.type",
        "http.connect.timeout",
        "http.max.retry",
        "http.read.timeout",
        "project.id",  # only those who create buckets need it
        "storage.root.url",
        _ACCESS,
        f"{_ACCESS}.expires.at",  # those who hand tokens out say it once more
        _KEYFILE,
        *_INLINE,
    )
)
