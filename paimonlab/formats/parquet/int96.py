"""INT96 timestamps of Parquet files: a day and nanos of the day, which Java writes with a sign.

pyarrow takes the nanos of the day as unsigned and reads all INT96 columns of a file in one
unit. Read in nanoseconds an instant is right by wrapping around, but only from 1677 to 2262;
read in microseconds it is right in all years, but off by a constant when the nanos of the day
are negative. Read both ways it is right.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, arrow_scalar, numpy_values
from paimonlab.errors import UnsupportedError

_MAX_NANOS = 2**63 - 1
_UNSIGNED_NANOS_MICROS = 2**64 // 1000
"""By how much microseconds are off when the nanos of the day are negative."""


def signed(
    micros: pa.ChunkedArray, nanos: pa.ChunkedArray, target: pa.DataType, *, column: str, path: str
) -> pa.ChunkedArray:
    """Take the nanos of the day as signed, in a column that was read in both units.

    Parameters
    ----------
    micros, nanos
        The same n rows: of timestamps, or of ARRAY, MAP or ROW that hold some.
    target
        The column's type in the table: where it counts nanoseconds, so does the result.
    column, path
        For messages.

    Returns
    -------
    pyarrow.ChunkedArray
        n rows, all of the type of ``micros`` that ``target`` does not have in nanoseconds.

    Raises
    ------
    UnsupportedError
        If an instant does not fit nanoseconds in 64 bits where the table has them.
    """
    try:
        return pa.chunked_array([_signed(_one(micros), _one(nanos), target)])
    except OverflowError:
        raise UnsupportedError(
            f"an instant outside the years 1677 to 2262 in column {column!r}",
            f"{path} has one, and Arrow counts nanoseconds in 64 bits; leave the column out",
        ) from None


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _signed(micros: pa.Array, nanos: pa.Array, target: pa.DataType) -> pa.Array:
    if micros.type == nanos.type:
        return micros  # nothing in it was INT96
    if pa.types.is_timestamp(micros.type):
        is_in_nanos = pa.types.is_timestamp(target) and target.unit == "ns"
        return _checked_nanos(micros, nanos) if is_in_nanos else _signed_micros(micros, nanos)
    mask = micros.is_null() if micros.null_count else None
    if pa.types.is_struct(micros.type):
        names = [field.name for field in micros.type]
        children = [
            _signed(micros.field(name), nanos.field(name), target.field(name).type)
            for name in names
        ]
        return pa.StructArray.from_arrays(children, names, mask=mask)
    starts = arrow_array(numpy_values(micros.offsets), pa.int32())
    if pa.types.is_map(micros.type):
        keys = _signed(micros.keys, nanos.keys, target.key_type)
        items = _signed(micros.items, nanos.items, target.item_type)
        return pa.MapArray.from_arrays(starts, keys, items, mask=mask)
    values = _signed(micros.values, nanos.values, target.value_type)
    return pa.ListArray.from_arrays(starts, values, mask=mask)


def _checked_nanos(micros: pa.Array, nanos: pa.Array) -> pa.Array:
    """Return nanoseconds unless an instant has wrapped around."""
    ticks = micros.cast(pa.int64())
    limit = _MAX_NANOS // 1000
    shifted = pc.subtract(ticks, _UNSIGNED_NANOS_MICROS)
    fits = pc.or_(_within(ticks, limit), _within(shifted, limit))
    if len(micros) > micros.null_count and not pc.all(fits).as_py():
        raise OverflowError
    return nanos


def _signed_micros(micros: pa.Array, nanos: pa.Array) -> pa.Array:
    """Tell 1969 from 2554.

    Nanoseconds, whatever they wrapped around, are a thousand of the right microseconds: 2**64
    is not a multiple of a thousand.
    """
    shifted = pc.subtract(micros.cast(pa.int64()), _UNSIGNED_NANOS_MICROS)
    is_negative = pc.equal(pc.multiply(shifted, arrow_scalar(1000)), nanos.cast(pa.int64()))
    return pc.if_else(is_negative, shifted.cast(micros.type), micros)


def _within(ticks: pa.Array, limit: int) -> pa.Array:
    return pc.and_(pc.greater_equal(ticks, -limit), pc.less_equal(ticks, limit))
