"""Rows that are made in the driver and come to Spark with the plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from paimonlab.spark.jvm.bridge import CONNECTOR, Bridge
from paimonlab.spark.jvm.metrics import Unmeasured
from paimonlab.spark.values.types import spark_schema
from paimonlab.spec.types.arrow import from_arrow
from paimonlab.spec.types.data_types import DataField

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType


class LocalScan(Unmeasured):
    """A few rows.

    Parameters
    ----------
    bridge
        The session.
    name
        What EXPLAIN shows.
    schema
        Columns of the rows.
    rows
        Makes them, each time Spark asks.
    """

    class Java:
        """py4j's list of interfaces."""

        implements = [CONNECTOR + "read.LocalScan"]  # noqa: RUF012

    def __init__(
        self, bridge: Bridge, name: str, schema: StructType, rows: Callable[[], pa.Table]
    ) -> None:
        super().__init__(bridge)
        self._name = name
        self._schema = schema
        self._rows = rows

    def readSchema(self) -> Any:
        """Return the columns of `rows`."""
        return self._bridge.java_schema(self._schema)

    def description(self) -> str:
        """Return what EXPLAIN shows."""
        return self._name

    def columnarSupportMode(self) -> Any:
        """Give rows, not columns."""
        return self._bridge.java_class(CONNECTOR + "read.Scan$ColumnarSupportMode").UNSUPPORTED

    def rows(self) -> Any:
        """Return the rows as ``InternalRow[]``."""
        return self._bridge.internal_rows(self._rows(), self._schema)


def arrow_spark_schema(schema: pa.Schema) -> StructType:
    """Turn the schema of a small table into Spark's."""
    fields = [
        DataField(index, field.name, from_arrow(field.type, nullable=field.nullable))
        for index, field in enumerate(schema)
    ]
    return spark_schema(fields, plain=True)
