"""Sums and products one value after the other: where the order matters.

Source: apache/paimon@1.3.1 ``FieldSumAgg``, ``FieldProductAgg`` of
``org.apache.paimon.mergetree.compact.aggregate``, ``org.apache.paimon.utils.DecimalUtils``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Context
from typing import Any

import numpy as np
import pyarrow as pa

from paimonlab.arrow_values import null_filled, numpy_values
from paimonlab.errors import DataError
from paimonlab.merge.arithmetic import decimals
from paimonlab.merge.fold import Fold, Step, skipping_nulls

_COMPACT = 18
_MAX_64 = 2**63
_EXACT = Context(prec=80)


def sum_fold(column: pa.Array) -> Fold:
    """Fold that adds and subtracts."""
    kind = column.type
    if pa.types.is_decimal128(kind):
        value, build = _unscaled(column)
        # Java looks at the digits only once 64 bits are too few.
        fit = _within(_MAX_64 if kind.precision <= _COMPACT else 10**kind.precision)
        fit_negative = _within(10**kind.precision)
    else:
        value, build = _plain(column)
        fit = fit_negative = _wraps(kind)

    def add(old: Any, new: Any) -> Any:
        return fit(old + new)

    def retract(old: Any, new: Any) -> Any:
        if new is None:
            return old
        return fit_negative(-new) if old is None else fit(old - new)

    return Fold(value=value, add=skipping_nulls(add), retract=retract, column=build)


def product_fold(column: pa.Array, name: str) -> Fold:
    """Fold that multiplies and divides; ``name`` is for messages."""
    kind = column.type
    if pa.types.is_decimal128(kind):
        value, build = _unscaled(column)
        multiply, divide = _decimal_steps(kind, name)
    else:
        value, build = _plain(column)
        multiply, divide = _number_steps(kind, name)

    def retract(old: Any, new: Any) -> Any:
        return old if old is None or new is None else divide(old, new)

    return Fold(value=value, add=skipping_nulls(multiply), retract=retract, column=build)


def _plain(column: pa.Array) -> tuple[Callable[[int], Any], Callable[[Sequence[Any]], pa.Array]]:
    """Return how numbers are read and made into a column."""
    if pa.types.is_floating(column.type):
        numbers = numpy_values(null_filled(column, 0.0))

        def value(position: int) -> Any:
            return numbers[position] if column[position].is_valid else None

        return value, lambda values: pa.array(values, column.type)
    return lambda position: column[position].as_py(), lambda values: pa.array(values, column.type)


def _wraps(kind: pa.DataType) -> Callable[[Any], Any]:
    """Return what keeps a number within its type: integers wrap around."""
    if pa.types.is_floating(kind):
        return lambda number: number
    half = 1 << (kind.bit_width - 1)
    return lambda number: (number + half) % (2 * half) - half


def _number_steps(kind: pa.DataType, name: str) -> tuple[Step, Step]:
    wrap = _wraps(kind)

    def multiply(old: Any, new: Any) -> Any:
        with np.errstate(all="ignore"):
            return wrap(old * new)

    def divide_floats(old: Any, new: Any) -> Any:
        with np.errstate(all="ignore"):
            return old / new

    def divide(old: int, new: int) -> Any:
        if new == 0:
            raise _no_quotient(name)
        quotient = abs(old) // abs(new)
        return wrap(quotient if (old < 0) == (new < 0) else -quotient)

    return multiply, divide_floats if pa.types.is_floating(kind) else divide


def _no_quotient(name: str) -> DataError:
    return DataError(
        f"column {name!r}: a row takes away a factor by which the product cannot be divided"
    )


# Decimals are whole numbers here: the unscaled values.


def _unscaled(
    column: pa.Array,
) -> tuple[Callable[[int], Any], Callable[[Sequence[Any]], pa.Array]]:
    kind = column.type

    def value(position: int) -> int | None:
        number = column[position].as_py()
        return None if number is None else int(number.scaleb(kind.scale, _EXACT))

    def build(values: Sequence[int | None]) -> pa.Array:
        words = np.zeros((len(values), 2), np.int64)
        valid = np.array([number is not None for number in values], np.bool_)
        for place, number in enumerate(values):
            if number is not None:
                words[place] = np.frombuffer(number.to_bytes(16, "little", signed=True), np.int64)
        return decimals(words, valid, kind)

    return value, build


def _within(limit: int) -> Callable[[int], int | None]:
    """Return what makes a number null that is not nearer to zero than ``limit``."""
    return lambda number: number if -limit < number < limit else None


def _decimal_steps(kind: pa.DataType, name: str) -> tuple[Step, Step]:
    fit = _within(10**kind.precision)
    one = 10**kind.scale

    def multiply(old: int, new: int) -> int | None:
        return fit(_rounded(old * new, one))

    def divide(old: int, new: int) -> int | None:
        if new == 0:
            raise _no_quotient(name)
        # Java divides exactly or not at all: the quotient must end.
        divisor = abs(new) // math.gcd(old, new)
        for factor in (2, 5):
            while divisor % factor == 0:
                divisor //= factor
        if divisor != 1:
            raise _no_quotient(name)
        sign = 1 if (old < 0) == (new < 0) else -1
        return fit(sign * _rounded(abs(old) * one, abs(new)))

    return multiply, divide


def _rounded(number: int, divisor: int) -> int:
    """Divide, half away from zero."""
    quotient = (2 * abs(number) + divisor) // (2 * divisor)
    return quotient if number >= 0 else -quotient
