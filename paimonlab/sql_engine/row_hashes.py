"""Hashes of rows as Spark computes them: Murmur3 of 32 bits, and XXH64.

Each argument is hashed with the hash of those before it as seed; NULL leaves the seed as it is. An
array counts as its elements one after the other, a struct as its fields.

Source: apache/spark@v4.3.0 ``org.apache.spark.sql.catalyst.expressions.HashExpression``,
``…expressions.XXH64``, ``org.apache.spark.unsafe.hash.Murmur3_x86_32``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from duckdb.func import ARROW, SPECIAL
from msgspec import Struct

from paimonlab.arrow_values import OFFSET_TYPES, arrow_array, numpy_values, one_array
from paimonlab.spec.binary_row import murmur
from paimonlab.sql_engine.functions.hashes import MURMUR3, SEED, XXHASH64

State: TypeAlias = npt.NDArray[Any]
"""Hashes so far, one per row: uint32 or uint64."""
_LONG_DIGITS = 18
"""Decimals of so many digits are hashed as integers of 64 bits."""
_PADDING = 8


class Pieces(Struct, frozen=True):
    """Bytes of several rows."""

    data: npt.NDArray[np.uint8]
    """All bytes, and ``_PADDING`` more."""
    starts: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]

    def ordered(self, order: npt.NDArray[np.intp]) -> Pieces:
        """Return the same bytes with the rows in another order."""
        return Pieces(self.data, self.starts[order], self.lengths[order])

    def at(self, places: npt.NDArray[np.int64], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """Read the numbers that begin at these bytes."""
        kind = np.dtype(dtype)
        count = len(self.data) - kind.itemsize + 1
        every: npt.NDArray[Any] = np.ndarray((count,), kind, self.data.data, strides=(1,))
        return every[places]


class RowHash(Struct, frozen=True):
    """A hash function. Each part takes seeds and values, which it may change; it returns hashes."""

    dtype: type[np.uint32 | np.uint64]
    ints: Callable[[State, npt.NDArray[np.uint32]], State]
    """Of integers of up to 32 bits, and of values that are stored as such."""
    longs: Callable[[State, npt.NDArray[np.uint64]], State]
    pieces: Callable[[State, Pieces], State]
    """Of texts and bytes."""


def _murmur3_ints(seeds: State, values: npt.NDArray[np.uint32]) -> State:
    murmur.mix(seeds, values)
    return murmur.finish(seeds, np.uint32(4)).view(np.uint32)


def _murmur3_longs(seeds: State, values: npt.NDArray[np.uint64]) -> State:
    murmur.mix(seeds, (values & np.uint64(0xFFFFFFFF)).astype(np.uint32))
    murmur.mix(seeds, (values >> np.uint64(32)).astype(np.uint32))
    return murmur.finish(seeds, np.uint32(8)).view(np.uint32)


def _murmur3_pieces(seeds: State, pieces: Pieces) -> State:
    """Hash bytes: each of the up to three after the last whole word is a word of its own."""
    longest_first = np.argsort(-pieces.lengths, kind="stable")
    pieces, state = pieces.ordered(longest_first), seeds[longest_first]
    starts, counts = pieces.starts, pieces.lengths // 4
    k, active = 0, murmur.rows_longer_than(counts, 0)
    while active > murmur.FEW_ROWS:
        murmur.mix(state[:active], pieces.at(starts[:active] + 4 * k, np.uint32))
        k += 1
        active = murmur.rows_longer_than(counts, k)
    for row in range(active):
        places = starts[row] + 4 * np.arange(k, counts[row])
        state[row] = murmur.mix_one_row(int(state[row]), pieces.at(places, np.uint32))
    for place in range(3):
        rows = np.flatnonzero(pieces.lengths % 4 > place)
        byte = pieces.at(starts[rows] + 4 * counts[rows] + place, np.int8)
        part = state[rows]
        murmur.mix(part, byte.astype(np.int32).view(np.uint32))
        state[rows] = part
    hashes = np.empty_like(state)
    hashes[longest_first] = murmur.finish(state, pieces.lengths.astype(np.uint32)).view(np.uint32)
    return hashes


_MASK = 2**64 - 1
_PRIMES = (
    *(0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9),
    *(0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5),
)
_P1, _P2, _P3, _P4, _P5 = (np.uint64(prime) for prime in _PRIMES)
_LANES = np.array(
    [(_PRIMES[0] + _PRIMES[1]) & _MASK, _PRIMES[1], 0, -_PRIMES[0] & _MASK], np.uint64
)
"""What is added to the seed for each of the four words of 32 bytes."""
_WORDS = 8 * np.arange(4)


def _rotated(values: State, bits: int) -> State:
    return (values << np.uint64(bits)) | (values >> np.uint64(64 - bits))


def _scattered(words: State) -> State:
    return _rotated(words * _P2, 31) * _P1


def _finished(state: State) -> State:
    state = (state ^ (state >> np.uint64(33))) * _P2
    state = (state ^ (state >> np.uint64(29))) * _P3
    return state ^ (state >> np.uint64(32))


def _with_int(state: State, words: npt.NDArray[np.uint32]) -> State:
    return _rotated(state ^ (words.astype(np.uint64) * _P1), 23) * _P2 + _P3


def _with_long(state: State, words: npt.NDArray[np.uint64]) -> State:
    return _rotated(state ^ _scattered(words), 27) * _P1 + _P4


def _with_byte(state: State, words: npt.NDArray[np.uint8]) -> State:
    return _rotated(state ^ (words.astype(np.uint64) * _P5), 11) * _P1


def _xxh64_ints(seeds: State, values: npt.NDArray[np.uint32]) -> State:
    return _finished(_with_int(seeds + _P5 + np.uint64(4), values))


def _xxh64_longs(seeds: State, values: npt.NDArray[np.uint64]) -> State:
    return _finished(_with_long(seeds + _P5 + np.uint64(8), values))


def _xxh64_pieces(seeds: State, pieces: Pieces) -> State:
    """Hash bytes: by 32, what is left by 8, by 4, and one by one."""
    longest_first = np.argsort(-pieces.lengths, kind="stable")
    pieces, seeds = pieces.ordered(longest_first), seeds[longest_first]
    starts, lengths = pieces.starts, pieces.lengths
    state = seeds + _P5
    stripes = lengths // 32
    long = murmur.rows_longer_than(stripes, 0)
    state[:long] = _striped(seeds[:long], pieces, stripes[:long])
    state += lengths.astype(np.uint64)
    for place in range(3):
        rows = np.flatnonzero(lengths % 32 // 8 > place)
        word = pieces.at(starts[rows] + 32 * stripes[rows] + 8 * place, np.uint64)
        state[rows] = _with_long(state[rows], word)
    rows = np.flatnonzero(lengths % 8 >= 4)
    state[rows] = _with_int(
        state[rows], pieces.at(starts[rows] + lengths[rows] // 8 * 8, np.uint32)
    )
    for place in range(3):
        rows = np.flatnonzero(lengths % 4 > place)
        byte = pieces.at(starts[rows] + lengths[rows] // 4 * 4 + place, np.uint8)
        state[rows] = _with_byte(state[rows], byte)
    hashes = np.empty_like(state)
    hashes[longest_first] = _finished(state)
    return hashes


def _striped(seeds: State, pieces: Pieces, stripes: npt.NDArray[np.int64]) -> State:
    """Hash the first rows by 32 bytes; ``stripes`` says how often, the most first."""
    lanes = seeds[:, np.newaxis] + _LANES
    k, active = 0, len(stripes)
    while active:
        words = pieces.at(pieces.starts[:active, np.newaxis] + 32 * k + _WORDS, np.uint64)
        lanes[:active] = _rotated(lanes[:active] + words * _P2, 31) * _P1
        k += 1
        active = murmur.rows_longer_than(stripes, k)
    rotations = zip(lanes.T, (1, 7, 12, 18), strict=True)
    state: State = sum((_rotated(lane, bits) for lane, bits in rotations), np.zeros_like(seeds))
    for lane in lanes.T:
        state = (state ^ _scattered(lane)) * _P1 + _P4
    return state


_FUNCTIONS = {
    MURMUR3: RowHash(np.uint32, _murmur3_ints, _murmur3_longs, _murmur3_pieces),
    XXHASH64: RowHash(np.uint64, _xxh64_ints, _xxh64_longs, _xxh64_pieces),
}


def hashes_of(name: str, *columns: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Hash rows.

    Parameters
    ----------
    name
        The function, as DuckDB's SQL has it.
    columns
        Its arguments, as Spark types them: times are in microseconds.

    Returns
    -------
    pyarrow.Array
        int32 or int64, none of them null.

    Examples
    --------
    Those of Spark's documentation:

    >>> texts, lists = pa.array(["Spark"]), pa.array([[123]], pa.list_(pa.int32()))
    >>> numbers = pa.array([2], pa.int32())
    >>> for name in ("spark_hash", "spark_xxhash64"):
    ...     print(hashes_of(name, texts, lists, numbers).to_pylist())
    [-1321691492]
    [5602566077635097486]
    """
    function = _FUNCTIONS[name]
    state = np.full(len(columns[0]), SEED, function.dtype)
    for column in columns:
        _add(function, one_array(column), state)
    return arrow_array(state.view(np.int32 if function.dtype is np.uint32 else np.int64))


