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

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import DataError
from paimonlab.spec.types.arrow import VARIANT_STORAGE
from paimonlab.spec.variant.build import (
    DOUBLE,
    FALSE,
    MAX_DIGITS,
    NULL,
    TRUE,
    array_of,
    decimal,
    integer,
    metadata_of,
    object_of,
    primitive,
    text_of,
)

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
        If a text is not JSON, repeats a name in an object, or is too large.

    Examples
    --------
    >>> parse_json(['{"a": 1}', None]).to_pylist()
    [{'value': b'\x02\x01\x00\x00\x02\x0c\x01', 'metadata': b'\x01\x01\x00\x01a'}, None]
    """
    if isinstance(texts, pa.Array | pa.ChunkedArray):
        texts = texts.to_pylist()
    encoded = [None if text is None else _encoded(text) for text in texts]
    values = [one and dict(zip(("value", "metadata"), one, strict=True)) for one in encoded]
    return arrow_array(values, VARIANT_STORAGE)


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
        value, metadata = _value(tree, names), metadata_of(names)
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
    raise ValueError(f"{text} is not JSON")


def _value(tree: Any, names: dict[str, int]) -> bytes:
    match tree:
        case None:
            return primitive(NULL)
        case bool():
            return primitive(TRUE if tree else FALSE)
        case _Number():
            return _number(tree)
        case str():
            return text_of(tree)
        case _Object():
            return _object(tree, names)
        case _:
            return array_of([_value(element, names) for element in tree])


def _number(text: str) -> bytes:
    if not set(text) & set(".eE"):
        whole = int(text)
        if -(1 << 63) <= whole < 1 << 63:
            return integer(whole)
    if not set(text) & set("eE"):
        sign, digits, exponent = Decimal(text).as_tuple()
        assert isinstance(exponent, int), "a number of JSON is finite"
        unscaled = int("".join(map(str, digits))) * (-1 if sign else 1)
        precision, scale = len(str(abs(unscaled))), -exponent
        if precision <= MAX_DIGITS and scale <= MAX_DIGITS:
            return decimal(unscaled, scale)
    return primitive(DOUBLE, struct.pack("<d", float(text)))


def _object(pairs: _Object, names: dict[str, int]) -> bytes:
    fields = []
    for name, tree in pairs:
        number = names.setdefault(name, len(names))
        fields.append((name, number, _value(tree, names)))
    return object_of(fields)
