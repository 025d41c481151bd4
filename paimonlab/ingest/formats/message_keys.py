"""Keys of Kafka messages that are JSON objects: the columns that name a row, and their values."""

from __future__ import annotations

import msgspec
from msgspec import Raw

_NULL = Raw(b"null")
_CONNECT = {"schema", "payload"}


def key_object(key: bytes | None) -> bytes | None:
    """Return the object of column values in a key; None if it is no JSON object.

    A key with schema holds it in ``payload``.

    Examples
    --------
    >>> key_object(b'{"schema": {}, "payload": {"id": 1}}')
    b'{"id": 1}'
    >>> key_object(b"42") is None
    True
    """
    members = _members(key)
    if members is None:
        return None
    if members.keys() == _CONNECT:
        payload = bytes(members["payload"])
        return payload if _members(payload) else None
    assert key is not None
    return key.strip()


def key_names(key: bytes | None) -> tuple[str, ...]:
    """Return the columns of a key; () if it is no JSON object.

    Examples
    --------
    >>> key_names(b'{"id": 1, "shop": "a"}')
    ('id', 'shop')
    """
    found = key_object(key)
    return () if found is None else tuple(_members(found) or ())


def _members(text: bytes | None) -> dict[str, Raw] | None:
    if text is None:
        return None
    try:
        return msgspec.json.decode(text, type=dict[str, Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
