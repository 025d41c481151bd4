"""Reading with our own reader on Spark's executors: what Spark cannot read as Java does.

Each split becomes a task; the task reads it with `paimonlab.read` and hands Arrow batches to
Spark. Columns and filters that Spark pushes down are pushed into that reader.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pyspark.cloudpickle import dumps
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from paimonlab.spark.jvm.bridge import CONNECTOR, Bridge, Proxy
from paimonlab.spark.jvm.python_tasks import PYTHON_SOURCE, data_source
from paimonlab.spark.reading.executor_read import read_task
from paimonlab.spark.reading.filters import to_predicate
from paimonlab.spark.reading.pinned import PinnedRead
from paimonlab.spark.reading.relation_schema import scan_schema
from paimonlab.spark.reading.scan import SnapshotScan
from paimonlab.spark.shipping import ship
from paimonlab.spec.predicates.predicate import AlwaysTrue

_V2_RELATION = "org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation"
_DATASET = "org.apache.spark.sql.classic.Dataset"
_SOURCE_FILTER = "org.apache.spark.sql.sources.Filter"


def arrow_frame(bridge: Bridge, snapshot: SnapshotScan) -> DataFrame:
    """Make a DataFrame of the splits of a snapshot that our reader reads."""
    table = ArrowTable(bridge, snapshot)
    none = bridge.none()
    plan = bridge.module(_V2_RELATION).create(table, none, none)
    return DataFrame(bridge.module(_DATASET).ofRows(bridge.session, plan), bridge.spark)


class ArrowTable(PinnedRead):
    """The splits that our reader reads, as a table of Spark's."""

    class Java:
        """py4j's list of interfaces."""

        implements = [CONNECTOR + "catalog.SupportsRead"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, snapshot: SnapshotScan) -> None:
        super().__init__(bridge, snapshot)
        self._schema = scan_schema(snapshot.scan.schema.fields)

    def name(self) -> str:
        """Return the name that plans show."""
        return self._snapshot.scan.definition.name

    def id(self) -> None:
        """Return no identity."""

    def version(self) -> None:
        """Return no version: what is read is pinned."""

    def schema(self) -> Any:
        """Return the columns."""
        return self._bridge.java_schema(self._schema)

    def columns(self) -> Any:
        """Return the columns."""
        return self._bridge.columns(self._schema)

    def partitioning(self) -> Any:
        """Return nothing: splits are not divided by a column."""
        return self._bridge.array(CONNECTOR + "expressions.Transform", [])

    def properties(self) -> Any:
        """Return nothing."""
        return self._bridge.map({})

    def constraints(self) -> Any:
        """Return nothing."""
        return self._bridge.array(CONNECTOR + "catalog.constraints.Constraint", [])

    def capabilities(self) -> Any:
        """Return that it can be read."""
        return self._bridge.capabilities("BATCH_READ")

    def newScanBuilder(self, options: Any) -> Proxy:
        """Start a read."""
        del options
        return ArrowScanBuilder(self._bridge, self._snapshot, self._schema)


class ArrowScanBuilder(Proxy):
    """Takes the columns and filters that a query needs."""

    class Java:
        """py4j's list of interfaces."""

        implements = [  # noqa: RUF012
            CONNECTOR + "read.SupportsPushDownRequiredColumns",
            CONNECTOR + "read.SupportsPushDownFilters",
        ]

    def __init__(self, bridge: Bridge, snapshot: SnapshotScan, schema: StructType) -> None:
        super().__init__(bridge)
        self._snapshot = snapshot
        self._schema = schema
        self._names = {name: name for name in schema.names}
        self._pushed: list[Any] = []

    def pruneColumns(self, java_schema: Any) -> None:
        """Read only these columns."""
        self._schema = self._bridge.python_schema(java_schema)

    def pushFilters(self, filters: Sequence[Any]) -> Any:
        """Take filters for the reader; all come back, for Spark to test again."""
        self._pushed = [
            item
            for item in filters
            if not isinstance(to_predicate([item], self._names), AlwaysTrue)
        ]
        return self._bridge.array(_SOURCE_FILTER, list(filters))

    def pushedFilters(self) -> Any:
        """Return the filters that the reader takes."""
        return self._bridge.array(_SOURCE_FILTER, self._pushed)

    def build(self) -> Proxy:
        """Finish."""
        return ArrowScan(self._bridge, self._snapshot, self._schema, self._names, self._pushed)


