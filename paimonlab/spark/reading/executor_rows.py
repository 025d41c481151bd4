"""Rows that our reader reads on Spark's executors, divided into what tasks read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeAlias

from pyspark.cloudpickle import dumps
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from paimonlab.errors import UnsupportedError
from paimonlab.spark.reading.executor_places import read_placed
from paimonlab.spark.reading.executor_read import read_task
from paimonlab.spark.reading.places import IN_FILES, OWN_SCHEMA, TRACKING_SCHEMA, is_tracked
from paimonlab.spark.reading.relation_schema import scan_schema, undeclared
from paimonlab.spark.reading.scan import SnapshotScan
from paimonlab.spec.predicates.predicate import Predicate
from paimonlab.spec.schema.row_tracking import with_tracking
from paimonlab.spec.types.system_fields import ROW_ID

if TYPE_CHECKING:
    import pyarrow as pa

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
    def why(self) -> str:
        """Why Spark's own scan does not read them, where the store decides that; else empty."""
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
        self.why = snapshot.abilities.why
        self.own = snapshot.scan.schema.field_names
        self.partition_keys = snapshot.scan.schema.partition_keys
        schema = scan_schema(snapshot.scan.schema.fields)
        schema = undeclared(schema) if snapshot.abilities.as_stored else schema
        if are_placed:
            ids = TRACKING_SCHEMA if is_tracked(snapshot.scan.definition) else StructType()
            missing = (field for field in ids if field.name not in self.own)
            schema = StructType([*schema, *OWN_SCHEMA, *missing])
            self.own = (*self.own, *(name for name in ids.names if name == ROW_ID))
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
