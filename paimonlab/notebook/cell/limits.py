"""How many rows are fetched of a query."""

from __future__ import annotations

DEFAULT_LIMIT = 100
"""Rows fetched of a query without ``--limit``."""
PLOTTED_LIMIT = 100_000
"""The same of a query that is plotted: a picture needs more rows than a table."""
MANY_ROWS = 1_000_000
"""More rows than this are fetched only if the user confirms it."""
