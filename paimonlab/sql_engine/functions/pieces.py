"""Functions that take texts apart, and write them in other ways."""

from __future__ import annotations

import re
from collections.abc import Sequence

from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.failures import NOT_PROVEN, fails
from paimonlab.sql_engine.functions.signatures import (
    Translate,
    WrongUseError,
    constant,
    expect,
    is_text,
    named,
    simple,
)
from paimonlab.sql_engine.value import Value, first_known, quoted

_SIMPLE_LETTERS = r"[^\x00-\x7F\x{C0}-\x{D6}\x{D8}-\x{DE}\x{E0}-\x{F6}\x{F8}-\x{FE}]"
"""Characters that may be a part of what is read as one letter, or have another capital."""
_MOST_PLACES = 9


def _guarded(sql: str, name: str, text: str) -> str:
    message = fails(f"{NOT_PROVEN}: {name}() of such characters")
    return f"(CASE WHEN regexp_matches({sql}, '{_SIMPLE_LETTERS}') THEN {message} ELSE {text} END)"


def _initcap(values: Sequence[Value]) -> Value:
    expect(values, is_text)
    sql = values[0].text
    words = (
        f"array_to_string(list_transform(string_split(lower({sql}), ' '), "
        "lambda w: upper(substring(w, 1, 1)) || substring(w, 2)), ' ')"
    )
    return Value(_guarded(sql, "initcap", words), kinds.STRING, named("initcap", values))


def _reverse(values: Sequence[Value]) -> Value:
    expect(values, is_text)
    sql = values[0].text
    text = _guarded(sql, "reverse", f"reverse({sql})")
    return Value(text, kinds.STRING, named("reverse", values))


def _before(values: Sequence[Value]) -> Value:
    """``substring_index``: what is before, or after, so many separators."""
    expect(values, is_text, is_text, kinds.is_whole)
    separator, count = constant(values[1], str), values[2].literal
    if not values[2].is_literal or type(count) is not int or count == 0:
        raise WrongUseError
    parts = f"string_split({values[0].text}, {separator})"
    if count < 0:
        if len(str(values[1].literal)) > 1:
            raise WrongUseError  # it is sought from the end, where pieces may overlap
        parts = f"list_slice({parts}, greatest(len({parts}) - {-count - 1}, 1), len({parts}))"
    else:
        parts = f"list_slice({parts}, 1, {count})"
    text = f"array_to_string({parts}, {separator})"
    return Value(text, kinds.STRING, named("substring_index", values))


def _part(values: Sequence[Value]) -> Value:
    expect(values, is_text, is_text, kinds.is_whole)
    separator, place = constant(values[1], str), values[2].literal
    if not values[2].is_literal or type(place) is not int or place == 0:
        raise WrongUseError
    text = f"split_part({values[0].text}, {separator}, {place})"
    return Value(text, kinds.STRING, named("split_part", values))


def _overlay(values: Sequence[Value]) -> Value:
    wanted = [is_text, is_text, kinds.is_whole, kinds.is_whole]
    expect(values, *wanted[: max(len(values), 3)])
    begin = constant(values[2], int, least=1)
    length = f"length({values[1].text})"
    if len(values) == 4:
        length = constant(values[3], int, least=0)
    whole = values[0].text
    text = (
        f"(substring({whole}, 1, {begin} - 1) || {values[1].text} "
        f"|| substring({whole}, {begin} + {length}))"
    )
    shown = [*values, Value("", kinds.INT, "-1")][:4]
    return Value(text, kinds.STRING, named("overlay", shown))


def _translate(values: Sequence[Value]) -> Value:
    expect(values, is_text, is_text, is_text)
    old, new = constant(values[1], str), constant(values[2], str)
    if len(set(str(values[1].literal))) < len(str(values[1].literal)):
        raise WrongUseError
    text = f"translate({values[0].text}, {old}, {new})"
    return Value(text, kinds.STRING, named("translate", values))


def _ascii(values: Sequence[Value]) -> Value:
    expect(values, is_text)
    sql = values[0].text
    text = f"(CASE WHEN {sql} = '' THEN 0 ELSE CAST(unicode({sql}) AS INTEGER) END)"
    return Value(text, kinds.INT, named("ascii", values))


def _character(name: str) -> Translate:
    def translate(values: Sequence[Value]) -> Value:
        expect(values, kinds.is_whole)
        code = values[0].literal if values[0].is_literal else None
        if type(code) is not int or not 1 < code < 128:
            raise WrongUseError
        return Value(quoted(chr(code)), kinds.STRING, named(name, values))

    return translate


