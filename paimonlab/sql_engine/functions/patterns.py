"""Functions of regular expressions: of those that mean the same in Java and in DuckDB."""

from __future__ import annotations

import re
from collections.abc import Sequence

from paimonlab.spec.types.data_types import ArrayType
from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.failures import NOT_PROVEN, fails
from paimonlab.sql_engine.functions.signatures import (
    Translate,
    WrongUseError,
    expect,
    is_text,
    named,
)
from paimonlab.sql_engine.value import Value, quoted

_CLASS = r"\[\^?(?:[A-Za-z0-9 _.,:;/@#%='\"<>-]|\\[dws.\-\]\[/])+\]"
_ATOM = rf"(?:[A-Za-z0-9 _,:;/@#%='\"<>!~-]|\.|{_CLASS}|\\[dwDWsS.*+?()\[\]{{}}|^$\\/-])"
_TIMES = r"(?:[*+?]\??|\{\d{1,3}(?:,\d{0,3})?\})?"
_PART = re.compile(rf"\((?:\?:)?|\){_TIMES}|\||{_ATOM}{_TIMES}")
_LINE_ENDS = r"[\n\r\x{85}\x{2028}\x{2029}]"
"""Characters that ``.`` and ``$`` take for the end of a line in Java, not all of them in DuckDB."""
_FOLDED = "(?i)"
"""Letters of the ASCII in either case, in Java; in DuckDB also what looks like them."""
_LIKE_ASCII = r"\x{17F}\x{212A}"
_BLANKS = r" \t\n\x0B\f\r"
"""``\\s`` in Java; in DuckDB it lacks one of them."""
_BLANK = re.compile(r"(\[\^?)|(\])|\\([\s\S])")
_ESCAPED = re.compile(r"\\([.|*+?()\[\]{}^$\\/-])")
_PLAIN = re.compile(r"[^.|*+?()\[\]{}^$\\]+")


def checked(value: Value) -> str:
    """Return a pattern that is written in the statement and means the same in both.

    Raises
    ------
    WrongUseError
        If it has parts of which that is not known, or is no pattern.
    """
    pattern = value.literal if value.is_literal else None
    if not isinstance(pattern, str) or not pattern:
        raise WrongUseError
    is_folded = pattern.startswith(_FOLDED)
    inner = pattern.removeprefix(_FOLDED).removeprefix("^")
    if is_folded and ("[^" in inner or not inner):
        raise WrongUseError
    if inner.endswith("$") and not inner.endswith("\\$"):
        inner = inner[:-1]
    place = 0
    while place < len(inner):
        part = _PART.match(inner, place)
        if part is None:
            raise WrongUseError
        place = part.end()
    written = _with_blanks(pattern)
    try:
        re.compile(written)
    except re.error:
        raise WrongUseError from None
    return written


def _with_blanks(pattern: str) -> str:
    """Write the escapes of blanks as the characters that they are."""
    is_within = False

    def piece(found: re.Match[str]) -> str:
        nonlocal is_within
        if found[1] or found[2]:
            is_within = bool(found[1])
        elif found[3] == "s":
            return _BLANKS if is_within else f"[{_BLANKS}]"
        elif found[3] == "S":
            return f"[^{_BLANKS}]"
        return found[0]

    return _BLANK.sub(piece, pattern)


def matches(value: Value, pattern: Value) -> str:
    """Write the condition that a text has a part that fits."""
    sought = checked(pattern)
    return _lines(value.text, f"regexp_matches({value.text}, {quoted(sought)})", sought)


def _lines(text: str, found: str, pattern: str) -> str:
    """Refuse texts in which a pattern may find something else."""
    message = fails(f"{NOT_PROVEN}: regular expressions on such texts")
    wrong = _LINE_ENDS
    if pattern.startswith(_FOLDED):
        wrong = f"{wrong[:-1]}{_LIKE_ASCII}]"
    return f"(CASE WHEN regexp_matches({text}, '{wrong}') THEN {message} ELSE {found} END)"


def _like(name: str) -> Translate:
    def translate(values: Sequence[Value]) -> Value:
        expect(values, is_text, is_text)
        called = named(name.upper(), values)
        return Value(matches(*values), kinds.BOOLEAN, called)

    return translate


def _group_of(values: Sequence[Value]) -> tuple[list[Value], str, int]:
    """Return the arguments as they are shown, the pattern, and the group that is wanted."""
    expect(values, is_text, is_text, *[kinds.is_whole] * (len(values) - 2))
    if len(values) > 3:
        raise WrongUseError
    shown = [*values, Value("", kinds.INT, "1", 1)][:3]
    pattern, group = checked(values[1]), shown[2].literal
    if type(group) is not int or not 0 <= group <= re.compile(pattern).groups:
        raise WrongUseError
    return shown, pattern, group


def _extract(values: Sequence[Value]) -> Value:
    shown, pattern, group = _group_of(values)
    found = f"regexp_extract({values[0].text}, {quoted(pattern)}, {group})"
    text = _lines(values[0].text, found, pattern)
    return Value(text, kinds.STRING, named("regexp_extract", shown))


