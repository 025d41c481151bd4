from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimonlab.errors import DataError
from paimonlab.merge.bitmap64 import decode, encode, unite

LINES = (Path(__file__).parent / "java_bitmaps_64.txt").read_text(encoding="utf-8").splitlines()
NUMBERS = st.sets(
    st.integers(0, 2**64 - 1)
    | st.integers(0, 300).map(lambda number: number << 16)
    | st.integers(0, 300).map(lambda number: number << 40 | 7)
    | st.integers(0, 9000)
)


def bitmap(numbers: set[int]) -> bytes:
    containers: dict[bytes, list[int]] = {}
    for number in sorted(numbers):
        containers.setdefault((number >> 16).to_bytes(6, "big"), []).append(number & 0xFFFF)
    return encode({key: np.array(low, np.uint16) for key, low in containers.items()})


def numbers_of(data: bytes) -> set[int]:
    return {
        int.from_bytes(key, "big") << 16 | low
        for key, lows in decode(data).items()
        for low in lows.tolist()
    }


@pytest.mark.parametrize("line", [line for line in LINES if line[0] != "#"])
def test_what_java_wrote_is_read_and_written_as_large(line: str) -> None:
    data, numbers = line.split()

    found = numbers_of(bytes.fromhex(data))

    assert found == {number % 2**64 for number in json.loads(numbers)}
    assert numbers_of(bitmap(found)) == found


@given(NUMBERS, NUMBERS)
def test_a_union_has_the_numbers_of_both(left: set[int], right: set[int]) -> None:
    assert numbers_of(unite(bitmap(left), bitmap(right))) == left | right


@pytest.mark.parametrize("width", [1, 2, 3])
def test_large_containers_keep_their_numbers(width: int) -> None:
    numbers = set(range(0, 65536, width))

    assert numbers_of(bitmap(numbers)) == numbers


@pytest.mark.parametrize("data", [b"\1", b"\1\1\0\0\0\0\0\0\0\x09\0\0\0", b""])
def test_what_is_no_bitmap_is_refused(data: bytes) -> None:
    with pytest.raises(DataError, match="Roaring64Bitmap"):
        decode(data)
