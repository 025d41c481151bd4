"""A format table as Spark sees it: read and written by our reader and writer on executors.

Spark's own sources of CSV and JSON read other values of the same lines than Java Paimon does (texts
of numbers, backslashes, empty texts), so they are not used.

Source: apache/paimon@1.4.2 ``org.apache.paimon.spark.format.PaimonFormatTable``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from pyspark.cloudpickle import dumps
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spark.format_tables.packing import packed, target_bytes
from paimonlab.spark.format_tables.partitions import FormatPartitions
from paimonlab.spark.format_tables.tasks import read_files
from paimonlab.spark.format_tables.writing import FormatWriteBuilder, replace_dynamically
from paimonlab.spark.jvm.bridge import CONNECTOR, Bridge, Proxy
from paimonlab.spark.jvm.commands import command
from paimonlab.spark.reading.executor_rows import Piece, Task
from paimonlab.spark.reading.plain_table import identities
from paimonlab.spark.reading.scan_builders import scan_builder
from paimonlab.spark.rows.joining import frame_of
from paimonlab.spark.rows.rewriting import FileTarget
from paimonlab.spark.session_options import SessionOptions
from paimonlab.spark.values.types import spark_schema
from paimonlab.spec.format_table import FILE_FORMAT, TYPE
from paimonlab.spec.predicates.predicate import AlwaysTrue, Predicate, bind
from paimonlab.table.format_tables.format_table import FormatScan, FormatTable

if TYPE_CHECKING:
    from paimonlab.table.table import Table

CAPABILITIES = (
    "BATCH_READ",
    "BATCH_WRITE",
    "OVERWRITE_BY_FILTER",
    "OVERWRITE_DYNAMIC",
    "TRUNCATE",
    "V1_BATCH_WRITE",
)
_IMPLEMENTATION = "format-table.implementation"
_NOT_OF_SESSIONS = {
    "metastore.partitioned-table": "false",
    "format-table.commit-hive-sync-url": None,
}
"""Options of format tables that cannot be obeyed, with the value that says so anyway."""
_OF_SESSIONS = frozenset(
    {
        *("file.compression", "format-table.file.compression", "file.compression.zstd-level"),
        *("target-file-size", "file.block-size", "data-file.prefix"),
        *("source.split.target-size", "source.split.open-file-cost"),
        *("partition.default-name", "partition.legacy-name"),
        "format-table.partition-path-only-value",
    }
)
_UNKNOWN = -1
"""Rows of a file that nobody has counted."""


class FormatRows:
    """Files of a format table, which tasks read.

    Options of the table go before the session's settings, as for Paimon's own tables in
    apache/paimon@1.4.2 ``org.apache.paimon.spark.read.BinPackingSplits``, where each file of a
    format table is a task.
    """

    def __init__(self, bridge: Bridge, table: FormatTable) -> None:
        self._bridge = bridge
        self._table = table
        self.name = table.name
        self.why = ""
        self.own = table.schema.field_names
        self.partition_keys = table.partition_keys
        self.schema: StructType = spark_schema(table.schema.fields, plain=True)

    def pieces(self, columns: Sequence[str], predicate: Predicate) -> list[Piece]:
        """Return files that the condition does not rule out, small ones several a piece."""
        files = list(self._scan(columns, predicate).files())
        sizes = [file.size_bytes for file in files]
        conf, options = self._bridge.conf, self._table.format_options
        most, open_cost = options.split_target_bytes, options.open_file_cost_bytes
        most = int(conf.filesMaxPartitionBytes()) if most is None else most
        open_cost = int(conf.filesOpenCostInBytes()) if open_cost is None else open_cost
        tasks = int(self._bridge.session.sparkContext().defaultParallelism())
        target = target_bytes(sizes, most=most, open_cost=open_cost, tasks=tasks)
        return [
            Piece(
                dumps([files[at] for at in together]), sum(sizes[at] for at in together), _UNKNOWN
            )
            for together in packed(sizes, target=target, open_cost=open_cost)
        ]

    def task(self, schema: StructType, predicate: Predicate) -> Task:
        """Return what reads files."""
        return partial(
            read_files,
            read=self._scan(schema.names, predicate).file_read(),
            file_io=self._table.file_io,
            schema=to_arrow_schema(schema, timezone="UTC"),
        )

    def _scan(self, columns: Sequence[str], predicate: Predicate) -> FormatScan:
        bound = bind(predicate, self._table.schema.fields, self.name)
        return FormatScan(
            table=self._table,
            columns=tuple(columns),
            predicate=None if isinstance(bound, AlwaysTrue) else bound,
        )


class FormatRelation(FileTarget):
    """A format table that is read, written, described or altered."""

    class Java:
        """py4j's list of interfaces."""

        implements = [  # noqa: RUF012
            CONNECTOR + "catalog.SupportsRead",
            CONNECTOR + "catalog.SupportsWrite",
            CONNECTOR + "catalog.TruncatableTable",
            CONNECTOR + "catalog.SupportsAtomicPartitionManagement",
        ]

    def __init__(self, bridge: Bridge, catalog: str, table: FormatTable) -> None:
        super().__init__(bridge)
        self._catalog = catalog
        self._table = table
        self._partitions = FormatPartitions(bridge, cast("Table", table))

    def name(self) -> str:
        """Return the name that plans and messages show."""
        return f"{self._catalog}.{self._table.name}"

    def toString(self) -> str:
        """Answer ``Object.toString``."""
        return self.name()

    def id(self) -> None:
        """Return no identity: equal names are the same table."""

    def version(self) -> None:
        """Return no version: there are none."""

    def schema(self) -> Any:
        """Return the columns."""
        return self._bridge.java_schema(spark_schema(self._table.schema.fields))

    def columns(self) -> Any:
        """Return the columns, with comments."""
        return self._bridge.columns(spark_schema(self._table.schema.fields))

    def partitioning(self) -> Any:
        """Return the partition keys."""
        return identities(self._bridge, self._table.partition_keys)

    def properties(self) -> Any:
        """Return the options, and what Spark shows of a table (place, provider, comment)."""
        return self._bridge.map(described_properties(self._table))

    def constraints(self) -> Any:
        """Return nothing."""
        return self._bridge.array(CONNECTOR + "catalog.constraints.Constraint", [])

    def capabilities(self) -> Any:
        """Return what can be done."""
        return self._bridge.capabilities(*CAPABILITIES)

    def newScanBuilder(self, options: Any) -> Proxy:
        """Start a read."""
        del options
        table = self._table
        key = (
            table.path,
            table.schema.id,
            table.schema.time_millis,
            *sorted(table.options.items()),
        )
        return scan_builder(self._bridge, FormatRows(self._bridge, table), key)

    def newWriteBuilder(self, definition: Any) -> Proxy:
        """Start INSERT INTO or INSERT OVERWRITE."""
        self._table.check_writable("writing to")
        given = self._bridge.texts_of_map(definition.options().asCaseSensitiveMap())
        for key, value in given.items():
            raise UnsupportedError(
                f"the write option {key} = {value!r} of the format table {self._table.name}",
                "its options are those of the table",
            )
        return FormatWriteBuilder(self._bridge, self._table)

    def _overwriting(self, plan: Any, relation: Any) -> Any:
        """Return the command that replaces those partitions that a query has rows of."""
        bridge, table = self._bridge, self._table
        table.check_writable("writing to")

        def run(session: Any) -> list[list[int]]:
            del session
            replace_dynamically(bridge, frame_of(bridge, plan.query()), table)
            return []

        text = f"INSERT OVERWRITE the partitions of {relation.name()} that the rows have"
        return command(bridge, run, text, StructType())

    def supportedCustomMetrics(self) -> Any:
        """Return none."""
        return self._bridge.array(CONNECTOR + "metric.CustomMetric", [])

    def reportDriverMetrics(self) -> Any:
        """Return none."""
        return self._bridge.array(CONNECTOR + "metric.CustomTaskMetric", [])

    # Partitions

    def partitionSchema(self) -> Any:
        """Return the partition columns."""
        return self._bridge.java_schema(self._partitions.schema)

    def listPartitionIdentifiers(self, names: Sequence[str], values: Any) -> Any:
        """Return the partitions whose columns ``names`` have ``values``, as ``InternalRow[]``."""
        return self._partitions.rows(list(names), values)

    def partitionExists(self, values: Any) -> bool:
        """Say whether there is such a partition."""
        return self._partitions.exists(values)

    def loadPartitionMetadata(self, values: Any) -> Any:
        """Return nothing: files of a partition are not counted."""
        del values
        return self._bridge.map({})

    def dropPartition(self, values: Any) -> bool:
        """Delete the folder of a partition."""
        return self._partitions.drop([values])

    def dropPartitions(self, values: Sequence[Any]) -> bool:
        """Delete the folders of partitions."""
        return self._partitions.drop(list(values))

    def createPartition(self, values: Any, properties: Any) -> None:
        """Make the folder of a partition."""
        self._partitions.add(values, self._bridge.texts_of_map(properties))

    def createPartitions(self, values: Sequence[Any], properties: Sequence[Any]) -> None:
        """Make the folders of partitions."""
        for one, more in zip(values, properties, strict=True):
            self.createPartition(one, more)

    def purgePartition(self, *_: Any) -> None:
        """Refuse: a dropped partition's files are deleted anyway."""
        raise UnsupportedError("DROP PARTITION … PURGE", "DROP PARTITION deletes the files already")

    purgePartitions = purgePartition

    def truncateTable(self, *_: Any) -> bool:
        """Delete all files."""
        self._table.truncate()
        return True

    def truncatePartition(self, values: Any) -> bool:
        """Delete the files of a partition."""
        self._partitions.truncate([values])
        return True

    def truncatePartitions(self, values: Sequence[Any]) -> bool:
        """Delete the files of partitions."""
        self._partitions.truncate(list(values))
        return True

    def renamePartition(self, *_: Any) -> None:
        """Refuse."""
        raise UnsupportedError("RENAME PARTITION", "insert the rows under the new value instead")

    def replacePartitionMetadata(self, *_: Any) -> None:
        """Refuse: a partition has no properties."""
        raise UnsupportedError("properties of a partition", "a format table keeps none")


