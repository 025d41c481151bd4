"""A Paimon table as Spark sees it when it is written to, described or altered.

It cannot be read: a SELECT gets a view over Spark's own Parquet scan
(`paimonlab.spark.reading.relation`).
Row-level operations are deliberately not declared: Spark 4.2 and 4.3 lose rows without an error
when such an operation writes through Python. DELETE, UPDATE and MERGE INTO are commands of ours
(`paimonlab.spark.rows`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paimonlab.commit.scope import OverwriteScope
from paimonlab.errors import UnsupportedError
from paimonlab.spark.catalogs.stream_columns import with_columns_of_rows
from paimonlab.spark.jvm.bridge import CONNECTOR, Bridge, Proxy
from paimonlab.spark.reading.metadata_columns import metadata_columns
from paimonlab.spark.reading.places import place_types
from paimonlab.spark.rows.rewriting import Target
from paimonlab.spark.values.defaults import default_sql
from paimonlab.spark.values.quoting import quoted
from paimonlab.spark.values.types import spark_schema
from paimonlab.spark.writing import write
from paimonlab.spark.writing.evolution import may_change
from paimonlab.spark.writing.partitions import Partitions
from paimonlab.spark.writing.removing import remove_scope
from paimonlab.spec.options.table_options import check_supported
from paimonlab.table.inside import definition_of

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from paimonlab.spec.schema.definition import TableSchema
    from paimonlab.table.table import Table

_PRIMARY_KEY, _PATH, _EXTERNAL = "primary-key", "path", "external"
_TRUNCATE = "TRUNCATE TABLE"
_DEFAULT_KEYS = ("CURRENT_DEFAULT", "EXISTS_DEFAULT")
"""Metadata where Spark looks for the default of a column."""


class TableRelation(Target):
    """A table to be written, described or altered."""

    class Java:
        """py4j's list of interfaces."""

        implements = [  # noqa: RUF012
            CONNECTOR + "catalog.SupportsWrite",
            CONNECTOR + "catalog.TruncatableTable",
            CONNECTOR + "catalog.SupportsAtomicPartitionManagement",
            CONNECTOR + "catalog.SupportsSchemaEvolution",
            CONNECTOR + "catalog.SupportsMetadataColumns",
        ]

    _is_new = False
    """Whether the statement makes the table."""

    def __init__(self, bridge: Bridge, catalog: str, table: Table) -> None:
        super().__init__(bridge, catalog, table)
        self._partitions = Partitions(bridge, table)

    def name(self) -> str:
        """Return the name that plans and messages show."""
        return f"{self._catalog}.{self._table.name}"

    def toString(self) -> str:
        """Answer ``Object.toString``."""
        return f"{self._catalog}.{self._table.name}"

    def id(self) -> None:
        """Return no identity: equal names are the same table."""

    def version(self) -> None:
        """Return no version: what is read is pinned by the view."""

    def schema(self) -> Any:
        """Return the columns."""
        return self._bridge.java_schema(described_schema(self._table.schema))

    def columns(self) -> Any:
        """Return the columns, with comments and defaults."""
        return self._bridge.columns(described_schema(self._table.schema))

    def metadataColumns(self) -> Any:
        """Return the columns that say where rows are, for the targets of statements."""
        definition = definition_of(self._table)
        return metadata_columns(self._bridge, place_types(definition, definition.schema))

    def canRenameConflictingMetadataColumns(self) -> bool:
        """Let a column of the table hide a metadata column of its name."""
        return False

    def partitioning(self) -> Any:
        """Return the partition keys."""
        expressions = self._bridge.java_class(CONNECTOR + "expressions.Expressions")
        keys = [expressions.identity(quoted(key)) for key in self._table.partition_keys]
        return self._bridge.array(CONNECTOR + "expressions.Transform", keys)

    def properties(self) -> Any:
        """Return the table options, and what Spark shows of a table (place, provider, comment)."""
        return self._bridge.map(described_properties(self._table))

    def constraints(self) -> Any:
        """Return nothing: the primary key is a property."""
        return self._bridge.array(CONNECTOR + "catalog.constraints.Constraint", [])

    def capabilities(self) -> Any:
        """Return what the write path does."""
        return self._bridge.capabilities(*write.CAPABILITIES)

    def newWriteBuilder(self, definition: Any) -> Proxy:
        """Start INSERT INTO or INSERT OVERWRITE."""
        table = self._writable("writing to")
        return write.write_builder(
            self._bridge,
            table,
            definition,
            catalog=self._catalog,
            is_new=self._is_new,
            with_columns=with_columns_of_rows,
        )

    def supportsColumnChange(self, change: Any) -> bool:
        """Say whether rows that are written add a column, or give one their type."""
        return may_change(self._bridge, self._catalog, self._table, change)

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
        """Return what is known of the files of a partition, by Java Paimon's names."""
        return self._bridge.map(self._partitions.statistics(values))

    def dropPartition(self, values: Any) -> bool:
        """Remove the rows of one partition."""
        return self._partitions.drop([values])

    def dropPartitions(self, values: Sequence[Any]) -> bool:
        """Remove the rows of partitions, in one commit."""
        return self._partitions.drop(list(values))

    def createPartition(self, *_: Any) -> None:
        """Refuse: a partition exists when it has rows."""
        raise UnsupportedError("ADD PARTITION", "a Paimon partition exists once it has rows")

    createPartitions = createPartition

    def purgePartition(self, *_: Any) -> None:
        """Refuse: old snapshots keep what they need."""
        raise UnsupportedError("DROP PARTITION … PURGE", "use DROP PARTITION; expiry frees space")

    purgePartitions = purgePartition

    def supportedCustomMetrics(self) -> Any:
        """Return none."""
        return self._bridge.array(CONNECTOR + "metric.CustomMetric", [])

    def reportDriverMetrics(self) -> Any:
        """Return none, when rows were removed."""
        return self._bridge.array(CONNECTOR + "metric.CustomTaskMetric", [])

    def truncateTable(self, *_: Any) -> bool:
        """Remove all rows, in one commit; Spark 4.3 also tells about the statement."""
        table = self._writable(_TRUNCATE)
        check_supported(definition_of(table).options, table.schema, "write")
        remove_scope(self._bridge, table, OverwriteScope.whole_table(), _TRUNCATE)
        return True

    def truncatePartition(self, values: Any) -> bool:
        """Remove the rows of one partition."""
        self._writable(_TRUNCATE)
        return self._partitions.drop([values], _TRUNCATE)

    def truncatePartitions(self, values: Sequence[Any]) -> bool:
        """Remove the rows of partitions, in one commit."""
        self._writable(_TRUNCATE)
        return self._partitions.drop(list(values), _TRUNCATE)

    def renamePartition(self, *_: Any) -> None:
        """Refuse: partition values are in the rows."""
        raise UnsupportedError("RENAME PARTITION", "insert the rows under the new value instead")

    def replacePartitionMetadata(self, *_: Any) -> None:
        """Refuse: a partition has no properties."""
        raise UnsupportedError("properties of a partition", "Paimon keeps none")


def described_schema(schema: TableSchema) -> StructType:
    """Return the columns with comments, and defaults where Spark looks for them."""
    described = spark_schema(schema.fields)
    for ours, spark in zip(schema.fields, described.fields, strict=True):
        if ours.default_value is not None:
            sql = default_sql(ours.default_value, spark.dataType.simpleString())
            spark.metadata = spark.metadata | dict.fromkeys(_DEFAULT_KEYS, sql)
    return described


def described_properties(table: Table) -> dict[str, str]:
    """Return what Spark calls the properties of a table, in the order it shows them."""
    properties = dict(sorted(table.schema.options.items()))
    if table.primary_keys:
        properties[_PRIMARY_KEY] = ",".join(table.primary_keys)
    properties |= {"provider": "paimon", "location": table.path}
    if properties.pop(_PATH, None) is not None or properties.get(_EXTERNAL) == "true":
        properties[_EXTERNAL] = "true"
    else:
        properties["is_managed_location"] = "true"
    if table.schema.comment is not None:
        properties["comment"] = table.schema.comment
    return properties
