"""`serve`: a Spark Connect server whose sessions know a Paimon catalog.

The catalog is made of Python objects in the driver, so the server runs inside a classic session
of this process. Each client gets a session of its own on it, and each of those the catalog.

Source: apache/spark@v4.2.0 and v4.3.0, ``SparkConnectPlugin``, ``SparkConnectService``,
``SparkSessionExtensions.injectResolutionRule``, ``SessionState.catalogManager``.
"""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Event, Lock
from typing import Any, Self
from urllib.parse import quote

from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.catalog import connect as open_catalog
from paimonlab.errors import UnsupportedError
from paimonlab.spark.catalogs.catalog import register, unregister
from paimonlab.spark.catalogs.clones import HARMLESS_RULE, original_of
from paimonlab.spark.catalogs.namespaces import SESSION_CATALOG
from paimonlab.spark.jvm.bridge import Bridge, Proxy
from paimonlab.spark.jvm.python_tasks import offer
from paimonlab.spark.reading.data_source import NAME, PaimonSource
from paimonlab.spark.sessions.remote import CATALOG_KEY, address, check_packages
from paimonlab.spark.sessions.session import connect, existing_session

logger = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
PORT = 15002
"""Spark's own default."""
TOKEN_KEY = "spark.connect.authenticate.token"  # noqa: S105 - a name
TOKEN_VARIABLE = "SPARK_CONNECT_AUTHENTICATE_TOKEN"  # noqa: S105 - a name
_TOKEN_BYTES = 32
_OWN_HOSTS = (LOOPBACK, "localhost", "::1")
_PLUGINS_KEY = "spark.plugins"
_CONNECT = "org.apache.spark.sql.connect."


@dataclass(frozen=True, slots=True, repr=False)
class Server:
    """A Spark Connect server in this process; it ends with its session."""

    spark: SparkSession
    """The classic session that it runs in."""
    url: str
    """What clients connect to, with the token: ``sc://localhost:15002/;token=…``."""

    @property
    def address(self) -> str:
        """Host and port: what may be shown."""
        return address(self.url)

    def __repr__(self) -> str:
        return f"Server at {self.address}"

    def wait(self) -> None:
        """Wait until the process is interrupted."""
        Event().wait()

    def stop(self) -> None:
        """Stop the server and its session."""
        self.spark.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def serve(
    warehouse: str | os.PathLike[str] | Mapping[str, str],
    *,
    catalog: str = "paimon",
    host: str = LOOPBACK,
    port: int = PORT,
    token: str | None = None,
    open_to_all: bool = False,
    master: str | None = None,
    memory: str | None = None,
    conf: Mapping[str, str] | None = None,
) -> Server:
    """Start a Spark Connect server whose SQL knows the tables of ``warehouse``.

    Sessions begin in the catalog: clients write ``SELECT … FROM db.t``. Whoever has the token can
    do what this process can.

    Parameters
    ----------
    warehouse, catalog, master, memory, conf
        As for `paimonlab.spark.connect`.
    host
        Address that the server listens on. Spark's clients send a token to another machine over
        TLS only, which something in front of this server has to end.
    port
        0 takes one that is free; `Server.url` names it.
    token
        What a client has to have. None takes ``spark.connect.authenticate.token`` of ``conf``, the
        environment variable ``SPARK_CONNECT_AUTHENTICATE_TOKEN``, or makes one; it is part of
        `Server.url`.
    open_to_all
        Ask for no token: every program and every user of this machine may connect. Only on this
        machine's own addresses.

    Raises
    ------
    ValueError
        If this process has a Spark session already, ``open_to_all`` is given with a token or for
        another host than this machine's own, or the token cannot be one.
    UnsupportedError
        If packages are missing, or Spark has an unsupported version.
    """
    check_packages()
    if catalog == SESSION_CATALOG:
        raise UnsupportedError(
            f"serve with a catalog named {catalog!r}",
            "choose another name; it stands beside Spark's",
        )
    given = dict(conf or {})
    chosen = None if _is_open(given, host, token, open_to_all=open_to_all) else _token(given, token)
    if existing_session() is not None:
        raise ValueError("this process has a Spark session already; call its stop() first")
    plugins = [
        *filter(None, given.get(_PLUGINS_KEY, "").split(",")),
        _CONNECT + "SparkConnectPlugin",
    ]
    settings = given | {
        _PLUGINS_KEY: ",".join(plugins),
        "spark.connect.grpc.binding.address": host,
        "spark.connect.grpc.binding.port": str(port),
        "spark.sql.defaultCatalog": catalog,
        CATALOG_KEY: catalog,
    }
    if chosen is not None:
        settings[TOKEN_KEY] = chosen
    spark = connect(warehouse, catalog=catalog, master=master, memory=memory, conf=settings)
    bridge = Bridge(spark)
    catalogs = CatalogOfSessions(bridge, catalog, open_catalog(warehouse))
    bridge.session.extensions().injectResolutionRule(catalogs)
    service = bridge.module(_CONNECT + "service.SparkConnectService")
    server = Server(spark, _url(host, service.localPort(), chosen))
    logger.info("Spark Connect serves catalog %s at %s", catalog, server.address)
    return server