class CreatedFormatTable(FormatRelation):
    """A new format table: it is there while its rows are written, and dropped if that fails."""

    class Java:
        """py4j's list of interfaces."""

        implements = [  # noqa: RUF012
            *FormatRelation.Java.implements,
            CONNECTOR + "catalog.StagedTable",
        ]

    def __init__(self, bridge: Bridge, catalog: str, table: FormatTable, drop: Any) -> None:
        super().__init__(bridge, catalog, table)
        self._drop = drop

    def commitStagedChanges(self) -> None:
        """Do nothing: the rows are published."""

    def abortStagedChanges(self) -> None:
        """Drop the table."""
        self._drop()


def check_created_with_rows(table: FormatTable, drop: Any) -> None:
    """Refuse CREATE TABLE … AS SELECT of a table with partitions, as Java does, or with files.

    Raises
    ------
    UnsupportedError
        If it is partitioned.
    SchemaError
        If there are files in its folder already.
    """
    if table.partition_keys:
        drop()
        raise UnsupportedError(
            f"CREATE TABLE {table.name} … AS SELECT of a partitioned format table",
            "use CREATE TABLE, then INSERT",
        )
    if next(table.scan().files(), None) is not None:
        drop()
        raise SchemaError(
            f"{table.name}: there are files in {table.path}; use CREATE TABLE without AS SELECT, "
            "then INSERT"
        )


