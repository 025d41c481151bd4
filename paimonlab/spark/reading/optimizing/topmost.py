"""The first rows of an order: which files cannot have one of them, by their statistics.

Where some files have enough rows up to a value, whatever they are, a row beyond that value is none
of the first. Rows with that very value may be: what else the order says decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.scan.statistics import column_stats
from paimonlab.spark.reading.file_index import SnapshotFileIndex
from paimonlab.spark.reading.scan import Choice
from paimonlab.spec.predicates.predicate import AlwaysTrue
from paimonlab.spec.types.data_types import AtomicType, TypeRoot, with_nullable

if TYPE_CHECKING:
    from paimonlab.scan.split import DataSplit
    from paimonlab.spark.reading.file_shape import ShapeColumn
    from paimonlab.spec.predicates.pruning import ColumnStats

Flags: TypeAlias = npt.NDArray[np.bool_]
Counts: TypeAlias = npt.NDArray[np.int64]

_MICROS = 6
_ALIKE = frozenset(
    {
        *(TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.BIGINT),
        *(TypeRoot.DATE, TypeRoot.DECIMAL, TypeRoot.VARCHAR),
    }
)
_MOMENTS = frozenset({TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ})
"""With `_ALIKE`, the types whose bounds compare as Spark orders their values."""


@dataclass(frozen=True, slots=True)
class Order:
    """By what rows are ordered first."""

    name: str
    """The column, as files name it."""
    is_rising: bool
    nulls_first: bool


def with_the_first(
    index: SnapshotFileIndex, filters: Any, order: Order, limit: int
) -> SnapshotFileIndex | None:
    """Return an index of the files that may have one of the first rows; None: of all.

    Parameters
    ----------
    index
        The files of the scan.
    filters
        Conditions on columns of the partition, a Scala ``Seq`` of Catalyst expressions: there are
        no others.
    order
        The order.
    limit
        How many rows are wanted.
    """
    column = next((column for column in index._shape if column.file_name == order.name), None)
    choice = index._choice
    if column is None or not _compares_alike(column) or index._of_files or choice.limit is not None:
        return None
    rows = choice.within(Choice(index._matching(filters))).rows
    splits = index._splits(AlwaysTrue(), rows)
    files = [file for split in splits for file in split.files]
    if any(file.first_row_id is not None for file in files):
        return None
    counts = np.array([count for split in splits for count in _sure_rows(index, split)], np.int64)
    wanted = needed(_stats(index, column, [file.file_name for file in files]), counts, order, limit)
    names: set[str] = set()
    position = 0
    for split in splits:
        flags = wanted[position : position + len(split.files)]
        position += len(split.files)
        # Files that overlap decide together which rows count.
        is_whole = not split.raw_convertible and bool(flags.any())
        names.update(
            file.file_name
            for file, flag in zip(split.files, flags, strict=True)
            if flag or is_whole
        )
    return (
        None
        if len(names) == len(files)
        else index._narrowed(filters, Choice(files=frozenset(names)))
    )


def needed(stats: ColumnStats, sure: Counts, order: Order, limit: int) -> Flags:
    """Say which files may have one of the first rows.

    Parameters
    ----------
    stats
        Of the column that rows are ordered by first, in n files.
    sure : (n,) int64
        Rows of each file that are rows of the table; at least.
    order
        The order; its name does not matter.
    limit
        How many rows are wanted.

    Returns
    -------
    (n,) bool
    """
    near, far = (stats.min, stats.max) if order.is_rising else (stats.max, stats.min)
    rows = numpy_values(stats.row_count.cast(pa.int64()))
    nulls = numpy_values(pc.coalesce(stats.null_count.cast(pa.int64()), stats.row_count))
    has_nulls = nulls > 0
    deleted = rows - sure
    if order.nulls_first and np.maximum(nulls - deleted, 0)[_known(stats)].sum() >= limit:
        return has_nulls
    before = sure if order.nulls_first else np.maximum(sure - nulls, 0)
    usable = np.flatnonzero(numpy_values(pc.is_valid(far)) & _known(stats) & (before > 0))
    direction = "ascending" if order.is_rising else "descending"
    bounds = far.take(arrow_array(usable))
    ranks = numpy_values(pc.array_sort_indices(bounds, order=direction))
    enough = np.flatnonzero(np.cumsum(before[usable][ranks]) >= limit)
    if not enough.size:
        return np.ones(len(rows), np.bool_)
    last = bounds[int(ranks[enough[0]])]
    beyond = (pc.greater if order.is_rising else pc.less)(near, last)
    is_beyond = numpy_values(pc.fill_null(beyond, False))  # noqa: FBT003
    is_all_null = _known(stats) & (nulls == rows)
    kept = ~(is_beyond | is_all_null)
    return kept | has_nulls if order.nulls_first else kept


def _known(stats: ColumnStats) -> Flags:
    """Say of which files the number of nulls is known."""
    return numpy_values(pc.is_valid(stats.null_count))


def _compares_alike(column: ShapeColumn) -> bool:
    read, stored = (with_nullable(one, nullable=True) for one in (column.type, column.file_type))
    if column.conversion is None or read != stored or not isinstance(read, AtomicType):
        return False
    return read.root in _ALIKE or (read.root in _MOMENTS and (read.precision or 0) <= _MICROS)


def _sure_rows(index: SnapshotFileIndex, split: DataSplit) -> list[int]:
    """Count the rows of each file of a split that are rows of the table: at least so many."""
    if not split.raw_convertible:
        return [0] * len(split.files)
    counts = []
    for file, vector in zip_longest(split.files, split.deletion_files):
        assert file is not None, "a vector belongs to a file"
        deleted = 0 if vector is None else vector.cardinality
        is_own = index._snapshot.has_shape(file, index._shape)
        counts.append(file.row_count - deleted if is_own and deleted is not None else 0)
    return counts


def _stats(index: SnapshotFileIndex, column: ShapeColumn, names: Sequence[str]) -> ColumnStats:
    """Return the statistics of files, in their order."""
    scan, entries = index._snapshot.scan, index._snapshot.plan.files
    wanted = arrow_array(names, pa.large_string())
    places = pc.index_in(wanted, entries["file_name"].cast(pa.large_string()).combine_chunks())
    found = column_stats(
        entries.take(places), "value_stats", [column.name], scan.schema, scan.store.schemas
    )
    return found[column.name]
