"""Stores that have no server here, written from their documentation: GCS, OSS, COS and OBS.

Objects are in memory. Signatures, headers and conditions are checked as the services say they do:

* all: docs.aws.amazon.com, "PutObject", "ListObjectsV2", multipart uploads, and "Signature Version
  4", which is computed here once more from what arrived;
* GCS: cloud.google.com/storage/docs/xml-api/reference-headers (``x-goog-if-generation-match``,
  ``x-goog-generation``), a bearer token;
* OSS: help.aliyun.com, "PutObject" (``x-oss-forbid-overwrite``: 409 ``FileAlreadyExists``, without
  effect where versioning is on; ``If-None-Match`` is answered by 400 ``NotImplemented``) and
  "DeleteMultipleObjects" (``Content-MD5`` is required);
* COS: cloud.tencent.com/document/product/436/7749 (``x-cos-forbid-overwrite``);
* OBS: support.huaweicloud.com, "Uploading an Object - PUT" (no condition is among its headers, so
  ``If-None-Match`` and ``If-Match`` have no effect), "Deleting Objects" (``Content-MD5`` is
  required) and "OBS Server-Side Error Codes". ``x-obs-forbid-overwrite`` (409
  ``ObjectAlreadyExists``) is in no page that was found; clients of others send it, and take this
  answer.
"""

from __future__ import annotations

import base64
import email.utils
import hashlib
import hmac
import itertools
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, Literal
from urllib.parse import parse_qsl, quote, unquote, urlsplit
from xml.sax.saxutils import escape, unescape

from tests.listening import listening

KEY, SECRET, TOKEN = "AKzqhush", "SKzqhush", "BTzqhush"
Dialect = Literal["gcs", "oss", "cos", "obs"]
_EXISTS = {"obs": "ObjectAlreadyExists"}
"""What is said of an object that was not to be overwritten, where it is not OSS's code."""
_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


class RefusalError(Exception):
    """An answer that is an error."""

    def __init__(self, status: int, code: str) -> None:
        super().__init__(status, code)
        self.status, self.code = status, code


@dataclass
class Stored:
    """An object."""

    data: bytes
    meta: Mapping[str, str]
    generation: int
    modified: str = field(default_factory=lambda: email.utils.formatdate(usegmt=True))

    @property
    def e_tag(self) -> str:
        return f'"{hashlib.md5(self.data).hexdigest()}"'


