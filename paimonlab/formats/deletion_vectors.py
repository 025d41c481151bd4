"""Deletion vectors: the positions of the deleted rows of a data file, and the files they lie in.

An index file is a version byte, then one vector after the other: length, payload, checksum.
There are two payloads: of 32 bits (the default) and of 64 bits
(``deletion-vectors.bitmap64``, the vectors of Iceberg and Delta Lake).

Source: https://paimon.apache.org/docs/master/concepts/spec/tableindex/ and
apache/paimon@1.3.1 ``org.apache.paimon.deletionvectors``.
"""

from __future__ import annotations

import array
import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import Self

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from pyroaring import BitMap

from paimonlab.errors import CorruptDataError

INDEX_FILE_VERSION = b"\x01"
"""What an index file begins with."""

_MAGIC_32 = struct.pack(">i", 1581511376)
_MAGIC_64 = struct.pack("<i", 1681511377)
_MAGIC_BYTES = 4
_AROUND_BYTES = 8
"""Length before and checksum after the payload."""
_KEY_BITS = 32
_LARGEST_32 = 2**31 - 1
_MOST_BITMAPS = 1 << 16
"""So many times four billion rows no file has."""


class DeletionVector(Struct, frozen=True):
    """The deleted rows of one data file."""

    bitmaps: tuple[BitMap, ...]
    """The lower 32 bits of the positions; those of bitmap ``i`` have ``i`` above them."""

    @classmethod
    def of(cls, positions: npt.NDArray[np.int64]) -> Self:
        """Make a vector of positions.

        Parameters
        ----------
        positions : (n,) int64
            Not negative, in any order.
        """
        high = positions >> _KEY_BITS
        low = positions.astype(np.uint32)
        count = int(high.max()) + 1 if len(high) else 0
        if count <= 1:
            return cls((_bitmap(low),))
        return cls(tuple(_bitmap(low[high == key]) for key in range(count)))

    @property
    def cardinality(self) -> int:
        """How many rows are deleted."""
        return sum(map(len, self.bitmaps))

    def positions(self) -> npt.NDArray[np.int64]:
        """Return the positions of the deleted rows, ascending."""
        parts = [
            np.frombuffer(bitmap.to_array(), np.uint32).astype(np.int64) + (key << _KEY_BITS)
            for key, bitmap in enumerate(self.bitmaps)
            if bitmap
        ]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    def has(self, positions: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Say of each of n positions whether that row is deleted: (n,) bool."""
        asked = DeletionVector.of(positions)
        both = [one & two for one, two in zip(self.bitmaps, asked.bitmaps, strict=False)]
        return np.isin(positions, DeletionVector(tuple(both)).positions())

    def survivors(self, row_count: int, *, path: str) -> npt.NDArray[np.bool_]:
        """Mark the rows that are not deleted.

        Parameters
        ----------
        row_count
            Rows of the data file.
        path
            Path of the index file, for the message.

        Returns
        -------
        (row_count,) bool

        Raises
        ------
        CorruptDataError
            If a row is deleted that the file does not have.
        """
        mask = np.ones(row_count, np.bool_)
        deleted = self.positions()
        if len(deleted) and deleted[-1] >= row_count:
            raise CorruptDataError(
                path, f"row {deleted[-1]:,} is deleted of a data file of {row_count:,} rows"
            )
        mask[deleted] = False
        return mask

    def __or__(self, other: DeletionVector) -> DeletionVector:
        shorter, longer = sorted((self.bitmaps, other.bitmaps), key=len)
        both = [one | two for one, two in zip(shorter, longer, strict=False)]
        return DeletionVector((*both, *longer[len(shorter) :]))


def _bitmap(values: npt.NDArray[np.uint32]) -> BitMap:
    # Reading an array.array takes a tenth of the time that a numpy array takes.
    return BitMap(array.array("I", values.tobytes()))


def decode_deletion_vector(data: bytes, *, path: str) -> DeletionVector:
    """Read one vector.

    Parameters
    ----------
    data
        All of it: length, payload and checksum.
    path
        Path of the index file, for the message.

    Raises
    ------
    CorruptDataError
        If the vector is cut, damaged, or of another kind.
    """
    length = int.from_bytes(data[:4]) if len(data) >= _AROUND_BYTES else -1
    if length != len(data) - _AROUND_BYTES:
        raise CorruptDataError(
            path, f"a deletion vector says it has {length:,} bytes, but has {len(data)} in the file"
        )
    payload, checksum = data[4:-4], int.from_bytes(data[-4:])
    if zlib.crc32(payload) != checksum:
        raise CorruptDataError(path, "the checksum of a deletion vector is wrong")
    magic, content = payload[:_MAGIC_BYTES], payload[_MAGIC_BYTES:]
    try:
        if magic == _MAGIC_32:
            return DeletionVector((_whole_bitmap(content),))
        if magic == _MAGIC_64:
            return DeletionVector(_bitmaps_64(content))
    except ValueError as error:
        raise CorruptDataError(path, f"a deletion vector is damaged: {error}") from error
    raise CorruptDataError(path, f"a deletion vector begins with the unknown number {magic.hex()}")


def _whole_bitmap(content: bytes) -> BitMap:
    bitmap = BitMap.deserialize(content)
    if len(bitmap.serialize()) != len(content):
        raise ValueError("there are bytes after its bitmap")
    return bitmap


def _bitmaps_64(content: bytes) -> tuple[BitMap, ...]:
    count = int.from_bytes(content[:8], "little")
    bitmaps: list[BitMap] = []
    at = 8
    for _ in range(count):
        key = int.from_bytes(content[at : at + 4], "little")
        if not len(bitmaps) <= key < _MOST_BITMAPS:
            raise ValueError(f"bitmap {key} is not expected after bitmap {len(bitmaps) - 1}")
        bitmaps += [BitMap() for _ in range(key - len(bitmaps))]
        bitmaps.append(BitMap.deserialize(content[at + 4 :]))
        at += 4 + len(bitmaps[-1].serialize())
    if at != len(content):
        raise ValueError(f"its bitmaps end at byte {at} of {len(content)}")
    return tuple(bitmaps)


def encode_deletion_vector(vector: DeletionVector, *, bitmap64: bool) -> bytes:
    """Write one vector: length, payload and checksum.

    Parameters
    ----------
    vector
        The deleted rows.
    bitmap64
        Which of the two payloads.

    Raises
    ------
    ValueError
        If a position is too large for 32 bits.
    """
    parts = [_serialized(bitmap) for bitmap in vector.bitmaps]
    if bitmap64:
        if parts and not vector.cardinality:
            parts = []
        keyed = [key.to_bytes(4, "little") + part for key, part in enumerate(parts)]
        payload = b"".join([_MAGIC_64, len(parts).to_bytes(8, "little"), *keyed])
    else:
        positions = vector.bitmaps[0] if vector.bitmaps else BitMap()
        if len(parts) > 1 or (positions and positions.max() > _LARGEST_32):
            raise ValueError(
                "a data file of more than 2,147,483,647 rows needs deletion-vectors.bitmap64"
            )
        payload = _MAGIC_32 + (parts[0] if parts else _serialized(BitMap()))
    return b"".join(
        [len(payload).to_bytes(4), payload, zlib.crc32(payload).to_bytes(4)],
    )


def _serialized(bitmap: BitMap) -> bytes:
    """Serialise a bitmap as Java does: with runs where these are shorter."""
    copy = bitmap.copy()
    copy.run_optimize()
    return bytes(copy.serialize())


def stored_length(encoded: bytes) -> int:
    """Return what the index manifest says of the length of an encoded vector.

    With 32 bits that is the payload alone, with 64 bits also length and checksum.
    """
    return len(encoded) if encoded[4:8] == _MAGIC_64 else len(encoded) - _AROUND_BYTES


def cut_deletion_vector(data: bytes, offset: int, length_bytes: int, *, path: str) -> bytes:
    """Cut one vector out of (the beginning of) an index file.

    Parameters
    ----------
    data
        The file, at least up to the end of the vector.
    offset, length_bytes
        As the index manifest has them.
    path
        Path of the file, for the message.

    Raises
    ------
    CorruptDataError
        If the file is of another version, cut, or holds something else there.
    """
    if data[:1] != INDEX_FILE_VERSION:
        raise CorruptDataError(path, f"an index file begins with 01, this one with {data[:1]!r}")
    magic = data[offset + 4 : offset + 8]
    end = offset + length_bytes + (0 if magic == _MAGIC_64 else _AROUND_BYTES)
    if offset < 1 or end > len(data):
        raise CorruptDataError(
            path, f"the file has {len(data):,} bytes, a deletion vector ends at byte {end:,}"
        )
    return data[offset:end]


class IndexFileContent(Struct, frozen=True):
    """The bytes of one index file and where its vectors are."""

    data: bytes
    offsets: tuple[int, ...]
    """Of each vector, as the index manifest has it."""
    lengths: tuple[int, ...]
    """Of each vector, as the index manifest has it."""


def index_files(
    encoded: Sequence[bytes], *, target_bytes: int | None
) -> Iterator[IndexFileContent]:
    """Put vectors into index files.

    Parameters
    ----------
    encoded
        The vectors, in their order.
    target_bytes
        A file that is larger is ended (``deletion-vector.index-file.target-size``); None: all
        vectors go into one file, which is written even without vectors.
    """
    parts, offsets, size = [INDEX_FILE_VERSION], [], 1
    for vector in encoded:
        offsets.append(size)
        parts.append(vector)
        size += len(vector)
        if target_bytes is not None and size > target_bytes:
            yield _content(parts, offsets)
            parts, offsets, size = [INDEX_FILE_VERSION], [], 1
    if offsets or target_bytes is None:
        yield _content(parts, offsets)


def _content(parts: Sequence[bytes], offsets: Sequence[int]) -> IndexFileContent:
    lengths = tuple(map(stored_length, parts[1:]))
    return IndexFileContent(b"".join(parts), tuple(offsets), lengths)
