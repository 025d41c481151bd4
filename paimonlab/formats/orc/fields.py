"""The columns of an ORC file: what pyarrow is given, and what the file says they are.

pyarrow knows no CHAR, VARCHAR or attributes of types, so the types at the end of a file are
replaced by those that Java Paimon writes; the bytes of the values are the same.

Source: apache/paimon@1.3.1 ``org.apache.paimon.format.orc.OrcTypeUtil``.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from paimonlab.errors import UnsupportedError
from paimonlab.formats.local_zone import to_local_clock
from paimonlab.formats.orc import tail as orc
from paimonlab.formats.orc.protobuf import Value, encode, varints
from paimonlab.formats.other_elements import with_elements
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import (
    MAX_LENGTH,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    atoms_in,
)
from paimonlab.spec.types.system_fields import COLLECTION_ID_BASE
from paimonlab.spec.types.text import format_type

_ID_ATTRIBUTE = b"paimon.id"
_IDS_PER_FIELD = 1024
_COUNT = AtomicType(TypeRoot.INT, nullable=False)
_KINDS = {
    TypeRoot.BOOLEAN: orc.BOOLEAN,
    TypeRoot.TINYINT: orc.BYTE,
    TypeRoot.SMALLINT: orc.SHORT,
    TypeRoot.INT: orc.INT,
    TypeRoot.BIGINT: orc.LONG,
    TypeRoot.FLOAT: orc.FLOAT,
    TypeRoot.DOUBLE: orc.DOUBLE,
    TypeRoot.BINARY: orc.BINARY,
    TypeRoot.VARBINARY: orc.BINARY,
    TypeRoot.DATE: orc.DATE,
    TypeRoot.TIME: orc.INT,
    TypeRoot.TIMESTAMP: orc.TIMESTAMP,
    TypeRoot.TIMESTAMP_LTZ: orc.TIMESTAMP_INSTANT,
    TypeRoot.DECIMAL: orc.DECIMAL,
    TypeRoot.CHAR: orc.CHAR,
}


def check_fields(fields: Sequence[DataField]) -> None:
    """Refuse columns that ORC files cannot hold.

    Raises
    ------
    UnsupportedError
        Names the column.
    """
    for field in fields:
        for atom in atoms_in(field.type):
            if atom.root not in _KINDS and atom.root is not TypeRoot.VARCHAR:
                raise UnsupportedError(
                    f"file.format = 'orc' with column {field.name!r}",
                    f"ORC has no {format_type(atom)}; use parquet",
                )


def storage_type(data_type: DataType) -> pa.DataType:
    """Return the Arrow type that a column is written from."""
    match data_type:
        case ArrayType(element):
            return pa.list_(storage_type(element))
        case MapType(key, value):
            return pa.map_(storage_type(key), storage_type(value))
        case MultisetType(element):
            return pa.map_(storage_type(element), pa.int32())
        case RowType(fields):
            return pa.struct([pa.field(field.name, storage_type(field.type)) for field in fields])
        case AtomicType(root=TypeRoot.TIME):
            return pa.int32()
        case AtomicType():
            return to_arrow(data_type)


def stored(  # noqa: PLR0911 - one a type
    array: pa.Array, data_type: DataType, *, legacy_ltz: bool
) -> pa.Array:
    """Return what a column is written from, of `storage_type`."""
    target = storage_type(data_type)
    match data_type:
        case ArrayType(element):
            values = stored(array.values, element, legacy_ltz=legacy_ltz)
            return with_elements(array, target, values)
        case MapType(key, value):
            return _stored_map(array, key, value, target, legacy_ltz=legacy_ltz)
        case MultisetType(element):
            return _stored_map(array, element, _COUNT, target, legacy_ltz=legacy_ltz)
        case RowType(fields):
            children = [
                stored(child, field.type, legacy_ltz=legacy_ltz)
                for child, field in zip(array.flatten(), fields, strict=True)
            ]
            mask = array.is_null() if array.null_count else None
            return pa.StructArray.from_arrays(children, fields=list(target), mask=mask)
        case AtomicType(root=TypeRoot.TIMESTAMP):
            return _writable(array)
        case AtomicType(root=TypeRoot.TIMESTAMP_LTZ):
            return _writable(to_local_clock(array) if legacy_ltz else array)
        case AtomicType():
            return array if array.type == target else array.view(target)


def _writable(array: pa.Array) -> pa.Array:
    """Refuse what pyarrow writes with negative nanoseconds (seen in 26.0), unknown to ORC."""
    ticks = array.cast(pa.int64()).fill_null(0).to_numpy()
    if ((ticks < 0) & (ticks % _TICKS[array.type.unit] != 0)).any():
        raise UnsupportedError(
            "file.format = 'orc' with a fraction of a second before 1970",
            "the ORC writer at hand gets such timestamps wrong; use parquet or avro",
        )
    return array


_TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def _stored_map(
    array: pa.Array, key: DataType, value: DataType, target: pa.DataType, *, legacy_ltz: bool
) -> pa.Array:
    pairs = pa.StructArray.from_arrays(
        [
            stored(array.keys, key, legacy_ltz=legacy_ltz),
            stored(array.items, value, legacy_ltz=legacy_ltz),
        ],
        fields=[target.key_field, target.item_field],
    )
    return with_elements(array, target, pairs)


def type_messages(fields: Sequence[DataField]) -> list[bytes]:
    """Return the types of a file's footer, numbered depth first, with field ids."""
    messages: list[bytes] = []
    _add_row(messages, tuple(fields), None)
    return messages


