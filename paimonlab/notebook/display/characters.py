"""Characters as a reader sees them: width in a terminal, controls made visible."""

from __future__ import annotations

import unicodedata
from html import escape

from paimonlab.spec.visible_text import visible


def escaped(text: str) -> str:
    r"""Escape a text for HTML or SVG: it remains text, and all of it is visible.

    Examples
    --------
    >>> print(escaped("<b>\x07"))
    &lt;b&gt;\x07
    """
    return escape(visible(text))


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
    """Shorten ``text`` to at most ``columns`` columns; an ellipsis shows that it was truncated."""
    if text_width(text) <= columns:
        return text
    width, end = 0, 0
    for end, character in enumerate(text):  # noqa: B007 - used after the loop
        width += _width(character)
        if width > columns - 1:
            break
    return text[:end] + "…"
