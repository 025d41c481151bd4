"""Characters as a reader sees them: width in a terminal, controls made visible."""

from __future__ import annotations

import re
import unicodedata

_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
# Controls, line and paragraph separators, what reverses or hides text, lone surrogates.
_INVISIBLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    r"""Write characters that cannot be seen, or that reorder others, as escapes.

    Examples
    --------
    >>> print(visible("a\tb\u202ec"))
    a\tb\u202ec
    """
    return _INVISIBLE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    if character in _NAMED:
        return _NAMED[character]
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def text_width(text: str) -> int:
    """Count the columns of a terminal that ``text`` takes.

    Examples
    --------
    >>> text_width("日本"), text_width("e\u0301")
    (4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(map(_width, text))


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut(text: str, columns: int) -> str:
    """Shorten ``text`` to at most ``columns`` columns; an ellipsis shows that it was cut."""
    if text_width(text) <= columns:
        return text
    width, end = 0, 0
    for end, character in enumerate(text):  # noqa: B007 - used after the loop
        width += _width(character)
        if width > columns - 1:
            break
    return text[:end] + "…"
