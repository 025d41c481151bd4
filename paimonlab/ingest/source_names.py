"""Which sources statements can name; apart from them, as every cell asks."""

from __future__ import annotations

from typing import Any

NAMED: dict[str, Any] = {}
"""Sources of this process by name; `paimonlab.ingest.statements.name_source` adds to them."""


def is_source(name: str) -> bool:
    """Tell whether statements can name such a source."""
    return name in NAMED
