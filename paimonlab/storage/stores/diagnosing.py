"""What is wrong with a store that does not answer as it should, as one line of advice.

What the store said comes first: its code says most. Where there is no answer, the address is tried.

Source: the lists of error codes of S3, OSS, COS, Azure's blob service and Google Cloud Storage.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

from paimonlab.secrets import without_credentials
from paimonlab.storage.places import place_of
from paimonlab.storage.schemes import S3
from paimonlab.storage.stores.gcs_options import GcsOptions
from paimonlab.storage.stores.s3_options import S3Options
from paimonlab.storage.stores.store_options import StoreOptions

_SKEW_SECONDS = 300
"""From which a difference of clocks is told; stores refuse from 15 minutes on."""
_WAIT_SECONDS = 5
_CLOCK = ("RequestTimeTooSkewed", "RequestExpired")
_REGION = (
    *("AuthorizationHeaderMalformed", "PermanentRedirect", "TemporaryRedirect"),
    *("IllegalLocationConstraintException", "answer was 301", "answer was 307"),
)
_KEYS = (
    *("InvalidAccessKeyId", "SignatureDoesNotMatch", "AuthenticationFailed", "answer was 401"),
    "AuthenticationRequired",
)
_ENDED = ("ExpiredToken", "InvalidToken", "TokenRefreshRequired", "SecurityTokenExpired")
_RIGHTS = ("AccessDenied", "AuthorizationPermissionMismatch", "AuthorizationFailure", "was 403")
_BUCKET = ("NoSuchBucket", "ContainerNotFound")
_WEB_HDFS = {"webhdfs": "http", "swebhdfs": "https"}
"""Warehouses whose path has the endpoint."""
_UNANSWERED = ("no connection", "no answer in time", "the connection broke")


def advice(path: str, options: StoreOptions, problem: str) -> str:
    """Say what to change so that a store answers.

    Parameters
    ----------
    path
        Of the warehouse.
    options
        By which the store is reached.
    problem
        The text of the error.

    Returns
    -------
    str
        A sentence that names options, never their values if they are secret; "": nothing is known.
    """
    place = place_of(path)
    is_s3 = isinstance(options, S3Options)
    region = f"set the region of the bucket ({'s3.endpoint.region' if is_s3 else 'its option'})"
    told: tuple[tuple[tuple[str, ...], Callable[[], str]], ...] = (
        (
            _CLOCK,
            lambda: _of_clock(options) or "set this machine's clock: signatures have a time",
        ),
        (_REGION, lambda: f"{region}: the store says that it is another one"),
        (_ENDED, lambda: "renew the token among the keys: it has ended"),
        (_KEYS, lambda: _of_clock(options) or _of_keys(options)),
        (_RIGHTS, lambda: _of_clock(options) or _of_rights(options)),
        (_BUCKET, lambda: f"create {place.bucket}, or correct its name in {path}"),
        (_UNANSWERED, lambda: _of_endpoint(path, place.bucket, options)),
    )
    for words, say in told:
        if any(word in problem for word in words):
            return say()
    return ""


def _of_keys(options: StoreOptions) -> str:
    if isinstance(options, GcsOptions):
        return "check the service account, or renew the token"
    return "check the access key and its secret"


def _of_rights(options: StoreOptions) -> str:
    if isinstance(options, S3Options) and options.service == S3.name:
        return (
            "let these keys do s3:ListBucket, s3:GetObject, s3:PutObject and s3:DeleteObject in "
            "the bucket; with read-only = true the first two do"
        )
    return "let these keys list, read, write and delete there; with read-only = true list and read"


def _of_endpoint(path: str, bucket: str, options: StoreOptions) -> str:
    """Try the address that requests go to."""
    endpoint = getattr(options, "endpoint", None)
    of_hadoop = urlsplit(path)
    if of_hadoop.scheme in _WEB_HDFS and of_hadoop.port:
        endpoint = f"{_WEB_HDFS[of_hadoop.scheme]}://{of_hadoop.netloc}"
    if not endpoint:
        return "check that this machine reaches the store: a proxy, a firewall, no network"
    parts = urlsplit(endpoint)
    host, is_tls = parts.hostname or "", parts.scheme == "https"
    in_host = isinstance(options, S3Options) and not options.is_path_style
    if in_host and isinstance(options, S3Options) and not options.is_bucket_in_endpoint:
        host = f"{bucket}.{host}"
    port = parts.port or (443 if is_tls else 80)
    try:
        connection = socket.create_connection((host, port), _WAIT_SECONDS)
    except socket.gaierror:
        fix = f"correct the endpoint {without_credentials(endpoint)}"
        if in_host:
            fix = "set s3.path-style-access = true, or let the name be known"
        return f"no host is called {host}: {fix}"
    except OSError as error:
        return f"nothing answers at {host}:{port} ({error.strerror or error}): check the endpoint"
    with connection:
        if is_tls:
            return _of_tls(connection, host)
    return f"{host}:{port} takes connections: is it a store, and does it want https://?"


def _of_tls(connection: socket.socket, host: str) -> str:
    try:
        with ssl.create_default_context().wrap_socket(connection, server_hostname=host):
            return f"{host} has TLS: is it a store?"
    except ssl.SSLCertVerificationError as error:
        return f"the certificate of {host} is not trusted: {error.verify_message}"
    except OSError:
        return f"{host} has no TLS: write http:// before the endpoint"


def _of_clock(options: StoreOptions) -> str:
    """Compare this machine's clock with the one of the store; "": they agree, or it is unknown."""
    endpoint = getattr(options, "endpoint", None)
    if not endpoint:
        return ""
    parts = urlsplit(endpoint)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.netloc, timeout=_WAIT_SECONDS)
    with contextlib.closing(connection), contextlib.suppress(OSError, HTTPException, ValueError):
        connection.request("HEAD", "/")
        date = connection.getresponse().getheader("date")
        seconds = time.time() - parsedate_to_datetime(date).timestamp() if date else 0.0
        if abs(seconds) >= _SKEW_SECONDS:
            told = f"{abs(seconds) / 60:.0f} minutes {'ahead of' if seconds > 0 else 'behind'}"
            return f"set this machine's clock: it is {told} the store's"
    return ""
