"""The values of many JSON objects, column by column, without a Python object for each.

The objects lie one after the other in one buffer. numpy finds where their keys and values begin and
end; Arrow cuts the values of one key out of the buffer. Numbers stay the text they are written as,
so that none passes through a double; objects and arrays inside stay JSON text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array

JsonText: TypeAlias = bytes | msgspec.Raw
"""One JSON value as text."""

Flags: TypeAlias = npt.NDArray[np.bool_]
Places: TypeAlias = npt.NDArray[np.int64]

_QUOTE, _OPEN, _CLOSE, _COLON, _COMMA, _BACKSLASH, _END = range(1, 8)
_SEPARATOR = b"\0"
"""Between objects: no valid JSON text has it."""


def _classes() -> bytes:
    table = bytearray(256)
    for code, characters in (
        (_QUOTE, b'"'),
        (_OPEN, b"{["),
        (_CLOSE, b"}]"),
        (_COLON, b":"),
        (_COMMA, b","),
        (_BACKSLASH, b"\\"),
        (_END, _SEPARATOR),
    ):
        for character in characters:
            table[character] = code
    return bytes(table)


_CLASS_OF = _classes()
_IS_BLANK = np.isin(np.arange(256), np.frombuffer(b" \t\r\n", np.uint8))


@dataclass(frozen=True, slots=True)
class Column:
    """The values of one key."""

    texts: pa.Array
    """string of shape (n,): a JSON string without quotes and escapes, a number or truth value as it
    is written, an object or array as JSON without blanks. Null: null, or the key is not there."""
    is_string: Flags
    """Shape (n,): whether it was a JSON string."""
    is_given: Flags | None
    """Shape (n,): whether the object has the key. None: each has."""


class NotObjectsError(ValueError):
    """Some values are no JSON objects, or have text that is not UTF-8."""

    def __init__(self, rows: list[int], problem: str) -> None:
        self.rows = rows
        self.problem = problem
        super().__init__(rows, problem)

    def __str__(self) -> str:
        return self.problem


def columns_of(objects: Sequence[JsonText]) -> dict[str, Column]:
    """Return the values of each key that any of the objects has, in the order of appearance.

    Parameters
    ----------
    objects
        Valid JSON without blanks around it; of a key that is twice in one the last value counts.

    Raises
    ------
    NotObjectsError
        If some are other JSON values, or have text that is not UTF-8.

    Examples
    --------
    >>> columns = columns_of([b'{"id": 1, "v": "a"}', b'{"id": 2.50, "w": [1, 2]}'])
    >>> {name: column.texts.to_pylist() for name, column in columns.items()}
    {'id': ['1', '2.50'], 'v': ['a', None], 'w': [None, '[1,2]']}
    """
    if not objects:
        return {}
    data = _SEPARATOR.join(objects) + _SEPARATOR
    codes = np.frombuffer(data.translate(_CLASS_OF), np.uint8)
    _require_objects(data, codes)
    pairs = _pairs(data, codes)
    cut = _Cutting(data)
    found: dict[str, Column] = {}
    for name, at in _by_key(data, pairs, len(objects)).items():
        found[name] = cut.column(pairs, at)
    return found


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Where the keys and values of all objects are; all of shape (k,), in order."""

    rows: Places
    """Which object."""
    key_starts: Places
    """After the quote."""
    key_ends: Places
    """At the quote."""
    starts: Places
    """First byte of the value."""
    ends: Places
    """After its last byte."""


def _require_objects(data: bytes, codes: npt.NDArray[np.uint8]) -> None:
    ends = np.flatnonzero(codes == _END)
    first = np.frombuffer(data, np.uint8)[np.concatenate([[0], ends[:-1] + 1])]
    if (first != ord("{")).any():
        raise NotObjectsError(np.flatnonzero(first != ord("{")).tolist(), "not a JSON object")


