"""A machine between a client and a metastore, which cuts connections."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

_AT_ONCE = 1 << 20


@dataclass
class Proxy:
    """What happens to calls, by their names; each fault happens once."""

    uri: str
    loses_answers_of: set[str] = field(default_factory=set)
    """The metastore did it, and the connection breaks."""
    loses: set[str] = field(default_factory=set)
    """The connection breaks, and the metastore never saw it."""
    before: dict[str, Callable[[], None]] = field(default_factory=dict)
    """What is done before a call is handed on."""
    calls: list[str] = field(default_factory=list)

    def serve(self, client: socket.socket, port: int) -> None:
        """Hand calls of one connection on, and answers back."""
        with (
            client,
            contextlib.suppress(OSError),
            socket.create_connection(("127.0.0.1", port)) as server,
        ):
            while True:
                request = client.recv(_AT_ONCE)
                if not request:
                    return
                name = _name_of(request)
                self.calls.append(name)
                if name in self.before:
                    self.before.pop(name)()
                if name in self.loses:
                    self.loses.remove(name)
                    return
                server.sendall(request)
                answer = server.recv(_AT_ONCE)
                if name in self.loses_answers_of:
                    self.loses_answers_of.remove(name)
                    return
                if not answer:
                    return
                client.sendall(answer)


def _name_of(request: bytes) -> str:
    """Return the name in a message of Thrift's binary protocol: version, length, name."""
    length = int.from_bytes(request[4:8], "big")
    return request[8 : 8 + length].decode("latin-1")


@contextlib.contextmanager
def proxy(port: int) -> Iterator[Proxy]:
    """Run it in front of a metastore."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        made = Proxy(f"thrift://127.0.0.1:{listening.getsockname()[1]}")

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    client, _ = listening.accept()
                    threading.Thread(target=made.serve, args=(client, port), daemon=True).start()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield made
        listening.shutdown(socket.SHUT_RDWR)
    thread.join(10)
