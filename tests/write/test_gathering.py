"""Rows are picked of tables in many pieces, which are not in memory twice."""

from __future__ import annotations

import itertools
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.datafile.writer import DataFileWriter
from paimonlab.write.gathering import PIECE_BYTES, piece_rows, ready, taken


def in_many_pieces(rng: np.random.Generator, rows: int) -> pa.Table:
    """Make rows with small values, large ones and nulls, in pieces of any size, some empty."""
    large = [None if number % 7 == 0 else str(number) * 500 for number in range(rows)]
    table = pa.table({"id": np.arange(rows), "s": large, "l": [[n, n] for n in range(rows)]})
    cuts = [0, *np.sort(rng.integers(0, rows, 9)).tolist(), rows]
    return pa.concat_tables(table.slice(low, high - low) for low, high in itertools.pairwise(cuts))


def test_rows_are_those_that_arrow_takes(rng: np.random.Generator) -> None:
    rows = in_many_pieces(rng, 1000)

    prepared = ready(rows.columns, rows.schema)

    assert prepared.equals(rows)
    assert [column.num_chunks == 1 for column in prepared.columns] == [True, False, True]
    for count in (0, 1, 5, 1000, 3000):
        positions = rng.integers(0, 1000, count)
        assert taken(prepared, positions).equals(rows.take(pa.array(positions)))


VALUES: dict[pa.DataType, list[object]] = {
    pa.bool_(): [True, False],
    pa.int8(): [1, -1],
    pa.float64(): [0.5, float("-inf")],
    pa.date32(): [date(2026, 1, 1), date(1900, 1, 1)],
    pa.timestamp("us"): [datetime(2026, 1, 1, 12), datetime(1900, 1, 1)],
    pa.string(): ["", "twelve"],
    pa.large_binary(): [b"ab", b""],
    pa.decimal128(12, 2): [Decimal("1.25"), Decimal(-3)],
    pa.list_(pa.int8()): [[1, 2], []],
    pa.null(): [None],
}
HOW = ["in order", "a hole", "changed places", "of two arrays"]


@pytest.mark.parametrize("kind", VALUES, ids=str)
@pytest.mark.parametrize("how", HOW)
def test_pieces_of_one_array_and_of_others_are_joined(
    kind: pa.DataType, how: str, rng: np.random.Generator
) -> None:
    values = itertools.islice(itertools.cycle([*VALUES[kind], None]), 100)
    whole = pa.array(values, kind)
    other = pa.concat_arrays([whole.slice(1), whole.slice(0, 1)])
    cuts = [7, *np.sort(rng.integers(7, 93, 4)).tolist(), 93]
    pieces = [whole.slice(low, high - low) for low, high in itertools.pairwise(cuts)]
    if how == "a hole":
        del pieces[2]
    elif how == "changed places":
        pieces.reverse()
    elif how == "of two arrays":
        pieces[1] = other.slice(cuts[1], cuts[2] - cuts[1])
    rows = pa.table({"a": pa.chunked_array(pieces, kind)})

    joined = ready(rows.columns, rows.schema)

    joined.validate(full=True)
    assert joined.column(0).num_chunks == 1
    assert joined.column(0).to_pylist() == rows.column(0).to_pylist()


def test_batches_of_one_table_are_joined_without_a_copy() -> None:
    whole = pa.table({"n": np.arange(10_000), "s": pa.array(map(str, range(10_000)))})
    rows = pa.Table.from_batches(whole.to_batches(max_chunksize=700))
    before = pa.total_allocated_bytes()

    joined = ready(rows.columns, rows.schema)

    assert joined.equals(whole)
    assert pa.total_allocated_bytes() == before


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary()])
@pytest.mark.parametrize("lengths", [(3, 4), (3, 5), (0, 1)], ids=["equal", "some", "empty"])
def test_texts_of_one_length_are_those_that_arrow_takes(
    kind: pa.DataType, lengths: tuple[int, int], rng: np.random.Generator
) -> None:
    values = [
        "x" * int(length) + "é" * int(length > 2) for length in rng.integers(*lengths, 10_000)
    ]
    texts = pa.array(values).cast(kind).slice(17, 9_000)
    rows = pa.table({"s": texts, "n": pa.array([None, *values[1:9_000]]).cast(kind)})
    positions = rng.permutation(9_000)[: int(rng.integers(0, 9_000))]

    picked = taken(rows, positions)

    picked.validate(full=True)
    assert picked.equals(rows.take(pa.array(positions)))


