from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from paimonlab.datafile.evolution import Evolution, converter
from paimonlab.errors import DataError, UnsupportedError
from paimonlab.spec.predicates.predicate import bind, col
from paimonlab.spec.types.arrow import arrow_schema, to_arrow
from paimonlab.spec.types.data_types import ArrayType, DataField, DataType, MapType, RowType
from paimonlab.spec.types.text import parse_type

TEXT = parse_type("STRING")
INT = parse_type("INT")
BIGINT = parse_type("BIGINT")


def _field(id: int, name: str, kind: DataType = INT) -> DataField:
    return DataField(id, name, kind)


def _read(old: list[DataField], new: list[DataField], rows: list[dict[str, Any]]) -> list[Any]:
    evolution = Evolution.between(old, new, table="db.t")
    batch = pa.RecordBatch.from_pylist(rows, arrow_schema(evolution.file_fields))
    result = evolution.apply(batch)
    result.validate(full=True)
    assert result.schema == arrow_schema(new)
    return result.to_pylist()


def test_a_renamed_column_keeps_its_values() -> None:
    assert _read([_field(0, "a")], [_field(0, "b")], [{"a": 1}]) == [{"b": 1}]


def test_a_column_dropped_and_added_again_is_null_in_old_files() -> None:
    old = [_field(0, "a"), _field(1, "b")]
    new = [_field(0, "a"), _field(2, "b")]

    assert _read(old, new, [{"a": 1}]) == [{"a": 1, "b": None}]


def test_swapped_names_are_told_apart_by_id() -> None:
    old = [_field(0, "a"), _field(1, "b")]
    new = [_field(0, "b"), _field(1, "a")]

    assert _read(old, new, [{"a": 1, "b": 2}]) == [{"b": 1, "a": 2}]


def test_a_retyped_column_is_cast() -> None:
    old, new = [_field(0, "a")], [_field(0, "a", TEXT)]

    assert _read(old, new, [{"a": 1}, {"a": None}]) == [{"a": "1"}, {"a": None}]


def test_a_value_that_cannot_be_cast_names_the_column() -> None:
    old, new = [_field(0, "a", TEXT)], [_field(0, "b")]

    with pytest.raises(DataError, match=r"db\.t, column b: cannot read 'x' as INT"):
        _read(old, new, [{"a": "x"}])


def test_a_cast_that_is_none_is_refused_before_reading() -> None:
    with pytest.raises(UnsupportedError, match=r"db\.t, column a: reading INT as ARRAY<INT>"):
        Evolution.between([_field(0, "a")], [_field(0, "a", ArrayType(INT))], table="db.t")


def test_no_columns_keep_the_number_of_rows() -> None:
    evolution = Evolution.between([_field(0, "a")], [], table="db.t")
    batch = pa.table({"_": pa.nulls(3)}).select([]).to_batches()[0]

    assert evolution.apply(batch).num_rows == 3


def test_a_predicate_looks_at_unchanged_columns_under_their_old_names() -> None:
    old = [_field(0, "a"), _field(1, "b"), _field(3, "d")]
    new = [_field(0, "x"), _field(1, "b", BIGINT), _field(2, "d")]
    evolution = Evolution.between(old, new, table="db.t")
    predicate = bind((col("x") == 1) & (col("b") == 2) & (col("d") == 3), new, "db.t")

    in_file = evolution.in_file(predicate)

    assert repr("a") in repr(in_file)
    assert repr("b") not in repr(in_file)
    assert repr("d") not in repr(in_file)


OLD_ROW = RowType((_field(1, "a"), _field(2, "b", TEXT)))
NEW_ROW = RowType((_field(2, "text", TEXT), _field(3, "a"), _field(1, "number", BIGINT)))


@pytest.mark.parametrize(
    ("old", "new", "given", "expected"),
    [
        (
            OLD_ROW,
            NEW_ROW,
            [{"a": 1, "b": "x"}, None, {"a": None, "b": "y"}],
            [
                {"text": "x", "a": None, "number": 1},
                None,
                {"text": "y", "a": None, "number": None},
            ],
        ),
        (ArrayType(INT), ArrayType(TEXT), [[1, None], None, []], [["1", None], None, []]),
        (
            ArrayType(OLD_ROW),
            ArrayType(NEW_ROW),
            [[{"a": 1, "b": "x"}, None], None],
            [[{"text": "x", "a": None, "number": 1}, None], None],
        ),
        (
            MapType(TEXT, INT),
            MapType(TEXT, BIGINT),
            [[("k", 1), ("l", None)], None, []],
            [[("k", 1), ("l", None)], None, []],
        ),
        (
            MapType(TEXT, OLD_ROW),
            MapType(TEXT, NEW_ROW),
            [[("k", {"a": 1, "b": "x"})]],
            [[("k", {"text": "x", "a": None, "number": 1})]],
        ),
    ],
)
def test_nested_fields_are_matched_by_id(
    old: DataType, new: DataType, given: list[Any], expected: list[Any]
) -> None:
    padded = pa.array([given[0], *given], to_arrow(old))
    for array in (pa.array(given, to_arrow(old)), padded.slice(1)):
        result = converter(old, new, "db.t, column c")(array)

        result.validate(full=True)
        assert result.type == to_arrow(new)
        assert result.to_pylist() == expected


def test_files_of_one_schema_share_what_is_made_of_it() -> None:
    old, new = (_field(0, "a"), _field(1, "b")), (_field(1, "b"), _field(2, "c"))

    first = Evolution.between(old, new, table="db.t")

    assert Evolution.between(list(old), list(new), table="db.t") is first
    # Equal columns of other schemas are looked at anew.
    other = Evolution.between((_field(0, "a"), _field(1, "b")), new, table="db.t")
    assert other is not first
    assert other == first


def test_a_cast_is_refused_where_the_local_clock_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    old = (_field(0, "a", parse_type("TIMESTAMP_LTZ(3)")),)
    new = (_field(0, "a", parse_type("TIMESTAMP(3)")),)
    monkeypatch.setattr("time.timezone", 0)
    monkeypatch.setattr("time.daylight", 0)
    Evolution.between(old, new, table="db.t")

    monkeypatch.setattr("time.timezone", -3600)

    with pytest.raises(UnsupportedError, match="time zone"):
        Evolution.between(old, new, table="db.t")
