"""Indexes that Java wrote: decoded, encoded again, and made anew from the rows."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paimonlab.formats.file_index import container
from paimonlab.formats.file_index.bitmap import BitmapIndex, StoredBitmaps
from paimonlab.formats.file_index.bloom import BloomFilter, value_hashes
from paimonlab.formats.file_index.bsi import BitSlicedIndex
from paimonlab.formats.file_index.range_bitmap import RangeBitmap, StoredRangeBitmap
from paimonlab.formats.file_index.values import distinct, form_of, index_numbers
from paimonlab.spec.types.text import parse_type
from tests.golden import golden

TYPES = {
    "findex": {"a": "INT", "b": "STRING"},
    "findex2": {"a": "INT", "b": "BIGINT", "s": "STRING"},
}
ITEMS = {"java-1.3.1": 200, "java-1.4.2": 200, "java-0.9": 1_000_000}


def _files() -> list[tuple[str, str, Path]]:
    return [
        (writer, table, path)
        for writer in ITEMS
        for table in TYPES
        for path in sorted(golden(writer).glob(f"**/{table}/bucket-0/*.index"))
    ]


@pytest.mark.parametrize(("writer", "table", "path"), _files())
def test_indexes_of_java_are_what_ours_would_be(writer: str, table: str, path: Path) -> None:
    data = path.read_bytes()
    indexes = container.decode(data)
    assert container.encode(indexes) == data
    rows = pq.read_table(path.with_suffix(""))
    for column, by_kind in indexes.items():
        for kind, stored in by_kind.items():
            assert stored is not None
            _check(kind, stored, rows[column], TYPES[table][column], ITEMS[writer])


def _check(kind: str, stored: bytes, column: pa.ChunkedArray, text: str, items: int) -> None:
    data_type = parse_type(text)
    form = form_of(data_type, kind)
    assert form is not None
    if kind == "bloom-filter":
        assert BloomFilter.decode(stored).encode() == stored
        made = BloomFilter.of(value_hashes(column, data_type), items=items, fpp=0.1)
        assert made.encode() == stored
    elif kind == "bitmap":
        read = StoredBitmaps.read(stored, form)
        whole = read.whole()
        assert whole.encode(form, version=read.version) == stored
        made_anew = BitmapIndex.of(distinct(column, data_type))
        assert made_anew.nulls == whole.nulls
        assert dict(zip(made_anew.keys, made_anew.rows, strict=True)) == dict(
            zip(whole.keys, whole.rows, strict=True)
        )
    elif kind == "bsi":
        assert BitSlicedIndex.decode(stored).encode() == stored
        array = column.combine_chunks()
        is_valid = array.is_valid().to_numpy(zero_copy_only=False)
        numbers = index_numbers(array.drop_null(), data_type)
        made_bsi = BitSlicedIndex.of(numbers, is_valid.nonzero()[0], len(array))
        assert made_bsi.encode() == stored
    else:
        assert StoredRangeBitmap.read(stored, form).whole().encode(form) == stored
        assert RangeBitmap.of(distinct(column, data_type)).encode(form) == stored


def test_there_are_such_indexes() -> None:
    assert {table for _, table, _ in _files()} == set(TYPES)
