"""What the string literals of Spark SQL mean.

Source: apache/spark v4.3.0 ``SqlBaseLexer.g4`` (STRING_LITERAL) and
``SparkParserUtils.unescapeSQLString``.
"""

from __future__ import annotations

import re

_CLOSED = re.compile(
    r"""
      [rR](?P<raw_quote>['"])(?P<raw>.*)(?P=raw_quote)
    | (?P<tag>\$\w*\$)(?P<dollars>.*)(?P=tag)
    | '(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*"
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(
    r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([01][0-7]{2})|(.))|''|\"\"", re.DOTALL
)
_ESCAPED = {
    "0": "\0",
    "b": "\b",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "Z": "\x1a",
    "%": r"\%",  # kept for LIKE
    "_": r"\_",
}


def string_value(text: str) -> str | None:
    r"""Return the text that a string literal means; None: its quote is never closed.

    Examples
    --------
    >>> print(string_value(r"'it\'s \u00e9'"), string_value("'it''s'"), string_value("'it"))
    it's é it's None
    """
    match = _CLOSED.fullmatch(text)
    if match is None:
        return None
    for whole in (match["raw"], match["dollars"]):
        if whole is not None:
            return whole
    meant = _ESCAPE.sub(lambda found: _meant(found, text[0]), text[1:-1])
    # Two escapes may be the halves of one character.
    return meant.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _meant(found: re.Match[str], quote: str) -> str:
    short, long, octal, other = found.groups()
    if short or long:
        code = int(short or long, 16)
        return chr(code) if code <= 0x10FFFF else "\ufffd"
    if octal:
        return chr(int(octal, 8))
    if other:
        return _ESCAPED.get(other, other)
    return quote if found[0][0] == quote else found[0]
