"""The order of keys, as one numpy array that sorts like them.

Keys sort column by column, ascending, nulls first; CHAR, VARCHAR and BINARY by unsigned bytes,
FLOAT and DOUBLE as numbers: -0.0 equals 0.0. NaN equals NaN and is greater than all others,
where Java takes it as equal to every number and so keeps whichever row it meets last.

Source: apache/paimon@1.3.1 ``org.apache.paimon.codegen.GenerateUtils``; tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from paimonlab.arrow_values import arrow_array, null_filled, numpy_values

Keys: TypeAlias = npt.NDArray[Any]
"""(n,) of an integer or fixed-width bytes type; compares and sorts as the keys do."""

_SIGN = np.uint64(1 << 63)
_WORD_BYTES = 8
_MAX_PADDED_BYTES = 64
"""Longer strings are ranked, not padded: padding costs rows times the longest string."""


def sort_keys(
    columns: Sequence[pa.Array | pa.ChunkedArray], *, is_descending: bool = False
) -> Keys:
    """Encode rows so that comparing two codes compares the rows.

    Parameters
    ----------
    columns
        k >= 1 columns of n rows each, most significant first, of atomic types.
    is_descending
        Let greater values come first. Nulls come first either way.

    Returns
    -------
    (n,) integer or fixed-width bytes
        Equal exactly where all columns are equal (nulls equal each other). Codes of different
        calls do not compare: encode all rows that meet in one call.

    Raises
    ------
    TypeError
        If a column is of a type that has no order (nested types).

    Notes
    -----
    A single integer column is returned as it is, without a copy. Several columns whose value
    ranges fit together into 64 bits become one uint64 each row, which sorts three times as
    fast as bytes.

    Examples
    --------
    >>> sort_keys([pa.array([3, -1, 2])]).argsort()
    array([1, 2, 0])
    >>> sort_keys([pa.array(["b", None, "a"]), pa.array([1, 1, 1])]).argsort()
    array([1, 2, 0])
    """
    arrays = [one_array(column) for column in columns]
    if len(arrays) == 1 and arrays[0].null_count == 0:
        numbers = _numbers(arrays[0])
        if numbers is not None:
            return ~numbers if is_descending else numbers
    parts = [_Part.of(array) for array in arrays]
    packed = _packed(parts, is_descending=is_descending)
    if packed is not None:
        return packed
    matrices = [part.to_bytes(is_descending=is_descending) for part in parts]
    matrix = np.ascontiguousarray(np.hstack(matrices))
    return matrix.view(f"S{matrix.shape[1]}").ravel()


def as_numpy(column: pa.Array | pa.ChunkedArray) -> npt.NDArray[Any]:
    """Return the numbers of a column without nulls; several chunks are copied into one."""
    numbers: npt.NDArray[Any] = numpy_values(one_array(column))
    return numbers


class _Part(Struct, frozen=True):
    """One encoded column: either numbers or bytes; both sort as the column does."""

    numbers: npt.NDArray[np.uint64] | None
    """(n,) or None."""
    matrix: npt.NDArray[np.uint8] | None
    """(n, width) or None."""
    is_valid: npt.NDArray[np.bool_] | None
    """(n,); None: no nulls."""
    low: int = 0
    high: int = 0
    """Range of the valid ``numbers``."""

    @classmethod
    def of(cls, array: pa.Array) -> _Part:
        """Encode one column."""
        is_valid = None
        if array.null_count:
            is_valid = numpy_values(array.is_valid(), zero_copy_only=False)
        signed = _numbers(array)
        if signed is not None:
            numbers = signed.astype(np.int64, copy=False).view(np.uint64) ^ _SIGN
            return cls._of_numbers(numbers, is_valid)
        matrix = _byte_matrix(array)
        if matrix is None:
            return cls._of_numbers(_ranks(array), is_valid)
        if matrix.shape[1] <= _WORD_BYTES:
            return cls._of_numbers(_big_endian_words(matrix), is_valid)
        return cls(None, matrix, is_valid)

    @classmethod
    def _of_numbers(
        cls, numbers: npt.NDArray[np.uint64], is_valid: npt.NDArray[np.bool_] | None
    ) -> _Part:
        present = numbers if is_valid is None else numbers[is_valid]
        if len(present) == 0:
            return cls(numbers, None, is_valid)
        return cls(numbers, None, is_valid, int(present.min()), int(present.max()))

    @property
    def codes_count(self) -> int:
        """How many different codes the numbers may need, null included."""
        return self.high - self.low + 1 + (self.is_valid is not None)

    def codes(self, *, is_descending: bool) -> npt.NDArray[np.uint64]:
        """Return the numbers moved to start at 0; null is 0 and moves the others to 1."""
        assert self.numbers is not None, "only numbers have codes"
        if is_descending:
            codes = np.uint64(self.high) - self.numbers
        else:
            codes = self.numbers - np.uint64(self.low)
        if self.is_valid is not None:
            codes = np.where(self.is_valid, codes + np.uint64(1), np.uint64(0))
        return codes

    def to_bytes(self, *, is_descending: bool) -> npt.NDArray[np.uint8]:
        """Return the column as (n, width) bytes, most significant first."""
        if self.numbers is not None and self.codes_count <= 1 << 64:
            return _words_as_bytes(self.codes(is_descending=is_descending), self.codes_count - 1)
        matrix = self.matrix if self.matrix is not None else _words_as_bytes(self.numbers)
        if is_descending:
            matrix = ~matrix
        if self.is_valid is None:
            return matrix
        matrix = np.where(self.is_valid[:, None], matrix, np.uint8(0))
        return np.hstack([self.is_valid[:, None].astype(np.uint8), matrix])


def _packed(parts: Sequence[_Part], *, is_descending: bool) -> npt.NDArray[np.uint64] | None:
    """Pack all columns into one word each row, or None if they do not fit."""
    if any(part.numbers is None for part in parts):
        return None
    bits = [(part.codes_count - 1).bit_length() for part in parts]
    if sum(bits) > 64:
        return None
    packed = parts[0].codes(is_descending=is_descending)
    for part, width in zip(parts[1:], bits[1:], strict=True):
        packed = packed << np.uint64(width) if width < 64 else np.zeros_like(packed)
        packed |= part.codes(is_descending=is_descending)
    return packed


def one_array(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column as one array; several chunks are copied."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else arrow_array([], column.type)


def _numbers(array: pa.Array) -> npt.NDArray[Any] | None:
    """Return integers that sort as the column does (anything at nulls), or None."""
    kind = array.type
    if pa.types.is_boolean(kind):
        return numpy_values(_filled(array, False).cast(pa.int8()))  # noqa: FBT003 - a value
    if pa.types.is_floating(kind):
        return _float_bits(numpy_values(_filled(array, 0.0)))
    if pa.types.is_decimal128(kind):
        return _small_decimals(array)
    if pa.types.is_integer(kind) or pa.types.is_temporal(kind):
        if pa.types.is_uint64(kind):
            raise TypeError(f"{kind} is not a type of key columns")
        integer = pa.int64() if kind.bit_width == 64 else pa.int32()
        same_width = array if pa.types.is_integer(kind) else array.view(integer)
        return numpy_values(_filled(same_width, 0))
    return None


def _filled(array: pa.Array, value: float) -> pa.Array:
    return null_filled(array, value)


def _float_bits(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Order doubles as signed integers: -0.0 equals 0.0, every NaN equal and last."""
    width = values.dtype.itemsize * 8
    integer: npt.DTypeLike = np.int64 if width == 64 else np.int32
    same_nan = np.where(np.isnan(values), np.array(np.nan, values.dtype), values)
    bits = (same_nan + values.dtype.type(0)).view(integer)  # -0.0 + 0.0 is 0.0
    return bits ^ ((bits >> (width - 1)) & np.iinfo(integer).max)


