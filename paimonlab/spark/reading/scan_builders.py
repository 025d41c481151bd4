"""Taking from Spark the columns and filters that a query needs of what our reader reads."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from pyspark.sql.types import TimeType

from paimonlab.spark.jvm.bridge import CONNECTOR, Bridge, Proxy
from paimonlab.spark.reading.executor_rows import ExecutorRows
from paimonlab.spark.reading.filters import to_predicate
from paimonlab.spark.reading.pruned_scan import KnownScan, PrunedScan
from paimonlab.spec.predicates.predicate import AlwaysTrue

_SOURCE_FILTER = "org.apache.spark.sql.sources.Filter"


def scan_builder(bridge: Bridge, rows: ExecutorRows, key: Hashable) -> Proxy:
    """Start a read.

    Parameters
    ----------
    bridge
        The session.
    rows
        What is read.
    key
        Equal for equal rows, whoever reads them: two scans of them are one to Spark, which then has
        the rows of the smaller side of a join already when it asks which partitions to read.
    """
    # Spark refuses to translate filters on TIME, and with that the query.
    has_times = any(isinstance(field.dataType, TimeType) for field in rows.schema)
    builder = ColumnsScanBuilder if has_times else ArrowScanBuilder
    return builder(bridge, rows, key)


class ColumnsScanBuilder(Proxy):
    """Takes the columns that a query needs."""

    class Java:
        """py4j's list of interfaces."""

        implements = [CONNECTOR + "read.SupportsPushDownRequiredColumns"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, rows: ExecutorRows, key: Hashable) -> None:
        super().__init__(bridge)
        self._rows = rows
        self._key = key
        self._schema = rows.schema
        self._names = {name: name for name in rows.own}
        self._pushed: list[Any] = []

    def pruneColumns(self, java_schema: Any) -> None:
        """Read only these columns."""
        self._schema = self._bridge.python_schema(java_schema)

    def build(self) -> Proxy:
        """Finish."""
        is_pruned = not set(self._rows.partition_keys).isdisjoint(self._schema.names)
        scan = PrunedScan if is_pruned else KnownScan
        return scan(
            self._bridge, self._rows, self._schema, self._names, self._pushed, key=self._key
        )


class ArrowScanBuilder(ColumnsScanBuilder):
    """Takes the columns and filters that a query needs."""

    class Java:
        """py4j's list of interfaces."""

        implements = [  # noqa: RUF012
            CONNECTOR + "read.SupportsPushDownRequiredColumns",
            CONNECTOR + "read.SupportsPushDownFilters",
        ]

    def pushFilters(self, filters: Sequence[Any]) -> Any:
        """Take filters for the reader; all come back, for Spark to test again."""
        self._pushed = [
            item
            for item in filters
            if not isinstance(to_predicate(self._bridge, [item], self._names), AlwaysTrue)
        ]
        return self._bridge.array(_SOURCE_FILTER, list(filters))

    def pushedFilters(self) -> Any:
        """Return the filters that the reader takes."""
        return self._bridge.array(_SOURCE_FILTER, self._pushed)
