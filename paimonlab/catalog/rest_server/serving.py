"""A server of HTTP over a catalog, by Tornado: one thread that listens, some that answer."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import secrets
import ssl
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import IO, Self
from urllib.parse import parse_qsl

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler

from paimonlab.catalog.catalog import Catalog
from paimonlab.catalog.rest.paths import CONFIG
from paimonlab.catalog.rest.wire import DATA_TOKENS
from paimonlab.catalog.rest_server.authorising import Doorkeeper, User
from paimonlab.catalog.rest_server.exchange import Request, Response
from paimonlab.catalog.rest_server.refusing import answer, refused
from paimonlab.catalog.rest_server.service import CatalogService
from paimonlab.catalog.rest_server.tokens import vendor_of
from paimonlab.catalog.served import StoreRole
from paimonlab.errors import habits

logger = logging.getLogger(__name__)

_THREADS = 16
_LONGEST_BODY = 64 << 20
_IDLE_SECONDS = 120
_BODY_SECONDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """How a catalog is served."""

    host: str = "127.0.0.1"
    port: int = 0
    """0: one that is free."""
    warehouse: str = "paimonlab"
    """What clients call it."""
    is_read_only: bool = False
    audit_log: str | None = None
    """A file that gets a line of JSON for each request; None: none is kept."""
    certificate: tuple[str, str] | None = None
    """Files with a certificate and its key, for TLS; None: plain HTTP."""
    defaults: Mapping[str, str] = field(default_factory=dict)
    """Options that clients get."""
    role: StoreRole | None = None
    """Of what clients get tokens for files; None: they have keys themselves."""


class Audit:
    """A log with a line of JSON for each request: who, what, when, and what was answered."""

    def __init__(self, path: str | None) -> None:
        self._file: IO[str] | None = None
        self._turn = threading.Lock()
        if path is not None:
            self._file = Path(path).open("a", encoding="utf-8", buffering=1)  # noqa: SIM115 - kept

    def note(self, request: Request, user: User | None, response: Response, seconds: float) -> None:
        """Note a request that was answered."""
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "user": None if user is None else user.name,
            "method": request.method,
            "path": request.path,
            "status": response.status,
            "ms": round(seconds * 1000, 1),
        }
        logger.info("%s", line)
        if self._file is not None:
            with self._turn:
                self._file.write(json.dumps(line) + "\n")

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


class Gate:
    """Lets requests in, has them answered, and notes both."""

    def __init__(self, service: CatalogService, doorkeeper: Doorkeeper, audit: Audit) -> None:
        self._service = service
        self._doorkeeper = doorkeeper
        self._audit = audit

    def answer(self, request: Request) -> Response:
        """Answer a request."""
        began = time.monotonic()
        user = self._doorkeeper.user_of(request)
        response = answer(401, "the token or signature is not known here")
        if user is not None:
            response = self._answer_to(user, request)
        self._audit.note(request, user, response, time.monotonic() - began)
        return response

    def _answer_to(self, user: User, request: Request) -> Response:
        try:
            databases = self._service.databases_of(request)
            changes = self._service.changes(request)
        except Exception as error:  # noqa: BLE001 - the client is told
            return refused(error)
        if request.path != CONFIG and not user.may(databases, changes=changes):
            what = "change" if changes else "read"
            where = ", ".join(databases) or "the catalog"
            return answer(403, f"{user.name} may not {what} {where}")

        def sees(database: str) -> bool:
            return user.may((database,), changes=False)

        def may_change(database: str) -> bool:
            return user.may((database,), changes=True)

        return self._service.answer(replace(request, sees=sees, may_change=may_change))


class Server(habits.FamiliarNames, what="a server", instead=habits.SERVER):
    """A catalog that is being served; use it with ``with``, or call `stop`.

    Parameters
    ----------
    catalog
        What is served.
    users
        Who may ask, at least one.
    options
        How.
    """

    def __init__(self, catalog: Catalog, users: Sequence[User], options: ServeOptions) -> None:
        if not users:
            raise ValueError("nobody may ask: give a token or users")
        vendor = None if options.role is None else vendor_of(catalog, options.role)
        tokens = {} if vendor is None else {DATA_TOKENS: "true"}
        self._sockets = bind_sockets(options.port, options.host)
        port = self._sockets[0].getsockname()[1]
        scheme = "http" if options.certificate is None else "https"
        host = f"[{options.host}]" if ":" in options.host else options.host
        self.address = f"{scheme}://{host}:{port}"
        """Where clients find it."""
        self.warehouse = options.warehouse
        """What clients call the catalog."""
        self.token = next((user.token for user in users if user.token is not None), None)
        """What the first user that has a token sends."""
        service = CatalogService(
            catalog,
            warehouse=options.warehouse,
            is_read_only=options.is_read_only,
            defaults={**options.defaults, **tokens},
            vendor=vendor,
        )
        self._audit = Audit(options.audit_log)
        self._gate = Gate(service, Doorkeeper(users), self._audit)
        self._tls = _tls(options)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = asyncio.Event()
        self._started = threading.Event()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="paimonlab-serve", daemon=True)

    def __repr__(self) -> str:
        return f"<paimonlab.Server of {self.warehouse!r} at {self.address}>"

    @property
    def options(self) -> dict[str, str]:
        """Catalog options of a client: ``pm.connect(server.options)``."""
        options = {
            "metastore": "rest",
            "uri": self.address,
            "warehouse": self.warehouse,
            "token.provider": "bear",
        }
        return options if self.token is None else {**options, "token": self.token}

    def start(self) -> Self:
        """Begin to answer, unless it does already."""
        if not self._started.is_set():
            self._thread.start()
            self._started.wait()
        return self

    def stop(self) -> None:
        """Answer what is being answered, then end."""
        loop = self._loop
        if loop is not None and not self._ended.is_set():
            with contextlib.suppress(RuntimeError):  # it has just ended
                loop.call_soon_threadsafe(self._stopping.set)
            self._ended.wait()
        self._audit.close()

    def wait(self) -> None:
        """Wait until it is stopped."""
        while not self._ended.wait(3600):
            pass

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        finally:
            self._started.set()
            self._ended.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(_THREADS, "paimonlab-serve") as threads:
            arguments = {"gate": self._gate, "threads": threads}
            server = HTTPServer(
                Application([(r"/.*", _Handler, arguments)], log_function=lambda _: None),
                ssl_options=self._tls,
                max_body_size=_LONGEST_BODY,
                max_buffer_size=_LONGEST_BODY,
                idle_connection_timeout=_IDLE_SECONDS,
                body_timeout=_BODY_SECONDS,
            )
            server.add_sockets(self._sockets)
            self._started.set()
            await self._stopping.wait()
            server.stop()
            await server.close_all_connections()


class _Handler(RequestHandler):
    """Hands a request of HTTP to the gate."""

    def initialize(self, gate: Gate, threads: ThreadPoolExecutor) -> None:
        self._gate = gate
        self._threads = threads

    def set_default_headers(self) -> None:
        self.clear_header("Server")

    def check_xsrf_cookie(self) -> None:
        """Do nothing: there are no cookies."""

    async def _answer(self) -> None:
        asked = self.request
        try:
            query = dict(parse_qsl(asked.query, keep_blank_values=True, errors="strict"))
        except ValueError:
            return self._send(answer(400, "the query is not text"))
        request = Request(
            method=asked.method or "",
            path=asked.path,
            query=query,
            headers={name.lower(): value for name, value in asked.headers.get_all()},
            body=asked.body,
        )
        loop = asyncio.get_running_loop()
        return self._send(await loop.run_in_executor(self._threads, self._gate.answer, request))

    get = post = delete = put = patch = head = options = _answer

    def _send(self, response: Response) -> None:
        self.set_status(response.status)
        self.set_header("Content-Type", "application/json")
        if response.status == 401:
            self.set_header("WWW-Authenticate", "Bearer")
        self.finish(response.body)


def _tls(options: ServeOptions) -> ssl.SSLContext | None:
    if options.certificate is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*options.certificate)
    return context


def new_token() -> str:
    """Return a token that nobody can guess."""
    return secrets.token_urlsafe(32)
