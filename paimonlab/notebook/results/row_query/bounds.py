"""Comparisons with a number that a column's type may not have, as ones with a number it has.

A comparison of decimals whose common type is too wide for SQL would lose digits; a number of
the column's own type never does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from paimonlab.notebook.results.row_query.filters import Operator


@dataclass(frozen=True, slots=True)
class Bound:
    """A comparison with a whole number."""

    operator: Operator
    number: int


def bound(operator: Operator, value: Fraction, low: int, high: int) -> Bound | bool:
    """Compare whole numbers from ``low`` to ``high`` with any number.

    Returns
    -------
    Bound | bool
        An equal comparison with a number between ``low`` and ``high``; True or False: what
        is true for all of them.

    Examples
    --------
    >>> bound(">=", Fraction("2.5"), -128, 127)
    Bound(operator='>', number=2)
    >>> bound("=", Fraction("2.5"), -128, 127), bound("<", Fraction(1000), -128, 127)
    (False, True)
    """
    floor = value.numerator // value.denominator
    if value.denominator == 1:
        comparison = Bound(operator, floor)
    elif operator in {"=", "!="}:
        return operator == "!="
    else:
        comparison = Bound(_BELOW_NEXT[operator], floor)
    if floor > high:
        return comparison.operator in {"<", "<=", "!="}
    if floor < low:
        return comparison.operator in {">", ">=", "!="}
    return comparison


_BELOW_NEXT: Mapping[Operator, Operator] = {">": ">", ">=": ">", "<": "<=", "<=": "<="}
"""What a comparison with a number between two whole ones is with the lower of them."""
