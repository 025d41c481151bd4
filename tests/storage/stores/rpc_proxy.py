"""A proxy before HDFS' name node that loses answers of calls, with the connection they are on.

A call names its method at its begin: apache/hadoop ``RpcHeader.proto``. Data nodes are reached
directly.
"""

from __future__ import annotations

import contextlib
import select
import socket
import socketserver
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from tests.ports import HOST

Loss = Literal["reset before", "reset after"]
_ANSWER_SECONDS = 20
_MOVES = (b"\x07rename2", b"\x06rename")
"""The methods by which snapshots are published, as the protocol has texts."""


@dataclass
class RpcProxy:
    """What goes wrong with moves of files."""

    url: str
    choose: Callable[[], Loss | None] = lambda: None
    done: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def loss(self, data: bytes) -> Loss | None:
        """Say what becomes of the connection on which these bytes come."""
        if not any(name in data for name in _MOVES):
            return None
        with self.lock:
            found = self.choose()
            if found:
                self.done[found] += 1
        return found


@contextmanager
def rpc_proxy_of(server: str) -> Iterator[RpcProxy]:
    """Stand before a name node, on 127.0.0.1."""
    there = urlsplit(server)
    proxy = RpcProxy("")

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            client: socket.socket = self.request
            with (
                contextlib.suppress(OSError),
                socket.create_connection((str(there.hostname), int(there.port or 0))) as behind,
            ):
                while True:
                    ready, _, _ = select.select([client, behind], [], [])
                    for one in ready:
                        data = one.recv(1 << 16)
                        if not data:
                            return
                        loss = proxy.loss(data) if one is client else None
                        if loss == "reset before":
                            return
                        (behind if one is client else client).sendall(data)
                        if loss == "reset after":
                            behind.settimeout(_ANSWER_SECONDS)
                            behind.recv(1 << 16)  # it was done; nobody is told
                            return

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False

    with Server((HOST, 0), Handler) as listening:
        threading.Thread(target=listening.serve_forever, args=(0.02,), daemon=True).start()
        proxy.url = f"hdfs://{HOST}:{listening.server_address[1]}"
        try:
            yield proxy
        finally:
            listening.shutdown()
