"""Merge engine ``aggregation``: every column by its function.

Source: apache/paimon@1.3.1 ``…mergetree.compact.aggregate.AggregateMergeFunction`` and
``…mergetree.compact.ReducerMergeFunctionWrapper``: a key's only row stays as it is.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from paimonlab.arrow_values import arrow_array, arrow_scalar, numpy_values
from paimonlab.merge.arithmetic import (
    every,
    extreme,
    is_numeric_extreme,
    product,
    some,
    total,
)
from paimonlab.merge.fold import retraction_refused
from paimonlab.merge.folds import fold_all, fold_of, pick
from paimonlab.merge.groups import NONE, Mask, Members, Positions
from paimonlab.merge.key_rows import KeyRows, Merged
from paimonlab.merge.picking import (
    greatest,
    last_non_null_value,
    last_value,
    smallest,
    with_values,
)
from paimonlab.spec.aggregate import PRIMARY_KEY, Aggregate
from paimonlab.spec.merge_engine import MergeEngine
from paimonlab.spec.row_kind import RowKind

_FIRST = ("first_value", "first_non_null_value", "first_not_null_value")


def aggregate(rows: KeyRows, engine: MergeEngine) -> Merged:
    """Merge the rows of each key.

    Raises
    ------
    DataError
        If a row retracts a value and the function of its column cannot.
    """
    if engine.removes_on_delete and rows.kinds is not None:
        return _after_deletes(rows, engine)
    members = replace(rows.members, is_retract=rows.is_retract)
    columns = {
        name: aggregate_column(column, members, engine.aggregates[name], name, rows.is_alone)
        for name, column in rows.columns.items()
    }
    return Merged(columns, rows.kinds_of_merged(np.zeros(rows.members.group_count, np.bool_)))


def _after_deletes(rows: KeyRows, engine: MergeEngine) -> Merged:
    """Let the rows of each key begin anew after its last ``-D``.

    As in Java a first value stays what it was: later ones are ignored. A ``-D`` that nothing
    follows keeps its sequence: rows that come later may be older. Java keeps all its values
    (1.4.2) or none (1.3.1).
    """
    members = replace(rows.members, is_retract=rows.is_retract)
    resets = (rows.ordered_kinds == RowKind.DELETE) & ~rows.alone_rows
    last = members.place_of_last(resets)
    begin = np.repeat(last, members.lengths)
    places = np.arange(len(members.positions))
    behind, came_before = members.keep(places > begin), members.keep(places < begin)
    # A column that is never null begins with the value of the deleted row.
    retract = None if members.is_retract is None else members.is_retract & ~resets
    with_deleted = replace(members, is_retract=retract).keep(places >= begin)
    deleted = np.where(last == NONE, NONE, members.positions[last])
    is_deleted = last == members.ends - 1
    columns = {}
    for name, column in rows.columns.items():
        how = engine.aggregates[name]
        if retract is not None and retract.any() and not how.retracts:
            raise retraction_refused(how, name)
        if how.function in _FIRST:
            start = deleted if name in rows.required else np.full_like(deleted, NONE)
            picked = _first(column, behind, how.function)
            is_stuck = _first(column, came_before, how.function) != NONE
            columns[name] = pick(column, np.where(is_stuck | (picked == NONE), start, picked))
            continue
        is_required = name in rows.required
        columns[name] = aggregate_column(
            column,
            with_deleted if is_required else behind,
            how,
            name,
            rows.is_alone | is_deleted,
            last != NONE if is_required else None,
        )
        if name in engine.sequence_fields:
            others = len(column) + np.arange(members.group_count)
            columns[name] = pick(column, np.where(is_deleted, deleted, others), columns[name])
    return Merged(columns, rows.kinds_of_merged(is_deleted))


def _first(column: pa.Array, members: Members, function: str) -> Positions:
    if members.is_retract is not None and members.is_retract.any():
        members = members.without_retracts()
    return members.first() if function == "first_value" else with_values(column, members).first()


def aggregate_column(
    column: pa.Array,
    members: Members,
    how: Aggregate,
    name: str,
    is_alone: Mask,
    is_begun: Mask | None = None,
) -> pa.Array:
    """Aggregate the values of each group.

    Parameters
    ----------
    column
        n rows.
    members
        m rows of them in g groups, in the order in which the function takes them.
    how
        The function.
    name
        Name of the column, for messages.
    is_alone
        (g,) whether the key has one row only, which stays as it is.
    is_begun
        (g,) whether the first value is taken as it is; None: nowhere.

    Returns
    -------
    (g,) of the column's type
        Null where a group has no rows.
    """
    if how.ignore_retract:
        members = members.without_retracts()
    elif members.is_retract is not None and not members.is_retract.any():
        members = replace(members, is_retract=None)
    elif members.is_retract is not None and not how.retracts:
        raise retraction_refused(how, name)
    picked = _picked(column, members, how.function)
    if picked is not None:
        return pick(column, picked)
    computed = _computed(column, members, how, name)
    if computed is not None:
        return computed
    if is_begun is None:
        is_begun = np.zeros(members.group_count, np.bool_)
    fold = fold_of(column, how, name)
    return fold_all(fold, members, column, is_alone.__getitem__, is_begun.__getitem__)


def _picked(column: pa.Array, members: Members, function: str) -> Positions | None:
    """Return the row that each group picks, if the function picks one."""
    match function:
        case "last_non_null_value":
            return last_non_null_value(column, members)
        case "last_value":
            return last_value(members)
        case "first_value":
            return members.first()
        case "first_non_null_value" | "first_not_null_value":
            return with_values(column, members).first()
        case "max" | "min" if not is_numeric_extreme(column.type):
            return (greatest if function == "max" else smallest)(column, members)
    return members.last() if function == PRIMARY_KEY else None


def _computed(column: pa.Array, members: Members, how: Aggregate, name: str) -> pa.Array | None:
    """Compute with whole columns, where that gives the same result."""
    match how.function:
        case "sum":
            values, is_open = total(column, members)
            return (
                values
                if not is_open.any()
                else _one_by_one(column, members, how, name, values, is_open)
            )
        case "product" if members.is_retract is None and not pa.types.is_decimal(column.type):
            return product(column, members)
        case "max" | "min":
            return extreme(column, members, greatest=how.function == "max")
        case "bool_and" | "bool_or":
            return (every if how.function == "bool_and" else some)(column, members)
        case "listagg":
            return _joined(column, members, how.delimiter)
    return None


def _one_by_one(
    column: pa.Array,
    members: Members,
    how: Aggregate,
    name: str,
    values: pa.Array,
    is_open: Mask,
) -> pa.Array:
    """Replace the values of some groups by what folding gives."""
    chosen = members.keep(np.repeat(is_open, members.lengths))
    folded = fold_all(fold_of(column, how, name), chosen, column, lambda _: False)
    count = len(values)
    return pick(values, np.where(is_open, count, 0) + np.arange(count), folded)


def _joined(column: pa.Array, members: Members, delimiter: str) -> pa.Array:
    """Join the texts of each group; empty ones add nothing, as in Java Paimon since 1.4."""
    valued = with_values(column, members)
    texts = column.take(arrow_array(valued.positions))
    bounds = np.concatenate([[0], valued.ends])
    adds = pc.greater(pc.binary_length(texts), arrow_scalar(0))
    if not pc.all(adds).as_py():
        texts = texts.filter(adds)
        bounds = np.concatenate([[0], np.cumsum(numpy_values(adds, zero_copy_only=False))])[bounds]
    has_none = np.concatenate([valued.lengths == 0, [False]])
    offsets = arrow_array(bounds.astype(np.int32), mask=has_none if has_none.any() else None)
    return pc.binary_join(pa.ListArray.from_arrays(offsets, texts), delimiter)


def in_order_of_age(members: Members, is_older: npt.NDArray[np.bool_]) -> Members:
    """Put rows that came late before those that are newer.

    Parameters
    ----------
    members
        m rows.
    is_older
        (m,) whether a row is older than one before it in its group: each such row stands
        before all others that came so far.
    """
    places = np.arange(len(members.positions))
    order = np.lexsort((np.where(is_older, -places, places), members.groups))
    retract = None if members.is_retract is None else members.is_retract[order]
    return replace(members, positions=members.positions[order], is_retract=retract)
