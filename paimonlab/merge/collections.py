"""Aggregate functions of ARRAY and MAP columns: collect, merge_map, nested_update.

Values are lists of positions in the column's elements, so that elements of any type pass
through untouched. Where Java leaves the order of elements to a hash table, they stay here in
the order in which they came.

Source: apache/paimon@1.3.1 ``org.apache.paimon.mergetree.compact.aggregate``:
``FieldCollectAgg``, ``FieldMergeMapAgg``, ``FieldNestedUpdateAgg``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, null_filled, numpy_values
from paimonlab.merge.fold import Fold, skipping_nulls
from paimonlab.spec.aggregate import Aggregate

_UNLIMITED = 2**31 - 1


def collect_fold(column: pa.Array, *, is_distinct: bool) -> Fold:
    """Fold that gathers elements."""
    value, build = _lists(column)
    codes = _Codes(column.values)

    def distinct(old: Any, new: Any) -> Any:
        if old is None and new is None:
            return None
        elements: dict[Hashable, int] = {}
        for element in chain(old or (), new or ()):
            elements.setdefault(codes[element], element)
        return list(elements.values())

    def retract(old: Any, new: Any) -> Any:
        if old is None or not new:
            return old
        taken = [codes[element] for element in new]
        kept = []
        for element in old:
            if codes[element] in taken:
                taken.remove(codes[element])
            else:
                kept.append(element)
        return kept

    add = distinct if is_distinct else skipping_nulls(lambda old, new: [*old, *new])
    return Fold(value=value, add=add, add_older=add, retract=retract, column=build)


def merge_map_fold(column: pa.Array) -> Fold:
    """Fold that puts entries into a map; a newer one replaces an older one of its key."""
    value, build = _lists(column)
    codes = _Codes(column.keys)

    def add(old: Any, new: Any) -> Any:
        return list({codes[entry]: entry for entry in chain(old, new)}.values())

    def retract(old: Any, new: Any) -> Any:
        if old is None or not new:
            return old
        taken = {codes[entry] for entry in new}
        return [entry for entry in old if codes[entry] not in taken]

    return Fold(value=value, add=skipping_nulls(add), retract=retract, column=build)


def nested_update_fold(column: pa.Array, aggregate: Aggregate) -> Fold:
    """Fold that puts ROWs into a small table; one of a key replaces that before."""
    value, build = _lists(column)
    rows = column.values
    is_row = rows.is_valid()
    keys = aggregate.nested_key
    codes = _Codes(_fields(rows, keys) if keys else rows)
    limit = _UNLIMITED if aggregate.count_limit is None else aggregate.count_limit

    def present(elements: Sequence[int]) -> list[int]:
        return [element for element in elements if is_row[element].as_py()]

    def add(old: Any, new: Any) -> Any:
        if len(old) >= limit:
            return old
        kept = [*present(old), *present(new)[: limit - len(old)]]
        return list({codes[row]: row for row in kept}.values()) if keys else kept

    def retract(old: Any, new: Any) -> Any:
        if old is None or new is None:
            return old
        taken = {codes[row] for row in present(new)}
        kept = [row for row in present(old) if codes[row] not in taken]
        return list({codes[row]: row for row in kept}.values()) if keys else kept

    return Fold(value=value, add=skipping_nulls(add), retract=retract, column=build)


def _fields(rows: pa.Array, names: Sequence[str]) -> pa.Array:
    places = [rows.type.get_field_index(name) for name in names]
    arrays = rows.flatten()
    return pa.StructArray.from_arrays([arrays[place] for place in places], list(names))


def _lists(
    column: pa.Array,
) -> tuple[Callable[[int], Any], Callable[[Sequence[Any]], pa.Array]]:
    """Return how a row's list of positions of elements is found, and made into a column."""
    offsets = numpy_values(column.offsets)

    def value(position: int) -> list[int] | None:
        if not column[position].is_valid:
            return None
        return list(range(offsets[position], offsets[position + 1]))

    def build(values: Sequence[list[int] | None]) -> pa.Array:
        counts = [len(elements) if elements is not None else 0 for elements in values]
        ends = np.cumsum([0, *counts]).astype(np.int32)
        missing = [*(elements is None for elements in values), False]
        mask = np.array(missing) if any(missing) else None
        bounds = arrow_array(ends, mask=mask)
        taken = arrow_array(list(chain.from_iterable(filter(None, values))), pa.int64())
        if pa.types.is_map(column.type):
            entries = column.keys.take(taken), column.items.take(taken)
            return pa.MapArray.from_arrays(bounds, *entries, type=column.type)
        return pa.ListArray.from_arrays(bounds, column.values.take(taken), type=column.type)

    return value, build


class _Codes:
    """Values that can be compared and hashed as Java compares the elements of a column."""

    def __init__(self, elements: pa.Array) -> None:
        self._elements = elements
        self._codes: list[Hashable] | None = None

    def __getitem__(self, position: int) -> Hashable:
        if self._codes is None:
            self._codes = _hashable(self._elements)
        return self._codes[position]


def _hashable(elements: pa.Array) -> list[Hashable]:
    kind = elements.type
    if pa.types.is_struct(kind):
        fields = zip(*map(_hashable, elements.flatten()), strict=True)
        return _or_none(elements, list(fields))
    if pa.types.is_map(kind):
        pairs = list(zip(_hashable(elements.keys), _hashable(elements.items), strict=True))
        return _sliced(elements, pairs, frozenset)
    if pa.types.is_list(kind):
        return _sliced(elements, _hashable(elements.values), tuple)
    if pa.types.is_floating(kind):
        integer, bits = (pa.int64(), np.int64) if kind.bit_width == 64 else (pa.int32(), np.int32)
        numbers = numpy_values(null_filled(elements, 0.0))
        same_nan = np.where(np.isnan(numbers), np.array(np.nan, numbers.dtype), numbers)
        return _or_none(elements, arrow_array(same_nan.view(bits), integer).to_pylist())
    if pa.types.is_temporal(kind):
        elements = elements.view(pa.int64() if kind.bit_width == 64 else pa.int32())
    values: list[Hashable] = elements.to_pylist()
    return values


def _or_none(elements: pa.Array, codes: Sequence[Hashable]) -> list[Hashable]:
    if not elements.null_count:
        return list(codes)
    return [
        code if is_there else None
        for code, is_there in zip(codes, elements.is_valid().to_pylist(), strict=True)
    ]


def _sliced(
    elements: pa.Array, codes: Sequence[Any], gather: Callable[[Sequence[Any]], Hashable]
) -> list[Hashable]:
    offsets = elements.offsets.to_pylist()
    return _or_none(
        elements,
        [gather(codes[start:end]) for start, end in pairwise(offsets)],
    )
