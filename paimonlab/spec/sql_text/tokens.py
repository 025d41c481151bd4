"""Where strings, comments, names and symbols stand in Spark SQL text.

This knows just enough of the grammar to leave strings and comments alone; what the words mean is
up to Spark. `sqlglot`'s tokenizer is not used: it reads the rest of a ``SHOW`` or
``EXPLAIN`` statement as one string and stops at an unclosed quote.

Source: apache/spark v4.3.0 ``SqlBaseLexer.g4`` (STRING_LITERAL, BACKQUOTED_IDENTIFIER,
SIMPLE_COMMENT, BRACKETED_COMMENT, BEGIN_DOLLAR_QUOTED_STRING).
"""

from __future__ import annotations

import re
from enum import Enum

from msgspec import Struct


class Span(Struct, frozen=True):
    """A piece of a text: offset of its first character, and that after its last one."""

    start: int
    end: int


class TokenKind(Enum):
    """What a token is."""

    WORD = "word"
    """A keyword, a plain identifier or the digits of a number."""
    QUOTED = "quoted"
    """An identifier in back-quotes."""
    STRING = "string"
    SYMBOL = "symbol"
    """One other character, ``::``, or an edge of a hint: ``/*+``, ``*/``."""


class Token(Struct, frozen=True):
    """A piece of SQL text that is neither space nor comment."""

    kind: TokenKind
    text: str
    start: int
    """Offset of the first character, in code points."""

    @property
    def end(self) -> int:
        """Offset after the last character."""
        return self.start + len(self.text)


_LEXEME = re.compile(
    r"""
      (?P<skip>    \s+ | --(?:\\\n|[^\r\n])* | /\*(?!\+) )
    | (?P<string>  [rR]'[^']*(?:'|\Z) | [rR]"[^"]*(?:"|\Z)
                 | '(?:[^'\\]|\\.|'')*(?:'|\Z) | "(?:[^"\\]|\\.|"")*(?:"|\Z)
                 | (?<![\w`])(?P<tag>\$(?:[A-Za-z_][A-Za-z0-9_]*)?\$).*?(?:(?P=tag)|\Z) )
    | (?P<quoted>  `(?:[^`]|``)*(?:`|\Z) )
    | (?P<word>    \w+ )
    | (?P<symbol>  :: | /\*\+ | \*/ | . )
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT_EDGE = re.compile(r"/\*(?!\+)|\*/")


def tokenize(text: str) -> list[Token]:
    """Cut SQL text into tokens; spaces and comments are left out, hints are not comments.

    A string or comment that is never closed ends with the text, as it does for Spark. Unlike
    Spark, a ``$`` that touches a name before it never begins a string: ``t$branch_b$files``.

    Examples
    --------
    >>> [token.text for token in tokenize("SELECT ';' -- a; b")]
    ['SELECT', "';'"]
    """
    tokens = []
    position = 0
    while match := _LEXEME.match(text, position):
        position = match.end()
        if match["skip"] == "/*":
            position = _end_of_comment(text, position)
        elif match["skip"] is None:
            # `lastgroup` is the outermost group that took part, never the inner `tag`.
            tokens.append(Token(TokenKind(match.lastgroup), match[0], match.start()))
    return tokens


def _end_of_comment(text: str, position: int) -> int:
    """Find the end of a bracketed comment whose opening ends at ``position``; they nest."""
    depth = 1
    while depth and (edge := _COMMENT_EDGE.search(text, position)):
        depth += 1 if edge[0] == "/*" else -1
        position = edge.end()
    return len(text) if depth else position


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Return the line (from 1) and the column (from 0) of an offset."""
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1)


def offset_of(text: str, line: int, column: int) -> int:
    """Return the offset of a line (from 1) and a column (from 0), at most the text's length."""
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
    return min(start + column, len(text))
