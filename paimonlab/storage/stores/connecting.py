"""Connections to buckets: made once for each process, bucket and set of options."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NamedTuple, TypeAlias

from obstore.store import AzureStore, GCSStore, S3Store

from paimonlab.errors import PaimonError, StorageError
from paimonlab.storage.forks import Home, fork_count
from paimonlab.storage.schemes import S3
from paimonlab.storage.stores.answers import is_answer_of_store
from paimonlab.storage.stores.aws_profiles import profile
from paimonlab.storage.stores.azure_options import AzureOptions, azure_key, container_config
from paimonlab.storage.stores.gcs_options import GcsOptions
from paimonlab.storage.stores.keys import AzureKey, BearerToken, Keys, keys_of
from paimonlab.storage.stores.s3_options import S3Options
from paimonlab.storage.stores.store_options import StoreOptions

_RETRY_SECONDS = 120
"""How long a request is tried again that may be: reads, and writes that overwrite."""
_RENEWED = timedelta(seconds=1)
"""After which keys are asked for again that may have been renewed."""
_FIRST_HOME: list[Home] = []
_NUMBERS = re.compile(r"[\d.]+(:\d+)?")
_VARIABLES = ("AWS_", "AZURE_", "GOOGLE_", "OSS_", "ALIBABA_", "COSN_", "OBS_")

ObjectStore: TypeAlias = S3Store | GCSStore | AzureStore


class Bucket(NamedTuple):
    """Ways to one bucket."""

    patient: ObjectStore
    """Tries again, with growing pauses and chance in them."""
    single: ObjectStore
    """Sends each request once: who puts on a condition has to know of each answer."""
    creating: ObjectStore
    """Sends each request once, to create what is absent in `create_mode`."""
    create_mode: Literal["create", "overwrite"]
    """The second where a header of the service has the condition."""

    @property
    def replaces_versions(self) -> bool:
        """Whether a version of an object can be replaced on condition that it is the latest."""
        return self.create_mode == "create"


def bucket_of(name: str, options: StoreOptions) -> Bucket:
    """Connect to a bucket, or return the connections that this process has.

    Raises
    ------
    ForkedProcessError
        If the process that this one was forked from has used stores: its threads are gone.
    """
    if not _FIRST_HOME:
        _FIRST_HOME.append(Home())
    _FIRST_HOME[0].check("the connection to an object store", "use stores in one of them alone")
    return _connected(name, options, fork_count(), _environment())


@functools.lru_cache(maxsize=64)
def _connected(
    name: str, options: StoreOptions, forks: int, environment: tuple[tuple[str, str], ...]
) -> Bucket:
    del forks, environment  # of the key alone
    retries = {
        "max_retries": options.max_retries,
        "retry_timeout": timedelta(seconds=_RETRY_SECONDS),
    }
    once: dict[str, Any] = {"max_retries": 0}
    header = options.forbid_header if isinstance(options, S3Options) else ""
    try:
        single = _opened(name, options, once)
        return Bucket(
            patient=_opened(name, options, retries),
            single=single,
            creating=_opened(name, options, once, {header: "true"}) if header else single,
            create_mode="overwrite" if header else "create",
        )
    except (PaimonError, FileNotFoundError):
        raise
    except Exception as error:
        if is_answer_of_store(error):
            first = str(error).partition("\n")[0]
            for secret in options.secrets:
                first = first.replace(secret, "******")
            raise StorageError(None, f"it cannot be opened: {first}", name) from None
        raise


def _opened(
    name: str,
    options: StoreOptions,
    retries: Mapping[str, Any],
    headers: Mapping[str, str] | None = None,
) -> ObjectStore:
    client: Any = {
        "timeout": timedelta(milliseconds=options.timeout_millis),
        "connect_timeout": timedelta(milliseconds=options.connect_timeout_millis),
        "allow_http": True,
        **({"default_headers": dict(headers)} if headers else {}),
    }
    others: Any = {"client_options": client, "retry_config": dict(retries)}
    if isinstance(options, S3Options):
        return S3Store(name, **others, **_s3_config(name, options))
    if isinstance(options, GcsOptions):
        return GCSStore(name, **others, **_gcs_config(options))
    return AzureStore(**others, **_azure_config(name, options))


def _azure_config(name: str, options: AzureOptions) -> dict[str, Any]:
    config: dict[str, Any] = dict(container_config(options, name))
    if options.renewal is None or azure_key(options, name) is None:
        return config
    for of_first in ("credential_type", "account_key", "sas_key"):
        config.pop(of_first, None)
    config["credential_provider"] = functools.partial(_renewed_azure, options.renewal)
    return config


def _gcs_config(options: GcsOptions) -> dict[str, Any]:
    config: dict[str, Any] = {}
    if options.endpoint is not None:
        config["base_url"] = options.endpoint
    if options.keyfile is not None:
        config["service_account"] = os.path.expanduser(options.keyfile)  # noqa: PTH111
    if options.key is not None:
        config["service_account_key"] = options.key
    if options.is_anonymous:
        config["skip_signature"] = True
    if options.token is not None:
        fixed = functools.partial(_bearing, BearerToken(options.token))
        renewed = options.renewal and functools.partial(_renewed_gcs, options.renewal)
        config["credential_provider"] = renewed or fixed
    return config


class S3Access(NamedTuple):
    """How a store of S3's protocol is reached: what options, environment and profile say."""

    endpoint: str | None
    """None: that of AWS in the region."""
    region: str
    is_path_style: bool
    is_anonymous: bool
    keys: Keys | None
    """Of the options or a profile; None: of the environment, or of the role of the machine."""


