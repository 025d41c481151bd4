"""A read as a lazy frame of polars."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from paimonlab.interrupts import whole_module

if TYPE_CHECKING:
    import polars as pl

Read: TypeAlias = Callable[
    [Sequence[str] | None, int | None, "pl.Expr | None"], pa.RecordBatchReader
]
"""Streams these columns, or more; None: all. At most so many rows; None: all. Rows for which the
condition is not true may be left out."""


def lazy_frame(schema: pa.Schema, read: Read) -> pl.LazyFrame:
    """Let polars ask for columns, rows for which a condition is true, and so many of them.

    Parameters
    ----------
    schema
        Of all columns.
    read
        Called by each query of the frame.
    """
    polars = whole_module("polars")
    whole_module("polars.io.plugins")

    def batches(
        with_columns: list[str] | None,
        predicate: pl.Expr | None,
        n_rows: int | None,
        _batch_size: int | None,
    ) -> Iterator[pl.DataFrame]:
        needed = None if with_columns is None else _needed(with_columns, predicate)
        left = n_rows
        for batch in read(needed, n_rows if predicate is None else None, predicate):
            frame = polars.from_arrow(batch)
            if predicate is not None:
                frame = frame.filter(predicate)
            if with_columns is not None:
                frame = frame.select(with_columns)
            if left is not None:
                frame = frame.head(left)
                left -= frame.height
            yield frame
            if left == 0:
                return

    whole = polars.from_arrow(schema.empty_table()).schema
    frame: pl.LazyFrame = polars.io.plugins.register_io_source(batches, schema=whole)
    return frame


def _needed(columns: Sequence[str], predicate: pl.Expr | None) -> list[str]:
    roots = [] if predicate is None else predicate.meta.root_names()
    return list(dict.fromkeys([*columns, *roots]))
