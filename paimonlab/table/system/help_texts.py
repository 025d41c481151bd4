"""Which system tables a table has, and a line about each: no more than help needs."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

HELP: Mapping[str, str] = MappingProxyType(
    {
        "snapshots": "one row per commit that has not expired",
        "schemas": "one row per schema",
        "options": "the options that are set",
        "tags": "the named snapshots",
        "branches": "the branches",
        "consumers": "the consumers and what they read next",
        "files": "the live data files with keys and statistics",
        "file_key_ranges": "the live data files with keys",
        "file_indexes": "the indexes of data files",
        "manifests": "the manifest files of a snapshot",
        "table_indexes": "the index files of a snapshot",
        "partitions": "rows, bytes and files a partition",
        "buckets": "rows, bytes and files a bucket",
        "statistics": "what ANALYZE found out",
        "aggregation_fields": "the function that merges each column",
        "audit_log": "the rows with their kinds",
        "binlog": "the rows before and after updates",
        "ro": "the rows that need no merging",
        "row_tracking": "the rows with their ids",
    }
)
"""By their names."""
