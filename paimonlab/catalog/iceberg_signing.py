"""Requests to REST catalogs of Iceberg's that AWS serves: Glue, S3 Tables; signed by version 4.

Source: Iceberg 1.12.0 ``org.apache.iceberg.aws.AwsProperties`` and ``RESTSigV4AuthManager``.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from paimonlab.catalog.rest.signing import SignedRequest
from paimonlab.errors import UnsupportedError

if TYPE_CHECKING:
    from paimonlab.storage.stores.keys import Keys

_DEFAULT_SERVICE = "execute-api"
_VARIABLES = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")


@dataclass(frozen=True, slots=True)
class AwsSignatures:
    """Signs each request by itself; see `paimonlab.catalog.rest.credentials.Credentials`."""

    address: str
    """Of the catalog, with the path before ``/v1``."""
    keys: Keys = field(repr=False)
    region: str
    service: str
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    @classmethod
    def of(cls, properties: Mapping[str, str], address: str) -> AwsSignatures:
        """Find keys and region: among the properties, in the environment, in a profile.

        Raises
        ------
        ValueError
            If there are none.
        UnsupportedError
            If obstore is not installed, or a profile takes its keys from elsewhere.
        """
        try:
            from paimonlab.storage.stores.aws_profiles import profile  # noqa: PLC0415 - obstore
            from paimonlab.storage.stores.keys import Keys  # noqa: PLC0415
        except ModuleNotFoundError as error:
            if error.name != "obstore":
                raise
            raise UnsupportedError(
                f"{address} with signatures of AWS without obstore",
                "pip install 'paimonlab[stores]'",
            ) from None
        named = properties.get("rest.access-key-id")
        in_profile = {} if named or os.environ.get(_VARIABLES[0]) else profile()
        key: str | None
        if named:
            key, secret = named, properties.get("rest.secret-access-key")
            token = properties.get("rest.session-token")
        elif in_profile:
            key, secret = (in_profile.get(name.lower()) for name in _VARIABLES[:2])
            token = in_profile.get("aws_session_token")
        else:
            key, secret, token = (os.environ.get(name) for name in _VARIABLES)
        regions = (
            properties.get("rest.signing-region"),
            *map(os.environ.get, _REGIONS),
            in_profile.get("region"),
        )
        region = next(filter(None, regions), None)
        if not key or not secret:
            raise ValueError(
                f"{address}: there are no keys to sign requests with: give "
                "'rest.access-key-id' and 'rest.secret-access-key', or set "
                f"{_VARIABLES[0]} and {_VARIABLES[1]}"
            )
        if not region:
            raise ValueError(
                f"{address}: there is no region to sign requests for: give "
                f"'rest.signing-region', or set {_REGIONS[0]}"
            )
        service = properties.get("rest.signing-name", _DEFAULT_SERVICE)
        return cls(address, Keys(key, secret, token or None), region, service)

    def headers(self, request: SignedRequest) -> Mapping[str, str]:
        """Return a signature that holds for some minutes."""
        from paimonlab.storage.stores.signing import Scope, signed_headers  # noqa: PLC0415

        return signed_headers(
            self.address + request.path,
            {"x-amz-content-sha256": hashlib.sha256(request.body).hexdigest()},
            request.body,
            keys=self.keys,
            scope=Scope(self.region, self.service),
            now=self.clock(),
            method=request.method,
            query=request.query,
        )
