"""How many rows are fetched of a query."""

from __future__ import annotations

DEFAULT_LIMIT = 100
"""Rows fetched of a query when ``--limit`` says nothing."""
PLOTTED_LIMIT = 100_000
"""The same of a query that is plotted: what is drawn needs more than what is looked at."""
MANY_ROWS = 1_000_000
"""More rows than this are fetched only after they were asked for twice."""
