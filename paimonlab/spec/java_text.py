"""Text as Java decodes it."""

from __future__ import annotations

import re

_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
_REPLACEMENT = "\ufffd".encode()


def decode_utf8(value: bytes) -> str:
    r"""Decode bytes as ``new String(bytes, UTF_8)`` does, bad ones as U+FFFD.

    Java makes one U+FFFD of an encoded surrogate, Python one of each of its bytes.

    Examples
    --------
    >>> decode_utf8(b"a\xed\xa0\x80b\xff")
    'a�b�'
    """
    return _SURROGATE.sub(_REPLACEMENT, value).decode("utf-8", "replace")
