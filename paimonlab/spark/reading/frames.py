"""A snapshot as a DataFrame: one native Parquet scan a file shape, and our reader for the rest."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame, functions
from pyspark.sql import types as st

from paimonlab.errors import UnsupportedError
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.jvm.expressions import null_of, renamed_column, time_of_millis
from paimonlab.spark.reading.arrow_table import arrow_frame
from paimonlab.spark.reading.changes import changes_frame
from paimonlab.spark.reading.executor_places import FILE_COLUMN, NAME, POSITION, POSITION_COLUMN
from paimonlab.spark.reading.file_index import SnapshotFileIndex
from paimonlab.spark.reading.file_shape import FileShape, ShapeColumn, count_fields
from paimonlab.spark.reading.masks import is_winner
from paimonlab.spark.reading.optimizing.by_bucket import (
    BUCKETS_KEY,
    GROUPED_KEY,
    SORTED_KEY,
    bucket_layout,
    sort_order,
)
from paimonlab.spark.reading.own_scan import scan_choice
from paimonlab.spark.reading.parquet_filters import parquet_format
from paimonlab.spark.reading.places import (
    TRACKING_SCHEMA,
    is_tracked,
    own_place_column,
    place_column,
)
from paimonlab.spark.reading.relation_schema import scan_field, undeclared
from paimonlab.spark.reading.scan import Abilities, SnapshotScan
from paimonlab.spark.values.casts import Conversion
from paimonlab.spark.values.quoting import quoted
from paimonlab.spark.values.types import to_spark
from paimonlab.spec.types.data_types import with_nullable
from paimonlab.storage.schemes import store_kind
from paimonlab.table.reading.scan import Scan
from paimonlab.table.reading.scan_kinds import WithFallback

if TYPE_CHECKING:
    from paimonlab.spec.schema.definition import TableSchema

CUT_TIMESTAMPS_KEY = "spark.paimonlab.timestamps.cut-to-micros"
"""Setting of a Spark session: read TIMESTAMP(7-9) as microseconds even if digits get lost."""

_RELATION = "org.apache.spark.sql.execution.datasources.HadoopFsRelation"
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


def read_frame(
    bridge: Bridge,
    scan: Scan,
    *,
    positions: bool = False,
    places: Sequence[str] = (),
    as_stored: bool = False,
    own_reader: bool = False,
    by_bucket: bool = False,
) -> DataFrame:
    """Make a DataFrame of a scan; the scan's own columns, predicate and limit do not matter.

    Parameters
    ----------
    bridge
        The session.
    scan
        What to read.
    positions
        Whether to add the name of the file of each row, `FILE_COLUMN`, and its position there,
        `POSITION_COLUMN`.
    places
        Names of metadata columns to add, after those.
    as_stored
        Whether values of CHAR(n) are left as they are stored.
    own_reader
        Whether our own reader reads all files.
    by_bucket
        Whether each bucket is read by one task, if it can be: `is_by_bucket` says so.

    Raises
    ------
    UnsupportedError
        If rows that commits changed shall be placed. Once Spark plans to read: if files of rows are
        asked for, and some rows are put together from several files.
    """
    if scan.changes is not None:
        return _changed(bridge, scan, is_placed=positions or bool(places))
    if scan.fallback is not None and positions:
        raise UnsupportedError(
            f"a statement of Spark that changes rows of {scan.definition.name}, which has "
            "scan.fallback-branch",
            "unset the option first",
        )
    if isinstance(scan.kind, WithFallback) and scan.fallback is not None:
        here = read_frame(bridge, replace(scan, kind=scan.kind.rows), places=places)
        return here.union(read_frame(bridge, scan.fallback, places=places))
    able = scan_abilities(bridge, scan)
    able = replace(able, as_stored=as_stored, own_reader=own_reader or able.own_reader)
    snapshot = SnapshotScan(scan, able)
    frames = [
        _native_frame(bridge, snapshot, shape, places, positions=positions, by_bucket=by_bucket)
        for shape in snapshot.shapes
    ]
    if snapshot.needs_arrow or not frames:
        frames.append(_own_frame(bridge, snapshot, places, positions=positions))
    return functools.reduce(DataFrame.union, frames)


def _own_frame(
    bridge: Bridge, snapshot: SnapshotScan, places: Sequence[str], *, positions: bool
) -> DataFrame:
    """Make a DataFrame of the files that our reader reads."""
    if not places and not positions:
        return arrow_frame(bridge, snapshot)
    scan = snapshot.scan
    own = {NAME: FILE_COLUMN, POSITION: POSITION_COLUMN} if positions else {}
    return arrow_frame(bridge, snapshot, are_placed=True).select(
        *(functions.col(quoted(name)) for name in scan.schema.field_names),
        *(functions.col(column).alias(name) for column, name in own.items()),
        *(own_place_column(place, scan) for place in places),
    )


def _changed(bridge: Bridge, scan: Scan, *, is_placed: bool) -> DataFrame:
    if is_placed:
        raise UnsupportedError(
            f"places of rows that commits changed in {scan.definition.name}",
            "leave out the options incremental-…",
        )
    assert scan.changes is not None, "changes are read"
    cuts = abilities(bridge, scan.schema).cuts_timestamps
    return changes_frame(bridge, scan.changes, cuts_timestamps=cuts)


def abilities(bridge: Bridge, schema: TableSchema) -> Abilities:
    """Ask the session what its Parquet scan does.

    Only a scan that hands over whole column vectors shares the mask between rows; any other
    copies it into every row.
    """
    conf = bridge.conf
    fields = count_fields(schema.fields) + _EXTRA_FIELDS
    return Abilities(
        masks=conf.parquetVectorizedReaderEnabled()
        and conf.parquetVectorizedReaderNestedColumnEnabled()
        and conf.wholeStageEnabled()
        and fields <= conf.wholeStageMaxNumFields(),
        pads_char=conf.readSideCharPadding() and not conf.charVarcharAsString(),
        cuts_timestamps=conf.getConfString(CUT_TIMESTAMPS_KEY, "false") == "true",
    )


def scan_abilities(bridge: Bridge, scan: Scan) -> Abilities:
    """Ask the session what its Parquet scan does with a table, and whether it opens its store.

    Raises
    ------
    UnsupportedError
        If the session's setting asks for a reader that there is not.
    """
    able = abilities(bridge, scan.schema)
    path = scan.store.layout.table_path
    if store_kind(path) is None:
        return able
    choice = scan_choice(bridge, scan.store.file_io, path)
    if choice.is_own:
        return replace(able, is_remote=True, scheme=choice.scheme)
    return replace(able, own_reader=True, why=choice.why)


def _native_frame(
    bridge: Bridge,
    snapshot: SnapshotScan,
    shape: FileShape,
    places: Sequence[str],
    *,
    positions: bool,
    by_bucket: bool,
) -> DataFrame:
    scan = snapshot.scan
    keys = scan.schema.partition_keys
    in_files = _file_schema(shape, keys)
    if snapshot.abilities.as_stored:
        in_files = undeclared(in_files)
    if places and is_tracked(scan.definition):
        in_files = st.StructType([*in_files, *TRACKING_SCHEMA])
    masked = snapshot.needs_masks(shape)
    index = SnapshotFileIndex(bridge, snapshot, shape, of_files=bool(places))
    layout = bucket_layout(snapshot, shape)
    options = _SCAN_OPTIONS if layout is None else _SCAN_OPTIONS | {BUCKETS_KEY: layout}
    if layout is not None and (order := sort_order(snapshot, shape)) is not None:
        options |= {SORTED_KEY: order}
    if by_bucket and layout is not None:
        options |= {GROUPED_KEY: "true"}
    scheme = snapshot.abilities.scheme
    relation = bridge.java_class(_RELATION)(
        index,
        index.partitionSchema(),
        bridge.java_schema(in_files),
        bridge.none(),
        parquet_format(bridge, () if scheme is None else scheme.settings),
        bridge.scala_map(options),
        bridge.session,
    )
    frame = DataFrame(bridge.session.baseRelationToDataFrame(relation), bridge.spark)
    if masked:
        frame = frame.where(is_winner(bridge))
    columns = (_read_column(bridge, column, keys) for column in shape)
    # Spark has the name once a file; taken out of the path it would be made once a row.
    own = {FILE_COLUMN: "file_name", POSITION_COLUMN: "row_index"} if positions else {}
    more = (functions.col(f"_metadata.{name}").alias(column) for column, name in own.items())
    placed = (place_column(place, scan) for place in places)
    return frame.select(*columns, *more, *placed)


def _file_schema(shape: FileShape, partition_keys: Sequence[str]) -> st.StructType:
    return st.StructType(
        [
            st.StructField(column.file_name, st.IntegerType())
            if column.conversion is Conversion.TIME
            else scan_field(
                column.file_name, with_nullable(column.file_type, nullable=True), column.type
            )
            for column in shape
            if column.conversion is not None and column.name not in partition_keys
        ]
    )


def _read_column(bridge: Bridge, column: ShapeColumn, partition_keys: Sequence[str]) -> Column:
    if column.name in partition_keys:
        return functions.col(quoted(column.name))
    if column.conversion is Conversion.NONE:
        return renamed_column(bridge, quoted(column.file_name), column.name)
    target = to_spark(column.type, column=column.name, plain=True)
    if column.conversion is Conversion.TIME:
        millis = functions.col(quoted(column.file_name))
        return time_of_millis(bridge, millis, target).alias(column.name)
    if column.conversion is None:
        return null_of(bridge, target).alias(column.name)
    return functions.col(quoted(column.file_name)).cast(target).alias(column.name)
