"""Rewriting files of an append table so that their rows are in an order.

Source: apache/paimon@1.3.1 ``org.apache.paimon.spark.sort.TableSorter``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from msgspec.structs import replace

from paimonlab.compact.ordering.external_sort import RowSource, sorted_rows
from paimonlab.compact.ordering.row_order import RowOrder
from paimonlab.read.read_plan import ReadPlan
from paimonlab.read.splits import read_split
from paimonlab.scan.split import DataSplit
from paimonlab.spec.options.table_options import OptionSlice, option_field
from paimonlab.storage import FileIO


class SortingOptions(OptionSlice):
    """The table option that steers how rows are put in order."""

    memory_bytes: int = option_field("write-buffer-size", "memory", 256 << 20)
    """``write-buffer-size``: Arrow bytes of the rows sorted at once, copy included."""


@dataclass(frozen=True, slots=True)
class RowsInOrder:
    """Reads the rows of files in an order; see `RowsOf`."""

    order: RowOrder
    memory_bytes: int

    def __call__(self, split: DataSplit, plan: ReadPlan, file_io: FileIO) -> Iterator[pa.Table]:
        """Read the rows of a split; its order columns twice if not all rows fit into memory."""

        def read(names: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
            columns = plan.columns if names is None else tuple(names)
            return read_split(split, replace(plan, columns=columns), file_io)

        return sorted_rows(
            RowSource(read=read, row_count=split.least_row_count),
            self.order,
            memory_bytes=self.memory_bytes // 2,
            rng=np.random.default_rng(),
        )
