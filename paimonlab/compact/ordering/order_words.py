"""Values of columns as numbers, or bytes, that order as the values do.

Source: apache/paimon@1.3.1 ``org.apache.paimon.sort.zorder.ZIndexer`` for which types. There
decimals and the lower bits of floating-point numbers are out of order; here they are not.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import SchemaError
from paimonlab.spec.types.data_types import AtomicType, DataField, TypeRoot

WORD_BYTES = 8

_SIGN = np.uint64(1 << 63)
_TEXTS = frozenset({TypeRoot.CHAR, TypeRoot.VARCHAR, TypeRoot.BINARY, TypeRoot.VARBINARY})
_MOST_DIGITS = 18
"""Digits of a decimal that surely fit into 64 bits."""


def has_any_length(field: DataField) -> bool:
    """Say whether values have any length."""
    return isinstance(field.type, AtomicType) and field.type.root in _TEXTS


def check_can_be_ordered(field: DataField, *, table: str) -> None:
    """Check that rows can be ordered by a column.

    Raises
    ------
    SchemaError
        If its values are arrays, maps, rows or variants.
    """
    if not isinstance(field.type, AtomicType) or field.type.root is TypeRoot.VARIANT:
        raise SchemaError(
            f"{table}: rows cannot be ordered by column {field.name!r}: its values are nested"
        )


def ordered_words(column: pa.Array, field: DataField) -> npt.NDArray[np.uint64]:
    """Make a number of each value, so that the numbers order as the values.

    Parameters
    ----------
    column
        n values.
    field
        What they are.

    Returns
    -------
    (n,) uint64
        0 for null. Of texts and bytes the first 8 bytes count, of decimals of more than 18
        digits the first 18.
    """
    if has_any_length(field):
        return ordered_bytes(column, field, WORD_BYTES).view(">u8").astype(np.uint64)[:, 0]
    is_null = column.is_null().to_numpy(zero_copy_only=False)
    if pa.types.is_floating(column.type):
        words = _of_floats(column)
    elif pa.types.is_boolean(column.type):
        is_true = column.fill_null(False).to_numpy(zero_copy_only=False)  # noqa: FBT003
        words = is_true.astype(np.uint64) + np.uint64(1)
    else:
        words = _integers(column).view(np.uint64) ^ _SIGN
    words[is_null] = 0
    return words


def ordered_bytes(column: pa.Array, field: DataField, width: int) -> npt.NDArray[np.uint8]:
    """Make a row of bytes of each value, so that they order as the values.

    Parameters
    ----------
    column
        n values.
    field
        What they are.
    width
        Bytes that a text contributes: longer ones are cut, shorter ones filled with 0.

    Returns
    -------
    (n, width) uint8
        `WORD_BYTES` wide, if the values are no texts; 0 for null.
    """
    if not has_any_length(field):
        words = ordered_words(column, field)
        return words.astype(">u8").view(np.uint8).reshape(-1, WORD_BYTES)
    binary = column.cast(pa.large_binary()) if len(column) else arrow_array([], pa.large_binary())
    cut = pc.binary_slice(binary, 0, width).cast(pa.large_binary()).fill_null(b"")
    offsets = np.frombuffer(cut.buffers()[1], np.int64)[cut.offset : cut.offset + len(cut) + 1]
    data = np.frombuffer(cut.buffers()[2] or b"", np.uint8)
    lengths = np.diff(offsets)
    filled = np.zeros((len(cut), width), np.uint8)
    is_used = np.arange(width)[None, :] < lengths[:, None]
    filled[is_used] = data[offsets[0] : offsets[-1]] if len(cut) else data[:0]
    return filled


def _of_floats(column: pa.Array) -> npt.NDArray[np.uint64]:
    values = column.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)
    bits = values.view(np.int64)
    # Negative numbers have the sign bit and order backwards.
    return (bits ^ ((bits >> 63) | np.int64(-(2**63)))).view(np.uint64)


def _integers(column: pa.Array) -> npt.NDArray[np.int64]:
    type_ = column.type
    if pa.types.is_decimal(type_):
        column = _leading_digits(column)
    elif pa.types.is_temporal(type_):
        is_short = type_.bit_width == 32
        column = column.view(pa.int32() if is_short else pa.int64())
    numbers: npt.NDArray[np.int64] = np.array(
        column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    )
    return numbers


def _leading_digits(column: pa.Array) -> pa.Array:
    type_ = column.type
    # Two 64-bit halves, the lower one first: what fits into the lower one is the value.
    halves = np.frombuffer(column.buffers()[1], np.int64).reshape(-1, 2)
    halves = halves[column.offset : column.offset + len(column)]
    if type_.precision <= _MOST_DIGITS:
        return arrow_array(halves[:, 0])
    high, low = halves[:, 1].astype(np.float64), halves[:, 0].view(np.uint64).astype(np.float64)
    whole = high * 2.0**64 + low
    return arrow_array((whole / 10.0 ** (type_.precision - _MOST_DIGITS)).astype(np.int64))
