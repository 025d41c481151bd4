"""What a system table is, and which there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa

from paimonlab.errors import ColumnNotFoundError, TableNotFoundError
from paimonlab.interrupts import whole_module
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.options.given import OptionValue, text_options
from paimonlab.spec.options.table_options import check_known
from paimonlab.spec.predicates.predicate import Predicate, evaluate
from paimonlab.spec.snapshot import Snapshot
from paimonlab.spec.types.arrow import from_arrow
from paimonlab.spec.types.data_types import DataField
from paimonlab.table.definition import TableDefinition
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.reading.conditions import Where, bound
from paimonlab.table.reading.time_travel import TravelPoint, travel
from paimonlab.table.store import TableStore
from paimonlab.table.system import (
    aggregation,
    audit_log,
    file_indexes,
    files,
    history,
    indexes,
    lines,
    manifests,
    partitions,
    read_optimized,
    row_tracking,
    statistics,
)
from paimonlab.table.system.asking import AboutTable, ScanArguments, SystemRows
from paimonlab.table.system.by_column import ByColumn
from paimonlab.table.system.help_texts import HELP

if TYPE_CHECKING:
    import pandas as pd

    from paimonlab.table.table import Table

Rows = Callable[[TableDefinition, TableStore, Snapshot | None], pa.Table | ByColumn]


@dataclass(frozen=True, slots=True)
class SystemTableKind:
    """One system table: its columns, how it is read and a line of help."""

    columns: Callable[[Table], pa.Schema]
    scan: Callable[[AboutTable, ScanArguments], SystemRows]
    help: str


def _metadata(schema: pa.Schema, rows: Rows, help: str) -> SystemTableKind:
    """Describe a system table that is a function of what a table is and of where it lies."""

    def scan(table: AboutTable, asked: ScanArguments) -> SystemScan:
        return _metadata_scan(table, asked, rows)

    return SystemTableKind(lambda _: schema, scan, help)


SYSTEM_TABLES: Mapping[str, SystemTableKind] = MappingProxyType(
    {
        "snapshots": _metadata(history.SNAPSHOTS, history.snapshots, HELP["snapshots"]),
        "schemas": _metadata(history.SCHEMAS, history.schemas, HELP["schemas"]),
        "options": _metadata(history.OPTIONS, history.options, HELP["options"]),
        "tags": _metadata(history.TAGS, history.tags, HELP["tags"]),
        "branches": _metadata(lines.BRANCHES, lines.branches, HELP["branches"]),
        "consumers": _metadata(lines.CONSUMERS, lines.consumers, HELP["consumers"]),
        "files": _metadata(files.FILES, files.files, HELP["files"]),
        "file_key_ranges": _metadata(
            files.FILE_KEY_RANGES, files.file_key_ranges, HELP["file_key_ranges"]
        ),
        "file_indexes": _metadata(
            file_indexes.FILE_INDEXES, file_indexes.file_indexes, HELP["file_indexes"]
        ),
        "manifests": _metadata(manifests.MANIFESTS, manifests.manifests, HELP["manifests"]),
        "table_indexes": _metadata(
            indexes.TABLE_INDEXES, indexes.table_indexes, HELP["table_indexes"]
        ),
        "partitions": _metadata(partitions.PARTITIONS, partitions.partitions, HELP["partitions"]),
        "buckets": _metadata(partitions.BUCKETS, partitions.buckets, HELP["buckets"]),
        "statistics": _metadata(statistics.STATISTICS, statistics.statistics, HELP["statistics"]),
        "aggregation_fields": _metadata(
            aggregation.AGGREGATION_FIELDS,
            aggregation.aggregation_fields,
            HELP["aggregation_fields"],
        ),
        "audit_log": SystemTableKind(
            audit_log.audit_columns, audit_log.audit_log, HELP["audit_log"]
        ),
        "binlog": SystemTableKind(audit_log.binlog_columns, audit_log.binlog, HELP["binlog"]),
        "ro": SystemTableKind(read_optimized.columns, read_optimized.scan, HELP["ro"]),
        "row_tracking": SystemTableKind(
            row_tracking.columns, row_tracking.scan, HELP["row_tracking"]
        ),
    }
)
"""Every system table by its name."""


class SystemTable:
    """A read-only table of metadata: ``catalog.system_table("db.t$snapshots")``."""

    primary_keys: ClassVar[tuple[str, ...]] = ()
    partition_keys: ClassVar[tuple[str, ...]] = ()

    def __init__(self, table: Table, name: str) -> None:
        self.table = table
        """The table that it is about."""
        self._kind = SYSTEM_TABLES[name]
        self._arrow_schema = self._kind.columns(table)
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
        return self._arrow_schema

    def on_branch(self, name: str) -> SystemTable:
        """Return the same about another branch of its table.

        Raises
        ------
        BranchNotFoundError
            If there is no such branch.
        """
        assert self._identifier.system_table is not None, "it is about a table"
        return SystemTable(self.table.on_branch(name), self._identifier.system_table)

    def scan(
        self,
        columns: Sequence[str] | None = None,
        where: Where | None = None,
        *,
        limit: int | None = None,
        snapshot: int | None = None,
        tag: str | None = None,
        timestamp: datetime | int | str | None = None,
        watermark: int | None = None,
        version: int | str | None = None,
        options: Mapping[str, OptionValue] | None = None,
    ) -> SystemRows:
        """Prepare a read, as `Table.scan` does.

        The point in time matters to tables of one snapshot: files, manifests, table_indexes,
        partitions, buckets, statistics, and those that show rows.

        Raises
        ------
        ColumnNotFoundError
            If a column does not exist.
        SchemaError
            If an option is unknown.
        """
        check_known(options or ())
        for name in columns or ():
            if name not in self.arrow_schema.names:
                raise ColumnNotFoundError(name, self.name, self.arrow_schema.names)
        asked = ScanArguments(
            columns=tuple(self.arrow_schema.names if columns is None else columns),
            where=where,
            limit=limit,
            snapshot=snapshot,
            tag=tag,
            timestamp=timestamp,
            watermark=watermark,
            version=version,
            options=text_options(options or {}),
        )
        return self._answer(asked)

    def _answer(self, asked: ScanArguments) -> SystemRows:
        return self._kind.scan(self, asked)


class CatalogTable(SystemTable):
    """A read-only table about all tables of a catalog: ``catalog.system_table("sys.tables")``."""

    def __init__(
        self, identifier: Identifier, schema: pa.Schema, rows: Callable[[], pa.Table]
    ) -> None:
        self._identifier = identifier
        self._arrow_schema = schema
        self._rows = rows

    def _answer(self, asked: ScanArguments) -> SystemRows:
        if not asked.point.is_now or asked.options:
            raise ValueError(f"{self.name} is read as it is now")
        return SystemScan(
            name=self.name,
            rows=self._rows,
            columns=asked.columns,
            predicate=bound(asked.where, _fields(self.arrow_schema), self.name),
            limit=asked.limit,
        )


def _fields(schema: pa.Schema) -> list[DataField]:
    return [
        DataField(number, column.name, from_arrow(column.type))
        for number, column in enumerate(schema)
    ]


def _metadata_scan(table: AboutTable, asked: ScanArguments, rows: Rows) -> SystemScan:
    base = table.table
    store = store_of(base)
    definition = definition_of(base).with_options(asked.options)
    point = asked.point
    if point.is_now:
        point = TravelPoint.of_options(definition.options)
    snapshot = travel(point, store.snapshots, store.tags, table.name)
    return SystemScan(
        name=table.name,
        rows=lambda: rows(definition, store, snapshot),
        columns=asked.columns,
        predicate=bound(asked.where, _fields(table.arrow_schema), table.name),
        limit=asked.limit,
    )


@dataclass(frozen=True)
class SystemScan:
    """Rows of a system table."""

    name: str
    rows: Callable[[], pa.Table | ByColumn] = field(repr=False)
    """Computes all of them, or says how their columns are computed."""
    columns: tuple[str, ...]
    predicate: Predicate | None
    limit: int | None

    def to_arrow(self) -> pa.Table:
        """Compute all rows."""
        return self._selected(self.columns)

    def _selected(self, columns: Sequence[str]) -> pa.Table:
        table = self.rows()
        if isinstance(table, ByColumn):
            return table.select(columns, self.predicate, self.limit)
        if self.predicate is not None:
            table = table.filter(evaluate(self.predicate, table))
        if self.limit is not None:
            table = table.slice(0, self.limit)
        return table.select(list(columns))

    def to_batches(self) -> pa.RecordBatchReader:
        """Compute all rows as a stream."""
        return self.to_arrow().to_reader()

    def to_pandas(self) -> pd.DataFrame:
        """Compute all rows as a pandas frame."""
        whole_module("pandas")  # which pyarrow imports
        return self.to_arrow().to_pandas()

    def count(self) -> int:
        """Count the rows."""
        return self._selected(()).num_rows

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Stream the rows to anything that speaks Arrow."""
        return self.to_batches().__arrow_c_stream__(requested_schema)


def open_system_table(table: Table, name: str) -> SystemTable:
    """Open a system table of a table.

    Raises
    ------
    TableNotFoundError
        If no such table exists.
    """
    if name not in SYSTEM_TABLES:
        known = [f"{table.name}${known}" for known in SYSTEM_TABLES]
        raise TableNotFoundError(f"{table.name}${name}", known)
    return SystemTable(table, name)
