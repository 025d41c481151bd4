"""A REST catalog of Iceberg's over pyiceberg's own catalog in SQLite, whose files are in a bucket.

It notes each request, and can be like AWS Glue: paths have a prefix with slashes, tables are
created only with a location, and requests are signed. Sources: Iceberg's REST catalog
specification; docs.aws.amazon.com, "Connecting to the Data Catalog using AWS Glue Iceberg REST
endpoint" and "Create a signed AWS API request". pyiceberg's ``location`` of a table is not asked
for where one is given.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException, NoSuchNamespaceError, NoSuchTableError
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import CommitTableRequest

from tests.listening import listening

PREFIX = "catalogs/123456789012"
KEY, SECRET = "AKzqhush", "SKzqhush"
_AUTHORISATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([\w-]+)/([\w-]+)/aws4_request, "
    r"SignedHeaders=([\w;-]+), Signature=([0-9a-f]{64})"
)


@dataclass
class Asked:
    """One request."""

    method: str
    path: str
    """As it came."""
    headers: Mapping[str, str]
    """By names in lower case."""
    body: bytes


@dataclass
class Catalog:
    """What the server keeps."""

    tables: SqlCatalog
    allows: Callable[[Asked], bool] = lambda asked: True
    needs_location: bool = False
    url: str = ""
    """With a path before that of the protocol, as Glue's has."""
    asked: list[Asked] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)


class RefusedError(Exception):
    """An answer that is an error: status, type."""


def is_signed(asked: Asked, region: str, service: str) -> bool:
    """Whether a request has the signature that its parts make."""
    found = _AUTHORISATION.fullmatch(asked.headers.get("authorization", ""))
    if found is None:
        return False
    key, day, named, of, names, signature = found.groups()
    url = urlsplit(asked.path)
    query = sorted(parse_qsl(url.query, keep_blank_values=True))
    canonical = "\n".join(
        (
            asked.method,
            quote(url.path, safe="/-_.~"),
            "&".join(f"{quote(k, safe='-_.~')}={quote(v, safe='-_.~')}" for k, v in query),
            *(f"{name}:{asked.headers[name]}" for name in names.split(";")),
            "",
            names,
            hashlib.sha256(asked.body).hexdigest(),
        )
    )
    scope = f"{day}/{region}/{service}/aws4_request"
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    text = "\n".join(("AWS4-HMAC-SHA256", asked.headers["x-amz-date"], scope, digest))
    secret = f"AWS4{SECRET}".encode()
    for part in scope.split("/"):
        secret = hmac.digest(secret, part.encode(), "sha256")
    right = hmac.digest(secret, text.encode(), "sha256").hex()
    return {"host", "x-amz-date"} <= {*names.split(";")} and (key, named, of, signature) == (
        KEY,
        region,
        service,
        right,
    )


def _answer_of(catalog: Catalog, asked: Asked) -> Any:
    url = urlsplit(asked.path)
    base = f"{urlsplit(catalog.url).path}/v1"
    if not catalog.allows(asked):
        raise RefusedError(401, "NotAuthorizedException")
    if url.path == f"{base}/config":
        return {"defaults": {}, "overrides": {"prefix": PREFIX}}
    if not url.path.startswith(f"{base}/{PREFIX}/namespaces"):
        raise RefusedError(400, f"BadRequestException: {url.path}")
    parts = [*map(unquote, url.path.removeprefix(f"{base}/{PREFIX}/").split("/"))]
    body = json.loads(asked.body) if asked.body else {}
    with catalog.lock:
        return _done(catalog, asked.method, parts, body)


def _done(catalog: Catalog, method: str, parts: list[str], body: Any) -> Any:
    tables = catalog.tables
    if len(parts) == 1:
        tables.create_namespace(".".join(body["namespace"]))
        return body
    name = parts[1]
    if len(parts) == 2:
        if not tables.namespace_exists(name):
            raise NoSuchNamespaceError(name)
        return {"namespace": [name], "properties": {}}
    if len(parts) == 3:
        if not tables.namespace_exists(name):
            raise NoSuchNamespaceError(name)
        if catalog.needs_location and "location" not in body:
            raise RefusedError(400, "BadRequestException: Table location is required")
        spec = PartitionSpec.model_validate(body.get("partition-spec") or {"spec-id": 0})
        made = tables.create_table(
            f"{name}.{body['name']}",
            Schema.model_validate(body["schema"]),
            body.get("location"),
            spec,
            properties=body["properties"],
        )
    else:
        made = tables.load_table(f"{name}.{parts[3]}")
        if method == "DELETE":
            tables.drop_table(f"{name}.{parts[3]}")
            return {}
        if method == "POST":
            told = CommitTableRequest.model_validate(body)
            tables.commit_table(made, told.requirements, told.updates)
            made = tables.load_table(f"{name}.{parts[3]}")
    return {
        "metadata-location": made.metadata_location,
        "metadata": json.loads(made.metadata.model_dump_json()),
        "config": {},
    }


@contextmanager
def serving(tables: SqlCatalog) -> Iterator[Catalog]:
    """Serve it on 127.0.0.1."""
    catalog = Catalog(tables)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): text for name, text in self.headers.items()}
            asked = Asked(self.command, self.path, headers, body)
            catalog.asked.append(asked)
            try:
                self._say(200, _answer_of(catalog, asked))
            except RefusedError as error:
                self._fail(*error.args)
            except (NoSuchNamespaceError, NoSuchTableError) as error:
                self._fail(404, f"{type(error).__name__}: {error}")
            except CommitFailedException as error:
                self._fail(409, f"CommitFailedException: {error}")

        def _fail(self, status: int, told: str) -> None:
            kind, _, message = told.partition(": ")
            self._say(status, {"error": {"message": message or kind, "type": kind, "code": status}})

        def _say(self, status: int, told: Any) -> None:
            data = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_DELETE = _answer  # noqa: N815 - as called there

    with listening(Handler) as address:
        catalog.url = f"{address}/iceberg"
        yield catalog
