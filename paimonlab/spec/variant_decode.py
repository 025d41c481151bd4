"""VARIANT values -> JSON texts.

Source: apache/paimon@1.3.1 ``org.apache.paimon.data.variant.GenericVariant#toJson``;
https://parquet.apache.org/docs/file-format/types/variantencoding/
"""

from __future__ import annotations

import base64
import datetime as dt
import re
import struct
import uuid
from collections.abc import Iterator
from decimal import Context, Decimal
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from paimonlab.errors import DataError
from paimonlab.spec.value_text import java_float_text

_EXACT = Context(prec=60)
_OBJECT, _ARRAY = 2, 3
_INTEGER_BYTES = {3: 1, 4: 2, 5: 4, 6: 8}
_DECIMAL_BYTES = {8: 4, 9: 8, 10: 16}
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - the wall clock
_MAX_DEPTH = 500


def to_json(variants: pa.StructArray | pa.ChunkedArray) -> pa.StringArray:
    """Spell values of a VARIANT column as JSON, as Java Paimon does; instants in UTC.

    Parameters
    ----------
    variants : (n,)
        ``struct<value: binary, metadata: binary>``.

    Returns
    -------
    pyarrow.StringArray
        (n,) Null stays null; a variant that holds null becomes the text ``null``.

    Raises
    ------
    DataError
        If a value is damaged.

    Examples
    --------
    >>> from paimonlab.spec.variant_encode import parse_json
    >>> to_json(parse_json(['{"b": [1, 2.50], "a": null}'])).to_pylist()
    ['{"a":null,"b":[1,2.5]}']
    """
    return pa.array([None if one is None else _text(one) for one in variants.to_pylist()])


def _text(variant: dict[str, bytes]) -> str:
    try:
        names = _names(variant["metadata"])
        return "".join(_pieces(variant["value"], 0, names, 0))
    except (IndexError, KeyError, ValueError, struct.error, OverflowError) as error:
        raise DataError(f"a VARIANT is damaged: {error!r}") from error


def _names(metadata: bytes) -> list[str]:
    if metadata[0] & 0x0F != 1:
        raise ValueError(f"version {metadata[0] & 0x0F}")
    width = (metadata[0] >> 6) + 1
    count = _unsigned(metadata, 1, width)
    offsets = [_unsigned(metadata, 1 + width * (place + 1), width) for place in range(count + 1)]
    start = 1 + width * (count + 2)
    return [_slice(metadata, start + low, high - low).decode() for low, high in pairwise(offsets)]


def _unsigned(data: bytes, start: int, width: int) -> int:
    return int.from_bytes(_slice(data, start, width), "little")


def _slice(data: bytes, start: int, length: int) -> bytes:
    if length < 0 or start + length > len(data):
        raise ValueError("it is cut")
    return data[start : start + length]


class Items(NamedTuple):
    """Where the parts of an object or array are."""

    ids: list[int]
    """Numbers of the names of an object; [] for an array."""
    starts: list[int]


def _items(data: bytes, at: int) -> Items:
    kind, flags = data[at] & 3, data[at] >> 2
    is_object = kind == _OBJECT
    offset_bytes = (flags & 3) + 1
    is_large = flags >> 4 & 1 if is_object else flags >> 2 & 1
    size_bytes = 4 if is_large else 1
    count = _unsigned(data, at + 1, size_bytes)
    place = at + 1 + size_bytes
    ids: list[int] = []
    if is_object:
        id_bytes = (flags >> 2 & 3) + 1
        ids = [_unsigned(data, place + id_bytes * number, id_bytes) for number in range(count)]
        place += id_bytes * count
    start = place + offset_bytes * (count + 1)
    offsets = (_unsigned(data, place + offset_bytes * one, offset_bytes) for one in range(count))
    return Items(ids, [start + offset for offset in offsets])


def _pieces(data: bytes, at: int, names: list[str], depth: int) -> Iterator[str]:
    if depth > _MAX_DEPTH:
        raise ValueError("it is too deep")
    kind = data[at] & 3
    if kind == _OBJECT:
        items = _items(data, at)
        yield "{"
        for number, (name, start) in enumerate(zip(items.ids, items.starts, strict=True)):
            yield f"{',' if number else ''}{_quoted(names[name])}:"
            yield from _pieces(data, start, names, depth + 1)
        yield "}"
    elif kind == _ARRAY:
        yield "["
        for number, start in enumerate(_items(data, at).starts):
            yield "," if number else ""
            yield from _pieces(data, start, names, depth + 1)
        yield "]"
    elif kind == 1:
        yield _quoted(_slice(data, at + 1, data[at] >> 2).decode())
    else:
        yield _primitive(data, at + 1, data[at] >> 2)


def _quoted(text: str) -> str:
    return f'"{_ESCAPED.sub(_escape, text)}"'


_ESCAPED = re.compile(r'[\x00-\x1f"\\]')
_SHORT_ESCAPES = {"\b": "b", "\t": "t", "\n": "n", "\f": "f", "\r": "r", '"': '"', "\\": "\\"}


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    short = _SHORT_ESCAPES.get(character)
    return f"\\u{ord(character):04X}" if short is None else f"\\{short}"


def _primitive(data: bytes, at: int, number: int) -> str:  # noqa: PLR0911, C901 - one a type
    if number in _INTEGER_BYTES:
        size = _INTEGER_BYTES[number]
        return str(int.from_bytes(_slice(data, at, size), "little", signed=True))
    if number in _DECIMAL_BYTES:
        unscaled = _slice(data, at + 1, _DECIMAL_BYTES[number])
        value = Decimal(int.from_bytes(unscaled, "little", signed=True))
        return _plain(value.scaleb(-data[at], _EXACT))
    match number:
        case 0:
            return "null"
        case 1 | 2:
            return "true" if number == 1 else "false"
        case 7:
            return _float(np.float64(struct.unpack("<d", _slice(data, at, 8))[0]))
        case 14:
            return _float(np.float32(struct.unpack("<f", _slice(data, at, 4))[0]))
        case 11:
            days = int.from_bytes(_slice(data, at, 4), "little", signed=True)
            return f'"{(_EPOCH + dt.timedelta(days)).date()}"'
        case 12 | 13:
            micros = int.from_bytes(_slice(data, at, 8), "little", signed=True)
            return f'"{_clock(micros)}{"+00:00" if number == 12 else ""}"'
        case 15:
            size = _unsigned(data, at, 4)
            return f'"{base64.b64encode(_slice(data, at + 4, size)).decode()}"'
        case 16:
            return _quoted(_slice(data, at + 4, _unsigned(data, at, 4)).decode())
        case 20:
            return f'"{uuid.UUID(bytes=_slice(data, at, 16))}"'
    raise ValueError(f"a value of type {number}")


def _plain(value: Decimal) -> str:
    """Print without an exponent and without zeros at the end of a fraction."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _float(value: np.floating[Any]) -> str:
    text = java_float_text(value)
    return text if np.isfinite(value) else f'"{text}"'


def _clock(micros: int) -> str:
    """Print with as many groups of three fraction digits as there are."""
    text = str(_EPOCH + dt.timedelta(microseconds=micros))
    return text[:-3] if "." in text and text.endswith("000") else text
