"""What must not be shown: passwords, keys and tokens in options, URIs and texts.

Options of catalogs and tables reach views, logs and error messages; all of those go through
here. What looks like a secret is hidden even where it is none: a table has no use for the
names in `_WORDS` otherwise.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import TypeVar

T = TypeVar("T")

HIDDEN = "******"
"""Stands where a secret was."""

_WORDS = (
    "secret",
    "passw",
    "passphrase",
    "pwd",
    r"(?<![a-z])pass(?![a-z])",
    # Not what is counted or told of tokens, in columns and names of tables, nor where options of a
    # catalog say that they come from.
    (
        r"token(?!iz|is[ei]|s(?![a-z])|[_-]?(?:counts?|ids?|types?|len|lengths?)(?![a-z])"
        r"|[.-](?:provider|enabled|loader|path|ecs-metadata-url|ecs-role-name)(?![a-z]))"
    ),
    "credential",
    "signature",
    r"(?<![a-z])sig(?![a-z])",
    "cookie",
    "jaas",
    r"access[._-]?key",
    r"account[._-]?key",
    r"api[._-]?key",
    r"private[._-]?key",
    r"provided[._-]?key",
    r"keystore[._-]key",
    r"encryption[._-](?:\w{1,30}[._-]){0,3}key",
    r"(?<![a-z])sas[._-]",
    r"connection[._-]?string",
    r"authorization",
)
_ANY_WORD = "|".join(_WORDS)
# An option of a column: the column in it tells nothing of its value.
_COLUMN = r"(?:(?:fields|file-index\.[\w-]++)\.[\w.-]+\.(?=[\w-]++(?!\.)))?+"
# A key, how it is tied to its value, and the value: 'a.secret' = 'x', a.secret=x, "token": "x".
# A word is only looked at from its begin: long ones would take the square of their length.
_KEY = rf"(?<![\w.-]){_COLUMN}(?=[\w.-]*?(?:{_ANY_WORD}))[\w.-]++"
# What is an option or a password for sure, and not the word of a sentence.
_OPTION = (
    r"(?<![\w.-])(?=\w*?(?:[.-]\w|_|(?-i:[a-z][A-Z])|passw|secret|pwd))"
    rf"{_COLUMN}(?=[\w.-]*?(?:{_ANY_WORD}))[\w.-]++"
)
# Quotes are escaped where JSON, SQL or Python stands in a text of its own kind.
_HEAD = r"""(?P<quote>(?:\\{0,4}['"`])?)"""
_QUOTED = (
    r"""'(?:[^'\\]|\\.|'')*'?|"(?:[^"\\]|\\.|"")*"?"""
    r"""|\\{1,4}'(?:(?!\\{1,4}')[\s\S])*(?:\\{1,4}')?|\\{1,4}"(?:(?!\\{1,4}")[\s\S])*(?:\\{1,4}")?"""
)
_LABEL = r"""\s*,\s*(?:\\{0,4}['"])?value(?:\\{0,4}['"])?\s*(?:=>?|:)\s*"""


def _tied(key: str, tie: str, value: str) -> re.Pattern[str]:
    head = rf"(?P<head>{_HEAD}(?P<key>{key})(?P=quote){tie})"
    return re.compile(rf"{head}(?P<value>{value})", re.IGNORECASE)


@functools.cache
def _secret_key() -> re.Pattern[str]:
    return re.compile(rf"{_COLUMN}[\s\S]*?(?:{_ANY_WORD})", re.IGNORECASE)


@functools.cache
def _tied_patterns() -> tuple[re.Pattern[str], ...]:
    """Compile them when the first text is looked at: it takes 10 ms."""
    return (
        _tied(
            _KEY,
            r"\]?\s*(?:!?={1,3}>?|<>|:|->|%3D)\s*",
            rf"{_QUOTED}|(?:(?:bearer|basic|token)[ ]+)?[^\s,;)}}\]&]+",
        ),
        _tied(_KEY, _LABEL, _QUOTED),
        _tied(_OPTION, r"(?:\s*(?P<comma>,)\s*(?!\\{0,4}['\"]value)|\s+(?:to\s+)?)", _QUOTED),
        _tied(_KEY, r"\s+(?:is|was|has the value)\s+", _QUOTED),
        _tied(_KEY, r"\s*</(?:name|key)>\s*<value>", "[^<]+"),
        # All that is in parentheses: ('token', 'x'), map("token", "x"), OPTIONS (token 'x').
        re.compile(
            rf"(?P<head>\(\s*(?P<quote>['\"]?){_KEY}(?P=quote)(?:(?<=['\"])\s*,\s*|\s+))"
            rf"(?P<value>{_QUOTED})(?=\s*\))",
            re.IGNORECASE,
        ),
        # What needs no key to be known.
        re.compile(
            r"(?P<head>\bbearer\s+)(?=[\w~+/.-]*?(?:\d|(?-i:[A-Z])|\.\w))(?P<value>[\w.~+/-]{8,}=*)",
            re.IGNORECASE,
        ),
        re.compile(
            r"(?P<head>-----BEGIN[A-Z ]{0,40}PRIVATE KEY-----)(?P<value>(?:(?!-----)[\s\S])+)"
        ),
        re.compile(
            r"(?P<head>jdbc:oracle:\w{1,9}:[^\s/'\"@:]{0,99}/)(?P<value>[^\s'\"@]{1,99})(?=@)",
            re.IGNORECASE,
        ),
    )


# Keys of S3 have slashes, which a URI should have escaped: user:pass/word@; host:8020/a@b has none.
# Azure's container is where others have a user.
_CONTAINER = r"(?:abfss?|wasbs?)://[\w$-]{1,63}@"
# Patterns are compiled, and kept, when they are used first.
_USER_INFO = rf"""(?xi)((?<![\w+.-])(?!{_CONTAINER})[\w+.-]+://)
    (?:[^/?#\s'"@]*|[^/?#\s'"@:]{{2,}}:(?!\d*(?:[/?#]|$))(?:(?!://)[^\s'"@])*)@"""
_TYPE = (
    r"(?i:u?int(?:\d+|eger)?|(?:big|small|tiny)int|(?:half)?float\d*|double|bool(?:ean)?"
    r"|(?:large_)?(?:string|binary)|(?:var)?(?:char|binary)(?:\(\d+\))?|bytes|date(?:32|64)?"
    r"|(?:decimal|time|timestamp)(?:\d*[\[(<].*|\d*)|(?:list|array|map|struct|row)<.*)"
)
_TABLE = r"(?i)\w+\.(?:\w+_)?(?:token|cookie|credential|signature): *"
"""A table that an error begins with."""
_WORDS_OF_ERRORS = frozenset(
    [
        "a",
        "an",
        "it",
        "its",
        "no",
        "not",
        "the",
        "there",
        "this",
        "only",
        "cannot",
        "has",
        "is",
        "column",
        "field",
        "file",
        "folder",
        "row",
        "rows",
        "key",
        "option",
        "partition",
        "bucket",
        "branch",
        "tag",
        "schema",
        "snapshot",
        "snapshots",
        "manifest",
        "table",
        "value",
        "primary",
        "data",
        "reading",
        "writing",
    ]
)
"""What follows the table there."""
_COLUMN_OF_TABLE = (
    r"[a-z_]\w*\.(?:[a-z]+_)*(?:token|cookie|credential|signature|pass|sig)(?:_[a-z]+)*"
)
"""A column that another is compared with."""
_LITERAL = r"""(?s)'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.)*\""""
_LOOKED_BACK = 2_000
"""Characters before a list in which its bracket is looked for."""
_OPENING = r"""\\{0,4}['"]"""
_URI = r"([A-Za-z][\w+.-]*://)([^/?#]*)([^?#]*)"


def is_secret(key: str) -> bool:
    """Return whether the value of an option must not be shown.

    Examples
    --------
    >>> is_secret("fs.s3a.secret.key"), is_secret("jdbc.password"), is_secret("primary-key")
    (True, True, False)
    """
    return _secret_key().match(key) is not None


def redacted(options: Mapping[str, str]) -> dict[str, str]:
    """Return options that may be shown: values of secret keys hidden, URIs without users.

    Examples
    --------
    >>> redacted({"bucket": "2", "fs.oss.accessKeySecret": "x", "uri": "jdbc://a:b@host/d"})
    {'bucket': '2', 'fs.oss.accessKeySecret': '******', 'uri': 'jdbc://host/d'}
    """
    return {
        key: HIDDEN if is_secret(key) else without_secrets(value) for key, value in options.items()
    }


def without_secrets(text: str) -> str:
    """Hide what a text tells of secrets: values tied to secret keys, users in URIs.

    Examples
    --------
    >>> without_secrets("WITH ('s3.secret-key' = 'abc', 'bucket' = '1')")
    "WITH ('s3.secret-key' = '******', 'bucket' = '1')"
    >>> without_secrets("no such bucket: s3://me:abc@lake/w")
    'no such bucket: s3://lake/w'
    """
    for tied in _tied_patterns():
        text = tied.sub(lambda match: match[0] if _is_plain(match) else _hide(match), text)
    return re.sub(_USER_INFO, r"\1", text)


def without_secret_values(condition: str) -> str:
    """Hide secrets in the values of a condition; its names are of columns, not of options.

    Examples
    --------
    >>> without_secret_values("token = 'a' AND note = 'password=abc'")
    "token = 'a' AND note = 'password=******'"
    """
    if re.search("['\"]", re.sub(_LITERAL, "", condition)):
        return without_secrets(condition)  # a name with a quote: nobody knows where texts begin
    return re.sub(_LITERAL, _of_literal, condition)


def _of_literal(match: re.Match[str]) -> str:
    quote = match[0][0]
    return quote + without_secrets(match[0][1:-1]) + quote


def hides_secrets(shown: type[T]) -> type[T]:
    """Let the ``repr`` of a class that holds options hide what is secret in them."""
    told = shown.__repr__
    shown.__repr__ = lambda self: without_secrets(told(self))  # type: ignore[method-assign]
    return shown


def masked(text: str) -> str:
    """Hide secrets as `without_secrets` does, but keep every character in its place.

    For lines that something points into from the line below.

    Examples
    --------
    >>> masked("'s3.secret-key' = 'abc', x")
    "'s3.secret-key' = '***', x"
    """
    for tied in _tied_patterns():
        text = tied.sub(
            lambda match: match[0] if _is_plain(match) else match["head"] + _stars(match["value"]),
            text,
        )
    return re.sub(_USER_INFO, lambda match: match[1] + "*" * (len(match[0]) - len(match[1])), text)


def without_credentials(uri: str) -> str:
    """Take user, password and query out of a URI; what is no URI stays as it is.

    Examples
    --------
    >>> without_credentials("s3://key:secret@bucket/w?token=x")
    's3://bucket/w'
    >>> without_credentials("./a?b@c"), without_credentials("abfs://lake@a.dfs.core.windows.net/w")
    ('./a?b@c', 'abfs://lake@a.dfs.core.windows.net/w')
    """
    told = without_secrets(uri)
    match = re.match(_URI, told)
    if match is None:
        return told
    is_container = re.match(_CONTAINER, told, re.IGNORECASE)
    host = match[2] if is_container else match[2].rpartition("@")[2]
    return match[1] + host + match[3]


def _is_plain(match: re.Match[str]) -> bool:
    """Return whether what looks like a secret is a name, a type or a word of a sentence."""
    groups = match.groupdict()
    if groups.get("comma"):
        return not _is_in_brackets(match)
    value, key = match["value"], groups.get("key")
    if key is None:
        return False
    is_sentence = (
        re.fullmatch(_TABLE, match["head"]) is not None
        and value in _WORDS_OF_ERRORS
        and match.string[match.end() : match.end() + 1] == " "
    )
    return is_sentence or re.fullmatch(_TYPE, value) is not None or _is_comparison(key, value)


def _is_comparison(key: str, value: str) -> bool:
    """Return whether two columns are compared: ``t.token = s.token``."""
    if re.fullmatch(_COLUMN_OF_TABLE, key) and re.fullmatch(_COLUMN_OF_TABLE, value):
        return True
    return "." in value and key.rpartition(".")[2] == value.rpartition(".")[2]


def _is_in_brackets(match: re.Match[str]) -> bool:
    """Return whether a list stands in brackets, as the arguments of a function and pairs do."""
    start = match.start()
    before = match.string[max(start - _LOOKED_BACK, 0) : start]
    depth = 0
    for mark in reversed(before):
        if mark in ")]}":
            depth += 1
        elif mark in "([{":
            depth -= 1
            if depth < 0:
                return True
    return start > _LOOKED_BACK


def _hide(match: re.Match[str]) -> str:
    quote = _quote(match["value"])
    return f"{match['head']}{quote}{HIDDEN}{quote}"


def _quote(value: str) -> str:
    """Return the quote that a value begins with, escaped as it is; empty: none."""
    opening = re.match(_OPENING, value)
    return opening[0] if opening else ""


def _stars(value: str) -> str:
    quote = _quote(value)
    inner = value[len(quote) :]
    closing = quote if quote and inner.endswith(quote) else ""
    return quote + re.sub(r"[^\n]", "*", inner.removesuffix(closing)) + closing
