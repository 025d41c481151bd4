"""Rows that wait in ``bucket-postpone``: written as Java does, seen by nobody."""

from __future__ import annotations

import re
from pathlib import Path

import fastavro
import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import SchemaError


def test_rows_wait_as_they_came(catalog: pl.Catalog) -> None:
    table = catalog.create_table(
        "db.t", {"k": "INT", "v": "STRING"}, primary_keys=["k"], options={"bucket": "-2"}
    )
    rows = pa.table({"k": pa.array([3, 1, 3], pa.int32()), "v": ["a", None, "b"],
                     "kind": ["+I", "-D", "+U"]})  # fmt: skip
    writer = table.new_writer(user="me")
    writer.write(rows, row_kinds="kind")
    table.commit(writer.prepare_commit(), user="me")

    assert table.scan().count() == 0
    (path,) = Path(table.path, "bucket-postpone").iterdir()
    assert re.fullmatch(r"data--u-me-s-\d+-w-[0-9a-f-]{36}-0\.avro", path.name)
    with path.open("rb") as file:
        found = [tuple(row.values()) for row in fastavro.reader(file) if isinstance(row, dict)]
    assert found == [(3, -1, 0, 3, "a"), (1, -1, 3, 1, None), (3, -1, 2, 3, "b")]
    (row,) = catalog.system_table("db.t$buckets").scan().to_arrow().to_pylist()
    assert (row["bucket"], row["record_count"]) == (-2, 3)


def test_only_rows_with_a_key_can_wait(catalog: pl.Catalog) -> None:
    with pytest.raises(SchemaError, match="primary key"):
        catalog.create_table("db.t", {"k": "INT"}, options={"bucket": "-2"})
