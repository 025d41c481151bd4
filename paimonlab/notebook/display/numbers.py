"""Numbers and times as all views write them; None is the empty text."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Context, Decimal

from paimonlab.spec import byte_counts, plurals

_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d{1,3})?")
_INTEGER = re.compile(r"-?\d+")
_FRACTION = re.compile(r"(?<![\w.])-?\d+\.\d+(?:[eE][+-]?\d{1,3})?(?![\w.])")
_ROW_NUMBER = re.compile(r"-?(\d+)(\.\d+)?(e[+-]?\d+)?", re.IGNORECASE)
_ROW_DIGITS = 10
_LEAST_GROUPED = 5
"""Digits of an integer."""
_SHORT_FRACTION = 9
"""Characters; fractions up to here are written as they are."""


many = plurals.many


def count(number: int | None) -> str:
    """Write a count, with a comma for each thousand."""
    return "" if number is None else f"{number:,}"


def signed_many(number: int, what: str) -> str:
    """Write a difference of a number of things, in the singular or the plural.

    Examples
    --------
    >>> signed_many(1, "row"), signed_many(-1, "row"), signed_many(1000, "row")
    ('+1 row', '-1 row', '+1,000 rows')
    """
    return f"{number:+,} {what}{'s'[: abs(number) != 1]}"


def signed(number: int | None) -> str:
    """Write a difference, always with its sign."""
    return "" if number is None else f"{number:+,}"


def figure(text: str) -> str:
    """Write a number that is text with commas, and with few digits if it is not an integer.

    Those are all of its integer, and seven at most of which some are a fraction.

    Examples
    --------
    >>> figure("1234567890"), figure("-239000808.7123"), figure("0.30000000000000004"), figure("a")
    ('1,234,567,890', '-239,000,809', '0.3', 'a')
    """
    if not _NUMBER.fullmatch(text):
        return text
    number = Decimal(text)
    if not _INTEGER.fullmatch(text):
        number = number.normalize(Context(prec=min(max(7, number.adjusted() + 1), 21)))
    return f"{number:,f}"


def short_fractions(text: str) -> str:
    """Write the long fractions of a text with six digits, and all digits of their integers.

    Two that would look the same are left as they are.

    Examples
    --------
    >>> short_fractions("0.30000000000000004 → -1234567.25"), short_fractions("12345.67")
    ('0.3 → -1,234,567', '12345.67')
    >>> short_fractions("1.2345678901e-05"), short_fractions("0.100000001 → 0.100000002")
    ('1.23457e-05', '0.100000001 → 0.100000002')
    """
    whole = _FRACTION.findall(text)
    is_clear = len({*map(_short_fraction, whole)}) == len({*whole})
    return _FRACTION.sub(lambda found: _short_fraction(found[0]), text) if is_clear else text


def _short_fraction(text: str) -> str:
    if len(text) <= _SHORT_FRACTION:
        return text
    if "e" in text.lower():
        return f"{float(text):.6g}"
    number = Decimal(text)
    return f"{number.normalize(Context(prec=max(6, number.adjusted() + 1))):,f}"


def row_number(text: str, *, is_float: bool) -> str:
    """Write a number of a row as the interactive table does (``valueText``).

    Digits are grouped from five on; long floats have ten, or all of their integer.

    Examples
    --------
    >>> row_number("1234", is_float=False), row_number("-12345.50", is_float=False)
    ('1234', '-12,345.50')
    >>> row_number("0.30000000000000004", is_float=True), row_number("1e-07", is_float=True)
    ('0.3', '1e-07')
    >>> row_number("1234567.1234567", is_float=True), row_number("NULL", is_float=True)
    ('1,234,567.123', 'NULL')
    """
    found = _ROW_NUMBER.fullmatch(text)
    if found is None:
        return text
    integer, fraction, power = found.groups(default="")
    if is_float and fraction and len(text) > _ROW_DIGITS + 1:
        if power:
            return f"{float(text):.{_ROW_DIGITS}g}"
        digits = Context(prec=max(_ROW_DIGITS, len(integer)))
        return f"{Decimal(text).normalize(digits):,f}"
    if power or len(integer) < _LEAST_GROUPED:
        return text
    return f"{Decimal(text):,f}"


def bytes_text(number: int | None) -> str:
    """Write bytes with a unit, in powers of 1,000."""
    return "" if number is None else byte_counts.bytes_text(number)


def time_text(millis: int | None) -> str:
    """Write a time in UTC, to the second; one out of range, as milliseconds."""
    if millis is None:
        return ""
    try:
        moment = dt.datetime.fromtimestamp(millis / 1000, dt.UTC)
    except (OverflowError, ValueError, OSError):
        return f"{millis} ms"
    return moment.strftime("%Y-%m-%d %H:%M:%S")
