"""BinaryRow: rows as bytes, as keys, partitions and statistics are stored and hashed.

A serialised row is the big-endian number of its fields followed by the little-endian row;
a hash is taken of the row alone.

Source: apache/paimon@1.3.1 ``org.apache.paimon.data.BinaryRow``,
``org.apache.paimon.utils.SerializationUtils``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import one_array
from paimonlab.errors import CorruptMetadataError
from paimonlab.spec.binary_row import decode as binary_decode
from paimonlab.spec.binary_row import layout as binary_layout
from paimonlab.spec.binary_row.buffers import byte_array, byte_pieces, null_mask
from paimonlab.spec.binary_row.murmur import hash_ragged, hash_words
from paimonlab.spec.binary_row.pieces import Pieces, offsets_of, words_at
from paimonlab.spec.binary_row.slots import slots, slots_of_each
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import DataType

ARITY_BYTES = 4
_HASH_CHUNK_ROWS = 1 << 15  # keeps the working set of a hash inside the processor's cache


def encode(
    columns: Sequence[pa.Array | pa.ChunkedArray],
    types: Sequence[DataType],
    *,
    prefix: bool = True,
) -> pa.LargeBinaryArray:
    """Encode n rows.

    Parameters
    ----------
    columns
        One per field, each of n values, of the Arrow type of the field or one that casts to
        it without loss. With no columns there is one row.
    types
        Types of the fields.
    prefix
        Whether to put the number of fields in front, as stored rows have it.

    Returns
    -------
    pyarrow.LargeBinaryArray
        n rows, no nulls.

    Raises
    ------
    pyarrow.ArrowInvalid
        If a value does not fit its type.

    Notes
    -----
    A null DECIMAL of more than 18 digits reserves 16 zero bytes, a null TIMESTAMP of more
    than 3 fraction digits 8: hashes and the identity of partitions depend on it.

    Examples
    --------
    >>> from paimonlab.spec.types.data_types import AtomicType, TypeRoot
    >>> encode([pa.array([1], pa.int32())], [AtomicType(TypeRoot.INT)])[0].as_py().hex()
    '0000000100000000000000000100000000000000'
    """
    row_count = len(columns[0]) if columns else 1
    fields = slots_of_each(columns, types)
    arity = len(types).to_bytes(ARITY_BYTES, "big") if prefix else b""
    pieces = binary_layout.rows(fields, row_count, prefix=arity)
    offsets = offsets_of(pieces.lengths)
    return byte_array(pa.large_binary(), pieces.data[: offsets[-1]], offsets, None)


def encode_one(values: Sequence[pa.Scalar], types: Sequence[DataType]) -> bytes:
    """Encode one row, with the number of fields in front.

    >>> encode_one([], []) == bytes(12)
    True
    """
    columns = [pa.repeat(value, 1) for value in values]
    return encode(columns, types)[0].as_py()


def decode(
    rows: pa.LargeBinaryArray | pa.BinaryArray | pa.ChunkedArray,
    types: Sequence[DataType],
    *,
    path: str = "BinaryRow",
    is_lenient: bool = False,
    wanted: Sequence[int] | None = None,
) -> list[pa.Array]:
    """Decode n serialised rows.

    Parameters
    ----------
    rows
        n rows, each with its number of fields in front; a null gives a row of nulls.
    types
        Types of the fields.
    path
        The file the rows come from, only for messages.
    is_lenient
        Whether a timestamp that Arrow cannot hold becomes null, as an unknown statistic is,
        instead of an error.
    wanted
        Positions of the fields to decode; None: all.

    Returns
    -------
    list of pyarrow.Array
        One per wanted field, of the Arrow type of the field.

    Raises
    ------
    CorruptMetadataError
        If a row has another number of fields, is cut or points outside itself.

    Examples
    --------
    >>> from paimonlab.spec.types.data_types import AtomicType, TypeRoot
    >>> int_type = AtomicType(TypeRoot.INT)
    >>> decode(encode([pa.array([1, None], pa.int32())], [int_type]), [int_type])[0].to_pylist()
    [1, None]
    """
    array = one_array(rows)
    pieces, mask = byte_pieces(array), null_mask(array)
    is_null = np.zeros(len(array), np.bool_) if mask is None else mask
    if len(array) == 0:
        chosen = types if wanted is None else [types[position] for position in wanted]
        return [pa.nulls(0, to_arrow(data_type)) for data_type in chosen]
    try:
        body = _without_arity(pieces, len(types), is_null)
        return binary_decode.rows(body, types, is_null, is_lenient=is_lenient, wanted=wanted)
    except binary_decode.DamagedRowError as error:
        raise CorruptMetadataError(path, f"damaged row: {error}") from error


def _without_arity(pieces: Pieces, expected: int, is_null: npt.NDArray[np.bool_]) -> Pieces:
    if (pieces.lengths[~is_null] < ARITY_BYTES).any():
        raise binary_decode.DamagedRowError("a row is too short for the number of its fields")
    arity = words_at(pieces.data, np.where(is_null, 0, pieces.starts), ">u4").astype(np.int64)
    others = arity[~is_null & (arity != expected)]
    if len(others):
        raise binary_decode.DamagedRowError(f"it has {others[0]} fields, expected {expected}")
    lengths = np.where(is_null, 0, pieces.lengths - ARITY_BYTES)
    return Pieces(pieces.data, pieces.starts + ARITY_BYTES, lengths)


def arity_of(row: bytes) -> int:
    """Return how many fields a serialised row says it has.

    >>> arity_of(bytes(12))
    0
    """
    return int.from_bytes(row[:ARITY_BYTES], "big")


def hash_codes(
    columns: Sequence[pa.Array | pa.ChunkedArray], types: Sequence[DataType]
) -> npt.NDArray[np.int32]:
    """Hash n rows, the values that decide about buckets.

    Parameters
    ----------
    columns, types
        As for `encode`; at least one column.

    Returns
    -------
    (n,) int32

    Raises
    ------
    pyarrow.ArrowInvalid
        If a value does not fit its type.
    """
    row_count = len(columns[0])
    result = np.empty(row_count, np.int32)
    for start in range(0, row_count, _HASH_CHUNK_ROWS):
        chunk = [column.slice(start, _HASH_CHUNK_ROWS) for column in columns]
        result[start : start + _HASH_CHUNK_ROWS] = _hash_chunk(chunk, types)
    return result


def _hash_chunk(
    columns: Sequence[pa.Array | pa.ChunkedArray], types: Sequence[DataType]
) -> npt.NDArray[np.int32]:
    row_count = len(columns[0])
    fields = [slots(column, type_) for column, type_ in zip(columns, types, strict=True)]
    pieces = binary_layout.rows(fields, row_count)
    words = pieces.data.view(np.uint32)
    counts = pieces.lengths >> 2
    if counts.min() == counts.max():
        width = int(counts[0])
        return hash_words(words[: row_count * width].reshape(row_count, width))
    return hash_ragged(words, pieces.starts >> 2, counts)
