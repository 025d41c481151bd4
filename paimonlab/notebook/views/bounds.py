"""How much may be asked of views: what magics check without loading what draws them."""

from __future__ import annotations

MOST_VERSIONS = 500
"""Snapshots in the life of one row."""
MOST_STEPS = 50
"""Points of the past."""
MOST_ROWS = 50
"""Rows of each."""
MOST_COMMITS = 500
"""Commits of a table that is watched."""