def register(database: duckdb.DuckDBPyConnection, text: str) -> None:
    """Let a database call those of the functions that a statement names."""
    for name, result in ((MURMUR3, "INTEGER"), (XXHASH64, "BIGINT")):
        if f"{name}(" in text:
            database.create_function(
                name, _called(name), None, result, type=ARROW, null_handling=SPECIAL
            )


def _called(name: str) -> Callable[..., pa.Array]:
    def function(*columns: pa.ChunkedArray) -> pa.Array:
        return hashes_of(name, *columns)

    return function


def _add(function: RowHash, column: pa.Array, state: State) -> None:
    """Hash a column with ``state`` as seeds, in place."""
    kind = column.type
    if not len(column):
        return
    if pa.types.is_struct(kind):
        for field in column.flatten():
            _add(function, field, state)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        _add_lists(function, column, state)
    elif column.null_count:
        rows = np.flatnonzero(numpy_values(column.is_valid()))
        if len(rows):
            state[rows] = _hashed(function, column.drop_null(), state[rows])
    else:
        state[:] = _hashed(function, column, state)


def _add_lists(function: RowHash, column: pa.ListArray, state: State) -> None:
    """Hash the first elements of all lists, then the second ones, and so on."""
    offsets = numpy_values(column.offsets).astype(np.int64)
    counts = np.diff(offsets)
    if column.null_count:
        counts[~numpy_values(column.is_valid())] = 0
    for place in range(int(counts.max())):
        rows = np.flatnonzero(counts > place)
        part = state[rows]
        _add(function, column.values.take(arrow_array(offsets[rows] + place)), part)
        state[rows] = part


