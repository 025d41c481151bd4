"""Values of the binary log to Arrow, a column of many events at a time.

A value that its type here cannot hold is null, and its row is listed with the reason; who calls
decides what becomes of the row.

Source: MySQL Source Code Documentation, ``my_time.cc`` (packed times), ``decimal.c`` (packed
decimals), ``binary_log::Table_map_event`` (types).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import UnsupportedError
from paimonlab.ingest.formats.geometry import mysql_geometry_json
from paimonlab.ingest.sources.mysql.binary_json import json_text
from paimonlab.ingest.sources.mysql.charsets import BINARY, decoded, decoded_one
from paimonlab.ingest.sources.mysql.events import LogColumn, LogType
from paimonlab.ingest.sources.mysql.row_images import ColumnSpans, decimal_groups
from paimonlab.ingest.sources.mysql.spans import Flags, Memory, Numbers, Places, fixed_width
from paimonlab.ingest.sources.mysql.zones import moments
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import TEXT_ROOTS, AtomicType, DataType, TypeRoot

_SIZES = {
    LogType.TINY: 1,
    LogType.SHORT: 2,
    LogType.INT24: 3,
    LogType.LONG: 4,
    LogType.LONGLONG: 8,
}
_LONG_DECIMAL = 18
"""Digits that a number of 64 bits holds."""
_MICROS = 1_000_000
_DAY_MICROS = 86_400 * _MICROS
NO_BOOLEAN = "is no BOOLEAN: give type_mapping=['tinyint1-not-bool']"
NO_TIME = "a time that is negative or beyond a day, or finer than milliseconds, which TIME keeps"
ZERO_DATE = "a zero date in a column that is NOT NULL"


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """A column."""

    array: pa.Array
    errors: dict[int, str]
    """Rows whose value cannot be held, and why; they are null."""


Decode: TypeAlias = Callable[[Memory, ColumnSpans], Values]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What values depend on beside their type."""

    zone: str
    """Of TIMESTAMP without zone."""
    charset: str
    """Of the column."""
    declared: str
    """The type as it was declared."""


def decoder(column: LogColumn, kind: DataType, setting: Setting) -> Decode:
    """Return how the values of a column become those of a type.

    Raises
    ------
    UnsupportedError
        If they cannot.
    """
    if not isinstance(kind, AtomicType):
        return _set(column, setting)
    if column.type in _SIZES:
        return _truth if kind.root is TypeRoot.BOOLEAN else _whole(column, kind)
    if column.type in (LogType.FLOAT, LogType.DOUBLE):
        return _floating(column, kind)
    simple = _SIMPLE.get(column.type)
    if simple is not None:
        return simple(column, kind, setting)
    raise UnsupportedError(
        f"column {column.name!r}, which the log has as {column.type.name},",
        "ALTER TABLE … FORCE writes times of old servers anew; columns cannot be COMPRESSED",
    )


def _listed(rows: Flags, text: str) -> dict[int, str]:
    return dict.fromkeys(np.flatnonzero(rows).tolist(), text)


def _either(left: Flags | None, right: Flags) -> Flags | None:
    if not right.any():
        return left
    return right if left is None else left | right


# Numbers


def _signed(values: Numbers, size: int) -> npt.NDArray[np.int64]:
    shift = np.int64(64 - 8 * size)
    return (values.view(np.int64) << shift) >> shift


def _whole(column: LogColumn, kind: AtomicType) -> Decode:
    size, arrow = _SIZES[column.type], to_arrow(kind)

    def decode(memory: Memory, where: ColumnSpans) -> Values:
        raw = memory.little(where.begins, size)
        if kind.root is TypeRoot.DECIMAL:
            words = np.zeros((len(raw), 2), np.uint64)
            words[:, 0] = raw
            return Values(fixed_width(arrow, words, where.is_null), {})
        is_null, errors = where.is_null, {}
        if column.is_unsigned:
            numbers = raw.view(np.int64)
            if size == 8:
                large = numbers < 0
                if is_null is not None:
                    large &= ~is_null
                errors = _listed(large, "a number beyond BIGINT")
                is_null = _either(is_null, large)
        else:
            numbers = _signed(raw, size)
        typed = numbers.astype(arrow.to_pandas_dtype())
        return Values(arrow_array(typed, arrow, mask=is_null), errors)

    return decode


