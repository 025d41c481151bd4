"""Which warehouse the notebook talks to, and whether Spark or only Python does."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from paimonlab.errors import NotFoundError, PaimonError, UnsupportedError, close_matches
from paimonlab.notebook import settings
from paimonlab.notebook.determinism import is_deterministic
from paimonlab.notebook.settings import Engine, Setting
from paimonlab.spec.secrets import without_credentials

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from paimonlab.catalog import Catalog

DEFAULT_CATALOG = "paimon"


class NotConnectedError(PaimonError):
    """A statement came before `connect`."""

    def __str__(self) -> str:
        return "not connected to a warehouse; first: %paimon_connect PATH"


@dataclass(frozen=True, slots=True)
class Connection:
    """A warehouse, seen by Python and, unless the engine is native, by Spark."""

    spark: SparkSession | None
    """None: the engine is native."""
    catalog: Catalog
    catalog_name: str
    """Name of the catalog in SQL."""
    warehouse: str
    """Path or URI without credentials."""
    alias: str = DEFAULT_CATALOG
    """What ``%paimon_connect --use`` and ``--close`` call it."""

    @property
    def engine(self) -> Engine:
        """Who runs SQL: ``spark``, or ``native``, which reads single tables by itself."""
        return "native" if self.spark is None else "spark"

    @property
    def is_read_only(self) -> bool:
        """Whether whatever would change the warehouse is refused."""
        return self.catalog.is_read_only

    def session(self, asked: str) -> SparkSession:
        """Return the Spark session.

        Parameters
        ----------
        asked
            What needs it, for the message.

        Raises
        ------
        UnsupportedError
            If the engine is native.
        """
        if self.spark is None:
            raise UnsupportedError(f"{asked} without Spark", "connect with --engine spark")
        return self.spark

    def known_tables(self) -> Sequence[str]:
        """List ``database.table`` of every table."""
        return [
            f"{database}.{table}"
            for database in self.catalog.databases()
            for table in self.catalog.tables(database)
        ]

    def __str__(self) -> str:
        name = f"catalog {self.catalog_name}"
        if self.alias != self.catalog_name:
            name += f" as {self.alias}"
        engine = "on Spark" if self.spark else "without Spark"
        manner = ", read-only" if self.is_read_only else ""
        if is_deterministic():
            return f"connected: {name} {engine}{manner}"
        if self.spark is None:
            return f"connected: {name} at {self.warehouse}, {engine}{manner}"
        java = _java_version(self.spark)
        version = f"Spark {self.spark.version}, Java {java}"
        return f"connected: {name} at {self.warehouse}, {version}{manner}"


_open: dict[str, Connection] = {}
"""By alias; the current one is last."""


def current() -> Connection:
    """Return the connection made or chosen last; without one, make the one that is configured.

    Raises
    ------
    NotConnectedError
        If there is none, and no ``default`` in the settings.
    """
    if _open:
        return list(_open.values())[-1]
    setting = settings.read().get(settings.DEFAULT)
    if setting is None:
        raise NotConnectedError
    return _connect_to(setting, settings.DEFAULT)


def is_connected() -> bool:
    """Tell whether there is a connection; one that is only configured does not count."""
    return bool(_open)


def connections() -> tuple[Connection, ...]:
    """Return all connections, the current one last."""
    return tuple(_open.values())


def make_current(connection: Connection) -> None:
    """Let every later statement use ``connection``, which replaces one of the same alias."""
    _open.pop(connection.alias, None)
    _open[connection.alias] = connection
    if connection.spark is not None:
        connection.spark.catalog.setCurrentCatalog(connection.catalog_name)


def use(alias: str) -> Connection:
    """Let every later statement use a connection; one that is only configured is made.

    Raises
    ------
    NotFoundError
        If there is none of that name.
    """
    if alias not in _open:
        configured = settings.read()
        if alias in configured:
            return _connect_to(configured[alias], alias)
        close = close_matches(alias, {*_open, *configured})
        raise NotFoundError(f"no connection {alias}.{close} %paimon_connect --list shows all")
    make_current(_open[alias])
    return _open[alias]


def disconnect(alias: str | None = None) -> None:
    """Forget a connection, or all of them; the Spark session stays.

    Raises
    ------
    NotFoundError
        If there is none of that name.
    """
    if alias is None:
        _open.clear()
        return
    if alias not in _open:
        raise NotFoundError(f"no connection {alias}.{close_matches(alias, _open)}")
    del _open[alias]
    if _open:
        make_current(current())


def connect(
    warehouse: str | os.PathLike[str] | Mapping[str, str],
    *,
    catalog: str | None = None,
    engine: Engine | Literal[""] = "",
    alias: str | None = None,
    read_only: bool = False,
) -> Connection:
    """Connect Python, and Spark if it is the engine, to a warehouse.

    SQL finds its databases without a prefix, and those of other connections as
    ``catalog.database.table``.

    Parameters
    ----------
    warehouse
        Folder or URI, or Paimon's catalog options, as for `paimonlab.connect`.
    catalog
        Name of the catalog in SQL; None is ``alias``, and without one ``paimon``.
    engine
        ``spark``, or ``native``: views, and SQL that reads one table; empty is ``spark``.
    alias
        Names the connection, to come back to it with `use`; None is ``catalog``.
    read_only
        Whether whatever would change the warehouse is refused; the catalog option ``read-only``
        says the same.

    Raises
    ------
    ValueError
        If another connection has a catalog of that name.
    """
    import paimonlab  # noqa: PLC0415 - the root imports this layer lazily

    name = catalog or alias or DEFAULT_CATALOG
    known_as = alias or name
    _check_name(name, known_as)
    if read_only:
        given = warehouse if isinstance(warehouse, Mapping) else {"warehouse": os.fspath(warehouse)}
        warehouse = {**given, "read-only": "true"}
    opened = paimonlab.connect(warehouse)
    spark = None
    if settings.engine_of(engine or "spark") == "spark":
        from paimonlab.spark import connect as connect_spark  # noqa: PLC0415 - optional

        spark = connect_spark(warehouse, catalog=name)
    shown = warehouse["warehouse"] if isinstance(warehouse, Mapping) else os.fspath(warehouse)
    made = Connection(spark, opened, name, without_credentials(shown), known_as)
    make_current(made)
    return made


def _check_name(catalog: str, alias: str) -> None:
    for other in _open.values():
        if other.catalog_name == catalog and other.alias != alias:
            raise ValueError(
                f"catalog {catalog} is that of the connection {other.alias}; give another name "
                f"with --catalog, or close that one: %paimon_connect --close {other.alias}"
            )


def _connect_to(setting: Setting, name: str) -> Connection:
    return connect(
        setting.resolved(), catalog=catalog_of(setting, name), engine=setting.engine, alias=name
    )


def catalog_of(setting: Setting, name: str) -> str:
    """Return the name in SQL of a connection that is configured."""
    return setting.catalog or (DEFAULT_CATALOG if name == settings.DEFAULT else name)


def _java_version(spark: SparkSession) -> str:
    row = spark.sql("SELECT java_method('java.lang.System', 'getProperty', 'java.version')").first()
    return str(row[0]) if row else "unknown"
