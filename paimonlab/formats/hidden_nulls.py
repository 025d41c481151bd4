"""Nulls below null rows, which files do not have and writers of them do not expect.

A null ROW has no fields in a file, whatever they are; in Arrow they are there, and null. Where they
are NOT NULL, pyarrow refuses them (seen in 26.0), so they are called valid before rows are written.

Source: https://arrow.apache.org/docs/format/Columnar.html#struct-validity
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt


def columns_that_may_hide_nulls(schema: pa.Schema) -> tuple[str, ...]:
    """Name the columns that have, or hold, rows with NOT NULL fields.

    >>> point = pa.struct([pa.field("x", pa.int32(), nullable=False)])
    >>> columns_that_may_hide_nulls(pa.schema({"id": pa.int32(), "points": pa.list_(point)}))
    ('points',)
    """
    return tuple(field.name for field in schema if _may_hide(field.type))


def _may_hide(kind: pa.DataType) -> bool:
    if not pt.is_nested(kind):
        return False
    parts = [kind.field(place) for place in range(kind.num_fields)]
    if pt.is_struct(kind) and not all(field.nullable for field in parts):
        return True
    if pt.is_map(kind):
        parts = [kind.key_field, kind.item_field]
    return any(_may_hide(field.type) for field in parts)


def without_hidden_nulls(
    rows: pa.RecordBatch | pa.Table, columns: tuple[str, ...]
) -> pa.RecordBatch | pa.Table:
    """Call NOT NULL fields of null rows valid; what their values are, nobody sees.

    Parameters
    ----------
    rows
        Any; no value in them changes.
    columns
        Those that `columns_that_may_hide_nulls` names.

    Returns
    -------
    pyarrow.RecordBatch or pyarrow.Table
        As ``rows``. A NOT NULL field that is null in a row that is not is left as it is: whoever
        writes it refuses it.
    """
    for name in columns:
        place = rows.schema.get_field_index(name)
        column = rows.column(name)
        if isinstance(column, pa.ChunkedArray):
            chunks = [_of(chunk, None) for chunk in column.chunks]
            if all(new is old for new, old in zip(chunks, column.chunks, strict=True)):
                continue
            changed = pa.chunked_array(chunks, column.type)
        else:
            changed = _of(column, None)
            if changed is column:
                continue
        rows = rows.set_column(place, rows.schema.field(place), changed)
    return rows


def _of(array: pa.Array, hidden: pa.BooleanArray | None) -> pa.Array:
    """Return values without hidden nulls below them, the same object if there are none.

    ``hidden`` says which of the values are below a null row; None: none is.
    """
    kind = array.type
    if pt.is_struct(kind):
        return _of_rows(array, hidden)
    if pt.is_list(kind):
        first, values = _range(array, array.values)
        changed = _of(values, None)
        if changed is values:
            return array
        offsets = pc.subtract(array.offsets, first)
        return pa.ListArray.from_arrays(offsets, changed, type=kind, mask=_nulls(array))
    if pt.is_map(kind):
        first, keys = _range(array, array.keys)
        _, items = _range(array, array.items)
        new_keys, new_items = _of(keys, None), _of(items, None)
        if new_keys is keys and new_items is items:
            return array
        offsets = pc.subtract(array.offsets, first)
        return pa.MapArray.from_arrays(offsets, new_keys, new_items, type=kind, mask=_nulls(array))
    return array


def _of_rows(array: pa.StructArray, hidden: pa.BooleanArray | None) -> pa.StructArray:
    nulls = _nulls(array)
    if hidden is None or nulls is None:
        below = nulls if hidden is None else hidden
    else:
        below = pc.or_(hidden, nulls)
    children = [array.field(place) for place in range(array.type.num_fields)]
    changed = []
    for field, child in zip(array.type, children, strict=True):
        new = _of(child, below)
        if not field.nullable and below is not None and new.null_count:
            is_hidden = pc.or_(new.is_valid(), below)
            if pc.all(is_hidden).as_py():
                new = _valid(new)
        changed.append(new)
    if all(new is old for new, old in zip(changed, children, strict=True)):
        return array
    return pa.StructArray.from_arrays(changed, fields=list(array.type), mask=nulls)


def _valid(array: pa.Array) -> pa.Array:
    """Return the array with the same memory and no nulls."""
    kind = array.type
    if pt.is_struct(kind):
        children = [array.field(place) for place in range(kind.num_fields)]
        return pa.StructArray.from_arrays(children, fields=list(kind))
    if pt.is_list(kind):
        return pa.ListArray.from_arrays(array.offsets, array.values, type=kind)
    if pt.is_map(kind):
        return pa.MapArray.from_arrays(array.offsets, array.keys, array.items, type=kind)
    _, *values = array.buffers()
    return pa.Array.from_buffers(kind, len(array), [None, *values], 0, array.offset)


def _nulls(array: pa.Array) -> pa.BooleanArray | None:
    return array.is_null() if array.null_count else None


def _range(array: pa.ListArray | pa.MapArray, values: pa.Array) -> tuple[pa.Scalar, pa.Array]:
    """Return where the elements of a slice begin, and only those."""
    first, end = array.offsets[0], array.offsets[-1]
    return first, values.slice(first.as_py(), end.as_py() - first.as_py())
