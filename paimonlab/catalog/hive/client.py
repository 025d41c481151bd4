"""A Hive metastore, asked over Thrift: connections, those that break, and what it refuses.

A question is asked again where a connection breaks. A change is not: whether it happened is looked
up first. One connection serves one call at a time; those that are idle are used again.

Source: the protocol is in ``metastore.thrift``; apache/paimon@1.4.2
``org.apache.paimon.hive.pool.CachedClientPool``.
"""

from __future__ import annotations

import contextlib
import functools
import getpass
import grp
import importlib
import logging
import os
import socket
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from paimonlab.catalog.hive.securing import PlainLogin, Security, encrypted
from paimonlab.errors import CatalogServerError, UnsupportedError
from paimonlab.secrets import without_secrets

logger = logging.getLogger(__name__)

Struct: TypeAlias = Any
"""A struct of ``metastore.thrift``."""
DEFAULT_PORT = 9083
_PAUSES_SECONDS = (0.0, 0.2, 1.0)
"""Before each attempt of a question, or of a change that did not happen."""
_CONNECT_SECONDS = 20.0
_OPEN = Security()
_UNKNOWN_METHOD = 1
_MISSING = ("NoSuchObjectException", "UnknownDBException")
_GONE_LOCKS = ("NoSuchLockException", "NoSuchTxnException", "TxnAbortedException")


class MissingObjectError(CatalogServerError):
    """The metastore has no object of this name."""


class TakenNameError(CatalogServerError):
    """The metastore has an object of this name."""


class LockGoneError(CatalogServerError):
    """The metastore has no such lock any more."""


class UnknownCallError(CatalogServerError):
    """The metastore does not have this call."""


class BrokenConnectionError(CatalogServerError):
    """The connection broke, or could not be made; a change may have happened."""


