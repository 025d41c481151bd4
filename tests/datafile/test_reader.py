from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from msgspec import structs

from paimonlab.datafile import reader, row_conditions, row_pieces
from paimonlab.datafile.reader import DataFile
from paimonlab.errors import CorruptDataError, UnsupportedError
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.predicates.predicate import Predicate, bind, col, evaluate
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import parse_type
from paimonlab.storage.local import LocalFileIO

FIELDS = (DataField(0, "a", parse_type("INT")), DataField(1, "b", parse_type("STRING")))
SCHEMA = TableSchema(id=0, fields=FIELDS, highest_field_id=1)
FILE_IO = LocalFileIO()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a file of 100 rows, ten a row group."""
    path = tmp_path / "data-0.parquet"
    table = pa.table({"a": pa.array(range(100), pa.int32()), "b": [f"v{n}" for n in range(100)]})
    pq.write_table(table, path, row_group_size=10, write_page_checksum=True)
    return path


def _meta(path: Path) -> DataFileMeta:
    return DataFileMeta(
        file_name=path.name,
        file_size_bytes=path.stat().st_size,
        row_count=100,
        min_sequence_number=0,
        max_sequence_number=99,
        schema_id=0,
    )


def _open(path: Path, meta: DataFileMeta | None = None) -> DataFile:
    return DataFile.open(
        FILE_IO, str(path), meta or _meta(path), SCHEMA, table="db.t", partition=b""
    )


def test_rows_come_in_file_order(path: Path) -> None:
    with _open(path) as file:
        batches = list(file.batches(FIELDS, batch_rows=7))

    assert pa.Table.from_batches(batches)["a"].to_pylist() == list(range(100))
    assert max(batch.num_rows for batch in batches) <= 7


def test_a_mask_keeps_its_rows_and_skips_row_groups(path: Path) -> None:
    keep = np.zeros(100, np.bool_)
    keep[[3, 55, 57, 99]] = True

    with _open(path) as file:
        starts = [start for start, _ in file.positioned(FIELDS, keep=keep, batch_rows=100)]
        batches = list(file.batches(FIELDS, keep=keep, batch_rows=100))

    assert starts == [0, 50, 90]
    assert pa.Table.from_batches(batches)["a"].to_pylist() == [3, 55, 57, 99]


def test_a_predicate_skips_row_groups_and_filters_rows(path: Path) -> None:
    predicate = bind((col("a") >= 38) & (col("a") < 42), FIELDS, "db.t")

    with _open(path) as file:
        starts = [start for start, _ in file.positioned(FIELDS, predicate=predicate, batch_rows=99)]
        batches = list(file.batches(FIELDS, predicate=predicate, batch_rows=99))

    assert starts == [30, 40]
    assert pa.Table.from_batches(batches)["b"].to_pylist() == ["v38", "v39", "v40", "v41"]


def test_rows_without_columns_are_counted(path: Path) -> None:
    keep = np.arange(100) % 2 == 0

    with _open(path) as file:
        assert sum(batch.num_rows for batch in file.batches([], batch_rows=9)) == 100
        assert sum(batch.num_rows for batch in file.batches([], keep=keep, batch_rows=9)) == 50


def test_a_missing_file_says_what_to_do(path: Path) -> None:
    meta = _meta(path)
    path.unlink()

    with pytest.raises(CorruptDataError, match=r"(?s)data-0.*missing.*newest.*db\.t"):
        _open(path, meta)


def test_a_cut_file_is_noticed_by_its_size(path: Path) -> None:
    meta = _meta(path)
    path.write_bytes(path.read_bytes()[:-100])

    with pytest.raises(CorruptDataError, match=r"data-0.*bytes, metadata says .*db\.t"):
        _open(path, meta)


def test_another_row_count_is_an_error(path: Path) -> None:
    with pytest.raises(CorruptDataError, match=r"data-0.*100 rows.*101.*db\.t"):
        _open(path, structs.replace(_meta(path), row_count=101))


def test_a_flipped_bit_is_noticed(path: Path) -> None:
    column = pq.read_metadata(path).row_group(4).column(1)
    data = bytearray(path.read_bytes())
    data[column.data_page_offset + column.total_compressed_size // 2] ^= 1
    path.write_bytes(data)

    with _open(path) as file, pytest.raises(CorruptDataError, match=r"data-0.*db\.t"):
        list(file.batches(FIELDS, batch_rows=1000))


def test_another_format_is_refused(path: Path) -> None:
    meta = structs.replace(_meta(path), file_name="data-0.csv")

    with pytest.raises(UnsupportedError, match=r"file\.format = 'csv'"):
        _open(path, meta)


def test_a_file_that_is_no_parquet_is_named(path: Path) -> None:
    path.write_bytes(b"x" * path.stat().st_size)

    with pytest.raises(CorruptDataError, match=r"data-0.*db\.t"):
        _open(path)


def test_batches_of_wide_rows_have_fewer_rows(tmp_path: Path) -> None:
    path = tmp_path / "data-0.parquet"
    wide = [f"{number:03}" * 700_000 for number in range(100)]
    table = pa.table({"a": pa.array(range(100), pa.int32()), "b": wide})
    pq.write_table(table, path, use_dictionary=False, compression="zstd")

    with _open(path) as file:
        batches = list(file.batches(FIELDS, batch_rows=1000))
        narrow = list(file.batches(FIELDS[:1], batch_rows=1000))

    assert [batch.num_rows for batch in narrow] == [100]
    assert sum(batch.num_rows for batch in batches) == 100
    assert max(batch.nbytes for batch in batches) <= 65 << 20


@pytest.fixture
def sorted_file(tmp_path: Path) -> tuple[Path, pa.Table]:
    """Return a file of two row groups of eight pages, sorted by a column with nulls at its end."""
    path = tmp_path / "data-0.parquet"
    count = 1 << 16
    numbers = np.arange(count)
    table = pa.table(
        {
            "a": pa.array(numbers, pa.int32(), mask=numbers >= count - 5000),
            "b": [f"v{number % 100}" for number in range(count)],
        }
    )
    pq.write_table(
        table, path, row_group_size=count // 2, write_page_index=True, max_rows_per_page=4096
    )
    return path, table


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1 << 17), (0, 40_000), (5_000, 60_000), (4096, 32_768), (32_000, 33_000)]
)
@pytest.mark.parametrize("has_mask", [False, True])
def test_a_range_of_a_sorted_column_has_the_rows_that_arrow_finds(
    sorted_file: tuple[Path, pa.Table], low: int, high: int, *, has_mask: bool
) -> None:
    path, table = sorted_file
    predicate = bind((col("a") >= low) & (col("a") < high), FIELDS, "db.t")
    keep = np.arange(table.num_rows) % 3 > 0 if has_mask else None

    with _open_sorted(path) as file:
        batches = list(file.batches(FIELDS, predicate=predicate, keep=keep, batch_rows=5000))

    wanted = table if keep is None else table.filter(pa.array(keep))
    wanted = wanted.filter((pc.field("a") >= low) & (pc.field("a") < high))
    assert pa.Table.from_batches(batches).equals(wanted)


def test_rows_that_pages_tell_to_match_are_not_asked(
    sorted_file: tuple[Path, pa.Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, table = sorted_file
    asked = list[int]()

    def counted(predicate: Predicate, rows: pa.RecordBatch) -> pa.Array:
        asked.append(rows.num_rows)
        return evaluate(predicate, rows)

    monkeypatch.setattr(row_conditions, "evaluate", counted)
    for module in (reader, row_pieces):
        monkeypatch.setattr(module, "WORTH_DOUBTING_ROWS", 1 << 14)
    with _open_sorted(path) as file:
        for low, most in ((0, 8192), (10_000, 20_480)):
            asked.clear()
            predicate = bind(col("a") >= low, FIELDS, "db.t")
            batches = list(file.batches(FIELDS, predicate=predicate, batch_rows=4096))

            assert sum(batch.num_rows for batch in batches) == table.num_rows - 5000 - low
            assert 0 < sum(asked) <= most, "the pages with nulls, and that where the range begins"


def _open_sorted(path: Path) -> DataFile:
    meta = structs.replace(_meta(path), row_count=1 << 16)
    return DataFile.open(FILE_IO, str(path), meta, SCHEMA, table="db.t", partition=b"")
