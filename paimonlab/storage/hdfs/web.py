"""HDFS through WebHDFS, which a name node offers over HTTP.

Source: hadoop.apache.org, "WebHDFS REST API" of Hadoop 3.3.6 (operations, redirects, errors), and
apache/hadoop ``NamenodeWebHdfsMethods``: with ``renameoptions`` the name node moves by ``rename2``,
which refuses a target that exists and says why, without by ``rename``, which moves a file into a
target that is a folder.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import random
import re
import ssl
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import urllib3
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError, SSLError

from paimonlab.errors import UnsupportedError
from paimonlab.secrets import HIDDEN, without_secrets
from paimonlab.storage.hdfs.name_nodes import NameNodes, addresses_of
from paimonlab.storage.hdfs.options import WebHdfsOptions

_PORTS = {"webhdfs": 9870, "swebhdfs": 9871}
_PATIENCE_SECONDS = 30.0
_ATTEMPTS, _ATTEMPTS_OF_SERVICE = 10, 20
"""How often, of a service how often each name node: one that is lost is noticed by the others
after five seconds or more."""
_FIRST_PAUSE_SECONDS = 0.05
_LONGEST_PAUSE_SECONDS = 3.0
_CONNECTIONS = 32
_REASON_SECONDS = 1.0
"""How long an answer is waited for after its request could not be sent."""
_REDIRECTS = (301, 302, 303, 307, 308)
_ADDRESS = "!#$%&'()*+,/:;=?@[]~"
"""What an address may have beside letters, digits and ``_.-``."""
_STANDBY = "StandbyException"
"""Of a name node that is not active; it is thrown before anything happens."""
_PASSING = frozenset(("RetriableException", _STANDBY))
"""Exceptions of the name node after which the same may succeed a little later."""
_BYTES = {"Content-Type": "application/octet-stream"}
_TOKEN = re.compile(r"(?<=[?&]delegation=)[^&\s]+")


class _WithoutTokens(logging.Filter):
    """Hides the token in addresses, which urllib3 logs where it is told to log all."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(
                _TOKEN.sub(HIDDEN, one) if isinstance(one, str) else one for one in record.args
            )
        return True


