"""Values that an update gives: constants, columns and expressions, of the column's type."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab
from paimonlab.errors import ColumnNotFoundError, DataError, SchemaError, UnsupportedError
from tests.table.changing.changed_tables import VECTORS, junk, new_table


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("n + 1", 8),
        (5, 5),
        (None, None),
        (paimonlab.col("t"), 3),
        ("CASE WHEN n > 5 THEN t ELSE 0 END", 3),
    ],
)
def test_values_are_texts_constants_or_columns(
    given: object, wanted: object, tmp_path: Path
) -> None:
    table = new_table(tmp_path, {}, {"n": "INT", "t": "TINYINT"})
    table.write(pa.table([[7], [3]], schema=table.arrow_schema))

    table.update({"n": given})

    assert table.scan(["n"]).to_arrow().to_pylist() == [{"n": wanted}]


MOMENT = dt.datetime(2024, 2, 29, 12, 30)


@pytest.mark.parametrize(
    ("column_type", "given", "wanted"),
    [
        ("DATE", "DATE '2024-02-29'", dt.date(2024, 2, 29)),
        ("DATE", dt.date(2024, 2, 29), dt.date(2024, 2, 29)),
        ("TIMESTAMP(6)", "TIMESTAMP '2024-02-29 12:30:00'", MOMENT),
        ("TIMESTAMP(3)", MOMENT, MOMENT),
        ("DECIMAL(5, 2)", "1.005", Decimal("1.01")),
        ("DECIMAL(5, 2)", Decimal("1.5"), Decimal("1.50")),
        ("BYTES", b"ab", b"ab"),
        ("BYTES", "X'6162'", b"ab"),
        ("BOOLEAN", "1 < 2", True),
        ("BOOLEAN", paimonlab.col("k") == 1, True),
        ("STRING", "k", "1"),
        ("DOUBLE", "1 / 4", 0.25),
        ("TINYINT", "k + 126", 127),
    ],
)
def test_values_become_those_of_the_column(
    column_type: str, given: object, wanted: object, tmp_path: Path
) -> None:
    table = new_table(tmp_path, {}, {"k": "INT", "c": column_type})
    table.write(pa.table({"k": pa.array([1], pa.int32())}))

    table.update({"c": given})

    assert table.scan(["c"]).to_arrow().to_pylist() == [{"c": wanted}]


@pytest.mark.parametrize(
    ("assignments", "error", "words"),
    [
        ({"n": "n + 2147483647"}, DataError, "overflow"),
        ({"n": "1 / (n - 7)"}, DataError, "division by zero"),
        ({"t": "n * 100"}, DataError, "t"),
        ({"m": "m * 100"}, DataError, "m"),
        ({"r": "NULL"}, DataError, "NOT NULL"),
        ({"n": "'text'"}, UnsupportedError, "CAST"),
        ({"n": 1.5}, DataError, "n"),
        ({"n": "x + 1"}, ColumnNotFoundError, "x"),
        ({"x": "1"}, ColumnNotFoundError, "x"),
        ({"n": "n +"}, SchemaError, "expression"),
        ({"s": "reverse(s)"}, UnsupportedError, "reverse"),
        ({"s": "my_function(s)"}, UnsupportedError, "my_function"),
        ({}, ValueError, "at least one"),
    ],
)
def test_what_has_no_value_is_an_error_and_changes_nothing(
    assignments: dict[str, object], error: type[Exception], words: str, tmp_path: Path
) -> None:
    columns = {"n": "INT", "t": "TINYINT", "m": "DECIMAL(4, 2)", "s": "STRING", "r": "INT NOT NULL"}
    table = new_table(tmp_path, VECTORS, columns)
    table.write(
        pa.table(
            [[7, 1], [3, 4], [Decimal("1.25")] * 2, ["a", "b"], [0, 0]], schema=table.arrow_schema
        )
    )

    with pytest.raises(error, match=words):
        table.update(assignments)

    assert table.snapshot is not None
    assert table.snapshot.id == 1
    assert junk(table) == []
