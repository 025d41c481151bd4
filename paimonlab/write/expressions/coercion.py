"""Which type two values have in common, and values of one type as another.

Source: https://spark.apache.org/docs/latest/sql-ref-ansi-compliance.html
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_scalar
from paimonlab.datafile.casts import atomic_cast
from paimonlab.datafile.per_value import per_value
from paimonlab.errors import DataError, UnsupportedError
from paimonlab.spec.types.arrow import from_arrow
from paimonlab.spec.types.data_types import AtomicType
from paimonlab.write.expressions.expression import Expression

MOST_DIGITS = 38
_LEAST_SCALE = 6
_WIDE = 75
_INTEGERS = (pa.int8(), pa.int16(), pa.int32(), pa.int64())
_DIGITS = {pa.int8(): 3, pa.int16(): 5, pa.int32(): 10, pa.int64(): 20}


def is_numeric(data_type: pa.DataType) -> bool:
    """Whether values are numbers."""
    types = pa.types
    is_float = types.is_floating(data_type)
    return types.is_signed_integer(data_type) or is_float or types.is_decimal(data_type)


def zero(data_type: pa.DataType) -> pa.Scalar:
    """Return nought as a number of a type."""
    return arrow_scalar(Decimal(0) if pa.types.is_decimal(data_type) else 0, data_type)


def bounded_decimal(precision: int, scale: int) -> pa.DataType:
    """Return a decimal type, with fewer decimal places where it would be too wide."""
    if precision > MOST_DIGITS:
        least = min(scale, _LEAST_SCALE)
        scale = max(MOST_DIGITS - (precision - scale), least)
        precision = MOST_DIGITS
    return pa.decimal128(precision, scale)


def as_decimal_type(value: Expression) -> pa.DataType:
    """Return the decimal type that holds a whole number; literals are as short as they are."""
    if pa.types.is_decimal(value.type):
        return value.type
    if isinstance(value.constant, int):
        return pa.decimal128(max(1, len(str(abs(value.constant)))), 0)
    return pa.decimal128(_DIGITS[value.type], 0)


def common_type(values: list[Expression], what: str) -> pa.DataType:
    """Return the type that values of several types become when they meet.

    Raises
    ------
    UnsupportedError
        If there is no common type.
    """
    common = pa.null()
    for value in values:
        common = _common(common, value, what)
    return common


def _common(found: pa.DataType, value: Expression, what: str) -> pa.DataType:
    other = value.type
    if pa.types.is_null(other) or found == other:
        return found
    if pa.types.is_null(found):
        return other
    if is_numeric(found) and is_numeric(other):
        return _common_number(found, other)
    if pa.types.is_timestamp(found) and pa.types.is_timestamp(other) and found.tz == other.tz:
        units = ("s", "ms", "us", "ns")
        finer = max(found.unit, other.unit, key=units.index)
        return pa.timestamp(finer, tz=found.tz)
    raise UnsupportedError(
        f"{what} of {_name(found)} and {_name(other)}", f"in {value.text}; cast one of them"
    )


def _common_number(found: pa.DataType, other: pa.DataType) -> pa.DataType:
    if pa.types.is_floating(found) or pa.types.is_floating(other):
        return pa.float64()
    if pa.types.is_decimal(found) or pa.types.is_decimal(other):
        one = found if pa.types.is_decimal(found) else pa.decimal128(_DIGITS[found], 0)
        two = other if pa.types.is_decimal(other) else pa.decimal128(_DIGITS[other], 0)
        scale = max(one.scale, two.scale)
        digits = max(one.precision - one.scale, two.precision - two.scale)
        return bounded_decimal(digits + scale, scale)
    return max(found, other, key=_INTEGERS.index)


def converted(value: Expression, target: pa.DataType, *, is_explicit: bool) -> Expression:
    """Return an expression whose values have another type.

    Parameters
    ----------
    value
        The expression.
    target
        The type wanted.
    is_explicit
        Whether it is a CAST; else it is what happens when a value is stored in a column, or
        meets another: texts do not become numbers by themselves.

    Raises
    ------
    UnsupportedError
        If there is no such conversion.
    """
    if value.type == target:
        return value
    convert = _converter(value.type, target, is_explicit=is_explicit)
    if convert is None:
        how = "the cast" if is_explicit else "storing"
        hint = "" if is_explicit else "; write CAST(… AS …) if that is meant"
        raise UnsupportedError(
            f"{how} of {_name(value.type)} as {_name(target)}", f"{value.text}{hint}"
        )

    def evaluate(rows: pa.RecordBatch) -> pa.Array:
        try:
            return convert(value.evaluate(rows))
        except (pa.ArrowInvalid, ValueError) as error:
            raise DataError(f"{value.text} as {_name(target)}: {error}") from error

    return Expression(target, evaluate, value.text)


_Convert: TypeAlias = Callable[[pa.Array], pa.Array]


def _converter(source: pa.DataType, target: pa.DataType, *, is_explicit: bool) -> _Convert | None:
    converter = _implicit(source, target)
    if converter is None and is_explicit:
        converter = _of_text(target) if pa.types.is_string(source) else _of_truth(source, target)
    return converter


def _implicit(source: pa.DataType, target: pa.DataType) -> _Convert | None:
    """Find a conversion that needs no CAST."""
    types = pa.types
    if types.is_null(source):
        return lambda array: pa.nulls(len(array), target)
    if is_numeric(source) and is_numeric(target):
        return lambda array: _number(array, target)
    if types.is_string(target):
        return _to_text(source)
    if types.is_timestamp(source) and types.is_timestamp(target) and source.tz == target.tz:
        return lambda array: array.cast(target, safe=False)
    return _of_day(source, target)


def _of_day(source: pa.DataType, target: pa.DataType) -> _Convert | None:
    """Find a conversion between dates and wall clocks."""
    types = pa.types
    if types.is_date(source) and types.is_timestamp(target) and target.tz is None:
        return lambda array: array.cast(target)
    if types.is_timestamp(source) and types.is_date(target) and source.tz is None:
        return lambda array: pc.floor_temporal(array, unit="day").cast(target)
    return None


def _of_truth(source: pa.DataType, target: pa.DataType) -> _Convert | None:
    if pa.types.is_boolean(source) and is_numeric(target):
        return lambda array: _number(array.cast(pa.int8()), target)
    if is_numeric(source) and pa.types.is_boolean(target):
        return lambda array: pc.not_equal(array, zero(array.type))
    return None


def _of_text(target: pa.DataType) -> _Convert | None:
    types = pa.types
    if types.is_decimal(target):
        read = _decimal_of(target)
        return lambda array: per_value(pc.utf8_trim_whitespace(array), read, target)
    if types.is_binary(target):
        return lambda array: array.cast(target)
    is_clock = types.is_date(target) or (types.is_timestamp(target) and target.tz is None)
    if is_clock or is_numeric(target) or types.is_boolean(target):
        return lambda array: pc.utf8_trim_whitespace(array).cast(target)
    return None


def _to_text(source: pa.DataType) -> _Convert | None:
    types = pa.types
    is_clock = types.is_date(source) or (types.is_timestamp(source) and source.tz is None)
    if is_clock or is_numeric(source) or types.is_boolean(source):
        data_type = from_arrow(source)
        assert isinstance(data_type, AtomicType), "numbers and times are atomic"
        text = from_arrow(pa.string())
        assert isinstance(text, AtomicType), "a text is atomic"
        return atomic_cast(data_type, text, column="update")
    return None


def _number(array: pa.Array, target: pa.DataType) -> pa.Array:
    types = pa.types
    if types.is_decimal(target):
        if types.is_floating(array.type):
            return per_value(array, _decimal_of(target), target)
        return rescaled(array, target)
    if types.is_floating(target):
        return array.cast(target, safe=False)
    if types.is_decimal(array.type):
        whole = pc.round(_widened(array), ndigits=0, round_mode="towards_zero")
        return whole.cast(pa.decimal256(_WIDE, 0)).cast(target)
    if types.is_floating(array.type):
        return _whole_of_floats(array, target)
    return array.cast(target)


def _whole_of_floats(array: pa.Array, target: pa.DataType) -> pa.Array:
    whole = pc.trunc(array.cast(pa.float64()))
    bound = np.iinfo(target.to_pandas_dtype())
    fits = pc.and_(
        pc.greater_equal(whole, arrow_scalar(float(bound.min))),
        pc.less(whole, arrow_scalar(float(bound.max) + 1.0)),
    )
    # NaN compares as false: it is no whole number either.
    if pc.any(pc.invert(fits)).as_py():
        worst = array.filter(pc.invert(fits))[0]
        raise ValueError(f"{worst} is out of range")
    return whole.cast(target)


def _widened(array: pa.Array) -> pa.Array:
    return array.cast(pa.decimal256(_WIDE, array.type.scale))


def rescaled(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Round whole numbers or decimals half up to the scale of a type; too large is an error."""
    if pa.types.is_integer(array.type):
        array = array.cast(pa.decimal128(_DIGITS[array.type], 0))
    if array.type.scale > target.scale:
        array = pc.round(_widened(array), ndigits=target.scale, round_mode="half_towards_infinity")
    return array.cast(target)


def _decimal_of(target: pa.DataType) -> Callable[[float | str], Decimal]:
    def read(value: float | str) -> Decimal:
        with localcontext() as context:
            context.prec = 400
            try:
                number = Decimal(repr(value) if isinstance(value, float) else value)
                rounded = number.quantize(Decimal(1).scaleb(-target.scale), ROUND_HALF_UP)
            except ArithmeticError:
                raise ValueError(f"{value!r} is not a valid {_name(target)}") from None
        if len(rounded.as_tuple().digits) > target.precision and rounded:
            raise ValueError(f"{value!r} has too many digits")
        return rounded

    return read


def _name(data_type: pa.DataType) -> str:
    return str(data_type)
