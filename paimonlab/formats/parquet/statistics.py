"""Statistics of the row groups of a Parquet file, as predicates are pruned by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Context, Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pt

from paimonlab.arrow_values import arrow_array
from paimonlab.formats.parquet.pages import PageIndex, unpacked
from paimonlab.spec.predicates.predicate import ColumnStats
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import AtomicType, DataField

_EXACT = Context(prec=40)


def row_group_stats(
    metadata: pq.FileMetaData, fields: Sequence[DataField]
) -> dict[str, ColumnStats]:
    """Collect bounds and null counts of columns.

    Parameters
    ----------
    metadata
        The footer of a file.
    fields
        Columns and their types; what has no statistics that can be used is left out.

    Returns
    -------
    dict of str to ColumnStats
        By column name, each with one value per row group; null where unknown.
    """
    leaves = {metadata.schema.column(k).path: k for k in range(metadata.num_columns)}
    schema = metadata.schema.to_arrow_schema()
    stats = {}
    for field in fields:
        if isinstance(field.type, AtomicType) and field.name in leaves:
            column = leaves[field.name]
            column_stats = _column_stats(metadata, column, schema.field(field.name).type, field)
            if column_stats is not None:
                stats[field.name] = column_stats
    return stats


def _column_stats(
    metadata: pq.FileMetaData, column: int, file_type: pa.DataType, field: DataField
) -> ColumnStats | None:
    lows, highs, null_counts, row_counts = [], [], [], []
    for index in range(metadata.num_row_groups):
        group = metadata.row_group(index)
        stats = group.column(column).statistics
        has_bounds = stats is not None and stats.has_min_max
        lows.append(stats.min_raw if has_bounds else None)
        highs.append(stats.max_raw if has_bounds else None)
        has_nulls = stats is not None and stats.has_null_count
        null_counts.append(stats.null_count if has_nulls else None)
        row_counts.append(group.num_rows)
    physical = metadata.schema.column(column).physical_type
    target = to_arrow(field.type)
    try:
        low, high = (_values(raw, physical, file_type).cast(target) for raw in (lows, highs))
    except pa.ArrowException:
        return None  # unknown statistics only cost time
    int64 = pa.int64()
    return ColumnStats(low, high, arrow_array(null_counts, int64), arrow_array(row_counts, int64))


def page_stats(
    metadata: pq.FileMetaData,
    index: PageIndex,
    file: pa.NativeFile,
    group: int,
    fields: Sequence[DataField],
) -> tuple[npt.NDArray[np.int64], dict[str, ColumnStats]]:
    """Collect bounds and null counts of blocks of rows of a row group.

    Parameters
    ----------
    metadata, index
        The footer of the file and its page indexes.
    file
        The file.
    group
        The row group.
    fields
        Columns and their types; what has no page index that can be used is left out.

    Returns
    -------
    starts : (b,) int64
        First row of each block, ascending from 0: where a page of any of the columns begins.
    stats : dict of str to ColumnStats
        By column name, each with one value per block.
    """
    pages: dict[str, tuple[npt.NDArray[np.int64], ColumnStats]] = {}
    row_count = metadata.row_group(group).num_rows
    schema = metadata.schema.to_arrow_schema()
    for field in fields:
        leaf = index.leaf(field.name) if isinstance(field.type, AtomicType) else None
        if leaf is not None:
            file_type = schema.field(field.name).type
            pages_of_column = _pages_of(
                metadata, index, file, group, leaf, file_type, field, row_count
            )
            if pages_of_column is not None:
                pages[field.name] = pages_of_column
    if not pages:
        return np.zeros(1, np.int64), {}
    starts = np.unique(np.concatenate([first for first, _ in pages.values()]))
    return starts, {
        name: _spread(stats, np.searchsorted(first, starts, side="right") - 1)
        for name, (first, stats) in pages.items()
    }


class PageStats:
    """`page_stats` of a file; the last ones are kept: a condition is asked, then its opposite."""

    def __init__(self, metadata: pq.FileMetaData) -> None:
        self._metadata = metadata
        self._last: tuple[object, tuple[npt.NDArray[np.int64], dict[str, ColumnStats]]] | None
        self._last = None

    def __call__(
        self, index: PageIndex, file: pa.NativeFile, group: int, fields: Sequence[DataField]
    ) -> tuple[npt.NDArray[np.int64], dict[str, ColumnStats]]:
        """Collect them; parameters and result are those of `page_stats`."""
        key = (group, tuple(fields))
        last = self._last
        if last is None or last[0] != key:
            last = self._last = key, page_stats(self._metadata, index, file, group, fields)
        return last[1]


def _spread(stats: ColumnStats, pages: npt.NDArray[np.int64]) -> ColumnStats:
    """Give each block the statistics of the page it lies in."""
    positions = arrow_array(pages)
    return ColumnStats(*(column.take(positions) for column in stats))


def _pages_of(
    metadata: pq.FileMetaData,
    index: PageIndex,
    file: pa.NativeFile,
    group: int,
    leaf: int,
    file_type: pa.DataType,
    field: DataField,
    row_count: int,
) -> tuple[npt.NDArray[np.int64], ColumnStats] | None:
    of_chunk = metadata.row_group(group).column(leaf).statistics
    if of_chunk is None or not of_chunk.has_min_max:
        return None  # nothing, or nothing whose order pyarrow trusts
    places, bounds = index.places(group, leaf, file), index.bounds(group, leaf, file)
    if places is None or bounds is None or len(places.first_rows) != len(bounds.minima):
        return None
    physical = metadata.schema.column(leaf).physical_type
    raw = [unpacked(values, physical) for values in (bounds.minima, bounds.maxima)]
    target = to_arrow(field.type)
    try:
        low, high = (_values(one, physical, file_type).cast(target) for one in raw if one)
    except (pa.ArrowException, ValueError):
        return None
    rows = np.diff(places.first_rows, append=row_count)
    nulls = np.where(bounds.is_null, rows, -1 if bounds.null_counts is None else bounds.null_counts)
    null_counts = arrow_array(nulls, pa.int64(), mask=nulls < 0)
    return places.first_rows, ColumnStats(low, high, null_counts, arrow_array(rows, pa.int64()))


def _values(raw: list[Any], physical: str, file_type: pa.DataType) -> pa.Array:
    """Turn physical values into those of the column's type in the file."""
    if pt.is_decimal(file_type):
        return arrow_array([_decimal(value, file_type.scale) for value in raw], file_type)
    match physical:
        case "INT32" | "INT64":
            integers = arrow_array(raw, pa.int32() if physical == "INT32" else pa.int64())
            return integers.view(file_type) if pt.is_temporal(file_type) else integers
        case "BYTE_ARRAY":
            return arrow_array(raw, pa.binary())
        case "BOOLEAN" | "FLOAT" | "DOUBLE":
            return arrow_array(raw, file_type)
        case _:
            return pa.nulls(len(raw), file_type)  # INT96 has no order in footers


def _decimal(value: int | bytes | None, scale: int) -> Decimal | None:
    if value is None:
        return None
    unscaled = int.from_bytes(value, "big", signed=True) if isinstance(value, bytes) else value
    return Decimal(unscaled).scaleb(-scale, _EXACT)


def joined_stats(parts: Sequence[Mapping[str, ColumnStats]]) -> dict[str, ColumnStats]:
    """Put what is known of parts of a file together; columns unknown in one are left out."""
    names = set(parts[0]).intersection(*parts) if parts else set[str]()
    return {
        name: ColumnStats(*map(pa.concat_arrays, zip(*(part[name] for part in parts), strict=True)))
        for name in names
    }