@pytest.mark.parametrize("place", [0, 70_000, 99_998])
def test_texts_of_another_length_are_found_wherever_they_are(place: int) -> None:
    values = ["ab"] * 100_000
    values[place], values[place + 1] = "a", "abc"
    rows = pa.table({"s": values, "n": range(100_000)})
    positions = np.arange(100_000)[::-1]

    assert taken(rows, positions).equals(rows.take(pa.array(positions)))
    assert taken(rows, positions, without=["s"]).equals(
        rows.select(["n"]).take(pa.array(positions))
    )


def test_a_column_is_not_in_memory_twice() -> None:
    pieces = [pa.table({f"c{n}": np.zeros(2000) for n in range(200)}) for _ in range(20)]
    rows = pa.concat_tables(pieces).cast(pa.schema([(f"c{n}", pa.float32()) for n in range(200)]))
    del pieces
    before, size = pa.total_allocated_bytes(), rows.nbytes
    columns, schema = rows.columns, rows.schema
    del rows

    joined = ready(columns, schema)

    assert columns == []
    assert joined.nbytes == size
    assert pa.total_allocated_bytes() < before + size // 10


def test_pieces_are_bounded_by_bytes() -> None:
    wide = pa.table({"s": ["x" * 100_000] * 1000})
    narrow = pa.table({"id": np.arange(1_000_000)})

    assert piece_rows(wide.slice(0, 300)) == PIECE_BYTES // 100_004
    assert piece_rows(narrow) % (1 << 17) == 0
    assert piece_rows(wide.slice(0, 0)) == 1


@pytest.mark.parametrize(("threads", "megabytes"), [(1, 25), (2, 25), (3, 64 / 3), (64, 16)])
def test_threads_share_what_is_picked_at_once(
    threads: int, megabytes: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paimonlab.write.gathering.THREADS", threads)
    wide = pa.table({"s": ["x" * ((1 << 20) - 4)] * 100})

    assert piece_rows(wide) == int(megabytes), "a quarter of the rows, and all threads 64 MB"


@pytest.mark.parametrize("keys", [[], ["id"]])
def test_a_write_holds_the_buffer_and_little_more(
    keys: list[str], tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = pl.connect(str(tmp_path))
    catalog.create_database("db")
    options = {"write-buffer-size": "32 mb", "parquet.block.size": str(1 << 20)}
    options |= {"bucket": "1", "write-only": "true"} if keys else {}
    columns = {"id": "BIGINT NOT NULL", "s": "STRING"}
    table = catalog.create_table("db.t", columns, primary_keys=keys, options=options)
    held, write = list[int](), DataFileWriter.write
    monkeypatch.setattr("paimonlab.write.gathering.PIECE_BYTES", 1 << 20)
    monkeypatch.setattr("paimonlab.write.gathering.PIECES_BYTES", 1 << 20)

    def watched(self: DataFileWriter, rows: pa.Table, first: int = 0) -> None:
        write(self, rows, first)
        held.append(pa.total_allocated_bytes() - before)

    monkeypatch.setattr(DataFileWriter, "write", watched)
    # Arrow copies the texts: what Python holds is not counted.
    texts = pa.array([rng.bytes(10_000).hex() for _ in range(100)])
    before = pa.total_allocated_bytes()
    ids = rng.permutation(4000)
    schema = pa.schema([("id", pa.int64()), ("s", pa.string())])
    starts = range(0, 4000, 100)
    orders = [pa.array(rng.permutation(100)) for _ in starts]
    batches = (
        pa.record_batch([ids[start : start + 100], texts.take(order)], schema=schema)
        for start, order in zip(starts, orders, strict=True)
    )

    table.write(pa.RecordBatchReader.from_batches(schema, batches))

    # The buffer, and what threads are encoding; all rows would be 80 MB.
    assert max(held) < 1.5 * (32 << 20)
    written = table.scan(columns=["id"]).to_arrow()
    assert np.array_equal(np.sort(written["id"].to_numpy()), np.arange(4000))