def decimal_words(array: pa.Array) -> npt.NDArray[np.int64]:
    """Return (n, 2) little-endian words of the unscaled values, zero at nulls."""
    words: npt.NDArray[np.int64] = np.frombuffer(array.buffers()[1], np.int64)
    words = words.reshape(-1, 2)[array.offset : array.offset + len(array)]
    if array.null_count:
        words = np.where(numpy_values(array.is_valid(), zero_copy_only=False)[:, None], words, 0)
    return words


def _small_decimals(array: pa.Array) -> npt.NDArray[np.int64] | None:
    """Return the unscaled values when all of them fit into 64 bits."""
    words = decimal_words(array)
    low = np.ascontiguousarray(words[:, 0])
    return low if bool((words[:, 1] == low >> 63).all()) else None


def _byte_matrix(array: pa.Array) -> npt.NDArray[np.uint8] | None:
    """Return (n, width) bytes that sort as the column does, or None if that is too wide."""
    kind = array.type
    if pa.types.is_decimal128(kind):
        big_endian = decimal_words(array)[:, ::-1].view(np.uint64).copy()
        big_endian[:, 0] ^= _SIGN
        return big_endian.astype(">u8").view(np.uint8).reshape(len(array), 16)
    if not _is_bytes(kind):
        raise TypeError(f"{kind} has no order")
    if len(array) == 0:
        return np.zeros((0, 1), np.uint8)
    return _padded(_as_binary(array))


