"""Distinct keys, numbered: which of them rows have."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import null_filled, numpy_values
from paimonlab.spec.predicates.predicate import Predicate, col

NOWHERE = -1
"""The number of what is not there."""
Places = npt.NDArray[np.int64]
_FEW_KEYS = 1_000
"""Keys that a condition lists; of more of them it has the range."""


class NumberedKeys:
    """The distinct keys among some, numbered.

    Parameters
    ----------
    keys
        n keys without nulls, with at least one column.
    """

    def __init__(self, keys: pa.Table) -> None:
        self._columns: list[tuple[str, pa.Array, Places]] = []
        numbers = np.zeros(keys.num_rows, np.int64)
        for name in keys.column_names:
            column = keys.column(name).combine_chunks()
            values = column.unique()
            codes = numbers * len(values) + _codes(column, values)
            distinct, numbers = np.unique(codes, return_inverse=True)
            self._columns.append((name, values, distinct))
        self.numbers: Places = numbers
        """(n,) The number of each key."""
        self.count = len(self._columns[-1][2])

    def numbers_of(self, rows: pa.RecordBatch) -> Places:
        """Return the number of the key of each row; -1 if it is not among the keys."""
        (name, values, _), *others = self._columns
        numbers = _codes(rows.column(name), values)  # each of the values is the first of a key
        for name, values, distinct in others:
            codes = _codes(rows.column(name), values)
            is_known = (codes != NOWHERE) & (numbers != NOWHERE)
            codes = numbers * len(values) + codes
            numbers = np.minimum(np.searchsorted(distinct, codes), len(distinct) - 1)
            numbers = np.where(is_known & (distinct[numbers] == codes), numbers, NOWHERE)
        return numbers

    def conditions(self) -> Iterator[tuple[str, Predicate]]:
        """Yield what all keys satisfy, by column; not bound."""
        for name, values, _ in self._columns:
            if not len(values) or not _has_range(values.type):
                continue
            if len(values) <= _FEW_KEYS:
                yield name, col(name).is_in(values.to_pylist())
            else:
                ends = pc.min_max(values)
                yield name, col(name).between(ends["min"].as_py(), ends["max"].as_py())


def _has_range(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_date(kind))


def _codes(column: pa.Array, values: pa.Array) -> Places:
    """Return the position of each value of a column in distinct values; -1: it is not there."""
    positions = null_filled(pc.index_in(column, value_set=values), NOWHERE)
    return numpy_values(positions).astype(np.int64)


def whole_keys(keys: pa.Table) -> npt.NDArray[np.bool_]:
    """Tell which keys have no null: (n,)."""
    whole = np.ones(keys.num_rows, np.bool_)
    for column in keys.columns:
        if column.null_count:
            whole &= numpy_values(column.is_valid().combine_chunks(), zero_copy_only=False)
    return whole
