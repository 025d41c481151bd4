"""What data files say of themselves, beside their rows."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from paimonlab.errors import CorruptDataError, UnsupportedError
from paimonlab.formats.describe import describe
from paimonlab.formats.description import FileDescription, bound_text
from paimonlab.storage.local import LocalFileIO
from tests.golden import ROOTS, golden

IO = LocalFileIO()
ROWS = pa.table(
    {
        "n": pa.array([*range(1000), *[None] * 5], pa.int64()),
        "s": pa.array([f"v{at % 7}" for at in range(1005)]),
        "d": pa.array([dt.date(2026, 1, 1 + at % 20) for at in range(1005)]),
    }
)


def checked(path: Path) -> FileDescription:
    """Describe a file, and compare each part with its rows."""
    found = describe(IO, str(path))
    for index, part in enumerate(found.parts):
        assert part.first_row == sum(one.row_count for one in found.parts[:index])
        assert sum(one.stored_bytes or 0 for one in part.columns) <= part.stored_bytes
    assert found.row_count == sum(one.row_count for one in found.parts)
    assert found.size_bytes == path.stat().st_size
    return found


def parquet(folder: Path, **options: object) -> Path:
    path = folder / "data-1.parquet"
    pq.write_table(ROWS, path, row_group_size=500, **options)
    return path


def test_parquet_bounds_and_nulls_are_those_of_the_rows(tmp_path: Path) -> None:
    path = parquet(tmp_path, write_page_checksum=True, compression="zstd")

    found = checked(path)

    assert [part.row_count for part in found.parts] == [500, 500, 5]
    for index, part in enumerate(found.parts):
        rows = pq.ParquetFile(path).read_row_group(index)
        assert [one.name for one in part.columns] == rows.column_names
        for one in part.columns:
            column = rows[one.name]
            bounds = pc.min_max(column)
            assert (one.low, one.high) == tuple(bound_text(bounds[k].as_py()) for k in bounds)
            assert one.null_count == column.null_count
            assert one.compression == "ZSTD"


def test_parquet_checksums_are_computed(tmp_path: Path) -> None:
    path = parquet(tmp_path, write_page_checksum=True)

    pages = [one.pages for part in checked(path).parts for one in part.columns]

    assert all(one is not None and one.count == one.checksum_count > 0 for one in pages)
    assert sum(one.wrong_count or 0 for one in pages if one) == 0


def test_a_wrong_byte_of_a_page_is_found(tmp_path: Path) -> None:
    path = parquet(tmp_path, write_page_checksum=True, compression="none")
    data = bytearray(path.read_bytes())
    data[data.index(b"v3")] ^= 1
    path.write_bytes(data)

    found = describe(IO, str(path))

    wrong = {one.name: one.pages.wrong_count for one in found.parts[0].columns if one.pages}
    assert wrong == {"n": 0, "s": 1, "d": 0}


def test_pages_without_checksum_are_counted(tmp_path: Path) -> None:
    found = checked(parquet(tmp_path))

    pages = [one.pages for part in found.parts for one in part.columns]
    assert {one.checksum_count for one in pages if one} == {0}


def test_a_page_that_ends_nowhere_is_an_error(tmp_path: Path) -> None:
    path = parquet(tmp_path, compression="none", use_dictionary=False)
    data = bytearray(path.read_bytes())
    data[4:24] = bytes(
        [0x15, 0, 0x15, 0x80, 0x80, 0x80, 0x40, 0x15, 0x80, 0x80, 0x80, 0x40, *[0] * 8]
    )
    path.write_bytes(data)

    with pytest.raises(CorruptDataError, match=r"data-1\.parquet"):
        describe(IO, str(path))


def test_orc_bounds_and_nulls_are_those_of_the_rows(tmp_path: Path) -> None:
    path = tmp_path / "data-1.orc"
    orc.write_table(ROWS, path, compression="zstd")

    (part,) = checked(path).parts

    rows = orc.read_table(path)
    for one in part.columns:
        bounds = pc.min_max(rows[one.name])
        assert (one.low, one.high) == tuple(bound_text(bounds[k].as_py()) for k in bounds)
        assert one.null_count == rows[one.name].null_count
        assert one.encodings
        assert one.pages is None


@pytest.mark.parametrize("writer", sorted(ROOTS))
def test_every_golden_file_describes_itself(writer: str) -> None:
    kinds = set()
    wrong = 0
    for path in sorted((golden(writer) / "wh").glob("*.db/**/bucket-*/*")):
        kind = path.name.rpartition(".")[2]
        if kind in {"parquet", "orc", "avro"}:
            found = describe(IO, str(path))
            kinds.add(found.format)
            for part in found.parts:
                assert part.columns
                wrong += sum(one.pages.wrong_count or 0 for one in part.columns if one.pages)
    assert "parquet" in kinds
    assert not wrong


def test_what_is_no_data_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 no footer PAR1")
    (tmp_path / "a.lance").write_bytes(b"")

    with pytest.raises(CorruptDataError, match=r"a\.parquet"):
        describe(IO, str(tmp_path / "a.parquet"))
    with pytest.raises(CorruptDataError, match="the file is missing"):
        describe(IO, str(tmp_path / "b.parquet"))
    with pytest.raises(UnsupportedError, match=r"file\.format = 'lance'"):
        describe(IO, str(tmp_path / "a.lance"))
