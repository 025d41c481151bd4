"""A front of a metastore that has TLS and asks for a login, as Thrift's SASL has it.

What is behind is a metastore without both. Source: RFC 4616, ``doc/specs/thrift-sasl-spec.txt`` of
Thrift.
"""

from __future__ import annotations

import contextlib
import socket
import socketserver
import ssl
import struct
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.certificates import Certificates
from tests.ports import HOST

USER, PASSWORD = "lake", "zqhushsea"


@contextmanager
def front_of(uri: str, made: Certificates) -> Iterator[Mapping[str, str]]:
    """Stand before a metastore; yield the options by which a catalog reaches the front."""
    host, _, port = uri.removeprefix("thrift://").partition(":")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(made.server, made.key)

    class Front(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with (
                contextlib.suppress(OSError, struct.error),
                context.wrap_socket(self.request, server_side=True) as client,
            ):
                if not _logged_in(client):
                    return
                with socket.create_connection((host, int(port))) as behind:
                    answers = threading.Thread(target=_framed, args=(behind, client))
                    answers.start()
                    with contextlib.suppress(OSError, struct.error):
                        while True:
                            (length,) = struct.unpack(">I", _exactly(client, 4))
                            behind.sendall(_exactly(client, length))
                    with contextlib.suppress(OSError):
                        behind.shutdown(socket.SHUT_RDWR)
                    answers.join()

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server((HOST, 0), Front) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield {
            "metastore": "hive",
            "uri": f"thrift://{HOST}:{server.server_address[1]}",
            "hive.metastore.use.SSL": "true",
            "hive.metastore.truststore.path": str(made.authority),
            "hive.metastore.client.auth.mode": "PLAIN",
            "hive.metastore.client.plain.username": USER,
            "hive.metastore.client.plain.password": PASSWORD,
        }
        server.shutdown()


def _logged_in(client: socket.socket) -> bool:
    status, length = struct.unpack(">BI", _exactly(client, 5))
    assert (status, _exactly(client, length)) == (1, b"PLAIN")
    status, length = struct.unpack(">BI", _exactly(client, 5))
    given = _exactly(client, length)
    is_right = given == f"\0{USER}\0{PASSWORD}".encode()
    told = b"" if is_right else b"it is not " + given.rpartition(b"\0")[2]
    client.sendall(struct.pack(">BI", 5 if is_right else 3, len(told)) + told)
    return is_right


def _framed(behind: socket.socket, client: socket.socket) -> None:
    """Send answers in frames, also of a few bytes."""
    with contextlib.suppress(OSError):
        while data := behind.recv(1 << 16):
            for piece in (data[:3], data[3:]):
                client.sendall(struct.pack(">I", len(piece)) + piece)


def _exactly(source: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        more = source.recv(size - len(found))
        if not more:
            raise ConnectionError("it ended")
        found += more
    return found
