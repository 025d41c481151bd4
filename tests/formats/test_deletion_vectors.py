"""Deletion vectors: bytes that Java wrote, bytes that are damaged, positions of any size."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from paimonlab.errors import CorruptDataError
from paimonlab.formats.deletion_vectors import (
    DeletionVector,
    IndexFileContent,
    cut_deletion_vector,
    decode_deletion_vector,
    encode_deletion_vector,
    index_files,
)

PATH = "/w/db.db/t/index/index-1"

FEW = "5e43f2d03a3000000200000000000200010000001800" + "00001e0000000100030005007011"
"""Positions 1, 3, 5, 70000 as Java writes them: magic and bitmap."""
RUN = "5e43f2d03b300000010000140001000000" + "1400"
"""Positions 0 to 20."""


def stored(payload: str) -> bytes:
    data = bytes.fromhex(payload)
    return len(data).to_bytes(4) + data + zlib.crc32(data).to_bytes(4)


def vector(*positions: int) -> DeletionVector:
    return DeletionVector.of(np.array(positions, np.int64))


def decoded(data: bytes) -> DeletionVector:
    return decode_deletion_vector(data, path=PATH)


@pytest.mark.parametrize(
    ("payload", "positions"), [(FEW, [1, 3, 5, 70000]), (RUN, list(range(21)))]
)
def test_bytes_of_java_are_read_and_written(payload: str, positions: list[int]) -> None:
    assert decoded(stored(payload)).positions().tolist() == positions
    assert encode_deletion_vector(vector(*positions), bitmap64=False) == stored(payload)


@pytest.mark.parametrize("bitmap64", [False, True])
@pytest.mark.parametrize(
    "positions",
    [
        [],
        [0],
        [2**31 - 1],
        [65535, 65536],
        list(range(4096)),
        list(range(0, 10_000, 2)),
        list(range(70_000)),
    ],
    ids=lambda positions: str(len(positions)),
)
def test_what_is_written_is_read(positions: list[int], bitmap64: bool) -> None:
    found = decoded(encode_deletion_vector(vector(*positions), bitmap64=bitmap64))

    assert found.positions().tolist() == positions
    assert found.cardinality == len(positions)


def test_with_64_bits_positions_may_be_beyond_four_billion() -> None:
    positions = [7, 2**32, 3 * 2**32 + 5]

    data = encode_deletion_vector(vector(*positions), bitmap64=True)

    assert decoded(data).positions().tolist() == positions
    assert int.from_bytes(data[8:16], "little") == 4  # an empty bitmap stands for the gap


def test_with_32_bits_positions_end_at_two_billion() -> None:
    with pytest.raises(ValueError, match="bitmap64"):
        encode_deletion_vector(vector(2**31), bitmap64=False)
    with pytest.raises(ValueError, match="bitmap64"):
        encode_deletion_vector(vector(2**32), bitmap64=False)


def test_vectors_are_united() -> None:
    both = vector(1, 5) | vector(5, 2**32 + 1)

    assert both.positions().tolist() == [1, 5, 2**32 + 1]
    assert both.cardinality == 3


def test_survivors_are_the_rows_that_are_not_deleted() -> None:
    assert vector(0, 2).survivors(4, path=PATH).tolist() == [False, True, False, True]


def test_a_row_that_the_file_does_not_have_cannot_be_deleted() -> None:
    with pytest.raises(CorruptDataError, match=r"index-1: row 4 is deleted"):
        vector(4).survivors(4, path=PATH)


def damaged() -> list[bytes]:
    whole = stored(FEW)
    magic = stored("00000000" + FEW[8:])
    behind = stored(FEW + "00")
    cut = stored(FEW[:-8])
    far_key = stored("d1d33964" + "0100000000000000" + "ffffff7f" + FEW[8:])
    missing = stored("d1d33964" + "0200000000000000" + "00000000" + FEW[8:])
    flipped = whole[:20] + bytes([whole[20] ^ 1]) + whole[21:]
    return [b"", whole[:-1], whole + b"\0", flipped, magic, behind, cut, far_key, missing]


@pytest.mark.parametrize("data", damaged(), ids=bytes.hex)
def test_a_damaged_vector_is_refused_naming_the_file(data: bytes) -> None:
    with pytest.raises(CorruptDataError, match="index-1"):
        decoded(data)


def vectors_in(content: IndexFileContent) -> list[list[int]]:
    return [
        decoded(cut_deletion_vector(content.data, offset, length, path=PATH)).positions().tolist()
        for offset, length in zip(content.offsets, content.lengths, strict=True)
    ]


@pytest.mark.parametrize("bitmap64", [False, True])
def test_an_index_file_has_its_vectors_one_behind_the_other(bitmap64: bool) -> None:
    encoded = [encode_deletion_vector(vector(n, n + 9), bitmap64=bitmap64) for n in range(3)]

    (content,) = index_files(encoded, target_bytes=None)

    assert content.offsets[0] == 1
    assert content.data == b"\x01" + b"".join(encoded)
    assert vectors_in(content) == [[0, 9], [1, 10], [2, 11]]
    around = 0 if bitmap64 else 8
    assert content.lengths == tuple(len(one) - around for one in encoded)


def test_of_a_bucket_there_is_an_index_file_even_without_vectors() -> None:
    (content,) = index_files([], target_bytes=None)

    assert content == IndexFileContent(b"\x01", (), ())
    assert not list(index_files([], target_bytes=100))


def test_index_files_are_rolled_once_they_are_larger_than_the_target() -> None:
    encoded = [encode_deletion_vector(vector(n), bitmap64=False) for n in range(5)]
    size = len(encoded[0])

    rolled = list(index_files(encoded, target_bytes=2 * size))

    assert [len(content.offsets) for content in rolled] == [2, 2, 1]
    assert [deleted for content in rolled for deleted in vectors_in(content)] == [
        [n] for n in range(5)
    ]


@pytest.mark.parametrize(
    ("data", "offset"), [(b"\x02" + stored(FEW), 1), (b"\x01" + stored(FEW), 2), (b"\x01", 1)]
)
def test_a_vector_is_not_cut_out_of_the_wrong_file(data: bytes, offset: int) -> None:
    with pytest.raises(CorruptDataError, match="index-1"):
        decoded(cut_deletion_vector(data, offset, len(stored(FEW)) - 8, path=PATH))