logging.getLogger("urllib3.connectionpool").addFilter(_WithoutTokens())


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why there is no answer to a request."""

    problem: OSError
    passes: bool
    """Whether the same may succeed a little later."""
    may_have_happened: bool = True


@dataclass(slots=True)
class _Status:
    path: str
    length: int
    isdir: bool
    modification_time: int


class WebClient:
    """A connection to a name node; see `HdfsClient`.

    Parameters
    ----------
    address
        ``webhdfs://namenode:9870``, or ``webhdfs://service``; ``swebhdfs:`` for TLS.
    options
        How it is reached.
    """

    creates_at_once = False

    def __init__(self, address: str, options: WebHdfsOptions) -> None:
        parts = urlsplit(address)
        self._address, self._options = address, options
        self._is_tls = parts.scheme == "swebhdfs"
        scheme = "https" if self._is_tls else "http"
        service = "" if parts.port else address.partition("://")[2]
        places = addresses_of(options.services, parts.scheme, service)
        plain = f"{parts.hostname}:{parts.port or _PORTS[parts.scheme]}"
        self._nodes = NameNodes([f"{scheme}://{place}" for place in places or (plain,)])
        rounds = options.attempts or (_ATTEMPTS_OF_SERVICE if places else _ATTEMPTS)
        self._attempts = rounds * self._nodes.count
        self._timeout = urllib3.Timeout(
            connect=options.connect_timeout_millis / 1000, read=options.timeout_millis / 1000
        )
        self._trust = _trusting(options.certificates) if self._is_tls else None
        pool: dict[str, Any] = {"ssl_context": self._trust} if self._is_tls else {}
        self._pool = urllib3.PoolManager(num_pools=16, maxsize=_CONNECTIONS, **pool)
        self._moves_at_once = False
        self._turn = threading.Lock()

    def read(self, path: str, /) -> _WebReader:
        """Open a file: its size is asked for."""
        status = self.get_file_info(path)
        if status.isdir:
            raise IsADirectoryError(f"{path} is a folder")
        return _WebReader(self, path, status.length)

    def bytes_of(self, path: str, start: int, count: int) -> bytes:
        """Return a range of a file."""
        asked = self._url(path, "OPEN", offset=str(start), length=str(count))
        return self._answer("GET", asked, follows=True)

    def create(self, path: str, /) -> _WebWriter:
        """Begin a file: the name node says which data node takes it; another if it is not there."""
        self._require_moves(path)
        end = time.monotonic() + _PATIENCE_SECONDS
        absent = list[str]()
        for attempt in range(1, self._attempts + 1):
            place = self._place(path, absent)
            connection = self._connection(place)
            try:
                connection.connect()  # nothing was sent before that is there
            except (HTTPException, OSError) as error:
                connection.close()
                is_last = attempt == self._attempts or time.monotonic() >= end
                if is_last or isinstance(error, ssl.SSLError):
                    times = f" (after {attempt} attempts)" if attempt > 1 else ""
                    raise OSError(self.shown(f"{_unreachable(error)}{times}")) from None
                absent.append(connection.host)
                _pause(attempt)
            else:
                parts = urlsplit(place)
                return _WebWriter(self, connection, f"{parts.path}?{parts.query}", path)
        raise AssertionError("the last attempt returns or raises")

    def _place(self, path: str, absent: Sequence[str]) -> str:
        """Ask the name node where a file may begin, if it can be not on some hosts."""
        plain = self._url(path, "CREATE", overwrite="false")
        if not absent:
            return self._redirect("PUT", plain)
        hosts = ",".join(dict.fromkeys(absent))
        others = self._url(path, "CREATE", overwrite="false", excludedatanodes=hosts)
        try:
            return self._redirect("PUT", others)
        except (FileNotFoundError, FileExistsError):
            raise
        except OSError:  # there is no other: it may be back
            return self._redirect("PUT", plain)

    def _connection(self, place: str) -> HTTPConnection:
        parts = urlsplit(place)
        is_tls = self._checked(parts.scheme)
        port = parts.port or (443 if is_tls else 80)
        seconds = self._options.timeout_millis / 1000
        host = str(parts.hostname)
        if is_tls:
            return HTTPSConnection(host, port, timeout=seconds, context=self._trust)
        return HTTPConnection(host, port, timeout=seconds)

    def rename(self, source: str, target: str, /, *, overwrite: bool) -> None:
        """Move a file or folder; sent once, so who moves has to find out what a lost answer was."""
        self._require_moves(target)
        self._moved(source, target, "OVERWRITE" if overwrite else "NONE")

    def list_status(self, path: str, /) -> Iterable[_Status]:
        """Return what is in a folder, page by page."""
        found: list[_Status] = []
        after: dict[str, str] = {}
        while True:
            asked = self._url(path, "LISTSTATUS_BATCH", **after)
            listing = _decoded(self._answer("GET", asked))["DirectoryListing"]
            page = listing["partialListing"]["FileStatuses"]["FileStatus"]
            found += [_status(path, one) for one in page]
            if not listing["remainingEntries"] or not page:
                return found
            after = {"startAfter": page[-1]["pathSuffix"]}

    def mkdirs(self, path: str, /) -> None:
        """Create a folder and its parents."""
        if not self._is_true(self._answer("PUT", self._url(path, "MKDIRS"))):
            raise OSError(f"{path} cannot be made")

    def delete(self, path: str, /, *, recursive: bool) -> bool:
        """Delete a file or folder."""
        asked = self._url(path, "DELETE", recursive=str(recursive).lower())
        return self._is_true(self._answer("DELETE", asked))

    def get_file_info(self, path: str, /) -> _Status:
        """Return what is known of a file or folder."""
        found = _decoded(self._answer("GET", self._url(path, "GETFILESTATUS")))
        return _status(path, found["FileStatus"])

    def error_of(self, status: int, headers: Mapping[str, str], body: bytes) -> OSError:
        """Make an error of an answer that is one."""
        name, message = _exception_of(body)
        message = self.shown(message.partition("\n")[0][:300])
        if name == "FileNotFoundException":
            return FileNotFoundError(message)
        if name == "FileAlreadyExistsException":
            return FileExistsError(message)
        if status == 401 and "negotiate" in _header(headers, "www-authenticate").lower():
            raise UnsupportedError(
                f"Kerberos over HTTP (SPNEGO) at {self._address}",
                "it is not implemented: use hdfs:, or give webhdfs.delegation-token",
            )
        return OSError(" ".join(filter(None, (f"the answer was {status}", name, message))))

    def shown(self, text: str) -> str:
        """Return a text without the token of this client."""
        token = self._options.delegation_token
        return without_secrets(text.replace(token, HIDDEN) if token else text)

    def _url(self, path: str, operation: str, **others: str) -> str:
        token = self._options.delegation_token
        who = {"delegation": token} if token else {"user.name": self._options.user}
        query = urlencode({"op": operation, **who, **others}, quote_via=quote, safe="")
        return f"/webhdfs/v1{quote(path, safe='/')}?{query}"

    def _moved(self, source: str, target: str, option: str, *, attempts: int | None = 1) -> bytes:
        asked = self._url(source, "RENAME", destination=target, renameoptions=option)
        return self._answer("PUT", asked, attempts=attempts)

    def _require_moves(self, path: str) -> None:
        """Refuse to write where files cannot replace others at once; asked once."""
        with self._turn:
            if self._moves_at_once:
                return
            nothing = f"{path.rpartition('/')[0]}/.paimonlab-probe-{uuid.uuid4()}"
            try:
                self._moved(nothing, f"{nothing}.moved", "NONE", attempts=None)
            except FileNotFoundError:
                self._moves_at_once = True
                return
        raise UnsupportedError(
            f"writing to {self._address}",
            "its server does not know the options of RENAME, as HttpFS does not, so no file can "
            "replace another at once: use the name node's WebHDFS, or hdfs:; reading works",
        )

    def _is_true(self, body: bytes) -> bool:
        return bool(_decoded(body)["boolean"])

    def _checked(self, scheme: str) -> bool:
        """Return whether a redirect goes to TLS, which one that came by TLS must."""
        if self._is_tls and scheme != "https":
            raise OSError("a redirect leads from https to http, which shows what is sent")
        return scheme == "https"

    def _redirect(self, method: str, asked: str) -> str:
        status, headers, body = self._sent(method, asked, self._attempts)
        if status not in _REDIRECTS or "Location" not in headers:
            raise OSError(f"the answer was {status} without the address of a data node")
        del body
        return _quoted(headers["Location"])

    def _answer(
        self, method: str, asked: str, *, follows: bool = False, attempts: int | None = None
    ) -> bytes:
        """Return the body of an answer that is no error."""
        limit = self._attempts if attempts is None else attempts
        status, headers, body = self._sent(method, asked, limit, follows=follows)
        if status in _REDIRECTS:
            raise OSError(f"the answer was {status}, which is not followed")
        del headers
        return body

    def _sent(
        self, method: str, asked: str, limit: int, *, follows: bool = False
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Send a request, again if it may be and the answer is lost or one that passes.

        What no name node has taken is sent again whatever it is: there was no connection, or a
        standby refused it. Of a service each name node is asked before this gives up.
        """
        end = time.monotonic() + _PATIENCE_SECONDS
        taken = 0
        for attempt in range(1, self._attempts + 1):
            node = self._active_node()
            outcome = (
                node
                if isinstance(node, _Failure)
                else self._try(node, method, asked, follows=follows)
            )
            if not isinstance(outcome, _Failure):
                return outcome
            taken += outcome.may_have_happened
            is_over = time.monotonic() >= end and attempt >= self._nodes.count
            if not outcome.passes or taken >= limit or attempt == self._attempts or is_over:
                problem = outcome.problem
                if isinstance(problem, (FileNotFoundError, FileExistsError)):
                    raise problem
                times = f" (after {attempt} attempts)" if attempt > 1 else ""
                raise OSError(f"{problem}{times}")
            if attempt % self._nodes.count == 0:
                _pause(attempt // self._nodes.count)
        raise AssertionError("the last attempt returns or raises")

    def _active_node(self) -> str | _Failure:
        """Return which name node is asked, of a service one that is active."""
        node, is_active = self._nodes.asked()
        if is_active:
            return node
        nothing = f"/.paimonlab-probe-{uuid.uuid4()}"
        asked = self._url(nothing, "RENAME", destination=f"{nothing}.moved", renameoptions="NONE")
        outcome = self._try(node, "PUT", asked, follows=False)
        if isinstance(outcome, _Failure) and outcome.passes:
            return dataclasses.replace(outcome, may_have_happened=False)
        self._nodes.believe(node)  # a standby does not come as far as to miss the file
        return node

    def _try(
        self, node: str, method: str, asked: str, *, follows: bool
    ) -> tuple[int, Mapping[str, str], bytes] | _Failure:
        """Send a request to a name node once; after a failure of its own the next one is asked."""
        place = ""
        try:
            status, headers, body = self._once(method, f"{node}{asked}")
            if follows and status in _REDIRECTS and "Location" in headers:
                place = _quoted(headers["Location"])
                self._checked(urlsplit(place).scheme)
                status, headers, body = self._once(method, place)
        except HTTPError as error:
            if not place:
                self._nodes.leave(node)
            is_sent = not isinstance(error, ConnectTimeoutError | NewConnectionError)
            problem = OSError(self._told(node, self.shown(_plain(error))))
            return _Failure(problem, _may_pass(error), may_have_happened=is_sent)
        if status < 400:
            return status, headers, body
        problem = self.error_of(status, dict(headers), body)
        if isinstance(problem, (FileNotFoundError, FileExistsError)):
            return _Failure(problem, passes=False)
        name = _exception_of(body)[0]
        passes = status >= 500 or name in _PASSING
        if passes and (name == _STANDBY or not place):
            self._nodes.leave(node)
        told = OSError(self._told(node, str(problem)))
        return _Failure(told, passes, may_have_happened=name != _STANDBY)

    def _told(self, node: str, problem: str) -> str:
        """Say which name node of a service a problem is of."""
        return problem if self._nodes.count == 1 else f"{urlsplit(node).netloc}: {problem}"

    def _once(self, method: str, asked: str) -> tuple[int, Mapping[str, str], bytes]:
        answer = self._pool.request(
            method, asked, headers=_BYTES, redirect=False, retries=False, timeout=self._timeout
        )
        return answer.status, answer.headers, answer.data


class _WebReader:
    def __init__(self, client: WebClient, path: str, size_bytes: int) -> None:
        self._client, self._path, self._size_bytes = client, path, size_bytes

    def __len__(self) -> int:
        return self._size_bytes

    def read_range(self, start: int, count: int, /) -> bytes:
        return self._client.bytes_of(self._path, start, count)


class _WebWriter:
    """The body of one request, sent piece by piece to the data node."""

    def __init__(
        self, client: WebClient, connection: HTTPConnection, target: str, path: str
    ) -> None:
        self._client, self._connection, self._path = client, connection, path
        self._size_bytes = 0
        self._is_broken = False
        with self._told():
            connection.putrequest("PUT", target)
            connection.putheader("Content-Type", _BYTES["Content-Type"])
            connection.putheader("Transfer-Encoding", "chunked")
            connection.endheaders()

    def write(self, data: bytes, /) -> None:
        if data:  # an empty piece would end the body
            with self._told():
                self._connection.send(b"%x\r\n%b\r\n" % (len(data), data))
            self._size_bytes += len(data)

    def hsync(self) -> None:
        """Do nothing: a data node ends the file before it answers."""

    def close(self) -> None:
        if self._is_broken:
            raise OSError("the connection broke before all was sent")
        problem: OSError | None = None
        try:
            self._connection.send(b"0\r\n\r\n")
            problem = self._refusal()
        except (HTTPException, OSError) as error:
            problem = OSError(self._client.shown(_plain(error)))
        finally:
            self._connection.close()
        if problem is not None and not self._is_whole():
            raise problem

    def abandon(self) -> None:
        self._connection.close()

    def _refusal(self) -> OSError | None:
        answer = self._connection.getresponse()
        body = answer.read()
        if answer.status < 300:
            return None
        return self._client.error_of(answer.status, dict(answer.headers), body)

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Say why the data node does not take what is sent: it may have answered before."""
        try:
            yield
        except (HTTPException, OSError) as error:
            self._is_broken = True
            told: OSError | None = None
            with contextlib.suppress(HTTPException, OSError):
                if self._connection.sock is not None:
                    self._connection.sock.settimeout(_REASON_SECONDS)
                    told = self._refusal()
            self._connection.close()
            raise told or OSError(self._client.shown(_plain(error))) from None

    def _is_whole(self) -> bool:
        """Whether the file is there after an answer that is lost or wrong: its name is ours."""
        try:
            return self._client.get_file_info(self._path).length == self._size_bytes
        except OSError:
            return False


def _quoted(location: str) -> str:
    """Return an address as requests have it: bytes of names, read as Latin-1, are quoted."""
    return quote(location.encode("latin-1"), safe=_ADDRESS)


def _pause(attempt: int) -> None:
    longest = min(_FIRST_PAUSE_SECONDS * 2.0**attempt, _LONGEST_PAUSE_SECONDS)
    time.sleep(longest * (0.5 + random.random() / 2))  # noqa: S311 - not a secret


def _unreachable(error: Exception) -> str:
    """Say why there is no connection to a data node."""
    if isinstance(error, ssl.SSLError):
        return _plain(error)
    return f"its data node is not reached: {_plain(error)}"


def _header(headers: Mapping[str, str], name: str) -> str:
    return next((text for key, text in headers.items() if key.lower() == name), "")


def _status(path: str, told: Mapping[str, Any]) -> _Status:
    name = told["pathSuffix"]
    return _Status(
        path=f"{path.rstrip('/')}/{name}" if name else path,
        length=int(told["length"]),
        isdir=told["type"] == "DIRECTORY",
        modification_time=int(told["modificationTime"]),
    )


def _exception_of(body: bytes) -> tuple[str, str]:
    """Return the name and the message of the exception that an answer tells of, if it does."""
    told: Mapping[str, Any] = {}
    with contextlib.suppress(ValueError, KeyError, TypeError):
        told = json.loads(body)["RemoteException"]
    return str(told.get("exception", "")), str(told.get("message", ""))


def _decoded(body: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(body)
    except ValueError:
        raise OSError("the answer does not follow the protocol of WebHDFS") from None
    if not isinstance(found, dict):
        raise OSError("the answer does not follow the protocol of WebHDFS")
    return found


def _trusting(certificates: str | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=certificates)
    except OSError as error:
        told = error.strerror or str(error)
        problem = f"webhdfs.certificates = {certificates!r} cannot be used: {told}"
        raise ValueError(problem) from None


def _may_pass(error: HTTPError) -> bool:
    return not isinstance(error, SSLError) or "CERTIFICATE_VERIFY_FAILED" not in str(error)


def _plain(error: Exception) -> str:
    """Say what went wrong without the address that was asked, which may have a token."""
    if isinstance(error, ConnectTimeoutError | NewConnectionError):
        return "no connection"
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return "the server's certificate is not trusted"
    if isinstance(error, urllib3.exceptions.TimeoutError | TimeoutError):
        return "no answer in time"
    return "the connection broke"
