"""A client of one server: signed requests, what is sent again, pages, the server's configuration.

Source: apache/paimon@1.4.2 ``org.apache.paimon.rest.RESTApi``, ``HttpClient``.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any, NoReturn, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import msgspec
import urllib3
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    NewConnectionError,
    ProxyError,
)

from paimonlab.catalog.rest.answers import RefusalError, refusal
from paimonlab.catalog.rest.credentials import Credentials, credentials_of
from paimonlab.catalog.rest.paths import CONFIG, Paths, query_text
from paimonlab.catalog.rest.retrying import (
    RetryPolicy,
    Trouble,
    is_doubtful,
    may_repeat,
    seconds_of,
)
from paimonlab.catalog.rest.signing import SignedRequest
from paimonlab.catalog.rest.wire import ConfigAnswer, Document, Page
from paimonlab.errors import CatalogServerError, PaimonError
from paimonlab.spec.decoding import ready
from paimonlab.spec.options.grammar import parse_duration_millis
from paimonlab.storage.forks import fork_count

T = TypeVar("T")
P = TypeVar("P", bound=Page)

HEADER = "header."
_NO_TLS = "WRONG_VERSION_NUMBER"
_READ_TIMEOUT = "rest.client.read-timeout"
_CONNECT_TIMEOUT = "rest.client.connection-timeout"
TIMEOUTS = (_READ_TIMEOUT, _CONNECT_TIMEOUT)
_CONNECTIONS = 100
_LONGEST_ANSWER = 256 << 20
_SUCCESS = frozenset((200, 202, 204))
_SKEW_SECONDS = 300


class DoubtError(PaimonError):
    """A change got no answer that tells whether it happened; callers look."""

    def __init__(self, address: str, request: str, problem: str) -> None:
        self.address = address
        self.request = request
        self.problem = problem
        super().__init__(address, request, problem)

    def __str__(self) -> str:
        return str(self.public())

    def public(self) -> CatalogServerError:
        """Return the error that users see when it cannot be found out."""
        problem = f"{self.problem}. It may have happened: look before you do it again"
        return CatalogServerError.told(self.address, self.request, problem)


class RestClient:
    """Talks to one server of catalogs for one warehouse. Picklable; threads may share it.

    Parameters
    ----------
    options
        Those of the catalog, as the user gives them: ``uri``, ``warehouse``, ``token.provider``.
    merged
        These with what the server configures; None: it is asked when it is needed first.

    Raises
    ------
    UnsupportedError
        If a way to authorise is not implemented.
    ValueError
        If an option is missing.
    """

    def __init__(self, options: Mapping[str, str], merged: Mapping[str, str] | None = None) -> None:
        self._given = dict(options)
        self._merged = None if merged is None else dict(merged)
        self.address = server_address(options)
        """Of the server, without a slash at its end."""
        self.policy = RetryPolicy()
        self.sleep: Callable[[float], None] = time.sleep
        self.clock: Callable[[], float] = time.monotonic
        self._credentials = self._credentials_of(options)
        self._timeout = urllib3.Timeout(
            connect=_seconds(options, _CONNECT_TIMEOUT, 30.0),
            read=_seconds(options, _READ_TIMEOUT, 180.0),
        )
        self._turn = threading.Lock()

    def _credentials_of(self, options: Mapping[str, str]) -> Credentials:
        return credentials_of(options, self.address, self._plain_get)

    def _refusal(
        self, request: str, status: int, headers: Mapping[str, str], body: bytes
    ) -> RefusalError:
        return refusal(self.address, request, status, headers, body)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.address}>"

    def __getstate__(self) -> dict[str, Any]:
        return {"given": self._given, "merged": self._merged}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["given"], state["merged"])  # type: ignore[misc]  # made anew

    @property
    def warehouse(self) -> str:
        """What the server calls the catalog; empty: it has one only."""
        return self._given.get("warehouse", "")

    @property
    def options(self) -> Mapping[str, str]:
        """The options of the catalog, with what the server configures."""
        with self._turn:
            if self._merged is None:
                warehouse = self._given.get("warehouse")
                query = [("warehouse", warehouse)] if warehouse else []
                data = self._exchange("GET", CONFIG, query, b"", self._headers(self._given))
                answer = self._decoded(data, ConfigAnswer, "GET", CONFIG)
                self._merged = merged_options(answer, self._given)
            return self._merged

    @property
    def paths(self) -> Paths:
        """Paths of resources."""
        return Paths(self.options.get("prefix", ""))

    def get(self, kind: type[T], *parts: str, query: Sequence[tuple[str, str]] = ()) -> T:
        """Ask for a resource.

        Parameters
        ----------
        kind
            Type of the answer.
        *parts
            Of the path, below the prefix.

        Raises
        ------
        AccessDeniedError
            If the server does not know who asks.
        CatalogServerError
            If it fails, or cannot be reached.
        RefusalError
            If it answers with another error.
        """
        path = self.paths.of(*parts)
        data = self._exchange("GET", path, query, b"", self._headers(self.options))
        return self._decoded(data, kind, "GET", path)

    def pages(
        self, kind: type[P], *parts: str, query: Sequence[tuple[str, str]] = ()
    ) -> Iterator[Any]:
        """Ask for a list, page by page; errors as of `get`."""
        token: str | None = None
        while True:
            more = [("pageToken", token)] if token else []
            page = self.get(kind, *parts, query=[*query, *more])
            items = getattr(page, kind.items)
            yield from items or ()
            if not items or not page.next_page_token:
                return
            if page.next_page_token == token:
                raise CatalogServerError.told(
                    self.address, f"GET {self.paths.of(*parts)}", "it sends the same page again"
                )
            token = page.next_page_token

    def ask(self, kind: type[T], body: Document, *parts: str) -> T:
        """Send a question that has a body; errors as of `get`."""
        path = self.paths.of(*parts)
        data = self._exchange(
            "POST", path, (), msgspec.json.encode(body), self._headers(self.options)
        )
        return self._decoded(data, kind, "POST", path)

    def once(self, kind: type[T], method: str, body: Document | None, *parts: str) -> T:
        """Send a change, and not again if it may have happened.

        Parameters
        ----------
        kind
            Type of the answer; of a `Document` itself nothing is read.

        Raises
        ------
        DoubtError
            If it may have happened.
        AccessDeniedError, RefusalError
            If it did not.
        CatalogServerError
            If the server cannot be reached, or its answer is not understood.
        """
        path = self.paths.of(*parts)
        data = b"" if body is None else msgspec.json.encode(body)
        answer = self._exchange(
            method, path, (), data, self._headers(self.options), is_question=False
        )
        return self._decoded(b"" if kind is Document else answer, kind, method, path)

    def change(
        self,
        method: str,
        body: Document | None,
        *parts: str,
        is_done: Callable[[], bool],
    ) -> None:
        """Send a change until it is known to have happened or to be refused.

        Parameters
        ----------
        method, body, *parts
            The request.
        is_done
            Asks whether the change has happened; called only when an answer was lost.

        Raises
        ------
        CatalogServerError
            If nothing certain comes back; the change may have happened.
        AccessDeniedError, RefusalError
            If it did not happen.
        """
        doubt: DoubtError | None = None
        began = self.clock()
        for attempt in range(1, self.policy.attempts + 1):
            try:
                self.once(Document, method, body, *parts)
            except DoubtError as error:
                doubt = error
                if is_done():
                    return
                pause = self.policy.pause(attempt, None, random.random())  # noqa: S311
                if not self.policy.may_begin(self.clock() - began + pause):
                    break
                self.sleep(pause)
            except RefusalError:
                if doubt is not None and is_done():
                    return  # an earlier attempt was done after all
                raise
            else:
                return
        assert doubt is not None, "an attempt is done, refused, or in doubt"
        raise doubt.public() from None

    def _headers(self, options: Mapping[str, str]) -> dict[str, str]:
        return {
            key.removeprefix(HEADER): value
            for key, value in options.items()
            if key.startswith(HEADER)
        }

    def _exchange(
        self,
        method: str,
        path: str,
        query: Sequence[tuple[str, str]],
        body: bytes,
        headers: Mapping[str, str],
        *,
        is_question: bool = True,
    ) -> bytes:
        signed = SignedRequest(method, path, dict(query), body)
        base = {"Content-Type": "application/json"} if body else {}
        request, url = f"{method} {path}", self.address + path + query_text(query)
        attempt, began = 0, self.clock()
        while True:
            attempt += 1
            retry_after: str | None = None
            refused: RefusalError | None = None
            outcome: int | Trouble
            try:
                sent = {**base, **headers, **self._credentials.headers(signed)}
                response = self._pool().urlopen(
                    method,
                    url,
                    body=body or None,
                    headers=sent,
                    retries=False,
                    redirect=False,
                    timeout=self._timeout,
                    preload_content=False,
                )
                data = self._read(response, request)
                outcome = response.status
                if outcome in _SUCCESS:
                    return data
                retry_after = response.headers.get("Retry-After")
                told = dict(response.headers.items())
                refused = self._refusal(request, outcome, told, data)
                problem = f"{refused.code}: {refused.problem}"
                if outcome == 401:
                    problem += _skew(told)
                    refused.document.message = refused.problem + _skew(told)
            except (HTTPError, OSError) as error:
                if isinstance(error, CatalogServerError):
                    raise
                outcome, problem = _trouble(error), _plain(error)
            asked = seconds_of(retry_after, datetime.now(UTC))
            pause = self.policy.pause(attempt, asked, random.random())  # noqa: S311
            if (
                attempt < self.policy.attempts_after(outcome)
                and may_repeat(outcome, is_question=is_question)
                and self.policy.may_begin(self.clock() - began + pause)
            ):
                self.sleep(pause)
                continue
            self._give_up(request, outcome, problem, refused, attempt, is_question=is_question)

    def _give_up(
        self,
        request: str,
        outcome: int | Trouble,
        problem: str,
        refused: RefusalError | None,
        attempts: int,
        *,
        is_question: bool,
    ) -> NoReturn:
        if attempts > 1:
            problem += f" (after {attempts} attempts)"
        if not is_question and is_doubtful(outcome):
            raise DoubtError(self.address, request, problem) from None
        if refused is None or (refused.code >= 500 and refused.code != 501):
            raise CatalogServerError.told(self.address, request, problem) from None
        if refused.code in (401, 403):
            raise refused.public() from None
        raise refused from None

    def _read(self, response: urllib3.BaseHTTPResponse, request: str) -> bytes:
        try:
            data = response.read(_LONGEST_ANSWER + 1)
        except BaseException:
            response.close()
            raise
        if len(data) > _LONGEST_ANSWER:
            response.close()
            raise CatalogServerError.told(
                self.address, request, f"the answer has more than {_LONGEST_ANSWER >> 20} MiB"
            )
        response.release_conn()
        return data

    def _decoded(self, data: bytes, kind: type[T], method: str, path: str) -> T:
        try:
            return msgspec.json.decode(data or b"{}", type=ready(kind))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            problem = f"the answer does not follow Paimon's protocol, look at the uri: {error}"
            raise CatalogServerError.told(self.address, f"{method} {path}", problem) from None

    def _plain_get(self, address: str) -> bytes:
        """Get what is at another address, without credentials."""
        try:
            response = _pool(address, fork_count()).urlopen(
                "GET", address, retries=False, redirect=False, timeout=self._timeout
            )
        except (HTTPError, OSError) as error:
            raise CatalogServerError.told(address, "GET", _plain(error)) from None
        if response.status not in _SUCCESS:
            raise CatalogServerError.told(address, "GET", str(response.status))
        return response.data

    def _pool(self) -> urllib3.PoolManager:
        return _pool(self.address, fork_count())


def server_address(options: Mapping[str, str]) -> str:
    """Return the address of the server: ``http`` where ``uri`` does not say, no slash at its end.

    Raises
    ------
    ValueError
        If there is none, or it is not an address of a server.

    Examples
    --------
    >>> server_address({"uri": "localhost:8080/"})
    'http://localhost:8080'
    """
    uri = options.get("uri", "").removesuffix("/")
    if not uri:
        raise ValueError("the catalog option 'uri' is missing: the address of the server")
    if not uri.startswith(("http://", "https://")):
        uri = f"http://{uri}"
    parts = urlsplit(uri)
    if not parts.hostname or parts.query or parts.fragment or "@" in parts.netloc:
        raise ValueError(
            "the catalog option 'uri' is not the address of a server: http://host:port"
        )
    return uri


def merged_options(config: ConfigAnswer, given: Mapping[str, str]) -> dict[str, str]:
    """Merge what a server configures with the client's options; nulls are left out.

    Examples
    --------
    >>> config = ConfigAnswer(defaults={"a": "1", "b": "1"}, overrides={"c": "3", "d": None})
    >>> merged_options(config, {"b": "2", "c": "2", "d": "2"})
    {'a': '1', 'b': '2', 'c': '3'}
    """
    merged: dict[str, str | None] = {
        **(config.defaults or {}),
        **given,
        **(config.overrides or {}),
    }
    return {key: value for key, value in merged.items() if value is not None}


@lru_cache(maxsize=16)
def _pool(address: str, forks: int) -> urllib3.PoolManager:
    del forks  # of the key alone: a child must not use connections of its parent
    sizes: dict[str, Any] = {"num_pools": 4, "maxsize": _CONNECTIONS, "block": True}
    parts = urlsplit(address)
    proxy = getproxies().get(parts.scheme)
    if proxy and not proxy_bypass(parts.netloc):
        return urllib3.ProxyManager(proxy, **sizes)
    return urllib3.PoolManager(**sizes)


def _trouble(error: Exception) -> Trouble:
    if any(one in str(error) for one in ("CERTIFICATE_VERIFY_FAILED", _NO_TLS)):
        return Trouble.UNTRUSTED
    if isinstance(error, ProxyError | NewConnectionError | ConnectTimeoutError):
        return Trouble.NOT_SENT
    return Trouble.NO_ANSWER


def _plain(error: Exception) -> str:
    """Say what went wrong without the address of an object in memory."""
    text = str(error)
    if _NO_TLS in text:
        return "the server does not speak TLS: http://, not https://?"
    _, _, after = text.rpartition(">: ")
    return f"{type(error).__name__.removesuffix('Error')}: {after or text}"


def _seconds(options: Mapping[str, str], key: str, default: float) -> float:
    text = options.get(key)
    return default if text is None else parse_duration_millis(text) / 1000


def _skew(headers: Mapping[str, str]) -> str:
    """Say how far the clocks are apart, if that is much: signatures do not hold for long."""
    date = {name.lower(): value for name, value in headers.items()}.get("date")
    try:
        there = parsedate_to_datetime(date) if date else None
    except ValueError:
        there = None
    if there is None or there.tzinfo is None:
        return ""
    apart = (datetime.now(UTC) - there).total_seconds()
    if abs(apart) < _SKEW_SECONDS:
        return ""
    ahead = "ahead of" if apart > 0 else "behind"
    return f"; the clock of this machine is {abs(apart) / 60:.0f} minutes {ahead} the server's"
