"""Classes that are decoded: what msgspec finds out of them, it finds out in one thread.

At the first use of a class msgspec looks at its fields, and other threads that decode it meanwhile
see half of that: the process ends with a segmentation fault (msgspec 0.22.0). So whoever decodes a
class, perhaps in a thread, asks for it here.
"""

from __future__ import annotations

import threading
from typing import TypeVar

import msgspec

Kind = TypeVar("Kind")

_LONGEST_SECONDS = 1.0
_known: set[object] = set()
_lock = threading.Lock()


def ready(kind: Kind) -> Kind:
    """Return a class that can be decoded by several threads at a time.

    Examples
    --------
    >>> class Point(msgspec.Struct):
    ...     x: int
    >>> msgspec.json.decode(b'{"x": 1}', type=ready(Point)).x
    1
    """
    if kind not in _known:
        # In a fork nobody gives back what another thread held; a class takes milliseconds.
        is_held = _lock.acquire(timeout=_LONGEST_SECONDS)
        try:
            msgspec.json.Decoder(kind)
            _known.add(kind)
        finally:
            if is_held:
                _lock.release()
    return kind
