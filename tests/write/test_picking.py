"""Values are picked of pieces that lie anywhere in memory as of one array."""

from __future__ import annotations

import decimal
import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from paimonlab.write.gathering import ready, taken
from paimonlab.write.picking import Choice, Pieces, Spread

ROWS = 16_000
KINDS = [
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64()),
    *(pa.date32(), pa.time32("ms"), pa.timestamp("us"), pa.timestamp("us", "UTC")),
    *(pa.decimal128(12, 2), pa.decimal128(38, 0), pa.binary(3), pa.binary(16)),
    *(pa.string(), pa.large_string(), pa.binary(), pa.large_binary()),
]


def values_of(kind: pa.DataType, count: int, rng: np.random.Generator, *, nulls: bool) -> pa.Array:
    """Make an array of its own memory; texts and bytes have eight bytes each."""
    mask = rng.random(count) < 0.2 if nulls else None
    if pa.types.is_fixed_size_binary(kind):
        values = pa.array([rng.bytes(kind.byte_width) for _ in range(count)], kind)
    elif pa.types.is_decimal(kind):
        numbers = rng.integers(-(10**9), 10**9, count).tolist()
        values = pa.array([decimal.Decimal(number).scaleb(-kind.scale) for number in numbers], kind)
    elif pa.types.is_primitive(kind):
        values = pa.array(rng.integers(0, 100, count, f"int{kind.bit_width}")).view(kind)
    else:
        values = pa.array([f"{number:08d}" for number in rng.integers(0, 10**8, count)]).cast(kind)
    return values if mask is None else pa.compute.if_else(pa.array(mask), None, values)


def in_pieces(
    kind: pa.DataType, rng: np.random.Generator, *, nulls: bool = False
) -> pa.ChunkedArray:
    """Make a column of arrays of any size, each a cut of its own memory, some empty."""
    cuts = [0, *np.sort(rng.integers(0, ROWS, 12)).tolist(), ROWS]
    cuts.insert(3, cuts[3])
    pieces = [
        values_of(kind, high - low + 9, rng, nulls=nulls and bool(number % 3)).slice(5, high - low)
        for number, (low, high) in enumerate(itertools.pairwise(cuts))
    ]
    return pa.chunked_array(pieces, kind)


def positions_of(rng: np.random.Generator, count: int = ROWS) -> Sequence[npt.NDArray[np.int64]]:
    return [rng.permutation(count), rng.integers(0, count, 100), np.zeros(0, np.int64)]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("nulls", [False, True], ids=["no nulls", "nulls"])
def test_values_are_those_that_arrow_takes(
    kind: pa.DataType, nulls: bool, rng: np.random.Generator
) -> None:
    column = in_pieces(kind, rng, nulls=nulls)
    rows = pa.table({"a": column, "n": in_pieces(pa.int64(), rng)})
    prepared = ready(rows.columns, rows.schema, only_picked=True)

    for positions in positions_of(rng):
        picked = taken(prepared, positions)

        picked.validate(full=True)
        assert picked.equals(rows.take(pa.array(positions)))


def test_values_of_one_width_are_not_joined(rng: np.random.Generator) -> None:
    columns = {str(kind): in_pieces(kind, rng, nulls=True) for kind in KINDS[:8]}
    rows = pa.table({**columns, "some": in_pieces(pa.string(), rng)})
    before = pa.total_allocated_bytes()

    prepared = ready(rows.columns, rows.schema, only_picked=True)

    valid_bytes = len(columns) * ROWS // 8
    assert pa.total_allocated_bytes() - before < 2 * valid_bytes
    assert [column.num_chunks > 1 for column in prepared.columns] == [True] * 9


@pytest.mark.parametrize(
    ("kind", "values", "count"),
    [
        (pa.bool_(), [True, None], 2000),
        (pa.null(), [None], 2000),
        (pa.list_(pa.int8()), [[1], []], 2000),
        (pa.int64(), [1, None, 2], 100),
    ],
    ids=["bits", "null", "list", "few rows"],
)
def test_what_has_no_width_is_joined(
    kind: pa.DataType, values: list[object], count: int, rng: np.random.Generator
) -> None:
    given = [pa.array([values[n % len(values)] for n in range(count)], kind) for _ in range(9)]
    rows = pa.table({"a": pa.chunked_array(given)})

    prepared = ready(rows.columns, rows.schema, only_picked=True)

    assert prepared.column(0).num_chunks == 1, "without a width, or too small to look at each"
    for positions in positions_of(rng, rows.num_rows):
        assert taken(prepared, positions).equals(rows.take(pa.array(positions)))


@pytest.mark.parametrize("apart", [1, 4, 8, 16])
def test_numbers_stay_where_they_are_only_if_they_are_aligned_alike(
    apart: int, rng: np.random.Generator
) -> None:
    memory = pa.py_buffer(rng.bytes(1 << 20))
    pieces = [
        pa.Array.from_buffers(pa.int64(), 4000, [None, memory.slice(start, 32_000)])
        for start in (64, 40_000 + 64 + apart, 100_000 + 64)
    ]
    column = pa.chunked_array(pieces)
    offset = memory.address % 8  # of numbers that Python's bytes begin with

    spread = Choice().spread(column)

    assert (spread is not None) == (apart % 8 == 0 and offset == 0)
    rows = pa.table({"a": column})
    positions = rng.permutation(12_000)
    assert taken(rows, positions).equals(rows.take(pa.array(positions)))


def test_texts_of_several_lengths_are_joined_and_large_ones_are_not(
    rng: np.random.Generator,
) -> None:
    some = pa.chunked_array([["a", "bb"] * 2000, ["ccc", "dd"] * 2000])
    large = pa.chunked_array([["x" * 2000] * 2100, ["y" * 2000] * 2100])
    chosen = [Choice().of(column) for column in (some, large, in_pieces(pa.int64(), rng))]

    assert [type(pick) for pick in chosen] == [Pieces, Pieces, Spread]
    prepared = ready([some], pa.schema([("a", pa.string())]), only_picked=True)
    assert prepared.column(0).num_chunks == 1


def test_overlapping_and_repeated_pieces(rng: np.random.Generator) -> None:
    whole = pa.array(rng.integers(0, 1 << 40, 9000))
    pieces = [whole.slice(4000, 3000), whole.slice(3000, 3000), whole.slice(4000, 3000)]
    rows = pa.table({"a": pa.chunked_array(pieces)})
    prepared = ready(rows.columns, rows.schema, only_picked=True)
    assert prepared.column(0).num_chunks == 3
    for positions in positions_of(rng, 9000):
        assert taken(prepared, positions).equals(rows.take(pa.array(positions)))


def test_many_pieces_have_numbers_of_two_bytes(rng: np.random.Generator) -> None:
    pieces = [pa.array(rng.integers(0, 1 << 40, 1024)) for _ in range(300)]
    rows = pa.table({"a": pa.chunked_array(pieces)})
    [pick] = [Choice().of(column) for column in rows.columns]
    assert isinstance(pick, Spread)
    assert pick.piece_of.dtype == np.uint16
    positions = rng.permutation(rows.num_rows)
    assert taken(rows, positions).equals(rows.take(pa.array(positions)))