class NoAnswerError(BrokenConnectionError):
    """A metastore takes connections and does not answer; whoever asks again waits as long again."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a metastore listens."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"thrift://{host}:{self.port}"


def addresses_of(uri: str) -> tuple[Address, ...]:
    """Read a comma list of addresses, which are tried in this order.

    Raises
    ------
    UnsupportedError
        If one is not a ``thrift`` address.
    ValueError
        If there is none, or it carries a user.

    Examples
    --------
    >>> [str(one) for one in addresses_of("thrift://a:1, thrift://b")]
    ['thrift://a:1', 'thrift://b:9083']
    """
    found = []
    for text in filter(None, (part.strip() for part in uri.split(","))):
        parts = urlsplit(text)
        if parts.scheme != "thrift":
            raise UnsupportedError(f"uri = '{without_secrets(text)}'", "write thrift://host:9083")
        if parts.username or parts.password or parts.query or parts.path.strip("/"):
            raise ValueError("the uri of a metastore is a host and a port: thrift://host:9083")
        if not parts.hostname:
            raise ValueError(f"uri = {text!r} names no host")
        found.append(Address(parts.hostname, parts.port or DEFAULT_PORT))
    if not found:
        raise ValueError("the catalog option 'uri' is empty: thrift://host:9083")
    return tuple(found)


def current_user() -> str:
    """Return who owns what is made: as Hadoop has it, ``HADOOP_USER_NAME`` or who runs this."""
    return os.environ.get("HADOOP_USER_NAME") or getpass.getuser()


def _groups() -> list[str]:
    if os.environ.get("HADOOP_USER_NAME"):
        return []
    names = []
    for number in os.getgroups():
        with contextlib.suppress(KeyError):
            names.append(grp.getgrgid(number).gr_name)
    return names


@functools.cache
def protocol() -> Any:
    """Return the structs and calls of ``metastore.thrift``.

    Raises
    ------
    UnsupportedError
        If thriftpy2 is not installed.
    """
    try:
        import thriftpy2  # noqa: PLC0415 - optional
    except ModuleNotFoundError:
        raise UnsupportedError(
            "metastore = 'hive' without thriftpy2", "pip install 'paimonlab[hive]'"
        ) from None
    path = Path(__file__).with_name("metastore.thrift")
    return thriftpy2.load(os.fspath(path), module_name="paimonlab_metastore_thrift")


@dataclass(slots=True)
class _Connection:
    calls: Any
    address: Address


@dataclass
class _Idle:
    """Connections of one process that are not in use, latest first."""

    process: int = 0
    connections: list[_Connection] = field(default_factory=list)
    last: Address | None = None
    """What answered last."""
    silent: set[Address] = field(default_factory=set)
    """What took a connection, and gave no answer."""
    turn: threading.Lock = field(default_factory=threading.Lock)


class Metastore:
    """A metastore, or several that are the same one; connections are made when they are used."""

    def __init__(
        self,
        addresses: Sequence[Address],
        *,
        pool_size: int,
        timeout_seconds: float,
        sends_user: bool = True,
        security: Security = _OPEN,
    ) -> None:
        self.addresses = tuple(addresses)
        self._pool_size = pool_size
        self._timeout_seconds = timeout_seconds
        self._sends_user = sends_user and security.login is None
        self._security = security
        self._idle = _Idle()
        self._lacks: set[str] = set()
        """Calls that the metastore does not know."""
        weakref.finalize(self, _close, self._idle)

    def __repr__(self) -> str:
        return f"<Metastore {self.shown}>"

    def __getstate__(self) -> tuple[tuple[Address, ...], dict[str, Any]]:
        return self.addresses, {
            "pool_size": self._pool_size,
            "timeout_seconds": self._timeout_seconds,
            "sends_user": self._sends_user,
            "security": self._security,
        }

    def __setstate__(self, state: tuple[tuple[Address, ...], dict[str, Any]]) -> None:
        addresses, how = state
        self.__init__(addresses, **how)  # type: ignore[misc]

    @property
    def shown(self) -> str:
        """The addresses, for messages."""
        return ",".join(map(str, self.addresses))

    def close(self) -> None:
        """Close the connections that are not in use; others are made when they are needed."""
        _close(self._idle)

    def new(self, struct: str, **fields: Any) -> Struct:
        """Make a struct of ``metastore.thrift``."""
        return getattr(protocol(), struct)(**fields)

    def ask(self, call: str, *arguments: Any) -> Any:
        """Ask a question, again where a connection breaks.

        Raises
        ------
        MissingObjectError
            If there is no such object.
        CatalogServerError
            If the metastore cannot be reached, or fails.
        """
        for attempt, pause in enumerate(_PAUSES_SECONDS):
            time.sleep(pause)
            try:
                return self._called(call, arguments)
            except BrokenConnectionError as error:
                if attempt == len(_PAUSES_SECONDS) - 1 or self._is_in_vain(error):
                    raise
        raise AssertionError("the last attempt returns or raises")

    def table(self, database: str, name: str) -> Struct | None:
        """Return a table or a view; None if there is none of this name."""
        request = self.new("GetTableRequest", dbName=database, tblName=name)
        try:
            found = self._asked_either("get_table", (database, name), "get_table_req", request)
        except MissingObjectError:
            return None
        return getattr(found, "table", found)

    def tables(self, database: str, names: Sequence[str]) -> list[Struct]:
        """Return those of some tables and views of a database that there are."""
        request = self.new("GetTablesRequest", dbName=database, tblNames=list(names))
        found = self._asked_either(
            *("get_table_objects_by_name", (database, names)),
            *("get_table_objects_by_name_req", request),
        )
        return list(getattr(found, "tables", found))

    def _asked_either(
        self, call: str, arguments: Sequence[Any], later: str, request: Struct
    ) -> Any:
        """Ask by the call that all had up to Hive 4.0, else by the one that later ones have."""
        if call not in self._lacks:
            try:
                return self.ask(call, *arguments)
            except UnknownCallError:
                self._lacks.add(call)
        return self.ask(later, request)

    def change(self, call: str, *arguments: Any, is_done: Callable[[], bool]) -> None:
        """Change something, again where a connection breaks and it did not happen.

        Parameters
        ----------
        is_done
            Looks whether it happened.

        Raises
        ------
        MissingObjectError, TakenNameError
            If there is no such object, or one.
        BrokenConnectionError
            If it is unknown whether it happened.
        CatalogServerError
            If the metastore refuses.
        """
        for attempt, pause in enumerate(_PAUSES_SECONDS):
            time.sleep(pause)
            try:
                self._called(call, arguments)
            except BrokenConnectionError as error:
                if self._is_in_vain(error):
                    raise
                if is_done():
                    return
                if attempt == len(_PAUSES_SECONDS) - 1:
                    raise
            else:
                return

    def _is_in_vain(self, error: BrokenConnectionError) -> bool:
        """Whether none is left to ask: each attempt would wait as long as this one."""
        return isinstance(error, NoAnswerError) and self._idle.silent.issuperset(self.addresses)

    def once(self, call: str, *arguments: Any) -> Any:
        """Change something, and never again by itself."""
        return self._called(call, arguments)

    def _called(self, call: str, arguments: Sequence[Any]) -> Any:
        connection = self._taken()
        try:
            with self._named(call, connection):
                answer = getattr(connection.calls, call)(*arguments)
        except BrokenConnectionError:
            self._drop_idle(connection)
            raise
        except CatalogServerError:  # it answered
            self._give_back(connection)
            raise
        except BaseException:
            connection.calls.close()
            raise
        self._idle.silent.discard(connection.address)
        self._give_back(connection)
        return answer

    @contextlib.contextmanager
    def _named(self, call: str, connection: _Connection) -> Iterator[None]:
        """Turn errors of Thrift into ours."""
        from thriftpy2.protocol.exc import TProtocolException  # noqa: PLC0415 - optional
        from thriftpy2.thrift import TApplicationException, TException  # noqa: PLC0415 - optional
        from thriftpy2.transport import TTransportException  # noqa: PLC0415 - optional

        # The compiled protocol has an exception of its own, of which no stub tells.
        no_protocol: Any = importlib.import_module("thriftpy2.protocol.cybin")
        broken = (TTransportException, TProtocolException, no_protocol.ProtocolError)
        shown = str(connection.address)
        try:
            yield
        except (*broken, OSError, EOFError) as error:
            if TimeoutError in (type(error), type(error.__context__)):
                self._idle.silent.add(connection.address)
                raise NoAnswerError.told(
                    shown,
                    call,
                    f"no answer within {self._timeout_seconds:g} s; it may have happened. Raise "
                    "hive.metastore.client.socket.timeout if it takes longer",
                ) from None
            problem = getattr(error, "message", None) or str(error) or type(error).__name__
            raise BrokenConnectionError.told(
                shown, call, f"the connection broke: {problem}; it may have happened"
            ) from None
        except TApplicationException as error:
            kind = UnknownCallError if error.type == _UNKNOWN_METHOD else CatalogServerError
            raise kind.told(shown, call, str(error.message or error)) from None
        except TException as error:
            name = type(error).__name__
            kind = CatalogServerError
            if name in _MISSING:
                kind = MissingObjectError
            elif name == "AlreadyExistsException":
                kind = TakenNameError
            elif name in _GONE_LOCKS:
                kind = LockGoneError
            message = getattr(error, "message", None) or name
            raise kind.told(shown, call, str(message).strip()) from None

    # Connections

    def _taken(self) -> _Connection:
        """Return an idle connection of this process, or a new one."""
        idle = self._idle
        with idle.turn:
            if idle.process != os.getpid():
                # Those of a parent process are its own: they are left, not closed.
                idle.process, idle.connections, idle.last = os.getpid(), [], None
            if idle.connections:
                return idle.connections.pop()
        return self._connected()

    def _connected(self) -> _Connection:
        idle = self._idle
        order = sorted(self.addresses, key=lambda one: (one in idle.silent, one != idle.last))
        problems, kind, is_cut = [], BrokenConnectionError, False
        for address in order:
            try:
                connection = self._connected_to(address)
            except (OSError, CatalogServerError) as error:
                problems.append(f"{address}: {getattr(error, 'strerror', None) or error}")
                logger.info("no connection to %s: %s", address, error)
                if isinstance(error, NoAnswerError):
                    kind = NoAnswerError
                elif not isinstance(error, (ConnectionRefusedError, TimeoutError, socket.gaierror)):
                    is_cut = True  # so a metastore ends connections that are not as it wants them
                continue
            idle.last = address
            return connection
        more = ", ".join(self._security.unused) if is_cut else ""
        raise kind.told(
            self.shown,
            "connecting",
            f"no metastore answers ({'; '.join(problems)}){more and f'; if it wants more: {more}'}",
        )

    def _connected_to(self, address: Address) -> _Connection:
        calls = self._opened(address)
        connection = _Connection(calls, address)
        if self._sends_user:
            try:
                with self._named("set_ugi", connection), contextlib.suppress(UnknownCallError):
                    calls.set_ugi(current_user(), _groups())
            except BaseException:
                calls.close()
                raise
        return connection

    def _opened(self, address: Address) -> Any:
        metastore = protocol()
        thrift, transports, protocols = (
            importlib.import_module(f"thriftpy2.{name}")
            for name in ("thrift", "transport", "protocol")
        )
        timeout = min(self._timeout_seconds, _CONNECT_SECONDS)
        plain = socket.create_connection((address.host, address.port), timeout)
        plain.settimeout(self._timeout_seconds)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        shown = str(address)
        below: Any = transports.TSocket(sock=encrypted(plain, address.host, shown, self._security))
        if login := self._security.login:
            logged_in = PlainLogin(below)
            try:
                logged_in.begin(login, shown)
            except transports.TTransportException as error:
                below.close()
                raise ConnectionError(f"the login broke off: {error.message}") from None
            except BaseException:
                below.close()
                raise
            below = logged_in
        transport = transports.TBufferedTransportFactory().get_transport(below)
        return thrift.TClient(
            metastore.Metastore, protocols.TBinaryProtocolFactory().get_protocol(transport)
        )

    def _give_back(self, connection: _Connection) -> None:
        with self._idle.turn:
            is_ours = self._idle.process == os.getpid()
            if is_ours and len(self._idle.connections) < self._pool_size:
                self._idle.connections.append(connection)
                return
        connection.calls.close()

    def _drop_idle(self, broken: _Connection) -> None:
        """Close a connection that broke, and the idle ones to the same metastore."""
        with self._idle.turn:
            same = [one for one in self._idle.connections if one.address == broken.address]
            self._idle.connections = [one for one in self._idle.connections if one not in same]
            if self._idle.last == broken.address:
                self._idle.last = None
        for connection in (broken, *same):
            connection.calls.close()


def _close(idle: _Idle) -> None:
    """Close idle connections, unless they are those of the process this one was forked from."""
    with idle.turn:
        connections, idle.connections = idle.connections, []
        is_ours = idle.process == os.getpid()
    if is_ours:
        for connection in connections:
            connection.calls.close()
