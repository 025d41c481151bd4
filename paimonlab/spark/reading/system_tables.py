"""System tables in Spark: `` SELECT … FROM db.`t$snapshots` ``.

They are small and made in the driver, so Spark gets their rows with the plan (a local scan), and
only the columns that the query asks for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimonlab.errors import UnsupportedError
from paimonlab.spark.jvm.bridge import CONNECTOR, Bridge, Proxy
from paimonlab.spark.reading.arrow_table import ArrowTable
from paimonlab.spark.reading.changes import ChangedRows
from paimonlab.spark.reading.local_scan import LocalScan, arrow_spark_schema
from paimonlab.spark.reading.plain_table import PlainTable
from paimonlab.spark.reading.time_travel import TravelArguments, reads_changes, skip_options

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from paimonlab.table.system import SystemTable


_OF_SNAPSHOTS = frozenset(
    {
        *("files", "file_key_ranges", "manifests", "table_indexes", "partitions", "buckets"),
        *("statistics", "audit_log", "binlog", "ro", "row_tracking"),
    }
)
"""Those that say something about one snapshot."""
_OF_CHANGES = frozenset({"audit_log", "binlog"})
"""Those that say what commits changed."""


def system_relation(
    bridge: Bridge, name: str, table: SystemTable, arguments: TravelArguments
) -> Proxy:
    """Return a system table at a point in time, or about what commits changed.

    Changes of ``$audit_log`` are read by executors.

    Raises
    ------
    UnsupportedError
        If it is not about snapshots, or not about changes.
    """
    kind = table.identifier.system_table
    wants_changes = reads_changes(arguments)
    for key, value in skip_options(arguments).items():
        raise UnsupportedError(
            f"{key} = {value!r} for one read of {table.name}",
            "set it for reads of the table itself",
        )
    if kind not in (_OF_CHANGES if wants_changes else _OF_SNAPSHOTS):
        raise UnsupportedError(
            f"{'changes' if wants_changes else 'time travel'} of {table.name}",
            "it is read as it is now"
            + ("; $audit_log shows what commits changed" if wants_changes else ""),
        )
    if wants_changes and kind == "audit_log":
        changes = table.table.scan(**arguments).changes
        assert changes is not None, "the options choose changes"
        return ArrowTable(bridge, ChangedRows(changes, has_kinds=True, cuts_timestamps=False))
    return SystemRelation(bridge, name, table, arguments)


class SystemRelation(PlainTable):
    """A system table as Spark sees a table: to be read, not written.

    Parameters
    ----------
    bridge
        The session.
    name
        What plans and messages show.
    table
        What to read.
    arguments
        The point in time, or the commits; None: as the table is now.
    """

    class Java:
        """py4j's list of interfaces."""

        implements = [CONNECTOR + "catalog.SupportsRead"]  # noqa: RUF012

    def __init__(
        self,
        bridge: Bridge,
        name: str,
        table: SystemTable,
        arguments: TravelArguments | None = None,
    ) -> None:
        super().__init__(bridge)
        self._name = name
        self._table = table
        self._arguments = arguments or {}
        self._schema = arrow_spark_schema(table.arrow_schema)

    def name(self) -> str:
        """Return the name that plans and messages show."""
        return self._name

    def schema(self) -> Any:
        """Return all columns."""
        return self._bridge.java_schema(self._schema)

    def columns(self) -> Any:
        """Return all columns."""
        return self._bridge.columns(self._schema)

    def capabilities(self) -> Any:
        """Allow batch reads only."""
        return self._bridge.capabilities("BATCH_READ")

    def newScanBuilder(self, options: Any) -> Proxy:
        """Start a read."""
        del options
        return _ScanBuilder(self._bridge, self._name, self._table, self._schema, self._arguments)


class _ScanBuilder(Proxy):
    """Takes from Spark which columns are wanted."""

    class Java:
        """py4j's list of interfaces."""

        implements = [CONNECTOR + "read.SupportsPushDownRequiredColumns"]  # noqa: RUF012

    def __init__(
        self,
        bridge: Bridge,
        name: str,
        table: SystemTable,
        schema: StructType,
        arguments: TravelArguments,
    ) -> None:
        super().__init__(bridge)
        self._name = name
        self._arguments = arguments
        self._table = table
        self._schema = schema

    def pruneColumns(self, required: Any) -> None:
        """Read these columns only."""
        self._schema = self._bridge.python_schema(required)

    def build(self) -> Proxy:
        """End the choice."""
        table, columns, arguments = self._table, list(self._schema.names), self._arguments
        return LocalScan(
            self._bridge,
            self._name,
            self._schema,
            lambda: table.scan(columns=columns, **arguments).to_arrow(),
        )
