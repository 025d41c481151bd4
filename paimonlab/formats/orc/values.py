"""Columns of ORC files, as pyarrow reads them, brought to the types of the table."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.formats.local_zone import from_local_clock
from paimonlab.formats.other_elements import with_elements
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

_COUNT = AtomicType(TypeRoot.INT, nullable=False)


def converted(  # noqa: PLR0911 - one a type
    array: pa.Array, data_type: DataType, *, legacy_ltz: bool
) -> pa.Array:
    """Return a column as ``to_arrow(data_type)``.

    Parameters
    ----------
    array
        As it was read.
    data_type
        What the file's schema says.
    legacy_ltz
        ``orc.timestamp-ltz.legacy.type``: instants went through the clock of the writer's zone.

    Raises
    ------
    ValueError
        If the file's type does not fit or a value does not fit the type.
    """
    target = to_arrow(data_type)
    match data_type:
        case ArrayType(element):
            if not pa.types.is_list(array.type):
                raise ValueError(f"its ORC type is {array.type}")
            values = converted(array.values, element, legacy_ltz=legacy_ltz)
            return with_elements(array, target, values)
        case MapType(key, value):
            return _map(array, key, value, target, legacy_ltz=legacy_ltz)
        case MultisetType(element):
            return _map(array, element, _COUNT, target, legacy_ltz=legacy_ltz)
        case RowType(fields):
            return _row(array, fields, target, legacy_ltz=legacy_ltz)
        case AtomicType(root=TypeRoot.TIMESTAMP_LTZ):
            instants = array.cast(pa.timestamp(array.type.unit, tz="UTC"))
            return (from_local_clock(instants) if legacy_ltz else instants).cast(target)
        case AtomicType(root=TypeRoot.CHAR):
            return pc.utf8_rtrim(array.cast(target), " ")  # Java pads what it writes
        case AtomicType():
            return array if array.type == target else array.cast(target)


def _map(
    array: pa.Array, key: DataType, value: DataType, target: pa.DataType, *, legacy_ltz: bool
) -> pa.Array:
    if not pa.types.is_map(array.type):
        raise ValueError(f"its ORC type is {array.type}")
    pairs = pa.StructArray.from_arrays(
        [
            converted(array.keys, key, legacy_ltz=legacy_ltz),
            converted(array.items, value, legacy_ltz=legacy_ltz),
        ],
        fields=[target.key_field, target.item_field],
    )
    return with_elements(array, target, pairs)


def _row(
    array: pa.Array, fields: tuple[DataField, ...], target: pa.DataType, *, legacy_ltz: bool
) -> pa.Array:
    if not pa.types.is_struct(array.type):
        raise ValueError(f"its ORC type is {array.type}")
    names = [child.name for child in array.type]
    by_name = dict(zip(names, array.flatten(), strict=True))
    children = []
    for field in fields:
        if field.name not in by_name:
            raise ValueError(f"field {field.name!r} is not in the file")
        children.append(converted(by_name[field.name], field.type, legacy_ltz=legacy_ltz))
    mask = array.is_null() if array.null_count else None
    return pa.StructArray.from_arrays(children, fields=list(target), mask=mask)
