"""Casts between numbers, as Java does them: integers wrap, doubles saturate, decimals round.

Source: apache/paimon@1.3.1 ``org.apache.paimon.casting`` (``NumericPrimitiveCastRule``,
``DecimalToDecimalCastRule`` …); every rule is checked against recorded results of it.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, arrow_scalar, null_filled, numpy_values
from paimonlab.datafile.per_value import per_value
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import AtomicType, TypeRoot

_WIDE = Context(prec=400, rounding=ROUND_HALF_UP)
_WIDEST_DIGITS = 76
_COMPACT_DIGITS = 18
"""Java keeps decimals of so many digits as a long, and divides those in doubles."""


def integer_to_number(array: pa.Array, source: AtomicType, target: AtomicType) -> pa.Array:
    """Cast integers (or booleans) to integers, which wrap, or to FLOAT and DOUBLE."""
    if source.root is TypeRoot.BOOLEAN:
        array = array.cast(pa.int8())
    return array.cast(to_arrow(target), safe=False)


def integer_to_boolean(array: pa.Array, _source: AtomicType, _target: AtomicType) -> pa.Array:
    """Everything but 0 is true."""
    return pc.not_equal(array, arrow_scalar(0, array.type))


def integer_to_decimal(array: pa.Array, _source: AtomicType, target: AtomicType) -> pa.Array:
    """Cast integers and booleans to DECIMAL; what does not fit becomes null."""
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.int8())
    wide = array.cast(pa.int64()).cast(pa.decimal256(_WIDEST_DIGITS, target.scale or 0))
    return _fit(wide, target)


def float_to_integer(array: pa.Array, _source: AtomicType, target: AtomicType) -> pa.Array:
    """Cut the fraction off; too large is the largest, NaN is 0. Below INT, an INT is wrapped."""
    dtype = np.int64 if target.root is TypeRoot.BIGINT else np.int32
    values, is_null = _numpy(array, np.float64)
    limits = np.iinfo(dtype)
    is_above, is_below = values >= float(limits.max), values <= float(limits.min)
    inside = np.where(is_above | is_below | np.isnan(values), 0, values).astype(dtype)
    saturated = np.where(is_above, limits.max, np.where(is_below, limits.min, inside))
    return arrow_array(saturated, mask=is_null).cast(to_arrow(target), safe=False)


def float_to_float(array: pa.Array, _source: AtomicType, target: AtomicType) -> pa.Array:
    """Cast between FLOAT and DOUBLE."""
    return array.cast(to_arrow(target), safe=False)


def float_to_decimal(array: pa.Array, _source: AtomicType, target: AtomicType) -> pa.Array:
    """Round the shortest decimal text of each double half up; what does not fit becomes null."""

    def round_one(value: float) -> Decimal | None:
        number = Decimal(repr(value))
        if not number.is_finite():
            raise ValueError(f"cannot read {value} as DECIMAL")
        return rounded(number, target)

    return per_value(array.cast(pa.float64()), round_one, to_arrow(target))


def decimal_to_decimal(array: pa.Array, source: AtomicType, target: AtomicType) -> pa.Array:
    """Rescale, rounding half up; what does not fit becomes null."""
    wide = array.cast(pa.decimal256(_WIDEST_DIGITS, source.scale or 0))
    scale = target.scale or 0
    if scale < (source.scale or 0):
        wide = pc.round(wide, ndigits=scale, round_mode="half_towards_infinity")
    return _fit(wide, target)


def decimal_to_integer(array: pa.Array, source: AtomicType, target: AtomicType) -> pa.Array:
    """Cut the fraction off and keep the low bits."""
    whole = pc.trunc(array).cast(pa.decimal128(38, 0)) if source.scale else array
    words: npt.NDArray[np.int64] = np.frombuffer(whole.buffers()[1], np.int64).reshape(-1, 2)
    low = np.ascontiguousarray(words[whole.offset : whole.offset + len(whole), 0])
    return arrow_array(low, mask=_is_null(array)).cast(to_arrow(target), safe=False)


def decimal_to_float(array: pa.Array, source: AtomicType, target: AtomicType) -> pa.Array:
    """Cast to FLOAT or DOUBLE with Java's rounding."""
    if (source.precision or 0) > _COMPACT_DIGITS:
        return array.cast(pa.string()).cast(pa.float64()).cast(to_arrow(target), safe=False)
    unscaled = array.view(pa.decimal128(38, 0)).cast(pa.int64())
    values, is_null = _numpy(unscaled, np.float64)
    quotient = arrow_array(values / 10.0 ** (source.scale or 0), mask=is_null)
    return quotient.cast(to_arrow(target), safe=False)


def rounded(number: Decimal, target: AtomicType) -> Decimal | None:
    """Round a number half up to the scale of a DECIMAL; None if it does not fit."""
    scale, precision = target.scale or 0, target.precision or 0
    result = number.quantize(Decimal((0, (1,), -scale)), context=_WIDE)
    return result if abs(result) < Decimal(10) ** (precision - scale) else None


def _fit(wide: pa.Array, target: AtomicType) -> pa.Array:
    """Bring decimal256 values, of at most the target's scale, to the target."""
    scale = target.scale or 0
    digits = (target.precision or 0) - scale
    limit = arrow_scalar(Decimal(10) ** digits, pa.decimal256(_WIDEST_DIGITS, 0))
    fits = pc.less(pc.abs(wide), limit.cast(pa.decimal256(_WIDEST_DIGITS, wide.type.scale)))
    wide = pc.if_else(fits, wide, arrow_scalar(None, wide.type))
    return wide.cast(pa.decimal256(_WIDEST_DIGITS, scale), safe=False).cast(to_arrow(target))


def _is_null(array: pa.Array) -> npt.NDArray[np.bool_] | None:
    return numpy_values(array.is_null(), zero_copy_only=False) if array.null_count else None


def _numpy(
    array: pa.Array, dtype: type[np.float64]
) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]:
    """Return values (0 at nulls) and where the nulls are."""
    filled = null_filled(array, 0) if array.null_count else array
    return numpy_values(filled).astype(dtype), _is_null(array)
