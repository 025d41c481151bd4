from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from paimonlab.errors import DataError
from paimonlab.ingest.changes import RowChanges, SourceColumn, SourceSchema, Unreadable, kinds_of
from paimonlab.spec.row_kind import RowKind
from paimonlab.spec.types.text import parse_type

SCHEMA = SourceSchema(
    columns=(
        SourceColumn(name="id", type=parse_type("BIGINT NOT NULL"), source_type="bigint(20)"),
        SourceColumn(name="at", type=parse_type("TIMESTAMP(6)")),
    ),
    primary_keys=("id",),
)


def _rows(*ids: int, **types: pa.DataType) -> pa.RecordBatch:
    id_type, at_type = types.get("id", pa.int64()), types.get("at", pa.timestamp("us"))
    columns = [pa.array(ids, id_type), pa.nulls(len(ids), at_type)]
    return pa.record_batch(columns, names=["id", "at"])


def test_a_schema_says_which_arrow_types_its_rows_have() -> None:
    assert SCHEMA.names == ("id", "at")
    assert SCHEMA.arrow_schema.types == [pa.int64(), pa.timestamp("us")]
    assert not SCHEMA.arrow_schema.field("id").nullable
    assert [str(column) for column in SCHEMA.columns] == ["id BIGINT NOT NULL", "at TIMESTAMP(6)"]
    assert SCHEMA.column("at") == SCHEMA.columns[1]
    assert SCHEMA.column("AT") is None


def test_rows_without_kinds_are_inserts() -> None:
    changes = RowChanges(table="d.t", rows=_rows(1, 2), schema=SCHEMA)

    assert changes.is_insert_only
    assert changes.size_bytes == changes.rows.nbytes


def test_what_is_known_of_each_row_counts_as_memory() -> None:
    kinds, positions = kinds_of(RowKind.DELETE, 2), pa.array([7, 8])
    changes = RowChanges(
        table="d.t",
        rows=_rows(1, 2),
        schema=SCHEMA,
        kinds=kinds,
        positions=positions,
        metadata={"op_ts": pa.array([1, 2])},
    )

    assert not changes.is_insert_only
    assert changes.size_bytes == changes.rows.nbytes + 2 + 16 + 16


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"rows": _rows(1).select(["id"])}, r"columns \['id'\], its schema says \['id', 'at'\]"),
        ({"rows": _rows(1, id=pa.int32())}, "column 'id' as int32, its schema says int64"),
        ({"kinds": pa.array([0])}, "kinds of rows are int64, not int8"),
        ({"kinds": kinds_of(RowKind.INSERT, 2)}, "1 rows, but 2 kinds"),
        ({"positions": pa.array(["a", "b"])}, "1 rows, but 2 positions"),
        ({"metadata": {"op_ts": pa.array([], pa.int64())}}, "1 rows, but 0 op_ts"),
    ],
)
def test_rows_that_do_not_match_their_schema_are_refused(
    wrong: dict[str, Any], message: str
) -> None:
    given = {"table": "d.t", "rows": _rows(1), "schema": SCHEMA}

    with pytest.raises(DataError, match=message):
        RowChanges(**(given | wrong))


def test_broken_records_are_counted() -> None:
    broken = Unreadable(table=None, errors=pa.array(["no JSON"]), raw=pa.array([b"{"]))

    assert broken.count == 1
