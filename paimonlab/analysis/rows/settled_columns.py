"""Columns whose values are known from statistics of files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array
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
    """What is known of columns without reading rows."""

    values: Mapping[str, pa.Array]
    """By name: the one value of the column, NULL if it has none."""
    row_count: int | None
    """Rows of the table; None: unknown."""
    null_counts: Mapping[str, int]
    """By name: how many rows of the table are NULL."""
    ends: Mapping[str, pa.Array]
    """By name: the least value of the table and the largest."""


_NOTHING = SettledColumns({}, None, {}, {})


def settled_columns(scan: Scan) -> SettledColumns:
    """Find what statistics say of all rows, and columns with one value, or none but NULL.

    Statistics say so only where each row of the files is a row of the table, and the files have
    the table's schema.
    """
    if scan.predicate is not None or scan.row_limit is not None or not scan.is_one_snapshot:
        return _NOTHING
    plan = scan.plan_here()
    files = plan.files
    if plan.planned is None or not files.num_rows or not plan.planned.keeps_all_rows:
        return _NOTHING
    rows = pc.sum(files["row_count"]).as_py()
    if files["schema_id"].unique().to_pylist() != [scan.schema.id]:
        return SettledColumns({}, rows, {}, {})
    names = [name for name in scan.columns if isinstance(scan.schema.field(name).type, AtomicType)]
    values, null_counts, known_ends = {}, {}, {}
    stats = column_stats(files, "value_stats", names, scan.schema, scan.store.schemas)
    for name, one in stats.items():
        if one.null_count.null_count:
            continue
        null_count = null_counts[name] = pc.sum(one.null_count).as_py()
        if not _is_exact(scan.schema.field(name).type):
            continue
        if null_count == rows:
            values[name] = pa.nulls(1, one.min.type)
            continue
        has_end = pc.and_(one.min.is_valid(), one.max.is_valid())
        if pc.all(pc.or_(has_end, pc.equal(one.null_count, one.row_count))).as_py():
            ends = known_ends[name] = arrow_array([pc.min(one.min), pc.max(one.max)])
            if null_count == 0 and len(ends.unique()) == 1:
                values[name] = ends[:1]
    return SettledColumns(values, rows, null_counts, known_ends)


def _is_exact(kind: DataType) -> bool:
    return isinstance(kind, AtomicType) and kind.root in _EXACT
