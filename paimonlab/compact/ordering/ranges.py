"""Dividing rows into ranges of an order: all rows of a range come before those of the next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.compact.ordering.row_order import FittedOrder, RowOrder


@dataclass(frozen=True, slots=True)
class Ranges:
    """Ranges of an order; picklable."""

    order: FittedOrder
    bounds: npt.NDArray[np.bytes_]
    """The least keys of all ranges but the first, ascending."""

    @classmethod
    def of(cls, order: RowOrder, sample: pa.Table, count: int) -> Ranges:
        """Choose ranges of about one size.

        Parameters
        ----------
        order
            What comes first.
        sample
            Some of the rows, with the columns of the order at least.
        count
            How many ranges at most: where many rows look alike there are fewer.
        """
        fitted = order.fitted(sample)
        keys = np.sort(fitted.keys(sample))
        places = np.linspace(0, len(keys), count + 1)[1:-1].astype(np.int64)
        return cls(fitted, np.unique(keys[places]) if len(keys) else keys)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.bounds) + 1

    def numbers(self, rows: pa.RecordBatch) -> npt.NDArray[np.int64]:
        """Return the number of the range of each of n rows, from 0."""
        if not len(self.bounds):
            return np.zeros(rows.num_rows, np.int64)
        return np.searchsorted(self.bounds, self.order.keys(rows), side="right")

    def divided(self, rows: pa.RecordBatch) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Yield the rows of each range that has some; they stay in their order."""
        if not len(self.bounds):
            yield 0, rows
            return
        ranges = self.numbers(rows)
        grouped = rows.take(arrow_array(np.argsort(ranges, kind="stable")))
        ends = np.cumsum(np.bincount(ranges, minlength=self.count))
        for number in np.unique(ranges).tolist():
            start = int(ends[number - 1]) if number else 0
            yield number, grouped.slice(start, int(ends[number]) - start)


def sampled(
    batches: Iterable[pa.RecordBatch], chance: float, rng: np.random.Generator
) -> Iterator[pa.RecordBatch]:
    """Take each row with a chance, at least one of each batch."""
    for batch in batches:
        if batch.num_rows:
            is_taken = rng.random(batch.num_rows) < chance
            is_taken[rng.integers(batch.num_rows)] = True
            yield batch.filter(arrow_array(is_taken))
