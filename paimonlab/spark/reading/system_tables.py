"""System tables in Spark: `` SELECT … FROM db.`t$snapshots` ``.

They are small and made in the driver, so Spark gets their rows with the plan (a local scan), and
only the columns that the query asks for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimonlab.spark.jvm.bridge import CONNECTOR, Bridge, Proxy
from paimonlab.spark.reading.local_scan import LocalScan, arrow_spark_schema

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from paimonlab.table.system import SystemTable


class SystemRelation(Proxy):
    """A system table as Spark sees a table: to be read, not written."""

    class Java:
        """py4j's list of interfaces."""

        implements = [CONNECTOR + "catalog.SupportsRead"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, name: str, table: SystemTable) -> None:
        super().__init__(bridge)
        self._name = name
        self._table = table
        self._schema = arrow_spark_schema(table.arrow_schema)

    def name(self) -> str:
        """Return the name that plans and messages show."""
        return self._name

    def id(self) -> None:
        """Return no identity: equal names are the same table."""

    def version(self) -> None:
        """Return no version: rows are computed for each query."""

    def schema(self) -> Any:
        """Return all columns."""
        return self._bridge.java_schema(self._schema)

    def columns(self) -> Any:
        """Return all columns."""
        return self._bridge.columns(self._schema)

    def partitioning(self) -> Any:
        """Return nothing: no partitions."""
        return self._bridge.array(CONNECTOR + "expressions.Transform", [])

    def constraints(self) -> Any:
        """Return nothing: no constraints."""
        return self._bridge.array(CONNECTOR + "catalog.constraints.Constraint", [])

    def properties(self) -> Any:
        """Return nothing: no properties."""
        return self._bridge.map({})

    def capabilities(self) -> Any:
        """Allow batch reads only."""
        return self._bridge.capabilities("BATCH_READ")

    def newScanBuilder(self, options: Any) -> Proxy:
        """Start a read."""
        del options
        return _ScanBuilder(self._bridge, self._name, self._table, self._schema)


class _ScanBuilder(Proxy):
    """Takes from Spark which columns are wanted."""

    class Java:
        """py4j's list of interfaces."""

        implements = [CONNECTOR + "read.SupportsPushDownRequiredColumns"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, name: str, table: SystemTable, schema: StructType) -> None:
        super().__init__(bridge)
        self._name = name
        self._table = table
        self._schema = schema

    def pruneColumns(self, required: Any) -> None:
        """Read these columns only."""
        self._schema = self._bridge.python_schema(required)

    def build(self) -> Proxy:
        """End the choice."""
        table, columns = self._table, list(self._schema.names)
        return LocalScan(
            self._bridge,
            self._name,
            self._schema,
            lambda: table.scan(columns=columns).to_arrow(),
        )
