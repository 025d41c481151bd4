"""A proxy that loses, delays and falsifies answers, as networks and busy stores do."""

from __future__ import annotations

import http.client
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from tests.listening import ResettingHandler, listening

Fault = Literal[
    "503 before",
    "503 after",
    "507",
    "409",
    "412 after",
    "403",
    "403 quota",
    "reset before",
    "reset within",
    "reset after",
    "stall",
    "cut",
    "killed before",
    "killed after",
]
"""``412 after``: the request is done twice, and the second answer comes. ``reset within``: the
connection breaks in the middle of its body. ``stall``: the answer comes late. ``cut``: half of it
comes. ``killed``: the process ends, with all of its connections."""
_BODIES: Mapping[Fault, tuple[str, str]] = {
    "507": ("XMinioStorageFull", "Storage backend has reached its minimum free drive threshold."),
    "403 quota": ("QuotaExceeded", ""),
}
"""What MinIO and Ceph answer, code and message."""
_CONDITIONS = frozenset(
    (
        "if-none-match",
        "if-match",
        "x-goog-if-generation-match",
        "x-oss-forbid-overwrite",
        "x-obs-forbid-overwrite",
    )
)


@dataclass
class Proxy:
    """What goes wrong, and what was asked."""

    url: str
    choose: Callable[[str, str, bool], Fault | None] = lambda method, path, is_conditional: None
    """From the method, the path and whether it is a conditional write to a fault."""
    wait: Callable[[str, str], object] = lambda method, path: None
    """Called before each request by its own thread, from method and path."""
    stall_seconds: float = 0.0
    """So late an answer comes that stalls."""
    ignores_conditions: bool = False
    """Whether it does not pass conditions on, as old stores do not know them."""
    signatures: list[str] = field(default_factory=list)
    tokens: list[str | None] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)
    """What asked, as each request says."""
    asked: Counter[str] = field(default_factory=Counter)
    """Requests by method."""
    done: Counter[str] = field(default_factory=Counter)
    """Faults by name."""
    lock: threading.Lock = field(default_factory=threading.Lock)


@contextmanager
def proxy_of(server: str, port: int = 0) -> Iterator[Proxy]:  # noqa: C901 - a class with its closure
    """Stand before a server, on 127.0.0.1; 0: on a free port."""
    host = urlsplit(server).netloc
    proxy = Proxy("")

    class Handler(ResettingHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def _answer(self) -> None:
            fault = self._fault()
            size = int(self.headers.get("content-length") or 0)
            body = self.rfile.read(size // 2 if fault == "reset within" else size)
            if fault in ("503 before", "507", "409", "403", "403 quota"):
                code, message = _BODIES.get(fault, ("", ""))
                told = f"<Error><Code>{code}</Code><Message>{message}</Message></Error>"
                self._say(int(fault[:3]), fault, told.encode() if code else b"")
                return
            if fault in ("reset before", "reset within"):
                self.reset()
                return
            if fault == "killed before":
                os.kill(os.getpid(), signal.SIGKILL)
            answer, data = self._forwarded(body)
            if fault == "412 after":
                answer, data = self._forwarded(body)
            if fault == "killed after":
                os.kill(os.getpid(), signal.SIGKILL)
            if fault == "stall":
                time.sleep(proxy.stall_seconds)
            if fault == "503 after":
                self._say(503, fault, b"")
            elif fault == "reset after":
                self.reset()
            else:
                self._pass_on(answer, data, is_cut=fault == "cut")

        def _pass_on(self, answer: http.client.HTTPResponse, data: bytes, *, is_cut: bool) -> None:
            self.send_response(answer.status)
            for key, value in answer.getheaders():
                if key.lower() not in ("connection", "content-length", "transfer-encoding"):
                    self.send_header(key, value)
            size = answer.getheader("content-length") if self.command == "HEAD" else len(data)
            self.send_header("Content-Length", str(size or 0))
            self.end_headers()
            if self.command == "HEAD":
                return
            if is_cut:
                self.wfile.write(data[: len(data) // 2])
                self.reset()
                return
            self.wfile.write(data)

        def _fault(self) -> Fault | None:
            conditional = not _CONDITIONS.isdisjoint(key.lower() for key in self.headers)
            is_write = self.command == "PUT" and conditional
            proxy.wait(self.command, self.path)
            with proxy.lock:
                proxy.signatures.append(self.headers.get("authorization", ""))
                proxy.tokens.append(self.headers.get("x-amz-security-token"))
                proxy.agents.append(self.headers.get("user-agent", ""))
                fault = proxy.choose(self.command, self.path, is_write)
                proxy.asked[self.command] += 1
                if fault:
                    proxy.done[fault] += 1
            return fault

        def _forwarded(self, body: bytes) -> tuple[http.client.HTTPResponse, bytes]:
            left = _CONDITIONS if proxy.ignores_conditions else frozenset()
            headers = {
                key: value
                for key, value in self.headers.items()
                if key.lower() not in {"connection", *left}
            }
            there = http.client.HTTPConnection(host, timeout=60)
            there.request(self.command, self.path, body, headers)
            answer = there.getresponse()
            data = answer.read()
            there.close()
            return answer, data

        def _say(self, status: int, message: str, data: bytes) -> None:
            self.send_response(status, message)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = _answer  # noqa: N815 - as called there

    with listening(Handler, port) as address:
        proxy.url = address
        yield proxy
