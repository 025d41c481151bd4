"""Rows that are wide, or have large values, are written and read in small pieces."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paimonlab.datafile.reader import DataFile
from paimonlab.formats.parquet.input import ParquetInput
from paimonlab.formats.parquet.options import ParquetOptions
from paimonlab.formats.parquet.pages import PageIndex, PagePlaces, read_footer
from paimonlab.formats.parquet.stretches import page_stretches
from paimonlab.formats.parquet.writer import ParquetWriter
from paimonlab.formats.row_group import rows_within
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import parse_type
from paimonlab.storage import LocalFileIO

FILE_IO = LocalFileIO(durability="none")


def fields_of(*types: str) -> list[DataField]:
    return [DataField(k, f"c{k}", parse_type(text)) for k, text in enumerate(types)]


def write(path: Path, table: pa.Table, fields: list[DataField]) -> None:
    writer = ParquetWriter(FILE_IO, str(path), fields, ParquetOptions())
    writer.write(table)
    writer.close()


def rows_of_pages(path: Path, column: int) -> list[int]:
    """Count the rows of each page of a column of the first row group."""
    size = path.stat().st_size
    with FILE_IO.open_input(str(path)) as file:
        places = PageIndex(read_footer(file, size)).places(0, column, file)
    rows = pq.read_metadata(path).row_group(0).num_rows
    assert places is not None
    return np.diff([*places.first_rows, rows]).tolist()


def test_pages_of_large_texts_hold_few(tmp_path: Path, rng: np.random.Generator) -> None:
    fields = fields_of("BIGINT", "STRING")
    texts = [rng.bytes(50_000).hex() for _ in range(300)]
    table = pa.table({"c0": np.arange(300), "c1": texts})

    write(tmp_path / "f", table, fields)

    assert max(rows_of_pages(tmp_path / "f", 1)) <= 20  # 100 kB each; a page is of 1 MB
    assert pq.read_table(tmp_path / "f").equals(table)


def test_pages_of_many_columns_are_small(tmp_path: Path, rng: np.random.Generator) -> None:
    fields = fields_of(*["DOUBLE"] * 500)
    table = pa.table({field.name: rng.random(9000) for field in fields})

    write(tmp_path / "f", table, fields)

    (*full, _) = rows_of_pages(tmp_path / "f", 499)
    assert set(full) == {2621}  # 10 MB of rows of 4 kB
    assert pq.read_table(tmp_path / "f").equals(table)


@pytest.mark.parametrize(
    ("types", "row_bytes"),
    [(["BIGINT", "DOUBLE"], 16), (["STRING"], 1008), (["STRING", "INT"], 1012)],
)
def test_memory_of_columns_is_foreseen(
    types: list[str], row_bytes: int, tmp_path: Path, rng: np.random.Generator
) -> None:
    fields = fields_of(*types)
    made = {
        "BIGINT": np.full(5000, 7),
        "INT": pa.array([7] * 5000, pa.int32()),
        "DOUBLE": np.zeros(5000),
        # Ten texts of 1,000 letters: in the file there is little more than a dictionary of them.
        "STRING": [str(number % 10) * 1000 for number in range(5000)],
    }
    table = pa.table({field.name: made[text] for field, text in zip(fields, types, strict=True)})
    write(tmp_path / "f", table, fields)

    with ParquetInput(FILE_IO, str(tmp_path / "f")) as file:
        foreseen = file.group_bytes(fields, 0)

    assert file.row_groups[0].size_bytes < foreseen // 2
    assert 0.9 < foreseen / (row_bytes * 5000) < 1.1


def test_batches_of_repeated_large_texts_are_small(tmp_path: Path) -> None:
    (field,) = fields_of("STRING")
    # 200 MB in memory, 100 kB in a file of another writer.
    table = pa.table({"c0": pa.array(["x" * 100_000] * 2000, pa.large_string())})
    pq.write_table(table, tmp_path / "f.parquet")
    meta = DataFileMeta(
        file_name="f.parquet",
        file_size_bytes=(tmp_path / "f.parquet").stat().st_size,
        row_count=2000,
        min_sequence_number=0,
        max_sequence_number=1999,
        schema_id=0,
    )
    content = ParquetInput(FILE_IO, str(tmp_path / "f.parquet"))

    with DataFile("db.t", meta, (field,), content) as file:
        sizes = [batch.nbytes for batch in file.batches([field], batch_rows=1 << 17)]

    assert max(sizes) <= 16 << 20
    assert sum(sizes) > 200_000_000


def opened(path: Path, fields: list[DataField]) -> DataFile:
    meta = DataFileMeta(
        file_name=path.name,
        file_size_bytes=path.stat().st_size,
        row_count=pq.read_metadata(path).num_rows,
        min_sequence_number=0,
        max_sequence_number=0,
        schema_id=0,
    )
    return DataFile("db.t", meta, tuple(fields), ParquetInput(FILE_IO, str(path)))


def test_files_read_side_by_side_hold_no_open_pages(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    fields = fields_of(*["DOUBLE"] * 500)
    path = tmp_path / "f.parquet"
    write(path, pa.table({field.name: rng.random(8000) for field in fields}), fields)

    def held(open_bytes: int | None) -> int:
        before = pa.total_allocated_bytes()
        with opened(path, fields) as file:
            batches = file.batches(fields, batch_rows=500, open_bytes=open_bytes)
            first = [next(batches).num_rows for _ in range(3)]
            now = pa.total_allocated_bytes() - before
            batches.close()  # type: ignore[attr-defined]
        assert first == [500] * 3
        return now

    assert held(1 << 20) < 7 << 20  # the last batch, and what is left of a page of 10 MB
    assert held(None) > 15 << 20  # a page, compressed and decoded


@pytest.mark.parametrize("batch_rows", [7, 1000, 5000])
def test_pages_one_by_one_give_the_rows_of_the_file(
    batch_rows: int, tmp_path: Path, rng: np.random.Generator
) -> None:
    """A file of another writer, of types whose pages end at other rows."""
    table = pa.table(
        {
            "c0": rng.integers(0, 1 << 40, 9000),
            "c1": pa.array([None if n % 3 == 0 else f"{n}" * (n % 50) for n in range(9000)]),
            "c2": pa.array(rng.random(9000), mask=rng.random(9000) < 0.2),
            "c3": pa.array([bytes(rng.bytes(20)) for _ in range(9000)]),
        }
    )
    path = tmp_path / "f.parquet"
    pq.write_table(
        table, path, row_group_size=4000, data_page_size=4000, write_batch_size=50,
        write_page_index=True, write_page_checksum=True,
    )  # fmt: skip
    fields = fields_of("BIGINT", "STRING", "DOUBLE", "BYTES")
    keep = rng.random(9000) < 0.9

    for some in (fields, fields[:1], fields[1:3]):
        names = [field.name for field in some]
        with opened(path, some) as file:
            for mask in (None, keep):
                rows = list(file.batches(some, keep=mask, batch_rows=batch_rows, open_bytes=1000))
                wanted = table if mask is None else table.filter(pa.array(mask))
                assert pa.Table.from_batches(rows).equals(wanted.select(names))
                assert max(batch.num_rows for batch in rows) <= batch_rows


def test_a_row_group_is_cut_where_that_holds_less() -> None:
    def places(*first_rows: int, size: int) -> PagePlaces:
        count = len(first_rows)
        return PagePlaces(np.arange(count) * size, np.full(count, size), np.array(first_rows))

    many, other = places(0, 10, 20, 30, size=100), places(0, 15, 30, size=100)

    def cut(columns: list[PagePlaces], *, encoded: int, decoded: int) -> list[list[int]] | None:
        found = page_stretches(
            columns, 40, encoded_bytes=encoded, decoded_bytes=decoded, most_bytes=100
        )
        return None if found is None else [rows[0].tolist() for rows in found]

    at_pages = [[0, 10], [10, 20], [20, 30], [30, 40]]
    assert cut([many] * 10, encoded=4000, decoded=4000) == at_pages
    assert cut([many] * 10 + [other], encoded=4400, decoded=4400) == at_pages
    assert cut([many] * 2 + [other] * 2, encoded=1600, decoded=1600) is None  # much decoded twice
    assert cut([many] * 10, encoded=4000, decoded=80_000) is None  # a few texts, again and again
    assert cut([], encoded=0, decoded=0) is None


@pytest.mark.parametrize(
    ("parts", "most", "rows"),
    [
        ([], 100, None),
        ([(10, 50)], 100, None),  # all of it fits
        ([(10, 1000)], 100, 1),
        ([(10, 200)], 100, 5),
        ([(1, 90), (1000, 8000)], 100, 12),  # what little rows come with does not count
        ([(10, 60)] * 5, 100, 16),  # small parts follow each other
        ([(10, 10_000)], 1, 1),
    ],
)
def test_rows_at_once(parts: list[tuple[int, int]], most: int, rows: int | None) -> None:
    found = rows_within(parts, most)

    assert found == rows if rows is not None else found > 1 << 40
