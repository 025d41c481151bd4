"""Rows to Python tasks as Arrow batches, whatever their columns are called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame
from pyspark.sql.types import StructType

from paimonlab.spark.values.quoting import quoted

_PARSED = frozenset("`.")
"""What means something in a name that PySpark parses."""


class _ByName(ClassicDataFrame):
    """Finds columns by their names as they are; PySpark parses names."""

    def __getitem__(self, item: Any) -> Column | DataFrame:  # type: ignore[override]
        return super().__getitem__(quoted(item))


def map_in_arrow(
    rows: DataFrame,
    task: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]],
    schema: StructType | str,
) -> DataFrame:
    """Do what ``DataFrame.mapInArrow`` does, also where a name has a backtick or a dot."""
    if any(not _PARSED.isdisjoint(name) for name in rows.columns):
        rows = _ByName(rows._jdf, rows.sparkSession)
    return rows.mapInArrow(task, schema)
