"""Reading with our own reader on Spark's executors: what Spark cannot read as Java does.

Each split becomes a task; the task reads it with `paimonlab.read` and hands Arrow batches to
Spark. Columns and filters that Spark pushes down are pushed into that reader.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from pyspark.cloudpickle import dumps
from pyspark.sql.types import FloatType, StructType

from paimonlab.spark.jvm.bridge import CONNECTOR, Bridge, Proxy
from paimonlab.spark.jvm.metrics import Unmeasured
from paimonlab.spark.jvm.python_tasks import PYTHON_SOURCE, data_source
from paimonlab.spark.reading.executor_rows import ExecutorRows, Piece, SnapshotRows
from paimonlab.spark.reading.filters import to_predicate
from paimonlab.spark.reading.full_scans import check_full_scan
from paimonlab.spark.shipping import ship
from paimonlab.spec.predicates.predicate import Predicate
from paimonlab.spec.visible_text import shortened

_SHOWN = 2000
"""Characters of a condition that plans show."""


class ArrowScan(Unmeasured):
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
        self._predicate = to_predicate(bridge, filters, names, floats)

    def readSchema(self) -> Any:
        """Return the columns that are read."""
        return self._bridge.java_schema(self._schema)

    def description(self) -> str:
        """Say what is read, for plans."""
        name = self._rows.name
        columns = ", ".join(self._schema.names)
        condition = shortened(str(self._predicate), _SHOWN)
        why = f" ({self._rows.why})" if self._rows.why else ""
        return f"Paimon({name}) by Python{why}, columns: [{columns}], filter: {condition}"

    def toBatch(self) -> Proxy:
        """Return the batch: this."""
        return self

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
        return self._tasks(self._pieces, self._predicate)

    def _tasks(self, pieces: Sequence[Piece], predicate: Predicate) -> Any:
        if isinstance(self._rows, SnapshotRows):
            check_full_scan(self._bridge, self._rows.snapshot, predicate)
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
