"""Arrow arrays and scalars of what Python and numpy have, without a look for pandas.

``pyarrow.array`` and ``pyarrow.scalar``, and every kernel that is given a bare Python value, import
pandas where it is installed: 0.2 s, which who asks for no pandas should not wait for. What metadata
consists of is made from buffers here instead. pyarrow must not be kept from pandas otherwise: it
looks once, and would take the times and the missing values of pandas for something else ever after.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import accumulate, chain
from types import NoneType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

OFFSET_TYPES = {
    pa.string(): np.int32,
    pa.binary(): np.int32,
    pa.large_string(): np.int64,
    pa.large_binary(): np.int64,
}
"""Integers that say where texts and bytes begin and end."""


def arrow_array(
    values: Collection[Any] | npt.NDArray[Any],
    arrow_type: pa.DataType | None = None,
    *,
    mask: npt.NDArray[np.bool_] | None = None,
) -> pa.Array:
    """Make an array, as ``pyarrow.array`` does.

    Without a look for pandas if they are numbers or truth values of numpy, or the type is given and
    they are integers, truth values, bytes, texts, wall clocks, or lists of those; and if they are
    scalars of one type. Anything else pyarrow makes.

    Parameters
    ----------
    values
        Those of numpy are not copied where their size is that of the type.
    arrow_type
        None: as numpy has it, or as pyarrow makes it of Python values.
    mask
        True: null. Only for values of numpy. None: no nulls.

    Raises
    ------
    pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, OverflowError
        If a value is not of the type.

    Examples
    --------
    >>> arrow_array([[1, None], None], pa.list_(pa.int64())).to_pylist()
    [[1, None], None]
    >>> arrow_array(np.arange(3), mask=np.array([False, True, False])).to_pylist()
    [0, None, 2]
    """
    if isinstance(values, np.ndarray):
        made = _numbers(values, arrow_type, mask)
    else:
        made = None if mask is not None else _of_python(values, arrow_type)
    return pa.array(values, arrow_type, mask=mask) if made is None else made


def _numbers(
    values: npt.NDArray[Any], arrow_type: pa.DataType | None, mask: npt.NDArray[np.bool_] | None
) -> pa.Array | None:
    """Make what can be made of numbers; None: it is for pyarrow."""
    dtype = values.dtype
    if dtype.kind not in "iufb" or values.ndim != 1 or not dtype.isnative:
        return None
    kind = pa.from_numpy_dtype(dtype) if arrow_type is None else arrow_type
    target = _DTYPES.get(kind.id)
    if target is None:
        return None
    return _of_numbers(values, kind, mask) if _fits(values, target) else None


def _fits(values: npt.NDArray[Any], target: np.dtype[Any]) -> bool:
    """Whether numbers are the same as those of another type; unclear ones are not."""
    if values.dtype == target:
        return True
    if values.dtype.kind in "iu" and target.kind in "iu":
        limits = np.iinfo(target)
        if len(values) <= _FEW:
            return all(limits.min <= value <= limits.max for value in values.tolist())
        return bool(limits.min <= values.min() <= values.max() <= limits.max)
    return values.dtype.kind == target.kind and np.can_cast(values.dtype, target)


def _of_numbers(
    values: npt.NDArray[Any], kind: pa.DataType, mask: npt.NDArray[np.bool_] | None
) -> pa.Array:
    if kind.id == _BOOLEAN:
        data = np.packbits(values, bitorder="little")
    else:
        data = np.ascontiguousarray(values, _DTYPES[kind.id])
    valid = None if mask is None else pa.py_buffer(np.packbits(~mask, bitorder="little"))
    return pa.Array.from_buffers(kind, len(values), [valid, pa.py_buffer(data)])


def arrow_row(schema: pa.Schema, *values: Any) -> pa.RecordBatch:
    """Make a batch of one row; see `arrow_array`.

    Parameters
    ----------
    schema
        Of the batch.
    *values
        Of Python, one for each column.

    Examples
    --------
    >>> arrow_row(pa.schema([("a", pa.int64()), ("b", pa.binary())]), 1, b"x").to_pylist()
    [{'a': 1, 'b': b'x'}]
    """
    fields = zip(values, schema, strict=True)
    arrays = [arrow_array([value], field.type) for value, field in fields]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def arrow_scalar(value: Any, arrow_type: pa.DataType | None = None) -> pa.Scalar:
    """Make a scalar, as ``pyarrow.scalar`` does; see `arrow_array`.

    Parameters
    ----------
    value
        Of Python.
    arrow_type
        None: the one that pyarrow takes for such a value.

    Examples
    --------
    >>> arrow_scalar("a").as_py(), arrow_scalar(None, pa.string()).is_valid
    ('a', False)
    """
    kind = _KINDS.get(type(value)) if arrow_type is None else arrow_type
    if kind is None:
        return pa.scalar(value)
    if value is None:
        return pa.nulls(1, kind)[0]
    if pa.types.is_floating(kind) and (isinstance(value, float) or value == 0):
        return arrow_array(np.array([float(value)]), kind)[0]
    return arrow_array([value], kind)[0]


_KINDS = {int: pa.int64(), bool: pa.bool_(), float: pa.float64(), str: pa.string()}


def no_rows(schema: pa.Schema) -> pa.RecordBatch:
    """Make a batch without rows, as ``Schema.empty_table`` makes a table."""
    return pa.record_batch([pa.nulls(0, field.type) for field in schema], schema=schema)


def empty_table(schema: pa.Schema) -> pa.Table:
    """Make a table without rows, as ``Schema.empty_table`` does.

    Examples
    --------
    >>> empty_table(pa.schema({"id": pa.int64()})).num_rows
    0
    """
    return pa.Table.from_batches([no_rows(schema)])


def _of_python(values: Collection[Any], arrow_type: pa.DataType | None) -> pa.Array | None:
    return _of_scalars(values) if arrow_type is None else _made(values, arrow_type)


def _made(values: Collection[Any], arrow_type: pa.DataType) -> pa.Array | None:
    """Make what can be made of buffers; None: some value, or the type, is for pyarrow."""
    make = _MAKERS.get(arrow_type.id)
    return None if make is None else make(values, arrow_type)


def _of_scalars(values: Collection[Any]) -> pa.Array | None:
    if not values or not all(isinstance(value, pa.Scalar) for value in values):
        return None
    if len({value.type for value in values}) > 1:
        return None
    return pa.concat_arrays([pa.repeat(value, 1) for value in values])


def _integers(values: Collection[Any], arrow_type: pa.DataType) -> pa.Array | None:
    python_types = set(map(type, values))
    if not _are(python_types, int) or bool in python_types:
        return None
    missing = _missing(values, python_types)
    filled = list(values) if missing is None else [value or 0 for value in values]
    try:
        found = np.array(filled, np.int64)
    except OverflowError:
        return None
    return _numbers(found, arrow_type, missing)


def _truths(values: Collection[Any], arrow_type: pa.DataType) -> pa.Array | None:
    python_types = set(map(type, values))
    if not _are(python_types, bool):
        return None
    truths = np.fromiter(map(bool, values), np.bool_, len(values))
    return _of_numbers(truths, arrow_type, _missing(values, python_types))


def _moments(values: Collection[Any], arrow_type: pa.DataType) -> pa.Array | None:
    """Make timestamps of wall clocks; of instants, or finer than the unit, pyarrow does."""
    if arrow_type.tz is not None or arrow_type.unit != "ms":
        return None
    if not _are(set(map(type, values)), dt.datetime):
        return None
    if any(value is not None and (value.tzinfo or value.microsecond % 1000) for value in values):
        return None
    millis = [None if value is None else (value - _EPOCH) // _MILLI for value in values]
    made = _integers(millis, pa.int64())
    return None if made is None else made.view(arrow_type)


_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - a wall clock
_MILLI = dt.timedelta(milliseconds=1)


def _are(found: Collection[type], *python_types: type) -> bool:
    """Whether all types that values have are one of some types, or that of None."""
    return all(issubclass(one, (*python_types, NoneType)) for one in found)


def _texts(values: Collection[Any], arrow_type: pa.DataType) -> pa.Array | None:
    return _pieces(values, arrow_type, str, str.encode)


def _bytes(values: Collection[Any], arrow_type: pa.DataType) -> pa.Array | None:
    return _pieces(values, arrow_type, bytes, bytes)


def _pieces(
    values: Collection[Any],
    arrow_type: pa.DataType,
    python_type: type,
    encode: Callable[[Any], bytes],
) -> pa.Array | None:
    python_types = set(map(type, values))
    if not _are(python_types, python_type):
        return None
    try:
        pieces = [b"" if value is None else encode(value) for value in values]
    except UnicodeEncodeError:
        return None
    starts = _starts(arrow_type, [*map(len, pieces)])
    if starts is None:
        return None
    valid = _validity(values, python_types)
    buffers = [valid, pa.py_buffer(starts), pa.py_buffer(b"".join(pieces))]
    return pa.Array.from_buffers(arrow_type, len(values), buffers)


def _lists(values: Collection[Any], arrow_type: pa.DataType) -> pa.Array | None:
    python_types = set(map(type, values))
    if not _are(python_types, list, tuple):
        return None
    given = [value or () for value in values]
    starts = _starts(arrow_type, [*map(len, given)])
    children = _made([*chain.from_iterable(given)], arrow_type.value_type)
    if starts is None or children is None:
        return None
    buffers = [_validity(values, python_types), pa.py_buffer(starts)]
    return pa.Array.from_buffers(arrow_type, len(values), buffers, children=[children])


def _starts(arrow_type: pa.DataType, lengths: Sequence[int]) -> npt.NDArray[Any] | None:
    """Where each value begins, and the end; None: the type has no numbers of that size."""
    if len(lengths) <= _FEW:
        starts = np.array([*accumulate(lengths, initial=0)], np.int64)
    else:
        starts = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=starts[1:])
    if arrow_type.id in _LARGE:
        return starts
    return starts.astype(np.int32) if starts[-1] <= _INT32_MAX else None


_INTEGERS = (
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
    *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
)
_BOOLEAN = pa.bool_().id
_DTYPES = {
    kind.id: np.dtype(kind.to_pandas_dtype())
    for kind in (*_INTEGERS, pa.float16(), pa.float32(), pa.float64(), pa.bool_())
}
"""numpy's types of numbers and truth values, by the id of Arrow's type."""
_FEW = 32
"""Values up to which Python counts faster than numpy."""
_INT32_MAX = 2**31 - 1


def _missing(
    values: Collection[Any], python_types: Collection[type]
) -> npt.NDArray[np.bool_] | None:
    """Mark the values that are None; None: no value is."""
    if NoneType not in python_types:
        return None
    return np.fromiter((value is None for value in values), np.bool_, len(values))


def _validity(values: Collection[Any], python_types: Collection[type]) -> pa.Buffer | None:
    missing = _missing(values, python_types)
    return None if missing is None else pa.py_buffer(np.packbits(~missing, bitorder="little"))


_Make = Callable[[Collection[Any], pa.DataType], pa.Array | None]
_LARGE_TYPES = (pa.large_string(), pa.large_binary(), pa.large_list(pa.int64()))
_LARGE = frozenset(kind.id for kind in _LARGE_TYPES)
_MAKERS: Mapping[int, _Make] = {
    **{kind.id: _integers for kind in _INTEGERS},
    pa.bool_().id: _truths,
    pa.timestamp("ms").id: _moments,
    pa.string().id: _texts,
    pa.large_string().id: _texts,
    pa.binary().id: _bytes,
    pa.large_binary().id: _bytes,
    pa.list_(pa.int64()).id: _lists,
    pa.large_list(pa.int64()).id: _lists,
}
"""What makes arrays of a type, by its id: that of all timestamps is one, and that of all lists."""


def numpy_values(
    column: pa.Array | pa.ChunkedArray, *, zero_copy_only: bool | None = None
) -> npt.NDArray[Any]:
    """Return a column as numpy has it, as its method ``to_numpy`` does.

    Without a look for pandas if they are numbers or truth values, none of them null.

    Parameters
    ----------
    column
        Not copied if it is one array of numbers; then it cannot be written to.
    zero_copy_only
        As the method has it, for what pyarrow makes. None: as it does without.

    Examples
    --------
    >>> numpy_values(arrow_array(np.array([True, False])))
    array([ True, False])
    """
    dtype = _DTYPES.get(column.type.id)
    if dtype is not None and not column.null_count:
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        found = [_numpy_numbers(chunk, dtype) for chunk in chunks]
        return found[0] if len(found) == 1 else np.concatenate([np.empty(0, dtype), *found])
    if zero_copy_only is None:
        return np.asarray(column.to_numpy())
    return np.asarray(column.to_numpy(zero_copy_only=zero_copy_only))


def _numpy_numbers(array: pa.Array, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    data = array.buffers()[1]
    if data is None:
        return np.empty(0, dtype)
    if dtype != np.bool_:
        return np.frombuffer(data, dtype, len(array), array.offset * dtype.itemsize)
    bits = np.frombuffer(data, np.uint8)[array.offset // 8 : (array.offset + len(array) + 7) // 8]
    shift = array.offset % 8
    return np.unpackbits(bits, bitorder="little")[shift : shift + len(array)].view(np.bool_)


def one_array(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return the values of a column in one piece, as its method ``combine_chunks`` does.

    Examples
    --------
    >>> one_array(pa.chunked_array([], pa.int8())).type
    DataType(int8)
    """
    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.combine_chunks() if column.num_chunks else pa.nulls(0, column.type)


def decoded(array: pa.Array) -> pa.Array:
    """Return the values that the numbers of a dictionary stand for; another array as it is.

    Arrow decodes no dictionary of views, as polars has them for categories.

    Examples
    --------
    >>> categories = pa.array(["a", "b", "a"]).dictionary_encode()
    >>> decoded(categories).to_pylist()
    ['a', 'b', 'a']
    """
    if not pa.types.is_dictionary(array.type):
        return array
    values = array.dictionary
    if pa.types.is_string_view(values.type):
        values = values.cast(pa.string())
    elif pa.types.is_binary_view(values.type):
        values = values.cast(pa.binary())
    return pa.DictionaryArray.from_arrays(array.indices, values).dictionary_decode()


def null_filled(column: pa.Array | pa.ChunkedArray, value: Any) -> pa.Array | pa.ChunkedArray:
    """Return a column with a value in place of nulls, as its method ``fill_null`` does.

    Examples
    --------
    >>> null_filled(arrow_array([1, None], pa.int8()), 0).to_pylist()
    [1, 0]
    """
    return pc.coalesce(column, arrow_scalar(value, column.type)) if column.null_count else column
