"""Bitmaps of 64-bit numbers as Java's ``Roaring64Bitmap`` serialises them.

Not the portable format: a radix tree over the upper 48 bits, whose leaves number containers of
the lower 16 bits. All is little-endian but the keys.

Source: the bytes that RoaringBitmap for Java 1.2 and 1.6 writes, tried.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from paimonlab.errors import DataError

Containers: TypeAlias = Mapping[bytes, npt.NDArray[np.uint16]]
"""The lower 16 bits of the numbers, ascending, by their upper 48 bits (6 bytes, big-endian)."""

_NODE_4, _NODE_16, _NODE_48, _NODE_256, _LEAF = range(5)
_BODY_BYTES = {_NODE_4: 4, _NODE_16: 16, _NODE_48: 256, _NODE_256: 32}
_CHILDREN = ((4, _NODE_4), (16, _NODE_16), (48, _NODE_48), (256, _NODE_256))
_RUN, _BITMAP, _ARRAY = range(3)
_BITMAP_BYTES = 8192
_MAX_ARRAY = 4096
_KEY_BYTES = 6


def unite(old: bytes, new: bytes) -> bytes:
    """Unite two serialised bitmaps.

    Raises
    ------
    DataError
        If one of them is damaged.
    """
    united = dict(decode(old))
    for key, low in decode(new).items():
        known = united.get(key)
        united[key] = low if known is None else np.union1d(known, low)
    return encode(united)


def decode(data: bytes) -> Containers:
    """Read a serialised bitmap."""
    try:
        if data[:1] == b"\0":
            return {}
        reader = _Reader(memoryview(data), 9)
        places = dict(reader.leaves())
        containers = list(reader.containers())
        return {key: containers[place] for key, place in places.items()}
    except (struct.error, IndexError, KeyError, ValueError) as error:
        raise DataError(f"a value is not a serialised Roaring64Bitmap: {error}") from error


class _Reader:
    def __init__(self, data: memoryview, at: int) -> None:
        self._data, self._at = data, at

    def _take(self, layout: str) -> tuple[int, ...]:
        values = struct.unpack_from(layout, self._data, self._at)
        self._at += struct.calcsize(layout)
        return values

    def _array(self, count: int) -> npt.NDArray[np.uint16]:
        values = np.frombuffer(self._data, "<u2", count, self._at)
        self._at += values.nbytes
        return values

    def leaves(self) -> Iterator[tuple[bytes, int]]:
        """Read a node with what is below it: keys and numbers of containers."""
        kind, count, prefix = self._take("<BHB")
        self._at += prefix
        if kind == _LEAF:
            key = bytes(self._data[self._at : self._at + _KEY_BYTES])
            self._at += _KEY_BYTES
            yield key, self._take("<q")[0]
            return
        self._at += _BODY_BYTES[kind]
        for _ in range(count):
            yield from self.leaves()

    def containers(self) -> Iterator[npt.NDArray[np.uint16]]:
        (arrays,) = self._take("<i")
        for _ in range(arrays):
            _, length = self._take("<bi")
            for _ in range(length):
                (is_there,) = self._take("<b")
                yield self._container() if is_there else np.array([], np.uint16)

    def _container(self) -> npt.NDArray[np.uint16]:
        kind, count = self._take("<bi")
        if kind == _ARRAY:
            return self._array(count)
        if kind == _BITMAP:
            bits = np.unpackbits(self._array(_BITMAP_BYTES // 2).view(np.uint8), bitorder="little")
            return np.flatnonzero(bits).astype(np.uint16)
        (runs,) = self._take("<H")
        pairs = self._array(2 * runs).reshape(-1, 2).astype(np.int64)
        values = [np.arange(start, start + more + 1) for start, more in pairs.tolist()]
        return np.concatenate(values).astype(np.uint16)


def encode(containers: Containers) -> bytes:
    """Serialise a bitmap."""
    keys = sorted(key for key, low in containers.items() if len(low))
    if not keys:
        return b"\0"
    count = len(keys)
    return b"".join(
        [
            struct.pack("<Bq", 1, count),
            *_nodes(list(enumerate(keys)), 0),
            struct.pack("<ibi", 1, -2, count),
            *(_container(containers[key]) for key in keys),
            struct.pack("<qii", count, 0, count - 1),
        ]
    )


def _nodes(keys: Sequence[tuple[int, bytes]], depth: int) -> Iterator[bytes]:
    """Write the nodes of keys that agree in their first ``depth`` bytes."""
    if len(keys) == 1:
        ((place, key),) = keys
        yield struct.pack("<BHB", _LEAF, 0, 0) + key + struct.pack("<q", place)
        return
    first, last = keys[0][1], keys[-1][1]
    shared = next(at for at in range(depth, _KEY_BYTES) if first[at] != last[at])
    children = [list(group) for _, group in groupby(keys, lambda item: item[1][shared])]
    firsts = [group[0][1][shared] for group in children]
    kind = next(kind for most, kind in _CHILDREN if len(firsts) <= most)
    prefix = first[depth:shared]
    yield struct.pack("<BHB", kind, len(firsts), len(prefix)) + prefix + _body(kind, firsts)
    for group in children:
        yield from _nodes(group, shared + 1)


def _body(kind: int, firsts: Sequence[int]) -> bytes:
    if kind in (_NODE_4, _NODE_16):
        width = 4 if kind == _NODE_4 else 8
        padded = bytes(firsts).ljust(_BODY_BYTES[kind], b"\0")
        return _words_turned(padded, width)
    if kind == _NODE_48:
        places = bytearray(b"\xff" * 256)
        for place, first in enumerate(firsts):
            places[first] = place
        return _words_turned(bytes(places), 8)
    mask = np.zeros(256, np.uint8)
    mask[list(firsts)] = 1
    return np.packbits(mask, bitorder="little").tobytes()


def _words_turned(data: bytes, width: int) -> bytes:
    """Turn the bytes of each word around."""
    return np.frombuffer(data, np.uint8).reshape(-1, width)[:, ::-1].tobytes()


def _container(low: npt.NDArray[np.uint16]) -> bytes:
    """Write a container in the form that takes least space."""
    values = low.astype(np.int64)
    starts = np.flatnonzero(np.diff(values, prepend=-2) != 1)
    array_bytes = 2 * len(low) + 2 if len(low) <= _MAX_ARRAY else _BITMAP_BYTES
    if array_bytes > 2 + 4 * len(starts):
        ends = np.append(starts[1:], len(values)) - 1
        runs = np.stack([values[starts], values[ends] - values[starts]], axis=1)
        body = struct.pack("<H", len(starts)) + runs.astype("<u2").tobytes()
        kind = _RUN
    elif len(low) <= _MAX_ARRAY:
        kind, body = _ARRAY, low.astype("<u2").tobytes()
    else:
        bits = np.zeros(1 << 16, np.uint8)
        bits[values] = 1
        kind, body = _BITMAP, np.packbits(bits, bitorder="little").tobytes()
    return struct.pack("<bbi", 1, kind, len(low)) + body
