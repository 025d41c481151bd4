"""A registry of schemas for tests, and records as its clients write them."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

import fastavro

from tests.listening import listening

PROTOBUF = 9
"""Number of a schema that is none of Avro."""


@contextmanager
def schema_registry(schemas: Mapping[int, Any]) -> Iterator[str]:
    """Run a registry on a free port; return its address."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            number = int(self.path.rpartition("/")[2])
            if number == PROTOBUF:
                body, status = {"schemaType": "PROTOBUF", "schema": "syntax"}, 200
            elif number in schemas:
                body, status = {"schema": json.dumps(schemas[number])}, 200
            else:
                body, status = {"error_code": "40403", "message": "Schema not found"}, 404
            text = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_arguments: object) -> None:
            pass

    with listening(Answers) as address:
        yield address


def record(number: int, schema: Any, value: Mapping[str, Any]) -> bytes:
    """Write a record with the number of its schema before it."""
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(schema), value)
    return b"\0" + number.to_bytes(4, "big") + stream.getvalue()
