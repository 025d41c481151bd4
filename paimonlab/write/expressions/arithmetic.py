"""Sums, differences, products, quotients and remainders.

Source: https://spark.apache.org/docs/latest/sql-ref-ansi-compliance.html and
apache/spark@4.0.0 ``org.apache.spark.sql.catalyst.analysis.DecimalPrecisionTypeCoercion``.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal, localcontext

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, null_filled, numpy_values
from paimonlab.errors import DataError, UnsupportedError
from paimonlab.write.expressions.coercion import (
    as_decimal_type,
    bounded_decimal,
    common_type,
    converted,
    is_numeric,
    rescaled,
    zero,
)
from paimonlab.write.expressions.expression import Expression

_Compute = Callable[[pa.Array, pa.Array], pa.Array]

_LEAST_QUOTIENT_SCALE = 6
_QUOTIENT_DIGITS = 39
"""Decimal places that Spark divides to before it rounds."""


def arithmetic(operator: str, left: Expression, right: Expression) -> Expression:
    """Join two numbers by ``+ - * / %``.

    Raises
    ------
    UnsupportedError
        If one of them is not a number.
    """
    text = f"({left.text} {operator} {right.text})"
    for side in (left, right):
        if not is_numeric(side.type) and not pa.types.is_null(side.type):
            raise UnsupportedError(f"{operator} with {side.type}", f"{text}; cast it to a number")
    is_decimal = any(pa.types.is_decimal(side.type) for side in (left, right))
    has_float = any(pa.types.is_floating(side.type) for side in (left, right))
    if is_decimal and not has_float:
        return _decimals(operator, left, right, text)
    target = common_type([left, right], operator)
    if operator == "/" or pa.types.is_null(target):
        target = pa.float64()
    compute = _FLOATS[operator] if pa.types.is_floating(target) else _INTEGERS[operator]
    sides = [converted(side, target, is_explicit=False) for side in (left, right)]
    return _computed(sides, target, compute, text)


def negative(value: Expression) -> Expression:
    """Return a number with the other sign."""
    text = f"(- {value.text})"
    if not is_numeric(value.type):
        raise UnsupportedError(f"- with {value.type}", text)

    def evaluate(rows: pa.RecordBatch) -> pa.Array:
        with_errors = explained(pc.negate_checked, text)
        return with_errors(value.evaluate(rows))

    constant = value.constant
    is_number = isinstance(constant, int | float | Decimal) and not isinstance(constant, bool)
    known = -constant if is_number else None  # type: ignore[operator]
    return Expression(value.type, evaluate, text, known)


def _computed(
    sides: list[Expression], target: pa.DataType, compute: _Compute, text: str
) -> Expression:
    run = explained(compute, text)
    return Expression(target, lambda rows: run(*(side.evaluate(rows) for side in sides)), text)


def explained(compute: Callable[..., pa.Array], text: str) -> Callable[..., pa.Array]:
    """Let a kernel say of which expression a value was out of range."""

    def run(*arrays: pa.Array) -> pa.Array:
        try:
            return compute(*arrays)
        except (pa.ArrowInvalid, ValueError) as error:
            raise DataError(f"{text}: {error}") from error

    return run


def _decimals(operator: str, left: Expression, right: Expression, text: str) -> Expression:
    if operator == "%":
        raise UnsupportedError("% of decimals", text)
    sides = [side for side in (left, right) if not pa.types.is_null(side.type)]
    types = [as_decimal_type(side) for side in sides] * (3 - len(sides))
    one, two = types[0], types[1]
    if operator in "+-":
        scale = max(one.scale, two.scale)
        digits = max(one.precision - one.scale, two.precision - two.scale) + 1
        target = bounded_decimal(digits + scale, scale)
    elif operator == "*":
        target = bounded_decimal(one.precision + two.precision + 1, one.scale + two.scale)
    else:
        scale = max(_LEAST_QUOTIENT_SCALE, one.scale + two.precision + 1)
        target = bounded_decimal(one.precision - one.scale + two.scale + scale, scale)
    ready = [
        converted(side, kind, is_explicit=False)
        for side, kind in zip((left, right), types, strict=True)
    ]

    def compute(a: pa.Array, b: pa.Array) -> pa.Array:
        return (
            rescaled(_EXACT[operator](a, b), target)
            if operator != "/"
            else _quotients(a, b, target)
        )

    return _computed(ready, target, compute, text)


def _sum(a: pa.Array, b: pa.Array, add: _Compute) -> pa.Array:
    scale = max(a.type.scale, b.type.scale)
    wide = pa.decimal256(75, scale)
    return add(a.cast(wide), b.cast(wide))


def _product(a: pa.Array, b: pa.Array) -> pa.Array:
    # 76 digits hold the product of 38 and 37.
    types = [pa.decimal256(min(side.type.precision, 37), side.type.scale) for side in (a, b)]
    return pc.multiply(a.cast(types[0]), b.cast(types[1]))


_EXACT: dict[str, _Compute] = {
    "+": lambda a, b: _sum(a, b, pc.add_checked),
    "-": lambda a, b: _sum(a, b, pc.subtract_checked),
    "*": _product,
}


def _quotients(a: pa.Array, b: pa.Array, target: pa.DataType) -> pa.Array:
    """Divide decimals; Arrow has too few digits for it, so each pair is divided by itself."""
    _refuse_zero(b, a)
    unit = Decimal(1).scaleb(-target.scale)
    step = Decimal(1).scaleb(-_QUOTIENT_DIGITS)
    with localcontext() as context:
        context.prec = 120
        quotients = [
            None
            if one is None or two is None
            else (one / two).quantize(step, ROUND_HALF_UP).quantize(unit, ROUND_HALF_UP)
            for one, two in zip(a.to_pylist(), b.to_pylist(), strict=True)
        ]
    return pa.array(quotients, target)


def _refuse_zero(divisors: pa.Array, numbers: pa.Array) -> None:
    is_zero = pc.equal(divisors, zero(divisors.type))
    if pc.any(pc.and_(is_zero, numbers.is_valid())).as_py():
        raise ValueError("division by zero")


def _divided(a: pa.Array, b: pa.Array) -> pa.Array:
    _refuse_zero(b, a)
    return pc.divide(a, b)


def _remainders(a: pa.Array, b: pa.Array) -> pa.Array:
    """Return remainders with the sign of the number that is divided."""
    _refuse_zero(b, a)
    is_valid = pc.and_(a.is_valid(), b.is_valid())
    numbers = [numpy_values(null_filled(side, 1)) for side in (a, b)]
    missing = None if not a.null_count and not b.null_count else ~numpy_values(is_valid)
    return arrow_array(np.fmod(*numbers), a.type, mask=missing)


_INTEGERS: dict[str, _Compute] = {
    "+": pc.add_checked,
    "-": pc.subtract_checked,
    "*": pc.multiply_checked,
    "%": _remainders,
}
_FLOATS: dict[str, _Compute] = {
    "+": pc.add,
    "-": pc.subtract,
    "*": pc.multiply,
    "/": _divided,
    "%": _remainders,
}