def _truth(memory: Memory, where: ColumnSpans) -> Values:
    raw = memory.bytes[where.begins]
    wrong = raw > 1
    if where.is_null is not None:
        wrong &= ~where.is_null
    errors = {}
    if wrong.any():
        for row in np.flatnonzero(wrong).tolist():
            errors[row] = f"{int(raw[row].astype(np.int8))} {NO_BOOLEAN}"
    mask = _either(where.is_null, wrong)
    return Values(arrow_array(raw == 1, pa.bool_(), mask=mask), errors)


def _floating(column: LogColumn, kind: AtomicType) -> Decode:
    arrow = to_arrow(kind)
    is_single = column.type is LogType.FLOAT

    def decode(memory: Memory, where: ColumnSpans) -> Values:
        raw = memory.little(where.begins, 4 if is_single else 8)
        numbers = raw.astype(np.uint32).view(np.float32) if is_single else raw.view(np.float64)
        if where.is_null is not None:
            numbers = np.where(where.is_null, numbers.dtype.type(0), numbers)
        typed = numbers.astype(arrow.to_pandas_dtype(), copy=False)
        return Values(arrow_array(typed, arrow, mask=where.is_null), {})

    return decode


def _year(_column: LogColumn, _kind: AtomicType, _setting: Setting) -> Decode:
    def decode(memory: Memory, where: ColumnSpans) -> Values:
        raw = memory.bytes[where.begins].astype(np.int32)
        years = np.where(raw == 0, 0, raw + 1900).astype(np.int32)
        return Values(arrow_array(years, pa.int32(), mask=where.is_null), {})

    return decode


def _bit(_column: LogColumn, kind: AtomicType, _setting: Setting) -> Decode:
    def decode(memory: Memory, where: ColumnSpans) -> Values:
        if kind.root is TypeRoot.BOOLEAN:
            truth = memory.bytes[where.begins] == 1
            return Values(arrow_array(truth, pa.bool_(), mask=where.is_null), {})
        return Values(memory.spans(where.begins, where.ends, where.is_null), {})

    return decode


def _decimal(column: LogColumn, kind: AtomicType, _setting: Setting) -> Decode:
    precision, scale = column.meta >> 8, column.meta & 255
    groups = decimal_groups(precision, scale)

    def decode(memory: Memory, where: ColumnSpans) -> Values:
        parts, negative = _decimal_parts(memory, where.begins, groups)
        if kind.root is not TypeRoot.DECIMAL:
            return Values(_decimal_texts(parts, negative, groups, scale, where.is_null), {})
        make = _narrow if precision <= _LONG_DECIMAL else _broad
        words = make(parts, negative, groups)
        return Values(fixed_width(to_arrow(kind), words, where.is_null), {})

    return decode


def _decimal_parts(
    memory: Memory, begins: Places, groups: list[tuple[int, int]]
) -> tuple[list[Numbers], Flags]:
    """Return the digits of each group, and which numbers are negative."""
    negative = memory.bytes[begins] < 128
    at, parts = begins, []
    for index, (size, _) in enumerate(groups):
        raw = memory.big(at, size)
        if index == 0:
            raw ^= np.uint64(0x80 << 8 * (size - 1))
        parts.append(np.where(negative, raw ^ np.uint64((1 << 8 * size) - 1), raw))
        at = at + size
    return parts, negative


def _narrow(
    parts: list[Numbers], negative: Flags, groups: list[tuple[int, int]]
) -> npt.NDArray[np.int64]:
    total = np.zeros(len(negative), np.int64)
    for part, (_, digits) in zip(parts, groups, strict=True):
        total = total * np.int64(10**digits) + part.view(np.int64)
    total = np.where(negative, -total, total)
    return np.stack([total, total >> np.int64(63)], axis=1)


