"""Aggregate functions one value after the other, for what columns cannot do at once.

A fold turns the rows of a column into values of its own: positions of rows for the functions
that pick a row, numbers, lists of positions of elements, bytes. ``None`` is null.

Source: apache/paimon@1.3.1 ``org.apache.paimon.mergetree.compact.aggregate``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
from msgspec import Struct

from paimonlab.arrow_values import arrow_array, null_filled, numpy_values
from paimonlab.merge.collections import collect_fold, merge_map_fold, nested_update_fold
from paimonlab.merge.fold import Fold, skipping_nulls
from paimonlab.merge.groups import Members
from paimonlab.merge.numbers import product_fold, sum_fold
from paimonlab.merge.order import sort_keys
from paimonlab.merge.picking import float_ranks, is_valid
from paimonlab.merge.sketches import SKETCHES, sketch_fold
from paimonlab.spec.aggregate import Aggregate


def fold_of(column: pa.Array, aggregate: Aggregate, name: str) -> Fold:
    """Make the fold of a column.

    Parameters
    ----------
    column
        n rows.
    aggregate
        Its function.
    name
        Name of the column, for messages.
    """
    function = aggregate.function
    if function in SKETCHES:
        fold = sketch_fold(column, function)
    elif function in ("sum", "product"):
        fold = sum_fold(column) if function == "sum" else product_fold(column, name)
    elif function == "collect":
        fold = collect_fold(column, is_distinct=aggregate.is_distinct)
    elif function == "merge_map":
        fold = merge_map_fold(column)
    elif function == "nested_update":
        fold = nested_update_fold(column, aggregate)
    elif function == "listagg":
        fold = _listagg_fold(column, aggregate.delimiter)
    else:
        fold = _picking_fold(column, function)
    return fold.guarded(aggregate, name)


def plain_fold(column: pa.Array) -> Fold:
    """Fold of a column without a function: the newest value stays, null or not."""
    return _picks(column, add=lambda _, value: value, retract=lambda *_: None)


def fold_all(
    fold: Fold,
    members: Members,
    column: pa.Array,
    is_alone: Callable[[int], bool],
    is_begun: Callable[[int], bool] = lambda _: False,
) -> pa.Array:
    """Fold group by group.

    Parameters
    ----------
    fold
        The fold of ``column``.
    members
        Rows of g groups.
    column
        n rows.
    is_alone
        Tells of a group with one row whether its key has no other row, so that the row stays
        as it is.
    is_begun
        Tells of a group whether its first value is taken as it is, not as something added.

    Returns
    -------
    (g,) of the column's type
    """
    starts, lengths = members.starts.tolist(), members.lengths.tolist()
    picked = members.first()
    folded: list[Any] = []
    for group, (start, length) in enumerate(zip(starts, lengths, strict=True)):
        if length == 0 or (length == 1 and is_alone(group)):
            continue
        picked[group] = len(column) + len(folded)
        folded.append(_folded(fold, members, range(start, start + length), is_begun(group)))
    return pick(column, picked, fold.column(folded) if folded else None)


def _folded(
    fold: Fold,
    members: Members,
    places: range,
    is_begun: bool,  # noqa: FBT001
) -> Any:
    fold.reset()
    value = fold.value(int(members.positions[places.start])) if is_begun else None
    assert fold.retract is not None, "every fold of a column is guarded"
    retracts = members.is_retract
    for place in places[1:] if is_begun else places:
        apply = fold.retract if retracts is not None and retracts[place] else fold.add
        value = apply(value, fold.value(int(members.positions[place])))
    return value


def pick(column: pa.Array, positions: Any, more: pa.Array | None = None) -> pa.Array:
    """Take rows of a column, or of more rows after it; `NONE` gives null."""
    if more is not None:
        column = pa.concat_arrays([column, more.cast(column.type)])
    missing = positions < 0
    indices = arrow_array(positions, mask=missing if missing.any() else None)
    return column.take(indices)


def _picks(
    column: pa.Array,
    *,
    add: Callable[[Any, Any], Any],
    retract: Callable[[Any, Any], Any] | None = None,
    reset: Callable[[], None] = lambda: None,
) -> Fold:
    """Make a fold whose values are positions of rows."""
    valid = is_valid(column)

    def value(position: int) -> int | None:
        return position if valid is None or valid[position] else None

    def build(values: Sequence[int | None]) -> pa.Array:
        return column.take(arrow_array(values, pa.int64()))

    return Fold(value=value, add=add, retract=retract, column=build, reset=reset)


def _picking_fold(column: pa.Array, function: str) -> Fold:
    match function:
        case "last_value":
            return plain_fold(column)
        case "last_non_null_value":
            return _picks(
                column,
                add=lambda old, new: old if new is None else new,
                retract=lambda old, new: old if new is None else None,
            )
        case "primary-key":
            return _picks(column, add=lambda _, new: new, retract=lambda _, new: new)
        case "first_value" | "first_non_null_value" | "first_not_null_value":
            state = _First(takes_null=function == "first_value")
            return _picks(column, add=state.add, reset=state.reset)
    assert function in ("max", "min", "bool_and", "bool_or"), function
    return _picks(column, add=_chooses(column, greatest=function in ("max", "bool_or")))


class _First(Struct):
    """Remembers whether a value came, whatever became of it."""

    takes_null: bool
    is_initialized: bool = False

    def reset(self) -> None:
        self.is_initialized = False

    def add(self, old: Any, new: Any) -> Any:
        if not self.is_initialized and (self.takes_null or new is not None):
            self.is_initialized = True
            return new
        return old


def _chooses(column: pa.Array, *, greatest: bool) -> Callable[[Any, Any], Any]:
    if pa.types.is_floating(column.type):
        codes = float_ranks(numpy_values(null_filled(column, 0.0)))
    else:
        codes = sort_keys([column])

    def choose(old: int, new: int) -> int:
        is_less = bool(codes[old] < codes[new])
        return new if is_less == greatest else old

    return skipping_nulls(choose)


def _listagg_fold(column: pa.Array, delimiter: str) -> Fold:
    """Empty texts add nothing, as in Java Paimon since 1.4."""
    return Fold(
        value=lambda position: column[position].as_py(),
        add=skipping_nulls(lambda old, new: f"{old}{delimiter}{new}" if old and new else old + new),
        retract=None,
        column=lambda values: arrow_array(values, column.type),
    )
