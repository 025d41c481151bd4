"""How long work tells how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int, str], None]
"""Is called with what is done, of how much, and the unit: ``progress(3, 20, "files")``."""
