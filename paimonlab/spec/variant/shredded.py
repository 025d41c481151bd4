"""Shredded VARIANT values -> the two binary parts.

Files may keep what is often in a variant in columns of its own: a group of ``metadata``,
``value`` and ``typed_value``. Wherever ``typed_value`` is not null it is the value, of an object
the fields that have columns, the others are an object in ``value``. Elements of arrays and fields
of objects are groups of ``value`` and ``typed_value`` again; a field where both are null is not
there.

Source: https://parquet.apache.org/docs/file-format/types/variantshredding/;
apache/paimon@1.3.1 ``org.apache.paimon.data.variant.ShreddingUtils``, ``PaimonShreddingUtils``.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator
from decimal import Context, Decimal
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.types as pt
from msgspec import Struct

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import DataError, UnsupportedError
from paimonlab.spec.types.arrow import VARIANT_STORAGE
from paimonlab.spec.variant.build import (
    BINARY,
    DATE,
    DOUBLE,
    FALSE,
    FLOAT,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    TRUE,
    UUID,
    array_of,
    decimal,
    integer,
    metadata_of,
    object_of,
    primitive,
    text_of,
)
from paimonlab.spec.variant.parts import (
    ARRAY,
    MAX_DEPTH,
    OBJECT,
    items_of,
    names_of,
    scalar_at,
)

_EXACT = Context(prec=60)
_METADATA, _VALUE, _TYPED = "metadata", "value", "typed_value"
_NAN_32, _NAN_64 = struct.pack("<I", 0x7FC00000), struct.pack("<Q", 0x7FF8 << 48)


def is_shredded(storage: pa.DataType) -> bool:
    """Whether a column of this type keeps parts of its variants in columns of their own."""
    return pt.is_struct(storage) and storage.get_field_index(_TYPED) >= 0


def rebuilt(shredded: pa.StructArray) -> pa.StructArray:
    """Put variants together, each with a dictionary of its own names, as Java Paimon does.

    Parameters
    ----------
    shredded : (n,)
        ``struct<metadata: binary, value: binary, typed_value: …>``, in any order; ``value`` may
        be missing.

    Returns
    -------
    pyarrow.StructArray
        (n,) ``struct<value: binary, metadata: binary>``. Null stays null.

    Raises
    ------
    DataError
        If a value is damaged: it is missing, or a field occurs twice.
    UnsupportedError
        If parts are of a type that Java Paimon has no variants of.
    """
    parts = _parts(shredded)
    if _METADATA not in parts:
        raise DataError("a shredded VARIANT has no metadata")
    dictionaries = _binaries(parts.pop(_METADATA), _METADATA)
    group = _group(shredded, parts)
    is_there = shredded.is_valid().to_pylist()
    try:
        values = [
            _Rebuilding(dictionary).whole(group, place) if is_there[place] else None
            for place, dictionary in enumerate(dictionaries)
        ]
    except (IndexError, ValueError, RecursionError) as error:
        raise DataError(f"a shredded VARIANT is damaged: {error}") from error
    return arrow_array(values, VARIANT_STORAGE)


class _Group(Struct, frozen=True):
    """Values at n places."""

    is_there: list[bool]
    """(n,) Whether there is a group at all."""
    values: list[bytes | None]
    """(n,)"""
    typed: _Typed | None

    def is_missing(self, place: int) -> bool:
        """Whether the value is missing."""
        has_typed = self.typed is not None and self.typed.has(place)
        return not has_typed and self.values[place] is None


class _Scalars(Struct, frozen=True):
    values: list[bytes | None]

    def has(self, place: int) -> bool:
        return self.values[place] is not None


class _Arrays(Struct, frozen=True):
    is_there: list[bool]
    offsets: list[int]
    """(n + 1,) Where the elements of each place begin."""
    elements: _Group

    def has(self, place: int) -> bool:
        return self.is_there[place]


class _Objects(Struct, frozen=True):
    is_there: list[bool]
    fields: dict[str, _Group]

    def has(self, place: int) -> bool:
        return self.is_there[place]


_Typed: TypeAlias = _Scalars | _Arrays | _Objects


class _Rebuilding:
    """One variant, put together; names get their numbers as they are met."""

    def __init__(self, dictionary: bytes | None) -> None:
        if dictionary is None:
            raise ValueError("it has no dictionary")
        self._dictionary = dictionary
        self._old_names: list[str] | None = None
        self._numbers: dict[str, int] = {}

    def whole(self, group: _Group, place: int) -> dict[str, bytes]:
        value = self._value(group, place)
        return {_VALUE: value, _METADATA: metadata_of(self._numbers)}

    def _value(self, group: _Group, place: int) -> bytes:
        typed, rest = group.typed, group.values[place]
        if typed is not None and typed.has(place):
            match typed:
                case _Scalars(values):
                    stored = values[place]
                    assert stored is not None, "it was looked at"
                    return stored
                case _Arrays(_, offsets, elements):
                    places = range(offsets[place], offsets[place + 1])
                    return array_of([self._value(elements, one) for one in places])
                case _Objects(_, fields):
                    return self._object(fields, place, rest)
        if rest is None:
            raise ValueError("a value is missing")
        return self._renumbered(rest, 0, 0)

    def _object(self, fields: dict[str, _Group], place: int, rest: bytes | None) -> bytes:
        object_fields = []
        for name, group in fields.items():
            if not group.is_there[place]:
                raise ValueError(f"the field {name!r} is null")
            if not group.is_missing(place):
                number = self._number(name)
                object_fields.append((name, number, self._value(group, place)))
        if rest is not None:
            if rest[0] & 3 != OBJECT:
                raise ValueError("a value beside typed fields is not an object")
            for name, start in self._named(rest, 0):
                if name in fields:
                    raise ValueError(f"the field {name!r} is in two places")
                number = self._number(name)
                object_fields.append((name, number, self._renumbered(rest, start, 1)))
        return object_of(object_fields)

    def _number(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))

    def _renumbered(self, data: bytes, at: int, depth: int) -> bytes:
        """Copy a value with the new numbers of its names; one frame of the stack a level."""
        if depth > MAX_DEPTH:
            raise ValueError("it is too deep")
        kind = data[at] & 3
        if kind == OBJECT:
            fields = []
            for name, start in self._named(data, at):
                number = self._number(name)
                fields.append((name, number, self._renumbered(data, start, depth + 1)))
            return object_of(fields)
        if kind == ARRAY:
            elements = []
            for start in items_of(data, at).starts:
                elements.append(self._renumbered(data, start, depth + 1))  # noqa: PERF401
            return array_of(elements)
        return scalar_at(data, at)

    def _named(self, data: bytes, at: int) -> Iterator[tuple[str, int]]:
        """Find the fields of an object."""
        if self._old_names is None:
            self._old_names = names_of(self._dictionary)
        items = items_of(data, at)
        for old, start in zip(items.ids, items.starts, strict=True):
            yield self._old_names[old], start


def _group(array: pa.StructArray, parts: dict[str, pa.Array]) -> _Group:
    """Take a group of ``value`` and ``typed_value`` apart."""
    if not parts or not parts.keys() <= {_VALUE, _TYPED}:
        raise DataError(f"a shredded VARIANT has a part {array.type}")
    nothing: list[bytes | None] = [None] * len(array)
    values = _binaries(parts[_VALUE], _VALUE) if _VALUE in parts else nothing
    typed = _typed(parts[_TYPED]) if _TYPED in parts else None
    return _Group(array.is_valid().to_pylist(), values, typed)


def _parts(array: pa.StructArray) -> dict[str, pa.Array]:
    """Return fields by name, null where the struct is: without that they may be anything."""
    names = [field.name for field in array.type]
    if len(set(names)) != len(names):
        raise DataError(f"a shredded VARIANT has a part twice: {array.type}")
    return dict(zip(names, array.flatten(), strict=True))


def _binaries(array: pa.Array, part: str) -> list[bytes | None]:
    if not (pt.is_binary(array.type) or pt.is_large_binary(array.type)):
        raise DataError(f"{part} of a shredded VARIANT is of type {array.type}")
    values: list[bytes | None] = array.to_pylist()
    return values


def _typed(array: pa.Array) -> _Typed:
    kind = array.type
    if pt.is_struct(kind):
        fields = {name: _part(field) for name, field in _parts(array).items()}
        return _Objects(array.is_valid().to_pylist(), fields)
    if pt.is_list(kind) or pt.is_large_list(kind):
        offsets = array.offsets.to_pylist()
        return _Arrays(array.is_valid().to_pylist(), offsets, _part(array.values))
    if isinstance(kind, pa.UuidType):
        array = array.storage
    encode, plain = _encoder(kind), _numbers(array)
    return _Scalars([None if one is None else encode(one) for one in plain.to_pylist()])


def _part(array: pa.Array) -> _Group:
    if not pt.is_struct(array.type):
        raise DataError(f"a shredded VARIANT has a part of type {array.type}")
    return _group(array, _parts(array))


def _numbers(array: pa.Array) -> pa.Array:
    """Make numbers of days and instants, of which Python's types do not reach all."""
    if pt.is_date32(array.type):
        return array.cast(pa.int32())
    return array.cast(pa.int64()) if pt.is_timestamp(array.type) else array


