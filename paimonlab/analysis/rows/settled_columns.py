"""Columns whose values are known from statistics of files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.scan.statistics import column_stats
from paimonlab.spec.types.data_types import AtomicType, DataType, TypeRoot
from paimonlab.table.reading.scan import Scan

_EXACT = frozenset(
    {
        TypeRoot.BOOLEAN,
        TypeRoot.TINYINT,
        TypeRoot.SMALLINT,
        TypeRoot.INT,
        TypeRoot.BIGINT,
        TypeRoot.DECIMAL,
        TypeRoot.DATE,
    }
)
"""Types of which all values are the least one if that is also the largest: floats have NaN, texts
may be truncated, statistics of other types are rounded."""


@dataclass(frozen=True, slots=True)
class SettledColumns:
    """Columns that are known without reading rows."""

    values: Mapping[str, pa.Array]
    """By name: the one value of the column, NULL if it has none."""
    row_count: int
    """Rows of the table."""


def settled_columns(scan: Scan) -> SettledColumns:
    """Find the columns with the same value in all rows, or with none but NULL.

    Statistics say so only where each row of the files is a row of the table, and the files have
    the table's schema.
    """
    if scan.predicate is not None or scan.limit is not None or not scan.is_one_snapshot:
        return SettledColumns({}, 0)
    plan = scan.plan_here()
    files = [file for split in plan.splits for file in split.files]
    is_merged = any(not split.raw_convertible or split.has_deletions for split in plan.splits)
    is_evolved = any(
        file.schema_id != scan.schema.id or file.first_row_id is not None for file in files
    )
    if is_merged or is_evolved or not files or len(files) != plan.files.num_rows:
        return SettledColumns({}, 0)
    names = [name for name in scan.columns if _is_exact(scan.schema.field(name).type)]
    stats = column_stats(plan.files, "value_stats", names, scan.schema, scan.store.schemas)
    rows = sum(file.row_count for file in files)
    values = {}
    for name in names:
        nulls = pc.sum(stats[name].null_count).as_py()
        if stats[name].null_count.null_count or nulls not in {0, rows}:
            continue
        ends = pa.concat_arrays([stats[name].min, stats[name].max])
        value = ends.unique() if nulls == 0 else pa.nulls(1, ends.type)
        if len(value) == 1 and value.null_count == (nulls > 0):
            values[name] = value
    return SettledColumns(values, rows)


def _is_exact(kind: DataType) -> bool:
    return isinstance(kind, AtomicType) and kind.root in _EXACT
