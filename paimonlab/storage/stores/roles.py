"""Roles of S3's protocol: keys that hold for a while, for the objects of one folder.

Source: docs.aws.amazon.com, "AssumeRole" of the AWS Security Token Service, and "Session policies".
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener
from xml.sax.saxutils import unescape

from paimonlab.errors import StorageError
from paimonlab.storage.places import Place, place_of
from paimonlab.storage.schemes import check_has_roles
from paimonlab.storage.stores.aws_profiles import profile
from paimonlab.storage.stores.keys import Keys
from paimonlab.storage.stores.s3_options import S3Options, s3_options
from paimonlab.storage.stores.signing import Scope, signed_headers

SHORTEST_SECONDS, LONGEST_SECONDS = 900, 43_200
"""What an STS takes for the life of keys."""
_READS = ("s3:GetObject",)
_WRITES = ("s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload")
_ARN = re.compile(r"arn:[\w-]*:[\w-]*:[\w-]*:\S+")
_ADDRESS = re.compile(r"https?://[^\s/?#@]+(/[\w./~-]*)?")
_NOT_IN_NAMES = re.compile(r"[^\w+=,.@-]", re.ASCII)
_LONGEST_NAME = 64
_NAME = "paimonlab-"
_VARIABLES = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")


@dataclass(frozen=True, slots=True)
class RoleKeys:
    """Keys of a role, and until when they hold."""

    keys: Keys = field(repr=False)
    ends_at_millis: int


@dataclass(frozen=True, slots=True)
class Role:
    """A role, and who asks for it where."""

    arn: str
    address: str
    """Of the STS."""
    region: str
    duration_seconds: int
    keys: Keys = field(repr=False)
    timeout_seconds: float = 60.0

    def assumed(self, path: str, *, writes: bool) -> RoleKeys:
        """Ask for keys with which the objects of a folder are read, or also written.

        Raises
        ------
        StorageError
            If the STS refuses, or cannot be reached.
        UnsupportedError
            If the folder is not in a store of S3's protocol.
        """
        check_has_roles(path)
        place = place_of(path)
        name = _NAME + _NOT_IN_NAMES.sub("-", "-".join(place.key.split("/")[-2:]))
        question = {
            "Action": "AssumeRole",
            "Version": "2011-06-15",
            "RoleArn": self.arn,
            "RoleSessionName": name[:_LONGEST_NAME],
            "DurationSeconds": str(self.duration_seconds),
            "Policy": policy_of(place, writes=writes, partition=_partition(self.arn)),
        }
        return _keys_in(_answer(self, urlencode(question).encode()), self)


def role_of(
    options: Mapping[str, str],
    *,
    arn: str,
    sts_endpoint: str | None,
    duration_seconds: int,
) -> Role:
    """Find out how a role is asked for at a store of S3's protocol.

    Parameters
    ----------
    options
        Those of the catalog.
    arn
        Name of the role.
    sts_endpoint
        Address of the STS; None: the store's own, or that of AWS in the store's region.
    duration_seconds
        How long keys hold.

    Raises
    ------
    UnsupportedError
        If an option is not implemented, or keys are in a place that is not read.
    ValueError
        If something is missing, or is not allowed.
    """
    if not _ARN.fullmatch(arn):
        raise ValueError(f"the role {arn!r} is not a name such as arn:aws:iam::123456789012:role/a")
    if not SHORTEST_SECONDS <= duration_seconds <= LONGEST_SECONDS:
        raise ValueError(
            f"tokens of {duration_seconds} seconds: an STS takes from {SHORTEST_SECONDS} "
            f"to {LONGEST_SECONDS}"
        )
    if sts_endpoint is not None and not _ADDRESS.fullmatch(sts_endpoint):
        raise ValueError("the address of the STS is not http://host or https://host")
    found = s3_options(options)
    in_profile = {} if found.access_key or os.environ.get(_VARIABLES[0]) else profile()
    region = (
        found.region
        or os.environ.get("AWS_REGION")
        or os.environ.get("AWS_DEFAULT_REGION")
        or in_profile.get("region")
        or "us-east-1"
    )
    return Role(
        arn=arn,
        address=sts_endpoint or _address(found, in_profile, region),
        region=region,
        duration_seconds=duration_seconds,
        keys=_keys(found, in_profile),
        timeout_seconds=found.timeout_millis / 1000,
    )


def policy_of(place: Place, *, writes: bool, partition: str = "aws") -> str:
    """Return the policy that allows the objects of a folder alone, as JSON.

    Parameters
    ----------
    place
        The folder.
    writes
        Whether they may also be written and deleted.
    partition
        Which AWS the bucket is in: ``aws``, ``aws-cn`` …
    """
    # Marks that stand for any text would open other folders.
    key = re.sub(r"[*?$]", lambda mark: f"${{{mark[0]}}}", place.key)
    prefix = f"{key}/*" if key else "*"
    bucket = f"arn:{partition}:s3:::{place.bucket}"
    statements: list[dict[str, Any]] = [
        {
            "Effect": "Allow",
            "Action": [*_READS, *(_WRITES if writes else ())],
            "Resource": [f"{bucket}/{prefix}"],
        },
        {
            "Effect": "Allow",
            "Action": ["s3:ListBucket"],
            "Resource": [bucket],
            "Condition": {"StringLike": {"s3:prefix": [prefix]}},
        },
    ]
    return json.dumps({"Version": "2012-10-17", "Statement": statements}, separators=(",", ":"))


def _partition(arn: str) -> str:
    named = arn.split(":")[1]
    return named if named.startswith("aws") else "aws"


def _keys(options: S3Options, in_profile: Mapping[str, str]) -> Keys:
    if options.access_key is not None:
        return Keys(options.access_key, str(options.secret_key), options.session_token)
    key, secret, token = (os.environ.get(name) for name in _VARIABLES)
    if not key:
        key, secret = (in_profile.get(name.lower()) for name in _VARIABLES[:2])
        token = in_profile.get("aws_session_token")
    if not key or not secret or options.is_anonymous:
        raise ValueError(
            "a role is asked for with keys, and there are none: give s3.access-key and "
            f"s3.secret-key, or set {_VARIABLES[0]} and {_VARIABLES[1]}"
        )
    return Keys(key, secret, token or None)


def _address(options: S3Options, in_profile: Mapping[str, str], region: str) -> str:
    found = (
        options.endpoint
        or os.environ.get("AWS_ENDPOINT_URL_S3")
        or os.environ.get("AWS_ENDPOINT_URL")
        or in_profile.get("endpoint_url")
    )
    host = urlsplit(found or "").hostname or "amazonaws.com"
    if not host.endswith(("amazonaws.com", "amazonaws.com.cn")):
        return str(found)
    return f"https://sts.{region}.amazonaws.com{'.cn' if region.startswith('cn-') else ''}"


class _NoRedirects(HTTPRedirectHandler):
    """A signature is for one address."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _answer(role: Role, body: bytes) -> str:
    headers = signed_headers(
        role.address,
        {"content-type": "application/x-www-form-urlencoded; charset=utf-8"},
        body,
        keys=role.keys,
        scope=Scope(role.region, "sts"),
        now=datetime.now(UTC),
    )
    request = Request(role.address, body, headers, method="POST")  # noqa: S310 - it is http or https
    try:
        with build_opener(_NoRedirects()).open(request, timeout=role.timeout_seconds) as answer:
            return str(answer.read().decode("utf-8", "replace"))
    except HTTPError as error:
        with error:
            told = error.read().decode("utf-8", "replace")
        reason = ": ".join(
            filter(None, (_text(told, "Code") or f"HTTP {error.code}", _text(told, "Message")))
        )
        raise _failed(role, f"the STS does not give the role {role.arn}: {reason}") from None
    except URLError as error:
        raise _failed(role, f"the STS cannot be reached: {error.reason}") from None
    except (OSError, HTTPException) as error:
        raise _failed(role, f"the STS cannot be reached: {error}") from None


def _keys_in(answer: str, role: Role) -> RoleKeys:
    names = ("AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration")
    key, secret, token, end = (_text(answer, name) for name in names)
    try:
        ends_at = datetime.fromisoformat(end or "")
    except ValueError:
        ends_at = None
    if not key or not secret or not token or ends_at is None:
        raise _failed(role, "what the STS answers has no keys, or not until when they hold")
    if ends_at.tzinfo is None:
        ends_at = ends_at.replace(tzinfo=UTC)
    return RoleKeys(Keys(key, secret, token), int(ends_at.timestamp() * 1000))


def _text(xml: str, name: str) -> str | None:
    found = re.search(rf"<{name}>\s*([^<]*?)\s*</{name}>", xml)
    return unescape(found[1]) if found else None


def _failed(role: Role, what: str) -> StorageError:
    for secret in filter(None, role.keys):
        what = what.replace(secret, "******")
    return StorageError(None, what, role.address)