def described_properties(table: FormatTable) -> dict[str, str]:
    """Return what Spark calls the properties of a format table, in the order it shows them."""
    properties = dict(sorted(table.options.items()))
    for key in ("path", TYPE, FILE_FORMAT, "table_type"):
        properties.pop(key, None)
    external = properties.pop("EXTERNAL", properties.pop("external", ""))
    properties |= {"provider": table.format, "location": table.path}
    properties["external" if external.lower() == "true" else "is_managed_location"] = "true"
    if table.comment is not None:
        properties["comment"] = table.comment
    return properties


def with_session_options(table: FormatTable, given: SessionOptions) -> FormatTable:
    """Return a format table with those of the session's options that mean something to it.

    Raises
    ------
    UnsupportedError
        If Spark's own sources are to read it, another branch, or what a catalog knows of its
        partitions.

    Notes
    -----
    Source: apache/paimon@1.4.2 ``SparkCatalog.loadSparkTable`` and ``FormatTable.copy``: the
    session's options go before the table's.
    """
    for key, option in given.items():
        is_engine = key == _IMPLEMENTATION and option.value.lower() != "paimon"
        if is_engine or key == "branch" or key.startswith(("scan.", "incremental-")):
            raise UnsupportedError(
                f"{option.setting} = {option.value!r} for the format table {table.name}",
                "our reader reads its files as they are now: RESET it",
            )
        if key in _NOT_OF_SESSIONS and option.value.strip().lower() != _NOT_OF_SESSIONS[key]:
            raise UnsupportedError(
                f"{option.setting} = {option.value!r} for the format table {table.name}",
                "its partitions are its folders: RESET it",
            )
    own = {key: option.value for key, option in given.items() if _is_own(key, table.format)}
    return table.with_options(own) if own else table


def _is_own(key: str, file_format: str) -> bool:
    return key in _OF_SESSIONS or key.startswith(f"{file_format}.")
