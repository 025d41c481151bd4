"""How much random tests draw: enough to find what a change breaks, not what nobody has met yet.

``PAIMONLAB_TIMES=4`` lets them draw four times as much, in new places if no seed is set.
"""

from __future__ import annotations

import os

_TIMES = float(os.environ.get("PAIMONLAB_TIMES", "1"))


def times(count: int) -> int:
    """Return how many draws to make where a usual run makes ``count``."""
    return max(1, round(count * _TIMES))
