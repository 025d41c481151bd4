"""Schemas of Avro from a registry, by the number that each message begins with.

Source: Confluent Schema Registry's API, ``GET /schemas/ids/{id}``, and its wire format: a zero
byte, the schema's id in four bytes, most significant first, then the record in Avro.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import ssl
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from paimonlab.errors import SourceError, UnsupportedError

MAGIC = 0
HEADER = 5
"""Bytes before the record."""
_MOST_BYTES = 16 << 20
_NOT_FOUND = 404


@dataclass(kw_only=True)
class Registry:
    """A client that asks for each schema once."""

    url: str
    """``http://host:port`` with or without a path; never with a password in it."""
    user: str | None = None
    password_env: str | None = None
    """Name of the environment variable that has the password."""
    timeout_seconds: float = 10.0
    _known: dict[int, dict[str, Any]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"a schema registry is http://host:port, not {self.url!r}")
        if parts.password:
            raise ValueError(
                "a schema registry's password belongs into the environment: password_env="
            )

    def schema(self, number: int) -> dict[str, Any]:
        """Return the Avro schema with an id, parsed JSON.

        Raises
        ------
        UnsupportedError
            If the schema is Protobuf or JSON Schema.
        SourceError
            If the registry does not answer or has no such schema.
        """
        found = self._known.get(number)
        if found is None:
            found = self._known[number] = self._fetched(number)
        return found

    def _fetched(self, number: int) -> dict[str, Any]:
        status, body = self._ask(f"/schemas/ids/{number}")
        if status != http.client.OK:
            what = "has no schema" if status == _NOT_FOUND else f"answers {status} for schema"
            raise SourceError(f"schema registry {self.url}", f"it {what} {number}: {body[:200]!r}")
        answer = json.loads(body)
        kind = answer.get("schemaType", "AVRO")
        if kind != "AVRO":
            raise UnsupportedError(f"schema {number} of type {kind} in a registry", "Avro is read")
        if answer.get("references"):
            raise UnsupportedError(
                f"schema {number} with references", "register the schema as one document"
            )
        parsed = json.loads(answer["schema"])
        return parsed if isinstance(parsed, dict) else {"type": parsed}

    def _ask(self, path: str) -> tuple[int, bytes]:
        parts = urlsplit(self.url)
        assert parts.hostname is not None
        if parts.scheme == "https":
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                parts.hostname,
                parts.port,
                timeout=self.timeout_seconds,
                context=ssl.create_default_context(),
            )
        else:
            connection = http.client.HTTPConnection(
                parts.hostname, parts.port, timeout=self.timeout_seconds
            )
        try:
            connection.request("GET", parts.path.rstrip("/") + path, headers=self._headers())
            response = connection.getresponse()
            return response.status, response.read(_MOST_BYTES)
        except (OSError, http.client.HTTPException) as error:
            raise SourceError(
                f"schema registry {self.url}", f"it does not answer: {error}"
            ) from error
        finally:
            connection.close()

    def _headers(self) -> dict[str, str]:
        headers = {"Accept": "application/vnd.schemaregistry.v1+json"}
        if self.user is not None:
            password = os.environ.get(self.password_env or "", "")
            token = base64.b64encode(f"{self.user}:{password}".encode()).decode()
            headers["Authorization"] = f"Basic {token}"
        return headers
