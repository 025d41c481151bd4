"""The partitions of a table as Spark lists and drops them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as st
from pyspark.sql.types import StructType

from paimonlab.commit.scope import is_char, without_blanks
from paimonlab.errors import UnsupportedError
from paimonlab.scan.file_totals import totals
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.values.spellings import bare, scope_with
from paimonlab.spark.values.types import spark_schema
from paimonlab.spark.writing.removing import remove_scope
from paimonlab.spec.binary_row.rows import decode
from paimonlab.spec.options.table_options import check_supported
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.table.inside import definition_of

if TYPE_CHECKING:
    from paimonlab.table.table import Table

Value: TypeAlias = bool | int | float | str | bytes | date | datetime | Decimal | None

DROP = "DROP PARTITION"
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - wall-clock time, of no zone
_GETTERS: dict[type[st.DataType], str] = {
    st.BooleanType: "getBoolean",
    st.ByteType: "getByte",
    st.ShortType: "getShort",
    st.IntegerType: "getInt",
    st.LongType: "getLong",
    st.FloatType: "getFloat",
    st.DoubleType: "getDouble",
    st.BinaryType: "getBinary",
}


class Partitions:
    """Lists and drops partitions of one table; values are Spark's ``InternalRow``."""

    def __init__(self, bridge: Bridge, table: Table) -> None:
        self._bridge = bridge
        self._table = table
        self._fields = [table.schema.field(name) for name in table.partition_keys]

    @property
    def schema(self) -> StructType:
        """The partition columns."""
        return spark_schema(self._fields, plain=True)

    def rows(self, names: Sequence[str], values: Any) -> Any:
        """Return the partitions that have ``values`` in ``names``, as ``InternalRow[]``."""
        partitions = self._matching(self._typed(values, names))
        return self._bridge.internal_rows(partitions, self.schema)

    def exists(self, values: Any) -> bool:
        """Say whether there is such a partition; all or the first partition columns are given."""
        names = self._table.partition_keys[: values.numFields()]
        return self._matching(self._typed(values, names)).num_rows > 0

    def drop(self, rows: Sequence[Any], statement: str = DROP) -> bool:
        """Remove the rows of these partitions in one commit; ``statement`` is what asks for it."""
        wanted = [self._typed(row, self._table.partition_keys) for row in rows]
        self.drop_with(wanted, statement)
        return True

    def drop_with(self, wanted: Sequence[Mapping[str, Value]], statement: str = DROP) -> None:
        """Remove the rows of all partitions with values of some of their columns, in one commit."""
        table = self._table
        check_supported(definition_of(table).options, table.schema, "write")
        remove_scope(self._bridge, table, scope_with(wanted, table), statement)

    def has(self, wanted: Mapping[str, Value]) -> bool:
        """Say whether there is a partition with values of some of its columns."""
        scope = scope_with([wanted], self._table)
        encoded = self._table.scan().plan().files.column("partition").unique()
        return bool(scope.covers(encoded, self._fields).any())

    def statistics(self, values: Any) -> dict[str, str]:
        """Return rows, bytes and files of one partition, and when its last file was created.

        Rows are counted before merging. ``values`` are those of all partition columns.
        """
        wanted = self._typed(values, self._table.partition_keys)
        files = self._table.scan().plan().files
        scope = scope_with([wanted], self._table)
        found = files.filter(pa.array(scope.covers(files.column("partition"), self._fields)))
        sums = totals(found, ["partition"])
        if sums.num_rows == 0:
            return {}
        created = pc.max(sums.column("creation_time_millis")).as_py()
        told = {
            "recordCount": pc.sum(sums.column("row_count")).as_py(),
            "fileSizeInBytes": pc.sum(sums.column("file_size_bytes")).as_py(),
            "fileCount": pc.sum(sums.column("file_count")).as_py(),
            "lastFileCreationTime": created,
        }
        return {name: str(value) for name, value in told.items() if value is not None}

    def _matching(self, wanted: dict[str, Value]) -> pa.Table:
        partitions = self.all()
        for name, value in wanted.items():
            column, data_type = partitions.column(name), self._table.schema.field(name).type
            equal = pa.array([bare(value, data_type)], column.type)
            stored = without_blanks(column) if is_char(data_type) else column
            partitions = partitions.filter(pc.is_in(stored, value_set=equal))
        return partitions

    def all(self) -> pa.Table:
        """Read the distinct partitions of the latest snapshot out of the manifests."""
        encoded = self._table.scan().plan().files.column("partition").unique()
        columns = decode(encoded, [field.type for field in self._fields])
        types = [to_arrow(field.type) for field in self._fields]
        arrays = [column.cast(wanted) for column, wanted in zip(columns, types, strict=True)]
        return pa.table(arrays, names=[field.name for field in self._fields])

    def _typed(self, row: Any, names: Sequence[str]) -> dict[str, Value]:
        return {
            name: _value(row, index, self.schema[name].dataType) for index, name in enumerate(names)
        }


def _value(row: Any, index: int, spark_type: st.DataType) -> Value:
    """Take one value out of an ``InternalRow``."""
    if row.isNullAt(index):
        return None
    match spark_type:
        case st.StringType():
            return str(row.getUTF8String(index).toString())
        case st.DateType():
            return _EPOCH.date() + timedelta(days=row.getInt(index))
        case st.TimestampNTZType():
            return _EPOCH + timedelta(microseconds=row.getLong(index))
        case st.DecimalType():
            value = row.getDecimal(index, spark_type.precision, spark_type.scale)
            return Decimal(value.toString())
    getter = _GETTERS.get(type(spark_type))
    if getter is None:
        raise UnsupportedError(f"a partition column of type {spark_type.simpleString()} in Spark")
    return getattr(row, getter)(index)
