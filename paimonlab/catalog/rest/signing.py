"""Signatures of requests to Alibaba Cloud DLF, as pure functions.

Source: apache/paimon@1.4.2 ``org.apache.paimon.rest.auth.DLFDefaultSigner``,
``DLFOpenApiSigner``.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime

from paimonlab.catalog.rest.paths import decoded

_PRODUCT = "DlfNext"
_REQUEST = "aliyun_v4_request"
_ALGORITHM = "DLF4-HMAC-SHA256"
_UNSIGNED = "UNSIGNED-PAYLOAD"
_OPEN_API_VERSION = "2026-01-18"
_SIGNED = frozenset(
    (
        "content-md5",
        "content-type",
        "x-dlf-content-sha256",
        "x-dlf-date",
        "x-dlf-security-token",
        "x-dlf-version",
    )
)


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """What of a request is signed."""

    method: str
    path: str
    """As it is sent, encoded, without host and query."""
    query: Mapping[str, str] = field(default_factory=dict)
    """Not encoded."""
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class AccessKey:
    """Who signs."""

    id: str
    secret: str = field(repr=False)
    security_token: str | None = field(default=None, repr=False)
    expires_at_millis: int | None = None
    """Epoch milliseconds; None: never."""


def dlf_headers(
    request: SignedRequest, key: AccessKey, region: str, now: datetime
) -> dict[str, str]:
    """Sign a request by ``DLF4-HMAC-SHA256``.

    Parameters
    ----------
    request, key, region
        What, by whom, where.
    now
        With a zone; the signature holds for some minutes.

    Returns
    -------
    dict
        Headers that the request must be sent with.
    """
    date_time = now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    headers = {
        "x-dlf-date": date_time,
        "x-dlf-content-sha256": _UNSIGNED,
        "x-dlf-version": "v1",
    }
    if key.security_token is not None:
        headers["x-dlf-security-token"] = key.security_token
    if request.body:
        headers["Content-Type"] = "application/json"
        headers["Content-MD5"] = _md5(request.body)
    headers["Authorization"] = dlf_authorization(request, headers, key, region)
    return headers


def dlf_authorization(
    request: SignedRequest, headers: Mapping[str, str], key: AccessKey, region: str
) -> str:
    """Return the ``Authorization`` of a request that is sent with these headers.

    A server finds out by it whether the client knew the secret.

    Raises
    ------
    KeyError
        If the header ``x-dlf-date`` is missing.
    """
    by_name = {name.lower(): value.strip() for name, value in headers.items()}
    date_time = by_name["x-dlf-date"]
    date = date_time[:8]
    scope = f"{date}/{region}/{_PRODUCT}/{_REQUEST}"
    query = "&".join(
        f"{name}={value}" if value else name for name, value in sorted(request.query.items())
    )
    canonical = "\n".join(
        (
            request.method,
            request.path,
            query,
            *(f"{name}:{by_name[name]}" for name in sorted(_SIGNED & by_name.keys())),
            by_name.get("x-dlf-content-sha256", _UNSIGNED),
        )
    )
    text = "\n".join((_ALGORITHM, date_time, scope, _sha256(canonical)))
    signing_key = f"aliyun_v4{key.secret}".encode()
    for part in (date, region, _PRODUCT, _REQUEST):
        signing_key = hmac.digest(signing_key, part.encode(), "sha256")
    signature = hmac.digest(signing_key, text.encode(), "sha256").hex()
    return f"{_ALGORITHM} Credential={key.id}/{scope},Signature={signature}"


def open_api_headers(
    request: SignedRequest, key: AccessKey, host: str, now: datetime, nonce: str
) -> dict[str, str]:
    """Sign a request by HMAC-SHA1, as the public address of DLF wants it.

    Parameters
    ----------
    request, key
        What, by whom.
    host
        Of the address, with its port if that has one.
    now
        With a zone.
    nonce
        Never used before.
    """
    headers = {
        "Date": format_datetime(now.astimezone(UTC), usegmt=True),
        "Accept": "application/json",
        "Host": host,
        "x-acs-signature-method": "HMAC-SHA1",
        "x-acs-signature-nonce": nonce,
        "x-acs-signature-version": "1.0",
        "x-acs-version": _OPEN_API_VERSION,
    }
    if key.security_token is not None:
        headers["x-acs-security-token"] = key.security_token
    if request.body:
        headers["Content-MD5"] = _md5(request.body)
        headers["Content-Type"] = "application/json"
    own = sorted(name for name in headers if name.startswith("x-acs-"))
    resource = decoded(request.path)
    if request.query:
        pairs = sorted(request.query.items())
        resource += "?" + "&".join(f"{name}={value}" if value else name for name, value in pairs)
    text = "\n".join(
        (
            request.method,
            headers["Accept"],
            headers.get("Content-MD5", ""),
            headers.get("Content-Type", ""),
            headers["Date"],
            *(f"{name}:{headers[name].strip()}" for name in own),
            resource,
        )
    )
    signature = base64.b64encode(hmac.digest(key.secret.encode(), text.encode(), "sha1")).decode()
    return {**headers, "Authorization": f"acs {key.id}:{signature}"}


def _md5(body: bytes) -> str:
    return base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
