"""Rows of buckets of a primary-key table -> sorted runs.

A run has its rows sorted by key and one row per key: the merge engine has already decided
between the rows that came together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.datafile.together import AdjacentRows
from paimonlab.merge.deduplicate import newest, oldest
from paimonlab.merge.engines import merge
from paimonlab.merge.groups import Members, Positions, by_age
from paimonlab.merge.order import Keys, as_numpy, sort_keys
from paimonlab.spec.merge_engine import EngineKind
from paimonlab.spec.row_kind import RowKind
from paimonlab.spec.types.system_fields import SEQUENCE_NUMBER, VALUE_KIND, key_column
from paimonlab.write.gathering import piece_rows, taken
from paimonlab.write.write_plan import WritePlan


def sorted_runs(
    rows: pa.Table,
    members: Sequence[Positions | None],
    first_sequences: Sequence[int],
    plan: WritePlan,
) -> AdjacentRows | Iterable[pa.Table]:
    """Make the physical rows of level-0 runs, one per bucket.

    Parameters
    ----------
    rows
        n rows: the table's columns and ``_VALUE_KIND``, in order of arrival, as
        `paimonlab.write.gathering.ready` makes them.
    members
        (m,) ascending each: the rows of a bucket; None, if there is only one: all rows.
    first_sequences
        Sequence number of the first row of each bucket.
    plan
        How to write to the table.

    Returns
    -------
    AdjacentRows or iterable of pyarrow.Table
        k <= m rows of each bucket in file layout, sorted by key, one per key; those of a single
        bucket in pieces.

    Notes
    -----
    Buckets are sorted and picked together, with the bucket in front of the key: a hundred small
    takes cost a hundred times what one large take does. A large bucket is picked piece by piece
    while it is written, so that its rows are not in memory twice.
    """
    together = _Together.of(rows, members, first_sequences)
    keys, sequences = together.keys(plan), together.sequences(plan)
    if not plan.engine.selects_rows:
        return _merged(together, Members.of(keys, sequences), plan)
    is_first = plan.engine.kind is EngineKind.FIRST_ROW
    order = oldest(keys) if is_first else newest(keys, sequences)
    return together.gathered(order, plan)


def sorted_changes(
    rows: pa.Table,
    members: Sequence[Positions | None],
    first_sequences: Sequence[int],
    plan: WritePlan,
) -> AdjacentRows | Iterable[pa.Table]:
    """Make the physical rows of changelogs: all that came, by key and in order of age.

    Parameters and columns are those of `sorted_runs`.
    """
    together = _Together.of(rows, members, first_sequences)
    order = by_age(together.keys(plan), together.sequences(plan))[0]
    return together.gathered(order, plan)


def _merged(
    together: _Together, members: Members, plan: WritePlan
) -> AdjacentRows | Iterable[pa.Table]:
    """Make one row of the rows of each key; it has the sequence number of the newest."""
    schema = plan.schema
    chosen = together.take(None)
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
    merged_kinds = arrow_array(given if merged.kinds is None else merged.kinds)
    table = pa.table([*merged.columns.values(), merged_kinds], names=[*merged.columns, VALUE_KIND])
    files = together.physical(table, last, plan)
    return files if len(files.lengths) > 1 else [files.rows]


@dataclass(frozen=True, slots=True)
class _Together:
    """Rows of some buckets, one bucket after the other, each in order of arrival."""

    rows: pa.Table
    positions: Positions | None
    """(m,) in ``rows``; None: all of them."""
    lengths: Positions
    """(b,) how many rows each bucket has."""
    first_sequences: Positions
    """(b,) sequence number of the first row of each."""

    @classmethod
    def of(
        cls, rows: pa.Table, members: Sequence[Positions | None], first_sequences: Sequence[int]
    ) -> Self:
        present = [positions for positions in members if positions is not None]
        assert len(present) == len(members) or len(members) == 1, "one of many has positions"
        lengths = [len(positions) for positions in present] or [rows.num_rows]
        joined = present[0] if len(present) == 1 else np.concatenate(present) if present else None
        return cls(rows, joined, np.array(lengths), np.array(first_sequences, np.int64))

    def keys(self, plan: WritePlan) -> Keys:
        """Encode the keys; those of an earlier bucket come first."""
        columns = [self._pick(name) for name in plan.schema.trimmed_primary_keys]
        if len(self.lengths) > 1:
            buckets = np.repeat(np.arange(len(self.lengths), dtype=np.int32), self.lengths)
            columns = [arrow_array(buckets), *columns]
        return sort_keys(columns)

    def sequences(self, plan: WritePlan) -> list[Keys]:
        """Encode what decides between rows of a key before the order of arrival does."""
        fields = [self._pick(name) for name in plan.options.sequence_fields]
        if not fields:
            return []
        return [sort_keys(fields, is_descending=plan.options.sequence_descending)]

    def take(self, order: Positions | None) -> pa.Table:
        """Pick rows; None: all, one bucket after the other."""
        if order is None:
            return self.rows if self.positions is None else taken(self.rows, self.positions)
        return taken(self.rows, order if self.positions is None else self.positions[order])

    def gathered(self, order: Positions, plan: WritePlan) -> AdjacentRows | Iterable[pa.Table]:
        """Pick rows for the files of each bucket; those of a single one when they are asked for."""
        if len(self.lengths) > 1:
            return self.physical(self.take(order), order, plan)
        step = piece_rows(self.rows)
        pieces = (order[start : start + step] for start in range(0, len(order), step))
        return (self.physical(self.take(piece), piece, plan).rows for piece in pieces)

    def physical(self, table: pa.Table, order: Positions, plan: WritePlan) -> AdjacentRows:
        """Make rows of a table those of files, with their sequence numbers.

        Parameters
        ----------
        table, order
            k rows, one bucket after the other, and which rows they come from.
        plan
            How to write to the table.
        """
        counts = np.array([len(order)])
        if len(self.lengths) > 1:
            bucket_of = np.repeat(np.arange(len(self.lengths)), self.lengths)
            counts = np.bincount(bucket_of[order], minlength=len(self.lengths))
        starts = np.cumsum(self.lengths) - self.lengths
        shift = np.repeat(self.first_sequences - starts, counts)
        numbers = arrow_array(order + shift, pa.int64())
        schema = plan.schema
        files = physical(table, numbers, schema.trimmed_primary_keys, schema.field_names)
        return AdjacentRows(files, counts.tolist())

    def _pick(self, name: str) -> pa.ChunkedArray | pa.Array:
        column = self.rows.column(name)
        return column if self.positions is None else column.take(arrow_array(self.positions))


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
