"""Which warehouse and which Spark session the notebook talks to."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paimonlab.errors import PaimonError
from paimonlab.notebook.determinism import is_deterministic

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from paimonlab.catalog import Catalog


class NotConnectedError(PaimonError):
    """A statement came before `connect`."""

    def __str__(self) -> str:
        return "not connected to a warehouse; first: %paimon_connect PATH"


@dataclass(frozen=True, slots=True)
class Connection:
    """A warehouse, seen by Spark and by Python."""

    spark: SparkSession
    catalog: Catalog
    catalog_name: str
    """Name of the catalog in SQL."""
    warehouse: str
    """Path or URI without credentials."""

    def known_tables(self) -> Sequence[str]:
        """List ``database.table`` of every table."""
        return [
            f"{database}.{table}"
            for database in self.catalog.databases()
            for table in self.catalog.tables(database)
        ]

    def __str__(self) -> str:
        if is_deterministic():
            return f"connected: catalog {self.catalog_name} on Spark"
        java = _java_version(self.spark)
        return (
            f"connected: catalog {self.catalog_name} at {self.warehouse}, "
            f"Spark {self.spark.version}, Java {java}"
        )


_current: list[Connection] = []


def current() -> Connection:
    """Return the connection made last.

    Raises
    ------
    NotConnectedError
        If there is none.
    """
    if not _current:
        raise NotConnectedError
    return _current[-1]


def is_connected() -> bool:
    """Tell whether `current` would return a connection."""
    return bool(_current)


def make_current(connection: Connection) -> None:
    """Let every later statement use ``connection``."""
    _current[:] = [connection]


def disconnect() -> None:
    """Forget the connection; the Spark session stays."""
    _current.clear()


def connect(warehouse: str | os.PathLike[str], *, catalog: str = "paimon") -> Connection:
    """Connect Spark and Python to a warehouse; SQL finds its databases without a prefix.

    Parameters
    ----------
    warehouse
        Folder or URI.
    catalog
        Name of the catalog in SQL.
    """
    import paimonlab  # noqa: PLC0415 - the root imports this layer lazily
    from paimonlab.spark import connect as connect_spark  # noqa: PLC0415 - PySpark is optional

    opened = paimonlab.connect(warehouse)
    spark = connect_spark(warehouse, catalog=catalog)
    spark.catalog.setCurrentCatalog(catalog)
    connection = Connection(spark, opened, catalog, without_credentials(os.fspath(warehouse)))
    make_current(connection)
    return connection


def without_credentials(uri: str) -> str:
    """Take user, password and query out of a URI.

    Examples
    --------
    >>> without_credentials("s3://key:secret@bucket/w?token=x")
    's3://bucket/w'
    >>> without_credentials("./a?b@c")
    './a?b@c'
    """
    match = re.match(r"([A-Za-z][\w+.-]*://)([^/?#]*)([^?#]*)", uri)
    return match[1] + match[2].rpartition("@")[2] + match[3] if match else uri


def _java_version(spark: SparkSession) -> str:
    row = spark.sql("SELECT java_method('java.lang.System', 'getProperty', 'java.version')").first()
    return str(row[0]) if row else "unknown"
