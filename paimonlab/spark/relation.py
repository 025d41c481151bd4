"""A table at a snapshot as something Spark plans: what the catalog calls to read.

``view_for(bridge, table, name=…)``
    A `View` of the connector API, for ``RelationCatalog.loadRelation``: its text selects from a
    temporary view that was made of native Parquet scans over a Python `FileIndex`.
``pinned_table_for(bridge, catalog, identifier, table, snapshot, name=…)``
    The same at a snapshot of the past as a `V1Table`, for ``loadTable`` with time travel: Spark
    asks for a table there, and reads a `V1Table` that stands for a view as that view.

``name`` are the parts of the table's name: catalog, database, table. The writing side is
`paimonlab.spark.write.WriteBuilder`.
"""

from __future__ import annotations

import functools
import itertools
import json
import threading
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, functions
from pyspark.sql import types as st

from paimonlab.spark.arrow_scan import arrow_frame
from paimonlab.spark.bridge import CONNECTOR, Bridge
from paimonlab.spark.casts import Conversion
from paimonlab.spark.file_index import SnapshotFileIndex
from paimonlab.spark.file_shape import FileShape, ShapeColumn, count_fields
from paimonlab.spark.masks import MASK_SCHEMA, is_winner
from paimonlab.spark.scan import Abilities, SnapshotScan
from paimonlab.spark.session_options import session_options
from paimonlab.spark.types import spark_schema, to_spark
from paimonlab.spec.options import check_supported
from paimonlab.table.scan import Scan

if TYPE_CHECKING:
    from paimonlab.spec.schema import TableSchema
    from paimonlab.spec.snapshot import Snapshot
    from paimonlab.table.table import Table

CUT_TIMESTAMPS_KEY = "spark.paimonlab.timestamps.cut-to-micros"
"""Setting of a Spark session: read TIMESTAMP(7-9) as microseconds even if digits get lost."""

_PARQUET_FORMAT = "org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat"
_RELATION = "org.apache.spark.sql.execution.datasources.HadoopFsRelation"
_GLOBAL_TEMP = "global_temp"
_KEPT_RELATIONS = 64
_EXTRA_FIELDS = 3
"""Fields that a scan has beside the table's: the mask and what the row index takes."""
_SCAN_OPTIONS = {
    "datetimeRebaseMode": "CORRECTED",
    "ignoreCorruptFiles": "false",
    "ignoreMissingFiles": "false",
    "int96RebaseMode": "CORRECTED",
    "mergeSchema": "false",
    "parquet.page.verify-checksum.enabled": "true",
}

_numbers = itertools.count(1)
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class _Key:
    """What makes two reads the same."""

    table_path: str
    snapshot: tuple[int, str] | None
    """Id and delta manifest list: a table made anew at the same place has other ones."""
    schema: tuple[int, int]
    """Id and time."""
    abilities: Abilities
    options: frozenset[tuple[str, str]]
    """Those of the table and of the session."""


_relations: weakref.WeakKeyDictionary[Any, OrderedDict[_Key, str]] = weakref.WeakKeyDictionary()
"""Names of the temporary views of each Spark application."""


def view_for(bridge: Bridge, table: Table, *, name: Sequence[str]) -> Any:
    """Return a view of a table as it is now.

    Parameters
    ----------
    bridge
        The session.
    table
        What to read; a ``scan.…`` option, its own or the session's, chooses the snapshot.
    name
        Catalog, database and table.

    Raises
    ------
    UnsupportedError
        If Spark has no type for a column, or the table cannot be read.
    """
    return _view(bridge, table.scan(options=session_options(bridge, name)), name)


def pinned_table_for(
    bridge: Bridge,
    catalog: Any,
    identifier: Any,
    table: Table,
    snapshot: Snapshot,
    *,
    name: Sequence[str],
) -> Any:
    """Return a table as it was at ``snapshot``, with the schema of that time.

    Parameters
    ----------
    bridge
        The session.
    catalog, identifier
        What Spark called ``loadTable`` of, and with.
    table
        What to read.
    snapshot
        Of the table or of one of its tags.
    name
        Catalog, database and table.
    """
    parts = table.parts
    schema = parts.schemas.get(snapshot.schema_id)
    check_supported(parts.options, schema, "read")
    scan = Scan(
        parts=parts,
        snapshot=snapshot,
        schema=schema,
        columns=schema.field_names,
        predicate=None,
        limit=None,
    )
    v1_table = bridge.java_class(CONNECTOR + "catalog.V1Table")
    return v1_table(v1_table.toCatalogTable(catalog, identifier, _view(bridge, scan, name)))


