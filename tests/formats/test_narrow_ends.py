"""Texts and bytes that were decoded with ends of 64 bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paimonlab.formats.parquet import narrow_ends
from paimonlab.formats.parquet.input import ParquetInput
from paimonlab.formats.parquet.narrow_ends import have_texts, narrowed
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import parse_type
from paimonlab.storage import LocalFileIO

TYPES = {
    "i": "INT",
    "s": "STRING",
    "c": "CHAR(3)",
    "y": "BYTES",
    "m": "DECIMAL(30, 2)",
    "t": "TIMESTAMP(9)",
    "n": "ARRAY<STRING>",
}
FIELDS = [DataField(at, name, parse_type(text)) for at, (name, text) in enumerate(TYPES.items())]


@pytest.mark.parametrize("most_bytes", [(1 << 31) - 1, 100, 7])
@pytest.mark.parametrize("is_text", [True, False])
def test_values_stay_what_they_are_in_pieces_that_fit(
    most_bytes: int, is_text: bool, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(narrow_ends, "_MOST_BYTES", most_bytes)
    wide, narrow = (pa.large_string(), pa.string()) if is_text else (pa.large_binary(), pa.binary())
    for _ in range(20):
        texts = [
            None if rng.random() < 0.2 else "x" * int(rng.integers(0, 8))
            for _ in range(int(rng.integers(0, 90)))
        ]
        values = [text if text is None or is_text else text.encode() for text in texts]
        first, middle = (int(rng.integers(0, len(values) + 1)) for _ in range(2))
        chunks = [pa.array(values[:middle], wide), pa.array(values, wide).slice(first)]

        found = narrowed(pa.chunked_array(chunks, wide))

        assert found.type == narrow
        found.validate(full=True)
        assert found.to_pylist() == values[:middle] + values[first:]
        sizes = [sum(map(len, filter(None, chunk.to_pylist()))) for chunk in found.chunks]
        assert max(sizes, default=0) <= most_bytes


def test_a_value_that_no_column_can_have_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(narrow_ends, "_MOST_BYTES", 3)

    with pytest.raises(pa.ArrowInvalid, match="a value has 4 bytes"):
        narrowed(pa.chunked_array([["abc", "abcd"]], pa.large_string()))


def test_columns_with_parts_are_decoded_as_they_are_needed() -> None:
    by_name = {field.name: field for field in FIELDS}

    assert have_texts([by_name["i"], by_name["s"]])
    assert not have_texts([by_name["i"], by_name["m"]])
    assert not have_texts([by_name["s"], by_name["n"]])


@pytest.mark.parametrize("names", ["iscymtn", "iscymt", "iscym", "sc", "y", "im"])
def test_batches_are_the_rows_of_a_file_that_is_opened_once(
    names: str, tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 3000
    numbers = rng.integers(0, 50, count).tolist()
    columns = {
        "i": pa.array(numbers, pa.int32()),
        "s": pa.array([None if n % 7 == 0 else f"é{n}" for n in numbers]),
        "c": pa.array([f"{n:03}" for n in numbers]),
        "y": pa.array([None if n % 5 == 0 else bytes([n]) * (n % 4) for n in numbers]),
        "m": pa.array(numbers, pa.decimal128(28, 0)).cast(pa.decimal128(30, 2)),
        "t": pa.array(numbers, pa.timestamp("ns")),
        "n": pa.array([[f"{n}"] * (n % 3) for n in numbers]),
    }
    rows = pa.table(columns)
    path = str(tmp_path / "f.parquet")
    pq.write_table(
        rows, path, row_group_size=500, use_deprecated_int96_timestamps=True, store_schema=False
    )
    fields = [field for field in FIELDS if field.name in names]
    opened = list[object]()
    parquet_file = pq.ParquetFile

    def counted(*arguments: object, **settings: object) -> pq.ParquetFile:
        opened.append(settings)
        return parquet_file(*arguments, **settings)

    monkeypatch.setattr(pq, "ParquetFile", counted)
    with ParquetInput(LocalFileIO(), path) as file:
        found = [
            batch
            for group in (5, 0, 3, 1, 4, 2)
            for batch in file.batches(fields, batch_rows=1000, row_groups=[group])
        ]

    expected = pa.concat_tables([rows.slice(500 * group, 500) for group in (5, 0, 3, 1, 4, 2)])
    assert pa.Table.from_batches(found).equals(expected.select([field.name for field in fields]))
    assert len(opened) == (2 if "t" in names else 1)  # INT96 is read in two units
