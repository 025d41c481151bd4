"""Casts from and to text and bytes, with Java's spellings.

Source: apache/paimon@1.3.1 ``org.apache.paimon.casting``, ``…utils.BinaryStringUtils``; every
rule is checked against recorded results of it.
"""

from __future__ import annotations

import re
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_scalar
from paimonlab.datafile.number_casts import rounded
from paimonlab.datafile.per_value import per_value
from paimonlab.spec.java_text import decode_utf8
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import MAX_LENGTH, AtomicType, TypeRoot
from paimonlab.spec.types.text import format_type

_TRUE = frozenset({"t", "true", "y", "yes", "1"})
_FALSE = frozenset({"f", "false", "n", "no", "0"})
_INTEGER = r"^[+-]?(\d+(\.\d*)?|\.\d+)$"
_DOUBLE = re.compile(r"[+-]?(NaN|Infinity|(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[fFdD]?)")
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def fit_text(array: pa.Array, _source: AtomicType, target: AtomicType) -> pa.Array:
    """Cut text to the target's characters; CHAR is padded with blanks."""
    length = target.length or MAX_LENGTH
    if length < MAX_LENGTH:
        array = pc.utf8_slice_codeunits(array, 0, length)
    return pc.utf8_rpad(array, length) if target.root is TypeRoot.CHAR else array


def fit_bytes(array: pa.Array, _source: AtomicType, target: AtomicType) -> pa.Array:
    """Cut bytes to the target's length; BINARY is padded with zeros."""
    length = target.length or MAX_LENGTH
    if target.root is TypeRoot.BINARY:
        return per_value(array, lambda value: value[:length].ljust(length, b"\0"), pa.binary())
    return pc.binary_slice(array, 0, length) if length < MAX_LENGTH else array


def text_to_bytes(array: pa.Array, source: AtomicType, target: AtomicType) -> pa.Array:
    """Encode as UTF-8."""
    return fit_bytes(array.cast(pa.binary()), source, target)


def bytes_to_text(array: pa.Array, _source: AtomicType, _target: AtomicType) -> pa.Array:
    """Decode UTF-8, bad bytes as U+FFFD. Java does not look at the target's length here."""
    try:
        return array.cast(pa.string())
    except pa.ArrowInvalid:
        return per_value(array, decode_utf8, pa.string())


def boolean_to_text(array: pa.Array, source: AtomicType, target: AtomicType) -> pa.Array:
    """Spell ``true`` and ``false``."""
    return fit_text(array.cast(pa.string()), source, target)


def integer_to_text(array: pa.Array, source: AtomicType, target: AtomicType) -> pa.Array:
    """Spell integers in decimal digits."""
    return fit_text(array.cast(pa.string()), source, target)


def float_to_text(array: pa.Array, source: AtomicType, target: AtomicType) -> pa.Array:
    """Spell doubles as Java does since JDK 19: 1.0E10, 0.001, NaN."""
    is_single = pa.types.is_float32(array.type)
    spelled = per_value(array, lambda value: _java_double(value, is_single=is_single), pa.string())
    return fit_text(spelled, source, target)


def decimal_to_text(array: pa.Array, source: AtomicType, target: AtomicType) -> pa.Array:
    """Spell decimals with all digits of their scale and no exponent."""
    text = array.cast(pa.string())
    if pc.any(pc.match_substring(text, "E")).as_py():
        text = per_value(array, lambda value: format(value, "f"), pa.string())
    return fit_text(text, source, target)


def text_to_boolean(array: pa.Array, _source: AtomicType, target: AtomicType) -> pa.Array:
    """Read t, true, y, yes, 1 and f, false, n, no, 0 in any case."""

    def read(text: str) -> bool:
        if text.lower() in _TRUE:
            return True
        if text.lower() in _FALSE:
            return False
        raise _unreadable(text, target)

    return per_value(array, read, pa.bool_())


def text_to_integer(array: pa.Array, _source: AtomicType, target: AtomicType) -> pa.Array:
    """Read digits with a sign; a fraction is cut off, blanks and exponents are errors."""
    _require(array, pc.match_substring_regex(array, _INTEGER), target)
    parts = pc.extract_regex(array, r"^\+?(?P<sign>-?)(?P<digits>\d*)")
    # A zero in front makes digits of none, and changes no other number.
    whole = pc.binary_join_element_wise(
        parts.field("sign"), arrow_scalar("0"), parts.field("digits"), arrow_scalar("")
    )
    whole = pc.if_else(array.is_valid(), whole, None)
    try:
        return whole.cast(to_arrow(target))
    except pa.ArrowInvalid as error:
        raise ValueError(f"cannot read as {format_type(target)}: {error}") from error


def text_to_float(array: pa.Array, _source: AtomicType, target: AtomicType) -> pa.Array:
    """Read what Java's parseDouble reads, hexadecimal excepted."""

    def clean(text: str) -> str:
        stripped = text.strip()
        if _DOUBLE.fullmatch(stripped) is None:
            raise _unreadable(text, target)
        if stripped[-1] in "yN":
            return stripped.replace("Infinity", "inf").replace("NaN", "nan").lstrip("+")
        return stripped.rstrip("fFdD").lstrip("+")

    return per_value(array, clean, pa.string()).cast(to_arrow(target))


def text_to_decimal(array: pa.Array, _source: AtomicType, target: AtomicType) -> pa.Array:
    """Read a number, rounding half up; what does not fit becomes null."""

    def read(text: str) -> Decimal | None:
        if _DECIMAL.fullmatch(text) is None:
            raise _unreadable(text, target)
        return rounded(Decimal(text), target)

    return per_value(array, read, to_arrow(target))


def _java_double(value: float, *, is_single: bool) -> str:
    """Spell one double (or float) as ``Double.toString`` (``Float.toString``)."""
    if value != value or value in (float("inf"), float("-inf")):  # noqa: PLR0124 - NaN
        return str(value).replace("inf", "Infinity").replace("nan", "NaN")
    text = np.format_float_scientific(np.float32(value) if is_single else value, trim="0")
    mantissa, exponent = text.split("e")
    if mantissa.lstrip("-")[1:] == ".0":  # one digit: Java takes the best of two digits
        mantissa, exponent = f"{value:.1e}".split("e")
    power = int(exponent)
    if value == 0 or -3 <= power < 7:
        plain = np.format_float_positional(np.float32(value) if is_single else value, trim="0")
        return str(plain)
    return f"{mantissa}E{power}"


def _require(array: pa.Array, is_readable: pa.Array, target: AtomicType) -> None:
    unreadable = array.filter(pc.invert(is_readable))
    if len(unreadable):
        raise _unreadable(unreadable[0].as_py(), target)


def _unreadable(text: str, target: AtomicType) -> ValueError:
    shown = text if len(text) <= 40 else text[:40] + "…"
    return ValueError(f"cannot read {shown!r} as {format_type(target)}")
