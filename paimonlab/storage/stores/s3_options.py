"""Options of S3, as Paimon and Hadoop call them.

Sources: apache/paimon@1.3.1 ``org.apache.paimon.s3.S3FileIO`` (prefixes ``s3.``, ``s3a.`` and
``fs.s3a.`` mean the same, so do ``access-key`` and ``access.key``), Hadoop's S3A.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from paimonlab.errors import UnsupportedError
from paimonlab.storage.schemes import S3, named_options, refuse_unknown
from paimonlab.storage.stores.keys import Keys
from paimonlab.storage.stores.option_values import OptionValues

_OTHER_NAMES = {"region": "endpoint.region"}
_V4_SIGNERS = frozenset(("AWSS3V4SignerType", "AWS4SignerType"))
_ANONYMOUS = "AnonymousAWSCredentialsProvider"
_USUAL_PROVIDERS = frozenset(
    (
        "DefaultAWSCredentialsProviderChain",
        "DefaultCredentialsProvider",
        "EnvironmentVariableCredentialsProvider",
        "ProfileCredentialsProvider",
        "SimpleAWSCredentialsProvider",
        "TemporaryAWSCredentialsProvider",
    )
)
"""What they look up is looked up here anyway: options, environment, profile."""
_AWS_REGION = re.compile(r"(?:^|[./-])s3[.-](?:dualstack\.)?([a-z]{2}(?:-[a-z]+)+-\d)\.amazonaws\.")


@dataclass(frozen=True, slots=True)
class S3Options:
    """How a store of S3's protocol is reached. Picklable: executors need the keys."""

    service: str = S3.name
    """Whose keys the environment is searched for."""
    endpoint: str | None = None
    """With its scheme; None: AWS's of the region, or what the environment says."""
    region: str | None = None
    is_path_style: bool = True
    """Whether the bucket is in the path of a request, not in the host."""
    is_bucket_in_endpoint: bool = False
    """Whether the host of the endpoint is of the bucket alone."""
    forbid_header: str = ""
    """With which the service creates only what is absent; empty: If-None-Match."""
    is_anonymous: bool = False
    access_key: str | None = field(default=None, repr=False)
    secret_key: str | None = field(default=None, repr=False)
    session_token: str | None = field(default=None, repr=False)
    renewal: Callable[[], Keys] | None = field(default=None, repr=False)
    """Gives keys that hold for a while, and is asked for them again and again; None: they stay."""
    max_retries: int = 10
    timeout_millis: int = 60_000
    connect_timeout_millis: int = 10_000

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be in any message."""
        return tuple(filter(None, (self.secret_key, self.session_token, self.access_key)))


def s3_options(options: Mapping[str, str]) -> S3Options:
    """Read the options of S3 among those of a catalog.

    Raises
    ------
    UnsupportedError
        If an option is not implemented.
    ValueError
        If two names of one option have different values, or a value is not allowed.
    """
    values, keys = named_options(S3, options, _OTHER_NAMES)
    refuse_unknown(values, keys, _KNOWN)
    return _checked(OptionValues(values, keys))


def _checked(given: OptionValues) -> S3Options:
    keys = [given.text(name) for name in ("access.key", "secret.key")]
    if None in keys and keys != [None, None]:
        raise ValueError("of 's3.access-key' and 's3.secret-key' only one is given")
    token = given.text("session.token")
    if token and keys[0] is None:
        raise ValueError("'s3.session-token' is given without 's3.access-key'")
    signer = given.values.get("signer.type", given.values.get("signing.algorithm", ""))
    if signer and signer not in _V4_SIGNERS:
        raise UnsupportedError(f"s3.signer-type = '{signer}'", "requests are signed by version 4")
    endpoint = given.address("endpoint", has_ssl=given.boolean("connection.ssl.enabled"))
    in_endpoint = _AWS_REGION.search(endpoint or "")
    style = given.boolean("path.style.access")
    return S3Options(
        endpoint=endpoint,
        region=given.text("endpoint.region") or (in_endpoint[1] if in_endpoint else None),
        is_path_style=endpoint is not None if style is None else style,
        is_anonymous=_is_anonymous(given),
        access_key=keys[0],
        secret_key=keys[1],
        session_token=token,
        max_retries=given.number("attempts.maximum", 10),
        timeout_millis=given.number("connection.timeout", 60_000),
        connect_timeout_millis=given.number("connection.establish.timeout", 10_000),
    )


def _is_anonymous(given: OptionValues) -> bool:
    providers = given.values.get("aws.credentials.provider", "")
    classes = [name.strip().rpartition(".")[2] for name in providers.split(",") if name.strip()]
    for name in classes:
        if name != _ANONYMOUS and name not in _USUAL_PROVIDERS:
            raise UnsupportedError(f"{given.keys['aws.credentials.provider']} = '{providers}'")
    return classes[:1] == [_ANONYMOUS]


_KNOWN = frozenset(
    (
        "access.key",
        "attempts.maximum",
        "aws.credentials.provider",
        "connection.establish.timeout",
        "connection.ssl.enabled",
        "connection.timeout",
        "endpoint",
        "endpoint.region",
        "path.style.access",
        "secret.key",
        "session.token",
        "signer.type",
        "signing.algorithm",
    )
)