def _broad(parts: list[Numbers], negative: Flags, groups: list[tuple[int, int]]) -> Numbers:
    """Calculate with four digits to the base of 2 ** 32."""
    limbs = [np.zeros(len(negative), np.uint64) for _ in range(4)]
    low = np.uint64(0xFFFFFFFF)
    for part, (_, digits) in zip(parts, groups, strict=True):
        carry = part
        for index, limb in enumerate(limbs):
            product = limb * np.uint64(10**digits) + carry
            limbs[index], carry = product & low, product >> np.uint64(32)
    first = limbs[0] | limbs[1] << np.uint64(32)
    second = limbs[2] | limbs[3] << np.uint64(32)
    minus = ~first + np.uint64(1)
    carried = ~second + (minus == 0).astype(np.uint64)
    return np.stack([np.where(negative, minus, first), np.where(negative, carried, second)], axis=1)


def _decimal_texts(
    parts: list[Numbers],
    negative: Flags,
    groups: list[tuple[int, int]],
    scale: int,
    is_null: Flags | None,
) -> pa.Array:
    """Write numbers that have too many digits for any DECIMAL."""
    texts: list[str | None] = []
    rows = zip(negative.tolist(), *(part.tolist() for part in parts), strict=True)
    for row, (is_negative, *found) in enumerate(rows):
        if is_null is not None and is_null[row]:
            texts.append(None)
            continue
        pairs = zip(found, groups, strict=True)
        digits = "".join(f"{part:0{size}}" for part, (_, size) in pairs)
        number = Decimal(digits or "0").scaleb(0)
        whole = digits[: len(digits) - scale].lstrip("0") or "0"
        fraction = f".{digits[len(digits) - scale :]}" if scale else ""
        texts.append(f"{'-' if is_negative and number else ''}{whole}{fraction}")
    return arrow_array(texts, pa.string())


# Moments


def _fraction(memory: Memory, at: Places, digits: int) -> npt.NDArray[np.int64]:
    """Return microseconds."""
    size = (digits + 1) // 2
    if not size:
        return np.zeros(len(at), np.int64)
    return memory.big(at, size).view(np.int64) * np.int64(100 ** (3 - size))


def _days(
    years: npt.NDArray[np.int64], months: npt.NDArray[np.int64], days: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], Flags]:
    """Return days since 1970, and which are no days of a calendar."""
    wrong = (years < 1) | (months < 1) | (months > 12) | (days < 1)
    since = np.where(wrong, 0, (years - 1970) * 12 + months - 1)
    first = since.astype("M8[M]").astype("M8[D]").astype(np.int64)
    next_first = (since + 1).astype("M8[M]").astype("M8[D]").astype(np.int64)
    found = first + np.where(wrong, 0, days - 1)
    wrong |= found >= next_first
    return found, wrong


def _without_zeros(
    where: ColumnSpans, wrong: Flags, kind: AtomicType
) -> tuple[Flags | None, dict[int, str]]:
    """Return which values are null: those that no calendar has are, where that is allowed."""
    if where.is_null is not None:
        wrong = wrong & ~where.is_null
    errors = {} if kind.nullable else _listed(wrong, ZERO_DATE)
    return _either(where.is_null, wrong), errors


def _date(_column: LogColumn, kind: AtomicType, _setting: Setting) -> Decode:
    def decode(memory: Memory, where: ColumnSpans) -> Values:
        raw = memory.little(where.begins, 3).view(np.int64)
        days, wrong = _days(raw >> 9, raw >> 5 & 15, raw & 31)
        is_null, errors = _without_zeros(where, wrong, kind)
        return Values(fixed_width(pa.date32(), days.astype(np.int32), is_null), errors)

    return decode