def _is_bytes(kind: pa.DataType) -> bool:
    return (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
        or pa.types.is_string_view(kind)
        or pa.types.is_binary_view(kind)
    )


def _as_binary(array: pa.Array) -> pa.Array:
    """Return the values as LARGE_BINARY, empty at nulls."""
    binary = array.cast(pa.large_binary())
    return null_filled(binary, b"") if binary.null_count else binary


def _padded(array: pa.Array) -> npt.NDArray[np.uint8] | None:
    """Pad every value to the longest with zeros; if zeros could lie, add the length.

    A value and the same value followed by a zero byte pad to the same bytes; the shorter
    one is the smaller one.
    """
    offsets = np.frombuffer(array.buffers()[1], np.int64)
    offsets = offsets[array.offset : array.offset + len(array) + 1]
    lengths = np.diff(offsets)
    width = int(lengths.max())
    if width > _MAX_PADDED_BYTES:
        return None
    if width == 0:
        return np.zeros((len(array), 1), np.uint8)
    data = np.frombuffer(array.buffers()[2], np.uint8)[offsets[0] : offsets[-1]]
    if int(lengths.min()) == width:
        return data.reshape(len(array), width)
    # The kernel pads bytes and looks at no character, so any bytes may pass as text.
    text = pa.Array.from_buffers(
        pa.large_string(), len(array), [None, *array.buffers()[1:]], offset=array.offset
    )
    padded = pc.ascii_rpad(text, width, "\0")
    matrix = np.frombuffer(padded.buffers()[2], np.uint8)[: len(array) * width]
    matrix = matrix.reshape(len(array), width)
    if (data == 0).any():
        return np.hstack([matrix, lengths.astype(np.uint8)[:, None]])
    return matrix


def _big_endian_words(matrix: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    words = np.zeros((len(matrix), _WORD_BYTES), np.uint8)
    words[:, : matrix.shape[1]] = matrix
    return words.view(">u8").ravel().astype(np.uint64)


def _words_as_bytes(
    words: npt.NDArray[np.uint64] | None, highest: int = (1 << 64) - 1
) -> npt.NDArray[np.uint8]:
    """Return words as big-endian bytes, as many as the highest needs."""
    assert words is not None, "a part has numbers or bytes"
    width = max(1, (highest.bit_length() + 7) // 8)
    matrix = words.astype(">u8").view(np.uint8).reshape(len(words), _WORD_BYTES)
    return matrix[:, _WORD_BYTES - width :]


def _ranks(array: pa.Array) -> npt.NDArray[np.uint64]:
    """Rank long strings; equal values share a rank."""
    ranks = pc.rank(_as_binary(array), sort_keys="ascending", tiebreaker="dense")
    return numpy_values(ranks).astype(np.uint64)