def _sha2(values: Sequence[Value]) -> Value:
    expect(values, is_text, kinds.is_whole)
    if not values[1].is_literal or values[1].literal not in (0, 256):
        raise WrongUseError
    return Value(f"sha256({values[0].text})", kinds.STRING, named("sha2", values))


def _hex(values: Sequence[Value]) -> Value:
    expect(values, lambda kind: kinds.is_whole(kind) or kind == kinds.STRING)
    sql = values[0].text
    if kinds.is_whole(values[0].kind):
        sql = f"CAST({sql} AS BIGINT)"
    return Value(f"hex({sql})", kinds.STRING, named("hex", values))


def _bytes(name: str, template: str) -> Translate:
    return simple(name, template, kinds.STRING, is_text)


_PLACES = re.compile(r"%([sd%])")


def _as_printed(value: Value, letter: str) -> str:
    """Write a value as Java's ``%s`` or ``%d`` does."""
    kind = value.kind
    is_number = kinds.is_whole(kind)
    if not (is_number or (letter == "s" and kind in (kinds.STRING, kinds.BOOLEAN))):
        raise WrongUseError
    return first_known([f"CAST({value.text} AS VARCHAR)", "'null'"], kinds.STRING)


def _printed(name: str) -> Translate:
    """``format_string`` with ``%s`` and ``%d`` alone."""

    def translate(values: Sequence[Value]) -> Value:
        pattern = values[0].literal if values[0].is_literal else None
        if not isinstance(pattern, str) or "%" in _PLACES.sub("", pattern):
            raise WrongUseError
        rest, parts, end = list(values[1:]), [], 0
        for place in _PLACES.finditer(pattern):
            parts.append(quoted(pattern[end : place.start()]))
            end = place.end()
            parts.append("'%'" if place[1] == "%" else _as_printed(rest.pop(0), place[1]))
        parts.append(quoted(pattern[end:]))
        if rest:
            raise WrongUseError
        return Value(f"({' || '.join(parts)})", kinds.STRING, named(name, values))

    return translate


def _chosen(values: Sequence[Value]) -> Value:
    """``elt``: the text of a place that the statement has."""
    place = values[0].literal if values and values[0].is_literal else None
    texts = values[1:]
    if type(place) is not int or not 1 <= place <= len(texts):
        raise WrongUseError
    expect(texts, *[is_text] * len(texts))
    return Value(texts[place - 1].text, kinds.STRING, named("elt", values))


def _place_in_list(values: Sequence[Value]) -> Value:
    """``find_in_set``: 0 also of a text with a comma."""
    expect(values, is_text, is_text)
    sought, listed = values[0].text, values[1].text
    found = f"coalesce(list_position(string_split({listed}, ','), {sought}), 0)"
    text = (
        f"(CASE WHEN {sought} IS NULL OR {listed} IS NULL THEN NULL "
        f"WHEN contains({sought}, ',') THEN 0 ELSE CAST({found} AS INTEGER) END)"
    )
    return Value(text, kinds.INT, named("find_in_set", values))


def _bits(values: Sequence[Value]) -> Value:
    expect(values, kinds.is_whole)
    return Value(f"bin(CAST({values[0].text} AS BIGINT))", kinds.STRING, named("bin", values))


def _space(values: Sequence[Value]) -> Value:
    expect(values, kinds.is_whole)
    count = constant(values[0], int, least=0)
    return Value(f"repeat(' ', {count})", kinds.STRING, named("space", values))


def _formatted(values: Sequence[Value]) -> Value:
    """``format_number``: thousands with commas; halves go to the even digit."""
    expect(values, kinds.is_numeric, kinds.is_whole)
    places = values[1].literal if values[1].is_literal else None
    value = values[0]
    if type(places) is not int or not 0 <= places <= _MOST_PLACES or value.kind == kinds.FLOAT:
        raise WrongUseError
    if value.kind == kinds.DOUBLE:
        raise WrongUseError
    digits, scale = kinds.shape(value.kind)
    digits = min(digits, 19)
    if digits > 18 and not kinds.is_whole(value.kind):
        raise WrongUseError
    if scale > places:
        raise WrongUseError
    sql = value.text
    whole = f"abs(CAST(trunc({sql}) AS HUGEINT))" if scale else f"abs(CAST({sql} AS HUGEINT))"
    rest = ""
    if places:
        rest = f" || '.' || rpad('', {places}, '0')"
    if scale:
        part = f"CAST((abs({sql}) % 1) * {10**scale} AS BIGINT)"
        rest = f" || '.' || rpad(lpad(CAST({part} AS VARCHAR), {scale}, '0'), {places}, '0')"
    sign = f"CASE WHEN {sql} < 0 THEN '-' ELSE '' END"
    shown = f"{sign} || format('{{:,}}', CAST({whole} AS BIGINT))"
    if value.kind == kinds.BIGINT:  # the least has no absolute value in 64 bits
        least = -(2**63)
        shown = f"CASE WHEN {sql} = {least} THEN '{least:,}' ELSE {shown} END"
    text = f"(({shown}){rest})"
    return Value(text, kinds.STRING, named("format_number", values))


