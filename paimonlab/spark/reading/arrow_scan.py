"""Reading with our own reader on Spark's executors: what Spark cannot read as Java does.

Each split becomes a task; the task reads it with `paimonlab.read` and hands Arrow batches to
Spark. Columns and filters that Spark pushes down are pushed into that reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from pyspark.cloudpickle import dumps
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import FloatType, StructType, TimeType

from paimonlab.errors import UnsupportedError
from paimonlab.spark.jvm.bridge import CONNECTOR, Bridge, Proxy
from paimonlab.spark.jvm.python_tasks import PYTHON_SOURCE, data_source
from paimonlab.spark.reading.executor_places import read_placed
from paimonlab.spark.reading.executor_read import read_task
from paimonlab.spark.reading.filters import to_predicate
from paimonlab.spark.reading.full_scans import check_full_scan
from paimonlab.spark.reading.pinned import PinnedRead
from paimonlab.spark.reading.places import IN_FILES, OWN_SCHEMA, TRACKING_SCHEMA, is_tracked
from paimonlab.spark.reading.plain_table import PlainTable
from paimonlab.spark.reading.relation_schema import scan_schema, undeclared
from paimonlab.spark.reading.scan import SnapshotScan
from paimonlab.spark.shipping import ship
from paimonlab.spec.predicates.predicate import AlwaysTrue, Predicate
from paimonlab.spec.schema.row_tracking import with_tracking

if TYPE_CHECKING:
    import pyarrow as pa

_V2_RELATION = "org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation"
_DATASET = "org.apache.spark.sql.classic.Dataset"
_SOURCE_FILTER = "org.apache.spark.sql.sources.Filter"


Task: TypeAlias = "Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]"
"""What runs on an executor: from batches of one binary column, the pickled pieces, to rows."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What one task reads."""

    pickled: bytes
    size_bytes: int
    row_count: int
    """Negative: unknown."""


class ExecutorRows(Protocol):
    """Rows that our reader reads on executors."""

    @property
    def name(self) -> str:
        """The name of the table."""
        ...

    @property
    def schema(self) -> StructType:
        """All columns."""
        ...

    @property
    def own(self) -> Sequence[str]:
        """The columns that predicates may look at."""
        ...

    @property
    def partition_keys(self) -> Sequence[str]:
        """The columns whose values choose files as a whole."""
        ...

    def pieces(self, columns: Sequence[str], predicate: Predicate) -> list[Piece]:
        """Find what the tasks of a query read, without files that the predicate rules out."""
        ...

    def task(self, schema: StructType, predicate: Predicate) -> Task:
        """Return what reads pieces as these columns; picklable."""
        ...


class SnapshotRows:
    """The splits of a snapshot that Spark cannot read itself."""

    def __init__(self, snapshot: SnapshotScan, *, are_placed: bool = False) -> None:
        self.snapshot = snapshot
        self._are_placed = are_placed
        self.name = snapshot.scan.definition.name
        self.own = snapshot.scan.schema.field_names
        self.partition_keys = snapshot.scan.schema.partition_keys
        schema = scan_schema(snapshot.scan.schema.fields)
        schema = undeclared(schema) if snapshot.abilities.as_stored else schema
        if are_placed:
            ids = TRACKING_SCHEMA if is_tracked(snapshot.scan.definition) else StructType()
            missing = (field for field in ids if field.name not in self.own)
            schema = StructType([*schema, *OWN_SCHEMA, *missing])
        self.schema = schema

    def pieces(self, columns: Sequence[str], predicate: Predicate) -> list[Piece]:
        """Return one piece per split."""
        del columns
        return [
            Piece(dumps(split), split.size_bytes, split.row_count)
            for split in self.snapshot.arrow_splits(predicate)
        ]

    def task(self, schema: StructType, predicate: Predicate) -> Task:
        """Return what reads splits."""
        scan = self.snapshot.scan
        if not IN_FILES.isdisjoint(schema.names) and not self.snapshot.are_placed:
            raise UnsupportedError(
                f"files and positions of rows of {self.name}",
                "some rows are put together from several files; leave out __paimon_file_path and "
                "__paimon_row_index, or compact the table first",
            )
        bound = self.snapshot.bound(predicate)
        names = tuple(name for name in schema.names if name not in OWN_SCHEMA.names)
        if self._are_placed and is_tracked(scan.definition):
            scan = replace(scan, schema=with_tracking(scan.schema))
        return partial(
            read_placed if self._are_placed else read_task,
            plan=replace(scan, columns=names, predicate=bound).read_plan(),
            file_io=scan.store.file_io,
            schema=to_arrow_schema(schema, timezone="UTC"),
            cuts_timestamps=self.snapshot.abilities.cuts_timestamps,
        )


def arrow_frame(bridge: Bridge, snapshot: SnapshotScan, *, are_placed: bool = False) -> DataFrame:
    """Make a DataFrame of the splits of a snapshot that our reader reads.

    Parameters
    ----------
    bridge, snapshot
        The session; the snapshot.
    are_placed
        Whether columns follow that say where rows are: `OWN_SCHEMA`, and ids of tracked rows.
    """
    return frame_of(bridge, PinnedArrowTable(bridge, snapshot, are_placed=are_placed))


def frame_of(bridge: Bridge, table: Proxy) -> DataFrame:
    """Make a DataFrame of a table of the connector API."""
    none = bridge.none()
    plan = bridge.module(_V2_RELATION).create(table, none, none)
    return DataFrame(bridge.module(_DATASET).ofRows(bridge.session, plan), bridge.spark)


