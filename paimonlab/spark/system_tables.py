"""System tables in Spark: `` SELECT … FROM db.`t$snapshots` ``.

They are small and made in the driver, so Spark gets their rows with the plan (a local scan), and
only the columns that the query asks for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql.types import StructType

from paimonlab.spark.bridge import CONNECTOR, Bridge, Proxy
from paimonlab.spark.types import spark_schema
from paimonlab.spec.arrow_types import from_arrow
from paimonlab.spec.types import DataField

if TYPE_CHECKING:
    import pyarrow as pa

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
        self._schema = _spark_schema(table.arrow_schema)

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
        return _LocalScan(self._bridge, self._name, self._table, self._schema)


class _LocalScan(Proxy):
    """Rows that come with the plan."""

    class Java:
        """py4j's list of interfaces."""

        implements = [CONNECTOR + "read.LocalScan"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, name: str, table: SystemTable, schema: StructType) -> None:
        super().__init__(bridge)
        self._name = name
        self._table = table
        self._schema = schema

    def readSchema(self) -> Any:
        """Return the columns of `rows`."""
        return self._bridge.java_schema(self._schema)

    def description(self) -> str:
        """Return what EXPLAIN shows."""
        return self._name

    def supportedCustomMetrics(self) -> Any:
        """Return nothing: no metrics."""
        return self._bridge.array(CONNECTOR + "metric.CustomMetric", [])

    def reportDriverMetrics(self) -> Any:
        """Return nothing: no metrics."""
        return self._bridge.array(CONNECTOR + "metric.CustomTaskMetric", [])

    def columnarSupportMode(self) -> Any:
        """Give rows, not columns."""
        return self._bridge.java_class(CONNECTOR + "read.Scan$ColumnarSupportMode").UNSUPPORTED

    def rows(self) -> Any:
        """Read the system table."""
        rows = self._table.scan(columns=list(self._schema.names)).to_arrow()
        return self._bridge.internal_rows(rows, self._schema)


def _spark_schema(schema: pa.Schema) -> StructType:
    fields = [
        DataField(index, field.name, from_arrow(field.type, nullable=field.nullable))
        for index, field in enumerate(schema)
    ]
    return spark_schema(fields, plain=True)