def _hashed(function: RowHash, column: pa.Array, seeds: State) -> State:
    """Hash atomic values, none of them null."""
    kind = column.type
    if pa.types.is_decimal128(kind):
        return _hashed_decimals(function, column, seeds)
    if kind in OFFSET_TYPES:
        return function.pieces(seeds, _pieces(column))
    if pa.types.is_date32(kind):
        column = column.view(pa.int32())
    elif pa.types.is_timestamp(kind) and kind.unit == "us":
        column = column.view(pa.int64())
    values = numpy_values(column)
    if values.dtype.kind == "f":
        values = np.where(values == 0, values.dtype.type(0), values)  # -0.0 as well
        values = np.where(np.isnan(values), values.dtype.type(np.nan), values)
        values = values.view(f"i{values.itemsize}")
    if values.dtype.kind not in "ib":
        raise TypeError(f"{kind} is not hashed")
    if values.itemsize == 8:
        return function.longs(seeds, values.view(np.uint64))
    return function.ints(seeds, values.astype(np.int32).view(np.uint32))


def _hashed_decimals(function: RowHash, column: pa.Array, seeds: State) -> State:
    numbers = np.frombuffer(column.buffers()[1], np.uint8, 16 * len(column), 16 * column.offset)
    if column.type.precision <= _LONG_DIGITS:
        return function.longs(seeds, numbers.view(np.uint64)[::2])
    # As Java writes them: the highest byte first, and no more of them than also tell the sign.
    every = numbers.reshape(-1, 16)[:, ::-1]
    unlike_sign = np.where(every[:, :1] >= 128, ~every, every)
    first = (unlike_sign != 0).argmax(axis=1)
    rows = np.arange(len(column))
    lengths = 16 - first + (unlike_sign[rows, first] >= 128)
    lengths[~unlike_sign.any(axis=1)] = 1
    data = np.concatenate([every.ravel(), np.zeros(_PADDING, np.uint8)])
    return function.pieces(seeds, Pieces(data, 16 * rows + 16 - lengths, lengths))


def _pieces(column: pa.Array) -> Pieces:
    _, ends, data = column.buffers()
    kind = np.dtype(OFFSET_TYPES[column.type])
    offsets = np.frombuffer(ends, kind, len(column) + 1, column.offset * kind.itemsize)
    begin, end = int(offsets[0]), int(offsets[-1])
    whole = np.frombuffer(b"" if data is None else data, np.uint8)[begin:end]
    padded = np.concatenate([whole, np.zeros(_PADDING, np.uint8)])
    starts = offsets[:-1].astype(np.int64) - begin
    return Pieces(padded, starts, np.diff(offsets).astype(np.int64))
