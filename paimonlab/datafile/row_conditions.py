"""What rows are asked that no file can be ruled out by."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import pyarrow as pa
from msgspec import Struct

from paimonlab.arrow_values import arrow_array, null_filled, numpy_values
from paimonlab.datafile.masks import Mask
from paimonlab.spec.predicates.predicate import Predicate, columns, evaluate


class RowCondition(Protocol):
    """A condition that is looked at row by row."""

    @property
    def columns(self) -> frozenset[str]:
        """The columns that it reads."""
        ...

    def is_true(self, rows: pa.RecordBatch) -> pa.Array:
        """Tell of each row whether it is true: n values without nulls."""
        ...

    def part_over(self, names: frozenset[str]) -> RowCondition | None:
        """Return what it says of these columns alone, true wherever it is; None: nothing."""
        ...


class RowLook(Struct, frozen=True):
    """What makes a row one that is looked for."""

    predicate: Predicate | None = None
    """Bound to the rows; None: it is true."""
    condition: RowCondition | None = None
    """Rows are asked of which the predicate is true; None: it is true."""

    @property
    def columns(self) -> frozenset[str]:
        """The columns that are looked at."""
        names = frozenset[str]() if self.predicate is None else columns(self.predicate)
        return names if self.condition is None else names | self.condition.columns

    def found(self, rows: pa.RecordBatch, keep: Mask | None = None) -> Mask:
        """Mark the rows that are looked for.

        Parameters
        ----------
        rows
            n rows.
        keep : (n,) bool or None
            Rows that are looked at, others are not looked for; None: all.
        """
        found = np.ones(rows.num_rows, np.bool_) if keep is None else keep
        if self.predicate is not None:
            found = found & _truths(evaluate(self.predicate, rows))
        if self.condition is None:
            return found
        if found.all():
            return _truths(self.condition.is_true(rows))
        places = np.flatnonzero(found)
        are_true = _truths(self.condition.is_true(rows.filter(arrow_array(found))))
        hits = np.zeros(rows.num_rows, np.bool_)
        hits[places[are_true]] = True
        return hits


def _truths(values: pa.Array) -> Mask:
    return numpy_values(null_filled(values, False), zero_copy_only=False)
