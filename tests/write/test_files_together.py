"""Files of many partitions that one write makes: what they share is found out once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import paimonlab as pl
from paimonlab.datafile import written_file
from paimonlab.formats.parquet import repetitive
from paimonlab.storage import LocalFileIO

_COLUMNS = {
    "id": "BIGINT NOT NULL",
    "part": "INT NOT NULL",
    "few": "STRING",
    "many": "STRING",
    "v": "DOUBLE",
}
PARTITIONS = 24
FILE_ROWS = 5000


def rows_of(rng: np.random.Generator, count: int) -> pa.Table:
    ids = rng.permutation(count)
    values = pa.array(rng.random(count), mask=rng.random(count) < 0.1)
    return pa.table(
        {
            "id": ids,
            "part": pa.array((ids % PARTITIONS).astype("int32")),
            "few": pa.array(np.char.mod("kind %d", rng.integers(0, 20, count))),
            "many": pa.array(np.char.mod("%d", rng.integers(0, 2**40, count))),
            "v": values,
        }
    )


def table_of(folder: Path, *, keyed: bool, **options: str) -> pl.Table:
    catalog = pl.connect(str(folder))
    catalog.create_database("db")
    if not keyed:
        return catalog.create_table("db.t", _COLUMNS, partition_keys=["part"], options=options)
    return catalog.create_table(
        "db.t",
        _COLUMNS,
        partition_keys=["part"],
        primary_keys=["part", "id"],
        options={"bucket": "1", "write-only": "true", **options},
    )


@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize(
    "options",
    [{}, {"target-file-size": "100 kb"}, {"write-buffer-size": "1 mb"}],
    ids=["plain", "small files", "small buffer"],
)
def test_each_file_is_described_as_its_own_rows_are(
    tmp_path: Path,
    rng: np.random.Generator,
    keyed: bool,
    options: Mapping[str, str],
) -> None:
    table = table_of(tmp_path, keyed=keyed, **options)
    rows = rows_of(rng, PARTITIONS * FILE_ROWS)
    table.write(rows)

    found = 0
    for file in pl.connect(str(tmp_path)).system_table("db.t$files").scan().to_arrow().to_pylist():
        data = pq.ParquetFile(file["file_path"]).read()
        for name in ("id", "few", "many", "v"):
            bounds = pc.min_max(data[name])
            low, high = (_value_of(file[f"{end}_value_stats"], name) for end in ("min", "max"))
            if name == "v":
                assert (float(low), float(high)) == (bounds["min"].as_py(), bounds["max"].as_py())
            else:
                assert (low, high) == (_text(bounds["min"]), _text(bounds["max"]))
            nulls = _value_of(file["null_value_counts"], name)
            assert int(nulls) == data[name].null_count
        assert file["record_count"] == data.num_rows
        found += data.num_rows
    assert found == rows.num_rows
    read = table.scan().to_arrow().cast(rows.schema)
    assert read.sort_by("id") == rows.sort_by("id")


def _text(value: pa.Scalar) -> str:
    return str(value.as_py())[:16]


def _value_of(text: str, name: str) -> str:
    pairs = dict(pair.split("=", 1) for pair in text.strip("{}").split(", "))
    return pairs[name]


@pytest.mark.parametrize("keyed", [False, True])
def test_what_files_share_is_found_out_once(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rng: np.random.Generator,
    keyed: bool,
) -> None:
    table = table_of(tmp_path, keyed=keyed)
    calls: dict[str, list[int]] = {"choices": [], "bounds": [], "synced": []}

    def counted(owner: Any, name: str, what: str, size_of: Any) -> None:
        function = getattr(owner, name)

        def call(*args: Any, **options: Any) -> Any:
            calls[what].append(size_of(args))
            return function(*args, **options)

        monkeypatch.setattr(owner, name, call)

    counted(repetitive, "_count_distinct", "choices", lambda args: len(args[0]))
    counted(written_file, "stats_of_slices", "bounds", lambda args: len(args[1]))
    counted(LocalFileIO, "sync_files", "synced", lambda args: len(args[1]))
    monkeypatch.setattr("paimonlab.write.parts.THREADS", 1)
    table.write(rows_of(rng, PARTITIONS * FILE_ROWS))

    column_count = 8 if keyed else 5
    parts = -(-PARTITIONS * FILE_ROWS // (1 << 16)) + 1
    assert 0 < len(calls["choices"]) <= column_count * 4
    assert sum(calls["choices"]) <= column_count * 8192
    data_bounds = [size for size in calls["bounds"] if size > 1]
    assert len(data_bounds) <= parts * 2
    assert max(data_bounds) > 4
    assert max(calls["synced"]) == PARTITIONS
    assert len(calls["synced"]) <= 3, "data files at once, then what is in the manifest folder"


def test_columns_that_repeat_have_dictionaries_in_all_files(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    table = table_of(tmp_path, keyed=False)
    table.write(rows_of(rng, PARTITIONS * FILE_ROWS))

    files = list((tmp_path / "db.db" / "t").rglob("*.parquet"))
    assert len(files) == PARTITIONS
    for file in files:
        group = pq.read_metadata(file).row_group(0)
        chunks = [group.column(number) for number in range(group.num_columns)]
        assert {chunk.path_in_schema for chunk in chunks if chunk.has_dictionary_page} == {
            "part",
            "few",
        }


@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize(
    ("file_rows", "options", "left"),
    [
        (5000, {}, {"v", "part"}),  # of which a file has one value
        (5000, {"file.compression": "zstd"}, set[str]()),
        (200, {}, set[str]()),
    ],
    ids=["rows enough", "a codec is named", "few rows"],
)
def test_small_files_leave_the_columns_that_zstd_hardly_shrinks_in_most_rows(
    tmp_path: Path,
    rng: np.random.Generator,
    keyed: bool,
    file_rows: int,
    options: Mapping[str, str],
    left: set[str],
) -> None:
    table = table_of(tmp_path, keyed=keyed, **options)
    rows = rows_of(rng, PARTITIONS * file_rows)
    table.write(rows)

    for file in (tmp_path / "db.db" / "t").rglob("*.parquet"):
        group = pq.read_metadata(file).row_group(0)
        chunks = [group.column(number) for number in range(group.num_columns)]
        assert {chunk.compression for chunk in chunks} <= {"ZSTD", "UNCOMPRESSED"}
        plain = {chunk.path_in_schema for chunk in chunks if chunk.compression == "UNCOMPRESSED"}
        assert plain == left
    assert table.scan().to_arrow().cast(rows.schema).sort_by("id") == rows.sort_by("id")