def _is_open(conf: Mapping[str, str], host: str, token: str | None, *, open_to_all: bool) -> bool:
    """Check whether clients need no token."""
    if not open_to_all:
        return False
    if token is not None or TOKEN_KEY in conf or os.environ.get(TOKEN_VARIABLE):
        raise ValueError(
            "open_to_all asks for no token, and there is one: leave out token, take "
            f"{TOKEN_KEY} out of conf and {TOKEN_VARIABLE} out of the environment"
        )
    if host not in _OWN_HOSTS:
        raise ValueError(
            f"serving on {host} without a token lets everybody who reaches it run programs here; "
            f"leave out open_to_all, or serve on {LOOPBACK}"
        )
    return True


def _token(conf: Mapping[str, str], token: str | None) -> str:
    """Choose what a client has to have."""
    if token is not None and TOKEN_KEY in conf:
        raise ValueError(f"token and {TOKEN_KEY} of conf say the same; leave one out")
    chosen = conf.get(TOKEN_KEY) if token is None else token
    if chosen is None:
        chosen = os.environ.get(TOKEN_VARIABLE) or secrets.token_urlsafe(_TOKEN_BYTES)
    if not chosen or not all("!" <= character <= "~" for character in chosen):
        raise ValueError(
            "a token has visible ASCII characters, at least one, and no spaces; "
            "leave it out, and one is made"
        )
    return chosen


def _url(host: str, port: int, token: str | None) -> str:
    shown = f"[{host}]" if ":" in host else host
    if token is None:
        return f"sc://{shown}:{port}"
    # Spark's clients send a token without TLS to a host of this very name only.
    named = "localhost" if host in _OWN_HOSTS else shown
    return f"sc://{named}:{port}/;token={quote(token, safe='')}"


class CatalogOfSessions(Proxy):
    """Puts the catalog into each session before its first statement is looked at.

    Spark calls `apply` for a rule when it builds the analyzer of a session.
    """

    class Java:
        """py4j's list of interfaces."""

        implements = ["scala.Function1"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, name: str, catalog: Catalog) -> None:
        super().__init__(bridge)
        self._name = name
        self._catalog = catalog
        self._lock = Lock()
        self._forgetting = Lock()
        self._bridges: dict[str, Bridge | None] = {}
        """By the session's id; None: its analyzer is being built."""
        self._seen: set[str] = set()
        """Sessions of clients that were there when one looked last."""

    @property
    def session_count(self) -> int:
        """How many sessions have the catalog, closed ones that are not forgotten yet included."""
        with self._lock:
            return len(self._bridges)

    def apply(self, session: Any) -> Any:
        """Put the catalog into a session, once, and return a rule that changes nothing."""
        key = str(session.sessionUUID())
        is_clone = original_of(session) is not None  # it shares the catalogs of its original
        with self._lock:
            is_new = not is_clone and key not in self._bridges
            if is_new:
                self._bridges[key] = None
        if is_new:
            # Asking for the catalogs of a session builds its analyzer, and so comes here again.
            try:
                own = Bridge(SparkSession(self._bridge.spark.sparkContext, session))
                register(own, self._name, self._catalog)
                offer(own, NAME, PaimonSource)
            except BaseException:
                with self._lock:
                    del self._bridges[key]
                raise
            with self._lock:
                self._bridges[key] = own
            self._forget_closed()
        return self._bridge.module(HARMLESS_RULE)

    def _forget_closed(self) -> None:
        """Take the catalog out of sessions that are gone: the two would keep each other alive."""
        # One at a time: an older list than that of `_seen` would lack sessions that are there.
        with self._forgetting:
            active = self._active()
            with self._lock:
                closed = self._seen - active
                self._seen = active
                gone = [self._bridges.pop(key, None) for key in closed]
        for bridge in gone:
            if bridge is not None:
                unregister(bridge, self._name)

    def _active(self) -> set[str]:
        """Return the ids of the clients' sessions."""
        manager = self._bridge.module(_CONNECT + "service.SparkConnectService").sessionManager()
        infos = self._bridge.jvm.scala.jdk.javaapi.CollectionConverters.asJava(
            manager.listActiveSessions()
        )
        return {str(info.serverSessionId()) for info in infos}
