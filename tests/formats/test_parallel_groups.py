"""Row groups that several threads encode make the file that pyarrow makes by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import paimonlab as pl
from paimonlab.formats.parquet import parallel_groups
from paimonlab.formats.parquet.options import ParquetOptions
from paimonlab.formats.parquet.parallel_groups import ParallelGroups
from paimonlab.formats.parquet.writer import ParquetWriter
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import parse_type
from paimonlab.storage import LocalFileIO

GROUP_ROWS = 1 << 17
COLUMNS = {
    "id": "BIGINT",
    "text": "STRING",
    "often": "STRING",
    "number": "DOUBLE",
    "nothing": "INT",
    "items": "ARRAY<INT>",
    "place": "ROW<x INT, y STRING>",
    "entries": "MAP<STRING, INT>",
    "is_so": "BOOLEAN",
    "price": "DECIMAL(20, 2)",
    "fee": "DECIMAL(7, 2)",
    "sum": "DECIMAL(18, 3)",
    "moment": "TIMESTAMP(3)",
}
FIELDS = [
    DataField(number, name, parse_type(text)) for number, (name, text) in enumerate(COLUMNS.items())
]


def rows_of(count: int, rng: np.random.Generator) -> pa.Table:
    """Make rows of all kinds of columns, nulls in some."""
    pattern = pa.table(
        {
            "often": ["ab", None, "ab", "c"],
            "nothing": pa.nulls(4, pa.int32()),
            "items": pa.array([[1, None], None, [], [2]], pa.list_(pa.int32())),
            "place": pa.array(
                [{"x": 1, "y": "a"}, None, {"x": None, "y": "b"}, {"x": 2, "y": None}],
                pa.struct([("x", pa.int32()), ("y", pa.string())]),
            ),
            "entries": pa.array(
                [[("a", 1)], None, [], [("b", None)]], pa.map_(pa.string(), pa.int32())
            ),
            "is_so": [True, None, False, True],
            "price": pa.array([1, 2, None, -3], pa.decimal128(20, 2)),
            "fee": pa.array([None, 2, 99_999, -3], pa.decimal128(7, 2)),
            "sum": pa.array([10**14, None, 5, -(10**14)], pa.decimal128(18, 3)),
            "moment": pa.array([0, 1, None, 3], pa.timestamp("ms")),
        }
    ).take(pa.array(np.arange(count) % 4))
    numbers = rng.integers(0, 10**9, count)
    plain = {"id": numbers, "text": numbers.astype("U9"), "number": rng.random(count)}
    for name, values in plain.items():
        pattern = pattern.append_column(name, pa.array(values))
    return pattern.select(list(COLUMNS))


def written(path: Path, rows: pa.Table, threads: int, **options: Any) -> bytes:
    parquet = ParquetOptions(**options)
    writer = ParquetWriter(LocalFileIO(), str(path), FIELDS, parquet, threads=threads)
    for start in range(0, rows.num_rows, 50_000):
        writer.write(rows.slice(start, 50_000))
    assert writer.close() == path.stat().st_size
    return path.read_bytes()


@pytest.mark.parametrize(
    ("rows", "compression"),
    [(GROUP_ROWS, "zstd"), (2 * GROUP_ROWS + 7, "zstd"), (2 * GROUP_ROWS, "uncompressed")],
)
def test_the_file_is_that_of_one_thread(
    tmp_path: Path, rng: np.random.Generator, rows: int, compression: str
) -> None:
    table = rows_of(rows, rng)

    alone = written(tmp_path / "alone", table, 1, compression=compression)
    together = written(tmp_path / "together", table, 2, compression=compression)

    assert together == alone
    read = pq.ParquetFile(tmp_path / "together", page_checksum_verification=True).read()
    assert read.equals(table.cast(read.schema))


def test_sizes_do_not_depend_on_timing(tmp_path: Path, rng: np.random.Generator) -> None:
    table = rows_of(GROUP_ROWS, rng)
    seen = set()
    for number in range(3):
        path = str(tmp_path / str(number))
        writer = ParquetWriter(LocalFileIO(), path, FIELDS, ParquetOptions(), threads=2)
        sizes = []
        for _ in range(4):
            writer.write(table)
            sizes.append(writer.bytes_written)
        writer.settle()
        seen.add((*sizes, writer.bytes_written))
        writer.close()

    assert len(seen) == 1


def test_an_error_of_a_thread_is_that_of_the_writer(
    tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise OSError("no more room")

    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", COLUMNS)
    monkeypatch.setattr(ParallelGroups, "_encoded", fail)

    with pytest.raises(OSError, match="no more room"):
        table.write(rows_of(2 * GROUP_ROWS, rng))

    assert not list(tmp_path.rglob("*.parquet"))
    assert table.scan().count() == 0


def test_large_row_groups_are_encoded_one_by_one(
    tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = []
    submit = ParallelGroups.write

    def counted(groups: ParallelGroups, table: pa.Table) -> None:
        submit(groups, table)
        waiting.append(groups.unwritten_bytes)

    monkeypatch.setattr(ParallelGroups, "write", counted)
    table = rows_of(4 * GROUP_ROWS, rng)
    written(tmp_path / "small", table, 2)
    monkeypatch.setattr(parallel_groups, "MOST_BYTES", 1000)
    written(tmp_path / "large", table, 2)

    assert 0 < max(waiting[:4]) <= 2 * table.slice(0, GROUP_ROWS).nbytes * 1.1
    assert waiting[4:] == [0, 0, 0, 0]


def test_a_row_group_larger_than_its_values_is_encoded_all_the_same(tmp_path: Path) -> None:
    rows = pa.table({"n": np.arange(4096)})
    encoded = pa.BufferOutputStream()
    with pq.ParquetWriter(encoded, rows.schema, compression="none", use_dictionary=False) as writer:
        writer.write_table(rows)
    large = encoded.getvalue().size
    started = list[pa.NativeFile]()

    def start(file: pa.NativeFile) -> pq.ParquetWriter:
        # What is kept of a column beside its values is more than there is room for.
        started.append(file)
        notes = rows.schema.with_metadata({"notes": "x" * large})
        return pq.ParquetWriter(file, notes, compression="none", use_dictionary=False)

    path = tmp_path / "groups.parquet"
    with pa.OSFile(str(path), "wb") as file:
        groups = ParallelGroups(file, start, 2)
        for _ in range(5):
            groups.write(rows)
        groups.close()

    assert len(started) in (6, 7), "no more than one row group of each thread is tried in vain"
    assert pq.read_table(path).equals(pa.concat_tables([rows] * 5))
