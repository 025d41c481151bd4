"""Numbers as texts by a format, and back: ``to_char(12, 'S99')``, ``to_number('1,234', '9,999')``.

How a format is filled depends only on how many digits a number has before its point, so each count
has a picture of its own. Source: apache/spark@v4.3.0
``org.apache.spark.sql.catalyst.util.ToNumberParser``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.failures import NOT_PROVEN, fails
from paimonlab.sql_engine.functions.signatures import (
    Translate,
    WrongUseError,
    constant,
    expect,
    is_text,
    named,
)
from paimonlab.sql_engine.value import Value, quoted

_FORMAT = re.compile(r"(S|MI)?([$])?([09]+(?:[,G][09]+)*)?(?:([.D])([09]*))?(S|MI)?")
_WHOLE, _FRACTION = 0xE000, 0xE800
"""Characters that stand for digits of a picture begin here."""


class NumberFormat(Struct, frozen=True):
    """A format of numbers."""

    sign: str
    """``S``, ``MI`` or nothing."""
    is_sign_first: bool
    has_dollar: bool
    groups: tuple[str, ...]
    """Digits before the point, between separators."""
    has_point: bool
    places: int
    """Digits after the point."""

    @property
    def digits(self) -> int:
        """How many digits there are before the point."""
        return sum(map(len, self.groups))

    @classmethod
    def of(cls, value: Value) -> NumberFormat:
        """Read a format that the statement has.

        Raises
        ------
        WrongUseError
            If it is not one that is proven.
        """
        constant(value, str)
        found = _FORMAT.fullmatch(str(value.literal))
        if found is None or (found[1] and found[6]):
            raise WrongUseError
        groups = tuple(re.split("[,G]", found[3])) if found[3] else ()
        places = len(found[5] or "")
        made = cls(
            found[1] or found[6] or "",
            bool(found[1]),
            bool(found[2]),
            groups,
            bool(found[4]),
            places,
        )
        if not made.digits + places or made.digits + places > kinds.MOST_DIGITS:
            raise WrongUseError
        return made

    def picture(self, count: int, *, is_negative: bool, is_overflow: bool = False) -> str:
        """Fill the format for a number of so many digits before its point."""
        made: list[str] = []
        if self.is_sign_first:
            self._put_sign(made, is_negative=is_negative)
        if self.has_dollar:
            made.append("$")
        self._put_whole(made, self.digits - count, is_overflow=is_overflow)
        if self.has_point:
            if made and made[-1] == " ":
                made[-1] = "0"
            made.append(".")
        made += (
            "#" * self.places
            if is_overflow
            else map(chr, range(_FRACTION, _FRACTION + self.places))
        )
        if self.sign and not self.is_sign_first:
            self._put_sign(made, is_negative=is_negative)
        _drop_lone_point(made)
        text = "".join(made)
        return "0" if text in ("", "+", "-") else text

    def _put_whole(self, made: list[str], missing: int, *, is_overflow: bool) -> None:
        """Add what stands before the point, where so many digits are missing."""
        place = 0
        for number, group in enumerate(self.groups):
            if number and made and _is_digit(made[-1]):
                made.append(",")
            elif number:
                _put_blank(made)
            for _ in group:
                if is_overflow or place >= missing:
                    made.append("#" if is_overflow else chr(_WHOLE + place - missing))
                elif group[0] == "0":
                    made.append("0")
                else:
                    _put_blank(made)
                place += 1

    def _put_sign(self, made: list[str], *, is_negative: bool) -> None:
        if self.sign == "MI" and not is_negative:
            made.append(" ")
            return
        _drop_lone_point(made)
        place = len(made)
        while place and made[place - 1] == " ":
            place -= 1
        made.insert(place, "-" if is_negative else "+")


def _is_digit(text: str) -> bool:
    return text.isdecimal() or ord(text) >= _WHOLE


def _put_blank(made: list[str]) -> None:
    """Add a blank, in front of a sign that is last."""
    place = len(made)
    while place and made[place - 1] in "+-":
        place -= 1
    made.insert(place, " ")


def _drop_lone_point(made: list[str]) -> None:
    if "." in made:
        place = made.index(".")
        if place == len(made) - 1 or made[place + 1] == " ":
            made[place] = " "


def _joined(picture: str, whole: str, fraction: str) -> str:
    """Write a picture as SQL, with the digits of two texts."""
    parts = []
    for kind, first, count, text in _runs(picture):
        if kind == "text":
            parts.append(quoted(text))
        else:
            parts.append(f"substr({whole if kind == 'whole' else fraction}, {first + 1}, {count})")
    return f"({' || '.join(parts)})"


def _runs(picture: str) -> Iterator[tuple[str, int, int, str]]:
    pattern = f"[{chr(_WHOLE)}-{chr(_FRACTION - 1)}]+|[{chr(_FRACTION)}-{chr(_FRACTION + 99)}]+|."
    for found in re.finditer(pattern, picture):
        code = ord(found[0][0])
        if code >= _FRACTION:
            yield "fraction", code - _FRACTION, len(found[0]), ""
        elif code >= _WHOLE:
            yield "whole", code - _WHOLE, len(found[0]), ""
        else:
            yield "text", 0, 1, found[0]


def written(values: Sequence[Value]) -> Value:
    """Translate ``to_char`` of a whole number or a decimal."""
    expect(values, lambda kind: kinds.is_whole(kind) or kinds.is_decimal(kind), is_text)
    form = NumberFormat.of(values[1])
    whole = "regexp_replace(split_part(n, '.', 1), '^-?0*', '')"
    stripped = "rtrim(split_part(n, '.', 2), '0')"
    fraction = f"rpad({stripped}, {form.places}, '0')"
    cases = []
    for is_negative in (False, True):
        pictures = [form.picture(n, is_negative=is_negative) for n in range(form.digits + 1)]
        branches = " ".join(
            f"WHEN {count} THEN {_joined(picture, whole, fraction)}"
            for count, picture in enumerate(pictures)
        )
        most = form.picture(form.digits, is_negative=is_negative, is_overflow=True)
        is_over = f"length({whole}) > {form.digits} OR length({stripped}) > {form.places}"
        cases.append(
            f"(CASE WHEN {is_over} THEN {quoted(most)} "
            f"ELSE (CASE length({whole}) {branches} END) END)"
        )
    text = (
        f"(list_transform([CAST({values[0].text} AS VARCHAR)], lambda n: CASE WHEN n IS NULL "
        f"THEN NULL WHEN starts_with(n, '-') THEN {cases[1]} ELSE {cases[0]} END))[1]"
    )
    return Value(f"({text})", kinds.STRING, named("to_char", values))


def _read(name: str, *, is_tried: bool) -> Translate:
    """Return what reads a number; a text that does not fit is an error, or gives NULL."""

    def translate(values: Sequence[Value]) -> Value:
        expect(values, is_text, is_text)
        form = NumberFormat.of(values[1])
        kind = kinds.decimal(form.digits + form.places, form.places)
        sign = {"S": "[+-]?", "MI": "-?", "": ""}[form.sign]
        point = f"([.][0-9]{{0,{form.places}}})?" if form.has_point else ""
        before, after = (sign, "") if form.is_sign_first else ("", sign)
        fits = f"^{before}{'[$]' if form.has_dollar else ''}{_groups(form)}{point}{after}$"
        sql = values[0].text
        message = fails(f"{NOT_PROVEN}: {name}() of such a text")
        number = f"CAST(regexp_replace({sql}, '[^0-9.]', '', 'g') AS {kinds.duck_type(kind)})"
        signed = f"(CASE WHEN contains({sql}, '-') THEN -{number} ELSE {number} END)"
        # What is none of these letters may be a digit, or a blank that is passed over.
        plain = f"WHEN regexp_matches({sql}, '^[-+$.,0-9A-Za-z]*$') THEN NULL " if is_tried else ""
        has_digit = f"regexp_matches({sql}, '[0-9]')"
        text = (
            f"(CASE WHEN {sql} IS NULL THEN NULL WHEN regexp_matches({sql}, '{fits}') AND "
            f"{has_digit} THEN CAST({signed} AS {kinds.duck_type(kind)}) "
            f"WHEN NOT {has_digit} THEN {message} {plain}ELSE {message} END)"
        )
        return Value(text, kind, named(name, values))

    return translate


def _groups(form: NumberFormat) -> str:
    """Write which digits fit before the point: groups of nines may be left out from the front."""
    pieces = [
        f"[0-9]{{{len(group)}}}" if group[0] == "0" else f"[0-9]{{0,{len(group)}}}"
        for group in form.groups
    ]
    choices = []
    for first in range(len(pieces)):
        choices.append(",".join(pieces[first:]))
        if form.groups[first][0] == "0":
            break
    return f"({'|'.join(choices)})" if choices else ""


NUMBER_FORMATS: dict[str, Translate] = {
    "to_number": _read("to_number", is_tried=False),
    "try_to_number": _read("try_to_number", is_tried=True),
}
"""By name in small letters."""
