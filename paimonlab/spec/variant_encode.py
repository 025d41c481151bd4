"""JSON texts -> VARIANT values: the dictionary of names and the tree of values.

Source: apache/paimon@1.3.1 ``org.apache.paimon.data.variant.GenericVariantBuilder``;
https://parquet.apache.org/docs/file-format/types/variantencoding/
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NoReturn

import pyarrow as pa

from paimonlab.errors import DataError
from paimonlab.spec.arrow_types import VARIANT_STORAGE

_VERSION = 1
_NULL, _TRUE, _FALSE, _INT1, _DOUBLE, _DECIMAL4, _LONG_TEXT = 0, 1, 2, 3, 7, 8, 16
_SHORT_TEXT_BYTES = 63
_SMALL_SIZE = 255
_MAX_DIGITS = 38
_MAX_BYTES = 128 << 20


def parse_json(texts: pa.Array | pa.ChunkedArray | Iterable[str | None]) -> pa.StructArray:
    r"""Read JSON texts as values of a VARIANT column.

    Whole numbers become the shortest integer that holds them, others decimals where they are
    exact; the bytes are those Java Paimon makes.

    Parameters
    ----------
    texts : (n,)
        None stays null, the text ``null`` becomes a variant that holds null.

    Returns
    -------
    pyarrow.StructArray
        (n,) ``struct<value: binary, metadata: binary>``.

    Raises
    ------
    DataError
        If a text is no JSON, repeats a name in an object, or is too large.

    Examples
    --------
    >>> parse_json(['{"a": 1}', None]).to_pylist()
    [{'value': b'\x02\x01\x00\x00\x02\x0c\x01', 'metadata': b'\x01\x01\x00\x01a'}, None]
    """
    if isinstance(texts, pa.Array | pa.ChunkedArray):
        texts = texts.to_pylist()
    encoded = [None if text is None else _encoded(text) for text in texts]
    values = [one and dict(zip(("value", "metadata"), one, strict=True)) for one in encoded]
    return pa.array(values, VARIANT_STORAGE)


def _encoded(text: str) -> tuple[bytes, bytes]:
    names: dict[str, int] = {}
    try:
        tree = json.loads(
            text,
            object_pairs_hook=_Object,
            parse_float=_Number,
            parse_int=_Number,
            parse_constant=_no_constant,
        )
        value, metadata = _value(tree, names), _metadata(names)
    except (ValueError, RecursionError) as error:
        shown = text if len(text) <= 60 else f"{text[:57]}..."
        raise DataError(f"{shown!r} cannot be read as JSON for a VARIANT: {error}") from None
    if len(value) > _MAX_BYTES or len(metadata) > _MAX_BYTES:
        raise DataError(f"a VARIANT of {len(value):,} bytes is too large")
    return value, metadata


class _Object(list[tuple[str, Any]]):
    """The pairs of an object, in the order of the text."""


class _Number(str):
    """A number as it is written."""

    __slots__ = ()


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON")


def _value(tree: Any, names: dict[str, int]) -> bytes:
    match tree:
        case None:
            return _primitive(_NULL)
        case bool():
            return _primitive(_TRUE if tree else _FALSE)
        case _Number():
            return _number(tree)
        case str():
            return _text(tree)
        case _Object():
            return _object(tree, names)
        case _:
            return _array([_value(element, names) for element in tree])


def _primitive(number: int, data: bytes = b"") -> bytes:
    return bytes([number << 2]) + data


def _text(text: str) -> bytes:
    data = text.encode()
    if len(data) <= _SHORT_TEXT_BYTES:
        return bytes([len(data) << 2 | 1]) + data
    return _primitive(_LONG_TEXT, struct.pack("<I", len(data)) + data)


def _number(text: str) -> bytes:
    if not set(text) & set(".eE"):
        whole = int(text)
        for number, size in enumerate((1, 2, 4, 8)):
            if -(1 << 8 * size - 1) <= whole < 1 << 8 * size - 1:
                return _primitive(_INT1 + number, whole.to_bytes(size, "little", signed=True))
    if not set(text) & set("eE"):
        sign, digits, exponent = Decimal(text).as_tuple()
        assert isinstance(exponent, int), "a number of JSON is finite"
        unscaled = int("".join(map(str, digits))) * (-1 if sign else 1)
        precision, scale = len(str(abs(unscaled))), -exponent
        if precision <= _MAX_DIGITS and scale <= _MAX_DIGITS:
            return _decimal(unscaled, precision, scale)
    return _primitive(_DOUBLE, struct.pack("<d", float(text)))


def _decimal(unscaled: int, precision: int, scale: int) -> bytes:
    for number, (digits, size) in enumerate(((9, 4), (18, 8), (_MAX_DIGITS, 16))):
        if precision <= digits and scale <= digits:
            data = bytes([scale]) + unscaled.to_bytes(size, "little", signed=True)
            return _primitive(_DECIMAL4 + number, data)
    raise AssertionError("digits are counted before")


def _object(pairs: _Object, names: dict[str, int]) -> bytes:
    found: dict[str, tuple[int, bytes]] = {}
    for name, tree in pairs:
        if name in found:
            raise ValueError(f"the name {name!r} occurs twice in an object")
        number = names.setdefault(name, len(names))
        found[name] = number, _value(tree, names)
    starts, position = {}, 0
    for name, (_, data) in found.items():
        starts[name] = position
        position += len(data)
    in_order = sorted(found, key=_java_order)
    id_bytes = _width(max((number for number, _ in found.values()), default=0))
    offset_bytes, is_large = _width(position), len(found) > _SMALL_SIZE
    flags = is_large << 4 | id_bytes - 1 << 2 | offset_bytes - 1
    ids = b"".join(found[name][0].to_bytes(id_bytes, "little") for name in in_order)
    offsets = [*(starts[name] for name in in_order), position]
    return _container(2, flags, is_large, len(found), ids, offsets, offset_bytes) + b"".join(
        data for _, data in found.values()
    )


def _java_order(name: str) -> bytes:
    """Sort by UTF-16 units, as Java compares texts."""
    return name.encode("utf-16-be", "surrogatepass")


def _array(elements: list[bytes]) -> bytes:
    offsets = [0]
    for element in elements:
        offsets.append(offsets[-1] + len(element))
    offset_bytes, is_large = _width(offsets[-1]), len(elements) > _SMALL_SIZE
    flags = is_large << 2 | offset_bytes - 1
    head = _container(3, flags, is_large, len(elements), b"", offsets, offset_bytes)
    return head + b"".join(elements)


def _container(
    kind: int,
    flags: int,
    is_large: bool,  # noqa: FBT001
    count: int,
    ids: bytes,
    offsets: list[int],
    offset_bytes: int,
) -> bytes:
    size = count.to_bytes(4 if is_large else 1, "little")
    places = b"".join(offset.to_bytes(offset_bytes, "little") for offset in offsets)
    return bytes([flags << 2 | kind]) + size + ids + places


def _metadata(names: dict[str, int]) -> bytes:
    texts = [name.encode() for name in names]
    offsets = [0]
    for text in texts:
        offsets.append(offsets[-1] + len(text))
    width = _width(max(offsets[-1], len(texts)))
    numbers = [len(texts), *offsets]
    head = bytes([_VERSION | width - 1 << 6])
    return head + b"".join(one.to_bytes(width, "little") for one in numbers) + b"".join(texts)


def _width(number: int) -> int:
    """Return how many bytes hold a number, at least one."""
    return max(1, -(-number.bit_length() // 8))
