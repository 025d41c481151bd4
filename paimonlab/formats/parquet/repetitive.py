"""Which columns of Parquet files get dictionaries by their values."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

FEW_ROWS = 1024
"""Rows below which compression alone finds what repeats, at less than the price of a dictionary."""
_SAMPLE_ROWS = 8192
_LEAST_SAMPLE_ROWS = 256
_SAMPLE_BYTES = 8 << 20
"""Rows that are looked at, and bytes of them, about."""
_SAMPLED_FILES = 4


def repetitive_columns(tables: Sequence[pa.Table]) -> tuple[str, ...]:
    """Name the columns of which at most half of a sample of each file are distinct.

    A dictionary makes them small and quick to read; of other columns it would only cost
    time. Nested columns and booleans go without.

    Parameters
    ----------
    tables
        The rows of files with the same columns; the largest few are looked at.
    """
    largest = sorted(tables, key=lambda table: -table.num_rows)[:_SAMPLED_FILES]
    samples = [_sample(table, len(largest)) for table in largest if table.num_rows]
    if not samples:
        return ()
    rows = sum(sample.num_rows for sample in samples)
    return tuple(
        field.name
        for number, field in enumerate(samples[0].schema)
        if may_have_dictionary(field.type)
        and 2 * sum(_count_distinct(sample.column(number)) for sample in samples) <= rows
    )


def may_have_dictionary(type_: pa.DataType) -> bool:
    """Whether values of a type can be in a dictionary."""
    return not (pa.types.is_nested(type_) or pa.types.is_boolean(type_))


def _count_distinct(values: pa.ChunkedArray) -> int:
    count: int = pc.count_distinct(values, mode="all").as_py()
    return count


def _sample(table: pa.Table, shares: int) -> pa.Table:
    by_bytes = _SAMPLE_BYTES * table.num_rows // max(table.nbytes, 1) // shares
    return table.slice(0, min(max(by_bytes, _LEAST_SAMPLE_ROWS), _SAMPLE_ROWS // shares))
