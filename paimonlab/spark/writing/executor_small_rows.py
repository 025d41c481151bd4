"""What a task does with rows whose sizes are looked at on the way: it stops at a long one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa

from paimonlab.errors import PaimonError

LONG_COLUMN = "__paimon_long"
"""Column that is true in rows with long texts, which are null then; not written."""

Task: TypeAlias = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""What `DataFrame.mapInArrow` runs."""


class LongRowError(PaimonError):
    """A task met a row that is too long; its files are deleted."""


@dataclass(frozen=True, slots=True)
class SmallRows:
    """Hands rows without `LONG_COLUMN` to a task; picklable.

    The task turns a `PaimonError` of its rows into its outcome, as all tasks that write do.
    """

    task: Task

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Run the task."""
        return self.task(_without_long(batches))


def _without_long(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        if batch.column(LONG_COLUMN).true_count:
            for _ in batches:  # Spark's side must be read to its end
                pass
            raise LongRowError("a row has more bytes than its share of a batch")
        yield batch.drop_columns([LONG_COLUMN])
