"""Reads that stop after some rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.datafile.reader import DataFile
from paimonlab.formats.parquet.input import ParquetInput

ROWS = 200_000
KEYED: dict[str, Any] = {"primary_keys": ["id"], "options": {"bucket": "2", "write-only": "true"}}
VECTORS: dict[str, Any] = {
    "primary_keys": ["id"],
    "options": {"bucket": "1", "deletion-vectors.enabled": "true"},
}
SUMS: dict[str, Any] = {
    "primary_keys": ["id"],
    "options": {"bucket": "1", "write-only": "true", "merge-engine": "aggregation"},
}


def table_of(path: Path, rows: int, definition: dict[str, Any]) -> pl.Table:
    catalog = pl.connect(path)
    catalog.create_database("db")
    columns = {"id": "BIGINT NOT NULL", "v": "STRING"}
    table = catalog.create_table("db.t", columns, **definition)
    ids = np.arange(rows)
    table.write(pa.table({"id": ids, "v": pa.array(np.char.mod("%d", ids))}))
    values = np.char.mod("%d", ids[::3])[: rows // 3]
    table.write(pa.table({"id": ids[: rows // 3], "v": pa.array(values)}))
    return table


@pytest.mark.parametrize(
    "definition", [{}, KEYED, VECTORS, SUMS], ids=["append", "keyed", "vectors", "sums"]
)
@pytest.mark.parametrize("limit", [0, 1, 7, 200, 301, 5000])
def test_a_limit_gives_as_many_rows_of_the_whole(
    tmp_path: Path, definition: dict[str, Any], limit: int
) -> None:
    table = table_of(tmp_path, 300, definition)
    whole = [tuple(row.values()) for row in table.scan().to_arrow().to_pylist()]
    for where in (None, "id >= 100"):
        wanted = [row for row in whole if where is None or row[0] >= 100]

        found = table.scan(where=where, limit=limit).to_arrow().to_pylist()

        rows = [tuple(row.values()) for row in found]
        assert len(rows) == min(limit, len(wanted))
        assert all(wanted.count(row) >= rows.count(row) for row in rows)


@pytest.mark.parametrize("definition", [{}, KEYED], ids=["append", "keyed"])
def test_a_limit_decodes_only_the_pages_of_its_rows(
    tmp_path: Path, definition: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = table_of(tmp_path, ROWS, definition)
    table.scan(["id"]).to_arrow()  # now it is known which rows are the newest
    decoded = list[int]()
    opened = list[str]()
    read_ranges, batches, open_file = ParquetInput.read_ranges, ParquetInput.batches, DataFile.open

    def counted_ranges(*arguments: Any) -> pa.Table:
        decoded.append(int(np.diff(arguments[3]).sum()))
        return read_ranges(*arguments)

    def counted_batches(*arguments: Any, **options: Any) -> Any:
        for batch in batches(*arguments, **options):
            decoded.append(batch.num_rows)
            yield batch

    def counted_open(*arguments: Any, **options: Any) -> DataFile:
        opened.append(str(arguments[1]))
        return open_file(*arguments, **options)

    monkeypatch.setattr(ParquetInput, "read_ranges", counted_ranges)
    monkeypatch.setattr(ParquetInput, "batches", counted_batches)
    monkeypatch.setattr(DataFile, "open", counted_open)
    found = table.scan(limit=10).to_arrow()

    assert found.num_rows == 10
    assert len(opened) <= 2
    assert sum(decoded) < ROWS // 5


def test_a_limit_reads_little_of_a_file(tmp_path: Path) -> None:
    table = table_of(tmp_path, ROWS, {})
    table.scan(limit=1).to_arrow()  # now the footer is known
    before = bytes_read()

    assert table.scan(limit=10).to_arrow().num_rows == 10

    assert bytes_read() - before < 200_000


def bytes_read() -> int:
    """Return how many bytes this process has asked files for."""
    counters = Path("/proc/self/io").read_text().splitlines()
    return int(next(line for line in counters if line.startswith("rchar")).split()[1])
