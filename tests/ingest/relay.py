"""A relay to a server of 127.0.0.1: it may stop to pass anything on, as a network that is gone."""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
import threading
import time
from collections.abc import Iterator

from tests.certificates import Certificates

_RECORD_BYTES = 16_384
"""The most that one record of TLS has."""
_QUIET_SECONDS = 0.02


class Relay:
    """Passes bytes on, both ways."""

    def __init__(self, port: int, certificates: Certificates | None = None) -> None:
        self._to = port
        self._context = None
        if certificates is not None:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(certificates.server, certificates.key)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.swallows = threading.Event()
        """Whether nothing is passed on; connections are still made."""
        self._forgotten = threading.Event()
        self._ended = threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()

    def forget_clients(self) -> None:
        """End the connections of clients; the server is not told."""
        self._forgotten.set()
        self._forgotten = threading.Event()

    def close(self) -> None:
        self._ended.set()
        self._listener.close()

    def _listen(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._served, args=(client,), daemon=True).start()

    def _served(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            stack.enter_context(client)
            near = client
            if self._context is not None:
                client.recv(8)  # PostgreSQL's clients ask first
                client.sendall(b"S")
                near = stack.enter_context(self._context.wrap_socket(client, server_side=True))
            far = stack.enter_context(socket.create_connection(("127.0.0.1", self._to)))
            self._pass(near, far)

    def _pass(self, near: socket.socket, far: socket.socket) -> None:
        waiting, forgotten = b"", self._forgotten
        while not self._ended.is_set():
            if forgotten.is_set():
                near.close()
                self._ended.wait()
                return
            ready = select.select([near, far], [], [], _QUIET_SECONDS)[0]
            if isinstance(near, ssl.SSLSocket) and near.pending():
                ready = [near]
            for one in ready:
                found = one.recv(1 << 20)
                if not found:
                    return
                if self.swallows.is_set():
                    continue
                if one is near:
                    far.sendall(found)
                elif self._context is None:
                    near.sendall(found)
                else:
                    waiting += found
            if waiting and far not in ready:
                _send_full(near, waiting)
                waiting = b""


def _send_full(near: socket.socket, waiting: bytes) -> None:
    """Send bytes so that the last record is a full one."""
    first = len(waiting) % _RECORD_BYTES
    if first:
        near.sendall(waiting[:first])
        time.sleep(_QUIET_SECONDS / 2)
    near.sendall(waiting[first:])


@contextlib.contextmanager
def relay(port: int, certificates: Certificates | None = None) -> Iterator[Relay]:
    """Run a relay to a port.

    Parameters
    ----------
    port
        Of the server, which does not encrypt where the relay does.
    certificates
        The relay encrypts as PostgreSQL does, in the largest records that there are, and what was
        sent ends with a full one; None: it passes bytes as they are.
    """
    made = Relay(port, certificates)
    try:
        yield made
    finally:
        made.close()