class ArrowTable(PlainTable):
    """Rows that our reader reads, as a table of Spark's."""

    class Java:
        """py4j's list of interfaces."""

        implements = [CONNECTOR + "catalog.SupportsRead"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, rows: ExecutorRows) -> None:
        super().__init__(bridge)
        self._rows = rows

    def name(self) -> str:
        """Return the name that plans show."""
        return self._rows.name

    def schema(self) -> Any:
        """Return the columns."""
        return self._bridge.java_schema(self._rows.schema)

    def columns(self) -> Any:
        """Return the columns."""
        return self._bridge.columns(self._rows.schema)

    def capabilities(self) -> Any:
        """Return that it can be read."""
        return self._bridge.capabilities("BATCH_READ")

    def newScanBuilder(self, options: Any) -> Proxy:
        """Start a read."""
        del options
        # Spark refuses to translate filters on TIME, and with that the query.
        has_times = any(isinstance(field.dataType, TimeType) for field in self._rows.schema)
        builder = ColumnsScanBuilder if has_times else ArrowScanBuilder
        return builder(self._bridge, self._rows)


class PinnedArrowTable(ArrowTable, PinnedRead):
    """The splits of a snapshot that our reader reads."""

    class Java:
        """py4j's list of interfaces."""

        implements = [CONNECTOR + "catalog.SupportsRead"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, snapshot: SnapshotScan, *, are_placed: bool = False) -> None:
        PinnedRead.__init__(self, bridge, snapshot)
        self._rows = SnapshotRows(snapshot, are_placed=are_placed)

    equals = PinnedRead.equals


class ColumnsScanBuilder(Proxy):
    """Takes the columns that a query needs."""

    class Java:
        """py4j's list of interfaces."""

        implements = [CONNECTOR + "read.SupportsPushDownRequiredColumns"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, rows: ExecutorRows) -> None:
        super().__init__(bridge)
        self._rows = rows
        self._schema = rows.schema
        self._names = {name: name for name in rows.own}
        self._pushed: list[Any] = []

    def pruneColumns(self, java_schema: Any) -> None:
        """Read only these columns."""
        self._schema = self._bridge.python_schema(java_schema)

    def build(self) -> Proxy:
        """Finish."""
        return ArrowScan(self._bridge, self._rows, self._schema, self._names, self._pushed)


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
            if not isinstance(to_predicate([item], self._names), AlwaysTrue)
        ]
        return self._bridge.array(_SOURCE_FILTER, list(filters))

    def pushedFilters(self) -> Any:
        """Return the filters that the reader takes."""
        return self._bridge.array(_SOURCE_FILTER, self._pushed)


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
        rows: ExecutorRows,
        schema: StructType,
        names: dict[str, str],
        filters: Sequence[Any],
    ) -> None:
        super().__init__(bridge)
        self._rows = rows
        self._schema = schema
        self._names = names
        self._floats = floats = [
            field.name for field in rows.schema if isinstance(field.dataType, FloatType)
        ]
        self._predicate = to_predicate(filters, names, floats)

    def readSchema(self) -> Any:
        """Return the columns that are read."""
        return self._bridge.java_schema(self._schema)

    def description(self) -> str:
        """Say what is read, for plans."""
        name = self._rows.name
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
        return ArrowStatistics(
            self._bridge,
            sum(piece.size_bytes for piece in self._pieces),
            None
            if any(piece.row_count < 0 for piece in self._pieces)
            else sum(piece.row_count for piece in self._pieces),
        )

    def estimateSizeInBytes(self) -> Any:
        """Return the size of the files."""
        size = sum(piece.size_bytes for piece in self._pieces)
        return self._bridge.jvm.java.util.OptionalLong.of(size)

    def reflectsFullyPushedDownFilters(self) -> bool:
        """Say that rows may be fewer than estimated: filters only prune files."""
        return False

    def planInputPartitions(self) -> Any:
        """Return one task per piece."""
        if isinstance(self._rows, SnapshotRows):
            check_full_scan(self._bridge, self._rows.snapshot, self._predicate)
        return self._tasks(self._pieces)

    def _tasks(self, pieces: Sequence[Piece]) -> Any:
        task = self._bridge.java_class(PYTHON_SOURCE + "PythonInputPartition")
        return self._bridge.array(
            CONNECTOR + "read.InputPartition",
            [task(index, piece.pickled) for index, piece in enumerate(pieces)],
        )

    def createReaderFactory(self) -> Any:
        """Return what runs our reader in Spark's Python workers."""
        bridge = self._bridge
        ship(bridge.spark.sparkContext)
        read = self._rows.task(self._schema, self._predicate)
        readers = bridge.java_class(PYTHON_SOURCE + "PythonPartitionReaderFactory")
        command = dumps((read, self._schema))
        none = bridge.none()
        return readers(data_source(bridge), command, self.readSchema(), none, none)

    @cached_property
    def _pieces(self) -> list[Piece]:
        return self._rows.pieces(self._schema.names, self._predicate)


class ArrowStatistics(Proxy):
    """The size of a read, at most."""

    class Java:
        """py4j's list of interfaces."""

        implements = [CONNECTOR + "read.Statistics"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, size_bytes: int, row_count: int | None) -> None:
        super().__init__(bridge)
        self._size_bytes = size_bytes
        self._row_count = row_count

    def sizeInBytes(self) -> Any:
        """Return the size of the files."""
        return self._bridge.jvm.java.util.OptionalLong.of(self._size_bytes)

    def numRows(self) -> Any:
        """Return the rows of the files, before merging; nothing if they are not counted."""
        if self._row_count is None:
            return self._bridge.jvm.java.util.OptionalLong.empty()
        return self._bridge.jvm.java.util.OptionalLong.of(self._row_count)

    def columnStats(self) -> Any:
        """Return nothing about single columns."""
        return self._bridge.map({})
