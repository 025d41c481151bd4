"""Functions of addresses of the web."""

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
)
from paimonlab.sql_engine.value import Value, quoted

_CHARACTER = r"(?:[A-Za-z0-9._~!$&()*+,;=:@-]|%[0-9A-Fa-f]{2})"
_HOST = r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z])?|[0-9]{1,3}(?:[.][0-9]{1,3}){3}"
_ADDRESS = (
    r"^([A-Za-z][A-Za-z0-9+.-]*)://"
    rf"(?:((?:[A-Za-z0-9._~!$&()*+,;=:-])*)@)?({_HOST})(:[0-9]{{1,5}})?"
    rf"((?:/{_CHARACTER}*)*)(\?(?:{_CHARACTER}|[/?])*)?(#(?:{_CHARACTER}|[/?])*)?$"
)
"""Addresses that every reader takes apart alike: the groups are protocol, user, host, port, path,
query and reference."""
_PARTS = {
    "PROTOCOL": "{1}",
    "HOST": "{3}",
    "PATH": "{5}",
    "FILE": "{5} || {6}",
    "QUERY": "(CASE WHEN {6} <> '' THEN substring({6}, 2) END)",
    "REF": "(CASE WHEN {7} <> '' THEN substring({7}, 2) END)",
    "USERINFO": "nullif({2}, '')",
    "AUTHORITY": "(CASE WHEN {2} = '' THEN '' ELSE {2} || '@' END) || {3} || {4}",
}
_KEY = re.compile(r"[A-Za-z0-9_-]+")


def _part(name: str) -> Translate:
    def translate(values: Sequence[Value]) -> Value:
        expect(values, is_text, is_text, *[is_text] * (len(values) - 2))
        constant(values[1], str)
        part = str(values[1].literal)
        if part not in _PARTS or len(values) > 3:
            raise WrongUseError
        sql = values[0].text
        groups = {n: f"regexp_extract({sql}, {quoted(_ADDRESS)}, {n})" for n in range(1, 8)}
        found = re.sub(r"\{(\d)\}", lambda match: groups[int(match[1])], _PARTS[part])
        if len(values) == 3:
            found = _value_of(values, found, part)
        text = (
            f"(CASE WHEN {sql} IS NULL THEN NULL WHEN NOT regexp_matches({sql}, "
            f"{quoted(_ADDRESS)}) THEN {_unproven(name)} ELSE {found} END)"
        )
        return Value(text, kinds.STRING, named(name, values))

    return translate


def _value_of(values: Sequence[Value], query: str, part: str) -> str:
    """Write the value of a name in a query; NULL if it has none, or the part is another one."""
    constant(values[2], str)
    key = str(values[2].literal)
    if not _KEY.fullmatch(key):
        raise WrongUseError
    if part != "QUERY":
        return "NULL"
    pattern = quoted(f"(^|&){key}=([^&]*)")
    found = f"regexp_extract({query}, {pattern}, 2)"
    return f"(CASE WHEN regexp_matches({query}, {pattern}) THEN {found} END)"


def _unproven(name: str) -> str:
    return fails(f"{NOT_PROVEN}: {name}() of such an address")


_HIGH = "%[89abAB][0-9a-fA-F]"
_ENCODED = (
    "^([^%]|%[0-7][0-9a-fA-F]|"
    f"%([cC][2-9a-fA-F]|[dD][0-9a-fA-F]){_HIGH}|"
    f"%[eE][1-9a-cA-CeEfF]({_HIGH}){{2}}|%[fF]0%[9abAB][0-9a-fA-F]({_HIGH}){{2}})*$"
)
"""Texts whose bytes are UTF-8."""


def _decoded(name: str) -> Translate:
    """Return what reads a text as forms are sent."""

    def translate(values: Sequence[Value]) -> Value:
        expect(values, is_text)
        sql = values[0].text
        message = fails(f"{NOT_PROVEN}: {name}() of such a text")
        text = (
            f"(CASE WHEN {sql} IS NULL THEN NULL WHEN regexp_matches({sql}, {quoted(_ENCODED)}) "
            f"THEN url_decode(replace({sql}, '+', ' ')) ELSE {message} END)"
        )
        return Value(text, kinds.STRING, named(name, values))

    return translate


ADDRESSES: dict[str, Translate] = {
    "parse_url": _part("parse_url"),
    "try_parse_url": _part("try_parse_url"),
    "url_decode": _decoded("url_decode"),
    "try_url_decode": _decoded("try_url_decode"),
}
"""By name in small letters."""
