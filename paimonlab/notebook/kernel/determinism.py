"""Whether outputs must be the same from run to run.

``PAIMONLAB_DETERMINISTIC=1`` hides times, durations and sizes in views and footers, numbers
users instead of naming them, and switches progress off, so that a notebook can be compared
with its last run. It never changes the rows of a query.
"""

from __future__ import annotations

import os

VARIABLE = "PAIMONLAB_DETERMINISTIC"


def is_deterministic() -> bool:
    """Read the environment variable; ``1`` is on, absent, empty or ``0`` is off."""
    return is_on(VARIABLE, default="0")


def is_on(variable: str, *, default: str) -> bool:
    """Read a switch from the environment.

    Raises
    ------
    ValueError
        If it is neither ``0`` nor ``1``.
    """
    value = os.environ.get(variable) or default
    if value not in {"0", "1"}:
        raise ValueError(f"{variable} must be 0 or 1, got {value!r}")
    return value == "1"