_GROUP = re.compile(r"\$(\d)(?!\d)")


def _replace(values: Sequence[Value]) -> Value:
    expect(values, is_text, is_text, is_text)
    pattern, new = checked(values[1]), values[2].literal if values[2].is_literal else None
    if not isinstance(new, str) or "\\" in new:
        raise WrongUseError
    groups = re.compile(pattern).groups
    if "$" in _GROUP.sub("", new) or any(int(n) > groups for n in _GROUP.findall(new)):
        raise WrongUseError
    new = _GROUP.sub(r"\\\1", new)
    if re.search(pattern, "") is not None:
        raise WrongUseError  # an empty match: where the next one begins differs
    found = f"regexp_replace({values[0].text}, {quoted(pattern)}, {quoted(new)}, 'g')"
    shown = [*values, Value("", kinds.INT, "1")]
    text = _lines(values[0].text, found, pattern)
    return Value(text, kinds.STRING, named("regexp_replace", shown))


def plain_text(value: Value) -> str:
    """Return the text that a pattern without choices stands for."""
    pattern = value.literal if value.is_literal else None
    if not isinstance(pattern, str) or not _PLAIN.fullmatch(_ESCAPED.sub("", pattern) or "-"):
        raise WrongUseError
    text = _ESCAPED.sub(r"\1", pattern)
    if not text:
        raise WrongUseError
    return text


def _split(values: Sequence[Value]) -> Value:
    expect(values, is_text, is_text)
    shown = [*values, Value("", kinds.INT, "-1")]
    try:
        text = f"string_split({values[0].text}, {quoted(plain_text(values[1]))})"
    except WrongUseError:
        pattern = checked(values[1])
        if re.search(pattern, "") is not None:
            raise  # an empty match: between which letters a text is split differs
        found = f"string_split_regex({values[0].text}, {quoted(pattern)})"
        text = _lines(values[0].text, found, pattern)
    return Value(text, ArrayType(kinds.STRING), named("split", shown))


def _count(values: Sequence[Value]) -> Value:
    expect(values, is_text, is_text)
    pattern = checked(values[1])
    if re.search(pattern, "") is not None:
        raise WrongUseError  # an empty match: where the next one begins differs
    found = f"CAST(len(regexp_extract_all({values[0].text}, {quoted(pattern)})) AS INTEGER)"
    return Value(_lines(values[0].text, found, pattern), kinds.INT, named("regexp_count", values))


def _found(values: Sequence[Value]) -> Value:
    """``regexp_substr``: NULL where nothing fits."""
    expect(values, is_text, is_text)
    pattern = checked(values[1])
    found = f"nullif(regexp_extract({values[0].text}, {quoted(pattern)}), '')"
    text = _lines(values[0].text, found, pattern)
    return Value(text, kinds.STRING, named("regexp_substr", values))


_LONG_LETTERS = r"[\x{10000}-\x{10FFFF}]"
"""Characters that count twice in Java."""


def _place(values: Sequence[Value]) -> Value:
    """``regexp_instr``: where what fits begins, from 1; 0 where nothing does."""
    expect(values, is_text, is_text)
    pattern = checked(values[1])
    if "^" in pattern:
        raise WrongUseError
    before = f"length(regexp_extract({values[0].text}, {quoted(f'^(.*?)(?:{pattern})')}, 1))"
    fits = f"regexp_matches({values[0].text}, {quoted(pattern)})"
    message = fails(f"{NOT_PROVEN}: regexp_instr() of such characters")
    found = (
        f"(CASE WHEN regexp_matches({values[0].text}, '{_LONG_LETTERS}') THEN {message} "
        f"WHEN {fits} THEN CAST({before} + 1 AS INTEGER) WHEN NOT {fits} THEN 0 END)"
    )
    shown = [*values, Value("", kinds.INT, "0")]
    return Value(_lines(values[0].text, found, pattern), kinds.INT, named("regexp_instr", shown))


def _extract_all(values: Sequence[Value]) -> Value:
    shown, pattern, group = _group_of(values)
    if re.search(pattern, "") is not None:
        raise WrongUseError  # an empty match: where the next one begins differs
    found = f"regexp_extract_all({values[0].text}, {quoted(pattern)}, {group})"
    if group:
        found = f"list_transform({found}, lambda one: coalesce(one, ''))"
    text = _lines(values[0].text, found, pattern)
    return Value(text, ArrayType(kinds.STRING), named("regexp_extract_all", shown))


PATTERNS: dict[str, Translate] = {
    "rlike": _like("rlike"),
    "regexp": _like("rlike"),
    "regexp_like": _like("regexp_like"),
    "regexp_extract": _extract,
    "regexp_replace": _replace,
    "regexp_count": _count,
    "regexp_substr": _found,
    "regexp_instr": _place,
    "regexp_extract_all": _extract_all,
    "split": _split,
}
"""By name in small letters."""
