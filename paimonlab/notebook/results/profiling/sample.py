"""Some values that represent all, and their quantiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array

SIZE = 16_384
"""Values kept; shares of rows are then within 0.4 % in two of three cases, 1.2 % in nearly all."""


@dataclass(frozen=True, slots=True)
class Sample:
    """All values while there are few, then those of the rows with the smallest keys."""

    keys: npt.NDArray[np.uint64]
    """One for each value, made of the number of its row: so the choice is the same every time."""
    values: pa.Array
    count: int
    """Values that were seen."""

    @staticmethod
    def of(values: pa.Array, keys: npt.NDArray[np.uint64]) -> Sample:
        """Take values without nulls, and a key of each."""
        return _bounded(keys, values, len(values))

    def __add__(self, other: Sample) -> Sample:
        count = self.count + other.count
        mine, theirs = self, other
        if len(mine.keys) >= SIZE:
            theirs = theirs.below(mine.keys.max())
        keys = np.concatenate([mine.keys, theirs.keys])
        return _bounded(keys, pa.concat_arrays([mine.values, theirs.values]), count)

    def below(self, key: np.uint64) -> Sample:
        """Keep the values whose key is less than ``key``."""
        chosen = np.flatnonzero(self.keys < key)
        return Sample(self.keys[chosen], self.values.take(arrow_array(chosen)), self.count)

    @property
    def is_exact(self) -> bool:
        """Whether all values are kept."""
        return len(self.keys) == self.count

    def quantiles(self, shares: Sequence[float]) -> list[pa.Scalar]:
        """Return for each share the least value that so many of the values do not exceed."""
        if not len(self.values):
            return []
        kind = self.values.type
        keys = self.values.cast(pa.int64()) if pa.types.is_duration(kind) else self.values
        ordered = self.values.take(pc.array_sort_indices(keys))
        last = len(ordered) - 1
        indexes = [math.ceil(share * len(ordered)) - 1 for share in shares]
        return [ordered[min(max(index, 0), last)] for index in indexes]


def _bounded(keys: npt.NDArray[np.uint64], values: pa.Array, count: int) -> Sample:
    if len(keys) <= SIZE:
        return Sample(keys, values, count)
    chosen = np.sort(np.argpartition(keys, SIZE)[:SIZE])
    return Sample(keys[chosen], values.take(arrow_array(chosen)), count)