_SMALL, _CAPITAL, _DIGITS = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
_MASKS = ("X", "x", "n")


def _masked(values: Sequence[Value]) -> Value:
    """``mask``: capitals, small letters and digits; NULL leaves them as they are."""
    if not 1 <= len(values) <= 5:
        raise WrongUseError
    expect(values, *[is_text] * len(values))
    usual = [Value("", kinds.STRING, one, one) for one in _MASKS]
    rest = [*values[1:], *usual[len(values[1:]) :]][:3]
    shown = [values[0], *rest, *(values[4:] or [Value("NULL", kinds.VOID, "NULL", None)])]
    old, new = "", ""
    for letters, one in zip((_CAPITAL, _SMALL, _DIGITS), rest, strict=True):
        given = one.literal if one.is_literal else ""
        if given is None:
            continue
        if not isinstance(given, str) or len(given) != 1 or not given.isascii():
            raise WrongUseError
        old, new = old + letters, new + given * len(letters)
    if shown[4].literal is not None:
        raise WrongUseError
    sql = values[0].text
    message = fails(f"{NOT_PROVEN}: mask() of such characters")
    made = f"translate({sql}, {quoted(old)}, {quoted(new)})" if old else sql
    text = f"(CASE WHEN strlen({sql}) > length({sql}) THEN {message} ELSE {made} END)"
    return Value(text, kinds.STRING, named("mask", shown))


def _for_url(values: Sequence[Value]) -> Value:
    """``url_encode``: as forms are sent, with + for a blank."""
    expect(values, is_text)
    text = f"url_encode({values[0].text})"
    for old, new in (("%20", "+"), ("%2A", "*"), ("~", "%7E")):
        text = f"replace({text}, '{old}', '{new}')"
    return Value(text, kinds.STRING, named("url_encode", values))


def _quoted(values: Sequence[Value]) -> Value:
    expect(values, is_text)
    quote, escaped = quoted("'"), quoted("\\'")
    text = f"({quote} || replace({values[0].text}, {quote}, {escaped}) || {quote})"
    return Value(text, kinds.STRING, named("quote", values))


def _of_hex(values: Sequence[Value]) -> Value:
    expect(values, is_text)
    sql = values[0].text
    message = fails(f"{NOT_PROVEN}: unhex() of such texts")
    is_hex = f"regexp_matches({sql}, '^([0-9A-Fa-f]{{2}})*$')"
    text = f"(CASE WHEN {sql} IS NULL THEN NULL WHEN {is_hex} THEN unhex({sql}) ELSE {message} END)"
    return Value(text, kinds.BINARY, named("unhex", values))


def _encoded(values: Sequence[Value]) -> Value:
    expect(values, is_text, is_text)
    if str(values[1].literal).upper() not in ("UTF-8", "UTF8") or not values[1].is_literal:
        raise WrongUseError
    return Value(f"encode({values[0].text})", kinds.BINARY, named("encode", values))


PIECES: dict[str, Translate] = {
    "mask": _masked,
    "url_encode": _for_url,
    "quote": _quoted,
    "unhex": _of_hex,
    "encode": _encoded,
    "initcap": _initcap,
    "reverse": _reverse,
    "substring_index": _before,
    "split_part": _part,
    "overlay": _overlay,
    "translate": _translate,
    "ascii": _ascii,
    "chr": _character("chr"),
    "char": _character("char"),
    "btrim": simple("btrim", "trim({}, ' ')", kinds.STRING, is_text),
    "sha": _bytes("sha", "sha1({})"),
    "sha1": _bytes("sha1", "sha1({})"),
    "sha2": _sha2,
    "hex": _hex,
    "base64": _bytes("base64", "to_base64(encode({}))"),
    "octet_length": simple("octet_length", "CAST(strlen({}) AS INTEGER)", kinds.INT, is_text),
    "bit_length": simple("bit_length", "CAST(8 * strlen({}) AS INTEGER)", kinds.INT, is_text),
    "space": _space,
    "format_number": _formatted,
    "format_string": _printed("format_string"),
    "printf": _printed("printf"),
    "elt": _chosen,
    "find_in_set": _place_in_list,
    "bin": _bits,
}
"""By name in small letters."""
