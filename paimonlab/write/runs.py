"""Rows of one bucket of a primary-key table -> one sorted run.

A run has its rows sorted by key and one row per key: the merge engine has already decided
between the rows that came together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.merge.deduplicate import newest, oldest
from paimonlab.merge.engines import merge
from paimonlab.merge.groups import Members, by_age
from paimonlab.merge.order import Keys, as_numpy, sort_keys
from paimonlab.spec.merge_engine import EngineKind
from paimonlab.spec.row_kind import RowKind
from paimonlab.spec.types.system_fields import SEQUENCE_NUMBER, VALUE_KIND, key_column
from paimonlab.write.write_plan import WritePlan


def sorted_run(
    rows: pa.Table, positions: npt.NDArray[np.int64] | None, first_sequence: int, plan: WritePlan
) -> pa.Table:
    """Make the physical rows of a level-0 run.

    Parameters
    ----------
    rows
        n rows: the table's columns and ``_VALUE_KIND``, in order of arrival.
    positions
        (m,) ascending: the rows of the bucket; None: all of them.
    first_sequence
        Sequence number of the first of them.
    plan
        How to write to the table.

    Returns
    -------
    pyarrow.Table
        k <= m rows in file layout, sorted by key, one per key.
    """
    schema = plan.schema
    keys = sort_keys([_pick(rows, name, positions) for name in schema.trimmed_primary_keys])
    sequences = _sequences(rows, positions, plan)
    if not plan.engine.selects_rows:
        return _merged(rows, positions, Members.of(keys, sequences), first_sequence, plan)
    is_first = plan.engine.kind is EngineKind.FIRST_ROW
    order = oldest(keys) if is_first else newest(keys, sequences)
    source = order if positions is None else positions[order]
    picked = rows.take(pa.array(source))
    numbers = pa.array(order + np.int64(first_sequence), pa.int64())
    return physical(picked, numbers, schema.trimmed_primary_keys, schema.field_names)


def sorted_changes(
    rows: pa.Table, positions: npt.NDArray[np.int64] | None, first_sequence: int, plan: WritePlan
) -> pa.Table:
    """Make the physical rows of a changelog: all that came, by key and in order of age.

    Parameters and columns are those of `sorted_run`.
    """
    schema = plan.schema
    keys = sort_keys([_pick(rows, name, positions) for name in schema.trimmed_primary_keys])
    order = by_age(keys, _sequences(rows, positions, plan))[0]
    source = order if positions is None else positions[order]
    numbers = pa.array(order + np.int64(first_sequence), pa.int64())
    picked = rows.take(pa.array(source))
    return physical(picked, numbers, schema.trimmed_primary_keys, schema.field_names)


def _sequences(
    rows: pa.Table, positions: npt.NDArray[np.int64] | None, plan: WritePlan
) -> list[Keys]:
    fields = [_pick(rows, name, positions) for name in plan.options.sequence_fields]
    if not fields:
        return []
    return [sort_keys(fields, is_descending=plan.options.sequence_descending)]


def _merged(
    rows: pa.Table,
    positions: npt.NDArray[np.int64] | None,
    members: Members,
    first_sequence: int,
    plan: WritePlan,
) -> pa.Table:
    """Make one row of the rows of each key; it has the sequence number of the newest."""
    schema = plan.schema
    chosen = rows if positions is None else rows.take(pa.array(positions))
    kinds = as_numpy(chosen.column(VALUE_KIND))
    merged = merge(
        chosen,
        schema.field_names,
        members,
        kinds=kinds if kinds.any() else None,
        engine=plan.engine,
        required=[field.name for field in schema.fields if not field.type.nullable],
    )
    last = members.last()
    given = np.where(members.lengths == 1, kinds[last], np.int8(RowKind.INSERT))
    table = pa.table(
        {**merged.columns, VALUE_KIND: given if merged.kinds is None else merged.kinds}
    )
    numbers = pa.array(last + np.int64(first_sequence), pa.int64())
    return physical(table, numbers, schema.trimmed_primary_keys, schema.field_names)


def _pick(
    rows: pa.Table, name: str, positions: npt.NDArray[np.int64] | None
) -> pa.ChunkedArray | pa.Array:
    column = rows.column(name)
    return column if positions is None else column.take(pa.array(positions))


def physical(
    rows: pa.Table, numbers: pa.Array, keys: Sequence[str], names: Sequence[str]
) -> pa.Table:
    """Put key copies and sequence numbers in front of rows, in the order of a file."""
    columns = [
        *((key_column(key), rows.column(key)) for key in keys),
        (SEQUENCE_NUMBER, numbers),
        (VALUE_KIND, rows.column(VALUE_KIND)),
        *((name, rows.column(name)) for name in names),
    ]
    return pa.table([column for _, column in columns], names=[name for name, _ in columns])
