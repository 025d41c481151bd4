"""What partitions and buckets can be compared by."""

from __future__ import annotations

MEASURES = ("bytes", "files", "rows", "file_size", "level_0", "age")
"""``file_size``: average bytes of a file; ``level_0``: share of the files on level 0; ``age``:
milliseconds from the newest file of a bucket to the newest of the table."""
HIDDEN_MEASURES = frozenset({"bytes", "file_size", "age"})
"""Measures that differ from run to run."""
DEFAULT_TOP = 50
