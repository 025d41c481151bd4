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
from typing import Any

import numpy as np
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import DataError
from paimonlab.spec.value_text import java_float_text
from paimonlab.spec.variant.parts import (
    ARRAY,
    DECIMAL_BYTES,
    INTEGER_BYTES,
    MAX_DEPTH,
    OBJECT,
    items_of,
    names_of,
    piece,
    unsigned,
)

_EXACT = Context(prec=60)
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - the wall clock


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
    >>> from paimonlab.spec.variant.encode import parse_json
    >>> to_json(parse_json(['{"b": [1, 2.50], "a": null}'])).to_pylist()
    ['{"a":null,"b":[1,2.5]}']
    """
    return arrow_array([None if one is None else _text(one) for one in variants.to_pylist()])


def _text(variant: dict[str, bytes]) -> str:
    try:
        names = names_of(variant["metadata"])
        return "".join(_pieces(variant["value"], 0, names, 0))
    except (IndexError, KeyError, ValueError, struct.error, OverflowError) as error:
        raise DataError(f"a VARIANT is damaged: {error!r}") from error


def _pieces(data: bytes, at: int, names: list[str], depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH:
        raise ValueError("it is too deep")
    kind = data[at] & 3
    if kind == OBJECT:
        items = items_of(data, at)
        yield "{"
        for number, (name, start) in enumerate(zip(items.ids, items.starts, strict=True)):
            yield f"{',' if number else ''}{_quoted(names[name])}:"
            yield from _pieces(data, start, names, depth + 1)
        yield "}"
    elif kind == ARRAY:
        yield "["
        for number, start in enumerate(items_of(data, at).starts):
            yield "," if number else ""
            yield from _pieces(data, start, names, depth + 1)
        yield "]"
    elif kind == 1:
        yield _quoted(piece(data, at + 1, data[at] >> 2).decode())
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
    if number in INTEGER_BYTES:
        size = INTEGER_BYTES[number]
        return str(int.from_bytes(piece(data, at, size), "little", signed=True))
    if number in DECIMAL_BYTES:
        unscaled = piece(data, at + 1, DECIMAL_BYTES[number])
        value = Decimal(int.from_bytes(unscaled, "little", signed=True))
        return _plain(value.scaleb(-data[at], _EXACT))
    match number:
        case 0:
            return "null"
        case 1 | 2:
            return "true" if number == 1 else "false"
        case 7:
            return _float(np.float64(struct.unpack("<d", piece(data, at, 8))[0]))
        case 14:
            return _float(np.float32(struct.unpack("<f", piece(data, at, 4))[0]))
        case 11:
            days = int.from_bytes(piece(data, at, 4), "little", signed=True)
            return f'"{(_EPOCH + dt.timedelta(days)).date()}"'
        case 12 | 13:
            micros = int.from_bytes(piece(data, at, 8), "little", signed=True)
            return f'"{_clock(micros)}{"+00:00" if number == 12 else ""}"'
        case 15:
            size = unsigned(data, at, 4)
            return f'"{base64.b64encode(piece(data, at + 4, size)).decode()}"'
        case 16:
            return _quoted(piece(data, at + 4, unsigned(data, at, 4)).decode())
        case 20:
            return f'"{uuid.UUID(bytes=piece(data, at, 16))}"'
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
