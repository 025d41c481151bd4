"""Merge engine ``partial-update``: values that are not null overwrite older ones.

Columns of a sequence group go by the order of the group's sequence fields instead, nulls
included. A key's only row stays as it is.

Source: apache/paimon@1.3.1 ``…mergetree.compact.PartialUpdateMergeFunction`` and
``…ReducerMergeFunctionWrapper``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from paimonlab.errors import DataError
from paimonlab.merge.aggregation import aggregate_column, in_order_of_age
from paimonlab.merge.folds import pick
from paimonlab.merge.group_folds import fold_keys
from paimonlab.merge.groups import NONE, Mask, Members, Positions
from paimonlab.merge.key_rows import KeyRows, Merged
from paimonlab.merge.order import sort_keys
from paimonlab.merge.picking import is_valid, last_non_null_value
from paimonlab.spec.aggregate import Aggregate
from paimonlab.spec.merge_engine import MergeEngine, SequenceGroup
from paimonlab.spec.row_kind import RowKind

_IN_ANY_ORDER = frozenset(
    {
        *("sum", "max", "min", "bool_and", "bool_or"),
        *("rbm32", "rbm64", "hll_sketch", "theta_sketch", "primary-key"),
    }
)
"""Functions for which it does not matter which row is the older one."""
_BY_AGE = frozenset({"last_value", "last_non_null_value", "listagg", "merge_map"})
"""Functions that give the same for rows put into the order of their age."""


def partial_update(rows: KeyRows, engine: MergeEngine) -> Merged:
    """Merge the rows of each key.

    Raises
    ------
    DataError
        If a row retracts something and no option says what that means.
    """
    if engine.groups:
        return _with_groups(rows, engine)
    retract = rows.is_retract
    if retract is None:
        adds = rows.members
        columns = {
            name: pick(column, last_non_null_value(column, adds))
            for name, column in rows.columns.items()
        }
        return Merged(columns, rows.kinds_of_merged(np.zeros(adds.group_count, np.bool_)))
    if not engine.ignore_delete and not engine.removes_on_delete:
        raise DataError(
            "merge-engine 'partial-update' found rows of kind -U or -D; the option 'ignore-delete' "
            "ignores them, 'partial-update.remove-record-on-delete' lets -D remove the row, and "
            "sequence groups retract single columns"
        )
    return _with_deletes(rows, retract, engine)


def _with_deletes(rows: KeyRows, retract: Mask, engine: MergeEngine) -> Merged:
    """Let the rows of each key begin anew after its last ``-D``.

    One that nothing follows keeps its sequence: rows that come later may be older. Java keeps all
    its values (1.4.2) or none (1.3.1).
    """
    members = rows.members
    places = np.arange(len(members.positions))
    last = np.full(members.group_count, NONE, np.int64)
    if not engine.ignore_delete:
        last = members.place_of_last((rows.ordered_kinds == RowKind.DELETE) & retract)
    adds = members.keep(~retract & (places > np.repeat(last, members.lengths)))
    deleted = np.where(last == NONE, members.first(), members.positions[last])
    is_last = (last != NONE) & (last == members.ends - 1)
    columns = {}
    for name, column in rows.columns.items():
        picked = last_non_null_value(column, adds)
        if name in rows.required:
            picked = np.where(picked == NONE, deleted, picked)
        elif name in engine.sequence_fields:
            picked = np.where(is_last, deleted, picked)
        columns[name] = pick(column, picked)
    is_deleted = (members.counts(~retract) == 0) | is_last
    return Merged(columns, rows.kinds_of_merged(is_deleted))


def _with_groups(rows: KeyRows, engine: MergeEngine) -> Merged:
    members, retract = rows.members, rows.is_retract
    adds = members if retract is None else members.keep(~retract)
    groups = {
        id(group): _GroupRows.of(rows, group, ignores=engine.ignore_delete)
        for group in engine.groups
        if _is_read(rows, group)
    }
    columns: dict[str, pa.Array] = {}
    one_by_one = _removed(rows, engine, groups) | _begun_by_retraction(rows, engine)
    for name, column in rows.columns.items():
        how = engine.aggregates.get(name)
        group = engine.group_of(name)
        if group is None:
            columns[name] = _unordered(rows, adds, name, column, how)
        elif name in group.sequence_fields:
            columns[name] = pick(column, groups[id(group)].winners)
        elif how is None:
            columns[name] = pick(column, groups[id(group)].values)
        else:
            members_of, is_hard = groups[id(group)].members_for(how)
            one_by_one |= is_hard
            easy = members_of.keep(~np.repeat(one_by_one, members_of.lengths))
            columns[name] = aggregate_column(column, easy, how, name, rows.is_alone)
    is_deleted = (
        members.counts(np.ones(len(members.positions), np.bool_) if retract is None else ~retract)
        == 0
    )
    if not one_by_one.any():
        return Merged(columns, rows.kinds_of_merged(is_deleted))
    folded, was_deleted = fold_keys(rows, engine, np.flatnonzero(one_by_one))
    is_deleted[one_by_one] = was_deleted
    places = np.arange(members.group_count)
    places[one_by_one] = members.group_count + np.arange(len(was_deleted))
    merged = {name: pick(column, places, folded[name]) for name, column in columns.items()}
    return Merged(merged, rows.kinds_of_merged(is_deleted))


def _is_read(rows: KeyRows, group: SequenceGroup) -> bool:
    return all(name in rows.columns for name in group.sequence_fields)


def _unordered(
    rows: KeyRows, adds: Members, name: str, column: pa.Array, how: Aggregate | None
) -> pa.Array:
    """Merge a column outside of all groups: retractions leave it as it is."""
    if how is not None and name not in rows.required:
        return aggregate_column(column, adds, how, name, rows.is_alone)
    picked = last_non_null_value(column, adds)
    if name in rows.required:
        picked = np.where(picked == NONE, rows.members.first(), picked)
    return pick(column, picked)


def _removed(rows: KeyRows, engine: MergeEngine, groups: dict[int, _GroupRows]) -> Mask:
    """Mark the keys with a ``-D`` that may remove the whole row."""
    is_removed = np.zeros(rows.members.group_count, np.bool_)
    if rows.is_retract is None:
        return is_removed
    for group in engine.groups:
        if group.removes_record:
            kinds = rows.ordered_kinds
            removes = (kinds == RowKind.DELETE) & groups[id(group)].takes_part & ~rows.alone_rows
            is_removed |= rows.members.counts(removes) > 0
    return is_removed


def _begun_by_retraction(rows: KeyRows, engine: MergeEngine) -> Mask:
    """Mark the keys whose first row takes away from a column of a group that is never null.

    Such a column begins with the value of that row.
    """
    is_begun = np.zeros(rows.members.group_count, np.bool_)
    grouped = (engine.group_of(name) for name in rows.required if name in rows.columns)
    if rows.is_retract is None or not any(grouped):
        return is_begun
    filled = rows.members.lengths > 0
    is_begun[filled] = rows.is_retract[rows.members.starts[filled]]
    return is_begun


class _GroupRows(Struct, frozen=True):
    """The rows of each key that a sequence group looks at."""

    takes_part: Mask
    """(n,) in the order of all rows: not all of the group's sequence fields are null."""
    members: Members
    """Those rows."""
    ranks: npt.NDArray[np.int64]
    """(m,) numbers that compare as their sequence fields do."""
    winners: Positions
    """(g,) the last row with the greatest sequence fields, or `NONE`."""
    values: Positions
    """(g,) the same, but none where it takes away."""

    @classmethod
    def of(cls, rows: KeyRows, group: SequenceGroup, *, ignores: bool) -> _GroupRows:
        """Find the rows of a group; ``ignores``: without those that take away."""
        fields = [rows.columns[name] for name in group.sequence_fields]
        takes_part = np.ones(len(rows.members.positions), np.bool_)
        validity = [is_valid(field) for field in fields]
        if all(valid is not None for valid in validity):
            some = np.logical_or.reduce([valid for valid in validity if valid is not None])
            takes_part = some[rows.members.positions] | rows.alone_rows
        retract = rows.is_retract
        if ignores and retract is not None:
            takes_part, retract = takes_part & ~retract, None
        members = replace(rows.members, is_retract=retract).keep(takes_part)
        ranks = _ranks(fields, members)
        winners = np.full(members.group_count, NONE, np.int64)
        values = winners.copy()
        filled = np.flatnonzero(members.lengths)
        if len(filled):
            best = np.maximum.reduceat(ranks, members.starts[filled])
            hits = ranks == np.repeat(best, members.lengths[filled])
            places = members.place_of_last(hits)[filled]
            winners[filled] = members.positions[places]
            values[filled] = winners[filled]
            if members.is_retract is not None:
                values[filled[members.is_retract[places]]] = NONE
        return cls(takes_part, members, ranks, winners, values)

    def members_for(self, how: Aggregate) -> tuple[Members, Mask]:
        """Return the rows in the order in which a function takes them.

        Returns
        -------
        members
            The rows.
        is_hard
            (g,) keys for which no order gives what the function says row by row.
        """
        members = self.members
        easy = np.zeros(members.group_count, np.bool_)
        if how.function in _IN_ANY_ORDER:
            return members, easy
        is_older = self._is_older()
        if not is_older.any():
            return members, easy
        has_older = members.counts(is_older) > 0
        if how.function not in _BY_AGE:
            return members, has_older
        retracts = members.is_retract
        if retracts is not None:
            has_older &= members.counts(retracts) > 0
            return in_order_of_age(members, is_older), has_older
        return in_order_of_age(members, is_older), easy

    def _is_older(self) -> Mask:
        """(m,) whether a row's sequence fields are smaller than those of a row before it."""
        dense = np.unique(self.ranks, return_inverse=True)[1].astype(np.int64)
        by_group = self.members.groups * (dense.max(initial=0) + 1) + dense
        older: Mask = by_group < np.maximum.accumulate(by_group)
        return older


def _ranks(fields: Sequence[pa.Array], members: Members) -> npt.NDArray[np.int64]:
    codes = sort_keys(fields)[members.positions]
    if codes.dtype.kind == "i":
        return codes.astype(np.int64)
    if codes.dtype.kind == "u":
        return (codes ^ np.uint64(1 << 63)).view(np.int64)
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)