@dataclass
class Service:
    """What one server keeps."""

    dialect: Dialect
    url: str = ""
    is_versioned: bool = False
    """Where it is, OSS, COS and OBS do not look at their header."""
    errors: list[tuple[int, str]] = field(default_factory=list)
    """What the next requests that write an object are answered, without effect."""
    objects: dict[str, Stored] = field(default_factory=dict)
    uploads: dict[str, dict[int, bytes]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    generations: Iterator[int] = field(default_factory=lambda: itertools.count(1700000000000001))
    refused: list[str] = field(default_factory=list)
    """Codes of errors that were answered."""
    admits: Callable[[str, str], bool] = lambda token, key: token in ("", TOKEN)
    """From the token of a request and the key to whether the token holds."""

    def put(self, key: str, data: bytes, headers: Mapping[str, str]) -> Stored:
        """Store an object if its conditions hold."""
        with self.lock:
            if self.errors:
                raise RefusalError(*self.errors.pop(0))
            self._check(self.objects.get(key), headers)
            prefix = "x-goog-meta-" if self.dialect == "gcs" else "x-amz-meta-"
            meta = {name: text for name, text in headers.items() if name.startswith(prefix)}
            stored = self.objects[key] = Stored(data, meta, next(self.generations))
            return stored

    def _check(self, there: Stored | None, headers: Mapping[str, str]) -> None:
        if self.dialect == "gcs":
            wanted = headers.get("x-goog-if-generation-match")
            if wanted is not None and int(wanted) != (there.generation if there else 0):
                raise RefusalError(412, "PreconditionFailed")
            return
        if self.dialect != "obs" and ("if-none-match" in headers or "if-match" in headers):
            raise RefusalError(400, "NotImplemented")
        forbidden = headers.get(f"x-{self.dialect}-forbid-overwrite") == "true"
        if forbidden and there and not self.is_versioned:
            raise RefusalError(409, _EXISTS.get(self.dialect, "FileAlreadyExists"))

    def check_signature(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> None:
        """Refuse what the service would not take for a request of the holder of the keys."""
        given = headers.get("authorization", "")
        key = unquote(urlsplit(target).path)[1:].partition("/")[2]
        if self.dialect == "gcs":
            kind, _, token = given.partition(" ")
            if kind != "Bearer" or not token or not self.admits(token, key):
                raise RefusalError(401, "AuthenticationRequired")
            return
        if not self.admits(headers.get("x-amz-security-token", ""), key):
            raise RefusalError(403, "InvalidAccessKeyId")
        found = re.fullmatch(
            r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d+)/([^/]*)/s3/aws4_request, "
            r"SignedHeaders=([^,]+), Signature=([0-9a-f]{64})",
            given,
        )
        if found is None or found[1] != KEY:
            raise RefusalError(403, "InvalidAccessKeyId")
        _, day, region, signed, signature = found.groups()
        for name in ("host", f"x-{self.dialect}-forbid-overwrite"):
            if name in headers and name not in signed.split(";"):
                raise RefusalError(403, "SignatureDoesNotMatch")
        if headers["x-amz-content-sha256"] != hashlib.sha256(body).hexdigest():
            raise RefusalError(400, "XAmzContentSHA256Mismatch")
        parts = urlsplit(target)
        query = sorted(parse_qsl(parts.query, keep_blank_values=True))
        canonical = "\n".join(
            (
                method,
                parts.path,
                "&".join(f"{quote(k, safe='-_.~')}={quote(v, safe='-_.~')}" for k, v in query),
                *(f"{name}:{headers[name].strip()}" for name in signed.split(";")),
                "",
                signed,
                headers["x-amz-content-sha256"],
            )
        )
        scope = f"{day}/{region}/s3/aws4_request"
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        text = "\n".join(("AWS4-HMAC-SHA256", headers["x-amz-date"], scope, digest))
        secret = f"AWS4{SECRET}".encode()
        for part in scope.split("/"):
            secret = hmac.digest(secret, part.encode(), "sha256")
        if not hmac.compare_digest(
            hmac.new(secret, text.encode(), "sha256").hexdigest(), signature
        ):
            raise RefusalError(403, "SignatureDoesNotMatch")

    def listed(self, prefix: str, delimiter: str, after: str, most: int) -> str:
        """Return a page of keys as XML."""
        with self.lock:
            entries: dict[str, Stored | None] = {}
            for key in sorted(self.objects):
                if not key.startswith(prefix):
                    continue
                rest, found, _ = key[len(prefix) :].partition(delimiter or "\0")
                is_folder = bool(delimiter and found)
                name = f"{prefix}{rest}{delimiter}" if is_folder else key
                if name > after:
                    entries[name] = None if is_folder else self.objects[key]
        page = list(itertools.islice(entries.items(), most))
        rows = [
            f"<CommonPrefixes><Prefix>{escape(name)}</Prefix></CommonPrefixes>"
            if one is None
            else f"<Contents><Key>{escape(name)}</Key><Size>{len(one.data)}</Size>"
            f"<ETag>{escape(one.e_tag)}</ETag><LastModified>{_iso(one.modified)}</LastModified>"
            "</Contents>"
            for name, one in page
        ]
        is_cut = len(entries) > most
        last = escape(page[-1][0]) if page else ""
        token = f"<NextContinuationToken>{last}</NextContinuationToken>"
        return (
            f"<ListBucketResult><KeyCount>{len(page)}</KeyCount>"
            f"<IsTruncated>{str(is_cut).lower()}</IsTruncated>{token if is_cut else ''}"
            f"{''.join(rows)}</ListBucketResult>"
        )


def _iso(date: str) -> str:
    return email.utils.parsedate_to_datetime(date).strftime("%Y-%m-%dT%H:%M:%S.000Z")


@contextmanager
def serving(dialect: Dialect) -> Iterator[Service]:  # noqa: C901 - a class with its closure
    """Serve one bucket, ``lake``, on 127.0.0.1."""
    service = Service(dialect)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): text for name, text in self.headers.items()}
            try:
                service.check_signature(self.command, self.path, headers, body)
                parts = urlsplit(self.path)
                bucket, _, key = unquote(parts.path)[1:].partition("/")
                if bucket != "lake":
                    raise RefusalError(404, "NoSuchBucket")  # noqa: TRY301 - answered below
                query = dict(parse_qsl(parts.query, keep_blank_values=True))
                self._done(key, query, headers, body)
            except RefusalError as refusal:
                service.refused.append(refusal.code)
                self._say(refusal.status, f"<Error><Code>{refusal.code}</Code></Error>".encode())

        def _done(  # noqa: C901 - a list of requests
            self, key: str, query: Mapping[str, str], headers: Mapping[str, str], body: bytes
        ) -> None:
            command = self.command
            if command == "GET" and not key:
                most = int(query.get("max-keys", "100"))
                after = max(query.get("continuation-token", ""), query.get("start-after", ""))
                listed = service.listed(
                    query.get("prefix", ""), query.get("delimiter", ""), after, most
                )
                self._say(200, listed.encode())
            elif command in ("GET", "HEAD"):
                self._read(key, headers)
            elif command == "PUT" and "uploadId" in query:
                service.uploads[query["uploadId"]][int(query["partNumber"])] = body
                self._say(200, b"", {"ETag": f'"{hashlib.md5(body).hexdigest()}"'})
            elif command == "PUT":
                stored = service.put(key, body, headers)
                self._say(200, b"", self._version(stored))
            elif command == "POST" and "uploads" in query:
                number = str(next(service.generations))
                service.uploads[number] = {}
                told = f"<Bucket>lake</Bucket><Key>x</Key><UploadId>{number}</UploadId>"
                result = f"<InitiateMultipartUploadResult>{told}</InitiateMultipartUploadResult>"
                self._say(200, result.encode())
            elif command == "POST" and "uploadId" in query:
                pieces = service.uploads.pop(query["uploadId"])
                whole = b"".join(pieces[number] for number in sorted(pieces))
                stored = service.put(key, whole, headers)
                tag = f"<ETag>{escape(stored.e_tag)}</ETag>"
                result = f"<CompleteMultipartUploadResult>{tag}</CompleteMultipartUploadResult>"
                self._say(200, result.encode(), self._version(stored))
            elif command == "POST" and "delete" in query and service.dialect != "gcs":
                digest = base64.b64encode(hashlib.md5(body).digest()).decode()
                if service.dialect != "cos" and headers.get("content-md5") != digest:
                    raise RefusalError(400, "InvalidDigest")
                keys = [unescape(key) for key in re.findall("<Key>(.*?)</Key>", body.decode())]
                with service.lock:
                    for one in keys:
                        service.objects.pop(one, None)
                deleted = "".join(f"<Deleted><Key>{escape(one)}</Key></Deleted>" for one in keys)
                self._say(200, f"<DeleteResult>{deleted}</DeleteResult>".encode())
            elif command == "DELETE":
                kept: dict[str, Any] = service.uploads if "uploadId" in query else service.objects
                with service.lock:
                    gone = kept.pop(query.get("uploadId", key), None)
                if gone is None and service.dialect == "gcs":
                    raise RefusalError(404, "NoSuchKey")
                self._say(204, b"")
            else:
                raise RefusalError(405, "MethodNotAllowed")

        def _read(self, key: str, headers: Mapping[str, str]) -> None:
            stored = service.objects.get(key)
            if stored is None:
                raise RefusalError(404, "NoSuchKey")
            told = {**self._version(stored), **stored.meta, "Last-Modified": stored.modified}
            wanted = _RANGE.fullmatch(headers.get("range", ""))
            size = len(stored.data)
            if wanted is None:
                self._say(200, stored.data, told)
                return
            start = int(wanted[1]) if wanted[1] else max(size - int(wanted[2]), 0)
            end = min(int(wanted[2]) + 1, size) if wanted[1] and wanted[2] else size
            if start >= size:
                raise RefusalError(416, "InvalidRange")
            told["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
            self._say(206, stored.data[start:end], told)

        def _version(self, stored: Stored) -> dict[str, str]:
            told = {"ETag": stored.e_tag}
            if service.dialect == "gcs":
                told["x-goog-generation"] = str(stored.generation)
            return told

        def _say(self, status: int, data: bytes, headers: Mapping[str, str] | None = None) -> None:
            self.send_response(status)
            for name, text in (headers or {}).items():
                self.send_header(name, text)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = _answer  # noqa: N815 - as called there

    with listening(Handler) as address:
        service.url = address
        yield service