def _pairs(data: bytes, codes: npt.NDArray[np.uint8]) -> _Pairs:
    places = np.flatnonzero(codes)
    kinds = codes[places]
    if b"\\" in data:
        places, kinds = _without_escaped(places, kinds)
    is_quote = kinds == _QUOTE
    is_outside = (np.cumsum(is_quote, dtype=np.int32) & 1) == 0
    kept = is_quote | is_outside
    if not kept.all():
        places, kinds = places[kept], kinds[kept]
    opened = kinds == _OPEN
    closed = kinds == _CLOSE
    depth = np.cumsum(opened.view(np.int8) - closed.view(np.int8), dtype=np.int32)
    at_top = depth == 1
    colons = np.flatnonzero((kinds == _COLON) & at_top)
    # An object ends at depth 0; one without keys ends right after it begins.
    last = closed & (depth == 0)
    last[1:] &= ~opened[:-1]
    ends = np.flatnonzero(((kinds == _COMMA) & at_top) | last)
    rows = np.cumsum(kinds == _END, dtype=np.int64)[colons]
    raw = np.frombuffer(data, np.uint8)
    starts, stops = places[colons] + 1, places[ends]
    _skip_blanks(raw, starts, stops)
    return _Pairs(rows, places[colons - 2] + 1, places[colons - 1], starts, stops)


def _without_escaped(
    places: Places, kinds: npt.NDArray[np.uint8]
) -> tuple[Places, npt.NDArray[np.uint8]]:
    """Leave out backslashes and the quotes that they escape."""
    slashes = places[kinds == _BACKSLASH]
    first = np.flatnonzero(np.diff(slashes, prepend=-2) != 1)
    lengths = np.diff(first, append=len(slashes))
    escaped = slashes[first + lengths - 1][lengths % 2 == 1] + 1
    quotes = kinds == _QUOTE
    kept = kinds != _BACKSLASH
    kept[quotes] = ~np.isin(places[quotes], escaped, assume_unique=True)
    return places[kept], kinds[kept]


def _skip_blanks(raw: npt.NDArray[np.uint8], starts: Places, stops: Places) -> None:
    """Move the ends of values inward, in place."""
    for bounds, looked_at, step in ((starts, 0, 1), (stops, -1, -1)):
        blank = np.flatnonzero(_IS_BLANK[raw[bounds + looked_at]])
        while len(blank):
            bounds[blank] += step
            blank = blank[_IS_BLANK[raw[bounds[blank] + looked_at]]]


def _by_key(data: bytes, pairs: _Pairs, count: int) -> dict[str, Places]:
    """Return for each key which pair each object has of it; -1: none."""
    if not len(pairs.rows):
        return {}
    alike = _same_keys(data, pairs, count)
    if alike is not None:
        every = np.arange(count, dtype=np.int64) * len(alike)
        return {name: every + index for index, name in enumerate(alike)}
    bounds = np.stack([pairs.key_starts, pairs.key_ends], axis=1).ravel()
    keys = _cut(pa.py_buffer(data), bounds, None).dictionary_encode()
    numbers = keys.indices.to_numpy()
    by_name: dict[str, Places] = {}
    for number, key in enumerate(keys.dictionary.to_pylist()):
        mine = np.flatnonzero(numbers == number)
        name = _name(key)
        at = by_name.setdefault(name, np.full(count, -1, np.int64))
        # Two spellings of one key: the later pair counts.
        np.maximum.at(at, pairs.rows[mine], mine)
    return by_name


def _same_keys(data: bytes, pairs: _Pairs, count: int) -> list[str] | None:
    """Return the keys if all objects have the same ones in the same order."""
    width, rest = divmod(len(pairs.rows), count)
    if rest or not width or not np.array_equal(pairs.rows, np.repeat(np.arange(count), width)):
        return None
    starts = pairs.key_starts.reshape(count, width)
    lengths = (pairs.key_ends - pairs.key_starts).reshape(count, width)
    if (lengths != lengths[0]).any():
        return None
    raw = np.frombuffer(data, np.uint8)
    names = []
    for index in range(width):
        key = data[starts[0, index] : starts[0, index] + lengths[0, index]]
        for offset, character in enumerate(key):
            if (raw[starts[:, index] + offset] != character).any():
                return None
        names.append(_name(key))
    return names if len(set(names)) == width else None


