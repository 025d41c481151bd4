"""Texts and bytes that are cut, and bounds nevertheless.

Source: apache/paimon@1.3.1 ``org.apache.paimon.statistics``.
"""

from __future__ import annotations

_LAST_CODE_POINT = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


def truncate_min(value: str | bytes, length: int) -> str | bytes:
    """Cut a text to code points or bytes to bytes; the result is not larger.

    >>> truncate_min("abcdef", 3), truncate_min(b"ab", 3)
    ('abc', b'ab')
    """
    return value[:length]


def truncate_max(value: str | bytes, length: int) -> str | bytes | None:
    r"""Cut a text to code points or bytes to bytes; the result is not smaller.

    Where something is cut off, the last code point or byte that can be is made one larger.

    Returns
    -------
    str | bytes | None
        None: nothing that short is as large.

    Examples
    --------
    >>> truncate_max("abcdefghijklmnopqrs", 16), truncate_max(b"a\xff\xff", 2)
    ('abcdefghijklmnoq', b'b')
    """
    if len(value) <= length:
        return value
    if isinstance(value, bytes):
        kept = value[:length].rstrip(b"\xff")
        return kept[:-1] + bytes([kept[-1] + 1]) if kept else None
    kept_text = value[:length].rstrip(chr(_LAST_CODE_POINT))
    return kept_text[:-1] + _next_code_point(kept_text[-1]) if kept_text else None


def _next_code_point(character: str) -> str:
    following = ord(character) + 1
    return chr(_SURROGATES.stop if following in _SURROGATES else following)
