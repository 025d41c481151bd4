"""What a row does to its key.

Source: apache/paimon@1.3.1 ``org.apache.paimon.types.RowKind``.
"""

from __future__ import annotations

from enum import IntEnum


class RowKind(IntEnum):
    """The kinds of rows; the numbers are on disk (``_VALUE_KIND``): never renumber them."""

    INSERT = 0
    """``+I``"""
    UPDATE_BEFORE = 1
    """``-U``: the old row of an update."""
    UPDATE_AFTER = 2
    """``+U``: the new row of an update."""
    DELETE = 3
    """``-D``"""

    @property
    def symbol(self) -> str:
        """``+I``, ``-U``, ``+U`` or ``-D``."""
        return SYMBOLS[self]

    @property
    def is_retract(self) -> bool:
        """Whether the row retracts an older one (``-U``, ``-D``)."""
        return self in (RowKind.UPDATE_BEFORE, RowKind.DELETE)


SYMBOLS = ("+I", "-U", "+U", "-D")
"""Symbol of each row kind, indexed by its number."""
