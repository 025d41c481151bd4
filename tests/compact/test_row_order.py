from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from paimonlab.compact.ordering.external_sort import RowSource, sorted_rows
from paimonlab.compact.ordering.order_words import ordered_bytes, ordered_words
from paimonlab.compact.ordering.row_order import OrderType, RowOrder
from paimonlab.errors import ColumnNotFoundError, SchemaError
from paimonlab.spec.schema.definition import Schema, new_table_schema
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import parse_type

VALUES: list[tuple[str, list[Any]]] = [
    ("BOOLEAN", [None, False, True]),
    ("TINYINT", [None, -128, -1, 0, 1, 127]),
    ("INT", [None, -(2**31), -1, 0, 1, 2**31 - 1]),
    ("BIGINT", [None, -(2**63) + 1, -1, 0, 1, 2**63 - 1]),
    ("FLOAT", [None, float("-inf"), -1.5, -1e-30, 0.0, 1e-30, 1.5, float("inf")]),
    ("DOUBLE", [None, -1e300, -1.5, 0.0, 1.5, 1e300, float("inf")]),
    ("DECIMAL(10, 2)", [None, Decimal("-99.50"), Decimal("-0.01"), Decimal(0), Decimal("99.49")]),
    ("DECIMAL(38, 2)", [None, Decimal(-(10**35)), Decimal(-(10**30)), Decimal(0), Decimal(10**35)]),
    ("DATE", [None, dt.date(1900, 1, 1), dt.date(1970, 1, 1), dt.date(2026, 1, 1)]),
    ("TIME(3)", [None, dt.time(0), dt.time(1, 2, 3), dt.time(23, 59)]),
    ("TIMESTAMP(6)", [None, dt.datetime(1900, 1, 1), dt.datetime(2026, 1, 1)]),
    ("TIMESTAMP(3) WITH LOCAL TIME ZONE", [None, dt.datetime(1960, 1, 1), dt.datetime(2026, 1, 1)]),
    ("STRING", [None, "a", "aa", "b", "ba", "é", "日本"]),
    ("BYTES", [None, b"\x01", b"\x01\x02", b"\x7f", b"\x80", b"\xff"]),
]


def field(type_text: str, name: str = "a", id: int = 0) -> DataField:
    return DataField(id, name, parse_type(type_text))


@pytest.mark.parametrize(("type_text", "values"), VALUES, ids=[text for text, _ in VALUES])
def test_words_order_as_values_do(type_text: str, values: list[Any]) -> None:
    column = pa.array([None, *values], to_arrow(parse_type(type_text))).slice(1)

    words = ordered_words(column, field(type_text))

    assert words.tolist() == sorted(words.tolist())
    assert len(set(words.tolist())) >= len(values)
    assert words[0] == 0


def test_texts_are_cut_and_filled() -> None:
    column = pa.array(["abcdef", "a", "", None])

    assert [row.tobytes() for row in ordered_bytes(column, field("STRING"), 3)] == [
        b"abc",
        b"a\0\0",
        b"\0\0\0",
        b"\0\0\0",
    ]
    assert ordered_bytes(column.slice(0, 0), field("STRING"), 3).shape == (0, 3)


def test_the_order_fits_the_number_of_columns() -> None:
    found = [OrderType.of("auto", count).value for count in (1, 2, 4, 5)]

    assert found == ["order", "zorder", "zorder", "hilbert"]
    assert OrderType.of("hilbert", 2) is OrderType.HILBERT


def test_what_cannot_be_ordered_by_is_an_error() -> None:
    columns = {"p": "INT", "a": "INT", "s": "ARRAY<INT>"}
    schema = new_table_schema(Schema(columns, partition_keys=["p"]), time_millis=0)

    for names, strategy, error in [
        (["x"], None, ColumnNotFoundError),
        (["s"], None, SchemaError),
        (["p"], None, SchemaError),
        (["a"], "hilbert", ValueError),
        (["a"], "sideways", ValueError),
        (["a", "a"], None, ValueError),
        ([], None, ValueError),
        ("a", None, TypeError),
    ]:
        with pytest.raises(error):
            RowOrder.by(names, strategy, schema, table="db.t")


def rows(count: int, rng: np.random.Generator) -> pa.Table:
    return pa.table(
        {
            "a": pa.array(rng.permutation(count), pa.int64()),
            "b": pa.array([None if n % 7 == 0 else f"text {n % 13}" for n in range(count)]),
        }
    )


@pytest.mark.parametrize("type_", list(OrderType))
@pytest.mark.parametrize("memory_bytes", [1 << 30, 20_000, 4000])
def test_more_rows_than_memory_are_sorted(
    type_: OrderType, memory_bytes: int, rng: np.random.Generator, tmp_path: Path
) -> None:
    table = rows(5000, rng)
    fields = (field("BIGINT", "a", 0), field("STRING", "b", 1))
    order = RowOrder(fields, type_)
    batches = table.to_batches(max_chunksize=300)

    def read(names: Any) -> list[pa.RecordBatch]:
        return batches if names is None else [batch.select(names) for batch in batches]

    parts = list(
        sorted_rows(
            RowSource(read=read, row_count=5000),
            order,
            memory_bytes=memory_bytes,
            rng=rng,
            folder=str(tmp_path),
        )
    )

    found = pa.concat_tables(parts)
    assert found.sort_by("a").equals(table.sort_by("a"))
    assert list(tmp_path.iterdir()) == []
    # With more memory than rows the sample is all rows, as here.
    if type_ is OrderType.ORDER or len(parts) == 1:
        keys = order.fitted(table).keys(found.combine_chunks())
        assert (keys[:-1] <= keys[1:]).all()


def test_rows_alike_are_sorted_in_parts(rng: np.random.Generator) -> None:
    batch = pa.record_batch({"a": pa.array([7] * 1000, pa.int64())})
    order = RowOrder((field("BIGINT"),), OrderType.ORDER)
    source = RowSource(read=lambda _: [batch] * 5, row_count=5000)

    parts = list(sorted_rows(source, order, memory_bytes=10_000, rng=rng))

    assert sum(map(len, parts)) == 5000
    assert len(parts) > 1


def test_no_rows_are_in_order(rng: np.random.Generator) -> None:
    order = RowOrder((field("BIGINT"),), OrderType.ORDER)

    found = sorted_rows(RowSource(read=lambda _: [], row_count=0), order, memory_bytes=1, rng=rng)

    assert list(found) == []


def test_temporary_files_go_when_nobody_reads_on(rng: np.random.Generator, tmp_path: Path) -> None:
    batches = rows(5000, rng).to_batches(max_chunksize=300)
    order = RowOrder((field("BIGINT"),), OrderType.ORDER)

    def read(names: Any) -> list[pa.RecordBatch]:
        return batches if names is None else [batch.select(names) for batch in batches]

    found = sorted_rows(
        RowSource(read=read, row_count=5000),
        order,
        memory_bytes=5000,
        rng=rng,
        folder=str(tmp_path),
    )
    next(found)
    assert list(tmp_path.iterdir())
    found.close()

    assert list(tmp_path.iterdir()) == []
