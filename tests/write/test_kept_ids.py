"""Rows with ids and rows that are to get some, written together."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from msgspec.structs import replace

import paimonlab
from paimonlab.spec.schema.row_tracking import with_stored_tracking
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.writing.writers import new_table_writer

IDS = ("_ROW_ID", "_SEQUENCE_NUMBER")


@pytest.mark.parametrize("stats", ["full", "none"])
def test_only_rows_without_ids_use_ids_up(tmp_path: Path, stats: str) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    options = {"row-tracking.enabled": "true", "metadata.stats-mode.per.level": f"0:{stats}"}
    made = {"a": "INT", "p": "INT"}
    table = catalog.create_table("db.t", made, partition_keys=["p"], options=options)
    table.write({"a": [0, 1], "p": [0, 0]})
    definition = definition_of(table)
    keeping = replace(definition, schema=with_stored_tracking(definition.schema))
    ids, numbers = pa.array([5, None, 7, None], pa.int64()), pa.array([1, None, None, None])
    columns = {"a": pa.array([5, 6, 7, 8], pa.int32()), "p": pa.array([0, 0, 1, 1], pa.int32())}
    rows = pa.table(columns | {"_ROW_ID": ids, "_SEQUENCE_NUMBER": numbers.cast(pa.int64())})

    with new_table_writer(keeping, store_of(table)) as writer:
        writer.write(rows)
        table.commit(writer.prepare_commit())

    found = sorted(map(tuple, (row.values() for row in _rows(table))))
    assert found == [(0, 0, 1), (1, 1, 1), (5, 5, 1), (6, 2, 2), (7, 7, 2), (8, 3, 2)]
    latest = table.snapshots.latest()
    assert latest is not None
    assert latest.next_row_id == 4
    files = [file for split in table.scan().plan().splits for file in split.files]
    assert sorted(file.first_row_id is None for file in files) == [False] * 3 + [True] * 2
    assert {file.write_cols for file in files if file.first_row_id is None} == {("a", "p", *IDS)}


def _rows(table: paimonlab.Table) -> list[dict[str, object]]:
    return list(table.scan(["a", *IDS]).to_arrow().to_pylist())
