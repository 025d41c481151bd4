"""``sys.max_pt('db.t')``: the greatest value of a table's first partition column, as text.

Spark knows it as a function of the catalog that it evaluates while it plans: its argument is
constant. So a condition on it chooses partitions.

Source: apache/paimon@5dacde5 ``PaimonFunctions.MaxPtFunction``, ``ReplacePaimonFunctions``;
apache/spark@v4.2.0 and v4.3.0, ``UnboundFunction``, ``ScalarFunction``, ``V2ExpressionUtils``.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import StringType

from paimonlab.errors import DataError, UnsupportedError
from paimonlab.spark.catalogs.places import active_state, place_of
from paimonlab.spark.jvm.bridge import CONNECTOR, Bridge, Proxy
from paimonlab.spark.rows.statements import as_list
from paimonlab.spark.writing.partitions import Partitions
from paimonlab.table.format_tables.folders import Folder, files_below
from paimonlab.table.format_tables.format_table import FormatTable
from paimonlab.table.table import Table

_FUNCTIONS = CONNECTOR + "catalog.functions."


class MaxPartition(Proxy):
    """The function as Spark finds it."""

    class Java:
        """py4j's list of interfaces."""

        implements = [_FUNCTIONS + "UnboundFunction"]  # noqa: RUF012

    def name(self) -> str:
        """Return its name."""
        return "max_pt"

    def description(self) -> str:
        """Say what it gives."""
        return "sys.max_pt('db.t') - the greatest value of the first partition column of a table"

    def bind(self, input_type: Any) -> Any:
        """Return what is called with a text."""
        types = [field.dataType for field in self._bridge.python_schema(input_type).fields]
        if types != [StringType()]:
            raise UnsupportedError(
                f"max_pt of {', '.join(one.simpleString() for one in types) or 'nothing'}",
                "call it as sys.max_pt('database.table')",
            )
        return _Bound(self._bridge)


class _Bound(Proxy):
    """The function for a text."""

    class Java:
        """py4j's list of interfaces."""

        implements = [_FUNCTIONS + "ScalarFunction"]  # noqa: RUF012

    def name(self) -> str:
        """Return its name."""
        return "max_pt"

    def canonicalName(self) -> str:
        """Return what tells it from other functions."""
        return "paimon.max_pt(string)"

    def inputTypes(self) -> Any:
        """Return the types of its arguments."""
        text = self._bridge.java_type(StringType())
        return self._bridge.array("org.apache.spark.sql.types.DataType", [text])

    def resultType(self) -> Any:
        """Return the type of its value."""
        return self._bridge.java_type(StringType())

    def isResultNullable(self) -> bool:
        """Say that there always is a value."""
        return False

    def isDeterministic(self) -> bool:
        """Say that one statement gets one value."""
        return True

    def produceResult(self, row: Any) -> Any:
        """Return the value for the table that a row names."""
        if row.isNullAt(0):
            raise DataError("max_pt: the name of the table is NULL")
        value = _greatest(self._bridge, str(row.getUTF8String(0).toString()))
        return self._bridge.jvm.org.apache.spark.unsafe.types.UTF8String.fromString(value)


def _greatest(bridge: Bridge, name: str) -> str:
    parser = active_state(bridge).sqlParser()
    parts = [str(part) for part in as_list(bridge, parser.parseMultipartIdentifier(name))]
    place = place_of(bridge, parts, "max_pt")
    if place is None:
        raise UnsupportedError(f"max_pt of {name}", "name a table of a Paimon catalog")
    table = place.catalog.opened(place.name)
    if not isinstance(table, Table | FormatTable) or not table.partition_keys:
        raise UnsupportedError(f"max_pt of {name}", "it is not a partitioned table")
    if isinstance(table, Table):
        value = pc.max(Partitions(bridge, table).all().column(0))
    else:
        value = _greatest_with_files(table)
    if value is None or not value.is_valid:
        raise DataError(f"{table.name}: max_pt of a table without partitions that have a value")
    return str(value.cast("string").as_py())


def _greatest_with_files(table: FormatTable) -> pa.Scalar | None:
    """Return the greatest value of the first partition column whose folders have a file."""
    by_value: dict[Any, list[Folder]] = {}
    for folder in table.folders():
        if folder.values[0].is_valid:
            by_value.setdefault(folder.values[0].as_py(), []).append(folder)
    for value in sorted(by_value, reverse=True):
        for folder in by_value[value]:
            if next(files_below(table.file_io, folder.path), None) is not None:
                return folder.values[0]
    return None
