"""WebHDFS in memory, written from hadoop.apache.org, "WebHDFS REST API": what may go wrong with it.

Name node and data node are one server. What HDFS 3.3.6 answers was compared with a live one.
"""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.listening import ResettingHandler, body_of
from tests.ports import HOST

TOKEN = "DTzqhush"


@dataclass
class WebHdfs:
    """Files by path, and what goes wrong."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    faults: list[tuple[str, str]] = field(default_factory=list)
    """Operation and what becomes of the next one: ``reset before``, ``reset after``, ``503 before``
    …, or ``403 Name`` of an exception. ``DATA`` is what a data node gets."""
    token: str = ""
    """Which delegation token holds; "": users are believed."""
    is_httpfs: bool = False
    """Whether options of RENAME are unknown, as to HttpFS."""
    redirects_to: str = ""
    """Where else data is said to be."""
    absent: list[str] = field(default_factory=list)
    """Addresses of data nodes that are named first, one after the other, and are not there."""
    excluded: list[str] = field(default_factory=list)
    """On which hosts files were not to begin."""
    is_raw: bool = False
    """Whether redirects have the bytes of names as they are, not quoted."""
    asked: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def fault(self, operation: str) -> str:
        """Take the next fault of an operation."""
        with self.lock:
            self.asked.append(operation)
            if self.faults and self.faults[0][0] == operation:
                return self.faults.pop(0)[1]
        return ""

    def move(self, source: str, target: str, option: str) -> tuple[int, Any]:
        """Move a file."""
        with self.lock:
            if source not in self.files:
                return _refused(404, "FileNotFoundException", f"rename source {source} not found.")
            if target in self.files and option != "OVERWRITE":
                return _refused(403, "FileAlreadyExistsException", f"{target} already exists")
            self.files[target] = self.files.pop(source)
        return 200, None


def _refused(status: int, name: str, message: str) -> tuple[int, Any]:
    return status, {"RemoteException": {"exception": name, "message": f"{message}\n\tat org."}}


@contextmanager
def serving_webhdfs(  # noqa: C901 - a class with its closure
    certificate: Path | None = None, key: Path | None = None
) -> Iterator[WebHdfs]:
    """Serve it on 127.0.0.1, by TLS if there is a certificate."""
    service = WebHdfs()

    class Handler(ResettingHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def _answer(self) -> None:
            body = body_of(self)
            parts = urlsplit(self.path)
            query = dict(parse_qsl(parts.query))
            path = unquote(parts.path).removeprefix("/webhdfs/v1")
            operation = query["op"]
            if "data" in query:
                operation = "DATA" if operation == "CREATE" else "BYTES"
            if service.token and query.get("delegation") != service.token:
                self._say(401, None, {"WWW-Authenticate": "Negotiate"})
                return
            when, _, kind = service.fault(operation).partition(" ")
            if when == "reset" and kind == "before":
                self.reset()
            elif when == "503" and kind == "before":
                self._say(503, None)
            elif when == "403":
                self._say(*_refused(403, kind, "refused password=zqhush"))
            else:
                status, found = self._done(operation, path, query, body)
                if when == "reset":
                    self.reset()
                elif when == "cut" and isinstance(found, bytes):
                    self._say(status, found[:1])
                else:
                    self._say(int(when) if when else status, found)

        def _done(  # noqa: PLR0911 - a list of operations
            self, operation: str, path: str, query: dict[str, str], body: bytes
        ) -> tuple[int, Any]:
            if operation in ("CREATE", "OPEN"):
                service.excluded += filter(None, [query.get("excludedatanodes")])
                if operation == "OPEN" and path not in service.files:
                    return _refused(404, "FileNotFoundException", f"File {path} not found.")
                return 307, None
            if operation == "DATA":
                if path in service.files:
                    return _refused(403, "FileAlreadyExistsException", f"{path} exists")
                service.files[path] = body
                return 201, None
            if operation == "BYTES":
                start = int(query["offset"])
                return 200, service.files[path][start : start + int(query["length"])]
            if operation == "RENAME":
                option = "" if service.is_httpfs else query.get("renameoptions", "")
                status, told = service.move(path, query["destination"], option)
                return (status, told) if option else (200, {"boolean": status == 200})
            if operation == "DELETE":
                return 200, {"boolean": service.files.pop(path, None) is not None}
            assert operation == "GETFILESTATUS"
            if path not in service.files:
                return _refused(404, "FileNotFoundException", f"File does not exist: {path}")
            found = {"pathSuffix": "", "type": "FILE", "modificationTime": 1}
            return 200, {"FileStatus": {**found, "length": len(service.files[path])}}

        def _say(self, status: int, found: Any, headers: dict[str, str] | None = None) -> None:
            data = found if isinstance(found, bytes) else json.dumps(found or {}).encode()
            if found is None:
                data = b""
            self.send_response(status)
            if status == 307:
                here = service.absent.pop(0) if service.absent else ""
                path, _, query = self.path.partition("?")
                if service.is_raw:
                    path = unquote(path).encode().decode("latin-1")
                here = here or service.redirects_to or service.url
                self.send_header("Location", f"{here}{path}?{query}&data=true")
            for name, text in (headers or {}).items():
                self.send_header(name, text)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_PUT = do_DELETE = _answer  # noqa: N815 - as called there

    with ThreadingHTTPServer((HOST, 0), Handler) as server:
        server.daemon_threads = True
        scheme = "http"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            server.socket = context.wrap_socket(server.socket, server_side=True)
            scheme = "https"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        service.url = f"{scheme}://{HOST}:{server.server_address[1]}"
        try:
            yield service
        finally:
            server.shutdown()
            thread.join()
