"""Characters that cannot be seen, or that reorder others, made visible."""

from __future__ import annotations

import re

_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
# Controls, line and paragraph separators, what reverses or hides text, lone surrogates,
# and what no XML may hold.
_INVISIBLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
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


def shortened(text: str, most: int = 200) -> str:
    """Cut a long text; an ellipsis shows that it was cut."""
    return text if len(text) <= most else text[: most - 1] + "…"
