"""The columns of a Parquet file: types and field ids as Java Paimon 1.3 writes them.

Source: apache/paimon@1.3.1 ``org.apache.paimon.format.parquet.ParquetSchemaConverter``,
``org.apache.paimon.table.SpecialFields``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import pyarrow as pa

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
    atoms_in,
)
from paimonlab.spec.types.system_fields import element_field_id, key_field_id

_ID_KEY = b"PARQUET:field_id"
_COUNT = AtomicType(TypeRoot.INT, nullable=False)


def file_schema(fields: Sequence[DataField]) -> pa.Schema:
    """Return the Arrow schema to write a file with, a field id on everything.

    Elements of collections have no id of their own in a table schema; in files theirs
    follow from the id of the field they are in and how deep they are.
    """
    return _file_schema(tuple(fields))


@lru_cache(maxsize=16)
def _file_schema(fields: tuple[DataField, ...]) -> pa.Schema:
    return pa.schema([_row_field(field) for field in fields])


def _row_field(field: DataField) -> pa.Field:
    return _field(field.name, field.type, field.id, field.id, depth=1)


def _field(name: str, type_: DataType, field_id: int, owner_id: int, *, depth: int) -> pa.Field:
    """Describe a field; ``owner_id`` is that of the innermost row field around it."""
    return pa.field(
        name,
        _arrow_type(type_, owner_id, depth),
        nullable=type_.nullable,
        metadata={_ID_KEY: str(field_id).encode()},
    )


def _arrow_type(type_: DataType, owner_id: int, depth: int) -> pa.DataType:
    value_id = element_field_id(owner_id, depth)
    key_id = key_field_id(owner_id, depth)
    match type_:
        case ArrayType(element):
            return pa.list_(_field("element", element, value_id, owner_id, depth=depth + 1))
        case MapType(key, value):
            return _map_type(key, value, (key_id, value_id), owner_id, depth)
        case MultisetType(element):
            return _map_type(element, _COUNT, (key_id, value_id), owner_id, depth)
        case RowType(fields):
            return pa.struct([_row_field(field) for field in fields])
        case AtomicType():
            return to_arrow(type_)


def _map_type(
    key: DataType, value: DataType, ids: tuple[int, int], owner_id: int, depth: int
) -> pa.DataType:
    key_id, value_id = ids
    key_field = _field("key", key, key_id, owner_id, depth=depth + 1)
    value_field = _field("value", value, value_id, owner_id, depth=depth + 1)
    return pa.map_(key_field.with_nullable(nullable=False), value_field)


def has_nanos(type_: DataType) -> bool:
    """Whether values of the type, or in it, are timestamps finer than microseconds."""
    return any(
        atom.root in (TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ) and (atom.precision or 0) > 6
        for atom in atoms_in(type_)
    )


def has_variant(type_: DataType) -> bool:
    """Whether values of the type are variants, or hold some."""
    return any(atom.root is TypeRoot.VARIANT for atom in atoms_in(type_))
