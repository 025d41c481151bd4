"""JSON as MySQL stores it, as the text that MySQL shows.

Source: MySQL Source Code Documentation, ``json_binary.h`` (types, offsets, variable lengths).
MariaDB stores the text.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable
from decimal import Decimal

_SMALL_OBJECT, _LARGE_OBJECT, _SMALL_ARRAY, _LARGE_ARRAY, _LITERAL = range(5)
_STRING, _OPAQUE = 0x0C, 0x0F
_NUMBERS = {5: "<h", 6: "<H", 7: "<i", 8: "<I", 9: "<q", 10: "<Q", 11: "<d"}
_LITERALS = ("null", "true", "false")
_MOST_DEPTH = 100
_DECIMAL, _DATE, _TIME = 246, 10, 11
_MOMENTS = (7, 12)
_DIGIT_BYTES = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)


def json_text(stored: bytes) -> str:
    """Return a document as text.

    Raises
    ------
    ValueError
        If it is damaged.

    Examples
    --------
    >>> json_text(bytes.fromhex("00 01 00 0c 00 0b 00 01 00 05 01 00 61"))
    '{"a": 1}'
    """
    if not stored:
        return "null"  # what a row has that was never given one
    try:
        return _value(stored[0], memoryview(stored)[1:], 0)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise ValueError("damaged JSON") from error


def _value(kind: int, data: memoryview, depth: int) -> str:
    if depth > _MOST_DEPTH:
        raise ValueError("damaged JSON")
    if kind in (_SMALL_OBJECT, _LARGE_OBJECT, _SMALL_ARRAY, _LARGE_ARRAY):
        return _container(kind, data, depth)
    if kind == _LITERAL:
        return _LITERALS[data[0]]
    if kind in _NUMBERS:
        (number,) = struct.unpack_from(_NUMBERS[kind], data)
        return _double(number) if isinstance(number, float) else str(number)
    if kind == _STRING:
        size, at = _size(data, 0)
        return json.dumps(str(data[at : at + size], "utf-8"), ensure_ascii=False)
    if kind == _OPAQUE:
        size, at = _size(data, 1)
        return _opaque(data[0], bytes(data[at : at + size]))
    raise ValueError(f"JSON with a value of type {kind}, which is unknown")


def _double(number: float) -> str:
    return repr(number).replace("e+", "e")


def _size(data: memoryview, at: int) -> tuple[int, int]:
    size = shift = 0
    while True:
        size |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not data[at - 1] & 0x80:
            return size, at


def _container(kind: int, data: memoryview, depth: int) -> str:
    is_large = kind in (_LARGE_OBJECT, _LARGE_ARRAY)
    is_object = kind in (_SMALL_OBJECT, _LARGE_OBJECT)
    width, whole = (4, "<I") if is_large else (2, "<H")

    def number(at: int) -> int:
        found: int = struct.unpack_from(whole, data, at)[0]
        return found

    count, at = number(0), 2 * width
    keys = []
    if is_object:
        for _ in range(count):
            begin, (size,) = number(at), struct.unpack_from("<H", data, at + width)
            keys.append(json.dumps(str(data[begin : begin + size], "utf-8"), ensure_ascii=False))
            at += width + 2
    values = []
    for _ in range(count):
        inner = data[at]
        is_here = inner in (_LITERAL, 5, 6) or (is_large and inner in (7, 8))
        part = data[at + 1 :] if is_here else data[number(at + 1) :]
        values.append(_value(inner, part, depth + 1))
        at += 1 + width
    if is_object:
        pairs = zip(keys, values, strict=True)
        return "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"
    return "[" + ", ".join(values) + "]"


def _opaque(kind: int, data: bytes) -> str:
    make = _OPAQUES.get(kind)
    if make is not None:
        return make(data)
    return f'"base64:type{kind}:{base64.b64encode(data).decode()}"'


def _decimal(data: bytes) -> str:
    precision, scale = data[0], data[1]
    raw = bytearray(data[2:])
    negative = not raw[0] & 0x80
    raw[0] ^= 0x80
    if negative:
        raw = bytearray(byte ^ 0xFF for byte in raw)
    whole = precision - scale
    groups = [whole % 9] if whole % 9 else []
    groups += [9] * (whole // 9) + [9] * (scale // 9) + ([scale % 9] if scale % 9 else [])
    digits, at = "", 0
    for count in groups:
        size = _DIGIT_BYTES[count]
        digits += f"{int.from_bytes(raw[at : at + size], 'big'):0{count}}"
        at += size
    number = Decimal(digits or "0").scaleb(-scale)
    return f"{-number if negative else number:f}"


def _moment(data: bytes) -> str:
    packed = int.from_bytes(data, "little")
    clock, micros = packed >> 24, packed & 0xFFFFFF
    days, seconds = clock >> 17, clock & 0x1FFFF
    months, day = days >> 5, days & 31
    date = f"{months // 13:04}-{months % 13:02}-{day:02}"
    return f'"{date} {seconds >> 12:02}:{seconds >> 6 & 63:02}:{seconds & 63:02}.{micros:06}"'


def _date(data: bytes) -> str:
    return f'{_moment(data)[:11]}"'


def _time(data: bytes) -> str:
    packed = int.from_bytes(data, "little", signed=True)
    sign, packed = ("-" if packed < 0 else ""), abs(packed)
    clock, micros = packed >> 24, packed & 0xFFFFFF
    hours, minutes, seconds = clock >> 12 & 0x3FF, clock >> 6 & 63, clock & 63
    return f'"{sign}{hours:02}:{minutes:02}:{seconds:02}.{micros:06}"'


_OPAQUES: dict[int, Callable[[bytes], str]] = {
    _DECIMAL: _decimal,
    _DATE: _date,
    _TIME: _time,
    **dict.fromkeys(_MOMENTS, _moment),
}