def _datetime(column: LogColumn, kind: AtomicType, _setting: Setting) -> Decode:
    arrow = to_arrow(kind)

    def decode(memory: Memory, where: ColumnSpans) -> Values:
        raw = memory.big(where.begins, 5).view(np.int64)
        months = raw >> 22 & 0x1FFFF
        days, wrong = _days(months // 13, months % 13, raw >> 17 & 31)
        seconds = ((days * 24 + (raw >> 12 & 31)) * 60 + (raw >> 6 & 63)) * 60 + (raw & 63)
        micros = seconds * _MICROS + _fraction(memory, where.begins + 5, column.meta)
        is_null, errors = _without_zeros(where, wrong, kind)
        return Values(fixed_width(pa.timestamp("us"), micros, is_null).cast(arrow), errors)

    return decode


def _timestamp(column: LogColumn, kind: AtomicType, setting: Setting) -> Decode:
    arrow = to_arrow(kind)

    def decode(memory: Memory, where: ColumnSpans) -> Values:
        seconds = memory.big(where.begins, 4).view(np.int64)
        micros = seconds * _MICROS + _fraction(memory, where.begins + 4, column.meta)
        is_null, errors = _without_zeros(where, seconds == 0, kind)
        found = fixed_width(pa.timestamp("us"), micros, is_null)
        return Values(moments(found, arrow, setting.zone), errors)

    return decode


def _time(column: LogColumn, _kind: AtomicType, _setting: Setting) -> Decode:
    size = (column.meta + 1) // 2

    def decode(memory: Memory, where: ColumnSpans) -> Values:
        # Hours, minutes, seconds and a fraction are one number, of which half of the range is zero.
        middle = np.int64(0x800000 << 8 * size)
        packed = memory.big(where.begins, 3 + size).view(np.int64) - middle
        away = np.abs(packed)
        clock, fraction = away >> 8 * size, away & ((1 << 8 * size) - 1)
        seconds = ((clock >> 12 & 0x3FF) * 60 + (clock >> 6 & 63)) * 60 + (clock & 63)
        micros = seconds * _MICROS + fraction * np.int64(100 ** (3 - size) if size else 0)
        wrong = (packed < 0) | (micros >= _DAY_MICROS) | (micros % 1000 != 0)
        if where.is_null is not None:
            wrong &= ~where.is_null
        millis = (micros // 1000).astype(np.int32)
        found = fixed_width(pa.time32("ms"), millis, _either(where.is_null, wrong))
        return Values(found, _listed(wrong, NO_TIME))

    return decode


# Texts, bytes and what is made of them


def _text(column: LogColumn, kind: AtomicType, setting: Setting) -> Decode:
    own = _declared(setting.declared)
    is_text = kind.root in TEXT_ROOTS

    def decode(memory: Memory, where: ColumnSpans) -> Values:
        found = memory.spans(where.begins, where.ends, where.is_null)
        if own is not None:
            return Values(own(found), {})
        if is_text:
            return _texts(found, setting.charset)
        if column.type is LogType.STRING and setting.charset == BINARY:
            return Values(_padded(memory, where, column.meta), {})
        if setting.charset not in (BINARY, "utf8mb4"):  # longtext-to-bytes: as a SELECT gives it
            found = _texts(found, setting.charset).array.cast(pa.binary())
        return Values(found, {})

    return decode


def _texts(found: pa.Array, charset: str) -> Values:
    try:
        return Values(decoded(found, charset), {})
    except (pa.ArrowInvalid, ValueError):
        texts: list[str | None] = []
        errors = {}
        for row, value in enumerate(found.to_pylist()):
            try:
                texts.append(None if value is None else decoded_one(value, charset))
            except (pa.ArrowInvalid, ValueError):
                texts.append(None)
                errors[row] = f"bytes that are no text in {charset}"
        return Values(arrow_array(texts, pa.string()), errors)


def _padded(memory: Memory, where: ColumnSpans, size: int) -> pa.Array:
    """Give values of BINARY(n) the zeros back that the log leaves out."""
    lengths = where.ends - where.begins
    every = np.arange(size)
    places = np.minimum(where.begins[:, None] + every, len(memory.bytes) - 1)
    found = np.where(every < lengths[:, None], memory.bytes[places], np.uint8(0))
    return fixed_width(pa.binary(size), found, where.is_null).cast(pa.binary())


def _declared(text: str) -> Callable[[pa.Array], pa.Array] | None:
    make = {"inet4": inet4_text, "inet6": inet6_text}.get(text)
    if make is None:
        return None

    def read(values: pa.Array) -> pa.Array:
        texts = [None if value is None else make(value) for value in values.to_pylist()]
        return arrow_array(texts, pa.string())

    return read


def inet4_text(value: bytes) -> str:
    """Write an address; zeros at its end are left out by the log."""
    return ".".join(map(str, value.ljust(4, b"\0")))


def inet6_text(value: bytes) -> str:
    """Write an address as MariaDB does."""
    import ipaddress  # noqa: PLC0415 - rare

    address = ipaddress.IPv6Address(value.ljust(16, b"\0"))
    return str(address)


def _members(column: LogColumn, setting: Setting) -> list[str]:
    return [decoded_one(member, setting.charset) for member in column.members]


def _enum(column: LogColumn, _kind: AtomicType, setting: Setting) -> Decode:
    # Number 0 is the empty text that stands for a value that was none.
    members = arrow_array(["", *_members(column, setting)], pa.string())

    def decode(memory: Memory, where: ColumnSpans) -> Values:
        numbers = memory.little(where.begins, column.meta).view(np.int64)
        if where.is_null is not None:
            numbers = np.where(where.is_null, 0, numbers)
        return Values(members.take(arrow_array(numbers, mask=where.is_null)), {})

    return decode


def _set(column: LogColumn, setting: Setting) -> Decode:
    members = _members(column, setting)

    def decode(memory: Memory, where: ColumnSpans) -> Values:
        bits = memory.little(where.begins, column.meta)
        if where.is_null is not None:
            bits = np.where(where.is_null, np.uint64(0), bits)
        seen, index = np.unique(bits, return_inverse=True)
        lists = [
            [member for place, member in enumerate(members) if mask >> place & 1]
            for mask in seen.tolist()
        ]
        found = arrow_array(lists, pa.list_(pa.string()))
        return Values(found.take(arrow_array(index.reshape(-1), mask=where.is_null)), {})

    return decode


def _each(change: Callable[[bytes], str]) -> Callable[[LogColumn, AtomicType, Setting], Decode]:
    """Read value by value what is rare."""

    def made(_column: LogColumn, _kind: AtomicType, _setting: Setting) -> Decode:
        def decode(memory: Memory, where: ColumnSpans) -> Values:
            texts: list[str | None] = []
            errors: dict[int, str] = {}
            found = memory.spans(where.begins, where.ends, where.is_null).to_pylist()
            for row, value in enumerate(found):
                try:
                    texts.append(None if value is None else change(value))
                except ValueError as error:
                    texts.append(None)
                    errors[row] = str(error)
            return Values(arrow_array(texts, pa.string()), errors)

        return decode

    return made


_SIMPLE: dict[LogType, Callable[[LogColumn, AtomicType, Setting], Decode]] = {
    LogType.YEAR: _year,
    LogType.BIT: _bit,
    LogType.DECIMAL: _decimal,
    LogType.DATE: _date,
    LogType.NEWDATE: _date,
    LogType.DATETIME: _datetime,
    LogType.TIMESTAMP: _timestamp,
    LogType.TIME: _time,
    LogType.VARCHAR: _text,
    LogType.VAR_STRING: _text,
    LogType.STRING: _text,
    LogType.BLOB: _text,
    LogType.ENUM: _enum,
    LogType.GEOMETRY: _each(mysql_geometry_json),
    LogType.JSON: _each(json_text),
}


def key_numbers(values: pa.Array) -> npt.NDArray[np.int64]:
    """Return a key of whole numbers, shape (n,)."""
    found: npt.NDArray[np.int64] = np.asarray(pc.cast(values, pa.int64()).fill_null(0))
    return found