def read_frame(bridge: Bridge, scan: Scan) -> DataFrame:
    """Make a DataFrame of a scan; the scan's own columns, predicate and limit do not matter."""
    snapshot = SnapshotScan(scan, _abilities(bridge, scan.schema))
    frames = [_native_frame(bridge, snapshot, shape) for shape in snapshot.shapes]
    if snapshot.needs_arrow:
        frames.append(arrow_frame(bridge, snapshot))
    return functools.reduce(DataFrame.union, frames)


def _view(bridge: Bridge, scan: Scan, name: Sequence[str]) -> Any:
    catalog, database, _ = name
    schema = spark_schema(scan.schema.fields, plain=True)
    temporary = _temporary_view(bridge, scan)
    columns = ", ".join(map(_quoted, schema.names))
    builder = bridge.java_class(CONNECTOR + "catalog.View$Builder")()
    builder.withSchema(bridge.java_schema(schema))
    text = f"SELECT {columns} FROM {_GLOBAL_TEMP}.{_quoted(temporary)}"  # noqa: S608 - quoted
    builder.withQueryText(text)
    builder.withCurrentCatalog(catalog)
    builder.withCurrentNamespace(bridge.strings([database]))
    builder.withQueryColumnNames(bridge.strings(schema.names))
    builder.withSqlConfigs(bridge.map({}))
    builder.withSchemaMode("BINDING")
    names = json.dumps([[_GLOBAL_TEMP, temporary]])
    builder.withProperties(bridge.map({"view.referredTempViewNames": names}))
    return builder.build()


def _temporary_view(bridge: Bridge, scan: Scan) -> str:
    """Return the name of a view of the scan; reads of the same files share one."""
    key = _key(bridge, scan)
    context = bridge.spark.sparkContext
    with _lock:
        known = _relations.setdefault(context, OrderedDict())
        if key in known:
            known.move_to_end(key)
            return known[key]
    name = f"paimonlab_{next(_numbers)}"
    read_frame(bridge, scan).createGlobalTempView(name)
    with _lock:
        known[key] = name
        dropped = known.popitem(last=False)[1] if len(known) > _KEPT_RELATIONS else None
    if dropped is not None:
        bridge.spark.catalog.dropGlobalTempView(dropped)
    return name


def _key(bridge: Bridge, scan: Scan) -> _Key:
    snapshot = scan.snapshot
    return _Key(
        scan.parts.layout.table_path,
        None if snapshot is None else (snapshot.id, snapshot.delta_manifest_list),
        (scan.schema.id, scan.schema.time_millis),
        _abilities(bridge, scan.schema),
        frozenset(scan.parts.options.items()),
    )


def _abilities(bridge: Bridge, schema: TableSchema) -> Abilities:
    """Ask the session what its Parquet scan does.

    Only a scan that hands over whole column vectors shares the mask between rows; any other
    copies it into every row.
    """
    conf = bridge.session.sessionState().conf()
    fields = count_fields(schema.fields) + _EXTRA_FIELDS
    return Abilities(
        masks=conf.parquetVectorizedReaderEnabled()
        and conf.parquetVectorizedReaderNestedColumnEnabled()
        and conf.wholeStageEnabled()
        and fields <= conf.wholeStageMaxNumFields(),
        cuts_timestamps=bridge.spark.conf.get(CUT_TIMESTAMPS_KEY, "false") == "true",
    )


def _native_frame(bridge: Bridge, snapshot: SnapshotScan, shape: FileShape) -> DataFrame:
    masked = snapshot.needs_masks(shape)
    relation = bridge.java_class(_RELATION)(
        SnapshotFileIndex(bridge, snapshot, shape),
        bridge.java_schema(MASK_SCHEMA if masked else st.StructType()),
        bridge.java_schema(_file_schema(shape)),
        bridge.none(),
        bridge.java_class(_PARQUET_FORMAT)(),
        bridge.scala_map(_SCAN_OPTIONS),
        bridge.session,
    )
    frame = DataFrame(bridge.session.baseRelationToDataFrame(relation), bridge.spark)
    if masked:
        frame = frame.where(is_winner(bridge))
    return frame.select(*map(_read_column, shape))


def _file_schema(shape: FileShape) -> st.StructType:
    return st.StructType(
        [
            st.StructField(
                column.file_name,
                to_spark(column.file_type, column=column.name, plain=True),
            )
            for column in shape
            if column.conversion is not None
        ]
    )


def _read_column(column: ShapeColumn) -> Any:
    if column.conversion is Conversion.NONE:
        return functions.col(_quoted(column.file_name)).alias(column.name)
    target = to_spark(column.type, column=column.name, plain=True)
    value = (
        functions.lit(None)
        if column.conversion is None
        else functions.col(_quoted(column.file_name))
    )
    return value.cast(target).alias(column.name)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
