"""Rows of several tables of a source that become rows of one, in the order of the log.

A source gathers the rows of each table, so batches of tables come one after the other whose rows
took turns in the log. A row may go from one of these tables to another (it is deleted here and
inserted there), so what comes last must be last in the table that they all become.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.ingest.fitting import FittedRows, Origins

_Numbers = npt.NDArray[np.int64]


def in_log_order(waiting: Iterable[FittedRows], defaults: Collection[str] = ()) -> list[FittedRows]:
    """Put rows that took turns in the log into its order; as few batches as can be.

    Parameters
    ----------
    waiting
        As they came. Rows without `RowChanges.order` stay where they are among the others.
    defaults
        Columns of the table with a default value: a row that lacks one is not a row with null.
    """
    found: list[FittedRows] = []
    turns: list[FittedRows] = []
    last = 0
    for rows in waiting:
        order = _order(rows)
        if turns and (order is None or order[0] > last):
            found += _joined(turns, defaults)
            turns = []
        if order is None:
            found.append(rows)
        else:
            last = max(last, int(order[-1])) if turns else int(order[-1])
            turns.append(rows)
    return [*found, *_joined(turns, defaults)]


def _order(rows: FittedRows) -> _Numbers | None:
    if rows.origins is not None or rows.changes.order is None or not rows.rows.num_rows:
        return None
    found: _Numbers = numpy_values(rows.changes.order.slice(rows.first, rows.rows.num_rows))
    return found


def _joined(turns: list[FittedRows], defaults: Collection[str]) -> Iterable[FittedRows]:
    if len(turns) < 2:
        return turns
    orders = [order for order in map(_order, turns) if order is not None]
    order = np.concatenate(orders)
    counts = [len(one) for one in orders]
    part = np.repeat(np.arange(len(turns)), counts)
    place = np.concatenate([np.arange(count) for count in counts])
    sorting = np.argsort(order, kind="stable")
    part, place = part[sorting], place[sorting]
    batches = _alike(turns, defaults)
    if batches is None:
        return _in_runs(turns, part, place)
    indices = arrow_array(sorting)
    table = pa.Table.from_batches(batches).combine_chunks()
    rows = pa.RecordBatch.from_arrays(
        [_whole(column).take(indices) for column in table.columns], schema=table.schema
    )
    return [
        replace(
            turns[0],
            rows=rows,
            first=0,
            origins=Origins(tuple(turns), part, place),
            unchanged=_masks([one.unchanged for one in turns], counts, indices),
            untold=_masks([one.untold for one in turns], counts, indices),
        )
    ]


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _alike(turns: Sequence[FittedRows], defaults: Collection[str]) -> list[pa.RecordBatch] | None:
    """Give rows the same columns; None: they cannot have them."""
    fields: dict[str, pa.Field] = {}
    for one in turns:
        if one.kind_column != turns[0].kind_column:
            return None
        for field in one.rows.schema:
            if fields.setdefault(field.name, field).type != field.type:
                return None
    kind = fields.pop(turns[0].kind_column)
    fields = {name: pa.field(name, field.type) for name, field in fields.items()}
    wanted = pa.schema([*fields.values(), kind])
    found = []
    for one in turns:
        batch = one.rows
        lacking = [name for name in wanted.names if name not in batch.schema.names]
        if any(name in defaults for name in lacking):
            return None
        arrays = [
            pa.nulls(batch.num_rows, field.type) if field.name in lacking else batch[field.name]
            for field in wanted
        ]
        found.append(pa.RecordBatch.from_arrays(arrays, schema=wanted))
    return found


def _in_runs(turns: Sequence[FittedRows], part: _Numbers, place: _Numbers) -> Iterator[FittedRows]:
    starts = np.flatnonzero(np.diff(part, prepend=-1))
    for start, count in zip(starts, np.diff(starts, append=len(part)), strict=True):
        yield turns[part[start]].slice(int(place[start]), int(count))


def _masks(
    masks: Sequence[Mapping[str, pa.Array]], counts: Sequence[int], indices: pa.Array
) -> dict[str, pa.Array]:
    names = {name for some in masks for name in some}
    return {
        name: pa.chunked_array(
            [
                some.get(name, arrow_array(np.zeros(count, np.bool_)))
                for some, count in zip(masks, counts, strict=True)
            ]
        )
        .combine_chunks()
        .take(indices)
        for name in names
    }
