"""Connections to buckets: made once for each process, bucket and set of options."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from obstore.store import S3Store

from paimonlab.errors import StorageError
from paimonlab.storage.forks import Home, fork_count
from paimonlab.storage.stores.answers import is_answer_of_store
from paimonlab.storage.stores.aws_profiles import profile
from paimonlab.storage.stores.s3_options import S3Options

_RETRY_SECONDS = 120
"""How long a request is tried again that may be: reads, and writes that overwrite."""
_FIRST_HOME: list[Home] = []


class Bucket(NamedTuple):
    """Two ways to one bucket."""

    patient: S3Store
    """Tries again, with growing pauses and chance in them."""
    single: S3Store
    """Sends each request once: who puts on a condition has to know of each answer."""


def bucket_of(name: str, options: S3Options) -> Bucket:
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
    name: str, options: S3Options, forks: int, environment: tuple[tuple[str, str], ...]
) -> Bucket:
    del forks, environment  # of the key alone
    seconds = timedelta(milliseconds=options.timeout_millis)
    client: dict[str, Any] = {
        "timeout": seconds,
        "connect_timeout": timedelta(milliseconds=options.connect_timeout_millis),
        "allow_http": True,
    }
    config = _config(name, options)
    retries = {
        "max_retries": options.max_retries,
        "retry_timeout": timedelta(seconds=_RETRY_SECONDS),
    }
    try:
        return Bucket(
            *(
                S3Store(name, client_options=client, retry_config=retry, **config)  # type: ignore[arg-type]
                for retry in (retries, {"max_retries": 0})
            )
        )
    except Exception as error:
        if is_answer_of_store(error):
            first = str(error).partition("\n")[0]
            raise StorageError(None, f"it cannot be opened: {first}", f"s3://{name}") from None
        raise


def _config(name: str, options: S3Options) -> dict[str, Any]:
    config: dict[str, Any] = {"conditional_put": "etag"}
    found: Mapping[str, str] = {}
    if not (options.access_key or options.is_anonymous or os.environ.get("AWS_ACCESS_KEY_ID")):
        found = profile()
    named = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    endpoint = options.endpoint or named or found.get("endpoint_url")
    is_path_style = options.is_path_style or (options.endpoint is None and endpoint is not None)
    if endpoint is not None:
        config["endpoint"] = endpoint if is_path_style else _with_bucket(endpoint, name)
    config["virtual_hosted_style_request"] = not is_path_style
    in_environment = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    region = options.region or in_environment or found.get("region")
    config["region"] = region or "us-east-1"
    if options.is_anonymous:
        config["skip_signature"] = True
        return config
    provider = _keys_of_options(options) or _keys_of_profile(found)
    if provider is not None:
        config["credential_provider"] = provider
    return config


def _with_bucket(endpoint: str, name: str) -> str:
    scheme, _, host = endpoint.partition("://")
    return f"{scheme}://{name}.{host}"


def _keys_of_options(options: S3Options) -> Callable[[], Any] | None:
    if options.access_key is None:
        return None
    return functools.partial(
        _keys, options.access_key, str(options.secret_key), options.session_token
    )


def _keys_of_profile(found: Mapping[str, str]) -> Callable[[], Any] | None:
    if "aws_access_key_id" not in found:
        return None
    secret, token = found.get("aws_secret_access_key", ""), found.get("aws_session_token")
    return functools.partial(_keys, found["aws_access_key_id"], secret, token)


def _keys(access_key: str, secret_key: str, token: str | None) -> dict[str, Any]:
    """Return keys; what the environment has beside them, such as a token, does not count."""
    return {
        "access_key_id": access_key,
        "secret_access_key": secret_key,
        "token": token,
        "expires_at": None,
    }


def _environment() -> tuple[tuple[str, str], ...]:
    """Return what may have changed since a bucket was opened."""
    return tuple(sorted((key, value) for key, value in os.environ.items() if key[:4] == "AWS_"))
