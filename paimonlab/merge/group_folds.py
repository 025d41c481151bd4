"""Partial update one row after the other: for keys where the rows cannot be taken together.

These are keys with a ``-D`` that may remove the row, and keys whose rows came late in a
sequence group with a function for which that matters.

Source: apache/paimon@1.3.1 ``…mergetree.compact.PartialUpdateMergeFunction``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec import Struct, field

from paimonlab.merge.fold import Fold
from paimonlab.merge.folds import fold_of, plain_fold
from paimonlab.merge.groups import Mask, Positions
from paimonlab.merge.key_rows import KeyRows
from paimonlab.merge.order import sort_keys
from paimonlab.spec.merge_engine import MergeEngine, SequenceGroup
from paimonlab.spec.row_kind import RowKind


def fold_keys(
    rows: KeyRows, engine: MergeEngine, keys: Positions
) -> tuple[Mapping[str, pa.Array], Mask]:
    """Merge the rows of some keys.

    Parameters
    ----------
    rows
        The rows of all keys.
    engine
        A partial update with sequence groups.
    keys
        (k,) which keys.

    Returns
    -------
    columns
        By name, k rows each.
    is_deleted
        (k,) whether the row is gone.
    """
    merge = _KeyMerge.of(rows, engine)
    members = rows.members
    starts, lengths = members.starts, members.lengths
    values_of: dict[str, list[Any]] = {name: [] for name in rows.columns}
    deleted = []
    for key in keys.tolist():
        places = slice(starts[key], starts[key] + lengths[key])
        positions = members.positions[places].tolist()
        kinds = [RowKind.INSERT] * len(positions)
        if rows.kinds is not None:
            kinds = [RowKind(kind) for kind in rows.kinds[positions].tolist()]
        values, is_deleted = merge.run(positions, kinds)
        for name, value in values.items():
            values_of[name].append(value)
        deleted.append(is_deleted)
    columns = {name: merge.folds[name].column(values) for name, values in values_of.items()}
    return columns, np.array(deleted, np.bool_)


class _KeyMerge(Struct):
    """The row of one key, as it comes to be."""

    folds: Mapping[str, Fold]
    has_function: frozenset[str]
    groups: tuple[SequenceGroup, ...]
    free: tuple[str, ...]
    """Columns of no group."""
    required: tuple[str, ...]
    ignore_delete: bool
    rank: Mapping[str, Callable[[int], Any]]
    """Of each sequence field: what compares its values by position."""
    row: dict[str, Any] = field(default_factory=dict)
    is_deleted: bool = False

    @classmethod
    def of(cls, rows: KeyRows, engine: MergeEngine) -> _KeyMerge:
        """Prepare to merge keys of some rows."""
        folds, with_function = {}, set()
        for name, column in rows.columns.items():
            how = engine.aggregates.get(name)
            folds[name] = plain_fold(column) if how is None else fold_of(column, how, name)
            if how is not None:
                with_function.add(name)
        groups = tuple(
            group
            for group in engine.groups
            if all(name in rows.columns for name in group.sequence_fields)
        )
        ranks = {
            name: sort_keys([rows.columns[name]]).__getitem__
            for group in groups
            for name in group.sequence_fields
        }
        return cls(
            folds=folds,
            has_function=frozenset(with_function),
            groups=groups,
            free=tuple(name for name in rows.columns if engine.group_of(name) is None),
            required=tuple(name for name in rows.columns if name in rows.required),
            ignore_delete=engine.ignore_delete,
            rank=ranks,
        )

    def run(self, positions: list[int], kinds: list[RowKind]) -> tuple[dict[str, Any], bool]:
        """Merge the rows of a key, oldest first."""
        self.row = dict.fromkeys(self.folds)
        for fold in self.folds.values():
            fold.reset()
        has_add = is_begun = False
        for position, kind in zip(positions, kinds, strict=True):
            self.is_deleted = False
            if not kind.is_retract:
                self._add(position)
                has_add = True
            else:
                if not is_begun:
                    self._begin(position)
                if not self.ignore_delete:
                    self._retract(position, kind)
            is_begun = True
        return self.row, self.is_deleted or not has_add

    def _begin(self, position: int) -> None:
        for name in self.required:
            self.row[name] = self.folds[name].value(position)

    def _add(self, position: int) -> None:
        for name in self.free:
            fold = self.folds[name]
            value = fold.value(position)
            if name in self.has_function:
                self.row[name] = fold.add(self.row[name], value)
            elif value is not None:
                self.row[name] = value
        for group in self.groups:
            if not self._takes_part(group, position):
                continue
            is_newer = self._is_newer(group, position)
            for name in self._columns(group):
                fold = self.folds[name]
                value = fold.value(position)
                if is_newer:
                    self.row[name] = fold.add(self.row[name], value)
                elif name in self.has_function:
                    self.row[name] = fold.older(self.row[name], value)
            if is_newer:
                self._advance(group, position)

    def _retract(self, position: int, kind: RowKind) -> None:
        parts = [group for group in self.groups if self._takes_part(group, position)]
        newer = [group for group in parts if self._is_newer(group, position)]
        if kind is RowKind.DELETE and any(group.removes_record for group in newer):
            self.row = dict.fromkeys(self.folds)
            self._begin(position)
            self.is_deleted = True
            return
        for group in parts:
            for name in self._columns(group):
                fold = self.folds[name]
                if name in self.has_function or group in newer:
                    assert fold.retract is not None, "every fold of a column is guarded"
                    self.row[name] = fold.retract(self.row[name], fold.value(position))
            if group in newer:
                self._advance(group, position)

    def _columns(self, group: SequenceGroup) -> list[str]:
        return [name for name in group.columns if name in self.folds]

    def _advance(self, group: SequenceGroup, position: int) -> None:
        for name in group.sequence_fields:
            self.row[name] = self.folds[name].value(position)

    def _takes_part(self, group: SequenceGroup, position: int) -> bool:
        return any(self.folds[name].value(position) is not None for name in group.sequence_fields)

    def _is_newer(self, group: SequenceGroup, position: int) -> bool:
        return self._sequence(group, position) >= self._sequence(group, None)

    def _sequence(self, group: SequenceGroup, position: int | None) -> list[tuple[bool, Any]]:
        """Return what compares sequence fields, nulls first; None: those of the row so far."""
        sequences = []
        for name in group.sequence_fields:
            value = self.row[name] if position is None else self.folds[name].value(position)
            sequences.append((value is not None, 0 if value is None else self.rank[name](value)))
        return sequences
