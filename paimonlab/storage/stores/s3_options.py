"""Options of S3, as Paimon and Hadoop call them.

Sources: apache/paimon@1.3.1 ``org.apache.paimon.s3.S3FileIO`` (prefixes ``s3.``, ``s3a.`` and
``fs.s3a.`` mean the same, so do ``access-key`` and ``access.key``), Hadoop's S3A.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from paimonlab.errors import UnsupportedError

_PREFIXES = ("fs.s3a.", "s3a.", "s3.")
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

    endpoint: str | None = None
    """With its scheme; None: AWS's of the region, or what the environment says."""
    region: str | None = None
    is_path_style: bool = True
    """Whether the bucket is in the path of a request, not in the host."""
    is_anonymous: bool = False
    access_key: str | None = field(default=None, repr=False)
    secret_key: str | None = field(default=None, repr=False)
    session_token: str | None = field(default=None, repr=False)
    max_retries: int = 10
    timeout_millis: int = 60_000
    connect_timeout_millis: int = 10_000

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be in any message."""
        return tuple(filter(None, (self.secret_key, self.session_token, self.access_key)))


def is_s3_option(key: str) -> bool:
    """Whether a catalog option is one of S3."""
    return key.startswith(_PREFIXES)


def s3_options(options: Mapping[str, str]) -> S3Options:
    """Read the options of S3 among those of a catalog.

    Raises
    ------
    UnsupportedError
        If an option is not implemented.
    ValueError
        If two names of one option have different values, or a value is not allowed.
    """
    values: dict[str, str] = {}
    names: dict[str, str] = {}
    for key, value in options.items():
        prefix = next(filter(key.startswith, _PREFIXES), None)
        if prefix is None:
            continue
        name = key[len(prefix) :].replace("-", ".").replace("_", ".")
        name = _OTHER_NAMES.get(name, name)
        if name not in _KNOWN:
            raise UnsupportedError(f"{key} = '{value}'")
        if values.setdefault(name, value) != value:
            raise ValueError(f"the options {names[name]!r} and {key!r} have different values")
        names[name] = key
    return _checked(values, names)


def _checked(values: Mapping[str, str], names: Mapping[str, str]) -> S3Options:
    keys = [values.get(name) or None for name in ("access.key", "secret.key")]
    if None in keys and keys != [None, None]:
        raise ValueError("of 's3.access-key' and 's3.secret-key' only one is given")
    token = values.get("session.token") or None
    if token and keys[0] is None:
        raise ValueError("'s3.session-token' is given without 's3.access-key'")
    signer = values.get("signer.type", values.get("signing.algorithm", ""))
    if signer and signer not in _V4_SIGNERS:
        raise UnsupportedError(f"s3.signer-type = '{signer}'", "requests are signed by version 4")
    endpoint = _endpoint(values, names)
    in_endpoint = _AWS_REGION.search(endpoint or "")
    style = _boolean(values, names, "path.style.access")
    return S3Options(
        endpoint=endpoint,
        region=values.get("endpoint.region") or (in_endpoint[1] if in_endpoint else None),
        is_path_style=endpoint is not None if style is None else style,
        is_anonymous=_is_anonymous(values, names),
        access_key=keys[0],
        secret_key=keys[1],
        session_token=token,
        max_retries=_number(values, names, "attempts.maximum", 10),
        timeout_millis=_number(values, names, "connection.timeout", 60_000),
        connect_timeout_millis=_number(values, names, "connection.establish.timeout", 10_000),
    )


def _endpoint(values: Mapping[str, str], names: Mapping[str, str]) -> str | None:
    endpoint = values.get("endpoint", "").rstrip("/")
    has_ssl = _boolean(values, names, "connection.ssl.enabled")
    if not endpoint:
        return None
    if "://" not in endpoint:
        return f"{'http' if has_ssl is False else 'https'}://{endpoint}"
    if not endpoint.startswith(("http://", "https://")) or "@" in endpoint:
        raise ValueError(f"{names['endpoint']} is not the address of a host")
    return endpoint


def _is_anonymous(values: Mapping[str, str], names: Mapping[str, str]) -> bool:
    providers = values.get("aws.credentials.provider", "")
    classes = [name.strip().rpartition(".")[2] for name in providers.split(",") if name.strip()]
    for name in classes:
        if name != _ANONYMOUS and name not in _USUAL_PROVIDERS:
            raise UnsupportedError(f"{names['aws.credentials.provider']} = '{providers}'")
    return classes[:1] == [_ANONYMOUS]


def _boolean(values: Mapping[str, str], names: Mapping[str, str], name: str) -> bool | None:
    value = values.get(name)
    if value is not None and value.lower() not in ("true", "false"):
        raise ValueError(f"{names[name]} = {value!r} is neither true nor false")
    return None if value is None else value.lower() == "true"


def _number(values: Mapping[str, str], names: Mapping[str, str], name: str, default: int) -> int:
    value = values.get(name)
    if value is None:
        return default
    if not value.isdecimal():
        raise ValueError(f"{names[name]} = {value!r} is not a whole number")
    return int(value)


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
