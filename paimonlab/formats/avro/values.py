"""Columns of Avro data files, as polars decodes them, brought to the types of the table."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.errors import CorruptDataError
from paimonlab.formats.avro.schema import COUNT, FileSchema, Schema
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
)

_DECIMAL_BYTES = 16
_STAMP_UNITS = {
    "timestamp-millis": "ms",
    "timestamp-micros": "us",
    "timestamp-nanos": "ns",
    "local-timestamp-millis": "ms",
    "local-timestamp-micros": "us",
    "local-timestamp-nanos": "ns",
}


class AvroColumns:
    """Turns decoded columns of one file into those of the table.

    Parameters
    ----------
    schema
        The file's Avro schema.
    path
        The file, for messages.
    """

    def __init__(self, schema: FileSchema, path: str) -> None:
        self._schema = schema
        self._path = path
        self._members = schema.members(schema.record)

    def convert(self, array: pa.Array, field: DataField) -> pa.Array:
        """Return a column as ``to_arrow(field.type)``.

        Raises
        ------
        CorruptDataError
            If the file's type does not fit the column or a value does not fit the type.
        """
        try:
            return self._converted(array, self._members[field.name], field.type)
        except (pa.ArrowException, ValueError, OverflowError) as error:
            raise CorruptDataError(self._path, f"column {field.name!r}: {error}") from error

    def _converted(self, array: pa.Array, schema: Schema, data_type: DataType) -> pa.Array:
        schema = self._schema.without_null(schema)
        match data_type:
            case ArrayType(element):
                items = self._part(schema, "items")
                values = self._converted(array.values, items, element)
                return with_children(array, to_arrow(data_type), [values])
            case MapType(key, value):
                return self._map(array, schema, key, value, to_arrow(data_type))
            case MultisetType(element):
                return self._map(array, schema, element, COUNT, to_arrow(data_type))
            case RowType(fields):
                return self._row(array, schema, fields, to_arrow(data_type))
            case AtomicType():
                return _atomic(array, schema, data_type)

    def _part(self, schema: Schema, name: str) -> Schema:
        if not isinstance(schema, Mapping) or name not in schema:
            raise ValueError(f"its Avro type is {_shown(schema)}")
        return schema[name]

    def _map(
        self, array: pa.Array, schema: Schema, key: DataType, value: DataType, target: pa.DataType
    ) -> pa.Array:
        if isinstance(schema, Mapping) and schema.get("type") == "map":
            key_schema, value_schema = "string", schema["values"]
        else:
            pair = self._schema.without_null(self._part(schema, "items"))
            if not isinstance(pair, Mapping) or pair.get("type") != "record":
                raise ValueError(f"its Avro type is {_shown(schema)}")
            members = self._schema.members(pair)
            key_schema, value_schema = members["key"], members["value"]
        keys, values = (array.values.field(name) for name in ("key", "value"))
        entries = pa.StructArray.from_arrays(
            [
                self._converted(keys, key_schema, key),
                self._converted(values, value_schema, value),
            ],
            fields=[target.key_field, target.item_field],
        )
        return with_children(array, target, [entries])

    def _row(
        self, array: pa.Array, schema: Schema, fields: tuple[DataField, ...], target: pa.DataType
    ) -> pa.Array:
        if not isinstance(schema, Mapping) or schema.get("type") != "record":
            raise ValueError(f"its Avro type is {_shown(schema)}")
        members = self._schema.members(schema)
        children = []
        for field in fields:
            if field.name not in members:
                raise ValueError(f"field {field.name!r} is not in the file")
            child = array.field(field.name)
            children.append(self._converted(child, members[field.name], field.type))
        mask = array.is_null() if array.null_count else None
        return pa.StructArray.from_arrays(children, fields=list(target), mask=mask)


def with_children(array: pa.Array, target: pa.DataType, children: list[pa.Array]) -> pa.Array:
    """Give a list other elements, as many as it had, in a list or map of 32-bit offsets."""
    offsets = array.offsets.cast(pa.int32())
    validity = array.is_valid().buffers()[1] if array.null_count else None
    return pa.Array.from_buffers(
        target,
        len(array),
        [validity, offsets.buffers()[1]],
        array.null_count,
        children=children,
    )


def _atomic(array: pa.Array, schema: Schema, data_type: AtomicType) -> pa.Array:
    target = to_arrow(data_type)
    logical = schema.get("logicalType") if isinstance(schema, Mapping) else None
    match data_type.root:
        case TypeRoot.DECIMAL:
            if logical != "decimal":
                raise ValueError(f"its Avro type is {_shown(schema)}")
            numbers = decimals(array, pa.decimal128(38, schema.get("scale", 0)))
            return numbers.cast(target)
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            if logical not in _STAMP_UNITS:
                raise ValueError(f"its Avro type is {_shown(schema)}")
            stamps = array.view(pa.timestamp(_STAMP_UNITS[logical], tz=target.tz))
            return stamps.cast(target)
        case TypeRoot.TIME if logical == "time-micros":
            return array.view(pa.time64("us")).cast(target)
        case TypeRoot.TIME | TypeRoot.DATE:
            return array.cast(pa.int32()).view(target)
        case _:
            return array.cast(target)


def decimals(array: pa.Array, target: pa.Decimal128Type) -> pa.Array:
    """Read big-endian two's complement numbers of any length as decimals.

    Raises
    ------
    ValueError
        If a number does not fit 128 bits.
    """
    binary = array.cast(pa.large_binary())
    size = len(binary)
    raw = binary.buffers()
    offsets = np.frombuffer(raw[1], np.int64)[binary.offset : binary.offset + size + 1]
    data = np.frombuffer(raw[2], np.uint8) if raw[2] is not None else np.zeros(0, np.uint8)
    words = _signed_words(data, offsets)
    validity = array.is_valid().buffers()[1] if array.null_count else None
    return pa.Array.from_buffers(
        target, size, [validity, pa.py_buffer(words.tobytes())], array.null_count
    )


def _signed_words(
    data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]
) -> npt.NDArray[np.uint8]:
    """Return (n, 16) little-endian numbers; 0 for no bytes."""
    lengths = np.diff(offsets)
    words = np.zeros((len(lengths), _DECIMAL_BYTES), np.uint8)
    if not len(lengths) or not len(data):
        return words
    if lengths.max() > _DECIMAL_BYTES:
        raise ValueError("a decimal has more than 16 bytes")
    has_bytes = lengths > 0
    first = data[np.where(has_bytes, offsets[:-1], 0)]
    words[has_bytes & (first >= 0x80)] = 0xFF
    for byte_index in range(int(lengths.max())):
        rows = np.flatnonzero(lengths > byte_index)
        words[rows, byte_index] = data[offsets[1:][rows] - 1 - byte_index]
    return words


def _shown(schema: Schema) -> str:
    if isinstance(schema, Mapping):
        return str(schema.get("logicalType", schema.get("type")))
    return str(schema)