def _name(key: bytes) -> str:
    try:
        return _unescaped(key)
    except (UnicodeDecodeError, msgspec.DecodeError):
        raise NotObjectsError([], "a key that is not UTF-8") from None


def _unescaped(text: bytes) -> str:
    return msgspec.json.decode(b'"%b"' % text, type=str)


def _cut(buffer: pa.Buffer, bounds: Places, missing: Flags | None) -> pa.Array:
    """Copy what lies between bounds 0 and 1, 2 and 3, …, which ascend."""
    count = len(bounds) // 2
    kind, width = (pa.binary(), np.int32) if buffer.size < 2**31 else (pa.large_binary(), np.int64)
    offsets = pa.py_buffer(np.ascontiguousarray(bounds, width))
    pieces = pa.Array.from_buffers(kind, len(bounds) - 1, [None, offsets, buffer])
    wanted = arrow_array(np.arange(0, 2 * count, 2, dtype=np.int64), mask=missing)
    return pieces.take(wanted).cast(pa.binary())


class _Cutting:
    """Cuts columns out of one buffer."""

    def __init__(self, data: bytes) -> None:
        self._buffer = pa.py_buffer(data)
        self._raw = np.frombuffer(data, np.uint8)
        self._has_escapes = b"\\" in data

    def column(self, pairs: _Pairs, at: Places) -> Column:
        """Cut the values of one key; ``at`` as `_by_key` returns it."""
        is_given = None if at[0] >= 0 and (at >= 0).all() else at >= 0
        starts, ends = pairs.starts[at], pairs.ends[at]
        first = self._raw[starts]
        is_string = first == ord('"')
        is_null = first == ord("n")
        if is_given is not None:
            is_string &= is_given
            is_null |= ~is_given
            # Places of values that are not there: anywhere, but in order.
            before = np.maximum.accumulate(np.where(is_given, ends, 0))
            starts = np.where(is_given, starts, before)
            ends = np.where(is_given, ends, before)
        quoted = is_string.view(np.int8)
        bounds = np.stack([starts + quoted, ends - quoted], axis=1).ravel()
        cells = _cut(self._buffer, bounds, is_null if is_null.any() else None)
        if self._has_escapes:
            found = pc.match_substring(cells, "\\").fill_null(False).to_numpy(zero_copy_only=False)  # noqa: FBT003
            cells = _replaced(cells, np.flatnonzero(found & is_string), _escapes_read)
        is_nested = ((first == ord("{")) | (first == ord("["))) & ~is_null
        cells = _replaced(cells, np.flatnonzero(is_nested), _without_blanks)
        return Column(_as_text(cells), is_string, is_given)


def _escapes_read(cell: bytes) -> bytes:
    try:
        return _unescaped(cell).encode()
    except (UnicodeDecodeError, msgspec.DecodeError):
        return b"\xff"  # reported with what else is not UTF-8


def _without_blanks(cell: bytes) -> bytes:
    return msgspec.json.format(cell, indent=-1)


def _replaced(cells: pa.Array, places: Places, change: Callable[[bytes], bytes]) -> pa.Array:
    if not len(places):
        return cells
    changed = [change(cell) for cell in cells.take(arrow_array(places)).to_pylist()]
    mask = np.zeros(len(cells), np.bool_)
    mask[places] = True
    return pc.replace_with_mask(cells, arrow_array(mask), arrow_array(changed, pa.binary()))


def _as_text(cells: pa.Array) -> pa.Array:
    try:
        return cells.cast(pa.string())
    except pa.ArrowInvalid:
        rows = [row for row, cell in enumerate(cells.to_pylist()) if not _is_utf8(cell)]
        raise NotObjectsError(rows, "text that is not UTF-8") from None


def _is_utf8(cell: bytes | None) -> bool:
    try:
        (cell or b"").decode()
    except UnicodeDecodeError:
        return False
    return True