def _boolean(value: bool) -> bytes:  # noqa: FBT001
    return primitive(TRUE if value else FALSE)


def _float(value: float) -> bytes:
    return primitive(FLOAT, _NAN_32 if math.isnan(value) else struct.pack("<f", value))


def _double(value: float) -> bytes:
    return primitive(DOUBLE, _NAN_64 if math.isnan(value) else struct.pack("<d", value))


def _decimal(value: Decimal, scale: int) -> bytes:
    return decimal(int(value.scaleb(scale, _EXACT)), scale)


def _days(value: int) -> bytes:
    return primitive(DATE, struct.pack("<i", value))


def _binary(value: bytes) -> bytes:
    return primitive(BINARY, struct.pack("<I", len(value)) + value)


_ENCODERS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[Any], bytes]], ...] = (
    (pt.is_string, text_of),
    (pt.is_large_string, text_of),
    (pt.is_signed_integer, integer),
    (pt.is_boolean, _boolean),
    (pt.is_float32, _float),
    (pt.is_float64, _double),
    (pt.is_date32, _days),
    (pt.is_binary, _binary),
    (pt.is_large_binary, _binary),
    (lambda kind: isinstance(kind, pa.UuidType), lambda value: primitive(UUID, value)),
)


def _encoder(kind: pa.DataType) -> Callable[[Any], bytes]:
    """Choose what makes a value of a value of this type."""
    for is_it, encode in _ENCODERS:
        if is_it(kind):
            return encode
    if pt.is_decimal128(kind) and 0 <= kind.scale <= kind.precision:
        scale = kind.scale
        return lambda value: _decimal(value, scale)
    if pt.is_timestamp(kind) and kind.unit == "us":
        number = TIMESTAMP if kind.tz is None else TIMESTAMP_LTZ
        return lambda micros: primitive(number, struct.pack("<q", micros))
    raise UnsupportedError(
        f"a shredded VARIANT with parts of type {kind}",
        "Java Paimon has no variants of this type; leave the column out",
    )
