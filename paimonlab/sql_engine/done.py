"""What a statement that writes did."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Done:
    """What a statement did to the rows of a table."""

    said: str = ""
    """In words: ``db.t: 3 rows updated, snapshot 7``; empty for definitions."""
    rows: int | None = None
    """How many rows it inserted, updated or deleted; None for definitions."""
