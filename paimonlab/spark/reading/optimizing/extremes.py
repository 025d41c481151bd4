"""The least and greatest values of columns, from the statistics of files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as st

from paimonlab.arrow_values import arrow_array
from paimonlab.scan.statistics import column_stats
from paimonlab.spark.reading.file_index import SnapshotFileIndex
from paimonlab.spark.reading.listing import Listing
from paimonlab.spark.reading.scan import has_masks
from paimonlab.spark.values.types import to_spark
from paimonlab.spec.predicates.predicate import AlwaysTrue
from paimonlab.spec.types.data_types import AtomicType, TypeRoot, with_nullable

if TYPE_CHECKING:
    from paimonlab.spark.reading.file_shape import ShapeColumn
    from paimonlab.spec.manifests.data_file import DataFileMeta
    from paimonlab.spec.predicates.predicate import ColumnStats

_EXACT = frozenset(
    {
        *(TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.BIGINT),
        *(TypeRoot.DATE, TypeRoot.DECIMAL),
    }
)
"""Types of which statistics have the values themselves, and that compare as in Spark."""


def extremes(index: SnapshotFileIndex, filters: Any, names: Sequence[str]) -> Any:
    """Find the least and greatest values of columns in the rows that filters keep.

    Parameters
    ----------
    index
        The files of the scan.
    filters
        Conditions on columns of the partition, a Scala ``Seq`` of Catalyst expressions.
    names
        Columns, as the files name them.

    Returns
    -------
    Seq[InternalRow] or None
        A row of the least and one of the greatest values, each with a number after them that means
        nothing; none if there are no rows. None: only a scan can tell.
    """
    by_name = {column.file_name: column for column in index._shape}
    columns = [by_name[name] for name in names if name in by_name]
    if len(columns) < len(names) or not all(map(_is_exact, columns)):
        return None
    files = _unmerged_files(index, filters)
    if files is None:
        return None
    found = _bounds(index, columns, [file for file in files if file.row_count])
    if found is None:
        return None
    schema = st.StructType(
        [
            st.StructField(column.name, to_spark(column.type, column=column.name))
            for column in columns
        ]
    )
    listing = Listing(index._bridge, schema, found)
    return listing.counted(dict.fromkeys(range(len(found)), 0), range(len(columns)))


def _is_exact(column: ShapeColumn) -> bool:
    read, stored = (with_nullable(one, nullable=True) for one in (column.type, column.file_type))
    return column.conversion is not None and read == stored and _has_values(column)


def _has_values(column: ShapeColumn) -> bool:
    return isinstance(column.type, AtomicType) and column.type.root in _EXACT


def _unmerged_files(index: SnapshotFileIndex, filters: Any) -> list[DataFileMeta] | None:
    """Return the files that filters keep; None: some hold rows that are no rows of the table."""
    if index._of_files or index._choice.limit is not None:
        return None
    rows = index._matching(filters)
    rows = index._choice.rows if rows is None else rows
    splits = index._splits(AlwaysTrue(), rows)
    if any(map(has_masks, splits)):
        return None
    files = [file for split in splits for file in index._wanted(split, rows)]
    return None if any(file.first_row_id is not None for file in files) else files


def _bounds(
    index: SnapshotFileIndex, columns: Sequence[ShapeColumn], files: Sequence[DataFileMeta]
) -> list[list[str | None]] | None:
    """Return the least and the greatest values as texts of `Listing`; None: unknown."""
    if not files:
        return []
    scan, plan = index._snapshot.scan, index._snapshot.plan
    wanted = arrow_array([file.file_name for file in files], pa.large_string())
    names = plan.files["file_name"].cast(pa.large_string())
    entries = plan.files.filter(pc.is_in(names, wanted))
    if entries.num_rows != len(files):
        return None
    asked = dict.fromkeys(column.name for column in columns)
    stats = column_stats(entries, "value_stats", asked, scan.schema, scan.store.schemas)
    if not all(map(_is_known, stats.values())):
        return None
    lows = [_text(pc.min(stats[column.name].min)) for column in columns]
    highs = [_text(pc.max(stats[column.name].max)) for column in columns]
    return [lows, highs]


def _is_known(stats: ColumnStats) -> bool:
    """Say whether each file tells its least and greatest value, or that all are null."""
    is_empty = pc.equal(stats.null_count, stats.row_count)
    is_told = pc.and_(pc.is_valid(stats.min), pc.is_valid(stats.max))
    return bool(pc.all(pc.fill_null(pc.or_(is_told, is_empty), False)).as_py())  # noqa: FBT003


def _text(value: pa.Scalar) -> str | None:
    if not value.is_valid:
        return None
    return str(value.value if isinstance(value, pa.Date32Scalar) else value.as_py())