class ArrowScan(Proxy):
    """A read whose tasks run our reader."""

    class Java:
        """py4j's list of interfaces."""

        implements = [  # noqa: RUF012
            CONNECTOR + "read.SupportsReportStatistics",
            CONNECTOR + "read.Batch",
        ]

    def __init__(
        self,
        bridge: Bridge,
        snapshot: SnapshotScan,
        schema: StructType,
        names: dict[str, str],
        filters: Sequence[Any],
    ) -> None:
        super().__init__(bridge)
        self._snapshot = snapshot
        self._schema = schema
        self._predicate = to_predicate(filters, names)

    def readSchema(self) -> Any:
        """Return the columns that are read."""
        return self._bridge.java_schema(self._schema)

    def description(self) -> str:
        """Say what is read, for plans."""
        name = self._snapshot.scan.definition.name
        columns = ", ".join(self._schema.names)
        return f"Paimon({name}) by Python, columns: [{columns}], filter: {self._predicate}"

    def toBatch(self) -> Proxy:
        """Return the batch: this."""
        return self

    def supportedCustomMetrics(self) -> Any:
        """Return none."""
        return self._bridge.array(CONNECTOR + "metric.CustomMetric", [])

    def reportDriverMetrics(self) -> Any:
        """Return none."""
        return self._bridge.array(CONNECTOR + "metric.CustomTaskMetric", [])

    def columnarSupportMode(self) -> Any:
        """Return that tasks hand over rows."""
        mode = self._bridge.java_class(CONNECTOR + "read.Scan$ColumnarSupportMode")
        return mode.UNSUPPORTED

    def estimateStatistics(self) -> Any:
        """Return how much is read, so that small tables are broadcast."""
        splits = self._snapshot.arrow_splits(self._predicate)
        return ArrowStatistics(
            self._bridge,
            sum(split.size_bytes for split in splits),
            sum(split.row_count for split in splits),
        )

    def estimateSizeInBytes(self) -> Any:
        """Return the size of the files."""
        splits = self._snapshot.arrow_splits(self._predicate)
        return self._bridge.jvm.java.util.OptionalLong.of(sum(s.size_bytes for s in splits))

    def reflectsFullyPushedDownFilters(self) -> bool:
        """Say that rows may be fewer than estimated: filters only prune files."""
        return False

    def planInputPartitions(self) -> Any:
        """Return one task per split."""
        task = self._bridge.java_class(PYTHON_SOURCE + "PythonInputPartition")
        splits = self._snapshot.arrow_splits(self._predicate)
        return self._bridge.array(
            CONNECTOR + "read.InputPartition",
            [task(index, dumps(split)) for index, split in enumerate(splits)],
        )

    def createReaderFactory(self) -> Any:
        """Return what runs our reader in Spark's Python workers."""
        bridge = self._bridge
        ship(bridge.spark.sparkContext)
        scan = self._snapshot.scan
        plan = replace(
            scan,
            columns=tuple(self._schema.names),
            predicate=self._snapshot.bound(self._predicate),
        ).read_plan()
        read = partial(
            read_task,
            plan=plan,
            file_io=scan.store.file_io,
            schema=to_arrow_schema(self._schema, timezone="UTC"),
            cuts_timestamps=self._snapshot.abilities.cuts_timestamps,
        )
        readers = bridge.java_class(PYTHON_SOURCE + "PythonPartitionReaderFactory")
        command = dumps((read, self._schema))
        none = bridge.none()
        return readers(data_source(bridge), command, self.readSchema(), none, none)


class ArrowStatistics(Proxy):
    """The size of a read, at most."""

    class Java:
        """py4j's list of interfaces."""

        implements = [CONNECTOR + "read.Statistics"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, size_bytes: int, row_count: int) -> None:
        super().__init__(bridge)
        self._size_bytes = size_bytes
        self._row_count = row_count

    def sizeInBytes(self) -> Any:
        """Return the size of the files."""
        return self._bridge.jvm.java.util.OptionalLong.of(self._size_bytes)

    def numRows(self) -> Any:
        """Return the rows of the files, before merging."""
        return self._bridge.jvm.java.util.OptionalLong.of(self._row_count)

    def columnStats(self) -> Any:
        """Return nothing about single columns."""
        return self._bridge.map({})
