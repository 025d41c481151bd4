"""An STS written from AWS's documentation of ``AssumeRole`` and of its session policies.

It checks signatures, which are computed here once more from what arrived, and says for requests to
a store whether the policies that it was given allow them.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.listening import listening

_ACTIONS = {"PUT": "s3:PutObject", "DELETE": "s3:DeleteObject", "POST": "s3:PutObject"}


@dataclass
class Sts:
    """What one server was asked."""

    secret: str
    url: str = ""
    asked: list[dict[str, str]] = field(default_factory=list)
    """Forms whose signature was right."""
    refuses: bool = False
    ends_after_seconds: float | None = None
    """How long keys hold; None: as they were asked for."""

    def answer(self, headers: dict[str, str], body: bytes) -> tuple[int, str]:
        """Answer a POST."""
        if not self._is_signed(headers, body):
            return 403, "<Error><Code>SignatureDoesNotMatch</Code></Error>"
        if self.refuses:
            told = f"no {self.secret}"
            return 403, f"<Error><Code>AccessDenied</Code><Message>{told}</Message></Error>"
        form = {name: values[0] for name, values in parse_qs(body.decode()).items()}
        self.asked.append(form)
        seconds = self.ends_after_seconds or float(form["DurationSeconds"])
        end = (datetime.now(UTC) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
        number = len(self.asked) - 1
        return 200, (
            "<AssumeRoleResponse><AssumeRoleResult><Credentials>"
            f"<AccessKeyId>AK{number}zqhush</AccessKeyId>"
            f"<SecretAccessKey>SK{number}zqhush</SecretAccessKey>"
            f"<SessionToken>{number}zqhush</SessionToken><Expiration>{end}</Expiration>"
            "</Credentials></AssumeRoleResult></AssumeRoleResponse>"
        )

    def _is_signed(self, headers: dict[str, str], body: bytes) -> bool:
        found = re.fullmatch(
            r"AWS4-HMAC-SHA256 Credential=[^/]+/(\d+)/([^/]+)/sts/aws4_request, "
            r"SignedHeaders=([^,]+), Signature=([0-9a-f]{64})",
            headers.get("authorization", ""),
        )
        if found is None or "host" not in found[3] or "x-amz-date" not in found[3]:
            return False
        lines = [f"{name}:{headers[name]}" for name in found[3].split(";")]
        digest = hashlib.sha256(body).hexdigest()
        canonical = "\n".join(["POST", "/", "", *lines, "", found[3], digest])
        scope = f"{found[1]}/{found[2]}/sts/aws4_request"
        hashed = hashlib.sha256(canonical.encode()).hexdigest()
        text = f"AWS4-HMAC-SHA256\n{headers['x-amz-date']}\n{scope}\n{hashed}"
        key = f"AWS4{self.secret}".encode()
        for part in scope.split("/"):
            key = hmac.digest(key, part.encode(), "sha256")
        return hmac.new(key, text.encode(), "sha256").hexdigest() == found[4]

    def allows(self, token: str, method: str, target: str) -> bool:
        """Whether the policy of a token allows a request to a store."""
        policy: Any = json.loads(self.asked[int(token.removesuffix("zqhush"))]["Policy"])
        url = urlsplit(target)
        bucket, _, key = unquote(url.path).strip("/").partition("/")
        query = parse_qs(url.query)
        action = _ACTIONS.get(method, "s3:GetObject" if key else "s3:ListBucket")
        if "uploadId" in query and method == "DELETE":
            action = "s3:AbortMultipartUpload"
        arn = f"arn:aws:s3:::{bucket}" + (f"/{key}" if key else "")
        for one in policy["Statement"]:
            like = one.get("Condition", {}).get("StringLike", {}).get("s3:prefix", ["*"])
            prefix = query.get("prefix", [""])[0]
            if (
                action in one["Action"]
                and any(fnmatchcase(arn, pattern) for pattern in one["Resource"])
                and any(fnmatchcase(prefix, pattern) for pattern in like)
            ):
                return True
        # Several objects are deleted by a POST to the bucket, whose body names them.
        return "delete" in target and "s3:DeleteObject" in json.dumps(policy)


@contextmanager
def process(secret: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Serve in another process; yields it and its address."""
    code = (
        f"from {__name__} import running\n"
        f"with running({secret!r}) as sts: print(sts.url, flush=True); input()"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as served:
        assert served.stdout is not None
        try:
            yield served, served.stdout.readline().strip()
        finally:
            served.kill()


@contextmanager
def running(secret: str) -> Iterator[Sts]:
    """Serve on 127.0.0.1."""
    sts = Sts(secret)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): text for name, text in self.headers.items()}
            status, text = sts.answer(headers, body)
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

    with listening(Handler) as address:
        sts.url = address
        yield sts
