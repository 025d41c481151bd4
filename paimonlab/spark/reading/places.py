"""Where rows are, as columns of a scan: path, position, partition, bucket, id.

All but positions and stored ids are the same in a whole file, so a scan that is asked for one of
them has a partition column of Spark's for each, with the values of each file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pyspark.sql import Column, functions
from pyspark.sql import types as st

from paimonlab.spark.reading.constants import Texts, partition_schema
from paimonlab.spark.reading.executor_places import BUCKET, NAME, PATH, POSITION
from paimonlab.spark.values.quoting import quoted
from paimonlab.spec.schema.row_tracking import RowTrackingOptions
from paimonlab.spec.types.system_fields import ROW_ID, SEQUENCE_NUMBER

if TYPE_CHECKING:
    from paimonlab.scan.split import DataSplit
    from paimonlab.spec.manifests.data_file import DataFileMeta
    from paimonlab.spec.schema.definition import TableSchema
    from paimonlab.table.definition import TableDefinition
    from paimonlab.table.reading.scan import Scan

_FIRST_ID = "__paimonlab_first_row_id"
_SEQUENCE = "__paimonlab_sequence_number"
FILE_SCHEMA = (
    st.StructType()
    .add(PATH, st.StringType())
    .add(BUCKET, st.IntegerType())
    .add(_FIRST_ID, st.LongType())
    .add(_SEQUENCE, st.LongType())
)
"""Partition columns of a scan that tells files apart."""
OWN_SCHEMA = (
    st.StructType()
    .add(PATH, st.StringType())
    .add(NAME, st.StringType())
    .add(POSITION, st.LongType())
    .add(BUCKET, st.IntegerType())
)
"""Columns of rows that our own reader reads and places."""
IN_FILES = frozenset({PATH, NAME, POSITION})
"""Those that are about the file that a row is in."""
TRACKING_SCHEMA = st.StructType().add(ROW_ID, st.LongType()).add(SEQUENCE_NUMBER, st.LongType())
"""Columns of data files that hold ids and sequence numbers, if rows are tracked."""
_TRACKED = frozenset(TRACKING_SCHEMA.names)
_PARTITION = "__paimon_partition"

_PLACES: Mapping[str, tuple[st.DataType, Callable[[], Column]]] = {
    "__paimon_file_path": (st.StringType(), lambda: functions.col(PATH)),
    "__paimon_row_index": (st.LongType(), lambda: functions.col("_metadata.row_index")),
    "__paimon_bucket": (st.IntegerType(), lambda: functions.col(BUCKET)),
    ROW_ID: (
        st.LongType(),
        lambda: functions.coalesce(
            functions.col(ROW_ID), functions.col(_FIRST_ID) + functions.col("_metadata.row_index")
        ),
    ),
    SEQUENCE_NUMBER: (
        st.LongType(),
        lambda: functions.coalesce(functions.col(SEQUENCE_NUMBER), functions.col(_SEQUENCE)),
    ),
}
_OWN_PLACES = {
    "__paimon_file_path": PATH,
    "__paimon_row_index": POSITION,
    "__paimon_bucket": BUCKET,
}
"""Columns of our own reader; ids it has under their own names."""
PLACES = (*_PLACES, _PARTITION)
"""Names of all metadata columns."""


def file_texts(path: str, split: DataSplit, file: DataFileMeta) -> Texts:
    """Write the values of `FILE_SCHEMA` of a file."""
    first = None if file.first_row_id is None else str(file.first_row_id)
    return (path, str(split.bucket), first, str(file.max_sequence_number))


def is_tracked(definition: TableDefinition) -> bool:
    """Say whether the rows of a table have ids."""
    return definition.options.slice(RowTrackingOptions).row_tracking


def place_types(definition: TableDefinition, schema: TableSchema) -> dict[str, st.DataType]:
    """Return the metadata columns of a table and their types."""
    tracked = is_tracked(definition)
    types = {
        name: data_type
        for name, (data_type, _) in _PLACES.items()
        if tracked or name not in _TRACKED
    }
    keys = [st.StructField(one.name, one.dataType) for one in partition_schema(schema)]
    return types | {_PARTITION: st.StructType(keys)}


def place_column(name: str, scan: Scan) -> Column:
    """Return a metadata column of a scan whose files are told apart."""
    if name == _PARTITION:
        keys = [functions.col(quoted(key)).alias(key) for key in scan.schema.partition_keys]
        return functions.struct(*keys).alias(name)
    return _PLACES[name][1]().alias(name)


def own_place_column(name: str, scan: Scan) -> Column:
    """Return a metadata column of rows that our own reader places."""
    if name == _PARTITION:
        return place_column(name, scan)
    return functions.col(_OWN_PLACES.get(name, name)).alias(name)