def s3_access(options: S3Options) -> S3Access:
    """Find out how a store is reached.

    Raises
    ------
    ValueError
        If a file of profiles is damaged or lacks the profile that is asked for.
    UnsupportedError
        If the keys of a profile come from elsewhere.
    """
    found: Mapping[str, str] = {}
    is_aws = options.service == S3.name
    if is_aws and not (
        options.access_key or options.is_anonymous or os.environ.get("AWS_ACCESS_KEY_ID")
    ):
        found = profile()
    named = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    endpoint = options.endpoint or named or found.get("endpoint_url")
    in_environment = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    region = options.region or (in_environment or found.get("region") if is_aws else None)
    return S3Access(
        endpoint=endpoint,
        region=region or "us-east-1",
        is_path_style=options.is_path_style or (options.endpoint is None and endpoint is not None),
        is_anonymous=options.is_anonymous,
        keys=None if options.is_anonymous else _keys_in_options(options) or _keys_in(found),
    )


def _s3_config(name: str, options: S3Options) -> dict[str, Any]:
    config: dict[str, Any] = {"conditional_put": "etag"}
    access = s3_access(options)
    if access.endpoint is not None:
        has_bucket = access.is_path_style or options.is_bucket_in_endpoint
        config["endpoint"] = access.endpoint if has_bucket else _with_bucket(access.endpoint, name)
    config["virtual_hosted_style_request"] = not access.is_path_style
    config["region"] = access.region
    if access.is_anonymous:
        config["skip_signature"] = True
        return config
    provider: Callable[[], Any] | None = None
    if options.access_key is not None and options.renewal is not None:
        provider = functools.partial(_renewed, options.renewal)
    elif access.keys is not None:
        provider = functools.partial(_signing, *access.keys)
    if options.service != S3.name:
        config["skip_signature"] = False
        provider = provider or functools.partial(_signing, *keys_of(options.service))
    if provider is not None:
        config["credential_provider"] = provider
    return config


def _with_bucket(endpoint: str, name: str) -> str:
    scheme, _, host = endpoint.partition("://")
    if _NUMBERS.fullmatch(host):
        raise ValueError(f"{host} is an address of numbers: a bucket can only be in the path")
    return f"{scheme}://{name}.{host}"


def _keys_in_options(options: S3Options) -> Keys | None:
    if options.access_key is None:
        return None
    return Keys(options.access_key, str(options.secret_key), options.session_token)


def _keys_in(found: Mapping[str, str]) -> Keys | None:
    if "aws_access_key_id" not in found:
        return None
    secret, token = found.get("aws_secret_access_key", ""), found.get("aws_session_token")
    return Keys(found["aws_access_key_id"], secret, token)


def _signing(access_key: str, secret_key: str, token: str | None) -> dict[str, Any]:
    """Return keys; what the environment has beside them, such as a token, does not count."""
    return {
        "access_key_id": access_key,
        "secret_access_key": secret_key,
        "token": token,
        "expires_at": None,
    }


def _renewed(renewal: Callable[[], Keys]) -> dict[str, Any]:
    """Return keys for the requests of a moment: files that are open outlive them."""
    return _signing(*renewal()) | {"expires_at": datetime.now(UTC) + _RENEWED}


def _renewed_azure(renewal: Callable[[], AzureKey]) -> dict[str, Any]:
    """Return what `_renewed` does, for Azure."""
    key = renewal()
    return {key.kind: key.value, "expires_at": datetime.now(UTC) + _RENEWED}


def _bearing(token: BearerToken) -> dict[str, Any]:
    return {"token": token.value, "expires_at": None}


def _renewed_gcs(renewal: Callable[[], BearerToken]) -> dict[str, Any]:
    """Return what `_renewed` does, for Google Cloud Storage."""
    return _bearing(renewal()) | {"expires_at": datetime.now(UTC) + _RENEWED}


def _environment() -> tuple[tuple[str, str], ...]:
    """Return what may have changed since a bucket was opened."""
    return tuple(
        sorted((key, value) for key, value in os.environ.items() if key.startswith(_VARIABLES))
    )