def _add_row(messages: list[bytes], fields: tuple[DataField, ...], field_id: int | None) -> None:
    own = len(messages)
    messages.append(b"")
    numbers = []
    for field in fields:
        numbers.append(len(messages))
        _add(messages, field.type, field.id, field.id, 0)
    names: list[tuple[int, Value]] = [(3, field.name.encode()) for field in fields]
    messages[own] = _message(orc.STRUCT, numbers, names, field_id)


def _add(
    messages: list[bytes], data_type: DataType, field_id: int, owner_id: int, depth: int
) -> None:
    """Add a type and those below it; ``owner_id`` is that of the innermost field of a ROW."""
    shift = _IDS_PER_FIELD * owner_id + depth + 1
    value_id, key_id = COLLECTION_ID_BASE + shift, COLLECTION_ID_BASE - shift
    match data_type:
        case ArrayType(element):
            own = len(messages)
            messages.append(b"")
            _add(messages, element, value_id, owner_id, depth + 1)
            messages[own] = _message(orc.LIST, [own + 1], [], field_id)
        case MapType(key, value):
            _add_map(messages, [(key, key_id), (value, value_id)], field_id, owner_id, depth)
        case MultisetType(element):
            _add_map(messages, [(element, key_id), (_COUNT, value_id)], field_id, owner_id, depth)
        case RowType(fields):
            _add_row(messages, fields, field_id)
        case AtomicType():
            messages.append(_atomic(data_type, field_id))


def _add_map(
    messages: list[bytes],
    parts: Sequence[tuple[DataType, int]],
    field_id: int,
    owner_id: int,
    depth: int,
) -> None:
    own = len(messages)
    messages.append(b"")
    numbers = []
    for data_type, part_id in parts:
        numbers.append(len(messages))
        _add(messages, data_type, part_id, owner_id, depth + 1)
    messages[own] = _message(orc.MAP, numbers, [], field_id)


def _atomic(data_type: AtomicType, field_id: int) -> bytes:
    more: list[tuple[int, Value]] = []
    if data_type.root is TypeRoot.VARCHAR and data_type.length == MAX_LENGTH:
        return _message(orc.STRING, [], more, field_id)
    if data_type.root in (TypeRoot.VARCHAR, TypeRoot.CHAR):
        more.append((4, data_type.length or 0))
    if data_type.root is TypeRoot.DECIMAL:
        more += [(5, data_type.precision or 0), (6, data_type.scale or 0)]
    return _message(_KINDS.get(data_type.root, orc.VARCHAR), [], more, field_id)


def _message(
    kind: int, children: list[int], more: Sequence[tuple[int, Value]], field_id: int | None
) -> bytes:
    fields: list[tuple[int, Value]] = [(1, kind)]
    if children:
        fields.append((2, varints(children)))
    fields += more
    if field_id is not None:
        fields.append((7, encode([(1, _ID_ATTRIBUTE), (2, str(field_id).encode())])))
    return encode(fields)
