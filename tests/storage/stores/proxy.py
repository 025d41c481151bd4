"""A proxy that loses, delays and falsifies answers, as networks and busy stores do."""

from __future__ import annotations

import http.client
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal
from urllib.parse import urlsplit

Fault = Literal["503 before", "503 after", "409", "reset before", "reset after", "cut", "403"]
_CONDITIONS = frozenset(
    ("if-none-match", "if-match", "x-goog-if-generation-match", "x-oss-forbid-overwrite")
)


@dataclass
class Proxy:
    """What goes wrong, and what was asked."""

    url: str
    choose: Callable[[str, str, bool], Fault | None] = lambda method, path, is_conditional: None
    """From the method, the path and whether it is a conditional write to a fault."""
    wait: Callable[[str, str], object] = lambda method, path: None
    """Called before each request by its own thread, from method and path."""
    ignores_conditions: bool = False
    """Whether it does not pass conditions on, as old stores do not know them."""
    signatures: list[str] = field(default_factory=list)
    tokens: list[str | None] = field(default_factory=list)
    asked: Counter[str] = field(default_factory=Counter)
    """Requests by method."""
    done: Counter[str] = field(default_factory=Counter)
    """Faults by name."""
    lock: threading.Lock = field(default_factory=threading.Lock)


@contextmanager
def proxy_of(server: str) -> Iterator[Proxy]:  # noqa: C901 - a class with its closure
    """Stand before a server, on 127.0.0.1."""
    host = urlsplit(server).netloc
    proxy = Proxy("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            conditional = not _CONDITIONS.isdisjoint(key.lower() for key in self.headers)
            is_write = self.command == "PUT" and conditional
            proxy.wait(self.command, self.path)
            with proxy.lock:
                proxy.signatures.append(self.headers.get("authorization", ""))
                proxy.tokens.append(self.headers.get("x-amz-security-token"))
                fault = proxy.choose(self.command, self.path, is_write)
                proxy.asked[self.command] += 1
                if fault:
                    proxy.done[fault] += 1
            if fault in ("503 before", "409", "403"):
                self._say(int(fault[:3]), fault, b"")
                return
            if fault == "reset before":
                self._reset()
                return
            there = http.client.HTTPConnection(host, timeout=60)
            left = _CONDITIONS if proxy.ignores_conditions else frozenset()
            headers = {
                key: value
                for key, value in self.headers.items()
                if key.lower() not in {"connection", *left}
            }
            there.request(self.command, self.path, body, headers)
            answer = there.getresponse()
            data = answer.read()
            there.close()
            if fault == "503 after":
                self._say(503, fault, b"")
                return
            if fault == "reset after":
                self._reset()
                return
            self.send_response(answer.status)
            for key, value in answer.getheaders():
                if key.lower() not in ("connection", "content-length", "transfer-encoding"):
                    self.send_header(key, value)
            size = answer.getheader("content-length") if self.command == "HEAD" else len(data)
            self.send_header("Content-Length", str(size or 0))
            self.end_headers()
            if self.command == "HEAD":
                return
            if fault == "cut":
                self.wfile.write(data[: len(data) // 2])
                self._reset()
                return
            self.wfile.write(data)

        def _say(self, status: int, message: str, data: bytes) -> None:
            self.send_response(status, message)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _reset(self) -> None:
            self.close_connection = True
            self.connection.close()

        do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = _answer  # noqa: N815 - as called there

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        listening.daemon_threads = True
        proxy.url = f"http://127.0.0.1:{listening.server_address[1]}"
        thread = threading.Thread(target=listening.serve_forever, daemon=True)
        thread.start()
        try:
            yield proxy
        finally:
            listening.shutdown()
            thread.join()
