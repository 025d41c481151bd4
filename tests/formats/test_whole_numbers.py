from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from paimonlab.formats.parquet.whole_numbers import as_whole_numbers, with_whole_numbers


@pytest.mark.parametrize("start", [0, 3, 8, 13])
@pytest.mark.parametrize(("digits", "kind"), [(9, pa.int32()), (18, pa.int64())])
def test_decimals_become_their_unscaled_values(start: int, digits: int, kind: pa.DataType) -> None:
    largest = 10**digits - 1
    numbers = [largest, None, -largest, 0, None, -1, 12] * 5
    values = pa.array(
        [None if one is None else Decimal(one).scaleb(-2) for one in numbers],
        pa.decimal128(digits, 2),
    )
    rows = pa.table({"m": pa.chunked_array([values.slice(start, 9), values.slice(start + 9)])})
    schema = with_whole_numbers(rows.schema)

    whole = as_whole_numbers(rows, schema)

    assert schema.field("m").type == kind
    assert whole["m"].to_pylist() == numbers[start:]
    whole.validate(full=True)


def test_other_columns_are_left_as_they_are() -> None:
    rows = pa.table({"wide": pa.array([Decimal(1)], pa.decimal128(19, 0)), "i": [1]})

    assert with_whole_numbers(rows.schema) == rows.schema
