"""A store for benchmarks: the files of a folder over S3's protocol, behind a slow link.

``python -m benchmarks.remote_server FOLDER BUCKET LATENCY_MS MEGABYTES_A_SECOND`` prints its address and serves
on 127.0.0.1 until its standard input ends. It answers GET, with ranges, HEAD and listings; every
answer waits for the latency of the link, and all of them share its bandwidth.
"""

from __future__ import annotations

import email.utils
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

_CHUNK_BYTES = 128 << 10


class Link:
    """What all answers share: latency, bandwidth, and counts of what was asked."""

    def __init__(self, latency_seconds: float, bytes_a_second: float) -> None:
        self.latency_seconds, self._bytes_a_second = latency_seconds, bytes_a_second
        self._lock = threading.Lock()
        self._free_at = 0.0
        self.requests = 0
        self.bytes = 0

    def begin(self) -> float:
        """Count a request; return when the begin of its answer arrives."""
        with self._lock:
            self.requests += 1
        return time.monotonic() + self.latency_seconds

    def pass_on(self, count: int) -> None:
        """Wait until so many bytes have gone through."""
        with self._lock:
            self.bytes += count
            start = max(self._free_at, time.monotonic())
            self._free_at = start + count / self._bytes_a_second
            wait = self._free_at - time.monotonic()
        if wait > 0.002:
            time.sleep(wait)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    _due = 0.0
    """When the begin of the answer arrives: what the server does until then takes no more time."""

    def end_headers(self) -> None:
        time.sleep(max(self._due - time.monotonic(), 0))
        super().end_headers()

    def do_HEAD(self) -> None:
        self._due = self.server.link.begin()
        path = self._path()
        if path is None or not path.is_file():
            self._say(404, b"")
            return
        self.send_response(200)
        self._describe(path)
        self.send_header("Content-Length", str(path.stat().st_size))
        self.end_headers()

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == "/counts":
            self._say(200, f"{self.server.link.requests} {self.server.link.bytes}".encode())
            return
        self._due = self.server.link.begin()
        path = self._path()
        if path is None:
            self._say(404, b"<Error><Code>NoSuchBucket</Code></Error>")
        elif "list-type" in parts.query:
            self._list(parse_qs(parts.query))
        elif not path.is_file():
            self._say(404, b"<Error><Code>NoSuchKey</Code></Error>")
        else:
            self._send(path)

    def _path(self) -> Path | None:
        _, name, key = (*unquote(urlsplit(self.path).path).split("/", 2), "")[:3]
        return self.server.folder / key if name == self.server.bucket else None

    def _describe(self, path: Path) -> None:
        status = path.stat()
        self.send_header("ETag", f'"{status.st_ino:x}-{status.st_mtime_ns:x}"')
        self.send_header("Last-Modified", email.utils.formatdate(status.st_mtime, usegmt=True))

    def _send(self, path: Path) -> None:
        size, start, end = path.stat().st_size, 0, path.stat().st_size
        asked = self.headers.get("Range", "")
        if asked:
            first, _, last = asked.removeprefix("bytes=").partition("-")
            start = int(first) if first else max(size - int(last), 0)
            end = min(int(last) + 1, size) if first and last else size
        self.send_response(206 if asked else 200)
        self._describe(path)
        if asked:
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{size}")
        self.send_header("Content-Length", str(end - start))
        with path.open("rb") as file:
            file.seek(start)
            data = file.read(min(_CHUNK_BYTES, end - start))
            self.end_headers()
            while data:
                self.server.link.pass_on(len(data))
                self.wfile.write(data)
                start += len(data)
                data = file.read(min(_CHUNK_BYTES, end - start))

    def _list(self, query: dict[str, list[str]]) -> None:
        prefix = query.get("prefix", [""])[0]
        is_flat = "delimiter" not in query
        top = self.server.folder / prefix.rpartition("/")[0]
        paths = sorted(top.rglob("*") if is_flat else top.glob("*"))
        contents, folders = [], []
        for path in paths:
            key = path.relative_to(self.server.folder).as_posix()
            if path.is_file():
                when = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(path.stat().st_mtime))
                contents.append(
                    f"<Contents><Key>{escape(key)}</Key><LastModified>{when}</LastModified>"
                    f"<Size>{path.stat().st_size}</Size></Contents>"
                )
            elif not is_flat:
                folders.append(f"<CommonPrefixes><Prefix>{escape(key)}/</Prefix></CommonPrefixes>")
        body = (
            '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult>'
            f"<Name>{self.server.bucket}</Name><Prefix>{escape(prefix)}</Prefix>"
            f"<IsTruncated>false</IsTruncated>{''.join(contents + folders)}</ListBucketResult>"
        )
        self._say(200, body.encode())

    def _say(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, folder: Path, bucket: str, link: Link) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder, self.bucket, self.link = folder, bucket, link


def main(folder: str, bucket: str, latency: str, megabytes: str) -> None:
    """Serve until nobody holds standard input any more."""
    link = Link(float(latency) / 1000, float(megabytes) * 1e6)
    with _Server(Path(folder), bucket, link) as server:
        print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        sys.stdin.read()
        server.shutdown()


if __name__ == "__main__":
    main(*sys.argv[1:])
