"""A warehouse, and who runs SQL on it: Spark here or elsewhere, or Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from paimonlab.errors import PaimonError, UnsupportedError
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.spark.sessions import remote as servers
from paimonlab.spark.values.quoting import quoted
from paimonlab.storage.near_folders import near_folders

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from paimonlab.catalog import Catalog

DEFAULT_CATALOG = "paimon"


class NotConnectedError(PaimonError):
    """A statement was run before `connect`."""

    def __str__(self) -> str:
        return (
            "not connected to a warehouse; first: %paimon_connect PATH, or "
            "paimonlab.notebook.connect(PATH), or give paimonlab.sql(…, catalog=catalog)"
        )


@dataclass(frozen=True, slots=True)
class Connection:
    """A warehouse, seen by Python and, unless the engine is native, by Spark."""

    spark: SparkSession | None
    """None if the engine is native."""
    opened: Catalog | None
    """What views read; None if only a Spark Connect server knows where its tables are."""
    catalog_name: str
    """Name of the catalog in SQL."""
    warehouse: str
    """Path or URI without credentials; empty if nothing is opened."""
    alias: str = DEFAULT_CATALOG
    """What ``%paimon_connect --use`` and ``--close`` call it."""
    address: str = ""
    """Host and port of a Spark Connect server; empty if Spark runs here, or not at all."""
    owns_session: bool = False
    """Whether the session ends with the connection."""
    is_auto: bool = False
    """Whether statements run without Spark where they can, and Spark starts for others."""

    @property
    def catalog(self) -> Catalog:
        """What views read.

        Raises
        ------
        UnsupportedError
            If only a Spark Connect server knows where its tables are.
        """
        if self.opened is None:
            raise UnsupportedError(
                "a view of tables that only a Spark Connect server can read",
                f"give the warehouse as well: %paimon_connect PATH --use {self.alias}",
            )
        return self.opened

    @property
    def engine(self) -> Literal["spark", "native", "connect", "auto"]:
        """Who runs SQL: Spark here, this process without it, either, or a Spark Connect server."""
        if self.is_auto:
            return "auto"
        if self.spark is None:
            return "native"
        return "connect" if self.is_remote else "spark"

    @property
    def is_remote(self) -> bool:
        """Whether SQL goes to a Spark Connect server."""
        return servers.is_remote(self.spark)

    @property
    def is_read_only(self) -> bool:
        """Whether everything that would change the warehouse is refused."""
        return self.opened is not None and self.opened.is_read_only

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
        if self.opened is None:
            return _tables_by_sql(self.session("tables"))
        return [
            f"{database}.{table}"
            for database in self.opened.databases()
            for table in self.opened.tables(database)
        ]

    def __str__(self) -> str:
        name = f"catalog {self.catalog_name}"
        if self.alias != self.catalog_name:
            name += f" as {self.alias}"
        if self.spark is not None and self.is_remote:
            return self._text_of_server(name, self.spark)
        engine = "on Spark" if self.spark else "without Spark"
        engine += " where that is proven to give its rows" if self.is_auto else ""
        manner = ", read-only" if self.is_read_only else ""
        if is_deterministic():
            return f"connected: {name} {engine}{manner}"
        if self.spark is not None:
            engine = f"Spark {self.spark.version}, Java {_java_version(self.spark)}"
        return f"connected: {name} at {self.warehouse}, {engine}{manner}{self._remark}"

    @property
    def _remark(self) -> str:
        """Say that a folder is new: its name may be misspelt."""
        path = "" if self.opened is None else self.opened.path
        if not path.startswith("/") or Path(path).exists():
            return ""
        remark = "; this folder is not there yet, the first database makes it"
        near = near_folders(path)
        return f"{remark}; or is it {' or '.join(near)}?" if near else remark

    def _text_of_server(self, name: str, spark: SparkSession) -> str:
        if is_deterministic():
            return f"connected: {name} on Spark Connect"
        place = f" at {self.address}" if self.address else ""
        server = f"{name} of the Spark Connect server{place}, Spark {spark.version}"
        views = f"; views read {self.warehouse}" if self.opened else ""
        manner = ", read-only" if self.is_read_only else ""
        return f"connected: {server}{views}{manner}"


def _tables_by_sql(spark: SparkSession) -> Sequence[str]:
    databases = [row[0] for row in spark.sql("SHOW DATABASES").collect()]
    listed = [spark.sql(f"SHOW TABLES IN {quoted(name)}").collect() for name in databases]
    return [
        f"{database}.{row['tableName']}"
        for database, rows in zip(databases, listed, strict=True)
        for row in rows
        if not row["isTemporary"]
    ]


def _java_version(spark: SparkSession) -> str:
    row = spark.sql("SELECT java_method('java.lang.System', 'getProperty', 'java.version')").first()
    return str(row[0]) if row else "unknown"
