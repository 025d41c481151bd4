from __future__ import annotations

import pyarrow as pa
import pytest

from paimonlab.errors import ColumnNotFoundError, DataError, UnsupportedError
from paimonlab.spec.schema.definition import Schema, TableSchema, new_table_schema
from paimonlab.spec.types.data_types import DataField
from paimonlab.write.frames import batches_of
from paimonlab.write.rows import align


@pytest.fixture
def schema() -> TableSchema:
    definition = Schema({"id": "INT", "v": "STRING"}, primary_keys=("id",), options={"bucket": "1"})
    return new_table_schema(definition, time_millis=0)


def test_columns_come_in_schema_order_with_the_kind_behind(schema: TableSchema) -> None:
    batch = pa.record_batch({"v": ["a"], "id": [1]})

    rows = align(batch, schema, table="db.t")

    assert rows.schema.names == ["id", "v", "_VALUE_KIND"]
    assert rows.to_pylist() == [{"id": 1, "v": "a", "_VALUE_KIND": 0}]


@pytest.mark.parametrize(
    "kinds",
    [
        pa.array(["+I", "-U", "+U", "-D"]),
        pa.array(["+I", "-U", "+U", "-D"], pa.large_string()),
        pa.array(["+I", "-U", "+U", "-D"]).dictionary_encode(),
        pa.array([0, 1, 2, 3]),
        pa.array([0, 1, 2, 3], pa.int8()),
    ],
)
def test_row_kinds_are_text_or_numbers(schema: TableSchema, kinds: pa.Array) -> None:
    batch = pa.record_batch({"id": [1, 2, 3, 4], "op": kinds})

    rows = align(batch, schema, table="db.t", row_kinds="op")

    assert rows.column("_VALUE_KIND").to_pylist() == [0, 1, 2, 3]
    assert rows.column("v").null_count == 4


@pytest.mark.parametrize(
    "kinds", [pa.array(["I"]), pa.array([4]), pa.array([-1]), pa.array([None], pa.int8()),
              pa.array([1.0])],
)  # fmt: skip
def test_other_row_kinds_are_refused(schema: TableSchema, kinds: pa.Array) -> None:
    with pytest.raises(DataError, match=r"db\.t: column 'op' is the row kind"):
        align(pa.record_batch({"id": [1], "op": kinds}), schema, table="db.t", row_kinds="op")


def test_a_missing_row_kind_column_is_an_error(schema: TableSchema) -> None:
    with pytest.raises(ColumnNotFoundError, match="'op'"):
        align(pa.record_batch({"id": [1]}), schema, table="db.t", row_kinds="op")


def test_deletes_need_a_primary_key() -> None:
    schema = new_table_schema(Schema({"id": "INT"}), time_millis=0)

    with pytest.raises(DataError, match="no primary key"):
        align(pa.record_batch({"id": [1], "op": ["-D"]}), schema, table="db.t", row_kinds="op")


def test_a_missing_column_takes_its_default(schema: TableSchema) -> None:
    fields = (*schema.fields[:1], DataField(1, "v", schema.fields[1].type, None, "unknown"))
    with_default = TableSchema(0, fields, 1, (), ("id",), {"bucket": "1"})

    rows = align(pa.record_batch({"id": [1, 2]}), with_default, table="db.t")

    assert rows.column("v").to_pylist() == ["unknown", "unknown"]


def test_a_default_that_cannot_be_read_is_refused(schema: TableSchema) -> None:
    fields = (*schema.fields[1:], DataField(0, "id", schema.fields[0].type, None, "1 + 1"))
    with_default = TableSchema(0, fields, 1)

    with pytest.raises(UnsupportedError, match=r"'1 \+ 1'"):
        align(pa.record_batch({"v": ["x"]}), with_default, table="db.t")


def test_what_speaks_no_arrow_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="cannot write a set"):
        batches_of({1, 2}, ["id"], table="db.t")
