"""Which values occur most often.

Source: J. Misra, D. Gries, "Finding repeated elements", 1982; that summaries can be added is
shown in P. Agarwal and others, "Mergeable summaries", 2012.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, arrow_scalar, numpy_values

SIZE = 2_000
"""Values that are counted at a time."""
LONGEST_BYTES = 256
"""Longer texts are not counted: memory is bounded."""
_LONGEST = arrow_scalar(LONGEST_BYTES)


@dataclass(frozen=True, slots=True)
class Frequent:
    """Counts of values, exact while there are at most `SIZE` different ones."""

    values: pa.Array
    """Each once."""
    counts: pa.Array
    """int64; a value occurs at least so often, and at most `error` times more."""
    error: int = 0
    long_count: int = 0
    """Texts longer than `LONGEST_BYTES`."""

    @staticmethod
    def of(values: pa.Array) -> Frequent:
        """Count values without nulls."""
        kind, long = values.type, 0
        if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind):
            short = values.filter(pc.less_equal(pc.binary_length(values), _LONGEST))
            values, long = short, len(values) - len(short)
        counted = values.value_counts()
        return replace(
            _bounded(counted.field("values"), counted.field("counts"), 0), long_count=long
        )

    def __add__(self, other: Frequent) -> Frequent:
        # Not by Table.group_by: pyarrow would load its datasets, and with them pandas.
        both = pa.concat_arrays([self.values, other.values]).dictionary_encode()
        counts = np.zeros(len(both.dictionary), np.int64)
        for_each = pa.concat_arrays([self.counts, other.counts])
        np.add.at(counts, numpy_values(both.indices), numpy_values(for_each))
        values = both.dictionary
        merged = _bounded(values, arrow_array(counts), self.error + other.error)
        return replace(merged, long_count=self.long_count + other.long_count)

    def top(self, number: int) -> list[tuple[pa.Scalar, int]]:
        """Return the most frequent values, without those whose counts say nothing.

        Those are what occurs once, and counts that are not above their own `error`. More
        frequent ones come first, equally frequent ones in their own order.
        """
        is_repeated = pc.greater(self.counts, arrow_scalar(max(self.error, 1)))
        values, counts = self.values.filter(is_repeated), self.counts.filter(is_repeated)
        keys = values.cast(pa.int64()) if pa.types.is_duration(values.type) else values
        rows = pa.table({"count": counts, "value": keys})
        order = pc.sort_indices(rows, sort_keys=[("count", "descending"), ("value", "ascending")])
        order = order[:number]
        return list(zip(values.take(order), counts.take(order).to_pylist(), strict=True))


def _bounded(values: pa.Array, counts: pa.Array, error: int) -> Frequent:
    counts = counts.cast(pa.int64())
    if len(counts) <= SIZE:
        return Frequent(values, counts, error)
    order = pc.array_sort_indices(counts, order="descending")[: SIZE + 1]
    values, counts = values.take(order), counts.take(order)
    cut = counts[SIZE].as_py()
    counts = pc.subtract(counts, arrow_scalar(cut))
    is_left = pc.greater(counts, arrow_scalar(0))
    return Frequent(values.filter(is_left), counts.filter(is_left), error + cut)
