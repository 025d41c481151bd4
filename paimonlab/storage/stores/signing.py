"""Signatures of requests to AWS, version 4, as pure functions.

obstore signs what goes to stores; this is for requests that are about them. Source:
docs.aws.amazon.com, "Create a signed AWS API request".
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from paimonlab.storage.stores.keys import Keys

_ALGORITHM = "AWS4-HMAC-SHA256"


class Scope(NamedTuple):
    """What a signature is for."""

    region: str
    service: str
    """``sts`` …"""


def signed_headers(
    address: str,
    headers: Mapping[str, str],
    body: bytes,
    *,
    keys: Keys,
    scope: Scope,
    now: datetime,
    method: str = "POST",
    query: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Sign a request to a service other than S3, whose paths are signed otherwise.

    Parameters
    ----------
    address
        Where it goes; encoded as it is sent, without its query.
    headers
        That are signed with it, besides those that it needs.
    body, keys, scope
        What, by whom, for what.
    now
        With a zone; the signature holds for some minutes.
    method
        ``GET`` …
    query
        Its parameters, not encoded; no name twice.

    Returns
    -------
    dict
        Headers that the request must be sent with.
    """
    url = urlsplit(address)
    moment = now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    signed = {name.lower(): text.strip() for name, text in headers.items()}
    signed |= {"host": url.netloc, "x-amz-date": moment}
    if keys.token:
        signed["x-amz-security-token"] = keys.token
    names = ";".join(sorted(signed))
    canonical = "\n".join(
        (
            method,
            quote(url.path or "/", safe="/~"),
            _query_text(query or {}),
            *(f"{name}:{signed[name]}" for name in sorted(signed)),
            "",
            names,
            hashlib.sha256(body).hexdigest(),
        )
    )
    parts = (moment[:8], scope.region, scope.service, "aws4_request")
    text = "\n".join(
        (_ALGORITHM, moment, "/".join(parts), hashlib.sha256(canonical.encode()).hexdigest())
    )
    key = f"AWS4{keys.secret_key}".encode()
    for part in parts:
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    credential = f"Credential={keys.access_key}/{'/'.join(parts)}"
    return signed | {
        "authorization": f"{_ALGORITHM} {credential}, SignedHeaders={names}, Signature={signature}"
    }


def _query_text(query: Mapping[str, str]) -> str:
    pairs = sorted((quote(name, safe="~"), quote(text, safe="~")) for name, text in query.items())
    return "&".join(f"{name}={text}" for name, text in pairs)
