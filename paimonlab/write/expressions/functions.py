"""Functions of one value: parts of dates, parts of texts, the size of numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.errors import UnsupportedError
from paimonlab.write.expressions import conditions, texts
from paimonlab.write.expressions.arithmetic import explained
from paimonlab.write.expressions.coercion import converted, is_numeric
from paimonlab.write.expressions.expression import Expression

_OF_DATES: Mapping[str, Callable[[pa.Array], pa.Array]] = {
    "year": pc.year,
    "month": pc.month,
    "day": pc.day,
}


def part_of_date(name: str, value: Expression) -> Expression:
    """Return the year, month or day of a date, or of a time without a zone."""
    text = f"{name}({value.text})"
    types = pa.types
    has_zone = types.is_timestamp(value.type) and value.type.tz is not None
    if has_zone or not (types.is_date(value.type) or types.is_timestamp(value.type)):
        why = "it depends on a time zone" if has_zone else "give a date or a time"
        raise UnsupportedError(f"{name} of {value.type}", f"{text}: {why}")
    part = _OF_DATES[name]
    return Expression(pa.int32(), lambda rows: part(value.evaluate(rows)).cast(pa.int32()), text)


def length(value: Expression) -> Expression:
    """Count the characters of a text."""
    text = f"length({value.text})"
    shown = _text(value, text)
    return Expression(pa.int32(), lambda rows: pc.utf8_length(shown.evaluate(rows)), text)


_TRIMMED: Mapping[str, Callable[..., pa.Array]] = {
    "": pc.utf8_trim,
    "BOTH": pc.utf8_trim,
    "LEADING": pc.utf8_ltrim,
    "TRAILING": pc.utf8_rtrim,
}


def trimmed(value: Expression, side: str) -> Expression:
    """Take the blanks from both ends of a text, or from one."""
    text = f"trim({value.text})"
    shown, trim = _text(value, text), _TRIMMED[side]
    return Expression(pa.string(), lambda rows: trim(shown.evaluate(rows), characters=" "), text)


def substring(value: Expression, position: int, characters: int | None) -> Expression:
    """Cut a text: the first character is 1, the last is -1.

    Parameters
    ----------
    characters
        None: to the end.
    """
    text = f"substring({value.text}, {position}, {characters})"
    shown = _text(value, text)
    start = position - 1 if position > 0 else position
    stop = None if characters is None else start + max(characters, 0)
    if start < 0 and stop is not None and stop >= 0:
        stop = None  # beyond the end

    def evaluate(rows: pa.RecordBatch) -> pa.Array:
        return pc.utf8_slice_codeunits(shown.evaluate(rows), start=start, stop=stop)

    return Expression(pa.string(), evaluate, text)


def absolute(value: Expression) -> Expression:
    """Return a number without its sign."""
    text = f"abs({value.text})"
    if not is_numeric(value.type):
        raise UnsupportedError(f"abs of {value.type}", text)
    run = explained(pc.abs_checked, text)
    return Expression(value.type, lambda rows: run(value.evaluate(rows)), text)


def like_in_any_case(value: Expression, pattern: str) -> Expression:
    """Match a text whatever the case of its letters."""
    return conditions.like(texts.lower(value), pattern.lower())


def _text(value: Expression, text: str) -> Expression:
    if pa.types.is_nested(value.type) or pa.types.is_binary(value.type):
        raise UnsupportedError(f"{text.partition('(')[0]} of {value.type}", text)
    return converted(value, pa.string(), is_explicit=True)
