"""Sums over files, beside those of pyarrow."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimonlab.scan.file_totals import distinct, totals

COLUMNS = {
    "partition": pa.large_binary(),
    "bucket": pa.int32(),
    "row_count": pa.int64(),
    "file_size_bytes": pa.int64(),
    "file_name": pa.large_string(),
    "creation_time_millis": pa.int64(),
    "total_buckets": pa.int32(),
}
ROWS = st.lists(
    st.tuples(
        st.sampled_from([b"a", b"b", b""]),
        st.integers(-2, 1),
        st.integers(0, 2**40),
        st.integers(0, 9),
        st.just("f"),
        st.none() | st.integers(-5, 5),
        st.integers(1, 3),
    ),
    max_size=12,
)


@pytest.mark.parametrize("keys", [["partition"], ["partition", "bucket"]])
@given(ROWS, st.booleans())
def test_sums_are_those_of_pyarrow(
    keys: list[str], rows: list[tuple[Any, ...]], in_chunks: bool
) -> None:
    files = _table(rows, in_chunks=in_chunks)
    expected = files.group_by(keys, use_threads=False).aggregate(
        [
            ("row_count", "sum"),
            ("file_size_bytes", "sum"),
            ("file_name", "count"),
            ("creation_time_millis", "max"),
            ("total_buckets", "last"),
        ]
    )

    sums = totals(files, keys)

    assert _sorted(sums) == _sorted(expected)
    if len(keys) == 1:
        assert sums["partition"].to_pylist() == expected["partition"].to_pylist()


@given(ROWS)
def test_each_value_is_told_once(rows: list[tuple[Any, ...]]) -> None:
    found = distinct(_table(rows, in_chunks=False), ["partition", "total_buckets"])

    values = _sorted(found)
    assert values == sorted({(row[0], row[6]) for row in rows})


def _table(rows: list[tuple[Any, ...]], *, in_chunks: bool) -> pa.Table:
    schema = pa.schema(COLUMNS)
    pieces = [[row] for row in rows] if in_chunks else [rows]
    tables = [
        pa.table(
            {
                name: pa.array([row[number] for row in piece], type_)
                for number, (name, type_) in enumerate(COLUMNS.items())
            }
        )
        for piece in pieces
    ]
    return pa.concat_tables(tables) if tables else schema.empty_table()


def _sorted(table: pa.Table) -> list[tuple[Any, ...]]:
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return sorted(rows, key=lambda row: tuple((value is None, value) for value in row))
