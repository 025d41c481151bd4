"""Functions that turn texts into codes and numbers, and compare them by their letters."""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.failures import NOT_PROVEN, fails
from paimonlab.sql_engine.functions.signatures import (
    Translate,
    WrongUseError,
    expect,
    is_text,
    named,
)
from paimonlab.sql_engine.value import Value, cast

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SMALL, _CAPITAL = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SOUNDS = "01230127022455012623010202"
"""Of A to Z in Soundex; 7 (written for H and W) is passed over."""
_BASE_64 = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$"
"""What every decoder reads alike: without line ends, and nothing in bits that are not used."""
_LARGEST = 2**63 - 1


def _crc_table() -> list[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0xEDB88320 if value & 1 else 0)  # noqa: PLW2901
        table.append(value)
    return table


def _bytes_of(sql: str) -> str:
    """Return the bytes of a text in UTF-8 as a list of numbers."""
    return (
        f"list_transform(range(0, CAST(strlen({sql}) AS BIGINT)), lambda place: "
        f"CAST('0x' || substring(hex({sql}), 2 * place + 1, 2) AS UBIGINT))"
    )


def _crc32(values: Sequence[Value]) -> Value:
    expect(values, is_text)
    sql = values[0].text
    listed = ", ".join(map(str, _crc_table()))
    place = "CAST((xor(crc, byte) & 255) + 1 AS BIGINT)"
    step = f"xor(crc >> 8, list_extract([{listed}]::UBIGINT[], {place}))"
    reduced = f"list_reduce({_bytes_of(sql)}, lambda crc, byte: {step}, 4294967295::UBIGINT)"
    text = f"CAST(xor({reduced}, 4294967295::UBIGINT) AS BIGINT)"
    text = f"(CASE WHEN {sql} IS NULL THEN NULL WHEN {sql} = '' THEN 0 ELSE {text} END)"
    return Value(text, kinds.BIGINT, named("crc32", values))


def _soundex(values: Sequence[Value]) -> Value:
    """Keep the first letter and the codes of the next, equal ones once, without vowels."""
    expect(values, is_text)
    sql = values[0].text
    capital = f"translate({sql}, '{_SMALL}', '{_CAPITAL}')"
    head = f"substring({capital}, 1, 1)"
    rest = f"regexp_replace(substring({capital}, 2), '[HW]', '', 'g')"
    codes = f"regexp_replace({head} || {rest}, '[^A-Z]', 'A', 'g')"
    codes = f"translate({codes}, '{_CAPITAL}', '{_SOUNDS}')"
    for code in "123456":
        codes = f"regexp_replace({codes}, '{code}+', '{code}', 'g')"
    codes = f"replace(substring({codes}, 2), '0', '')"
    text = f"{head} || rpad(substring({codes}, 1, 3), 3, '0')"
    text = f"(CASE WHEN regexp_matches({sql}, '^[A-Za-z]') THEN {text} ELSE {sql} END)"
    return Value(text, kinds.STRING, named("soundex", values))


def _distance(values: Sequence[Value]) -> Value:
    """``levenshtein``: DuckDB counts bytes, Spark letters."""
    expect(values, is_text, is_text, *[kinds.is_whole] * (len(values) - 2))
    if len(values) > 3:
        raise WrongUseError
    left, right = (value.text for value in values[:2])
    text = f"CAST(levenshtein({left}, {right}) AS INTEGER)"
    if len(values) == 3:
        most = values[2].literal if values[2].is_literal else None
        if type(most) is not int or most < 0:
            raise WrongUseError
        text = f"CASE WHEN {text} > {most} THEN -1 ELSE {text} END"
    message = fails(f"{NOT_PROVEN}: levenshtein() of such characters")
    beyond = rf"strlen({left}) > length({left}) OR strlen({right}) > length({right})"
    text = (
        f"(CASE WHEN {left} IS NULL OR {right} IS NULL THEN NULL "
        f"WHEN {beyond} THEN {message} ELSE {text} END)"
    )
    return Value(text, kinds.INT, named("levenshtein", values))


def _other_base(values: Sequence[Value]) -> Value:
    """``conv``: digits up to the first that is none; of numbers below 2⁶³."""
    if len(values) != 3:
        raise WrongUseError
    value, *bases = values
    if not (value.kind == kinds.STRING or kinds.is_whole(value.kind)):
        raise WrongUseError
    given, wanted = (base.literal if base.is_literal else None for base in bases)
    if type(given) is not int or type(wanted) is not int:
        raise WrongUseError
    if not (2 <= given <= 36 and 2 <= wanted <= 36):
        raise WrongUseError
    sql = cast(value, kinds.STRING).text
    most = 1
    while given ** (most + 1) <= _LARGEST:
        most += 1
    known = _DIGITS[:given]
    letters = f"{known}{known[10:].lower()}"
    begin = f"upper(regexp_extract({sql}, '^[{letters}]*'))"
    places = f"list_transform(string_split({begin}, ''), lambda c: strpos('{_DIGITS}', c) - 1)"
    number = f"list_reduce({places}, lambda sum, c: sum * {given} + c, 0::BIGINT)"
    message = fails(f"{NOT_PROVEN}: conv() of such numbers")
    text = (
        f"(CASE WHEN {sql} IS NULL OR {sql} = '' THEN NULL "
        f"WHEN NOT regexp_matches({sql}, '^[0-9A-Za-z.,]{{1,{most}}}$') THEN {message} "
        f"WHEN {begin} = '' THEN '0' ELSE to_base({number}, {wanted}) END)"
    )
    return Value(text, kinds.STRING, named("conv", values))


def _decoded(values: Sequence[Value]) -> Value:
    expect(values, is_text)
    sql = values[0].text
    message = fails(f"{NOT_PROVEN}: unbase64() of such texts")
    text = (
        f"(CASE WHEN {sql} IS NULL THEN NULL WHEN NOT regexp_matches({sql}, '{_BASE_64}') "
        f"THEN {message} ELSE from_base64({sql}) END)"
    )
    return Value(text, kinds.BINARY, named("unbase64", values))


CODES: dict[str, Translate] = {
    "crc32": _crc32,
    "soundex": _soundex,
    "levenshtein": _distance,
    "conv": _other_base,
    "unbase64": _decoded,
}
"""By name in small letters."""
