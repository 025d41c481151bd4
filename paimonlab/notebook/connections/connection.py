"""Which warehouse the notebook is connected to, and who runs SQL on it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from paimonlab import spark as spark_layer
from paimonlab.catalog import settings
from paimonlab.catalog.settings import Engine, Setting
from paimonlab.errors import NotFoundError, PaimonError, UnsupportedError, close_matches
from paimonlab.notebook.connections.environment_offers import offers, sessions
from paimonlab.notebook.connections.warehouse_connection import (
    DEFAULT_CATALOG,
    Connection,
    NotConnectedError,
)
from paimonlab.notebook.kernel.loading_ahead import load_for_queries
from paimonlab.secrets import without_credentials
from paimonlab.spark.sessions import remote as servers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from paimonlab.catalog import Catalog

_open: dict[str, Connection] = {}
"""By alias; the current one is last."""


def current() -> Connection:
    """Return the connection made or chosen last; without one, make the one that is configured.

    Raises
    ------
    NotConnectedError
        If there is no connection, and no ``default`` in the settings.
    """
    if _open:
        return list(_open.values())[-1]
    setting = settings.read().get(settings.DEFAULT)
    if setting is None:
        raise NotConnectedError
    return _connect_to(setting, settings.DEFAULT)


def without_warehouse() -> Connection:
    """Return what runs queries of files and data frames alone; no later statement uses it."""
    import paimonlab  # noqa: PLC0415 - the root imports this layer lazily

    nowhere = paimonlab.connect({"warehouse": os.devnull, "read-only": "true"})
    return Connection(None, nowhere, DEFAULT_CATALOG, "", alias="")


def to_catalog(catalog: Catalog) -> Connection:
    """Return what runs statements without Spark on a catalog; no later statement uses it."""
    return Connection(None, catalog, DEFAULT_CATALOG, catalog.path, alias="")


def is_connected() -> bool:
    """Tell whether there is a connection; one that is only configured does not count."""
    return bool(_open)


def connections() -> tuple[Connection, ...]:
    """Return all connections, the current one last."""
    return tuple(_open.values())


def make_current(connection: Connection) -> None:
    """Let every later statement use ``connection``, which replaces one of the same alias."""
    if connection.spark is not None:
        _choose_catalog(connection, connection.spark)
    replaced = _open.pop(connection.alias, None)
    if replaced is not None and replaced.spark is not connection.spark:
        _close(replaced)
    _open[connection.alias] = connection


def use(
    name: str,
    warehouse: str | os.PathLike[str] | None = None,
    *,
    catalog: str | None = None,
    variables: Mapping[str, Any] | None = None,
) -> Connection:
    """Let every later statement use a connection; one that is configured or offered is connected.

    Parameters
    ----------
    name
        Alias of an open connection, name of a configured one, ``SPARK_REMOTE``, or a variable
        of the notebook that is a Spark session.
    warehouse
        What views read, for a session or a server that is not configured with it.
    catalog
        As for `connect`.
    variables
        Those of the notebook.

    Raises
    ------
    NotFoundError
        If there is no such connection.
    ValueError
        If a connection already has its warehouse, or a session in this process has none.
    """
    is_as_it_is = warehouse is None and catalog is None
    if name in _open and is_as_it_is:
        make_current(_open[name])
        return _open[name]
    configured = settings.read()
    if name in configured and is_as_it_is:
        return _connect_to(configured[name], name)
    if name in configured and configured[name].remote is not None:
        server = configured[name].resolved_remote()
        chosen = catalog or configured[name].catalog
        return connect(warehouse, catalog=chosen, alias=name, remote=server)
    if name == servers.VARIABLE and os.environ.get(name):
        return connect(warehouse, catalog=catalog, alias=name, remote=os.environ[name])
    session = sessions(variables or {}).get(name)
    if session is not None:
        return connect(warehouse, catalog=catalog, alias=name, spark=session)
    if name in _open or name in configured:
        raise ValueError(
            f"the connection {name} has its warehouse; PATH and --use are for a server"
        )
    names = {*_open, *configured, *(offer.name for offer in offers(variables or {}))}
    close = close_matches(name, names)
    if name == settings.DEFAULT:
        raise NotFoundError(
            "no default connection is configured. %paimon_connect ./warehouse opens a folder, or "
            "makes one; %paimon_connect --list shows all"
        )
    raise NotFoundError(f"no connection {name}.{close} %paimon_connect --list shows all")


def disconnect(alias: str | None = None) -> None:
    """Forget a connection, or all of them; a Spark session of this process keeps running.

    Raises
    ------
    NotFoundError
        If there is no such connection.
    """
    if alias is None:
        for connection in _open.values():
            _close(connection)
        _open.clear()
        return
    if alias not in _open:
        raise NotFoundError(f"no connection {alias}.{close_matches(alias, _open)}")
    _close(_open.pop(alias))
    if _open:
        make_current(current())


def _close(connection: Connection) -> None:
    if connection.owns_session and connection.spark is not None:
        servers.close_session(connection.spark)


def connect(
    warehouse: str | os.PathLike[str] | Mapping[str, str] | None = None,
    *,
    catalog: str | None = None,
    engine: Engine | Literal[""] = "",
    alias: str | None = None,
    read_only: bool = False,
    remote: str | None = None,
    spark: SparkSession | None = None,
) -> Connection:
    """Connect Python, and Spark if it is the engine, to a warehouse.

    SQL finds its databases without a prefix, and those of other connections as
    ``catalog.database.table``.

    Parameters
    ----------
    warehouse
        Folder or URI, or Paimon's catalog options, as for `paimonlab.connect`; None: that of
        a Spark Connect server, which only the server reads.
    catalog
        Name of the catalog in SQL; None is ``alias``, and without one ``paimon``; of a Spark
        Connect server the one that its sessions begin in.
    engine
        ``spark``; ``native``: views and SQL without Spark; ``auto``: without Spark, which starts
        for the first statement that needs it. Empty is ``spark``, or ``native`` where PySpark is
        not installed.
    alias
        Names the connection, to come back to it with `use`; None is ``catalog``.
    read_only
        Whether everything that would change the warehouse is refused, as with the catalog option
        ``read-only``.
    remote
        Address of a Spark Connect server that runs SQL, as ``sc://host:15002``.
    spark
        Session to use, classic or of a Spark Connect server; None: the active one, or a new one.

    Raises
    ------
    ValueError
        If another connection has a catalog of that name, or there is no warehouse.
    NotFoundError
        If a server has no catalog of that name.
    paimonlab.spark.sessions.remote.RemoteError
        If a server does not answer.
    """
    import paimonlab  # noqa: PLC0415 - the root imports this layer lazily

    if isinstance(warehouse, str) and warehouse.startswith("sc:"):
        raise ValueError(
            f"a Spark Connect server is not a warehouse: put its address into {servers.VARIABLE}, "
            f"or as remote into a configured connection, then: %paimon_connect --use NAME"
        )
    if read_only:
        if warehouse is None:
            raise ValueError("read_only needs a warehouse")
        options = (
            warehouse if isinstance(warehouse, Mapping) else {"warehouse": os.fspath(warehouse)}
        )
        warehouse = {**options, "read-only": "true"}
    opened = None if warehouse is None else paimonlab.connect(warehouse)
    shown = os.fspath(warehouse or "") if not isinstance(warehouse, Mapping) else ""
    if isinstance(warehouse, Mapping) and opened is not None:
        shown = opened.path if not opened.has_folder else warehouse["warehouse"]
    if remote is not None or servers.is_remote(spark):
        if engine in ("native", "auto"):
            raise ValueError("a Spark Connect server runs SQL on Spark, not natively")
        return _connect_server(opened, without_credentials(shown), catalog, alias, remote, spark)
    if opened is None or warehouse is None:
        known_by = f" --use {alias}" if spark is not None and alias else ""
        raise ValueError(f"which warehouse? %paimon_connect PATH{known_by}")
    name = catalog or (alias if spark is None else None) or DEFAULT_CATALOG
    known_as = alias or name
    _check_name(name, known_as)
    session, chosen = None, settings.engine_of(engine or _engine_at_hand(spark))
    if chosen == "spark":
        _check_installed()
        session = spark_layer.connect(warehouse, catalog=name, spark=spark)
    address = without_credentials(shown)
    is_auto = chosen == "auto"
    connection = Connection(session, opened, name, address, known_as, is_auto=is_auto)
    make_current(connection)
    if chosen != "spark":
        load_for_queries()
    return connection


def session_of_current() -> SparkSession:
    """Return the Spark session of the current connection, which starts it if it has none."""
    connection = current()
    if connection.spark is not None:
        return connection.spark
    _check_installed()
    session = spark_layer.connect(connection.catalog.options, catalog=connection.catalog_name)
    make_current(replace(connection, spark=session))
    return session


def _connect_server(
    opened: Catalog | None,
    warehouse: str,
    catalog: str | None,
    alias: str | None,
    remote: str | None,
    spark: SparkSession | None,
) -> Connection:
    session = spark if remote is None else servers.open_session(remote)
    assert session is not None, "a server has an address or a session"
    name = catalog or session.catalog.currentCatalog()
    connection = Connection(
        session,
        opened,
        name,
        warehouse,
        alias or name,
        "" if remote is None else servers.address(remote),
        owns_session=remote is not None,
    )
    try:
        make_current(connection)
    except PaimonError:
        _close(connection)
        raise
    return connection


def _choose_catalog(connection: Connection, session: SparkSession) -> None:
    """Let SQL find the databases of a connection without a prefix.

    Raises
    ------
    NotFoundError
        If a server has no such catalog.
    paimonlab.spark.sessions.remote.RemoteError
        If it does not answer any more.
    """
    from pyspark.errors import PySparkException  # noqa: PLC0415 - optional

    name = connection.catalog_name
    try:
        session.catalog.setCurrentCatalog(name)
    except PySparkException as error:
        if not connection.is_remote:
            raise
        if servers.has_lost_server(error):
            raise servers.RemoteError(
                "the Spark Connect server does not answer any more; when it answers again: "
                f"%paimon_connect --close {connection.alias}, then --use {connection.alias}"
            ) from error
        catalogs = [row[0] for row in session.sql("SHOW CATALOGS").collect()]
        raise NotFoundError(
            f"the Spark Connect server has no catalog {name}.{close_matches(name, catalogs)} "
            f"Used so far: {', '.join(catalogs)}"
        ) from error


def _check_name(catalog: str, alias: str) -> None:
    for other in _open.values():
        is_here = not other.is_remote
        if is_here and other.catalog_name == catalog and other.alias != alias:
            raise ValueError(
                f"catalog {catalog} is that of the connection {other.alias}; give another name "
                f"with --catalog, or close that one: %paimon_connect --close {other.alias}"
            )


def _connect_to(setting: Setting, name: str) -> Connection:
    return connect(
        setting.resolved() or None,
        catalog=catalog_of(setting, name) or None,
        engine=setting.engine,
        alias=name,
        remote=setting.resolved_remote(),
    )


def catalog_of(setting: Setting, name: str) -> str:
    """Return the name in SQL of a configured connection; empty if only the server knows it."""
    if setting.remote is not None:
        return setting.catalog or ""
    return setting.catalog or (DEFAULT_CATALOG if name == settings.DEFAULT else name)


def _engine_at_hand(spark: SparkSession | None) -> Engine:
    """Return the engine where none was asked for."""
    return "spark" if spark is not None else settings.engine_at_hand()


def _check_installed() -> None:
    if find_spec("pyspark") is None:
        advice = "PySpark is not installed; use --engine native, or pip install 'paimonlab[spark]'"
        raise UnsupportedError("Spark here", advice)
