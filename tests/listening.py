"""Servers of HTTP that tests write themselves, on a port of 127.0.0.1 that is free."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.ports import HOST

_LOOK_SECONDS = 0.02
"""How often a server sees whether it is to end."""


class ResettingHandler(BaseHTTPRequestHandler):
    """A handler that can say nothing, and break the connection instead."""

    def reset(self) -> None:
        """Break it."""
        self.close_connection = True
        self.connection.close()


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler], port: int = 0) -> Iterator[str]:
    """Answer requests in threads; return the address, without a slash at its end.

    Port 0 is one that is free.
    """
    with ThreadingHTTPServer((HOST, port), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(_LOOK_SECONDS,), daemon=True)
        thread.start()
        try:
            yield f"http://{HOST}:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def body_of(request: BaseHTTPRequestHandler) -> bytes:
    """Read the body of a request, also one that comes in chunks."""
    if request.headers.get("transfer-encoding") != "chunked":
        return request.rfile.read(int(request.headers.get("content-length") or 0))
    pieces = []
    while size := int(request.rfile.readline(), 16):
        pieces.append(request.rfile.read(size))
        request.rfile.readline()
    request.rfile.readline()
    return b"".join(pieces)
