"""Rows that are surely small, handed to Python tasks without Spark's look at their bytes.

Spark asks after each row how many bytes a batch has by now, so that it does not outgrow
``spark.sql.execution.arrow.maxBytesPerBatch``. It asks every column of the batch, which takes half
and more of the time that the JVM needs for a write. Where each row is known to have at most its
share of these bytes a batch of ``maxRecordsPerBatch`` rows cannot outgrow them, and Spark is told
not to ask. The lengths of texts are looked at on the way; a task that meets a longer row stops, and
the rows are written again with Spark's look.

Source: apache/spark@v4.3.0 ``BatchedPythonArrowInput.writeSizedBatch``; ``SQLExecution`` for what
of a session's settings reaches tasks as properties of the job.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, TypeVar

from pyspark.sql import Column, DataFrame, functions
from pyspark.sql.types import (
    BooleanType,
    DataType,
    DateType,
    NumericType,
    StringType,
    TimestampNTZType,
    TimestampType,
)

from paimonlab.spark.values.quoting import quoted
from paimonlab.spark.writing.executor_small_rows import (
    LONG_COLUMN,
    LongRowError,
    SmallRows,
    Task,
)
from paimonlab.table.inside import store_of

if TYPE_CHECKING:
    from paimonlab.spark.jvm.bridge import Bridge
    from paimonlab.table.table import Table

_BYTES_OF_BATCH = "spark.sql.execution.arrow.maxBytesPerBatch"
ANY_BYTES = (1 << 31) - 1
"""Of a batch: Spark does not look then."""
_VALUE_BYTES = 17
"""The longest value of a type of one size, and whether it is null."""
_TEXT_BYTES = 9
"""What a text takes besides its bytes."""
_LEAST_BYTES = 1 << 10
"""Texts of a row may have at least so many, or all rows may well be long."""
_FEW_BYTES = 1 << 20
"""Of so few bytes, as Spark estimates them, a look takes less time than to go without."""
_PYTHON = ("InArrow", "InPandas", "PySpark", "Python")
"""Words in the names of plans that hand rows of other sizes to Python."""
_ONE_SIZE = (BooleanType, DateType, NumericType, TimestampNTZType, TimestampType)
_MOST_NAMES = 1_000
_with_long: dict[str, None] = {}
"""Folders of tables that long rows were written to: the next ones may be long, too."""

Result = TypeVar("Result")


def in_batches(
    bridge: Bridge,
    rows: DataFrame,
    table: Table,
    write: Callable[[DataFrame, Callable[[Task], Task]], Result],
) -> Result:
    """Write rows, at first without Spark's look at bytes if they may be small.

    Parameters
    ----------
    bridge
        The session.
    rows
        What is written.
    table
        Where they go to.
    write
        Takes rows, and what its task is to be put into; what it wrote is undone if it raises.
    """
    folder = store_of(table).layout.branch_path
    small = None
    if folder not in _with_long and optimized_bytes(rows) > _FEW_BYTES:
        small = marked(bridge, rows)
    if small is not None:
        try:
            with batches_of_any_size(bridge):
                return write(small, SmallRows)
        except LongRowError:
            if len(_with_long) >= _MOST_NAMES:
                _with_long.clear()
            _with_long[folder] = None
    return write(rows, lambda task: task)


def marked(bridge: Bridge, rows: DataFrame) -> DataFrame | None:
    """Mark long rows by `LONG_COLUMN`; None: Spark has to look at the bytes of batches.

    Parameters
    ----------
    bridge
        The session.
    rows
        What a Python task takes.
    """
    row_bytes = bytes_of_row(bridge)
    if row_bytes >= ANY_BYTES or bridge.conf.contains(_BYTES_OF_BATCH):
        return None  # a setting of the session takes the place of a job's
    fields = rows.schema.fields
    if any(field.name.lower() == LONG_COLUMN for field in fields):
        return None
    most = most_text_bytes([field.dataType for field in fields], row_bytes)
    if most is None:
        return None
    texts = [field.name for field in fields if isinstance(field.dataType, StringType)]
    length = reduce(add, map(_length, texts), functions.lit(0))
    found = rows.withColumn(LONG_COLUMN, length > most)
    if texts:
        is_short = ~functions.col(LONG_COLUMN)
        found = found.withColumns(
            {name: functions.when(is_short, functions.col(quoted(name))) for name in texts}
        )
    plan = str(found._jdf.queryExecution().optimizedPlan().toString())
    return None if any(word in plan for word in _PYTHON) else found


def bytes_of_row(bridge: Bridge) -> int:
    """Return how many bytes a row may have so that no batch outgrows its bytes; maybe any."""
    records = int(bridge.conf.arrowMaxRecordsPerBatch())
    batch_bytes = int(bridge.conf.arrowMaxBytesPerBatch())
    if records <= 0 or batch_bytes >= ANY_BYTES:
        return ANY_BYTES
    return batch_bytes // records


def most_text_bytes(types: Sequence[DataType], row_bytes: int) -> int | None:
    """Return how many bytes the texts of a row may have; None: it cannot be said to be small.

    Examples
    --------
    >>> from pyspark.sql.types import BinaryType, LongType, StringType
    >>> most_text_bytes([LongType(), StringType()], 6_000)
    5974
    >>> most_text_bytes([LongType(), BinaryType()], 6_000)
    """
    texts = sum(isinstance(one, StringType) for one in types)
    values = sum(isinstance(one, _ONE_SIZE) for one in types)
    most = row_bytes - values * _VALUE_BYTES - texts * _TEXT_BYTES
    is_known = texts + values == len(types)
    return most if is_known and most >= (_LEAST_BYTES if texts else 0) else None


@contextmanager
def batches_of_any_size(bridge: Bridge) -> Iterator[None]:
    """Let Spark not look at the bytes of batches in jobs of this thread."""
    context = bridge.spark.sparkContext
    before = context.getLocalProperty(_BYTES_OF_BATCH)
    context.setLocalProperty(_BYTES_OF_BATCH, str(ANY_BYTES))
    try:
        yield
    finally:
        context.setLocalProperty(_BYTES_OF_BATCH, before)  # type: ignore[arg-type]  # None removes


def _length(name: str) -> Column:
    length = functions.octet_length(functions.col(quoted(name))).cast("bigint")
    return functions.coalesce(length, functions.lit(0))


def optimized_bytes(rows: DataFrame) -> int:
    """Return how many bytes rows have, as Spark estimates it of what it will run."""
    return int(str(rows._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()))
