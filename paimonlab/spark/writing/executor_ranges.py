"""Which range of an order each row belongs to, told on an executor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.compact.ordering.ranges import Ranges
from paimonlab.spark.writing.executor_assign import SHARE_COLUMN


@dataclass(frozen=True, slots=True)
class RangeOfRows:
    """Adds `SHARE_COLUMN`, the number of a row's range (int32)."""

    ranges: Ranges

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the batches with the column."""
        for batch in batches:
            numbers = self.ranges.numbers(batch).astype(np.int32)
            yield batch.append_column(SHARE_COLUMN, arrow_array(numbers))
