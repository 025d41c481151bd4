"""A machine between a client and a server, which loses answers."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from http.server import BaseHTTPRequestHandler
from typing import ClassVar
from urllib.parse import urlsplit

from tests.listening import listening


class Fault(Enum):
    """What becomes of a request."""

    UNAVAILABLE_BEFORE = "503, and the server never saw it"
    UNAVAILABLE_AFTER = "503, and it was done"
    FAILED_AFTER = "500, and it was done"
    SILENCE_AFTER = "no answer, and it was done"
    RESET_AFTER = "the connection breaks, and it was done"
    TWICE = "done twice, and the second answer comes"
    TOO_MANY = "429, and the server never saw it"


Plan = Callable[[str, str], Fault | None]
"""From method and path to a fault."""
SILENCE_SECONDS = 1.0


@contextmanager
def proxy(address: str, plan: Plan) -> Iterator[str]:
    """Run it in front of a server, and give its address."""
    handler = type("Handler", (_Handler,), {"there": urlsplit(address).netloc, "plan": [plan]})
    with listening(handler) as found:
        yield found


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    there: ClassVar[str]
    plan: ClassVar[list[Plan]]

    def _forward(self, body: bytes) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(self.there, timeout=30)
        try:
            headers = {
                name: value for name, value in self.headers.items() if name.lower() != "host"
            }
            connection.request(self.command, self.path, body or None, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fault = self.plan[0](self.command, self.path)
        if fault in _BEFORE:
            return self._send(*_BEFORE[fault])
        answer = self._forward(body)
        if fault is Fault.TWICE:
            answer = self._forward(body)
        if fault is Fault.SILENCE_AFTER:
            time.sleep(SILENCE_SECONDS)
        if fault in (Fault.SILENCE_AFTER, Fault.RESET_AFTER):
            self.close_connection = True
            return None
        return self._send(*_AFTER.get(fault, answer))

    do_GET = do_POST = do_DELETE = _answer  # noqa: N815 - called by these names

    def _send(self, status: int, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass


_Answer = tuple[int, bytes]
_BEFORE: Mapping[Fault | None, _Answer] = {
    Fault.UNAVAILABLE_BEFORE: (503, b"not now"),
    Fault.TOO_MANY: (429, b"slower"),
}
_AFTER: Mapping[Fault | None, _Answer] = {
    Fault.UNAVAILABLE_AFTER: (503, b"<html>gateway</html>"),
    Fault.FAILED_AFTER: (500, b'{"message": "Service Failure", "code": 500}'),
}
