"""What a system table is, and which there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa

from paimonlab.errors import ColumnNotFoundError, TableNotFoundError
from paimonlab.spec.arrow_types import from_arrow
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.predicate import Predicate, evaluate
from paimonlab.spec.snapshot import Snapshot
from paimonlab.spec.types import DataField
from paimonlab.table.conditions import bound
from paimonlab.table.parts import TableParts
from paimonlab.table.system import files, history, manifests, partitions
from paimonlab.table.time_travel import TravelPoint, travel

if TYPE_CHECKING:
    import pandas as pd

    from paimonlab.table.table import Table

Rows = Callable[[TableParts, Snapshot | None], pa.Table]


@dataclass(frozen=True, slots=True)
class SystemTableKind:
    """One system table: its columns, its rows and a line of help."""

    schema: pa.Schema
    rows: Rows
    help: str


SYSTEM_TABLES: Mapping[str, SystemTableKind] = MappingProxyType(
    {
        "snapshots": SystemTableKind(
            history.SNAPSHOTS, history.snapshots, "one row a commit that has not expired"
        ),
        "schemas": SystemTableKind(history.SCHEMAS, history.schemas, "one row a schema"),
        "options": SystemTableKind(history.OPTIONS, history.options, "the options that are set"),
        "tags": SystemTableKind(history.TAGS, history.tags, "the named snapshots"),
        "files": SystemTableKind(
            files.FILES, files.files, "the live data files with keys and statistics"
        ),
        "manifests": SystemTableKind(
            manifests.MANIFESTS, manifests.manifests, "the manifest files of a snapshot"
        ),
        "partitions": SystemTableKind(
            partitions.PARTITIONS, partitions.partitions, "rows, bytes and files a partition"
        ),
        "buckets": SystemTableKind(
            partitions.BUCKETS, partitions.buckets, "rows, bytes and files a bucket"
        ),
    }
)
"""Every system table by its name."""


class SystemTable:
    """A read-only table of metadata: ``catalog.table("db.t$snapshots")``."""

    primary_keys: ClassVar[tuple[str, ...]] = ()
    partition_keys: ClassVar[tuple[str, ...]] = ()

    def __init__(self, table: Table, name: str) -> None:
        self._table = table
        self._kind = SYSTEM_TABLES[name]
        base = table.identifier
        self._identifier = Identifier(base.database, base.table, base.branch, name)

    def __repr__(self) -> str:
        return f"<paimonlab.SystemTable {self.name}>"

    @property
    def name(self) -> str:
        """The name, ``database.table$system``."""
        return str(self._identifier)

    @property
    def identifier(self) -> Identifier:
        """The parts of the name."""
        return self._identifier

    @property
    def arrow_schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return self._kind.schema

    def scan(
        self,
        columns: Sequence[str] | None = None,
        where: str | Predicate | None = None,
        *,
        limit: int | None = None,
        snapshot: int | None = None,
        tag: str | None = None,
        timestamp: datetime | int | str | None = None,
        watermark: int | None = None,
        version: int | str | None = None,
    ) -> SystemScan:
        """Prepare a read, as `Table.scan` does.

        The point in time matters to tables of one snapshot (files, manifests, partitions,
        buckets).
        """
        parts = self._table.parts
        point = TravelPoint(
            snapshot=snapshot, tag=tag, timestamp=timestamp, watermark=watermark, version=version
        )
        found = travel(point, parts.snapshots, parts.tags, self.name)
        names = self.arrow_schema.names
        for name in columns or ():
            if name not in names:
                raise ColumnNotFoundError(name, self.name, names)
        return SystemScan(
            name=self.name,
            rows=self._kind.rows,
            parts=parts,
            snapshot=found,
            columns=tuple(names if columns is None else columns),
            predicate=bound(where, self._fields, self.name),
            limit=limit,
        )

    @property
    def _fields(self) -> list[DataField]:
        return [
            DataField(number, column.name, from_arrow(column.type))
            for number, column in enumerate(self.arrow_schema)
        ]


@dataclass(frozen=True)
class SystemScan:
    """Rows of a system table."""

    name: str
    rows: Rows = field(repr=False)
    parts: TableParts = field(repr=False)
    snapshot: Snapshot | None
    columns: tuple[str, ...]
    predicate: Predicate | None
    limit: int | None

    def to_arrow(self) -> pa.Table:
        """Compute all rows."""
        table = self.rows(self.parts, self.snapshot)
        if self.predicate is not None:
            table = table.filter(evaluate(self.predicate, table))
        if self.limit is not None:
            table = table.slice(0, self.limit)
        return table.select(list(self.columns))

    def to_batches(self) -> pa.RecordBatchReader:
        """Compute all rows as a stream."""
        return self.to_arrow().to_reader()

    def to_pandas(self) -> pd.DataFrame:
        """Compute all rows as a pandas frame."""
        return self.to_arrow().to_pandas()

    def count(self) -> int:
        """Count the rows."""
        return self.to_arrow().num_rows

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Stream the rows to anything that speaks Arrow."""
        return self.to_batches().__arrow_c_stream__(requested_schema)


def system_table(table: Table, name: str) -> SystemTable:
    """Open a system table of a table.

    Raises
    ------
    TableNotFoundError
        If there is none of that name.
    """
    if name not in SYSTEM_TABLES:
        known = [f"{table.name}${known}" for known in SYSTEM_TABLES]
        raise TableNotFoundError(f"{table.name}${name}", known)
    return SystemTable(table, name)
